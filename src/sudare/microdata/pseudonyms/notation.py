"""How pseudonyms are written, and how long they must be so that no two people get the same one.

The chance that any two of n pseudonyms are the same is at most n (n - 1) / 2 divided by how many there are of that length
(union bound; the subkey's hash is taken for a random function). A length is accepted if that is below one in a
thousand million. Pseudonyms from a random table are never the same, whatever their length.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.noise import uniform_below
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FORMS", "MAX_COLLISIONS", "TextForm"]

MAX_COLLISIONS = Fraction(1, 10**9)
EVERYBODY = 10**10
"""More people than live: the number that lengths are made for unless the user states another."""

FORMS = {"hex": b"0123456789abcdef", "base32": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "digits": b"0123456789"}
BITS = {"hex": 4, "base32": 5}
MAX_LENGTHS = {"hex": 64, "base32": 51, "digits": 38}
"""What a digest of 256 bits fills; 38 digits leave a bias below 1e-38."""


@dataclass(frozen=True)
class TextForm:
    """A way to write pseudonyms.

    Attributes:
        name: ``"hex"``, ``"base32"`` or ``"digits"``; digits do not begin with 0, so that no program drops zeros.
        length: how many characters each has.

    Example:
        >>> TextForm.for_people("hex", 10**10), TextForm.for_people("digits", 10**6)
        (TextForm(name='hex', length=24), TextForm(name='digits', length=21))
    """

    name: str
    length: int

    def __post_init__(self) -> None:
        """Check both."""
        if self.name not in FORMS:
            raise ParameterError(
                "form",
                "TextForm",
                Words(f"one of {', '.join(FORMS)}", f"{', '.join(FORMS)} のいずれか"),
                shown(self.name),
            )
        longest = MAX_LENGTHS[self.name]
        requirement = Words(
            f"a whole number from 1 to {longest} for {self.name}", f"{self.name} では 1 以上 {longest} 以下の整数"
        )
        exact_integer(self.length, "length", "TextForm", requirement, smallest=1, largest=longest)

    @classmethod
    def for_people(cls, name: str, people: int = EVERYBODY) -> TextForm:
        """The shortest form that this many pseudonyms fit in without a collision, but for a chance below 1e-9."""
        if name not in FORMS:
            raise ParameterError(
                "form", "TextForm", Words(f"one of {', '.join(FORMS)}", f"{', '.join(FORMS)} のいずれか"), shown(name)
            )
        for length in range(1, MAX_LENGTHS[name] + 1):
            form = cls(name, length)
            if form.collision_chance(people) < MAX_COLLISIONS:
                return form
        raise ParameterError(
            "people",
            "TextForm",
            Words("at most as many as the longest form allows", "最長の形式で表せる数以下"),
            people,
        )

    @property
    def size(self) -> int:
        """How many different pseudonyms there are."""
        if self.name == "digits":
            return 9 * int(10 ** (self.length - 1))
        return int(2 ** (BITS[self.name] * self.length))

    def collision_chance(self, people: int) -> Fraction:
        """An upper bound of the chance that any two of this many pseudonyms are the same."""
        number = exact_integer(people, "people", "TextForm", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
        return min(Fraction(1), Fraction(number * (number - 1), 2 * self.size))

    def require_room(self, people: int) -> None:
        """Refuse a length in which keyed pseudonyms of this many people may collide.

        Raises:
            ParameterError: if the chance is not below 1e-9.
        """
        if self.collision_chance(people) >= MAX_COLLISIONS:
            fitting = TextForm.for_people(self.name, people)
            raise ParameterError(
                "length",
                "pseudonymize",
                Words(
                    f"at least {fitting.length} for {people:,} pseudonyms by a keyed hash",
                    f"鍵付きハッシュで {people:,} 個の仮名を作るには {fitting.length} 以上",
                ),
                self.length,
                hint="Shorter ones need --method table, which never gives one to two people.",
            )

    def draw(self, count: int) -> NDArray[np.uint8]:
        """Random pseudonyms, all equally likely, as rows of characters; two may be the same."""
        letters = np.frombuffer(FORMS[self.name], dtype=np.uint8)
        places = uniform_below(letters.size, (count, self.length))
        if self.name == "digits":
            places[:, 0] = uniform_below(9, count) + np.uint64(1)
        return letters[places]

    def write(self, digests: Any, out: Any) -> None:
        """The texts of digests of 32 bytes, into rows of characters."""
        from sudare.kernels.records import keyed_hashing

        if self.name == "digits":
            keyed_hashing.digits_of_digests(digests, out)
        else:
            letters = np.frombuffer(FORMS[self.name], dtype=np.uint8)
            keyed_hashing.symbols_of_digests(digests, letters, BITS[self.name], out)
