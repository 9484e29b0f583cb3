"""t-closeness: the sensitive values of each class are distributed nearly as in the whole table (Li, Li and Venkatasubramanian).

What it protects: how much the class of a person tells about the sensitive value beyond what the whole table tells. What it does
not: what the whole table tells.

The distance is the earth mover's: how much must be moved, times how far. All values may be equally far from each other, or be
in an order, or in a hierarchy. Each of these distances is convex in the class's distribution, and a class of a coarser table
is a mixture of classes of the finer one; so a coarser table is at least as close, if nothing is suppressed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import InputError, ParameterError
from sudare.kernels.records.distances import ordered_distances, tree_distances
from sudare.microdata.grouping import Grouped, ValueHistogram
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models.model import SensitiveModel, at_most, decided, or_empty, per_class
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel, sensitive_column
from sudare.microdata.models.record_fields import fraction_of, order_of, text_of
from sudare.parameters import Rational, exact_fraction, show_fraction, shown
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Closeness", "equal_parts", "order_of_values", "ordered_values"]

CLOSENESS = Words(
    "{t}-closeness ({distance}): {column} in each class is at most {t} away from the whole table",
    "{t}-近接性 ({distance}): 各クラスの {column} の分布は表全体から {t} 以内です",
)
DISTANCES = {
    "equal": Words("equal distance", "等距離"),
    "ordered": Words("ordered distance", "順序距離"),
    "hierarchical": Words("hierarchical distance", "階層距離"),
}


@dataclass(frozen=True, eq=False)
class Closeness(SensitiveModel, PlannedModel):
    """The sensitive values of each class are at most t away from those of the whole table.

    Args:
        column: the sensitive one.
        t: from 0 to 1.
        order: all values in order, if neighbours are nearer to each other than others; ``True`` for the order of numbers or,
            where they are no numbers, of texts.
        hierarchy: of the column, if values are nearer that meet on a lower level.

    Raises:
        ParameterError: if t is not a share, or both an order and a hierarchy are given.

    Example:
        >>> from sudare.microdata.models import Closeness
        >>> Closeness("illness", 0.2).describe()
        "0.2-closeness (equal distance): 'illness' in each class is at most 0.2 away from the whole table"
    """

    column: str
    t: Fraction
    order: tuple[str, ...] | bool
    hierarchy: Generalization | None
    compares_with_table = True
    plan_name = record_name = "t-closeness"
    plan_keys = ("column", "t", "order", "by_hierarchy")
    record_fields = MappingProxyType({"column": text_of, "t": fraction_of, "order": order_of})

    def __init__(
        self,
        column: str,
        t: Rational,
        *,
        order: Sequence[str] | bool = False,
        hierarchy: Generalization | None = None,
    ) -> None:
        check_arguments(Closeness.__init__, locals(), "order", "hierarchy")
        exact = exact_fraction(t, "t", "Closeness", Words("a number from 0 to 1", "0 以上 1 以下の数"))
        if not 0 <= exact <= 1:
            raise ParameterError("t", "Closeness", Words("a number from 0 to 1", "0 以上 1 以下の数"), shown(t))
        if order is not False and hierarchy is not None:
            raise ParameterError(
                "order",
                "Closeness",
                Words("left out where a hierarchy is given", "階層を指定するときは省略"),
                shown(order),
            )
        if hierarchy is not None and hierarchy.height == 0:
            raise ParameterError(
                "hierarchy",
                "Closeness",
                Words("one with at least two levels", "2 段階以上の階層"),
                shown(hierarchy.height),
            )
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "t", exact)
        object.__setattr__(self, "order", order if isinstance(order, bool) else tuple(order))
        object.__setattr__(self, "hierarchy", hierarchy)

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``t``, and with ``order`` or ``by_hierarchy`` where values are not equally far from each other."""
        column = sensitive_column(section, columns)
        t = section.number("t")
        if section.flag("by_hierarchy", False):
            hierarchy = columns.sensitive[column]
            if hierarchy is None:
                section.refuse(
                    "by_hierarchy",
                    f"needs a hierarchy file or groups for the column '{column}'",
                    f"には、列「{column}」の階層ファイルか groups が必要です",
                )
            return cls(column, t, hierarchy=hierarchy)
        if section.is_text("order"):
            section.choice("order", ("values",))
            return cls(column, t, order=True)
        return cls(column, t, order=section.texts("order") if section.has("order") else False)

    def to_record(self) -> dict[str, object]:
        """As plain values. By a hierarchy, the record says so: its distances are not in it."""
        return super().to_record() | ({} if self.hierarchy is None else {"by_hierarchy": True})

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self | None:
        """What a record tells; None by a hierarchy."""
        return None if record.get("by_hierarchy") else super().from_record(record)

    @property
    def distance(self) -> str:
        """Which distance: equal, ordered or hierarchical."""
        return "hierarchical" if self.hierarchy is not None else "equal" if self.order is False else "ordered"

    def distances(self, grouped: Grouped) -> NDArray[np.float64]:
        """How far each class is from the whole table."""
        counted = self.histogram(grouped)
        if self.hierarchy is not None:
            return _tree_values(counted, self.hierarchy)
        if self.order is not False:
            return ordered_values(counted, self._order(counted))
        moved, whole = equal_parts(counted)
        result: NDArray[np.float64] = moved / np.maximum(whole, 1)
        return result

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes that are near enough."""
        if self.distance == "equal":
            moved, whole = equal_parts(self.histogram(grouped))
            return or_empty(at_most(moved, whole, self.t), grouped)
        near = decided(self.distances(grouped), float(self.t), lambda place: self._is_exactly_near(grouped, place))
        return or_empty(near, grouped)

    def _order(self, counted: ValueHistogram) -> list[str | None]:
        if isinstance(self.order, bool):
            # Values that are nowhere in the table that is compared with are not part of the scale.
            totals = counted.totals.tolist()
            return order_of_values([label for label, total in zip(counted.labels, totals, strict=True) if total])
        # An empty text in the order stands for missing values.
        order = [label or None for label in self.order]
        missing = [label for label in counted.labels if label not in order]
        if missing:
            raise InputError(
                f"The order of {self.column!r} leaves out a value that is in the data. List every value.",
                f"{self.column!r} の順序に、データにある値の一つがありません。全ての値を並べてください。",
            )
        return order

    def _is_exactly_near(self, grouped: Grouped, place: int) -> bool:
        """Decide a class with whole numbers of any size."""
        counted = self.histogram(grouped)
        begin, end = int(counted.edges[place]), int(counted.edges[place + 1])
        here = dict(zip(counted.values[begin:end].tolist(), counted.counts[begin:end].tolist(), strict=True))
        rows, table = sum(here.values()), int(counted.totals.sum())
        extra = {
            label: here.get(value, 0) * table - int(counted.totals[value]) * rows
            for value, label in enumerate(counted.labels)
        }
        whole = rows * table
        if self.hierarchy is None:
            order = self._order(counted)
            moved, cost = 0, 0
            for label in order:
                moved += extra.get(label, 0)
                cost += abs(moved)
            return cost <= self.t * whole * max(len(order) - 1, 1)
        cost = 0
        paths = {path[0]: path for path in self.hierarchy.paths()}
        nodes = {paths[label or ""]: amount for label, amount in extra.items()}
        for level in range(1, self.hierarchy.height + 1):
            above: dict[tuple[str, ...], list[int]] = {}
            for path, amount in nodes.items():
                above.setdefault(path[1:], []).append(amount)
            for amounts in above.values():
                gain = sum(amount for amount in amounts if amount > 0)
                cost += level * min(gain, gain - sum(amounts))
            nodes = {path: sum(amounts) for path, amounts in above.items()}
        return cost <= self.t * whole * self.hierarchy.height

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return CLOSENESS.format(t=show_fraction(self.t), distance=DISTANCES[self.distance], column=repr(self.column))


def equal_parts(counted: ValueHistogram) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How much of each class must be moved to become like the table, in parts of (rows of the class x rows of the table)."""
    rows = per_class(np.add, counted.counts, counted.edges).astype(np.int64)
    table = int(counted.totals.sum())
    here = np.repeat(rows, np.diff(counted.edges))
    surplus = np.maximum(counted.counts * table - counted.totals[counted.values] * here, 0)
    return per_class(np.add, surplus, counted.edges).astype(np.int64), rows * table


def order_of_values(labels: Sequence[str | None]) -> list[str | None]:
    """Values in the order of numbers if all are numbers, else of texts; a missing value comes first."""
    present = [label for label in labels if label is not None]
    try:
        present.sort(key=float)
    except ValueError:
        present.sort()
    return [None, *present] if len(present) < len(labels) else list(present)


def ordered_values(counted: ValueHistogram, order: Sequence[str | None]) -> NDArray[np.float64]:
    """The ordered distance of each class to the table."""
    places = {label: place for place, label in enumerate(order)}
    ranked = np.array([places.get(label, 0) for label in counted.labels], dtype=np.int64)
    totals = np.zeros(max(len(order), 1), dtype=np.int64)
    np.add.at(totals, ranked, counted.totals)  # a value without a place has no rows
    values = ranked[counted.values].astype(np.int32)
    result = np.zeros(counted.classes, dtype=np.float64)
    ordered_distances(counted.edges, values, counted.counts, totals, result)
    return result


def _tree_values(counted: ValueHistogram, hierarchy: Generalization) -> NDArray[np.float64]:
    """The hierarchical distance of each class to the table."""
    known = {label: leaf for leaf, label in enumerate(hierarchy.levels[0])}
    leaves = np.array([known.get(label or "", -1) for label in counted.labels], dtype=np.int32)
    if leaves.size and leaves.min() < 0:
        raise InputError(
            f"The hierarchy of {hierarchy.name!r} leaves out a value that is in the data. Add it there.",
            f"{hierarchy.name!r} の階層に、データにある値の一つがありません。階層に加えてください。",
        )
    totals = np.zeros(hierarchy.leaves, dtype=np.int64)
    totals[leaves] = counted.totals
    sizes = np.array([len(labels) for labels in hierarchy.levels], dtype=np.int64)
    parents = np.zeros((hierarchy.height, int(sizes.max())), dtype=np.int32)
    for level in range(hierarchy.height):
        parents[level, hierarchy.parents[level]] = hierarchy.parents[level + 1]
    result = np.zeros(counted.classes, dtype=np.float64)
    tree_distances(counted.edges, leaves[counted.values], counted.counts, totals, parents, sizes, result)
    return result
