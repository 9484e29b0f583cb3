"""What is missing is named in one sentence, in both languages; every extra that is named exists and has the package."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import sudare
from sudare import Budget, extras
from sudare.bilingual import Words
from sudare.errors import MissingPackageError
from sudare.extras import missing_package, optional_module
from sudare.privacy import PldAccountant

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FIGURES = Words("Figures", "図")


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[]", requirement)[0] for requirement in requirements}


def hide(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it were not installed, whatever other tests have loaded of it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


def test_a_module_that_is_there() -> None:
    assert optional_module("math", None, FIGURES).sqrt(4) == 2


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hide("dp_accounting", monkeypatch)
    with pytest.raises(MissingPackageError) as raised:
        optional_module("dp_accounting.pld", "accounting", FIGURES)
    assert raised.value.english == "Figures need the package 'dp-accounting': pip install 'sudare[accounting]'."
    assert (
        raised.value.japanese
        == "図には dp-accounting が必要です。pip install 'sudare[accounting]' でインストールしてください。"
    )
    assert isinstance(raised.value, ImportError)


def test_a_package_of_no_extra_is_named_itself() -> None:
    assert "pip install 'pandas'" in missing_package("pandas", None, FIGURES).english


PACKAGE = Path(sudare.__file__).parent
SOURCES = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
ASKED = re.compile(r'(?:optional_module|missing_package)\(\s*"([\w.-]+)",\s*"(\w+)"')
PACKAGES = "scipy|matplotlib|dp_accounting|PIL|highspy|ortools|narwhals|mpmath|starlette|uvicorn"
IMPORTED = re.compile(rf"^( *)(?:from|import) (?:{PACKAGES})\b", re.MULTILINE)

ASKED_BEFORE = {
    "attacks/tables/interval.py": "`_Table.read` asks for SciPy",
    "attacks/tables/solver_process.py": "`solver` asks for OR-Tools",
    "collect/rappor/rappor_decode.py": "the design's matrix asks for SciPy",
    "disclosure/rounding.py": "the table's sums ask for SciPy",
    "disclosure/suppression/audit.py": "the table's sums ask for SciPy",
    "disclosure/suppression/exact.py": "the table's sums ask for SciPy",
    "disclosure/suppression/linear.py": "the table's sums ask for SciPy, `new_solver` for HiGHS",
    "releases/kinds/tables/attacking/knowledge.py": "the table's sums ask for SciPy",
    "tables/letters.py": "`_japanese_font` finds no font without Pillow, and titles are drawn without",
    **dict.fromkeys(
        (name for name, text in SOURCES.items() if name.startswith("web/") and IMPORTED.search(text)),
        "`serve_locally` asks for Starlette",
    ),
}
"""Modules that import a package of an extra by name, and who asks for it before them."""

FOR_TYPES = {
    "web/guard.py",
    "disclosure/structure.py",
    "disclosure/suppression/problem.py",
    "privacy/interpretation.py",
}
"""Modules that name such a package for the sake of types, and do not load it."""


def test_every_extra_that_is_named_has_the_package() -> None:
    asked = [(file, *found) for file, text in SOURCES.items() for found in ASKED.findall(text)]
    assert len(asked) > 12
    for file, module, extra in asked:
        assert module.partition(".")[0].replace("_", "-") in names_of(EXTRAS[extra]), file


def test_the_table_of_extras_is_whole() -> None:
    listed = set(re.findall(r"`([a-z]+)`", str(extras.__doc__).partition("``pip")[0]))
    for_developers = {"dev", "docs", "fast", "lint", "test"}
    assert listed == EXTRAS.keys() - for_developers
    (developers,) = EXTRAS["dev"]
    assert set(re.findall(r"[a-z]+", developers.partition("[")[2])) == EXTRAS.keys() - {"dev", "fast"}


def test_nothing_of_an_extra_is_imported_unasked() -> None:
    assert {file for file, text in SOURCES.items() if IMPORTED.search(text)} == ASKED_BEFORE.keys() | FOR_TYPES
    assert "sudare.web" not in "".join(text for name, text in SOURCES.items() if name.startswith("releases/"))
    for file in FOR_TYPES:
        head, _, rest = SOURCES[file].partition("if TYPE_CHECKING:\n")
        assert not IMPORTED.search(head)
        assert IMPORTED.findall(rest) == ["    "], "in the block for types, and nowhere else"


def test_numerical_composition_asks_for_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare import ReleaseEvent, Unit
    from sudare.privacy import GaussianMeasurement, sensitivity_of_counts

    unit, budget = Unit("person"), Budget(rho=0.1)
    accountant = PldAccountant()
    noise = GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit))
    accountant.add(ReleaseEvent("gaussian", unit, budget, (noise,), "secure"))
    hide("dp_accounting", monkeypatch)
    with pytest.raises(MissingPackageError, match=r"sudare\[accounting\]"):
        accountant.epsilon(1e-6)


def test_figures_ask_for_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    hide("matplotlib", monkeypatch)
    with pytest.raises(MissingPackageError, match=r"sudare\[report\]"):
        sudare.privacy.plot_trade_off([Budget(epsilon=1)])
