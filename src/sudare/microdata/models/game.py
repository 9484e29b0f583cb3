"""Publishing as a game: an attacker weighs what an attack costs, a publisher weighs what they lose (Wan et al., 2015).

An attacker who tries to name a person in a class of n is right with the chance 1 / n. An attack pays if the gain times this
chance is above its cost; a rational attacker does not attack classes of more than gain / cost people. So a game turns money into
a k, and into a metric: what a publisher gets is the worth of the records that are published, as detailed as they are, less the
loss from those who are named.

What it protects: against attackers who want money and have been asked how much. What it does not: against curiosity, and against
gains that nobody thought of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import ParameterError
from sudare.microdata.models.sizes import KAnonymity, KMap
from sudare.parameters import Rational, exact_fraction, shown

__all__ = ["ATTACKERS", "Game", "no_attack"]

ATTACKERS = ("prosecutor", "journalist")


@dataclass(frozen=True)
class Game:
    """What is at stake, in one currency.

    Args:
        gain: of an attacker, from one person who is named.
        cost: of an attacker, for one attempt; above 0.
        benefit: of the publisher, from one record that is published without any change.
        loss: of the publisher, from one person who is named.
        attacker: ``"prosecutor"`` knows that the person is in the table, and ``"journalist"`` does not: then the chance is one
            out of the class in the whole population.

    Example:
        >>> from sudare.microdata.models import Game
        >>> game = Game(gain=120, cost=20, benefit=1200, loss=3000)
        >>> game.largest_attacked
        Fraction(6, 1)
    """

    gain: Fraction
    cost: Fraction
    benefit: Fraction
    loss: Fraction
    attacker: str

    def __init__(
        self, gain: Rational, cost: Rational, benefit: Rational = 0, loss: Rational = 0, *, attacker: str = "prosecutor"
    ) -> None:
        check_arguments(Game.__init__, locals(), "attacker")
        for name, given in {"gain": gain, "cost": cost, "benefit": benefit, "loss": loss}.items():
            amount = exact_fraction(given, name, "Game", Words("an amount of at least 0", "0 以上の金額"))
            if amount < 0 or (name == "cost" and amount == 0):
                raise ParameterError(
                    name, "Game", "above 0" if name == "cost" else "an amount of at least 0", shown(given)
                )
            object.__setattr__(self, name, amount)
        if attacker not in ATTACKERS:
            raise ParameterError(
                "attacker",
                "Game",
                Words("one of " + ", ".join(ATTACKERS), f"{', '.join(ATTACKERS)} のいずれか"),
                shown(attacker),
            )
        object.__setattr__(self, "attacker", attacker)

    @property
    def largest_attacked(self) -> Fraction:
        """Classes below this size are attacked: there the gain times the chance is above the cost."""
        return self.gain / self.cost


def no_attack(game: Game) -> KAnonymity | KMap:
    """The model under which no attack pays: k-anonymity or, against a journalist, k-map, with the k that follows from the game.

    A class of exactly gain / cost people would leave the attacker without loss or gain; one person more is asked for.

    Args:
        game: what an attacker gains and pays.

    Raises:
        ParameterError: if no attack pays even on a record that is alone.

    Example:
        >>> from sudare.microdata.models import Game, no_attack
        >>> no_attack(Game(gain=120, cost=20)).describe()
        '7-anonymity: at least 7 records share each published combination of quasi-identifiers'
    """
    check_arguments(no_attack, locals(), "game")
    k = math.floor(game.largest_attacked) + 1
    if k < 2:
        raise ParameterError(
            "gain",
            "no_attack",
            Words("at least the cost", "費用以上の金額"),
            shown(game.gain),
            "Else no attack pays, and nothing needs a model.",
        )
    return KAnonymity(k) if game.attacker == "prosecutor" else KMap(k)
