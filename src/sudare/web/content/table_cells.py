"""The cells of a planned table as its holder looks at them: what becomes of each, why, and what an attacker can work out.

Everything here comes from the functions that a release calls. Nothing is written; what was computed is kept in memory for as long
as plan and data stay the same, since a person looks at many cells of one table.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.disclosure.status import CellStatus
from sudare.disclosure.suppression.audit import audit
from sudare.errors import InputError, SudareError
from sudare.releases.kinds.tables.methods.cell_method import Protected
from sudare.releases.kinds.tables.methods.registry import cell_method_named
from sudare.releases.kinds.tables.methods.rounding import Round
from sudare.releases.kinds.tables.methods.suppression import Suppress, SuppressedCells
from sudare.releases.kinds.tables.planning.input_plan import CellsInput
from sudare.releases.kinds.tables.planning.plan_file import TablePlan
from sudare.web.words import TEXTS

__all__ = [
    "CellFacts",
    "CellGrid",
    "ChoiceCost",
    "PlannedCells",
    "ShownCell",
    "cells_of",
    "compare_choices",
    "facts_of",
    "grids_of",
]

MAX_COLUMNS, MAX_SHOWN = 60, 4000
MAX_KEPT = 8
SECONDS = 20.0
"""That one choice may take where several are compared."""

CHOICES: dict[str, tuple[str, Any]] = {
    "suppress-value": ("suppress", Suppress(seconds=SECONDS)),
    "suppress-count": ("suppress", Suppress(seconds=SECONDS, cost="count")),
    "suppress-equal": ("suppress", Suppress(seconds=SECONDS, cost="equal")),
    "suppress-exact": ("suppress", Suppress(seconds=SECONDS, search="exact")),
    "round-5": ("round", Round(base=5, seconds=SECONDS)),
    "primary": ("suppress", Suppress(secondary=False)),
}


@dataclass(frozen=True, kw_only=True)
class ShownCell:
    """A cell, as it will be published.

    Attributes:
        number: of the cell.
        name: its codes.
        text: its published value; empty if it is hidden.
        status: ``"safe"``, ``"primary"``, ``"secondary"``, ``"unsafe"`` (shown changed) or ``"empty"``.
    """

    number: int
    name: str
    text: str
    status: str


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """A table laid out in rows and columns.

    Attributes:
        title: its name and spanning variables.
        heads: names of the variables that label the rows.
        across: name of the variable that labels the columns; empty if there is one variable alone.
        columns: codes across.
        rows: the codes of each row, and its cells.
        shown: how many cells are laid out.
        total: how many there are.
    """

    title: str
    heads: tuple[str, ...]
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[ShownCell, ...]], ...]
    shown: int
    total: int


@dataclass(frozen=True, kw_only=True)
class CellFacts:
    """What the holder may know of a cell.

    Attributes:
        cell: as it is published.
        value: the true one.
        contributors: how many there are.
        largest: the largest contributions.
        rules: that it breaks, with their parameters.
        required: between which values an attacker must not be able to exclude any; None if nothing is required.
        interval: what an attacker can work out.
    """

    cell: ShownCell
    value: str
    contributors: int
    largest: tuple[str, ...]
    rules: tuple[Words, ...]
    required: Words | None
    interval: Words


@dataclass(frozen=True, kw_only=True)
class ChoiceCost:
    """What one way to protect a table costs.

    Attributes:
        name: of the choice.
        hidden: cells.
        secondary: hidden cells that break no rule.
        lost: sum of hidden values, or of changes.
        seconds: that it took.
        problem: why it cannot be; None if it can.
    """

    name: str
    hidden: int = 0
    secondary: int = 0
    lost: str = ""
    seconds: float = 0.0
    problem: Words | None = None


@dataclass(frozen=True, kw_only=True)
class PlannedCells:
    """What becomes of every cell of a plan.

    Attributes:
        plan: as it was read when its cells were protected: their rules are told apart by who they are, not by what they say.
        protected: its cells.
    """

    plan: TablePlan
    protected: Protected


_kept: OrderedDict[str, PlannedCells] = OrderedDict()
_lock = threading.Lock()


def cells_of(plan: TablePlan) -> PlannedCells:
    """What becomes of every cell, by the functions that a release calls; nothing is written.

    Raises:
        InputError: if the data is not what the plan says, or cannot be protected.
    """
    key = _key(plan)
    with _lock:
        known = _kept.get(key)
    if known is None:
        method = cell_method_named(plan.method)
        known = PlannedCells(plan=plan, protected=method.protect(plan, plan.protection, method.read_data(plan)))
        with _lock:
            _kept[key] = known
            while len(_kept) > MAX_KEPT:
                _kept.popitem(last=False)
    return known


def _key(plan: TablePlan) -> str:
    """Changes with the plan and with every file that it reads."""
    source: Any = plan.source
    files = [getattr(source, name, None) for name in ("path", "metadata", "apriori")]
    if isinstance(source, CellsInput):
        files += [table.path for table in plan.tables]
    stamps = [
        (str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files if file and Path(file).exists()
    ]
    text = plan.file.read_bytes() + repr((str(plan.file), stamps)).encode()
    return hashlib.sha256(text).hexdigest()


def grids_of(protected: Protected, names: Sequence[str] = ()) -> list[CellGrid]:
    """All tables of a plan, laid out; of very large ones the first rows and columns.

    Args:
        protected: what becomes of the cells.
        names: of the tables.
    """
    found = []
    for place, table in enumerate(protected.judged.table.system.tables):
        *down, last = table.dimensions
        last_codes: tuple[str, ...] = last.codes[:MAX_COLUMNS] if down else ("",)
        across = last.name if down else ""
        down = down or [last]
        wide = len(last_codes)
        cells = table.cells.reshape(-1, 1 if not across else len(last.codes))
        labels = product(*(one.codes for one in down))
        rows = []
        for codes, numbers in zip(labels, cells[: max(1, MAX_SHOWN // wide)], strict=False):
            rows.append((codes, tuple(_shown(protected, int(number)) for number in numbers[:wide])))
        spanned = " × ".join(one.name for one in table.dimensions)
        name = names[place] if place < len(names) else ""
        found.append(
            CellGrid(
                title=f"{name}: {spanned}" if name else spanned,
                heads=tuple(one.name for one in down),
                across=across,
                columns=last_codes,
                rows=tuple(rows),
                shown=len(rows) * wide,
                total=int(table.cells.size),
            )
        )
    return found


def _shown(protected: Protected, number: int) -> ShownCell:
    status, hidden = CellStatus(int(protected.status[number])), bool(protected.hidden[number])
    kind = "safe"
    if hidden:
        kind = "primary" if status.is_primary else "secondary"
    elif status.is_primary:
        kind = "unsafe"
    elif status is CellStatus.EMPTY:
        kind = "empty"
    text = "" if hidden else _amount(protected, int(protected.shown[number]))
    return ShownCell(number=number, name=protected.judged.table.system.label(number), text=text, status=kind)


def _amount(protected: Protected, units: int | Fraction) -> str:
    decimals = protected.judged.table.decimals
    value = Fraction(units) / 10**decimals
    if value.denominator == 1:
        return f"{int(value):,}"
    return f"{float(value):,.{max(decimals, 1)}f}"


def facts_of(cells: PlannedCells, number: int) -> CellFacts:
    """What the holder may know of a cell.

    Raises:
        InputError: if there is no such cell.
    """
    plan, protected = cells.plan, cells.protected
    table = protected.judged.table
    if not 0 <= number < table.system.size:
        raise InputError(TEXTS["tables.no_such_cell"])
    cell = _shown(protected, number)
    largest = [int(one) for one in table.largest[number][: min(table.known_width, int(table.counts[number]))]]
    planned = {id(one.rule): one.full for one in (*plan.rules, *plan.record_rules)}
    judgements = protected.judged.primaries.judgements
    broken = [rule for judgement in judgements for rule, cells in judgement.broken_rules() if cells[number]]
    rules = [planned[id(rule)] for rule in broken if id(rule) in planned]
    if not rules and cell.status == "primary":
        rules = [TEXTS["tables.by_hand"]]
    value, lower, upper = (
        int(array[number])
        for array in (table.values, protected.judged.primaries.lower, protected.judged.primaries.upper)
    )
    required = _between(protected, Fraction(max(0, value - lower)), Fraction(value + upper)) if lower + upper else None
    return CellFacts(
        cell=cell,
        value=_amount(protected, value),
        contributors=int(table.counts[number]),
        largest=() if plan.is_of_counts else tuple(_amount(protected, one) for one in largest),
        rules=tuple(rules),
        required=required,
        interval=_interval(protected, number),
    )


def _interval(protected: Protected, number: int) -> Words:
    if not protected.hidden[number]:
        is_changed = int(protected.shown[number]) != int(protected.judged.table.values[number])
        return TEXTS["tables.changed" if is_changed else "tables.shown_as_is"]
    found = protected.suppression.audit if isinstance(protected, SuppressedCells) and protected.suppression else None
    if found is None:
        found = audit(protected.problem, protected.hidden, seconds=SECONDS)
    low, high = found.interval(number)
    if low is not None and low == high:
        return TEXTS["tables.known"].format(value=_amount(protected, low))
    return _between(protected, low, high)


def _between(protected: Protected, low: Fraction | None, high: Fraction | None) -> Words:
    if low is None and high is None:
        return TEXTS["tables.anything"]
    if low is None:
        return TEXTS["tables.at_most"].format(high=_amount(protected, high or 0))
    if high is None:
        return TEXTS["tables.at_least"].format(low=_amount(protected, low))
    return TEXTS["tables.between"].format(low=_amount(protected, low), high=_amount(protected, high))


def compare_choices(plan: TablePlan, names: Sequence[str] = tuple(CHOICES)) -> list[ChoiceCost]:
    """What other ways to protect the same unsafe cells would cost.

    Args:
        plan: whose data and rules they share.
        names: of the choices.
    """
    judged = cells_of(plan).protected.judged
    found = []
    for name in names:
        method, settings = CHOICES[name]
        began = time.perf_counter()
        try:
            made = cell_method_named(method).protect(
                replace(plan, method=method, protection=settings), settings, judged
            )
        except SudareError as error:
            from sudare.errors import words_of_error

            found.append(ChoiceCost(name=name, problem=words_of_error(error)))
            continue
        values = judged.table.values
        moved = np.where(made.hidden, values, np.abs(made.shown - values))
        found.append(
            ChoiceCost(
                name=name,
                hidden=int(made.hidden.sum()),
                secondary=int((made.hidden & ~judged.primaries.unsafe).sum()),
                lost=_amount(made, int(moved.sum())),
                seconds=time.perf_counter() - began,
            )
        )
    return found
