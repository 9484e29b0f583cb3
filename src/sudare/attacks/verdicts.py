"""One form for what every attack finds: a verdict for each person or cell, a plain sentence, a number, and what would stop it.

A verdict speaks of protected data. It is for those who decide about a publication and is never published itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.border.frames import ShownRows

if TYPE_CHECKING:
    from typing import Self

__all__ = ["AttackOutcome", "AttackReport", "Verdict"]


class AttackOutcome(Enum):
    """How an attack ended for one target.

    An attack that ran out of time, or that could not have worked with what it had, is undecided; it is never taken for a target
    that held. Broken means that something was really learned.
    """

    BROKEN = "broken"
    UNDECIDED = "undecided"
    HELD = "held"


@dataclass(frozen=True)
class Verdict:
    """What an attack found about one person, one cell, or one release.

    Attributes:
        attack: its short name, such as ``"reconstruction"``.
        target: whom or what it was aimed at, in the words of the tables.
        outcome: broken, undecided or held.
        number: the one that the sentence tells, for sorting and for programs.
        sentence: what was found, for people.
        remedy: what would stop the attack.

    Example:
        >>> from sudare.attacks.verdicts import AttackOutcome, Verdict
        >>> from sudare.bilingual import Words
        >>> verdict = Verdict(
        ...     "interval", "Nagano, fishery", AttackOutcome.BROKEN, 0.0,
        ...     Words("The hidden cell is 2 exactly.", "秘匿したセルは 2 だとわかります。"),
        ...     Words("Hide one more cell of its row.", "同じ行のセルをもう一つ秘匿してください。"),
        ... )
        >>> verdict.explain("en")
        'Nagano, fishery: The hidden cell is 2 exactly. Hide one more cell of its row.'
    """

    attack: str
    target: str
    outcome: AttackOutcome
    number: float
    sentence: Words
    remedy: Words

    def explain(self, language: str) -> str:
        """Target, sentence and, unless the target held, the remedy: Japanese for ``"ja"``, English otherwise."""
        parts = [self.sentence.explain(language)]
        if self.outcome is not AttackOutcome.HELD:
            parts.append(self.remedy.explain(language))
        return f"{self.target}: " + ("" if language == "ja" else " ").join(parts)


@dataclass(frozen=True)
class AttackReport(ShownRows):
    """All verdicts of one attack, the worst first.

    Attributes:
        attack: its short name.
        summary: one sentence for all of them.
        verdicts: broken, then undecided, then held; within each in the order of the data.
    """

    attack: str
    summary: Words
    verdicts: tuple[Verdict, ...]

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each verdict, the worst first; sentences in English."""
        listed = self.verdicts
        return {
            "attack": [each.attack for each in listed],
            "target": [each.target for each in listed],
            "outcome": [each.outcome.value for each in listed],
            "number": [each.number for each in listed],
            "sentence": [each.sentence.english for each in listed],
            "remedy": [each.remedy.english for each in listed],
        }

    @classmethod
    def of(cls, attack: str, summary: Words, verdicts: Iterable[Verdict]) -> Self:
        """A report with its verdicts put in order."""
        rank = {outcome: place for place, outcome in enumerate(AttackOutcome)}
        return cls(attack, summary, tuple(sorted(verdicts, key=lambda verdict: rank[verdict.outcome])))

    @property
    def outcome(self) -> AttackOutcome:
        """Broken if any target is, else undecided if any is, else held."""
        return self.verdicts[0].outcome if self.verdicts else AttackOutcome.HELD

    def with_outcome(self, outcome: AttackOutcome) -> tuple[Verdict, ...]:
        """The verdicts that ended so."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is outcome)
