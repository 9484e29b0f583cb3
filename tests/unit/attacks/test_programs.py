"""A program with half the noise is caught, an honest one is not; programs that hang, fail or write nonsense are survived."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sudare import InputError, ParameterError, discrete_laplace
from sudare.attacks import Outcome, audit_command, audit_function

FIRST, SECOND = np.array([5, 9, 0, 12]), np.array([5, 10, 0, 12])


def with_noise(scale: float) -> Any:
    sampler = discrete_laplace(scale)
    return lambda table: table + sampler.draw(table.size)


@pytest.mark.usefixtures("repeatable_noise")
def test_half_the_noise_is_caught_and_the_honest_one_is_not() -> None:
    cheating = audit_function(with_noise(0.5), FIRST, SECOND, runs=4000, claimed=1)
    assert cheating.is_broken
    assert cheating.lower_bound > 1.3
    report = cheating.report("our counter")
    assert report.outcome is Outcome.BROKEN
    assert "It claims 1." in report.verdicts[0].sentence.english
    honest = audit_function(with_noise(1), FIRST, SECOND, runs=4000, claimed=1)
    assert not honest.is_broken
    assert 0.5 < honest.lower_bound <= 1
    assert honest.report().outcome is Outcome.HELD


@pytest.mark.usefixtures("repeatable_noise")
def test_a_cell_that_appears_only_for_one_neighbour_is_seen() -> None:
    sampler = discrete_laplace(1)

    def occupied_only(table: NDArray[np.int64]) -> dict[str, int]:
        noise = sampler.draw(table.size).tolist()
        return {str(place): value + noise[place] for place, value in enumerate(table.tolist()) if value}

    audit = audit_function(occupied_only, np.array([5, 0, 3]), np.array([5, 1, 3]), runs=1000, claimed=1)
    assert audit.lower_bound > 2
    assert audit.is_broken


@pytest.mark.usefixtures("repeatable_noise")
def test_evidence_from_several_cells_is_put_together() -> None:
    """Each of four cells has epsilon 1; together they have 4, more than any single cell shows."""
    audit = audit_function(with_noise(1), FIRST, FIRST + 1, runs=4000, claimed=1)
    assert audit.lower_bound > 1.5


def test_a_function_that_gives_nothing_for_one_neighbour_is_caught() -> None:
    audit = audit_function(lambda table: None if table[1] == 10 else table, FIRST, SECOND, runs=400, claimed=1)
    assert audit.is_broken
    assert audit.failures == 400


PROGRAM = """
import csv, random, sys, time
source, target, kind = sys.argv[1:]
rows = list(csv.DictReader(open(source)))
with open(target, "w") as file:
    print("area,count", file=file)
    for row in rows:
        noise = round(random.gauss(0, 200))
        print(row["area"], int(row["count"]) + noise, sep=",", file=file)
if kind == "hang" and rows[1]["count"] == "10":
    time.sleep(60)
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    paths = []
    for name, table in (("first.csv", FIRST), ("second.csv", SECOND)):
        path = tmp_path / name
        path.write_text(
            "area,count\n" + "".join(f"{place},{count}\n" for place, count in enumerate(table)), encoding="utf-8"
        )
        paths.append(path)
    return program, paths[0], paths[1]


def test_a_command_that_copies_its_input_is_caught(files: tuple[Path, Path, Path]) -> None:
    _, first, second = files
    audit = audit_command(["cp", "{input}", "{output}"], first, second, runs=130, claimed=0.5, error_probability=0.01)
    assert audit.is_broken
    assert audit.failures == 0


@pytest.mark.slow
def test_a_command_with_wide_noise_is_not_accused(files: tuple[Path, Path, Path]) -> None:
    program, first, second = files
    command = [sys.executable, "-I", "-S", str(program), "{input}", "{output}", "noisy"]
    audit = audit_command(command, first, second, runs=125, claimed=0.5, error_probability=1e-4)
    assert not audit.is_broken
    assert audit.failures == 0


def test_a_command_that_hangs_is_ended_and_time_that_runs_out_is_told(files: tuple[Path, Path, Path]) -> None:
    program, first, second = files
    command = [sys.executable, "-S", str(program), "{input}", "{output}", "hang"]
    with pytest.raises(InputError, match="Time ended before the program had run 125 times"):
        audit_command(command, first, second, runs=130, seconds=0.5, seconds_of_a_run=0.3)


def test_mistakes_are_told(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, first, second = files
    with pytest.raises(ParameterError, match=r"\{input\} and \{output\}"):
        audit_command(["cp", "{input}"], first, second)
    with pytest.raises(InputError, match="There is no input file"):
        audit_command(["cp", "{input}", "{output}"], first, tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be started"):
        audit_command(["no-such-program-here", "{input}", "{output}"], first, second)
    with pytest.raises(InputError, match="no column 'place'"):
        audit_command(["cp", "{input}", "{output}"], first, second, key_columns=["place"])
    with pytest.raises(ParameterError, match="runs"):
        audit_function(lambda table: table, 1, 2, runs=10)
