"""The attack of a reader who has records from before: which records of both files belong together, and what they tell.

k-anonymity does not compose: each of two files may keep its k, and both together may not. Where a record of one file and one of
the other agree in all columns that both publish, and no other record does, they belong to one person. Anyone who looks for
somebody in the later file then leaves out every record whose earlier half lies in another class than the person. What is left are
the candidates. A promise of k is broken where fewer than k are left.

Files are compared two by two, from what is published alone. Columns whose values a method changed link nothing. Columns on other
levels are compared on the coarser one, by the hierarchies of the plan that is carried out; without them they link nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.microdata.grouping import group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn
from sudare.releases.kinds.records.attacking.linking import joint_classes
from sudare.releases.kinds.records.attacking.published_records import PublishedRecords, read_published_records
from sudare.storage.guarded_json import read_json
from sudare.storage.staging import document_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["attack_with_earlier", "find_comparable_records"]

ATTACK = "earlier"
REMEDY = Words(
    "Publish the same columns on the same levels as before, leave out columns by which the records of both files are linked, or "
    "publish a table or synthetic people with a budget.",
    "以前と同じ列を同じ水準で公開するか、両方のファイルのレコードを対応づけられる列を除くか、"
    "予算を使う表または合成データに替えてください。",
)


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """What a reader of both files gets to know about the records of one of them.

    Attributes:
        linked: records that are linked with one of the other file.
        narrowed: of these, such for which fewer candidates are left than were promised.
        fewest: candidates that are left for a record at least.
    """

    linked: int
    narrowed: int
    fewest: int


def find_comparable_records(
    table: PublishedRecords, earlier: Sequence[Path], hierarchies: Mapping[str, Generalization] | None = None
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Which folders can be attacked together with records, and which cannot.

    Args:
        table: the records that come now.
        earlier: folders of records that the ledger knows.
        hierarchies: that made quasi-identifiers coarser.
    """
    usable: list[Path] = []
    left_out: list[Path] = []
    for place in earlier:
        try:
            theirs = _read_earlier(place)
            is_usable = theirs is not None and bool(_shared_columns(table, theirs, hierarchies))
        except InputError:
            is_usable = False
        (usable if is_usable else left_out).append(place)
    return tuple(usable), tuple(left_out)


def attack_with_earlier(
    table: PublishedRecords, earlier: Sequence[Path], hierarchies: Mapping[str, Generalization] | None = None
) -> AttackReport:
    """Attack records together with each of those that were published before.

    Args:
        table: the records that come now.
        earlier: folders that can be compared; see `find_comparable_records`.
        hierarchies: that made quasi-identifiers coarser.

    Raises:
        InputError: if a folder has not what its report says.
    """
    verdicts = []
    for place in earlier:
        theirs = _read_earlier(place)
        if theirs is not None:
            verdicts.append(_attack_pair(table, theirs, place, hierarchies))
    report = AttackReport.of(ATTACK, Words("", ""), verdicts)
    summary = report.verdicts[0].sentence if report.verdicts else Words("", "")
    return AttackReport(ATTACK, summary, report.verdicts)


def _read_earlier(place: Path) -> PublishedRecords | None:
    """Records without a price, in memory; what is bounded by a budget needs no comparing."""
    try:
        document = read_json(document_in(place))
    except (OSError, ValueError):
        raise InputError(f"'{place}' has no report.", f"「{place}」に報告書がありません。") from None
    if not isinstance(document, dict) or "event" in document:
        return None
    found = read_published_records(place, document)
    return found if found.counts is None else None


def _attack_pair(
    table: PublishedRecords, theirs: PublishedRecords, place: Path, hierarchies: Mapping[str, Generalization] | None
) -> Verdict:
    mine, other = zip(*_shared_columns(table, theirs, hierarchies), strict=True)
    of_row = joint_classes(mine, other)
    keys, their_keys = of_row[: table.records.rows], of_row[table.records.rows :]
    classes, their_classes = _classes(table), _classes(theirs)
    looks = [
        (_promised(table), _narrow(keys, their_keys, classes, their_classes, _promised(table))),
        (_promised(theirs), _narrow(their_keys, keys, their_classes, classes, _promised(theirs))),
    ]
    k, worst = max(looks, key=lambda look: (look[0] is not None and look[1].narrowed > 0, look[1].narrowed))
    if not worst.narrowed:
        outcome, sentence = AttackOutcome.HELD, _held_words(worst)
    else:
        outcome, sentence = (AttackOutcome.UNDECIDED if k is None else AttackOutcome.BROKEN), _narrowed_words(worst, k)
    return Verdict(ATTACK, place.name, outcome, float(worst.narrowed), sentence, REMEDY)


def _narrow(
    keys: Integers, their_keys: Integers, classes: Integers, their_classes: Integers, k: int | None
) -> Narrowed:
    """How many candidates are left for each linked record of the first file."""
    number = int(max(keys.max(initial=-1), their_keys.max(initial=-1))) + 1
    is_sure = (np.bincount(keys, minlength=number) == 1) & (np.bincount(their_keys, minlength=number) == 1)
    linked = is_sure[keys]
    if not linked.any():
        return Narrowed(linked=0, narrowed=0, fewest=0)
    class_of_key = np.zeros(number, dtype=np.int64)
    class_of_key[their_keys] = their_classes
    pairs = np.stack([classes[linked], class_of_key[keys[linked]]], axis=1)
    _, pair_of_row, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    unlinked = np.bincount(classes[~linked], minlength=int(classes.max()) + 1)
    left = sizes[pair_of_row.reshape(-1)] + unlinked[classes[linked]]
    narrowed = int(np.count_nonzero(left < (2 if k is None else k)))
    return Narrowed(linked=int(linked.sum()), narrowed=narrowed, fewest=int(left.min()))


def _classes(table: PublishedRecords) -> Integers:
    """The class of each record; all are in one where there are no quasi-identifiers."""
    if not table.quasi:
        return np.zeros(table.records.rows, dtype=np.int64)
    return np.asarray(group([table.records.column(name) for name in table.quasi]).of_row, dtype=np.int64)


def _promised(table: PublishedRecords) -> int | None:
    """The k that a file promises, if it does."""
    promised = [model.candidates for _, model in table.models if model is not None]
    return max((k for k in promised if k is not None), default=None)


def _shared_columns(
    table: PublishedRecords, theirs: PublishedRecords, hierarchies: Mapping[str, Generalization] | None
) -> list[tuple[CodedColumn, CodedColumn]]:
    """Columns of both files that can be compared, each pair on one level."""
    if table.counts is not None:
        return []
    found = []
    for name in table.levels:
        if name not in theirs.levels or table.changed(name) or theirs.changed(name):
            continue
        mine, other = table.records.column(name), theirs.records.column(name)
        level, their_level = table.levels[name] or 0, theirs.levels[name] or 0
        hierarchy = None if hierarchies is None else hierarchies.get(name)
        if level != their_level:
            if hierarchy is None:
                continue
            coarser = max(level, their_level)
            mine = _coarsened(mine, hierarchy, level, coarser)
            other = _coarsened(other, hierarchy, their_level, coarser)
        if set(mine.labels) & set(other.labels):
            found.append((mine, other))
    return found


def _coarsened(column: CodedColumn, hierarchy: Generalization, level: int, coarser: int) -> CodedColumn:
    """A column on a coarser level; labels that are no group of its own level, such as stars, stay as they are."""
    if level == coarser or coarser > hierarchy.height:
        return column
    above = {
        hierarchy.levels[level][group]: hierarchy.levels[coarser][parent]
        for group, parent in zip(hierarchy.parents[level].tolist(), hierarchy.parents[coarser].tolist(), strict=True)
    }
    labels = [label if label is None else above.get(label, label) for label in column.labels]
    return CodedColumn.of_codes(column.name, column.codes, labels)


def _held_words(look: Narrowed) -> Words:
    if not look.linked:
        return Words(
            "No record can be linked with one of the earlier file for certain.",
            "以前のファイルのレコードと確実に対応づけられるレコードはありません。",
        )
    return Words(
        f"{look.linked:,} records can be linked with one of the earlier file, and each still looks like at least "
        f"{look.fewest - 1:,} others.",
        f"{look.linked:,} 件のレコードが以前のファイルのレコードと対応づきますが、"
        f"どのレコードにも同じに見えるレコードがほかに {look.fewest - 1:,} 件以上あります。",
    )


def _narrowed_words(look: Narrowed, k: int | None) -> Words:
    few, few_ja = ("one candidate", "1 件") if k is None else (f"fewer than k = {k} candidates", f"k = {k} 件未満")
    return Words(
        f"Whoever also has the earlier file links {look.linked:,} records of both, and is left with {few} for "
        f"{look.narrowed:,} of them.",
        f"以前のファイルも持つ人は、両方のレコード {look.linked:,} 件を対応づけ、"
        f"そのうち {look.narrowed:,} 件について候補を{few_ja}に絞り込めます。",
    )
