"""Turn a JUnit file into the durations that the repository keeps: seconds of each test file, and the slowest tests.

    python -m pytest ... --junitxml=out/junit.xml
    python tools/durations.py out/junit.xml tests/durations.tsv

The seconds are those of one machine in one run: they say where time goes, not how long it takes elsewhere. Tests that took a
tenth of a second are marked as slow by ``tests/conftest.py``, and `make unit` leaves them to `make test`.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Counts", "TimedTest", "count", "main", "read_tests", "slow_tests", "table"]

ROOT = Path(__file__).resolve().parents[1]
SLOWEST = 40
"""So many tests are listed at least, and all slow ones."""

SLOW_SECONDS = 0.1


@dataclass(frozen=True)
class TimedTest:
    """A test of a run.

    Attributes:
        file: where it stands, from the root of the repository.
        name: with its class and its parameters.
        seconds: with its fixtures.
        outcome: ``passed``, ``failed`` or ``skipped``.
    """

    file: str
    name: str
    seconds: float
    outcome: str


@dataclass(frozen=True)
class Counts:
    """How the tests of a run ended."""

    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed:,} passed, {self.failed:,} failed, {self.skipped:,} skipped"


def read_tests(path: Path, root: Path = ROOT) -> list[TimedTest]:
    """The tests of a JUnit file, in its order."""
    cases = ET.parse(path).getroot().iter("testcase")  # noqa: S314 - our own run wrote it
    return [_test(case, root) for case in cases]


def _test(case: ET.Element, root: Path) -> TimedTest:
    parts = (case.get("classname") or "unknown").split(".")
    # A class in a file is the last part of what pytest writes; a file is the longest that is there.
    for end in range(len(parts), 0, -1):
        file = Path(*parts[:end]).with_suffix(".py")
        if (root / file).is_file():
            name = "::".join([*parts[end:], case.get("name", "")])
            break
    else:
        file, name = Path(*parts), case.get("name", "")
    outcome = "passed"
    for child in case:
        if child.tag in ("failure", "error"):
            outcome = "failed"
        elif child.tag == "skipped" and outcome == "passed":
            outcome = "skipped"
    return TimedTest(str(file), name, float(case.get("time", 0)), outcome)


def count(tests: Iterable[TimedTest]) -> Counts:
    """How they ended."""
    found = Counter(test.outcome for test in tests)
    return Counts(found["passed"], found["failed"], found["skipped"])


def table(tests: Sequence[TimedTest]) -> str:
    """Lines of seconds, number of tests and name, slowest first: the sum, the files, the slowest tests."""
    seconds: defaultdict[str, float] = defaultdict(float)
    numbers: Counter[str] = Counter()
    for test in tests:
        seconds[test.file] += test.seconds
        numbers[test.file] += 1
    slowest = sorted(tests, key=lambda test: (-test.seconds, test.file, test.name))
    slowest = slowest[: max(SLOWEST, sum(test.seconds >= SLOW_SECONDS for test in tests))]
    lines = [
        "seconds\ttests\twhat",
        f"{sum(seconds.values()):.1f}\t{len(tests)}\tall",
        *(
            f"{seconds[file]:.1f}\t{numbers[file]}\t{file}"
            for file in sorted(seconds, key=lambda file: (-seconds[file], file))
        ),
        *(f"{test.seconds:.2f}\t1\t{test.file}::{_one_line(test.name)}" for test in slowest),
    ]
    return "\n".join(lines) + "\n"


def slow_tests(text: str) -> frozenset[str]:
    """The names of all tests of a table, as pytest writes them, that took `SLOW_SECONDS` or more."""
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return frozenset(name for seconds, _, name in rows if "::" in name and float(seconds) >= SLOW_SECONDS)


def _one_line(name: str) -> str:
    return name.encode("unicode_escape").decode() if not name.isprintable() else name


def main(arguments: Sequence[str] | None = None) -> int:
    """Read one file, and write the other."""
    reading = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reading.add_argument("junit", type=Path)
    reading.add_argument("durations", type=Path)
    given = reading.parse_args(arguments)
    given.durations.write_text(table(read_tests(given.junit)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
