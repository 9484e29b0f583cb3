"""The empirical epsilon of any program that reads a table and writes one.

The program is run many times on each of two neighbouring inputs. What it writes is turned into whole numbers by a score: the
first runs choose it (the direction in which the two outputs differ most, relative to their spread, plus which cells and which
texts are there at all), the other runs are audited with it (`empirical_epsilon`). The bound holds whatever the program is; a
large one proves that the program leaks, a small one proves nothing. A claim that so few runs could not refute was not tested.
"""

from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.audits.audit_conditions import (
    read_claim,
    require_different_files,
    require_different_inputs,
    require_outputs,
)
from sudare.attacks.audits.empirical_epsilon import EpsilonAudit, audit_epsilon, largest_bound
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.column_names import listed_columns
from sudare.errors import Described, InputError, ParameterError
from sudare.parameters import Rational, exact_integer
from sudare.system.reasons import reason_of
from sudare.system.scratch import scratch_folder

__all__ = ["ProgramAudit", "audit_command", "audit_function"]

Cells = Mapping[str, float]
"""The output of one run: a number for each named cell."""

Progress = Callable[[float], None]

MIN_RUNS = 125
REMEDY = Words(
    "Do not publish with this program: its noise is smaller than it claims, or depends on the data. "
    "Use a mechanism with a proof.",
    "このプログラムで公表しないでください。ノイズが主張より小さいか、データに依存しています。証明のある方法を使ってください。",
)
NAME_A_CLAIM = Words(
    "Say which epsilon the program claims, so that it can be compared.",
    "比較のため、プログラムが主張する ε を指定してください。",
)
MORE_RUNS = Words("Audit with more runs.", "実行回数を増やして調べてください。")


@dataclass(frozen=True)
class ProgramAudit:
    """The outcome of an audit of a program.

    Attributes:
        audit: the lower bound of epsilon.
        claimed: the epsilon that the program claims; None if it claims none.
        failures: how many runs ended without an output; a failure is an output, too.
        provable: the largest bound that this many runs can show, whatever the program.
    """

    audit: EpsilonAudit
    claimed: float | None
    failures: int
    provable: float = math.inf

    @property
    def lower_bound(self) -> float:
        """Epsilon is at least this, up to the audit's error probability."""
        return self.audit.lower_bound

    @property
    def is_broken(self) -> bool:
        """Whether the outputs refute the claim."""
        return self.claimed is not None and self.audit.refutes(self.claimed)

    @property
    def is_tested(self) -> bool:
        """Whether there is a claim, and so many runs that they would refute it if the program told everything."""
        return self.claimed is not None and self.provable > self.claimed

    def report(self, name: str = "program") -> AttackReport:
        """One verdict, on the program; undecided if it claims nothing, or more than so few runs could refute.

        Args:
            name: of the program.
        """
        claim = Words.same("")
        if self.claimed is not None:
            claim = Words(f" It claims {self.claimed:g}.", f"主張は {self.claimed:g} です。")
        sentence = Words(
            f"{self.audit.runs:,} runs on each of two neighbouring inputs show that "
            f"epsilon is at least {self.lower_bound:.3g}.{claim.english}",
            f"隣接する二つの入力でそれぞれ {self.audit.runs:,} 回実行した結果、"
            f"ε は少なくとも {self.lower_bound:.3g} です。{claim.japanese}",
        )
        if self.is_broken:
            outcome, remedy = AttackOutcome.BROKEN, REMEDY
        elif self.is_tested:
            outcome, remedy = AttackOutcome.HELD, REMEDY
        elif self.claimed is None:
            outcome, remedy = AttackOutcome.UNDECIDED, NAME_A_CLAIM
        else:
            outcome, remedy = AttackOutcome.UNDECIDED, MORE_RUNS
            sentence = Words(
                f"{sentence.english} So few runs cannot show more than {self.provable:.3g}, whatever the program.",
                f"{sentence.japanese}この実行回数では、どのようなプログラムでも {self.provable:.3g} より大きな値は示せません。",
            )
        verdict = Verdict("empirical epsilon", name, outcome, self.lower_bound, sentence, remedy)
        return AttackReport.of("empirical epsilon", sentence, [verdict])


def audit_function(
    program: Callable[[Any], Any],
    first: Any,
    second: Any,
    *,
    runs: int = 10_000,
    claimed: Rational | None = None,
    delta: Rational = 0.0,
    error_probability: Rational = 1e-6,
    seconds: float = 600.0,
    progress: Progress | None = None,
) -> ProgramAudit:
    """Audit a Python function that takes a table and returns one.

    Args:
        program: takes an input, returns an array, a number, or a mapping from names of cells to numbers. Texts are outputs, too.
        first: an input.
        second: its neighbour: one person added, removed or changed.
        runs: how often to run the program on each.
        claimed: the epsilon that it claims.
        delta: the delta that it claims.
        error_probability: how likely the bound may be wrong.
        seconds: how long all runs may take; the audit is then one of the runs until there.
        progress: called with the share of the runs that is done.

    Raises:
        InputError: if time ends before there are enough runs for any audit, or if the function never returns anything.
        ParameterError: if the claim cannot be one, or if both inputs are the same.

    Example:
        >>> import sudare
        >>> from sudare.attacks.audits.programs import audit_function
        >>> import numpy as np
        >>> noise = sudare.noise.discrete_laplace(0.5)  # half of what epsilon 1 needs
        >>> first, second = np.array([5, 9]), np.array([5, 10])
        >>> audit_function(lambda table: table + noise.draw(2), first, second, runs=6000, claimed=1).is_broken
        True
    """
    check_arguments(audit_function, locals(), "program", "seconds", "progress")
    promise, failing, chance = read_claim("audit_function", claimed, delta, error_probability)
    require_different_inputs(first, second)
    return _audit(
        lambda data: _cells_of(program(data)), first, second, runs, promise, failing, chance, seconds, progress
    )


def audit_command(
    command: Sequence[str],
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    runs: int = 1000,
    key_columns: Sequence[str] | None = None,
    claimed: Rational | None = None,
    delta: Rational = 0.0,
    error_probability: Rational = 1e-6,
    seconds: float = 3600.0,
    seconds_of_a_run: float = 60.0,
    progress: Progress | None = None,
) -> ProgramAudit:
    """Audit a program that reads a table from a file and writes one (CSV).

    Args:
        command: the program and its arguments; ``{input}`` and ``{output}`` stand for the two files. Not run by a shell.
        first: an input file.
        second: its neighbour's.
        runs: how often to run the program on each.
        key_columns: the columns of the output that name a row; all but the last if not given. All others are numbers
            or texts.
        claimed: the epsilon that the program claims.
        delta: the delta that it claims.
        error_probability: how likely the bound may be wrong.
        seconds: how long all runs may take; the audit is then one of the runs until there.
        seconds_of_a_run: a run that takes longer is ended and counts as one without output.
        progress: called with the share of the runs that is done.

    Raises:
        InputError: if an input file is not there, if both hold the same, if the program cannot be started or never writes a
            table of one of them, or if time ends too early.
        ParameterError: if the command names no input or no output, or if the claim cannot be one.
    """
    joined = " ".join(command)
    if isinstance(command, str) or "{input}" not in joined or "{output}" not in joined:
        requirement = "a list of words in which {input} and {output} stand for the two files"
        raise ParameterError("command", "audit_command", requirement, Described("another one"))
    promise, failing, chance = read_claim("audit_command", claimed, delta, error_probability)
    require_different_files(Path(first), Path(second))

    with scratch_folder() as folder:
        output = folder / "output.csv"

        def run(data: Any) -> Cells | None:
            output.unlink(missing_ok=True)
            words = [word.replace("{input}", str(data)).replace("{output}", str(output)) for word in command]
            if not _run_in_time(words, seconds_of_a_run):
                return None
            return _read_cells(output, key_columns)

        return _audit(
            run,
            Path(first).resolve(),
            Path(second).resolve(),
            runs,
            promise,
            failing,
            chance,
            seconds,
            progress,
            files=(Path(first).name, Path(second).name),
        )


def _audit(
    run: Callable[[Any], Cells | None],
    first: Any,
    second: Any,
    runs: int,
    claimed: float | None,
    delta: float,
    error_probability: float,
    seconds: float,
    progress: Progress | None,
    files: tuple[str, str] | None = None,
) -> ProgramAudit:
    exact_integer(runs, "runs", "audit", f"a whole number >= {MIN_RUNS}", smallest=MIN_RUNS)
    outputs: tuple[list[Cells | None], list[Cells | None]] = ([], [])
    deadline = time.monotonic() + seconds
    # By turns, so that a machine that becomes slower or warmer does so for both alike.
    for number in range(runs):
        if time.monotonic() > deadline:
            break
        if progress is not None:
            progress(number / runs)
        for data, found in zip((first, second), outputs, strict=True):
            found.append(run(data))
    done = len(outputs[1])
    if done < MIN_RUNS:
        raise InputError(
            f"Time ended before the program had run {MIN_RUNS} times on each input. Allow more seconds or a smaller input.",
            f"各入力で {MIN_RUNS} 回実行する前に時間切れになりました。制限時間を延ばすか、入力を小さくしてください。",
        )
    require_outputs(outputs, files)
    pilot = done // 5
    score = _choose_score(outputs[0][:pilot], outputs[1][:pilot])
    scored = [np.array([score(cells) for cells in found[pilot:]], dtype=np.int64) for found in outputs]
    failures = sum(cells is None for found in outputs for cells in found)
    audit = audit_epsilon(scored[0], scored[1], delta=delta, error_probability=error_probability)
    provable = largest_bound(audit.runs, delta=delta, error_probability=error_probability)
    return ProgramAudit(audit, claimed, failures, provable)


def _choose_score(first: Sequence[Cells | None], second: Sequence[Cells | None]) -> Callable[[Cells | None], int]:
    """A whole number for an output, chosen by some outputs of each side."""
    often = Counter(name for cells in (*first, *second) if cells is not None for name in cells)
    # A name that came once tells nothing, and texts such as times of day would be as many as runs.
    names = sorted(name for name, number in often.items() if number > 1)
    tables = [_matrix(found, names) for found in (first, second)]
    means = [table.mean(axis=0) for table in tables]
    spread = np.concatenate([table - mean for table, mean in zip(tables, means, strict=True)])
    variances = (spread**2).mean(axis=0)
    gap = means[1] - means[0]
    # A cell that never varies and differs tells all; it gets a small variance instead of none.
    floor = max(1e-12, 1e-6 * float(variances.max(initial=0.0)))
    direction = gap / np.maximum(variances, floor)
    # What is mere chance in the first runs is left out: it would blur the rest.
    direction[gap**2 < 4 * (variances + floor) / max(1, len(first))] = 0.0
    if not direction.any():
        direction = np.where(np.arange(direction.size) == np.argmax(np.abs(gap)), 1.0, 0.0)
    plain = np.abs(direction) > 0
    if plain.sum() == 1 and all(_is_whole(table[:, plain]) for table in tables):
        direction = np.where(plain, 1.0, 0.0)  # one cell of whole numbers is its own score
    else:
        scores = np.concatenate([table @ direction for table in tables])
        width = float(scores.std())
        direction = direction * (10.0 / width if width > 0 else 1.0)

    seen = set(names)

    def score(cells: Cells | None) -> int:
        if cells is None:
            return -(1 << 40)
        value = float((_matrix([cells], names) @ direction)[0])
        # An output with cells that no first run had is something special: it gets a number of its own.
        unseen = sum(name not in seen for name in cells)
        return max(-(1 << 39), min(1 << 39, round(value))) + (unseen << 41)

    return score


def _matrix(found: Sequence[Cells | None], names: Sequence[str]) -> NDArray[np.float64]:
    """For each output its numbers (0 where a cell is missing) and whether each cell is there."""
    rows = np.zeros((len(found), 2 * len(names) + 1))
    for place, cells in enumerate(found):
        if cells is None:
            rows[place, -1] = 1.0
            continue
        for column, name in enumerate(names):
            number = cells.get(name)
            if number is not None:
                rows[place, column] = number
                rows[place, len(names) + column] = 1.0
    return rows


def _is_whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.rint(values)).all())


def _cells_of(output: Any) -> Cells | None:
    if output is None:
        return None
    if isinstance(output, Mapping):
        return _cells((str(name), value) for name, value in output.items())
    return _cells((str(place), value) for place, value in enumerate(np.asarray(output).ravel().tolist()))


def _cells(values: Iterable[tuple[str, Any]]) -> Cells:
    """A number for each cell. What is no number is an output as well: each text is a cell of its own, which is there or not."""
    cells = {}
    for name, value in values:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            cells[f"{name}={value}"] = 1.0
        else:
            cells[name] = max(-1e15, min(1e15, number))
    return cells


def _read_cells(path: Path, key_columns: Sequence[str] | None) -> Cells | None:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            header = list(rows.fieldnames or [])
            if not header:
                return None
            keys = list(key_columns) if key_columns is not None else header[:-1]
            missing = [key for key in keys if key not in header]
            if missing:
                listed = listed_columns(missing[0], header, keys, path)
                raise InputError(
                    f"The program's output has no column '{missing[0]}'.{listed.english}",
                    f"プログラムの出力に列 '{missing[0]}' がありません。{listed.japanese}",
                )
            return _cells(
                ("/".join([*(row[key] or "" for key in keys), name]), row[name])
                for row in rows
                for name in header
                if name not in keys
            )
    except (OSError, UnicodeDecodeError, csv.Error):
        return None


def _run_in_time(words: Sequence[str], seconds: float) -> bool:
    """Run a program; whether it ended well and in time. What it prints goes nowhere."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the program that the caller wants audited, without a shell
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as reason:
        raise InputError(
            f"The program '{words[0]}' cannot be started: {reason_of(reason).english}.",
            f"プログラム '{words[0]}' を起動できません（{reason_of(reason).japanese}）。",
        ) from None
    try:
        return process.wait(timeout=seconds) == 0
    except BaseException as reason:
        # The program's own helpers end with it: all of them are in the session that was started for it.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(reason, subprocess.TimeoutExpired):
            return False
        raise
