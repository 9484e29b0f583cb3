"""Reading what a caller asks of a mechanism. Nothing here depends on what will be drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.layout import Layout, layout_named, morton_layout
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.parameters import exact_integer, read_flag, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit

__all__ = [
    "MAX_SIGNED_CELLS",
    "TOTAL",
    "MechanismRequest",
    "Noise",
    "Refinement",
    "read_layout",
    "read_noise",
    "read_reference",
    "read_refinement",
    "read_request",
    "read_table",
    "too_many_cells",
    "turn_ends",
]

Noise = Literal["laplace", "gaussian"]
Refinement = Literal["counts"]

MAX_SIGNED_CELLS = 1 << 28
"""Of a table that is published with its noise: every cell has some, so that every cell is published."""

TOTAL = "total"
"""The name of the total among the quantities that are published exactly."""


@dataclass(frozen=True)
class MechanismRequest:
    """What every mechanism is asked for, checked.

    Attributes:
        table: the counts.
        budget: what may be spent.
        unit: who is protected; by replacement where the total is public.
        invariants: what is published exactly.
        source: where bits come from.
        threads: how many threads may be used.
        keeps_measurements: whether the noisy measurements are part of the result.
    """

    table: CountTable
    budget: Budget
    unit: Unit
    invariants: tuple[str, ...]
    source: EntropySource
    threads: int
    keeps_measurements: bool

    @property
    def total_is_public(self) -> bool:
        """Whether the total is published exactly."""
        return TOTAL in self.invariants

    def state(self, mechanism: str, measurements: list[Measurement], conversion: Conversion) -> ReleaseEvent:
        """The event of the release, stated before anything is drawn."""
        return ReleaseEvent(
            mechanism,
            self.unit,
            self.budget,
            tuple(measurements),
            entropy_name(self.source),
            conversion=conversion,
            invariants=self.invariants,
        )


def read_request(
    function: str,
    table: object,
    budget: object,
    *,
    unit: Unit | None = None,
    public_total: bool | int = False,
    entropy: EntropySource | None = None,
    threads: object = 1,
    keep_measurements: object = False,
) -> MechanismRequest:
    """Check the arguments that all mechanisms take."""
    people = read_table(table, function)
    spent = read_budget(budget, function)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    invariants: tuple[str, ...] = ()
    if _read_public_total(public_total, people, function):
        if people.domain.cells == 1:
            # Nothing would be left to measure, and an event without a measurement states no guarantee.
            allowed = Words(
                "False for a table of one cell: its total is all there is to protect",
                "1 セルの表では false（合計そのものが保護の対象のため）",
            )
            raise ParameterError("public_total", function, allowed, Described("a public total"))
        # An exact total changes when somebody is added or removed; it can only hide who was replaced by whom.
        protected, invariants = replace(protected, adjacency="replace"), (TOTAL,)
    return MechanismRequest(
        people,
        spent,
        protected,
        invariants,
        read_entropy(entropy, function),
        exact_integer(
            threads,
            "threads",
            function,
            Words("a whole number from 1 to 1024", "1 以上 1024 以下の整数"),
            smallest=1,
            largest=1024,
        ),
        read_flag(keep_measurements, "keep_measurements", function),
    )


def _read_public_total(public_total: bool | int, table: CountTable, function: str) -> bool:
    """Whether the total is public. A number is compared with the table's: it is the same for all neighbours by replacement."""
    if isinstance(public_total, (bool, np.bool_)):
        return bool(public_total)
    requirement = Words(
        "False, True, or the total of the table, which is then published exactly",
        "false、true、または表の合計（そのまま公表されます）",
    )
    known = exact_integer(public_total, "public_total", function, requirement, smallest=0)
    if known != table.total:
        raise ParameterError("public_total", function, requirement, Described("another number"))
    return True


def read_table(table: object, function: str) -> CountTable:
    """A table that a caller handed in, or one made of an array."""
    if isinstance(table, CountTable):
        return table
    if isinstance(table, np.ndarray):
        return CountTable.from_dense(table)
    raise ParameterError("table", function, "a CountTable or an array of whole numbers", shown(table))


def read_reference(reference: object, given: object, table: CountTable, function: str) -> CountTable:
    """A public table over the same cells as the one to be published, and not that one."""
    if reference is given or reference is table:
        requirement = Words(
            "a table that is public already, such as the last census", "前回の国勢調査のような、既に公開されている表"
        )
        raise ParameterError("reference", function, requirement, Described("the table that is to be protected"))
    if not isinstance(reference, (np.ndarray, CountTable)):
        raise ParameterError(
            "reference",
            function,
            Words("a public CountTable, or an array of one", "公開済みの度数表"),
            shown(reference),
        )
    shape = reference.shape if isinstance(reference, np.ndarray) else reference.domain.shape
    if shape != table.domain.shape:
        requirement = Words(f"a table of the same shape, {table.domain.shape}", f"同じ形 {table.domain.shape} の表")
        raise ParameterError("reference", function, requirement, Described(f"one of {shape}"))
    return CountTable.from_dense(reference, table.domain) if isinstance(reference, np.ndarray) else reference


def read_noise(noise: object, function: str) -> Noise:
    """The kind of noise."""
    if isinstance(noise, str) and noise in ("laplace", "gaussian"):
        return cast("Noise", noise)
    raise ParameterError(
        "noise", function, Words("'laplace' or 'gaussian'", "'laplace' または 'gaussian'"), shown(noise)
    )


def read_refinement(refine: object, function: str) -> Refinement | None:
    """Whether a signed table is to be refined to counts."""
    if refine is None or (isinstance(refine, str) and refine == "counts"):
        return cast("Refinement | None", refine)
    raise ParameterError(
        "refine",
        function,
        Words("left out, or 'counts' for whole numbers >= 0", "省略、または 0 以上の整数にする 'counts'"),
        shown(refine),
    )


def too_many_cells(function: str, got: str, instead: str = "") -> ParameterError:
    """The error for a domain of which not every cell can be published.

    Args:
        function: the mechanism.
        got: how many cells there are, in words.
        instead: a setting with which the mechanism takes the domain, if there is one.
    """
    requirement = Words(
        "a table of at most 2**28 cells, because every cell is published with its noise",
        "2**28 セル以下の表（全セルにノイズを加えて公表するため）",
    )
    setting = f"State {instead}, or take" if instead else "Take"
    hint = f"{setting} a method that publishes cells with people alone: 'wide-tree', 'nn-wavelet' or 'negative-l2'."
    return ParameterError("table", function, requirement, Described(got), hint)


def turn_ends(read: Layout, given: object, request: MechanismRequest) -> Layout:
    """The layout of a tree with the ends of padded axes turned, unless the caller gave the layout itself.

    Which way they are turned is drawn first of all, once everything is checked, and does not depend on the data. Where
    measurements are part of the result nothing is turned: they say of which areas they are by the first cell.
    """
    if isinstance(given, Layout) or request.keeps_measurements or not read.has_ends_to_turn:
        return read
    return read.turned(request.source.next_word())


def read_layout(layout: Any, table: CountTable, function: str) -> Layout:
    """The layout of a tree over a table, given itself or by its name; Morton if none was given.

    Raises:
        ParameterError: if it is none, or not one for the table's shape.
        GuaranteeError: for the name ``"sorted"``: it would look at the data.
    """
    if layout is None:
        return morton_layout(table.domain.shape)
    if isinstance(layout, str):
        try:
            return layout_named(layout, table.domain.shape)
        except ParameterError as error:
            fits = error.requirement if error.parameter == "name" else f"one for the table's shape, {error.requirement}"
            raise ParameterError("layout", function, fits, error.got, error.hint) from None
    # The exact type: a subclass might order the cells by what it sees in the data.
    # A layout around listed meshes belongs to one domain, for which mechanisms make it themselves.
    if type(layout) is not Layout or layout.lengths != table.domain.shape or layout.embedding is not None:
        got = layout.lengths if type(layout) is Layout else shown(layout)
        raise ParameterError(
            "layout",
            function,
            Words(
                f"a Layout of the shape {table.domain.shape}, or a name",
                f"形が {table.domain.shape} の並び順、またはその名前",
            ),
            got,
        )
    return layout
