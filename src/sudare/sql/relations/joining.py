"""The joins of one SELECT: in which order they show how few rows one unit can change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import exp

from sudare.bilingual import Words
from sudare.sql.frontend.refusals import refuse
from sudare.sql.relations.filtering import Equal, equalities
from sudare.sql.relations.relations import JoinProblem, Relation, join, join_elastically
from sudare.sql.relations.truncation import truncated

__all__ = ["JoinStep", "joined"]


@dataclass(frozen=True)
class JoinStep:
    """One of the tables or queries that a SELECT reads from.

    Attributes:
        node: in the query, for messages.
        alias: what it is called.
        relation: what it gives; fields by alias and column.
        tree: its own query, rewritten.
        on: what its rows must satisfy; None if not stated.
        outer: whether it is joined by LEFT JOIN.
    """

    node: exp.Expr
    alias: str
    relation: Relation
    tree: exp.Query
    on: exp.Expr | None
    outer: bool


def joined(steps: list[JoinStep], equal: list[Equal], *, elastic: bool) -> tuple[Relation, list[exp.Expr], list[str]]:
    """Join all sources of a SELECT.

    Args:
        steps: in the order of the query.
        equal: columns that WHERE says are equal.
        elastic: whether joins whose rows belong to two units follow how often values stand in the data as they are.

    Returns:
        The rows of all of them; the sources in the same order, ready for FROM and JOIN; and which of them were cut to this many
        rows for each value.
    """
    aliases = [step.alias for step in steps]
    if len(set(aliases)) < len(aliases):
        refuse(
            steps[-1].node,
            "unclear-names",
            "Two tables have the same alias; give each its own.",
            "二つの表の別名が同じです。別々の別名を付けてください。",
        )
    found = {step.alias: step for step in steps}
    cut: list[str] = []
    if any(step.outer for step in steps):
        relation = _in_order(steps, equal)
    else:
        everything = equal + [pair for step in steps for pair in equalities(step.on)]
        relation, changed = _in_best_order(steps, everything, elastic)
        found |= {step.alias: step for step in changed}
        cut = [step.alias for step in changed]
    sources = [exp.Subquery(this=found[alias].tree, alias=_alias(alias)) for alias in aliases]
    return relation, list(sources), cut


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def _in_order(steps: list[JoinStep], equal: list[Equal]) -> Relation:
    relation, present = steps[0].relation, {steps[0].alias}
    for step in steps[1:]:
        own = equalities(step.on)
        pairs = _between(present, step.alias, own if step.outer else own + equal)
        pairs = [pair for pair in pairs if _is_plain(relation, step.relation, pair)]
        relation = _join(relation, step, pairs, bool(relation.private or step.relation.private))
        present.add(step.alias)
    return relation


def _join(relation: Relation, step: JoinStep, pairs: list[tuple[Hashable, Hashable]], private: bool) -> Relation:
    if not pairs and private:
        _refuse_cross(step.node)
    try:
        return join(relation, step.relation, pairs, outer=step.outer)
    except JoinProblem as problem:
        refuse(step.node, problem.reason, problem.english, problem.japanese)


def _in_best_order(steps: list[JoinStep], equal: list[Equal], elastic: bool) -> tuple[Relation, list[JoinStep]]:
    """Inner joins may be taken in any order: begin with a private source, and take what adds the fewest rows next."""
    start = next((step for step in steps if step.relation.private), steps[0])
    relation, present = start.relation, [start]
    waiting = [step for step in steps if step is not start]
    cut: list[JoinStep] = []
    while waiting:
        best: tuple[int, JoinStep, Relation] | None = None
        problems: list[tuple[JoinStep, JoinProblem, list[tuple[Hashable, Hashable]]]] = []
        for step in waiting:
            pairs = _between({one.alias for one in present}, step.alias, equal)
            pairs = [pair for pair in pairs if _is_plain(relation, step.relation, pair)]
            if not pairs:
                continue
            try:
                candidate = join(relation, step.relation, pairs, outer=False)
            except JoinProblem as problem:
                problems.append((step, problem, pairs))
                continue
            size = 2**62 if candidate.stability is None else candidate.stability
            if best is None or size < best[0]:
                best = size, step, candidate
        if best is not None:
            relation = best[2]
            present.append(best[1])
            waiting.remove(best[1])
            continue
        if elastic:
            loose = next(_loose(relation, problems), None)
            if loose is not None:
                relation = loose[1]
                present.append(loose[0])
                waiting.remove(loose[0])
                continue
        shared = None if elastic or cut else _shared(start, present, problems, equal)
        if shared is not None:
            # Inner joins may be taken in any order: these two first, and again all others.
            relation, cut = shared
            present = [start, next(step for step in steps if step.alias == cut[1].alias)]
            waiting = [step for step in steps if step not in present]
            continue
        if problems:
            blocked, reason, _ = problems[0]
            refuse(blocked.node, reason.reason, reason.english, reason.japanese)
        public = next((step for step in waiting if not (relation.private or step.relation.private)), None)
        if public is None:
            _refuse_cross(waiting[0].node)
        relation = join(relation, public.relation, [], outer=False)
        present.append(public)
        waiting.remove(public)
    return relation, cut


def _loose(
    relation: Relation, problems: list[tuple[JoinStep, JoinProblem, list[tuple[Hashable, Hashable]]]]
) -> Iterator[tuple[JoinStep, Relation]]:
    """Sources whose rows belong to other units, joined by how often values stand in them."""
    for step, problem, pairs in problems:
        if problem.reason == "two-units":
            found = join_elastically(relation, step.relation, pairs)
            if found is not None:
                yield step, found


def _shared(
    left: JoinStep,
    present: list[JoinStep],
    problems: list[tuple[JoinStep, JoinProblem, list[tuple[Hashable, Hashable]]]],
    equal: list[Equal],
) -> tuple[Relation, list[JoinStep]] | None:
    """Two private sources whose rows belong to different units, each cut to this many rows for a value."""
    right = next((step for step, problem, _ in problems if problem.reason == "two-units"), None)
    if right is None or any(step.relation.private for step in present if step is not left):
        return None
    for mine, other in _between({left.alias}, right.alias, equal):
        if not _is_plain(left.relation, right.relation, (mine, other)):
            continue
        ours, theirs = left.relation.fields[mine].frequency, right.relation.fields[other].frequency
        one, two = left.relation.stability, right.relation.stability
        if ours is None or theirs is None or one is None or two is None:
            continue
        stability = 2 * one * theirs + 2 * two * ours
        step = Words(
            f"at most {ours} and {theirs} rows for each value are joined (the rest is left out): "
            f"2 * {one} * {theirs} + 2 * {two} * {ours} = {stability} rows can change",
            f"値ごとに最大 {ours} 行と {theirs} 行だけを結合: 2 * {one} * {theirs} + 2 * {two} * {ours} = {stability} 行",
        )
        fields = {
            name: replace(field, identifies=None, frequency=None, of_unit=False)
            for name, field in {**left.relation.fields, **right.relation.fields}.items()
        }
        reasons = (*left.relation.reasons, *right.relation.reasons, step)
        relation = Relation(fields, True, stability, owned=False, reasons=reasons)
        return relation, [
            replace(left, tree=truncated(left.tree, str(mine[1]), ours, left.relation)),  # type: ignore[index]
            replace(right, tree=truncated(right.tree, str(other[1]), theirs, right.relation)),  # type: ignore[index]
        ]
    return None


def _between(present: set[str], alias: str, equal: list[Equal]) -> list[tuple[Hashable, Hashable]]:
    """Pairs of equal columns of which one is in a source and the other in those before it."""
    found: list[tuple[Hashable, Hashable]] = []
    for one, two in equal:
        for left, right in ((one, two), (two, one)):
            if left[0] in present and right[0] == alias:
                found.append((left, right))
    return found


def _is_plain(left: Relation, right: Relation, pair: tuple[Hashable, Hashable]) -> bool:
    """Whether two columns are compared as they are: another type is converted first, and different values may become one."""
    ours, theirs = left.fields[pair[0]].facts, right.fields[pair[1]].facts
    return ours.kind == theirs.kind and ours.kind != "float" and ours.scale == theirs.scale


def _refuse_cross(node: exp.Expr) -> NoReturn:
    refuse(
        node,
        "cross-join",
        "Nothing says which rows of this table belong to which others: join it with ON a.x = b.y, an equality of two columns.",
        "この表のどの行を結び付けるかが書かれていません。ON a.x = b.y のように列の等号で結合してください。",
    )
