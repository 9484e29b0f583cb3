"""A toy randomizer: a die says whether to answer truly. It shows all that a new one takes: this class, and one line.

A question of it::

    [[question]]
    name = "smoker"
    method = "die"
    values = ["yes", "no"]
    sides = 6
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sudare.bilingual import Words
from sudare.collect.randomizers.categories import CategoryRandomizer, read_labels
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.randomizers.registry import RegisteredRandomizer
from sudare.collect.transitions.transition import DenseTransition, Transition
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from sudare.sections import Section

__all__ = ["REGISTRATION", "DieResponse"]


@dataclass(frozen=True)
class DieResponse(CategoryRandomizer):
    """The first side says: name the first value; the last side: name the last one; all others: tell the truth."""

    kind: ClassVar[str] = "die-response"
    words: ClassVar[Words] = Words(
        "The true value, unless the die names another one.", "サイコロが別の値を指定しない限り、真の値を報告します。"
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"die": ("values", "sides")}
    labels: tuple[object, ...]
    sides: int
    _transition: DenseTransition = field(init=False, repr=False, compare=False)

    def __init__(self, labels: Iterable[object], sides: int) -> None:
        object.__setattr__(self, "labels", read_labels(labels, "DieResponse"))
        if len(self.labels) != 2:
            raise ParameterError("labels", "DieResponse", "two values", Described(f"{len(self.labels)}"))
        requirement = "a whole number from 3 to 100"
        object.__setattr__(
            self, "sides", exact_integer(sides, "sides", "DieResponse", requirement, smallest=3, largest=100)
        )
        likely = self.sides - 1
        object.__setattr__(self, "_transition", DenseTransition.from_weights([[likely, 1], [1, likely]]))

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        return cls(section.items("values"), section.whole("sides"))

    def transition(self) -> Transition:
        return self._transition

    def parameters(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "sides": self.sides}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        return cls(parameters["labels"], parameters["sides"])


REGISTRATION = RegisteredRandomizer(
    kind="die-response", module="tests.contracts.dice_randomizer", name="DieResponse", methods=("die",)
)
