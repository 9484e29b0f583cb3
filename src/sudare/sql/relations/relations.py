"""How many rows of a relation one protected unit can change, from tables up to any query over them.

That number is the relation's *stability*. Adding or removing one unit adds or removes at most this many rows in all. It begins
with the limit of each table and follows every step of a query by the rules here. Proof: ``relations.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from sudare.bilingual import Worded, Words
from sudare.sql.expressions.facts import Facts
from sudare.sql.relations.elastic import Side, join_sides

__all__ = [
    "UNIT",
    "JoinProblem",
    "Relation",
    "RelationColumn",
    "distinct",
    "group",
    "join",
    "join_elastically",
    "unite",
]

UNIT = ("unit", "")
"""What a column identifies that holds the unit's own name."""


@dataclass(frozen=True)
class RelationColumn:
    """A column of a relation.

    Attributes:
        facts: type and bounds.
        identifies: whose row it is: `UNIT`, or the table and the key column of a row that belongs to one unit. A row of the
            relation belongs to the unit that its value, if it is not NULL, stands for. None if it identifies nobody.
        frequency: in how many rows of the relation a value stands, at most; None if that is not known.
        of_unit: whether all rows of one unit have the same value.
        digits: behind the point of the grid that sums of it are rounded to; None if it is as exact as its type.
        values_from: the public table and column that all its values are in; None if there is none.
    """

    facts: Facts
    identifies: tuple[str, str] | None = None
    frequency: int | None = None
    of_unit: bool = False
    digits: int | None = None
    values_from: tuple[str, str] | None = None

    @property
    def names_unit(self) -> bool:
        """Whether every row says by this field whose it is; NULL would stand for anybody."""
        return self.identifies is not None and not self.facts.nullable


@dataclass(frozen=True)
class Relation:
    """A table, or what a part of a query gives.

    Attributes:
        fields: by name.
        private: whether any of it comes from private tables.
        stability: how many rows one unit can change; None if there is no limit. 0 for public relations.
        owned: whether each row belongs to one unit, so that the stability is the number of a unit's own rows.
        unique: sets of fields that no two rows agree in.
        reasons: how the stability came about, step by step.
        side: how often values stand in it, for joins whose rows belong to two units; None if that is not known.
    """

    fields: Mapping[Hashable, RelationColumn]
    private: bool
    stability: int | None
    owned: bool = False
    unique: frozenset[frozenset[Hashable]] = frozenset()
    reasons: tuple[Words, ...] = ()
    side: Side | None = None

    def is_unique(self, names: Iterable[Hashable]) -> bool:
        """Whether no two rows agree in these fields."""
        given = frozenset(names)
        return any(key <= given for key in self.unique)

    def frequency(self, names: Iterable[Hashable]) -> int | None:
        """How many rows agree in these fields, at most; None if that is not known."""
        listed = list(names)
        if self.is_unique(listed):
            return 1
        known = [field.frequency for name in listed if (field := self.fields[name]).frequency is not None]
        return min((number for number in known if number is not None), default=None)


class JoinProblem(Worded, Exception):  # noqa: N818 - it becomes a refusal, with the place in the query
    """A join that one unit could change without limit."""

    def __init__(self, reason: str, words: Words) -> None:
        self.reason, self.words = reason, words
        super().__init__(reason)


def join(left: Relation, right: Relation, pairs: list[tuple[Hashable, Hashable]], *, outer: bool) -> Relation:
    """Join two relations on equal fields.

    Args:
        left: all of whose rows are kept if ``outer``.
        right: the other one; its names must be others.
        pairs: fields that are equal, of the left and the right relation.
        outer: whether it is a LEFT JOIN.

    Raises:
        JoinProblem: if one unit could change the result without limit.
    """
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    left_single, right_single = left.is_unique(ours), right.is_unique(theirs)
    fields = {**_repeated(left.fields, right_single), **_repeated(right.fields, left_single)}
    if outer:
        fields |= _nullable({name: fields[name] for name in right.fields})
    unique = _unique_after_join(left, right, left_single, right_single)
    reasons = left.reasons + right.reasons
    side = None
    if not outer and pairs and left.side is not None and right.side is not None:
        side = join_sides(left.side, right.side, pairs)
    if not left.private and not right.private:
        return Relation(fields, False, 0, unique=unique, side=side)
    if not (left.private and right.private):
        private, public, keys = (left, right, theirs) if left.private else (right, left, ours)
        if outer and right.private:
            raise JoinProblem(
                "outer-join",
                Words(
                    "A LEFT JOIN keeps rows of the public table that nobody's rows meet, so that one unit decides whether a row "
                    "is empty. Write an inner JOIN; groups that nobody is in are published anyway if their keys are public.",
                    "LEFT JOIN は公開表の側の行を残すため、一人の有無で行の中身が変わります。内部結合 (JOIN) にしてください。"
                    "公開キーのグループは、該当者がいなくても公表されます。",
                ),
            )
        fan_out = public.frequency(keys)
        stability = None if private.stability is None or fan_out is None else private.stability * fan_out
        step = Words(
            f"each row meets at most {fan_out} of the public table: {stability} rows of one unit",
            f"各行が公開表の最大 {fan_out} 行と結び付く: 1 単位あたり {stability} 行",
        )
        if fan_out is None:
            raise JoinProblem(
                "fan-out",
                Words(
                    "A row can meet any number of rows of the public table here, because the columns that are compared are not "
                    "its key. Compare all columns of its key, or state max_frequency for the column in the metadata.",
                    "比較している列が公開表のキーではないため、1 行が何行とも結び付きえます。"
                    "公開表のキーの列をすべて比較するか、メタデータで列の max_frequency を指定してください。",
                ),
            )
        return Relation(fields, True, stability, private.owned, unique, (*reasons, step), side)
    shared = {
        left.fields[mine].identifies
        for mine, other in pairs
        if left.fields[mine].identifies == right.fields[other].identifies
    } - {None}
    if not (shared and left.owned and right.owned):
        raise JoinProblem(
            "two-units",
            Words(
                "Rows of this join belong to two units at once, so that one unit could change any number of them. Join on the "
                "unit, or along a foreign key that the metadata has; or state max_frequency for both columns in the metadata.",
                "この結合の行は二つの保護単位に属し、一単位が何行でも変えられます。保護単位の列か、"
                "メタデータにある外部キーで結合するか、両方の列の max_frequency をメタデータで指定してください。",
            ),
        )
    linked = [(mine, other) for mine, other in pairs if left.fields[mine].identifies in shared - {UNIT}]
    parent_right = any(frozenset([other]) in right.unique for _, other in linked)
    parent_left = any(frozenset([mine]) in left.unique for mine, _ in linked)
    stability = _own_rows(left, right, parent_left, parent_right, outer)
    step = Words(
        f"rows of one unit meet rows of the same unit only: at most {stability}",
        f"同じ保護単位の行どうしだけが結び付く: 最大 {stability} 行",
    )
    return Relation(fields, True, stability, True, unique, (*reasons, step), side)


def join_elastically(left: Relation, right: Relation, pairs: list[tuple[Hashable, Hashable]]) -> Relation | None:
    """Join two relations whose rows belong to different units; None if it is not known how often values stand in them.

    The result has no stability that holds for all data; its ``side`` has one for each distance from the data as they are.
    """
    if left.side is None or right.side is None:
        return None
    side = join_sides(left.side, right.side, pairs)
    if side is None:
        return None
    fields = {
        name: replace(field, identifies=None, frequency=None, of_unit=False)
        for name, field in {**left.fields, **right.fields}.items()
    }
    step = Words(
        f"rows of two units are joined: {side.stability(0)} rows can change today, {side.stability(10)} ten units away",
        f"二つの保護単位の行を結合: 現在 {side.stability(0)} 行、10 単位離れたデータで {side.stability(10)} 行が変わりうる",
    )
    return Relation(fields, True, None, False, frozenset(), (*left.reasons, *right.reasons, step), side)


def _own_rows(left: Relation, right: Relation, parent_left: bool, parent_right: bool, outer: bool) -> int | None:
    """Rows of one unit in a join of its rows with its rows.

    Args:
        left: the one relation.
        right: the other one.
        parent_left: whether rows on the right lead by a foreign key to one row on the left.
        parent_right: whether rows on the left lead to one row on the right.
        outer: whether rows on the left are kept that meet none.
    """
    if parent_right:
        return left.stability
    if left.stability is None or right.stability is None:
        return None
    most = left.stability * max(right.stability, 1)
    if parent_left:
        most = min(most, right.stability + (left.stability if outer else 0))
    return most


def _repeated(fields: Mapping[Hashable, RelationColumn], single: bool) -> dict[Hashable, RelationColumn]:
    """Fields after a join in which a row may stand several times, unless it meets a single other row."""
    return {name: field if single else replace(field, frequency=None) for name, field in fields.items()}


def _unique_after_join(
    left: Relation, right: Relation, left_single: bool, right_single: bool
) -> frozenset[frozenset[Hashable]]:
    found = {ours | theirs for ours in left.unique for theirs in right.unique}
    if right_single:
        found |= left.unique
    if left_single:
        found |= right.unique
    return frozenset(found)


def _nullable(fields: Mapping[Hashable, RelationColumn]) -> dict[Hashable, RelationColumn]:
    return {
        name: replace(field, facts=replace(field.facts, nullable=True), of_unit=False) for name, field in fields.items()
    }


def group(
    relation: Relation, keys: Mapping[Hashable, RelationColumn], results: Mapping[Hashable, RelationColumn]
) -> Relation:
    """Group the rows by keys, inside a query.

    Args:
        relation: what is grouped.
        keys: the fields that are grouped by, under their new names.
        results: what is computed for each group.
    """
    unique = frozenset([frozenset(keys)])
    if not relation.private:
        return Relation({**keys, **results}, False, 0, unique=unique)
    if relation.owned and any(field.names_unit for field in keys.values()):
        whole = all(field.of_unit or field.identifies == UNIT for field in keys.values())
        stability = 1 if whole else relation.stability
        step = Words(
            f"grouped for each unit: at most {stability} rows of one unit",
            f"単位ごとの集計: 1 単位あたり最大 {stability} 行",
        )
        return Relation({**keys, **results}, True, stability, True, unique, (*relation.reasons, step))
    stability = None if relation.stability is None else 2 * relation.stability
    step = Words(
        f"grouped over units: a row that changes replaces one group's row by another, {stability} rows",
        f"単位をまたぐ集計: 1 行の変化でグループの 1 行が入れ替わる（{stability} 行）",
    )
    forgotten = {name: replace(field, identifies=None, of_unit=False) for name, field in keys.items()}
    return Relation({**forgotten, **results}, True, stability, False, unique, (*relation.reasons, step))


def distinct(relation: Relation) -> Relation:
    """Rows that are equal become one."""
    whole = frozenset([frozenset(relation.fields)])
    if not relation.private:
        return replace(relation, unique=relation.unique | whole, side=None)
    if relation.owned and any(field.names_unit for field in relation.fields.values()):
        return replace(relation, unique=relation.unique | whole, side=None)
    fields = {name: replace(field, identifies=None, of_unit=False) for name, field in relation.fields.items()}
    return replace(relation, fields=fields, owned=False, unique=relation.unique | whole, side=None)


def unite(parts: list[Relation], *, all_rows: bool) -> Relation:
    """Put relations with the same fields below each other; without ``all_rows`` equal rows become one."""
    first = parts[0]
    fields = {name: _united([part.fields[name] for part in parts]) for name in first.fields}
    known = [part.stability for part in parts]
    stability = None if None in known else sum(number for number in known if number is not None)
    private = any(part.private for part in parts)
    united = Relation(
        fields,
        private,
        stability,
        private and all(part.owned for part in parts),
        reasons=tuple(step for part in parts for step in part.reasons),
    )
    return united if all_rows else distinct(united)


def _united(fields: list[RelationColumn]) -> RelationColumn:
    facts = [field.facts for field in fields]
    first = facts[0]
    known = all(fact.low is not None and fact.high is not None for fact in facts)
    values = None
    if all(fact.values is not None for fact in facts):
        values = tuple(dict.fromkeys(value for fact in facts for value in fact.values or ()))
    merged = Facts(
        first.kind,
        low=min((fact.low for fact in facts), default=None) if known else None,  # type: ignore[type-var]
        high=max((fact.high for fact in facts), default=None) if known else None,  # type: ignore[type-var]
        scale=max((fact.scale for fact in facts if fact.scale is not None), default=None),
        nullable=any(fact.nullable for fact in facts),
        values=values,
        clipped=known and all(fact.clipped for fact in facts),
    )
    identifies = fields[0].identifies if len({field.identifies for field in fields}) == 1 else None
    return RelationColumn(merged, identifies)
