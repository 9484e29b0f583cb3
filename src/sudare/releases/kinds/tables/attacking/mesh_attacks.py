"""The attack on merged meshes: whether what is published stands for enough people, alone and beside earlier tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sudare.attacks.tables.differencing import PublishedCell, attack_by_differences
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import InputError, SudareError, words_of_error
from sudare.releases.kinds.tables.attacking.knowledge import read_report
from sudare.releases.kinds.tables.attacking.linked_attacks import require_same_kind
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.published_meshes import PublishedMeshes, read_published_meshes

__all__ = ["attack_meshes"]

REMEDY = Words(
    "Merge with a larger minimum, or publish the same meshes together as before.",
    "下限を大きくするか、前と同じメッシュをまとめて公表してください。",
)
KNOWN_BEFORE = Words(
    "Earlier tables tell it already, without this one.",
    "以前の表だけからわかります（この表によるものではありません）。",
)


def attack_meshes(folder: Path, document: Mapping[str, Any], earlier: Sequence[Path]) -> tuple[AttackReport, ...]:
    """Whether each published group has enough people, and whether groups of different tables isolate few.

    Args:
        folder: with ``table.csv``.
        document: what its report says.
        earlier: folders of merged meshes that were published before.

    Raises:
        InputError: if a folder is not what it should be.
    """
    meshes = read_published_meshes(folder, document)
    try:
        minimum = whole_number(document["settings"]["minimum"])
    except (LookupError, TypeError, ValueError):
        raise InputError("The report does not state its minimum.", "報告書に下限の記載がありません。") from None
    verdicts = []
    for code, (members, people) in meshes.groups().items():
        outcome = AttackOutcome.BROKEN if 0 < people < minimum else AttackOutcome.HELD
        sentence = Words(
            f"Its attributes stand for {people:,} people in {len(members)} mesh(es).",
            f"この属性は {len(members)} メッシュ、{people:,} 人についてのものです。",
        )
        verdicts.append(Verdict("merging", str(code), outcome, float(people), sentence, REMEDY))
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
    summary = Words(
        f"The attributes of {broken:,} of {len(verdicts):,} meshes stand for fewer than {minimum} people.",
        f"{len(verdicts):,} メッシュのうち {broken:,} メッシュの属性が {minimum} 人未満についてのものです。",
    )
    reports = [AttackReport.of("merging", summary, verdicts)]
    if earlier:
        before = [cell for place in earlier for cell in _earlier_cells(Path(place), document)]
        try:
            found = attack_by_differences([*_cells("this", meshes), *before], threshold=minimum).report()
            alone = attack_by_differences(before, threshold=minimum).report()
        except SudareError as error:
            reason = words_of_error(error)
            raise InputError(
                f"The earlier meshes cannot be compared with these: {reason.english}",
                f"前のメッシュと比べられません: {reason.japanese}",
            ) from None
        reports.append(_without_what_was_known(found, alone))
    return tuple(reports)


def _cells(name: str, meshes: PublishedMeshes) -> list[PublishedCell]:
    return [
        PublishedCell(f"{name}: {code}", frozenset(members), people)
        for code, (members, people) in meshes.groups().items()
    ]


def _earlier_cells(place: Path, document: Mapping[str, Any]) -> list[PublishedCell]:
    before = read_report(place)
    require_same_kind(document, before, place)
    return _cells(place.name, read_published_meshes(place, before))


def _without_what_was_known(found: AttackReport, alone: AttackReport) -> AttackReport:
    """What earlier tables tell without this one is not this one's doing."""
    known = {verdict.target for verdict in alone.with_outcome(AttackOutcome.BROKEN)}
    verdicts = [
        replace(one, outcome=AttackOutcome.UNDECIDED, sentence=KNOWN_BEFORE)
        if one.outcome is AttackOutcome.BROKEN and one.target in known
        else one
        for one in found.verdicts
    ]
    if not any(one.sentence is KNOWN_BEFORE for one in verdicts):
        return found
    broken = sum(one.outcome is AttackOutcome.BROKEN for one in verdicts)
    summary = Words(
        f"{broken:,} combination(s) with these meshes isolate few people; earlier tables alone leave others.",
        f"このメッシュとの組合せ {broken:,} 通りが少人数の集団を切り出します。以前の表だけによるものがほかにあります。",
    )
    return AttackReport.of(found.attack, summary, verdicts)
