"""What a new process sees: a light import, a working first call, a working demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNTS, RECORDS, TABLES = (f"releases.kinds.{name}" for name in ("counts", "records", "tables"))


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
    assert not loaded & {
        "numpy",
        "numba",
        "scipy",
        "matplotlib",
        "cryptography",
        "dp_accounting",
        "mpmath",
        "rich",
        "duckdb",
        "pyarrow",
        "typer",
    }


def test_budgets_load_nothing_heavy() -> None:
    code = "import sys, sudare; sudare.Budget(epsilon=1).split(3); print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = set(run("-c", code).stdout.split())
    assert not loaded & {"numba", "scipy", "matplotlib", "cryptography", "dp_accounting", "mpmath"}


def test_reading_and_writing_load_no_pandas(tmp_path: Path) -> None:
    """Half a second of every release, for nothing."""
    code = f"""
import sys, sudare
from sudare.io import Source, read_counts, write_table
mesh = sudare.Mesh("KEY_CODE", "3", 4240, 3120, 8, 8)
table = sudare.CountTable.from_dense([[5] * 8] * 8, sudare.Domain((mesh, )))
path = write_table(table, {str(tmp_path / "table.parquet")!r})
assert read_counts(Source(str(path), rows="counts", count="population"), table.domain) == table
print("duckdb" in sys.modules, "pandas" in sys.modules)
"""
    assert run("-c", code).stdout.split() == ["True", "False"]


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("sudare.releases.registry", {"releases.kinds", "tables", "sql"}),
        ("sudare.releases.kinds.tables.running", {COUNTS, RECORDS, "tables", "accuracy", "sql"}),
        ("sudare.releases.kinds.records.running", {COUNTS, TABLES, "accuracy", "sql"}),
        ("sudare.releases.kinds.counts.running", {RECORDS, TABLES, "microdata", "disclosure", "sql"}),
    ],
)
def test_a_kind_of_release_loads_no_other(module: str, unwanted: set[str]) -> None:
    code = f"import sys, {module}; print(*(name.removeprefix('sudare.') for name in sys.modules if name.startswith('sudare.')))"
    loaded = run("-c", code).stdout.split()
    assert module.removeprefix("sudare.") in loaded
    assert [name for name in loaded if any(f"{name}.".startswith(f"{one}.") for one in unwanted)] == []


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
    from sudare import domain, errors, ledger, noise, privacy, tables
    from sudare.releases.kinds import counts

    packages = (domain, errors, ledger, noise, privacy, counts, tables)
    exported = sorted({"connect", *(name for package in packages for name in package.__all__)})
    assert sudare.__all__ == exported
    for name in exported:
        assert getattr(sudare, name) is not None
    assert set(sudare.__all__) <= set(dir(sudare))
    with pytest.raises(AttributeError, match="no attribute 'float_laplace'"):
        sudare.float_laplace  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize(("language", "expected"), [("en", "light and air pass"), ("ja", "光と風は通し")])
def test_demo(tmp_path: Path, language: str, expected: str) -> None:
    folder = tmp_path / "demo"
    options = ("--out", str(folder), "--side", "256")
    shown = run("-m", "sudare", "demo", *options, LANG=f"{language}_XX.UTF-8", LC_ALL="", PYTHONIOENCODING="utf-8")
    assert shown.returncode == 0, shown.stderr
    told = shown.stdout + shown.stderr
    assert expected in told
    assert "failed" not in told
    assert str(folder / "release" / "release.html") in told.replace("\n", "")
    assert sorted(path.name for path in folder.iterdir()) == [
        ".sudare-demo",
        "budget.db",
        "country.parquet",
        "plan.toml",
        "release",
    ]
    document = json.loads((folder / "release" / "release.json").read_text(encoding="utf-8"))
    assert document["event"]["cost"] == {"epsilon": "1"}
    assert document["event"]["entropy"] == "secure"
    assert run("-m", "sudare", "demo", *options).returncode == 0, "an earlier demonstration makes way"


@pytest.mark.slow
def test_a_demonstration_leaves_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    refused = run("-m", "sudare", "demo", "--out", str(tmp_path), "--side", "64", LANG="C", LC_ALL="")
    assert refused.returncode == 6
    assert "not empty" in refused.stderr
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_benchmarks_have_help() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "noise" in shown.stdout
