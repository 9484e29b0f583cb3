"""A program with half the noise is caught, an honest one is not; programs that hang, fail or write nonsense are survived."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sudare.attacks import AttackOutcome, audit_command, audit_function
from sudare.attacks.refusals import ToldParameterError
from sudare.errors import InputError, ParameterError
from sudare.noise import discrete_laplace

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
    assert report.outcome is AttackOutcome.BROKEN
    assert "It claims 1." in report.verdicts[0].sentence.english
    honest = audit_function(with_noise(1), FIRST, SECOND, runs=4000, claimed=1)
    assert not honest.is_broken
    assert 0.5 < honest.lower_bound <= 1
    assert honest.report().outcome is AttackOutcome.HELD


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


def test_texts_are_outputs() -> None:
    """Stars for small counts: a star beside a number tells the neighbours apart, the same star does not."""
    telling = audit_function(
        lambda table: ["*" if n < 10 else "many" for n in table], FIRST, SECOND, runs=400, claimed=1
    )
    assert telling.is_broken
    silent = audit_function(
        lambda table: ["*" if n < 11 else "many" for n in table], FIRST, SECOND, runs=400, claimed=1
    )
    assert silent.lower_bound == 0
    assert silent.report().outcome is AttackOutcome.HELD
    clock = iter(range(10_000))
    times = audit_function(lambda _: {"time": f"at {next(clock)}"}, FIRST, SECOND, runs=400, claimed=1)
    assert times.lower_bound == 0


def test_what_was_not_tested_is_undecided() -> None:
    nothing_claimed = audit_function(lambda _: 1, FIRST, SECOND, runs=400)
    assert not nothing_claimed.is_tested
    assert nothing_claimed.report().outcome is AttackOutcome.UNDECIDED
    too_few = audit_function(lambda _: 1, FIRST, SECOND, runs=125, claimed=2)
    assert too_few.report().outcome is AttackOutcome.UNDECIDED
    assert "cannot show more than 1.03" in too_few.report().verdicts[0].sentence.english
    enough = audit_function(lambda _: 1, FIRST, SECOND, runs=1000, claimed=2)
    assert enough.provable == audit_function(lambda table: table[1], FIRST, SECOND, runs=1000).lower_bound
    assert enough.report().outcome is AttackOutcome.HELD


def test_a_function_that_gives_nothing_for_one_neighbour_is_caught() -> None:
    audit = audit_function(lambda table: None if table[1] == 10 else table, FIRST, SECOND, runs=400, claimed=1)
    assert audit.is_broken
    assert audit.failures == 400


def test_a_function_that_never_gives_anything_is_refused() -> None:
    with pytest.raises(InputError, match="returned None in every run"):
        audit_function(lambda _: None, FIRST, SECOND, runs=125)


@pytest.mark.parametrize(
    ("first", "second"), [(FIRST, FIRST.copy()), (3, 3), ("a", "a"), ({"a": 1}, {"a": 1}), ([1, 2], [1, 2])]
)
def test_the_same_input_twice_is_refused(first: Any, second: Any) -> None:
    with pytest.raises(ParameterError, match="a neighbour of first"):
        audit_function(lambda table: table, first, second, runs=125)


def test_inputs_of_which_nobody_knows_whether_they_are_the_same_are_audited() -> None:
    pair = [np.array([5, 9])], [np.array([5, 10])]
    assert audit_function(lambda table: table[0], *pair, runs=125, claimed=0).is_broken
    assert audit_function(lambda table: table.size, FIRST, FIRST[:2], runs=125, claimed=0).is_broken


@pytest.mark.parametrize(
    ("wrong", "option"),
    [
        ({"claimed": -1}, "--claim"), ({"claimed": float("inf")}, "--claim"), ({"delta": 1}, "--delta"),
        ({"delta": -0.1}, "--delta"), ({"error_probability": 0}, "--error-probability"),
        ({"error_probability": 1}, "--error-probability"),
    ],
)  # fmt: skip
def test_claims_that_cannot_be_are_told_in_both_languages_before_any_run(
    wrong: dict[str, float], option: str, files: tuple[Path, Path, Path]
) -> None:
    audits: list[Callable[[], object]] = [
        lambda: audit_function(lambda _: 1 / 0, FIRST, SECOND, **wrong),  # type: ignore[arg-type]
        lambda: audit_command(["no-such-program", "{input}", "{output}"], files[1], files[2], **wrong),  # type: ignore[arg-type]
    ]
    for audit in audits:
        with pytest.raises(ToldParameterError) as refused:
            audit()
        for language in ("en", "ja"):
            assert option in refused.value.explain(language)
            assert next(iter(wrong)) in refused.value.explain(language)
        assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)  # noqa: S301 - our own


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


WIDE_NOISE = r"""echo >> "$0.runs"
awk -F, -v seed="$(wc -l < "$0.runs")" '
    BEGIN { srand(seed); for (i = 0; i < 20; i++) rand() }
    { print NR == 1 ? $0 : $1 "," $2 + int(2000 * rand()) - 1000 }
' "$1" > "$2"
"""
"""Its runs have noise of their own, the same in every run of the test."""


def test_a_command_with_wide_noise_is_not_accused(files: tuple[Path, Path, Path]) -> None:
    program, first, second = files
    program.write_text(WIDE_NOISE, encoding="utf-8")
    command = ["sh", str(program), "{input}", "{output}"]
    audit = audit_command(command, first, second, runs=125, claimed=0.5, error_probability=1e-4)
    assert not audit.is_broken
    assert audit.failures == 0


def test_a_command_that_hangs_is_ended_and_time_that_runs_out_is_told(files: tuple[Path, Path, Path]) -> None:
    program, first, second = files
    command = [sys.executable, "-S", str(program), "{input}", "{output}", "hang"]
    with pytest.raises(InputError, match="Time ended before the program had run 125 times"):
        audit_command(command, first, second, runs=130, seconds=0.5, seconds_of_a_run=0.3)


@pytest.mark.parametrize(
    ("script", "match"),
    [
        ("exit 1", "did not write a table in any run"),
        ("exit 0", "did not write a table in any run"),
        (': > "$2"', "did not write a table in any run"),
        ('grep -q ,10 "$1" || cp "$1" "$2"', r"in any run on 'second\.csv'"),
    ],
)
def test_a_command_that_never_writes_a_table_is_refused(
    files: tuple[Path, Path, Path], script: str, match: str
) -> None:
    with pytest.raises(InputError, match=match) as refused:
        audit_command(["sh", "-c", script, "sh", "{input}", "{output}"], files[1], files[2], runs=125, claimed=0.5)
    assert "{output}" in refused.value.english
    assert "{output}" in refused.value.japanese


def test_a_command_that_fails_sometimes_is_audited(files: tuple[Path, Path, Path]) -> None:
    """A failure of every second run on one of the inputs is an output, as any other."""
    once = files[0].with_name("once")
    script = f'if grep -q ,10 "$1" && ! rmdir "{once}"; then mkdir "{once}"; exit 1; fi; echo a > "$2"; echo 1 >> "$2"'
    command = ["sh", "-c", script, "sh", "{input}", "{output}"]
    audit = audit_command(command, files[1], files[2], runs=130, claimed=0, error_probability=0.01)
    assert audit.failures == 65
    assert audit.lower_bound > 0


def test_files_of_the_same_content_are_refused(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, first, _ = files
    twin = tmp_path / "twin.csv"
    twin.write_bytes(first.read_bytes())
    for other in (twin, first):
        with pytest.raises(InputError, match="have the same content") as refused:
            audit_command(["cp", "{input}", "{output}"], first, other, runs=125)
        assert "内容が同じ" in refused.value.japanese


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


def test_progress_is_told() -> None:
    told: list[float] = []
    audit_function(lambda table: table, np.array([1]), np.array([2]), runs=200, progress=told.append)
    assert told == [number / 200 for number in range(200)]
