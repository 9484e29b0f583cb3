"""The ticks of a series as an averaging adversary reads them: whoever stays in one place is in every one of them.

Noise that was drawn afresh for many tables averages out. The noise of a window was made for all its ticks together, so that what
remains after the best average is bounded by what the window cost. Here this average is taken: from the public noise of a window
and from the list of ticks that were published, whose folders anybody may have kept, whether or not they are there today.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from sudare.attacks.tables.differencing import LEGIBLE_DEVIATION
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import SudareError
from sudare.examination.findings import Remark
from sudare.examination.subjects import Subject
from sudare.examination.views import IncompatibleTables
from sudare.privacy import Budget, ReleaseEvent, best_power
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.releases.page_numbers import percent_rounded_up
from sudare.series.strategies import Norm, strategy_for

__all__ = [
    "BOUNDED_BY_WINDOW",
    "SERIES",
    "SERIES_ALONE",
    "PublishedWindow",
    "average_windows",
    "remarks_on_windows",
    "windows_of",
]

SERIES = ("tick", "series-day")
SERIES_ALONE = Words(
    "Ticks are averaged with other ticks alone; what single tables add is bounded by the sum of all costs.",
    "時点は他の時点とだけ平均します。単独の表が加える情報は、費用の合計で抑えられています。",
)
BOUNDED_BY_WINDOW = Words(
    "What all ticks of a window reveal of one person, moves included, is bounded by what the window cost.",
    "期間の全時点から1人について（移動を含めて）分かることは、期間の費用で抑えられています。",
)
ATTACK = "ticks"
FALSE_ALARM = 0.05
REMEDY = Words(
    "Publish no more of this window, and give the next one a smaller budget or fewer moves.",
    "この期間の公表を中止し、次の期間の予算または移動回数を減らしてください。",
)


@dataclass(frozen=True, kw_only=True)
class PublishedWindow:
    """A window of a series, of which some ticks were published.

    Attributes:
        name: by which it is known: the hash of the ledger's entry that reserved for it.
        begins: its first moment.
        event: what was drawn for it, and what it costs.
        ticks: that were published, by number.
    """

    name: str
    begins: str
    event: ReleaseEvent
    ticks: frozenset[int]

    @property
    def is_of_events(self) -> bool:
        """Whether one appearance is protected, which is in one table alone."""
        return self.event.unit.time is not None and self.event.unit.time.span == "event"

    def levels(self) -> tuple[SeriesMeasurement, ...]:
        """What was measured of each level, once.

        Raises:
            IncompatibleTables: if it is none of a series.
        """
        found = tuple(one for one in self.event.measurements if isinstance(one, SeriesMeasurement))
        if not found or len(found) != len(self.event.measurements):
            raise IncompatibleTables(Words("Its noise is not known.", "ノイズの法則が不明です。"))
        # A protected time that meets two windows is charged for both; each of them was measured once.
        is_twice = self.event.unit.time is not None and self.event.unit.time.span == "person-window"
        return found[: len(found) // 2] if is_twice else found

    def sharpness(self) -> float:
        """One over the variance of the best average of what all published ticks say of somebody who stays in one place.

        Of everybody who comes at some tick and stays, the one who is seen best. For events: of one appearance.
        """
        sums: dict[int, float] = {}
        for level in self.levels():
            variance = float(level.spread) if level.noise == "gaussian" else 2 * float(level.spread) ** 2
            if self.is_of_events:
                sums[0] = sums.get(0, 0.0) + 1 / variance
                continue
            norm: Norm = "l1" if level.noise == "laplace" else "l2"
            squares = [one**2 for one in strategy_for(level.strategy, level.ticks, level.moves, norm).coefficients]
            for first in range(level.ticks):
                seen = sum(squares[tick - first] for tick in self.ticks if tick >= first)
                sums[first] = sums.get(first, 0.0) + seen / variance
        return max(sums.values())


def windows_of(subjects: Iterable[Subject]) -> list[PublishedWindow]:
    """The windows of folders of ticks and of reports, each once."""
    found: dict[str, PublishedWindow] = {}
    for subject in subjects:
        said = subject.document
        if subject.kind == "tick":
            begins, ticks = said["tick"]["window"], [int(said["tick"]["number"])]
        elif subject.kind == "series-day":
            begins = said["window"]["begins"]
            ticks = [int(tick["number"]) for tick in said["ticks"] if tick["state"] != "missing"]
        else:
            continue
        event = ReleaseEvent.from_json(json.dumps(said["event"]))
        name = str(said["ledger"]["hash"])
        window = PublishedWindow(name=name, begins=str(begins), event=event, ticks=frozenset(ticks))
        known = found.get(window.name)
        if known is not None:
            window = PublishedWindow(
                name=known.name, begins=known.begins, event=known.event, ticks=known.ticks | window.ticks
            )
        found[window.name] = window
    return list(found.values())


def average_windows(windows: Sequence[PublishedWindow]) -> AttackReport:
    """How sharply the ticks of each window, and of all of them together, show somebody who stays in one place.

    Args:
        windows: at least one.

    Raises:
        IncompatibleTables: if the noise of one is not known.
    """
    known = sorted(windows, key=lambda window: window.begins)
    try:
        sharpness = [window.sharpness() for window in known]
    except SudareError:
        raise IncompatibleTables(Words("Its noise is not known.", "ノイズの法則が不明です。")) from None
    verdicts = [
        _judge(_target(window), len(window.ticks), sharp, window.event.cost, is_exact=_is_gaussian(window))
        for window, sharp in zip(known, sharpness, strict=True)
    ]
    is_alike = len({(window.event.cost.currency, window.is_of_events) for window in known}) == 1
    if len(known) > 1 and is_alike and not known[0].is_of_events:
        whole = known[0].event.cost
        for window in known[1:]:
            whole = whole + window.event.cost
        everywhere = all(map(_is_gaussian, known))
        ticks = sum(len(window.ticks) for window in known)
        verdicts.append(_judge(f"{len(known)} windows together", ticks, sum(sharpness), whole, is_exact=everywhere))
    ticks = sum(len(window.ticks) for window in known)
    sharpest = min(verdict.number for verdict in verdicts)
    summary = Words(
        f"The best average over {ticks:,} published tick(s) of {len(known):,} window(s) shows somebody who stays in one place "
        f"with a standard deviation of {sharpest:.2g}.",
        f"{len(known):,} 期間の公表済み {ticks:,} 時点を最適に平均すると、同じ場所に留まる1人についての標準偏差は "
        f"{sharpest:.2g} です。",
    )
    return AttackReport.of(ATTACK, summary, verdicts)


def remarks_on_windows(windows: Sequence[PublishedWindow]) -> list[Remark]:
    """What the promise of a window does not cover."""
    remarks: list[Remark] = []
    for window in windows:
        if window.is_of_events and len(window.ticks) > 1:
            deviation = 1 / math.sqrt(window.sharpness() * len(window.ticks))
            remarks.append(
                Words(
                    f"In the window that began at {window.begins} one appearance is protected. Somebody who stays in one place "
                    f"appears at {len(window.ticks):,} published ticks, whose average shows them with a standard deviation of "
                    f"{deviation:.2g}.",
                    f"{window.begins} に始まった期間で保護されるのは1回の出現です。同じ場所に留まる人は公表済みの "
                    f"{len(window.ticks):,} 時点に現れ、その平均の標準偏差は {deviation:.2g} 人です。",
                )
            )
    return remarks


def _judge(target: str, ticks: int, sharpness: float, cost: Budget, *, is_exact: bool) -> Verdict:
    deviation = 1 / math.sqrt(sharpness)
    allowed = float(best_power(cost, FALSE_ALARM))
    power = 1 - NormalDist().cdf(NormalDist().inv_cdf(1 - FALSE_ALARM) - 1 / deviation)
    is_beyond = is_exact and power > allowed + 1e-9
    outcome = AttackOutcome.BROKEN if deviation <= LEGIBLE_DEVIATION or is_beyond else AttackOutcome.HELD
    return Verdict(
        ATTACK,
        target,
        outcome,
        deviation,
        Words(
            f"{ticks:,} tick(s) show somebody who stays in one place with a standard deviation of {deviation:.2g}: a test with "
            f"{FALSE_ALARM:.0%} false alarms is right in {percent_rounded_up(power)} of the cases, where {cost} allows "
            f"{percent_rounded_up(allowed)}.",
            f"{ticks:,} 時点を合わせると、同じ場所に留まる1人についての標準偏差は {deviation:.2g} です。誤検出率 "
            f"{FALSE_ALARM:.0%} の検定が当たる割合は {percent_rounded_up(power)}（{cost} での上限は "
            f"{percent_rounded_up(allowed)}）です。",
        ),
        REMEDY,
    )


def _target(window: PublishedWindow) -> str:
    return f"window {window.begins.replace('T', ' ')[:16]}"


def _is_gaussian(window: PublishedWindow) -> bool:
    return all(level.noise == "gaussian" for level in window.levels())
