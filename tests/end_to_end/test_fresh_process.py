"""What a new process sees: a light import, a working first call, a working demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=300,
    )


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, sudare; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = set(run("-c", code).stdout.split())
    assert "sudare" in loaded
    assert not loaded & {"numpy", "numba", "scipy", "matplotlib", "cryptography", "dp_accounting", "mpmath", "rich"}


def test_budgets_load_nothing_heavy() -> None:
    code = "import sys, sudare; sudare.Budget(epsilon=1).split(3); print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = set(run("-c", code).stdout.split())
    assert not loaded & {"numba", "scipy", "matplotlib", "cryptography", "dp_accounting", "mpmath"}


def test_first_draw_in_a_new_process_uses_the_cached_kernels(tmp_path: Path) -> None:
    code = "import sudare; print(sudare.discrete_laplace(3).draw(5).size)"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run("-c", code, **cache).stdout.strip() == "5"
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert written
    assert run("-c", code, **cache).stdout.strip() == "5"
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == written


def test_flat_api_is_what_the_packages_export() -> None:
    import sudare
    from sudare import domain, errors, noise, privacy, tables

    exported = sorted({*domain.__all__, *errors.__all__, *noise.__all__, *privacy.__all__, *tables.__all__})
    assert sudare.__all__ == exported
    for name in exported:
        assert getattr(sudare, name) is not None
    assert set(sudare.__all__) <= set(dir(sudare))
    with pytest.raises(AttributeError, match="no attribute 'float_laplace'"):
        sudare.float_laplace  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize(("language", "expected"), [("en", "light and air pass"), ("ja", "光と風は通し")])
def test_demo(tmp_path: Path, language: str, expected: str) -> None:
    shown = run(
        "-m",
        "sudare.demo",
        "--out",
        str(tmp_path / "demo"),
        LANG=f"{language}_XX.UTF-8",
        LC_ALL="",
        PYTHONIOENCODING="utf-8",
    )
    assert shown.returncode == 0, shown.stderr
    assert expected in shown.stdout
    assert "SeedError" in shown.stdout
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "event.json",
        "suggested_delta.png",
        "trade_off.png",
    ]
    event = json.loads((tmp_path / "demo" / "event.json").read_text(encoding="utf-8"))
    assert event["cost"] == {"epsilon": "1/2"}
    assert event["entropy"] == "secure"


def test_demo_help_in_both_languages() -> None:
    assert "invented town" in run("-m", "sudare.demo", "--help", LANG="en_US.UTF-8", LC_ALL="").stdout
    assert "架空の小さな町" in run("-m", "sudare.demo", "--help", "--lang", "ja", PYTHONIOENCODING="utf-8").stdout


@pytest.mark.slow
def test_a_bad_option_of_the_demo_is_a_usage_error() -> None:
    for options, expected in ((("--lang", "fr"), "invalid choice: 'fr'"), (("--out", "/proc/nowhere"), "--out: ")):
        refused = run("-m", "sudare.demo", *options)
        assert refused.returncode == 2
        assert expected in refused.stderr
        assert "Traceback" not in refused.stderr


def test_benchmarks_have_help() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "noise" in shown.stdout
