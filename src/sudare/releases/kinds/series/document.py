"""``release.json`` of one tick: what was published, of which tick, under which promise.

Nothing here depends on the data except through what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sudare.domain import CountTable
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Charge
from sudare.releases.data.domains import describe_domain
from sudare.releases.documents import InputHash, Promise, ReleaseDocument, describe_head, describe_promise
from sudare.releases.kinds.series.plan_file import TickPlan

__all__ = [
    "TICK_FORMAT",
    "DocumentFacts",
    "PublishedTick",
    "TickDocument",
    "TickRecord",
    "TickReference",
    "write_tick_document",
]

TICK_FORMAT = "sudare-tick/1"
PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "cryptography")
OF_TICK = (
    "HMAC-SHA256 of everybody's cell at this tick and of the hash of the tick before, with a key that stays in the ledger. "
    "The ledger has it from before the noise of the tick was drawn."
)


@dataclass(frozen=True, kw_only=True)
class TickRecord:
    """Which tick it is.

    Attributes:
        begins: its first moment, by the wall clock.
        ends: the first moment after it.
        number: in its window, from 0.
        window: when the window begins.
        ticks: how many the window has.
        every: seconds from one tick to the next.
        moves: how many moves of a person count in a window, for each level.
        strategies: what is measured at each level, from the total.
    """

    begins: str
    ends: str
    number: int
    window: str
    ticks: int
    every: int
    moves: tuple[int, ...]
    strategies: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PublishedTick:
    """The published table in a few numbers.

    Attributes:
        total: of all counts.
        non_empty_cells: that are published.
        count: what the column of counts is called.
        deviations: the standard deviation of a count at each level, from the total, as this level was measured: without the
            filter, and before the levels were brought together.
        filtered_deviations: the same for what the filter made of the measurements, as the filter predicts it: the root mean
            square over all nodes of the level, by the changes that it has learned from noisy counts. Where a level is not
            filtered it is the deviation of the measurement.
    """

    total: int
    non_empty_cells: int
    count: str
    deviations: tuple[float, ...]
    filtered_deviations: tuple[float, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class TickReference:
    """A published table of an earlier window by which a tick was refined.

    Attributes:
        asked: what the plan refers to: ``"yesterday"``, ``"last"`` or ``"release"``.
        begins: when the tick of that table begins; left out where it is none of a tick.
        sha256: of its document; left out where there was none, and nothing was refined by it.
    """

    asked: str
    begins: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class DocumentFacts:
    """What a document says of the moment at which it was made; kept with the private state, so that it can be made again.

    Attributes:
        created: in UTC.
        utc_offset: of the clocks.
        remaining: what was left of the budget.
    """

    created: str
    utc_offset: str
    remaining: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TickDocument(ReleaseDocument):
    """``release.json`` of a tick.

    Attributes:
        promise: what the guarantee of the whole window means for one person.
        tick: which one it is.
        published: the table in a few numbers.
        domain: the cells.
        input: a hash that proves the input.
        reference: a published table by which the counts were refined, if the plan refers to one.
    """

    promise: Promise
    tick: TickRecord
    published: PublishedTick
    domain: Mapping[str, Any]
    input: InputHash
    reference: TickReference | None = None


def write_tick_document(
    plan: TickPlan,
    table: CountTable,
    event: ReleaseEvent,
    charge: Charge,
    files: Sequence[Path],
    keyed_hash: str,
    *,
    filtered: Sequence[float],
    reference: TickReference | None,
    facts: DocumentFacts,
) -> TickDocument:
    """The document of a tick."""
    design, tick = plan.series.design, plan.tick
    head = describe_head(TICK_FORMAT, plan.header, files, PACKAGES)
    return TickDocument(
        head=replace(head, created=facts.created, utc_offset=facts.utc_offset),
        event=event,
        ledger=replace(charge, remaining=facts.remaining),
        promise=describe_promise(event),
        tick=TickRecord(
            begins=tick.begins.isoformat(),
            ends=tick.ends.isoformat(),
            number=tick.number,
            window=tick.window.isoformat(),
            ticks=plan.series.clock.ticks,
            every=round(plan.series.clock.every.total_seconds()),
            moves=tuple(level.measurement.moves for level in design.levels),
            strategies=tuple(level.strategy.name for level in design.levels),
        ),
        published=PublishedTick(
            total=table.total,
            non_empty_cells=int(table.keys.size),
            count=plan.series.count,
            deviations=tuple(round(float(level.variances[tick.number]) ** 0.5, 3) for level in design.levels),
            filtered_deviations=tuple(round(one, 3) for one in filtered),
        ),
        domain=describe_domain(plan.series.domain),
        input=InputHash(keyed_hash=keyed_hash, note=OF_TICK),
        reference=reference,
    )
