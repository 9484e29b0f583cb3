"""What only the holder may see of a protected table: hidden values, protection levels, and what proves that they are safe.

``confidential.json`` and ``confidential-certificate.json`` let the holder check the proof, and repeat the attacks, without the
data. Each of them gives hidden values away. Nothing in the public files depends on them in a way that could be tested: not even
their hashes are there, because a hash tells whether a guess is right.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.structure import TableSystem
from sudare.disclosure.suppression.certificate import Certificate
from sudare.disclosure.suppression.problem import UNKNOWN, Requirement, SuppressionProblem
from sudare.errors import InputError, SudareError
from sudare.releases.kinds.tables.confidential_document import (
    CERTIFICATE,
    CONFIDENTIAL,
    CONFIDENTIAL_FORMAT,
    CONFIDENTIAL_PAGE,
)
from sudare.releases.kinds.tables.plain_values import MAX_UNITS, cell_numbers, whole_number
from sudare.releases.kinds.tables.published_table import PublishedTables
from sudare.storage.guarded_json import read_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = [
    "CERTIFICATE",
    "CONFIDENTIAL",
    "CONFIDENTIAL_FORMAT",
    "CONFIDENTIAL_PAGE",
    "HolderView",
    "proof_holds",
    "read_confidential",
    "write_confidential",
]

MAX_DECIMALS = 18


@dataclass(frozen=True, eq=False)
class HolderView:
    """What the holder knows besides the published tables.

    Attributes:
        values: of every cell.
        problem: what must remain uncertain.
        decimals: digits after the point; more than are shown where only hidden values have them.
    """

    values: Integers
    problem: SuppressionProblem
    decimals: int

    @property
    def lower(self) -> Integers:
        """How far below its value the interval of each cell must reach."""
        return self._levels("lower")

    @property
    def upper(self) -> Integers:
        """How far above."""
        return self._levels("upper")

    def _levels(self, end: str) -> Integers:
        found = np.zeros(self.values.size, dtype=np.int64)
        for requirement in self.problem.requirements:
            if len(requirement.cells) == 1:
                found[requirement.cells[0]] = getattr(requirement, end)
        return found


def write_confidential(path: Path, text: bytes) -> None:
    """Write a file that nobody but its owner can read, from its first byte on."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)


def read_confidential(folder: Path, published: PublishedTables) -> HolderView | None:
    """What ``confidential.json`` says; None if it is not there.

    Raises:
        InputError: if it is damaged, or belongs to another table.
    """
    path = folder / CONFIDENTIAL
    if not path.is_file():
        return None
    try:
        document = read_json(path)
        if not isinstance(document, dict) or document["format"] != CONFIDENTIAL_FORMAT:
            raise ValueError
        return _holder_view(document, published)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, SudareError):
        raise InputError(
            f"'{path}' is damaged, or belongs to another table.", f"「{path}」が壊れているか、別の表のものです。"
        ) from None


def proof_holds(folder: Path, published: PublishedTables, holder: HolderView) -> bool:
    """Whether the certificate of a folder proves its hidden cells safe, from insiders too; no solver takes part."""
    path = folder / CERTIFICATE
    if not path.is_file():
        return False
    try:
        certificate = Certificate.of_text(path.read_text(encoding="utf-8"))
        is_of_this = np.array_equal(certificate.mask(published.system.size), published.hidden)
        return bool(is_of_this) and not certificate.faults(holder.problem)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, SudareError):
        return False


def _holder_view(document: Mapping[str, Any], published: PublishedTables) -> HolderView:
    system: TableSystem = published.system
    size, decimals = system.size, whole_number(document["decimals"], 0, MAX_DECIMALS)
    values = published.in_units(decimals).values.copy()
    numbers = list(cell_numbers(document["cells"]["numbers"], size))
    values[numbers] = _amounts(document["cells"]["values"], len(numbers))
    if (np.setdiff1d(np.flatnonzero(published.hidden), numbers)).size:
        raise ValueError
    requirements = tuple(
        Requirement(cell_numbers(cells, size), whole_number(lower), whole_number(upper))
        for cells, lower, upper in document["requirements"]
    )
    insiders = tuple(cell_numbers(cells, size) for cells in document["insiders"])
    primary, shown, forced = (np.zeros(size, dtype=np.bool_) for _ in range(3))
    primary[list(cell_numbers([one["cell"] for one in document["unsafe"]], size))] = True
    shown[list(cell_numbers(document["must_show"], size))] = True
    asked = {one.cells[0] for one in requirements if len(one.cells) == 1 and one.lower + one.upper > 0}
    if not asked.issuperset(np.flatnonzero(primary).tolist()):
        raise ValueError  # something must stay uncertain about every unsafe cell
    forced[list(cell_numbers(document["must_hide"], size))] = True
    problem = SuppressionProblem(
        system,
        values,
        np.zeros(size, dtype=np.int64),
        primary,
        shown,
        _amounts(document["smallest"], size),
        np.full(size, UNKNOWN, dtype=np.int64),
        requirements,
        insiders,
        whole_number(document["insider_share"]),
        {
            (whole_number(insider, 0, len(insiders) - 1), whole_number(cell, 0, size - 1)): whole_number(rest)
            for insider, cell, rest in document["insider_rest"]
        },
        document["whole_numbers"] is True,
        forced,
    )
    return HolderView(values, problem, decimals)


def _amounts(values: Sequence[object], size: int) -> Integers:
    if len(values) != size:
        raise ValueError
    return np.array([whole_number(value, -MAX_UNITS) for value in values], dtype=np.int64)
