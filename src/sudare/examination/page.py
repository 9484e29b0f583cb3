"""The page on an examination: one HTML file in both languages, without network or JavaScript. It is not for publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.examination.findings import KINDS, NAMES, Examination
from sudare.parameters import shown
from sudare.releases.page_template import page_template

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["CONFIDENTIAL", "MARKS", "OUTCOMES", "TEXTS", "ending_of", "name_of", "render_examination"]

TEMPLATE = "examination.html.jinja"
MAX_SHOWN = 200
"""Verdicts of each attack; the JSON has all of them."""

MARKS = {AttackOutcome.BROKEN: "✗", AttackOutcome.UNDECIDED: "!", AttackOutcome.HELD: "✓"}
OUTCOMES = {
    AttackOutcome.BROKEN: Words("broken", "破られた"),
    AttackOutcome.UNDECIDED: Words("undecided", "未決定"),
    AttackOutcome.HELD: Words("held", "守られた"),
}
CONFIDENTIAL = Words(
    "This speaks of protected people. It is for whoever decides about the publication, and not for publication.",
    "これは保護すべき個人についての情報を含みます。公表を判断する人のためのもので、公表してはいけません。",
)
TEXTS = {
    "examination": Words("sudare: attacks on a publication", "sudare 公表物への攻撃の結果"),
    "outcome_broken": Words("An attack broke it", "攻撃により破られました"),
    "outcome_undecided": Words("Not everything is decided", "未決定の項目があります"),
    "outcome_none": Words("No attack applied", "当てはまる攻撃がありませんでした"),
    "outcome_held": Words("Every attack that was run failed", "実行した攻撃はすべて失敗しました"),
    "held_note": Words(
        "That attacks fail is no proof of safety: only a guarantee is.",
        "攻撃が失敗したことは安全の証明ではありません。証明になるのは保証だけです。",
    ),
    "examined": Words("examined", "対象"),
    "what": Words("what it is", "種類"),
    "target": Words("target", "対象"),
    "found": Words("what was found", "わかったこと"),
    "remedy": Words("what would stop it", "対策"),
    "more": Words("{number} more in the JSON", "ほか {number} 件は JSON にあります"),
    "numbers": Words(
        "{broken} broken, {undecided} undecided, {held} held", "破られた {broken}、未決定 {undecided}、守られた {held}"
    ),
    "not_applied": Words("Attacks that did not apply", "対象外の攻撃"),
    "remarks": Words("To be known besides", "補足"),
}


def name_of(attack: str) -> Words:
    """An attack in words."""
    return NAMES.get(attack, Words(attack, attack))


def ending_of(examination: Examination) -> str:
    """The name of the text that sums up."""
    return f"outcome_{examination.outcome.value}" if examination.reports else "outcome_none"


def render_examination(examination: Examination, *, language: str = "en") -> str:
    """The page of an examination as HTML.

    Args:
        examination: what was found.
        language: ``"en"`` or ``"ja"``, which the page starts with; it holds both.

    Raises:
        ParameterError: if the language is another one.
    """
    if language not in ("en", "ja"):
        raise ParameterError(
            "language", "render_examination", Words("'en' or 'ja'", "'en' または 'ja'"), shown(language)
        )
    context = {
        "language": language,
        "title": examination.title,
        "place": str(examination.place),
        "kind": KINDS.get(examination.kind, Words(examination.kind, examination.kind)),
        "outcome": ending_of(examination),
        "is_broken": examination.outcome is AttackOutcome.BROKEN,
        "confidential": CONFIDENTIAL,
        "attacks": [_attack(report) for report in examination.reports],
        "not_applied": [(name_of(each.attack), each.reason) for each in examination.not_applied],
        "remarks": examination.remarks,
    }
    return _template().render(context)


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_template(TEMPLATE, [Path(__file__).parent], TEXTS)


@dataclass(frozen=True, kw_only=True)
class _ShownReport:
    name: Words
    mark: str
    outcome: Words
    summary: Words
    numbers: Mapping[str, str]
    remedies: Sequence[Words]
    verdicts: Sequence[tuple[str, str, Words]]
    more: str


def _attack(report: AttackReport) -> _ShownReport:
    open_ones = [verdict for verdict in report.verdicts if verdict.outcome is not AttackOutcome.HELD]
    return _ShownReport(
        name=name_of(report.attack),
        mark=MARKS[report.outcome],
        outcome=OUTCOMES[report.outcome],
        summary=report.summary,
        numbers={outcome.value: f"{len(report.with_outcome(outcome)):,}" for outcome in AttackOutcome},
        remedies=list(dict.fromkeys(verdict.remedy for verdict in open_ones)),
        verdicts=[(MARKS[each.outcome], each.target, each.sentence) for each in report.verdicts[:MAX_SHOWN]],
        more=f"{len(report.verdicts) - MAX_SHOWN:,}" if len(report.verdicts) > MAX_SHOWN else "",
    )
