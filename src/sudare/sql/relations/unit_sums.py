"""Sums whose contributions are bounded for each unit: first what each unit adds to each group, then the bounds, then the sums."""

from __future__ import annotations

from sqlglot import exp

from sudare.bilingual import Words
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse
from sudare.sql.measures.measures import Change, Key, SumMeasure
from sudare.sql.measures.measuring import Limits
from sudare.sql.relations.capping import real_table
from sudare.sql.relations.interpretation import Core, Reader, facts_of
from sudare.sql.relations.keys import canonical_owner
from sudare.sql.relations.relations import UNIT

__all__ = ["sums_over_units"]


def sums_over_units(
    core: Core, keys: list[Key], sums: list[SumMeasure], limits: Limits, reader: Reader
) -> tuple[exp.Select, list[Change]]:
    """Sums over units: first what each unit adds to each group, then the bounds, then the sums."""
    changes: list[Change] = []
    inner, owner = _with_owner(core, reader)
    inner = inner.select(
        exp.alias_(owner, "owner", quoted=True, copy=False),
        *(exp.alias_(copied(key.tree), key.name, quoted=True, copy=False) for key in keys),
        *(
            exp.alias_(copied(measure.inner), f"u{i}", quoted=True, copy=False)
            for i, measure in enumerate(sums)
            if measure.inner is not None
        ),
        copy=False,
    ).group_by(copied(owner), *(copied(key.tree) for key in keys), copy=False)
    source = inner.subquery("sudare_units")
    if keys and (limits.groups_of_unit is None or limits.groups_of_unit > (limits.groups or 1)):
        names = [exp.column(key.name, quoted=True) for key in keys]
        held = [exp.column(f"u{i}", quoted=True) for i in range(len(sums))]
        order = exp.Order(expressions=[exp.Ordered(this=one, nulls_first=False) for one in (_lot(names), *names)])
        place = exp.Window(this=exp.RowNumber(), partition_by=[exp.column("owner", quoted=True)], order=order)
        numbered = exp.select(
            *(copied(column) for column in names), *held, exp.alias_(place, "sudare_place", quoted=True, copy=False)
        ).from_(source, copy=False)
        limit = exp.LTE(this=exp.column("sudare_place", quoted=True), expression=exp.Literal.number(limits.groups or 1))
        source = (
            exp.select("*")
            .from_(numbered.subquery("sudare_numbered"), copy=False)
            .where(limit, copy=False)
            .subquery("sudare_kept")
        )
        changes.append(
            Change(
                "groups",
                Words(
                    f"one unit counts in {limits.groups} groups at most, chosen as if by lot, always the same ones",
                    f"一つの保護単位は最大 {limits.groups} グループ（くじのように選ばれ、常に同じ）でだけ数えられます",
                ),
            )
        )
    outer = exp.select(
        *(exp.column(key.name, quoted=True) for key in keys),
        *(exp.alias_(copied(measure.tree), measure.name, quoted=True, copy=False) for measure in sums),
    ).from_(source, copy=False)
    changes.append(
        Change(
            "clipped-units",
            Words(
                "what one unit adds to a group is clipped to the stated bounds",
                "一つの保護単位がグループに加える量は指定の範囲に収められます",
            ),
        )
    )
    return (
        outer.group_by(*(exp.column(key.name, quoted=True) for key in keys), copy=False) if keys else outer
    ), changes


def _lot(names: list[exp.Column]) -> exp.Expr:
    """A number that puts the groups of a unit into an order of their own; it depends on nothing but the unit and the keys."""
    text = exp.DataType.build("text")
    parts: list[exp.Expr] = []
    for column in (exp.column("owner", quoted=True), *names):
        parts += [
            exp.Coalesce(this=exp.cast(copied(column), text), expressions=[exp.Literal.string("")]),
            exp.Literal.string("/"),
        ]
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=part)
    return exp.MD5(this=whole)


def _with_owner(core: Core, reader: Reader) -> tuple[exp.Select, exp.Expr]:
    """The rows of a SELECT with the unit that they belong to."""
    tagged = [(key, known.identifies) for key, known in core.scope.items() if known.names_unit]
    tagged.sort(key=lambda item: item[1] != UNIT)
    if not tagged:
        refuse(
            None,
            "no-unit",
            "The rows of this query no longer say whose they are; keep the unit's column in the queries inside.",
            "クエリの途中で保護単位の列が失われています。内側のクエリでその列を残してください。",
        )
    (alias, name), tag = tagged[0]
    metadata, facts = reader.metadata, core.scope[alias, name].facts
    owner: exp.Expr = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias, quoted=True))
    select, number = copied(core.select), 0
    while tag is not None and tag != UNIT:
        table = metadata.tables[tag[0]]
        onward = table.unit if table.link is None else table.link.column
        if onward is None:
            break
        parent = f"sudare_parent_{number}"
        select = select.join(
            real_table(table.name, parent),
            on=exp.EQ(
                this=owner,
                expression=exp.column(
                    exp.to_identifier(tag[1], quoted=True), table=exp.to_identifier(parent, quoted=True)
                ),
            ),
            copy=False,
        )
        owner = exp.column(exp.to_identifier(onward, quoted=True), table=exp.to_identifier(parent, quoted=True))
        facts = facts_of(table.columns[onward])
        tag = UNIT if table.link is None else (table.link.table, table.link.to)
        if table.link is not None and metadata.tables[table.link.table].unit == table.link.to:
            tag = UNIT
        number += 1
    return select, canonical_owner(owner, facts, reader.dialect)
