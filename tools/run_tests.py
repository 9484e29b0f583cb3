"""Run the tests with what belongs to a run: compiled kernels before it, lint beside it, its record behind it.

    python tools/run_tests.py [--lint] [--durations FILE] [--record FILE] [--coverage FILE] -- ARGUMENTS OF PYTEST

Kernels are compiled once before the processes of the run start, which would each compile all of them. ``make lint`` runs at
the same time; what it says comes behind the tests, and the run fails if it fails. A record is a page of a few lines that is
committed: when, of which commit, how many tests, how long.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.durations import count, read_tests, table

__all__ = ["compile_kernels", "main", "memory", "needs_compiling", "record"]

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ("src/sudare/kernels",)
STAMP = ".venv/.kernels"
MEMORY, MIN_FREE_MEMORY = Path("/dev/shm"), 8 << 30  # noqa: S108
LOAD = "from sudare.kernels.warming import prepare_all; prepare_all()"


def needs_compiling(root: Path = ROOT) -> bool:
    """Whether a kernel was changed since all were compiled here."""
    stamp = root / STAMP
    files = [file for folder in KERNELS for file in (root / folder).rglob("*.py")]
    return not stamp.exists() or any(file.stat().st_mtime > stamp.stat().st_mtime for file in files)


def compile_kernels(root: Path = ROOT) -> None:
    """Compile all kernels in one process; what is wrong with one is told by the tests."""
    paths = str(root / "src")
    done = subprocess.run([sys.executable, "-c", LOAD], cwd=root, env={**os.environ, "PYTHONPATH": paths}, check=False)  # noqa: S603
    if done.returncode == 0:
        (root / STAMP).touch()


def memory(folder: Path = MEMORY) -> Path | None:
    """A folder that needs no disk, if there is one with room; what is written safely takes no time there.

    Processes that are killed lose nothing there that they would keep on a disk: files belong to the system, not to them.
    """
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return None
    return folder if shutil.disk_usage(folder).free >= MIN_FREE_MEMORY else None


def record(title: str, command: str, seconds: float, lines: Sequence[str], root: Path = ROOT) -> str:
    """A page that says what was run, when, of which commit, and how it ended."""
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    changed = " with changes" if _git(root, "status", "--porcelain", "--untracked-files=no") else ""
    facts = [
        f"- date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"- commit: {head}{changed}",
        f"- duration: {seconds / 60:.0f} min on {os.cpu_count()} processors",
        *(f"- {line}" for line in lines),
    ]
    return f"# {title}\n\n`{command}` writes this page.\n\n" + "\n".join(facts) + "\n"


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603, S607


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests, and return 0 if all is well."""
    reading = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reading.add_argument("--lint", action="store_true")
    reading.add_argument("--durations", type=Path)
    reading.add_argument("--record", type=Path)
    reading.add_argument("--coverage", type=Path)
    reading.add_argument("pytest", nargs="*")
    given = reading.parse_args(arguments)
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    with tempfile.TemporaryDirectory(prefix="sudare-tests-", dir=memory()) as place:
        own = Path(place) / "tmp"
        own.mkdir()
        Path(place).chmod(0o711)  # a database that is started by root runs as somebody else
        own.chmod(0o1777)
        own_environment = {**os.environ, "TMPDIR": str(own)}
        said, junit, lint = Path(place) / "lint", Path(place) / "junit.xml", None
        if given.lint:
            with said.open("w") as stream:
                command = ["make", "--no-print-directory", "lint"]
                lint = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stream, stderr=subprocess.STDOUT)  # noqa: S603
        try:
            if needs_compiling():
                compile_kernels()
            program = ["-m", "coverage", "run", "-m", "pytest"] if given.coverage else ["-m", "pytest"]
            started = time.monotonic()
            kept = [f"--junitxml={junit}"] if given.durations or given.record or given.coverage else []
            command = [sys.executable, *program, *kept, f"--basetemp={Path(place) / 'tests'}", *given.pytest]
            done = subprocess.run(command, cwd=ROOT, env=own_environment, check=False)  # noqa: S603
            seconds = time.monotonic() - started
        except BaseException:
            if lint is not None:
                lint.terminate()
            raise
        code = done.returncode
        if junit.exists():
            tests = read_tests(junit)
            if given.durations:
                given.durations.write_text(table(tests), encoding="utf-8")
            if given.record:
                page = record(
                    "The last run of the long evidence", "make test-deep", seconds, [f"tests: {count(tests)}"]
                )
                given.record.write_text(page, encoding="utf-8")
            if given.coverage:
                lines = [f"tests: {count(tests)}", *_covered()]
                given.coverage.write_text(record("Coverage", "make coverage", seconds, lines), encoding="utf-8")
        if lint is not None:
            failed = lint.wait()
            sys.stdout.write(said.read_text(encoding="utf-8"))
            sys.stdout.write(f"make lint: {'failed' if failed else 'passed'}\n")
            code = code or failed
    return code


def _covered() -> list[str]:
    """Lines and branches that a run with coverage saw, of all and of each room that saw fewest."""
    for part in (["combine", "--quiet"], ["json", "--quiet", "-o", "out/coverage.json"]):
        (ROOT / "out").mkdir(exist_ok=True)
        subprocess.run([sys.executable, "-m", "coverage", *part], cwd=ROOT, check=False)  # noqa: S603
    found = json.loads((ROOT / "out" / "coverage.json").read_text(encoding="utf-8"))
    total = found["totals"]
    rooms: dict[str, list[int]] = {}
    for name, file in found["files"].items():
        room = rooms.setdefault("/".join(name.partition("src/")[2].split("/")[:2]), [0, 0])
        room[0] += file["summary"]["covered_lines"]
        room[1] += file["summary"]["num_statements"]
    least = sorted((covered / max(lines, 1), name) for name, (covered, lines) in rooms.items())[:5]
    return [
        f"lines: {total['covered_lines']:,} of {total['num_statements']:,}, {total['percent_covered']:.1f} % with branches",
        "least covered: " + ", ".join(f"{name} {100 * share:.0f} %" for share, name in least),
        "compiled kernels run outside of Python, and are held to their slow twins instead",
    ]


if __name__ == "__main__":
    sys.exit(main())
