"""The core works without what the extras bring, and says in one sentence what a part needs that is not there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from importlib.metadata import distribution, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import sudare
from sudare import Budget, Unit
from sudare.ledger import open_ledger
from tests.end_to_end.test_command_line import PLAN
from tests.unit.cli.test_collecting import SURVEY
from tests.unit.releases.kinds.records.town import build_town
from tests.unit.releases.kinds.tables.firms import build_firms
from tests.unit.sql.shops import COUNT, open_shop

ROOT = Path(__file__).resolve().parents[2]
OF_EXTRAS = {"PIL", "dp_accounting", "highspy", "matplotlib", "mbi", "ortools", "pandas", "psycopg", "pyspark"}
OF_EXTRAS |= {"mpmath", "narwhals", "rasterio", "scipy"}

COMMANDS = """
import contextlib, io, json, sys

from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in {blocked} else find(name, *more)
from sudare.cli import main
found = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    found.append([code, out.getvalue()[-2000:], err.getvalue()[-2000:]])
loaded = sorted({{name.partition(".")[0] for name in sys.modules}} & {blocked})
print(json.dumps([found, loaded]))
"""


def run_without(folder: Path, *commands: Sequence[object]) -> list[tuple[int, str, str]]:
    """Run commands in one new process that cannot load what the extras bring."""
    asked = json.dumps([[str(part) for part in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS.format(blocked=OF_EXTRAS), asked],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "300"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found, loaded = json.loads(done.stdout.splitlines()[-1])
    assert loaded == []
    return [(code, out, err) for code, out, err in found]


def write_people(folder: Path) -> None:
    codes = [f"5339461{column}{quarter}" for column in range(1, 8) for quarter in range(1, 5) for _ in range(30)]
    (folder / "people.csv").write_text("KEY_CODE\n" + "\n".join(codes) + "\n", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=1), unit=Unit("person"))


@pytest.mark.slow
def test_what_everybody_needs_works_without_extras(tmp_path: Path) -> None:
    counts, records, shop, survey = (tmp_path / name for name in ("counts", "records", "shop", "survey"))
    for folder in (counts, records, shop, survey):
        folder.mkdir()
    write_people(counts)
    build_town(records)
    open_shop(shop)
    (survey / "survey.toml").write_text(SURVEY, encoding="utf-8")
    rows = [f"{i},{('yes', 'no', 'no')[i % 3]},0{i % 3 + 1},{10 * (i % 3) + 20},{7.5 + i % 2}" for i in range(900)]
    (survey / "answers.csv").write_text("\n".join(["id,smoker,district,age,hours", *rows]), encoding="utf-8")
    place = ["--data", shop / "shop.duckdb", "--metadata", shop / "shop.toml", "--ledger", shop / "budget.db"]
    commands: list[Sequence[object]] = [
        ("demo", "--side", 64, "--out", tmp_path / "demo"),
        ("plan", counts / "plan.toml"),
        ("release", counts / "plan.toml", "--yes"),
        ("verify", counts / "release", "--ledger", counts / "budget.db"),
        ("ledger", "list", counts / "budget.db"),
        ("sql", "run", *place, "--dataset", "shop", "--epsilon", 1, COUNT),
        ("anonymize", records / "plan.toml", "--out", tmp_path / "anonymized"),
        ("verify", tmp_path / "anonymized"),
        ("mesh", "bounds", "5339"),
        ("collect", "randomize", survey / "survey.toml", survey / "answers.csv", "--out", survey / "reports.parquet"),
        ("collect", "estimate", survey / "reports.parquet"),
        ("collect", "plan", "--values", 10, "--people", 10_000, "--epsilon", 1),
        ("map", counts / "release", "--out", tmp_path / "map.png"),
        ("attack", counts / "release"),
        ("doctor",),
    ]
    for command, (code, out, err) in zip(commands, run_without(tmp_path, *commands), strict=True):
        assert code == 0, f"{command}: {out}{err}"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_part_that_needs_an_extra_says_so_in_one_sentence(tmp_path: Path, language: str) -> None:
    plan = build_firms(tmp_path)
    ((code, out, err),) = run_without(tmp_path, ("protect", plan, "--out", tmp_path / "out", "--lang", language))
    assert code != 0
    sentence = (
        "Hidden and rounded cells need the package 'scipy': pip install 'sudare[solver]'."
        if language == "en"
        else "セルの秘匿や丸めには scipy が必要です。pip install 'sudare[solver]' でインストールしてください。"
    )
    assert sentence in " ".join(err.split())
    assert "Traceback" not in out + err


def core_packages() -> set[str]:
    """What the core depends on, directly or not, as this environment has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, found = [Requirement(text) for text in project["dependencies"]], set()
    while waiting:
        asked = waiting.pop()
        if (asked.marker is None or asked.marker.evaluate({"extra": ""})) and asked.name.lower() not in found:
            found.add(asked.name.lower())
            waiting += [Requirement(text) for text in distribution(asked.name).requires or ()]
    return found


def environment_of(folder: Path, packages: set[str]) -> Path:
    """The Python of a new environment that has these packages, linked to this one's files, and sudare itself."""
    venv.create(folder, symlinks=True, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in packages:
        files = distribution(name)
        for top in {file.parts[0] for file in files.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (site / top).symlink_to(Path(str(files.locate_file(top))))
    (site / "sudare").symlink_to(Path(sudare.__file__).parent)
    described = site / f"sudare-{version('sudare')}.dist-info"
    described.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: sudare\nVersion: {version('sudare')}\n"
    (described / "METADATA").write_text(metadata, encoding="utf-8")
    return folder / "bin" / "python"


@pytest.mark.slow
def test_what_the_core_declares_is_enough(tmp_path: Path) -> None:
    packages = core_packages()
    assert not packages & {"scipy", "matplotlib", "dp-accounting", "pillow", "pandas"}
    python = environment_of(tmp_path / "venv", packages)
    done = subprocess.run(
        [python, "-m", "sudare", "demo", "--side", "64", "--out", tmp_path / "demo"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "release" / "release.html").is_file()
    code = "import sys, importlib.util as u; print(sys.prefix, [n for n in sys.argv[1:] if u.find_spec(n)])"
    shown = subprocess.run([python, "-c", code, *OF_EXTRAS], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout.strip() == f"{tmp_path / 'venv'} []"


MAX_MEGABYTES = 600


def megabytes_of(folder: Path) -> float:
    return sum(path.lstat().st_blocks for path in folder.rglob("*")) * 512 / 2**20


@pytest.mark.deep
def test_a_wheel_in_an_empty_environment(tmp_path: Path) -> None:
    """Built, installed with what it declares, and run, as somebody would who has the package index and nothing else."""
    source = tmp_path / "source"
    leave_out = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "out", "*.nbi", "*.nbc")
    shutil.copytree(ROOT, source, ignore=leave_out)
    python = tmp_path / "venv" / "bin" / "python"
    venv.create(tmp_path / "venv", symlinks=True, with_pip=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: object) -> subprocess.CompletedProcess[str]:
        texts = [str(part) for part in command]
        return subprocess.run(
            texts, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=900
        )

    built = run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, source)
    if built.returncode and "No matching distribution" in built.stderr:
        pytest.skip("the Python package index cannot be reached")
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("sudare-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"sudare", f"{wheel.name.rpartition('-py3')[0]}.dist-info"}
    assert not [name for name in names if {"tests", "benchmarks", "papers"} & set(Path(name).parts)]
    assert wheel.stat().st_size < 4 * 2**20

    installed = run(python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    assert installed.returncode == 0, installed.stderr
    run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "setuptools", "pip")  # which the environment brought
    assert megabytes_of(tmp_path / "venv") < MAX_MEGABYTES
    command = tmp_path / "venv" / "bin" / "sudare"
    shown = run(command, "demo", "--side", "64", "--out", tmp_path / "demo")
    assert shown.returncode == 0, shown.stderr
    plan = build_firms(tmp_path)
    for language, sentence in (("en", "need the package 'scipy'"), ("ja", "scipy が必要です")):
        refused = run(command, "protect", plan, "--out", tmp_path / "out", "--lang", language)
        assert refused.returncode != 0
        assert sentence in refused.stderr
        assert "sudare[solver]" in refused.stderr
