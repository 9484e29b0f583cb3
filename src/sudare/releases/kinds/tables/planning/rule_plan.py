"""The rules of a plan: which cells are unsafe, and what the public may know of this.

Anyone who knows the parameters of a dominance, p % or p-q rule can turn "this cell was published" and "this cell was hidden" into
bounds on single contributions. They stay with the holder; the report states that there is such a rule, and the least number of
contributors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sudare.attacks.refusals import ToldParameterError
from sudare.bilingual import Words
from sudare.disclosure.rules import Dominance, MinimumFrequency, PPercent, PriorPosterior, Request, Rule, ZeroCells
from sudare.errors import ParameterError
from sudare.sections import Section

__all__ = ["PARTS", "RULE_KEYS", "PlannedRule", "largest_needed", "read_rules"]

IN_RANGE = Words("a value that the rule takes", "許される範囲の値")

PARTS = {
    "dominance": ("n", "k"),
    "p_percent": ("p", "n"),
    "pq": ("p", "q", "n"),
    "request": ("percent", "range"),
}
"""What each rule with a section of its own may say."""

RULE_KEYS = ("threshold", "range", *PARTS, "zero")


@dataclass(frozen=True)
class PlannedRule:
    """A rule, and its description.

    Attributes:
        name: its key in the plan.
        rule: what judges the cells.
        public: what everybody may know.
        full: with all parameters, for the holder.
    """

    name: str
    rule: Rule
    public: Words
    full: Words

    @property
    def is_about_shares(self) -> bool:
        """Whether it compares contributions, so that it needs magnitudes."""
        return self.name in ("dominance", "p_percent", "pq", "request")


def read_rules(section: Section) -> tuple[PlannedRule, ...]:
    """Read ``[rules]`` or ``[rules.records]``; empty if nothing is there.

    Raises:
        PlanError: if a rule says what cannot be.
    """
    found: list[PlannedRule] = []
    if section.has("threshold"):
        minimum = section.whole("threshold")
        percent = section.number("range") if section.has("range") else 10
        rule = _made(section, "threshold", lambda: MinimumFrequency(minimum, percent))
        told = Words(f"at least {minimum} contributors", f"提供者が {minimum} 以上")
        full = Words(
            f"at least {minimum} contributors; protected by {percent} % of the value",
            f"提供者が {minimum} 以上（保護幅は値の {percent} %）",
        )
        found.append(PlannedRule("threshold", rule, told, full))
    elif section.has("range"):
        section.refuse("range", "goes with 'threshold'", "は「threshold」と一緒に使います")
    if section.has("dominance"):
        part = section.section("dominance", PARTS["dominance"])
        n, k = part.whole("n"), part.number("k")
        part.finish()
        found.append(
            PlannedRule(
                "dominance",
                _made(part, "k", lambda: Dominance(n, k)),
                Words("a dominance rule", "占有率の規則"),
                Words(f"the {n} largest make up at most {k} %", f"上位 {n} 者の割合が {k} % 以下"),
            )
        )
    if section.has("p_percent"):
        part = section.section("p_percent", PARTS["p_percent"])
        p, n = part.number("p"), part.whole("n", 1)
        part.finish()
        found.append(
            PlannedRule(
                "p_percent",
                _made(part, "p", lambda: PPercent(p, n)),
                Words("a p % rule", "p % 規則"),
                Words(
                    f"nobody can work out the largest contribution within {p} % (coalitions of {n})",
                    f"最大の値を {p} % 以内で推定できない（{n} 者の結託に対して）",
                ),
            )
        )
    if section.has("pq"):
        part = section.section("pq", PARTS["pq"])
        p, q, n = part.number("p"), part.number("q"), part.whole("n", 1)
        part.finish()
        found.append(
            PlannedRule(
                "pq",
                _made(part, "p", lambda: PriorPosterior(p, q, n)),
                Words("a p-q rule", "p-q 規則"),
                Words(
                    f"whoever knew contributions within {q} % cannot work out the largest within {p} % (coalitions of {n})",
                    f"{q} % 以内の事前知識から最大の値を {p} % 以内で推定できない（{n} 者の結託に対して）",
                ),
            )
        )
    if section.has("request"):
        part = section.section("request", PARTS["request"])
        percent = part.number("percent") if part.has("percent") else 70
        width = part.number("range") if part.has("range") else 10
        part.finish()
        found.append(
            PlannedRule(
                "request",
                _made(part, "percent", lambda: Request(percent, width)),
                Words("protection on request", "要請による保護"),
                Words(
                    f"who asked for protection is hidden above {percent} % of a cell; protected by {width} % of the value",
                    f"要請者がセルの {percent} % を超えるとき秘匿（保護幅は値の {width} %）",
                ),
            )
        )
    if section.flag("zero", False):
        told = Words("no zeros that have contributors", "提供者のいる 0 を公表しない")
        found.append(PlannedRule("zero", ZeroCells(), told, told))
    section.finish()
    return tuple(found)


def _made(section: Section, key: str, make: Callable[[], Rule]) -> Rule:
    """A rule; what its class refuses becomes a mistake of the plan."""
    try:
        return make()
    except ParameterError as error:
        named = error.parameter if error.parameter in ("n", "k", "p", "q", "percent") else key
        allowed = error.requirement_words if isinstance(error, ToldParameterError) else IN_RANGE
        section.refuse(named, f"must be {allowed.english}", f"は「{allowed.japanese}」にしてください")


def largest_needed(rules: Sequence[PlannedRule]) -> int:
    """How many of the largest contributions the rules look at; two at least."""
    return max([2, *(one.rule.largest_needed for one in rules)])
