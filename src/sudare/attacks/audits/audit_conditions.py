"""What an audit of a program needs before its outcome means anything: a possible claim, neighbouring inputs, and outputs."""

from __future__ import annotations

import filecmp
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sudare.attacks.refusals import ToldParameterError, required
from sudare.bilingual import Words
from sudare.errors import Described, InputError, ParameterError
from sudare.parameters import Rational, exact_fraction

__all__ = ["read_claim", "require_different_files", "require_different_inputs", "require_outputs"]

CLAIM = Words(
    "a number from 0 on (on the command line: --claim)",
    "0 以上の数（コマンドラインでは --claim）",
)
DELTA = Words(
    "a number from 0 to below 1 (on the command line: --delta)",
    "0 以上 1 未満の数（コマンドラインでは --delta）",
)
ERROR_PROBABILITY = Words(
    "a number strictly between 0 and 1 (on the command line: --error-probability)",
    "0 より大きく 1 より小さい数（コマンドラインでは --error-probability）",
)
NEIGHBOUR = Words(
    "a neighbour of first, with one person added, removed or changed",
    "first と異なる入力（一人を加える、除く、または変えたもの）",
)


def read_claim(
    function: str, claimed: Rational | None, delta: Rational, error_probability: Rational
) -> tuple[float | None, float, float]:
    """Read what the program claims, before it is run for an hour.

    Args:
        function: name of the audit.
        claimed: the epsilon that the program claims; None without.
        delta: the delta that it claims.
        error_probability: how likely the bound may be wrong.

    Raises:
        ToldParameterError: if one of them is not what it can be.

    Example:
        >>> read_claim("audit_function", 1, 0, "0.001")
        (1.0, 0.0, 0.001)
    """
    epsilon = None
    if claimed is not None:
        with required(CLAIM):
            epsilon = exact_fraction(claimed, "claimed", function, str(CLAIM))
            if epsilon < 0:
                raise ParameterError("claimed", function, CLAIM, claimed)
    with required(DELTA):
        failing = exact_fraction(delta, "delta", function, str(DELTA))
        if not 0 <= failing < 1:
            raise ParameterError("delta", function, DELTA, delta)
    with required(ERROR_PROBABILITY):
        chance = exact_fraction(error_probability, "error_probability", function, str(ERROR_PROBABILITY))
        if not 0 < chance < 1:
            raise ParameterError("error_probability", function, ERROR_PROBABILITY, error_probability)
    return None if epsilon is None else float(epsilon), float(failing), float(chance)


def require_different_files(first: Path, second: Path) -> None:
    """Two files of the same content are the same input twice: every program would hold.

    Raises:
        InputError: if a file is not there, cannot be read, or both hold the same.
    """
    for path in (first, second):
        if not path.is_file():
            raise InputError(f"There is no input file '{path}'.", f"入力ファイル '{path}' がありません。")
    try:
        same = filecmp.cmp(first, second, shallow=False)
    except OSError:
        raise InputError(
            f"The input files '{first}' and '{second}' cannot both be read.",
            f"入力ファイル '{first}' と '{second}' の両方を読むことができません。",
        ) from None
    if same:
        raise InputError(
            f"The input files '{first}' and '{second}' have the same content, so that no program could tell them apart. "
            "Give two neighbours: the same table with one person added, removed or changed.",
            f"入力ファイル '{first}' と '{second}' の内容が同じなので、どのプログラムでも区別できません。"
            "一人を加える、除く、または変えた、隣接する二つの表を指定してください。",
        )


def require_different_inputs(first: Any, second: Any) -> None:
    """As for files, where it can be told whether two objects are the same.

    Raises:
        ParameterError: if they are.
    """
    if _are_same(first, second):
        raise ToldParameterError("second", "audit_function", NEIGHBOUR, Described("the same input"))


def _are_same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    try:
        return bool(first == second)
    except (TypeError, ValueError):  # tables that compare cell by cell
        return first is second


def require_outputs(outputs: Sequence[Sequence[object]], files: tuple[str, str] | None) -> None:
    """A program that now and then fails can be audited; one of which nothing was seen cannot.

    Args:
        outputs: of the runs on each of the two inputs; None for a run without one.
        files: names of the inputs of a command; None for a function, whose refusal of one of them is an output.

    Raises:
        InputError: if there is no output at all, or none of a command on one of its inputs.
    """
    silent = [all(output is None for output in found) for found in outputs]
    if files is None and all(silent):
        raise InputError(
            "The function returned None in every run. It must return a number, an array, or a mapping from names to numbers.",
            "関数がすべての実行で None を返しました。数、配列、または名前から数への対応を返す必要があります。",
        )
    if files is None or not any(silent):
        return
    demand = Words(
        "It must write a table (CSV with a header) to the file that {output} stands for, and end with exit code 0.",
        "{output} のファイルに見出し行のある CSV の表を書き、終了コード 0 で終わる必要があります。",
    )
    if all(silent):
        raise InputError(
            f"The program did not write a table in any run. {demand.english}",
            f"プログラムは一度も表を書きませんでした。{demand.japanese}",
        )
    name = files[silent.index(True)]
    raise InputError(
        f"The program did not write a table in any run on '{name}', but did on the other input. {demand.english} "
        "If it refuses this input on purpose, its refusal alone tells the two apart.",
        f"プログラムは '{name}' に対して一度も表を書きませんでした（もう一方の入力では書きました）。{demand.japanese}"
        "意図してこの入力を拒む場合は、拒むこと自体が二つの入力を区別させます。",
    )
