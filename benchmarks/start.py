"""The first minutes: how much is installed, and how long the first release of a machine and the second one take, beside peers.

Everything is installed from the package index into new environments. Other work on the machine makes seconds longer; processor
time (``_cpu_s``, of the command and what it starts) hardly changes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measuring import ROOT, in_new_process

TARGETS = {
    "install_mb": "at most 600 (sudare and what it needs)",
    "install_s": "at most 75",
    "first_release_s": "at most 5 (start of `sudare demo` to its finished release, nothing compiled before)",
    "second_release_s": "at most 2 (the same, once more)",
    "first_release_cpu_s": "processor time of the first whole demonstration",
    "second_release_cpu_s": "processor time of the second one",
    "import_ms": "import sudare",
    "help_ms": "sudare --help",
    "names": "at most 50 (dir(sudare))",
}

PEERS = {
    "opendp": ("opendp.prelude", "opendp==0.16.0"),
    "diffprivlib": ("diffprivlib", "diffprivlib==0.6.6", "scikit-learn==1.5.2"),
    "dp-wizard": ("dp_wizard", "dp-wizard==0.10.0"),
}
"""What a program imports, and what is installed: diffprivlib does not work with newer versions of what it needs."""

RELEASED = "3. "
"""How the line begins that the demonstration writes once its release is finished."""

ROUNDS = 5
MEGABYTE = 1e6


def run() -> dict[str, float]:
    """Install sudare and its peers, and start them."""
    with TemporaryDirectory(prefix="start-") as name:
        folder = Path(name)
        python, numbers = _installed(folder / "sudare", str(ROOT))
        for key, value in _releases(python, folder).items():
            numbers[key] = value
        numbers["import_ms"] = _import_ms(python, "sudare")
        command = str(Path(python).with_name("sudare"))
        numbers["help_ms"] = 1000 * min(_seconds([command, "--help"]) for _ in range(ROUNDS))
        numbers["names"] = float(in_new_process("import sudare; print(len(dir(sudare)))", python))
        for package, (module, *needed) in PEERS.items():
            peer, sizes = _installed(folder / package, *needed)
            numbers |= {f"{package}_{key}": value for key, value in sizes.items()}
            numbers[f"{package}_import_ms"] = _import_ms(peer, module)
    return numbers


def _installed(folder: Path, *what: str) -> tuple[str, dict[str, float]]:
    """The Python of a new environment with a package, what that took, and how large it is without pip."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    empty = _bytes_of(folder)
    start = time.perf_counter()
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - start
    return str(python), {"install_mb": (_bytes_of(folder) - empty) / MEGABYTE, "install_s": seconds}


def _bytes_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _releases(python: str, folder: Path) -> dict[str, float]:
    """The demonstration twice; before the first nothing is compiled."""
    numbers = {}
    for turn in ("first", "second"):
        with _children() as used:
            numbers[f"{turn}_release_s"] = _seconds_to_release(python, folder)
        numbers[f"{turn}_release_cpu_s"] = used[0]
    return numbers


def _seconds_to_release(python: str, folder: Path) -> float:
    environment = {**_environment(), "NUMBA_CACHE_DIR": str(folder / "compiled"), "PYTHONUNBUFFERED": "1"}
    command = [python, "-m", "sudare", "demo", "--lang", "en", "--out", str(folder / "demo")]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
        lines = iter(process.stdout or ())
        seconds = next(time.perf_counter() - start for line in lines if line.startswith(RELEASED))
        for _ in lines:
            pass
    if process.returncode:
        raise RuntimeError("the demonstration failed")
    return seconds


def _import_ms(python: str, module: str) -> float:
    code = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    return 1000 * min(float(in_new_process(code, python).splitlines()[-1]) for _ in range(ROUNDS))


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=_environment())
    return time.perf_counter() - start


def _environment() -> dict[str, str]:
    """As a user has it: Python keeps what it compiled."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextmanager
def _children() -> Iterator[list[float]]:
    """The processor time of processes that end within the block, once it is left."""
    before, used = resource.getrusage(resource.RUSAGE_CHILDREN), [0.0]
    yield used
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used[0] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
