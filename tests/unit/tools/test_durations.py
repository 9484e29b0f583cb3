"""What the repository keeps of the durations of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.durations import SLOWEST, Counts, TimedTest, count, main, read_tests, slow_tests, table

ROOT = Path(__file__).resolve().parents[3]
JUNIT = """<testsuites><testsuite>
<testcase classname="tests.unit.test_one" name="test_a[x]" time="0.06"/>
<testcase classname="tests.unit.test_one.TestMore" name="test_b" time="2.5"><failure message="no"/></testcase>
<testcase classname="tests.unit.test_two" name="test_c" time="1.0"><skipped message="later"/></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "tests" / "unit"
    folder.mkdir(parents=True)
    for name in ("test_one.py", "test_two.py"):
        (folder / name).touch()
    (tmp_path / "junit.xml").write_text(JUNIT, encoding="utf-8")
    return tmp_path


def test_files_and_tests_with_the_slowest_first(clone: Path) -> None:
    tests = read_tests(clone / "junit.xml", clone)
    assert count(tests) == Counts(passed=1, failed=1, skipped=1)
    assert table(tests).splitlines() == [
        "seconds\ttests\twhat",
        "3.6\t3\tall",
        "2.6\t2\ttests/unit/test_one.py",
        "1.0\t1\ttests/unit/test_two.py",
        "2.50\t1\ttests/unit/test_one.py::TestMore::test_b",
        "1.00\t1\ttests/unit/test_two.py::test_c",
        "0.06\t1\ttests/unit/test_one.py::test_a[x]",
    ]


def test_slow_tests_are_all_listed_and_found_by_their_names(clone: Path) -> None:
    assert slow_tests(table(read_tests(clone / "junit.xml", clone))) == {
        "tests/unit/test_one.py::TestMore::test_b",
        "tests/unit/test_two.py::test_c",
    }
    many = [TimedTest("tests/a.py", f"test_{number}", 0.6, "passed") for number in range(2 * SLOWEST)]
    assert len(slow_tests(table([*many, TimedTest("tests/a.py", "test_quick", 0.04, "passed")]))) == 2 * SLOWEST


def test_what_was_slow_is_marked_so(request: pytest.FixtureRequest) -> None:
    """In this very run."""
    slow = slow_tests((ROOT / "tests" / "durations.tsv").read_text(encoding="utf-8"))
    listed = [item for item in request.session.items if item.nodeid in slow]
    assert all(item.get_closest_marker("slow") for item in listed)


def test_it_is_written(clone: Path) -> None:
    assert main([str(clone / "junit.xml"), str(clone / "durations.tsv")]) == 0
    assert (clone / "durations.tsv").read_text(encoding="utf-8").startswith("seconds\ttests\twhat\n3.6\t3\tall\n")
