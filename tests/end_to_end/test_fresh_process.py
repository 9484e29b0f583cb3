"""What a new process sees: a light import, a working first call, a working demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sudare.tables import registry
from tests.unit.releases.kinds.records.town import build_town
from tests.unit.releases.kinds.tables.firms import build_firms

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
from sudare.io import Source, read_counts, write_measurements, write_table
mesh = sudare.Mesh("KEY_CODE", "3", 4240, 3120, 8, 8)
table = sudare.CountTable.from_dense([[5] * 8] * 8, sudare.Domain((mesh, )))
path = write_table(table, {str(tmp_path / "table.parquet")!r})
assert read_counts(Source(str(path), rows="counts", count="population"), table.domain) == table
places = sudare.Domain((sudare.Category("place", ("Kyoto", "Nara")), sudare.Category("size", ("1", 2))))
write_table(sudare.CountTable.from_dense([[5, 1], [0, 2]], places), {str(tmp_path / "places.parquet")!r})
measured = sudare.tables.wide_tree(table, sudare.Budget(epsilon=1), keep_measurements=True)
write_measurements(measured.measurements, table.domain, {str(tmp_path / "measured.parquet")!r})
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


def loaded_by(*arguments: str | Path) -> set[str]:
    """Modules that a process has when a command of it ended well."""
    code = """
import sys
from sudare.cli.app import main
ended = main(sys.argv[1:])
print("\\n", *sorted(sys.modules), sep="\\n")
sys.exit(ended)
"""
    done = run("-c", code, *map(str, arguments))
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    assert "sudare.cli.app" in names
    return names


def those_within(names: set[str], unwanted: tuple[str, ...]) -> list[str]:
    return sorted(name for name in names if any(f"{name}.".startswith(f"{one}.") for one in unwanted))


MECHANISMS = tuple(sorted({home.partition(":")[0] for home in registry._HOMES.values()}))
PLANNING = ("sudare.tables.planning", "sudare.tables.publishing")
COMPILED = ("sudare.kernels", "numba", "scipy")
FILES = ("pyarrow", "duckdb", "pandas")


def test_naming_mechanisms_loads_none() -> None:
    code = """
import sys, sudare.tables
from sudare.tables.registry import find_mechanism, mechanism_names
assert len(mechanism_names()) >= 14 and find_mechanism("auto") is None and len(dir(sudare.tables)) >= 27
print(*(name for name in sys.modules))
from sudare.tables.registry import mechanism_named
mechanism_named("laplace")
print(*(name for name in sys.modules))
"""
    before, after = (set(line.split()) for line in run("-c", code).stdout.splitlines())
    assert those_within(before, (*MECHANISMS, *PLANNING, *COMPILED, "numpy")) == []
    assert those_within(after, MECHANISMS) == ["sudare.tables.mechanisms.flat"]


def test_a_named_mechanism_loads_no_planner_and_no_other() -> None:
    code = """
import sys, numpy, sudare
sudare.publish(numpy.ones((4, 4), dtype=int), sudare.Budget(epsilon=1), "laplace")
print(*(name for name in sys.modules))
"""
    loaded = set(run("-c", code).stdout.split())
    assert those_within(loaded, (*MECHANISMS, "sudare.tables.planning.planner")) == ["sudare.tables.mechanisms.flat"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("code", "35.68", "139.76"),
        ("bounds", "53394611"),
        ("parent", "53394611", "--level", "1"),
        ("children", "5339", "--level", "1/4"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_meshes_load_no_kernel(arguments: tuple[str, ...]) -> None:
    loaded = loaded_by("mesh", *arguments)
    assert those_within(loaded, (*COMPILED, *FILES, "sudare.tables", "sudare.noise", "sudare.ledger")) == []


def test_ledgers_load_no_kernel(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.db"
    for arguments in (
        ("create", ledger),
        ("add", ledger, "town", "--epsilon", "3"),
        ("list", ledger),
        ("show", ledger, "town"),
        ("verify", ledger),
        ("export", ledger, "--out", tmp_path / "entries.jsonl"),
    ):
        assert those_within(loaded_by("ledger", *arguments), (*COMPILED, *FILES, "sudare.tables")) == [], arguments


def test_protecting_tables_loads_no_mechanism(tmp_path: Path) -> None:
    loaded = loaded_by("protect", build_firms(tmp_path), "--out", tmp_path / "out")
    assert "sudare.releases.kinds.tables.running" in loaded
    assert those_within(loaded, (*MECHANISMS, *PLANNING, "sudare.accuracy", "sudare.kernels.tables", "duckdb")) == []


def test_protecting_records_loads_no_mechanism(tmp_path: Path) -> None:
    """A plan without a budget draws nothing that a mechanism for tables draws."""
    loaded = loaded_by("anonymize", build_town(tmp_path), "--out", tmp_path / "out")
    assert "sudare.releases.kinds.records.running" in loaded
    assert those_within(loaded, (*MECHANISMS, *PLANNING, "sudare.accuracy", "sudare.kernels.tables", "duckdb")) == []


def test_first_draw_in_a_new_process_uses_the_cached_kernels(tmp_path: Path) -> None:
    code = "import sudare; print(sudare.noise.discrete_laplace(3).draw(5).size)"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run("-c", code, **cache).stdout.strip() == "5"
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.o")}
    assert written
    assert run("-c", code, **cache).stdout.strip() == "5"
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.o")} == written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "expected"), [("en", "light and air pass"), pytest.param("ja", "光と風は通し", marks=pytest.mark.deep)]
)
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


@pytest.mark.parametrize("chosen", [None, "2"], ids=["left out", "chosen"])
def test_commands_multiply_matrices_in_one_thread_unless_told(chosen: str | None) -> None:
    code = f"""
import os
os.environ.pop("OPENBLAS_NUM_THREADS", None)
os.environ.update({{}} if {chosen!r} is None else {{"OPENBLAS_NUM_THREADS": {chosen!r}}})
from sudare.cli import main
main(["mesh", "bounds", "53394611"])
print(os.environ["OPENBLAS_NUM_THREADS"])
"""
    assert run("-c", code).stdout.splitlines()[-1] == (chosen or "1")
