"""Two distributions: sudare holds nothing of the papers and works without them; sudare-papers holds nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from setuptools import find_packages

from sudare.renamed import MOVED_TO_PAPERS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"sudare": ROOT, "sudare_papers": ROOT / "papers"}
MENTIONS = {"cli/extensions.py", "renamed.py"}
"""What may name the papers' package: where its command is looked for, and where old names say the new ones."""


@pytest.mark.parametrize("package", FOLDERS)
def test_packages_are_found_where_they_belong(package: str) -> None:
    folder = FOLDERS[package]
    settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    (where,) = settings["packages"]["find"]["where"]
    found = find_packages(str(folder / where))
    assert {name.partition(".")[0] for name in found} == {package}
    folders = {path.parent for path in (folder / where / package).rglob("*.py")}
    assert set(found) == {".".join(path.relative_to(folder / where).parts) for path in folders}, "each has an __init__"


@pytest.mark.slow
@pytest.mark.parametrize("package", FOLDERS)
def test_what_is_built(package: str, tmp_path: Path) -> None:
    """The files of a wheel and the list of a source distribution, from a copy of the source, offline."""
    copy = tmp_path / "source"
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "*.nbi", "*.nbc")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy.mkdir(exist_ok=True)
        shutil.copy(FOLDERS[package] / name, copy / name)
    shutil.copytree(FOLDERS[package] / "src", copy / "src", ignore=leave_out)
    if package == "sudare":
        shutil.copytree(ROOT / "papers", copy / "papers", ignore=leave_out)
        shutil.copytree(ROOT / "tests" / "unit" / "papers", copy / "tests" / "unit" / "papers", ignore=leave_out)
    project = (copy / "pyproject.toml").read_text(
        encoding="utf-8"
    )  # in words that old versions of setuptools read, too
    project = project.replace('license = "Apache-2.0"', "").replace('license-files = ["LICENSE"]', "")
    (copy / "pyproject.toml").write_text(project, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "-c", "import setuptools; setuptools.setup()"]
    done = subprocess.run(
        [*command, "-q", "egg_info", "build", "--build-lib", str(tmp_path / "wheel")],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "wheel").iterdir()] == [package]
    built = {path.relative_to(tmp_path / "wheel") for path in (tmp_path / "wheel").rglob("*") if path.is_file()}
    kept = {path.relative_to(copy / "src") for path in (copy / "src" / package).rglob("*") if path.is_file()}
    assert built == kept
    sources = (copy / "src" / f"{package}.egg-info" / "SOURCES.txt").read_text(encoding="utf-8")
    assert f"src/{package}/__init__.py" in sources
    assert package == "sudare_papers" or "papers" not in sources


def test_the_package_does_not_name_the_papers() -> None:
    """What is imported by name is found by import-linter; this finds names in texts, too."""
    package = ROOT / "src" / "sudare"
    named = {path for path in package.rglob("*.py") if "sudare_papers" in path.read_text(encoding="utf-8")}
    assert {path.relative_to(package).as_posix() for path in named} == MENTIONS


WITHOUT = """
import json, sys
sys.modules["sudare_papers"] = None
from sudare.cli import main
from sudare.cli.app import COMMANDS, GROUPS
paths = [[], *([name] for _, name, _ in COMMANDS)]
paths += [[*group.split(), name] for group, (_, members) in GROUPS.items() for name, _ in members]
codes = {" ".join(path): main([*path, "--help"]) for path in paths}
print(json.dumps(codes), file=sys.stderr)
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )


@pytest.mark.slow
def test_every_command_is_there_without_the_papers() -> None:
    codes = json.loads(run(WITHOUT).stderr)
    assert len(codes) > 50
    assert set(codes.values()) == {0}


@pytest.mark.slow
def test_every_module_loads_without_the_papers() -> None:
    code = """
import importlib, pkgutil, sys
sys.modules["sudare_papers"] = None
import sudare
for module in pkgutil.walk_packages(sudare.__path__, "sudare."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("all")
"""
    assert run(code).stdout == "all\n"


def test_a_command_does_not_load_the_papers() -> None:
    code = "import sys; from sudare.cli import main; main(['mesh', 'bounds', '5339']); print('sudare_papers' in sys.modules)"
    assert run(code).stdout.splitlines()[-1] == "False"


def test_the_papers_command_loads_no_experiment_before_it_runs() -> None:
    code = "import sys; from sudare.cli import main; main(['reproduce', '--help']); print(*sys.modules)"
    loaded = run(code).stdout.splitlines()[-1].split()
    assert "sudare_papers.command" in loaded
    assert not {"numpy", "numba", "matplotlib", "sudare_papers.experiments"} & set(loaded)


@pytest.mark.parametrize("old", MOVED_TO_PAPERS)
def test_an_old_name_says_the_new_one(old: str) -> None:
    new = MOVED_TO_PAPERS[old]
    assert find_spec(new) is not None
    for name in (old, f"{old}.maps"):
        with pytest.raises(ModuleNotFoundError, match=re.escape(f"'{old}' is '{new}' now.")):
            import_module(name)
