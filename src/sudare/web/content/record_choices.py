"""Choices of levels for records that are to be anonymized: the best ones, what each loses, and the risk before and after.

The search is the one of the release. Around its result the lattice of choices is looked at until ten good ones are known; where
the lattice is small, all of it. Column weights change the order of choices only: whichever is chosen is written into the plan as
levels, so that the command does the same.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.microdata.grouping import Tuples
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records
from sudare.microdata.search.anonymizing import search
from sudare.microdata.search.checking import Checker
from sudare.microdata.search.metrics import Metric
from sudare.releases.kinds.records.measuring import Risks, measure_risks
from sudare.releases.kinds.records.planning.plan_file import PeoplePlan
from sudare.releases.kinds.records.sources import read_planned, read_population, without_identifiers
from sudare.releases.kinds.records.steps.anonymize import Anonymize, build_hierarchies

__all__ = ["LevelChoice", "RecordsView", "SolutionLattice", "is_searched", "lattice_of", "view_of"]

BEST = 10
MAX_NODES = 400
SECONDS = 10.0
PREVIEW = 10
MAX_KEPT = 4

NO_SEARCH = Words(
    "There are levels to choose where a plan anonymizes records that fit into memory, and does nothing else.",
    "段階を選べるのは、メモリに収まるレコードを匿名化するだけの計画です。",
)


@dataclass(frozen=True, kw_only=True)
class LevelChoice:
    """One choice of levels.

    Attributes:
        levels: of each quasi-identifier.
        loss: by the metric; infinite if it cannot be published.
        left_out: the share of records that it leaves out.
        is_allowed: whether it can be published.
    """

    levels: tuple[int, ...]
    loss: tuple[float, ...]
    left_out: float
    is_allowed: bool


@dataclass(frozen=True, kw_only=True)
class SolutionLattice:
    """What is known of the lattice of choices.

    Attributes:
        names: the quasi-identifiers.
        heights: how many levels each has above its values.
        nodes: choices that were looked at around the best one.
        best: the ten that lose least, the best first.
        choices: that there are.
        is_proved: whether no other choice loses less than the best.
    """

    names: tuple[str, ...]
    heights: tuple[int, ...]
    nodes: tuple[LevelChoice, ...]
    best: tuple[LevelChoice, ...]
    choices: int
    is_proved: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordsView:
    """Records before and after, for their holder.

    Attributes:
        before: risks of the records as they are.
        after: of those that would be published.
        left_out: the share of records that are left out.
        levels: that were found or are planned; empty where there are none.
        names: of the published columns.
        rows: the first ten published records.
    """

    before: Risks
    after: Risks
    left_out: float
    levels: Mapping[str, int]
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)


_kept: OrderedDict[str, RecordsView] = OrderedDict()
_lock = threading.Lock()


def is_searched(plan: PeoplePlan) -> bool:
    """Whether a plan searches for levels, in memory, and does nothing else."""
    steps = plan.steps
    return len(steps) == 1 and isinstance(steps[0], Anonymize) and steps[0].search != "local" and not plan.is_large


def _step(plan: PeoplePlan) -> Anonymize:
    if not is_searched(plan) or not isinstance(plan.steps[0], Anonymize):
        raise InputError(NO_SEARCH)
    return plan.steps[0]


def view_of(plan: PeoplePlan) -> RecordsView:
    """What the plan would give, by the functions that a release calls; nothing is written.

    Raises:
        InputError: if the data is not what the plan says, or no choice can be published.
    """
    step = _step(plan)
    state = plan.source.stat() if plan.source.exists() else None
    stamp = None if state is None else (state.st_mtime_ns, state.st_size)
    key = hashlib.sha256(plan.file.read_bytes() + repr((plan.fingerprint(), stamp)).encode()).hexdigest()
    with _lock:
        known = _kept.get(key)
    if known is not None:
        return known
    records = without_identifiers(plan, read_planned(plan))
    done = step.run(plan, records, None if plan.population is None else read_population(plan))
    sensitive = [name for name, column in plan.columns.items() if column.role == "sensitive"]
    made = done.anonymized
    levels = {} if made is None or made.search is None else dict(made.search.levels)
    shown = [[str(text) for text in done.records.column(name).texts()[:PREVIEW]] for name in done.records.names]
    view = RecordsView(
        before=measure_risks(records, plan.quasi_identifiers, sensitive),
        after=measure_risks(done.records, plan.quasi_identifiers, sensitive),
        left_out=0.0 if made is None else made.suppressed,
        levels=levels,
        names=tuple(done.records.names),
        rows=tuple(zip(*shown, strict=True)),
    )
    with _lock:
        _kept[key] = view
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return view


def lattice_of(plan: PeoplePlan, weights: Mapping[str, float] | None = None) -> SolutionLattice:
    """The best choices of levels, and those around them.

    Args:
        plan: what must hold.
        weights: of columns by name; 1 if left out. A column of more weight is kept finer.

    Raises:
        InputError: if the data is not what the plan says, or no choice can be published.
    """
    step = _step(plan)
    records = without_identifiers(plan, read_planned(plan))
    hierarchies = build_hierarchies(plan, records)
    checker = _checker(plan, step, records, hierarchies, weights)
    found = search(checker, step.search, step.seconds or SECONDS)
    heights = tuple(one.height for one in hierarchies.values())
    start = found.levels or heights
    nodes = _around(checker, start, heights)
    allowed = sorted((node for node in nodes if node.is_allowed), key=lambda node: (node.loss, node.levels))
    return SolutionLattice(
        names=tuple(hierarchies),
        heights=heights,
        nodes=tuple(nodes),
        best=tuple(allowed[:BEST]),
        choices=math.prod(height + 1 for height in heights),
        is_proved=found.is_optimal,
    )


def _checker(
    plan: PeoplePlan,
    step: Anonymize,
    records: Records,
    hierarchies: Mapping[str, Generalization],
    weights: Mapping[str, float] | None,
) -> Checker:
    if plan.population is not None or any(model.needs_population for model in step.models):
        raise InputError(NO_SEARCH)
    sensitive = [name for name, column in plan.columns.items() if column.role == "sensitive"]
    named = [model.sensitive for model in step.models if model.sensitive is not None]
    private = [records.column(name) for name in dict.fromkeys([*named, *sensitive])]
    columns = [records.column(name) for name in hierarchies]
    starred = step.suppressed == "starred"
    return Checker(
        Tuples.of_rows(columns, list(hierarchies.values()), private),
        step.models,
        Metric(step.metric, weights=dict(weights)) if weights else Metric(step.metric),
        step.suppression,
        compare_with_published=not starred,
        publish_suppressed=starred,
        absent_if_suppressed=True,
    )


def _around(checker: Checker, start: Sequence[int], heights: Sequence[int]) -> list[LevelChoice]:
    """Choices near the best one, cheap ones first; all of them where there are few."""
    rows = max(1, checker.tuples.rows)
    seen = {tuple(start)}
    waiting: list[tuple[Any, ...]] = []
    nodes: list[LevelChoice] = []
    began = time.monotonic()

    def look(levels: tuple[int, ...]) -> None:
        checked = checker.check(levels)
        cost = tuple(float(one) for one in checked.cost)
        nodes.append(
            LevelChoice(
                levels=levels,
                loss=cost,
                left_out=checked.suppressed / rows,
                is_allowed=bool(checked.is_allowed),
            )
        )
        heapq.heappush(waiting, (not checked.is_allowed, cost, levels))

    look(tuple(start))
    while waiting and len(nodes) < MAX_NODES and time.monotonic() - began < SECONDS:
        _, _, levels = heapq.heappop(waiting)
        for place, height in enumerate(heights):
            for change in (-1, 1):
                level = levels[place] + change
                near = (*levels[:place], level, *levels[place + 1 :])
                if 0 <= level <= height and near not in seen and len(nodes) < MAX_NODES:
                    seen.add(near)
                    look(near)
    return nodes
