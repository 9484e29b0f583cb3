"""What a publication tells about one person: the sensitive value, and that somebody is the only one of their kind.

**Sensitive value.** The attacker knows all other columns of a person and guesses the value that the publication has most people
with. Much of what they guess right they would guess right about anybody: smokers die earlier no matter who is in the data. So the
same guesses are tried on people who are *not* in the data, and only what they know better about those who are counts as a breach.
They are certain where the publication leaves one value only.

**Only one.** Where the publication says that a cell holds exactly one person, the attacker says so; and is right or wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.comparison.views import View

    Integers = NDArray[np.int64]

__all__ = ["Guessing", "SingledOut", "guess_sensitive", "single_out"]


@dataclass(frozen=True)
class Guessing:
    """How well the sensitive value of people is guessed.

    Attributes:
        right: the share of people in the data whose value is guessed.
        right_outside: the same for people who are not in the data.
        certain: the share of people in the data of whose value the attacker is certain, and right.
        certain_outside: the same for people who are not in the data.
    """

    right: float
    right_outside: float
    certain: float
    certain_outside: float

    @property
    def gain(self) -> float:
        """What being in the data costs: how much more often the guess is right."""
        return self.right - self.right_outside

    @property
    def certain_gain(self) -> float:
        """Likewise for certain guesses."""
        return self.certain - self.certain_outside


@dataclass(frozen=True)
class SingledOut:
    """People of whom it is published that they are the only ones of their kind.

    Attributes:
        found: of the people who are the only one in their cell, the share of whom the publication says so.
        right: of all cells of which it says so, the share where it is true; not a number if it says so of none.
    """

    found: float
    right: float


def guess_sensitive(view: View, truth: Integers, register: Integers) -> Guessing:
    """Guess everybody's value of the last column from the others.

    Example:
        >>> from sudare.comparison.views import View
        >>> truth, register = np.array([[1, 0], [0, 1]]), np.array([[2, 0], [1, 2]])
        >>> guess_sensitive(View.of_counts(truth), truth, register)
        Guessing(right=1.0, right_outside=0.6666666666666666, certain=1.0, certain_outside=0.6666666666666666)
    """
    usual = int(np.argmax(view.table((view.estimate.ndim - 1,))))
    values = truth.shape[-1]
    estimates, high = view.estimate.reshape(-1, values), view.high.reshape(-1, values)
    guess = np.where(estimates.max(axis=1) > 0, estimates.argmax(axis=1), usual)
    possible = high > 0
    is_certain = possible.sum(axis=1) == 1
    guess = np.where(is_certain, possible.argmax(axis=1), guess)
    rows = np.arange(guess.size)
    shares = []
    for people in (truth, register - truth):
        table = people.reshape(-1, values)
        all_people = max(1, int(table.sum()))
        hits = table[rows, guess]
        shares.append((float(hits.sum()) / all_people, float(hits[is_certain].sum()) / all_people))
    return Guessing(shares[0][0], shares[1][0], shares[0][1], shares[1][1])


def single_out(view: View, truth: Integers) -> SingledOut:
    """Look for cells of which the publication says that they hold one person.

    Example:
        >>> from sudare.comparison.views import View
        >>> single_out(View.of_counts(np.array([1, 1, 3])), np.array([1, 2, 1]))
        SingledOut(found=0.5, right=0.5)
    """
    said = (view.low > 0.5) & (view.high < 1.5)
    alone = truth == 1
    hits = int((said & alone).sum())
    found = hits / max(1, int(alone.sum()))
    return SingledOut(found, hits / int(said.sum()) if said.any() else float("nan"))
