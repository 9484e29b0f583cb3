"""Cheap attacks on a table of people, run before it is shown to anybody.

- models: does every class keep what the plan promises, counted from the written file alone?
- uniqueness: who is alone with the quasi-identifiers, and with how few of them?
- linkage: who among the people is found in the file, surely and rightly?
- attributes: which classes give a sensitive value away, because all of a class share it?
- earlier: does the promise still hold for a reader who also has records that were published before?

What counts as **broken**, and is refused: a promise that the file does not keep; and that more than MAX_FOUND of its records are
found surely and rightly by anyone who knows the quasi-identifiers, who is then more often right than wrong. Only k-map and
presence allow that: they promise something about a population around the records. (With k-anonymity nobody is found surely.) What
a method never promised to prevent is reported with its number and left to the holder (undecided): k-anonymity without l-diversity
leaves classes whose people share a value, and swapping leaves some records that are alone.

Tables with a budget are not attacked here, and never refused: what an attack finds there is bounded beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.microdata.grouping import group, histogram
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models.model import per_class
from sudare.microdata.models.registry import needs_population
from sudare.microdata.records import Records
from sudare.microdata.search.anonymizing import satisfies
from sudare.releases.kinds.records.attacking import attack_words as words
from sudare.releases.kinds.records.attacking.earlier_records import attack_with_earlier
from sudare.releases.kinds.records.attacking.linking import LinkageResult, comparable, link_exactly, link_nearest
from sudare.releases.kinds.records.attacking.published_records import PublishedRecords, read_published_records
from sudare.releases.kinds.records.document_parts import AttackRecord, VerdictRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["attack_folder", "record_of_attacks", "require_unbroken"]

MAX_SUBSET = 3
MAX_WORK = 20_000_000
"""Rows times subsets of quasi-identifiers that are grouped at most."""
NOT_SHOWN = Words(
    "It compares with more than the file, which alone cannot show it.",
    "ファイル以外との比較を要するため、ファイルだけからは確かめられません。",
)
NOT_NEAREST = Words(
    "The file is too large to look for the nearest record of anybody: only exact matches were looked for.",
    "ファイルが大きいため、最も近いレコードは探さず、完全に一致するレコードだけを探しました。",
)
MAKE_ANEW = Words(
    "Ask whoever holds the records to make the file anew from its plan: that checks it.",
    "元データの保有者が計画から作り直せば確かめられます。",
)


def attack_folder(
    folder: Path,
    document: Mapping[str, Any],
    *,
    original: Records | None = None,
    whose: Integers | None = None,
    hierarchies: Mapping[str, Generalization] | None = None,
    outside: Records | None = None,
    earlier: Sequence[Path] = (),
) -> tuple[AttackReport, ...]:
    """Attack the published file of a folder.

    Args:
        folder: of records of people.
        document: what its ``release.json`` says, or will say.
        original: the records as they were, for their holder.
        whose: for each published record, the row of its person in ``original``.
        hierarchies: that made quasi-identifiers coarser; without them these columns cannot be compared with ``original``. Only
            the run that makes the file has them, and it has checked while searching what the file alone cannot show.
        outside: other people's file, with columns of the same names; whether a link with it is right nobody knows.
        earlier: folders of records of the same people that were published before, and can be compared.

    Returns:
        A report of each attack; none for a table with a budget.

    Raises:
        InputError: if the folder has not what its report says.
    """
    if "event" in document:
        return ()
    table = read_published_records(folder, document)
    promises = _check_promises(table, is_being_made=hierarchies is not None)
    reports = [] if promises is None else [promises]
    if table.quasi and table.people:
        sizes = group([table.records.column(name) for name in table.quasi], table.counts).sizes
        reports += [_find_alone(table, sizes), _link(table, sizes, original, whose, hierarchies)]
        if outside is not None:
            reports.append(_link_outside(table, outside, hierarchies))
        if table.sensitive:
            reports.append(_find_homogeneous(table))
    elif table.people:
        verdict = words.verdict("linkage", table.name, AttackOutcome.UNDECIDED, 0, words.NO_QUASI, words.NAME_QUASI)
        reports.append(AttackReport.of("linkage", words.NO_QUASI, [verdict]))
    if earlier:
        reports.append(attack_with_earlier(table, earlier, hierarchies))
    return tuple(reports)


def require_unbroken(reports: Sequence[AttackReport]) -> None:
    """Refuse a table that an attack broke.

    Raises:
        InputError: says which attack, on how many, and what would stop it; no value.
    """
    for report in reports:
        for verdict in report.with_outcome(AttackOutcome.BROKEN):
            raise InputError(
                f"Nothing was published, because an attack on the result succeeded ({report.attack}): "
                f"{verdict.target}: {verdict.sentence.english} {verdict.remedy.english} "
                "To publish it all the same, say --even-if-broken.",
                f"結果への攻撃（{words.ATTACKS[report.attack].japanese}）が成功したため、何も公開しませんでした。"
                f"{verdict.target}: {verdict.sentence.japanese}{verdict.remedy.japanese}"
                f"それでも公開する場合は --even-if-broken を指定してください。",
            )


def record_of_attacks(reports: Sequence[AttackReport]) -> tuple[AttackRecord, ...]:
    """The attacks, for a report."""
    return tuple(
        AttackRecord(
            attack=report.attack,
            outcome=report.outcome.value,
            summary=report.summary,
            verdicts=tuple(
                VerdictRecord(
                    target=verdict.target,
                    outcome=verdict.outcome.value,
                    number=verdict.number,
                    sentence=verdict.sentence,
                    remedy=verdict.remedy,
                )
                for verdict in report.verdicts
            ),
        )
        for report in reports
    )


def _check_promises(table: PublishedRecords, *, is_being_made: bool) -> AttackReport | None:
    """Count what the file holds against what is promised; None if nothing is."""
    verdicts = []
    for name, model in table.models:
        if model is None and is_being_made:
            verdicts.append(words.verdict("models", name, AttackOutcome.HELD, 0, words.SEARCHED, words.MODEL_REMEDY))
        elif model is None:
            verdicts.append(words.verdict("models", name, AttackOutcome.UNDECIDED, 0, NOT_SHOWN, MAKE_ANEW))
        elif satisfies(table.records, table.quasi, [model], counts=table.counts):
            verdicts.append(words.verdict("models", name, AttackOutcome.HELD, 0, words.KEPT, words.MODEL_REMEDY))
        else:
            verdicts.append(words.verdict("models", name, AttackOutcome.BROKEN, 1, words.NOT_KEPT, words.MODEL_REMEDY))
    for step, settings in table.steps:
        verdicts += step.check_promise(table, settings)
    if not verdicts:
        return None
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
    return AttackReport.of("models", words.models_summary(broken, len(verdicts)), verdicts)


def _find_alone(table: PublishedRecords, sizes: Integers) -> AttackReport:
    """Who is alone with all quasi-identifiers, and with one, two or three of them."""
    alone = int(np.count_nonzero(sizes == 1))
    with_few = _alone_with_few(table) if alone else {}
    sentence = words.alone(alone, table.people, with_few)
    outcome = AttackOutcome.UNDECIDED if alone else AttackOutcome.HELD
    verdict = words.verdict("uniqueness", table.name, outcome, alone, sentence, words.COARSER)
    return AttackReport.of("uniqueness", sentence, [verdict])


def _alone_with_few(table: PublishedRecords) -> dict[int, int]:
    """How many records are alone with some one, two, or three quasi-identifiers."""
    columns = [table.records.column(name) for name in table.quasi]
    is_alone = np.zeros(table.records.rows, dtype=np.bool_)
    found: dict[int, int] = {}
    work = 0
    for size in range(1, min(MAX_SUBSET, len(columns) - 1) + 1):
        work += table.records.rows * comb(len(columns), size)
        if work > MAX_WORK:
            break
        for chosen in combinations(columns, size):
            classes = group(chosen, table.counts)
            is_alone |= classes.sizes[classes.of_row] == 1
        found[size] = int(np.count_nonzero(is_alone))
    return found


def _link(
    table: PublishedRecords,
    sizes: Integers,
    original: Records | None,
    whose: Integers | None,
    hierarchies: Mapping[str, Generalization] | None,
) -> AttackReport:
    """Look for the people of the records as they were."""
    smallest = int(sizes.min())
    if smallest >= 2:
        sentence = words.in_classes(smallest, sizes.size / table.people)
        verdict = words.verdict("linkage", table.name, AttackOutcome.HELD, smallest, sentence, words.COARSER)
        return AttackReport.of("linkage", sentence, [verdict])
    if table.counts is not None:
        # Classes are published whole or not at all: anyone who is alone here was alone there.
        alone = int(np.count_nonzero(sizes == 1))
        found = LinkageResult(table.people, alone, alone)
        return AttackReport.of("linkage", words.exactly(found), [_verdict_of_links(table, found, words.exactly(found))])
    known = [] if original is None else comparable(table.quasi, original, table.levels, hierarchies)
    if original is None or not known:
        verdict = words.verdict("linkage", table.name, AttackOutcome.UNDECIDED, 0, words.NO_ORIGINAL, words.COARSER)
        return AttackReport.of("linkage", words.NO_ORIGINAL, [verdict])
    published = [table.records.column(column.name) for column in known]
    truth = whose if whose is not None else _same_rows(table, original)
    is_unchanged = all(step.keeps_values for step, _ in table.steps)
    found = link_exactly(known, published, whose=truth, is_unchanged=is_unchanged)
    verdicts = [_verdict_of_links(table, found, words.exactly(found))]
    if truth is not None and any(table.changed(column.name) for column in known):
        near = link_nearest(known, published, whose=truth)
        if near is not None:
            verdicts.append(_verdict_of_links(table, near, words.nearest(near)))
        else:
            verdicts.append(
                words.verdict("linkage", table.name, AttackOutcome.UNDECIDED, 0, NOT_NEAREST, words.COARSER)
            )
    worst = AttackReport.of("linkage", words.exactly(found), verdicts).verdicts[0]
    return AttackReport.of("linkage", worst.sentence, verdicts)


def _same_rows(table: PublishedRecords, original: Records) -> Integers | None:
    """Whose record each is, where every record is still there in its order."""
    keeps_rows = all(step.keeps_rows for step, _ in table.steps)
    return np.arange(original.rows) if keeps_rows and original.rows == table.records.rows else None


def _verdict_of_links(table: PublishedRecords, found: LinkageResult, sentence: Words) -> Verdict:
    outcome = AttackOutcome.HELD if not found.sure or found.right == 0 else AttackOutcome.UNDECIDED
    if found.is_broken and not any(needs_population(name) for name, _ in table.models):
        outcome = AttackOutcome.BROKEN
    number = found.sure if found.right is None else found.right
    return words.verdict("linkage", table.name, outcome, number, sentence, words.COARSER)


def _link_outside(
    table: PublishedRecords, outside: Records, hierarchies: Mapping[str, Generalization] | None
) -> AttackReport:
    known = comparable(table.quasi, outside, table.levels, hierarchies) if table.counts is None else []
    if not known:
        verdict = words.verdict(
            "outside", table.name, AttackOutcome.UNDECIDED, 0, words.NOTHING_SHARED, words.NAME_QUASI
        )
        return AttackReport.of("outside", words.NOTHING_SHARED, [verdict])
    found = link_exactly(known, [table.records.column(column.name) for column in known])
    sentence = words.matched(found)
    outcome = AttackOutcome.UNDECIDED if found.sure else AttackOutcome.HELD
    return AttackReport.of(
        "outside", sentence, [words.verdict("outside", table.name, outcome, found.sure, sentence, words.COARSER)]
    )


def _find_homogeneous(table: PublishedRecords) -> AttackReport:
    """Classes in which everybody has the same sensitive value."""
    classes = group([table.records.column(name) for name in table.quasi], table.counts)
    verdicts, told = [], 0
    for name in table.sensitive:
        if table.uniform is not None:
            people = table.uniform[name]
        else:
            counted = histogram(classes, table.records.column(name))
            most = per_class(np.maximum, counted.counts, counted.edges)
            people = int(classes.sizes[most == classes.sizes].sum())
        told += people
        is_changed = people > 0 and table.changed(name)
        sentence = words.changed(people, name) if is_changed else words.homogeneous(people, table.people, name)
        outcome = AttackOutcome.UNDECIDED if people else AttackOutcome.HELD
        verdicts.append(words.verdict("attributes", name, outcome, people, sentence, words.DIVERSE))
    return AttackReport.of("attributes", words.attributes_summary(told, len(table.sensitive)), verdicts)
