"""Documents tell the truth: examples run, links lead somewhere, mechanisms have proofs, both languages show the same code."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import sudare
import sudare_papers

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "sudare"
MODULES = sorted(
    module.name
    for package in (sudare, sudare_papers)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)
READMES = (ROOT / "README.md", ROOT / "README.ja.md")
PAGES = sorted([*ROOT.glob("*.md"), *PACKAGE.rglob("*.md"), *(ROOT / "papers").glob("*.md")])
JAPANESE = sorted([ROOT / "README.ja.md", *(ROOT / "docs").rglob("*.ja.md")])
SAMPLERS_AND_MECHANISMS = [
    "discrete_laplace",
    "discrete_gaussian",
    "geometric",
    "exponential_mechanism",
    "report_noisy_max",
    "add_noise",
    "estimate_non_zeros",
    "laplace",
    "gaussian",
    "privelet",
    "negative_l2",
    "simplex",
    "lasso",
    "lm",
    "nn_wavelet",
    "wide_tree",
    "margin_tree",
    "topdown",
    "topdown_bisection",
    "histogram",
]

PILLARS = [f"sudare.{name}" for name in dir(sudare) if inspect.ismodule(getattr(sudare, name))]
PUBLIC = [
    (package, name)
    for package in ("sudare.releases.kinds.counts", *PILLARS)
    for name in importlib.import_module(package).__all__
]


@pytest.mark.parametrize("name", ["sudare", "sudare_papers", *MODULES])
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A debugger, which nobody asks for, looks for each example whether any file was changed that was ever shown.
    monkeypatch.setattr("linecache.checkcache", lambda filename=None: None)
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in finder.find(module, name):
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def code_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_in_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's blocks stand alone, but those of the READMEs, which say that they run one after the other."""
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for block in code_blocks(page):
        exec(compile(block, str(page), "exec"), known if page in READMES else {})  # noqa: S102


@pytest.mark.parametrize("page", JAPANESE, ids=lambda page: str(page.relative_to(ROOT)))
def test_japanese_lines_end_with_a_paragraph(page: Path) -> None:
    """A browser shows a line end as a space, which Japanese does not have between letters."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    letter = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
    assert re.findall(rf"^[^|#\n].*{letter}\n{letter}.*", text, re.MULTILINE) == []


def test_both_readmes_show_the_same_code() -> None:
    def without_comments(text: str) -> str:
        return re.sub(r"\s*#.*", "", text)

    english, japanese = (code_blocks(page) for page in READMES)
    assert [without_comments(block) for block in english] == [without_comments(block) for block in japanese]


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_a_readme_is_short_and_has_an_example_of_each_pillar(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks = code_blocks(page)
    assert len(lines) <= 90
    assert len(blocks) == 8
    assert all(len(block.splitlines()) <= 6 for block in blocks)
    assert next(line for line in lines if line.startswith("make ")).startswith("make demo")
    assert sum(line.startswith("![") for line in lines) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target
    for mentioned in re.findall(r"`(tests/[\w/]+\.py|src/[\w/]+\.(?:py|md))`", text):
        assert (ROOT / mentioned).exists(), mentioned


@pytest.mark.parametrize("name", SAMPLERS_AND_MECHANISMS)
def test_every_sampler_and_mechanism_has_a_proof_page(name: str) -> None:
    function = getattr(sudare.noise, name, None) or getattr(sudare.tables, name)
    named = re.search(r"Proof: (.*?)\n\n", inspect.getdoc(function) or "", re.DOTALL)
    assert named, f"{name} names no proof"
    pages = re.findall(r"``([\w/]+\.md)``", named.group(1))
    assert pages
    home = Path(inspect.getfile(function)).parent
    for page in pages:
        assert (home / page).exists() or (PACKAGE / page).exists(), page


@pytest.mark.parametrize("name", ["sudare", "sudare_papers", *MODULES])
def test_proof_pages_named_in_modules_exist(name: str) -> None:
    module = importlib.import_module(name)
    home = Path(str(module.__file__)).parent
    for page in re.findall(r"``([\w/]+\.md)``", inspect.getsource(module)):
        assert any((place / page).exists() for place in (home, PACKAGE, ROOT, ROOT / "papers")), page


def documented_parameters(function: Any) -> set[str]:
    section = re.search(r"Args:\n(.*?)(?:\n\n|\Z)", inspect.getdoc(function) or "", re.DOTALL)
    return set(re.findall(r"^    (\w+): ", section.group(1), re.MULTILINE)) if section else set()


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_documented_parameters_are_those_of_the_signature(package: str, name: str) -> None:
    thing = getattr(importlib.import_module(package), name)
    assert inspect.getdoc(thing), f"{name} has no docstring"
    documented = documented_parameters(thing)
    if documented:
        parameters = set(inspect.signature(thing).parameters) - {"self", "version"}
        assert documented == parameters


def test_repository_speaks_of_the_project_alone() -> None:
    """No absolute paths of a machine in what users read."""
    for page in PAGES:
        assert not re.search(r"(?<![\w.])/(?:home|root|work|tmp)/", page.read_text(encoding="utf-8")), page
