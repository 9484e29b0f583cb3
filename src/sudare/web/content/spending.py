"""What was spent over time: the entries of a data set as steps of a picture, and as sums by purpose.

A step is as high as the cost that its entry states, in the first number of the data set's total (epsilon or rho). The rule of
composition of the ledger may come to less than the sum of the steps. What is left is therefore shown as the ledger says it,
beside the picture, and never read from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from sudare.ledger import Dataset
from sudare.ledger.entries import Cancelled, Entry, PublicationNoted, Reserved, Settled
from sudare.parameters import show_fraction
from sudare.privacy import Budget

__all__ = ["PurposeSum", "SpendingStep", "Timeline", "timeline_of"]

MAX_STEPS = 500
LETTERS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 220, 52, 14, 16, 30


@dataclass(frozen=True, kw_only=True)
class SpendingStep:
    """One charge in the picture.

    Attributes:
        number: of the entry.
        what: it was for.
        cost: as it is shown.
        state: ``"settled"``, ``"reserved"`` or ``"cancelled"``; ``"noted"`` for what was published without a price.
        x: where it stands.
        y: how high the sum is after it.
    """

    number: int
    what: str
    cost: str
    state: str
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class PurposeSum:
    """What one purpose cost.

    Attributes:
        what: the purpose.
        times: how often.
        cost: together, as it is shown.
        share: of the total.
    """

    what: str
    times: int
    cost: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """The picture of a data set's account.

    Attributes:
        who: the analyst, if the account is one's own; else empty.
        letter: of the number that is drawn.
        steps: charges, in order.
        line: the sum over time, as points of a polyline.
        total_y: where the total stands; None where the steps are far below it.
        top: the number at the upper end.
        first: time of the first entry.
        last: of the last one.
        sums: by purpose, the largest first.
    """

    who: str
    letter: str
    steps: tuple[SpendingStep, ...]
    line: str
    total_y: float
    top: str
    first: str
    last: str
    sums: tuple[PurposeSum, ...]


def timeline_of(dataset: Dataset, entries: Iterable[Entry]) -> Timeline | None:
    """The picture of an account; None if nothing was charged to it.

    Args:
        dataset: the account.
        entries: of it, in order.
    """
    key = next(iter(dataset.total.to_dict()))
    states: dict[int, str] = {}
    charges: list[tuple[int, datetime, str, Fraction]] = []
    for entry in entries:
        said = entry.read()
        if isinstance(said, Reserved):
            charges.append((entry.number, datetime.fromisoformat(entry.time), said.purpose, _number(said.cost, key)))
            states[entry.number] = "reserved"
        elif isinstance(said, PublicationNoted):
            charges.append((entry.number, datetime.fromisoformat(entry.time), said.title, Fraction(0)))
            states[entry.number] = "noted"
        elif isinstance(said, Settled):
            states[said.reservation] = "settled"
        elif isinstance(said, Cancelled):
            states[said.reservation] = "cancelled"
    if not charges:
        return None
    charges = charges[-MAX_STEPS:]
    total = _number(dataset.total, key)
    standing = [cost if states[number] != "cancelled" else Fraction(0) for number, _, _, cost in charges]
    top = max(total, sum(standing, Fraction(0))) or Fraction(1)
    steps, points = _drawn(charges, states, standing, top, key)
    return Timeline(
        who=dataset.name.partition("/")[2],
        letter=LETTERS[key],
        steps=steps,
        line=points,
        total_y=_y(total, top),
        top=f"{LETTERS[key]} = {show_fraction(total)}",
        first=_day(charges[0][1]),
        last=_day(charges[-1][1]),
        sums=_sums(charges, standing, total or Fraction(1), key),
    )


def _drawn(
    charges: list[tuple[int, datetime, str, Fraction]],
    states: dict[int, str],
    standing: list[Fraction],
    top: Fraction,
    key: str,
) -> tuple[tuple[SpendingStep, ...], str]:
    begins, ends = charges[0][1], charges[-1][1]
    whole = (ends - begins).total_seconds()
    steps, sum_so_far = [], Fraction(0)
    points = [f"{LEFT},{_y(Fraction(0), top)}"]
    for place, ((number, moment, what, cost), stands) in enumerate(zip(charges, standing, strict=True)):
        share = (moment - begins).total_seconds() / whole if whole else (place + 0.5) / len(charges)
        x = round(LEFT + 12 + (WIDTH - LEFT - RIGHT - 24) * share, 1)
        points.append(f"{x},{_y(sum_so_far, top)}")
        sum_so_far += stands
        points.append(f"{x},{_y(sum_so_far, top)}")
        shown = f"{LETTERS[key]} = {show_fraction(cost)}" if cost else ""
        y = _y(sum_so_far, top)
        steps.append(SpendingStep(number=number, what=what, cost=shown, state=states[number], x=x, y=y))
    points.append(f"{WIDTH - RIGHT},{_y(sum_so_far, top)}")
    return tuple(steps), " ".join(points)


def _sums(
    charges: list[tuple[int, datetime, str, Fraction]], standing: list[Fraction], total: Fraction, key: str
) -> tuple[PurposeSum, ...]:
    found: dict[str, tuple[int, Fraction]] = {}
    for (_, _, what, _), stands in zip(charges, standing, strict=True):
        if stands:
            times, cost = found.get(what, (0, Fraction(0)))
            found[what] = times + 1, cost + stands
    order = sorted(found.items(), key=lambda one: -one[1][1])
    return tuple(
        PurposeSum(
            what=what, times=times, cost=f"{LETTERS[key]} = {show_fraction(cost)}", share=min(1.0, float(cost / total))
        )
        for what, (times, cost) in order
    )


def _number(budget: Budget, key: str) -> Fraction:
    """A cost in the number that is drawn; the first that it has, where it is stated otherwise."""
    values = budget.to_dict()
    return Fraction(values.get(key) or next(iter(values.values())))


def _y(value: Fraction, top: Fraction) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - float(value / top)), 1)


def _day(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
