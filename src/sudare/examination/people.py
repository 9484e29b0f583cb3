"""Attacks on records of people: those that are run before publishing, linkage by chosen columns, and membership."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.records.distances import KeyColumn
from sudare.attacks.records.linkage import link_records
from sudare.attacks.records.membership import membership_in_records
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.column_names import listed_columns
from sudare.errors import InputError
from sudare.examination.findings import NotApplied
from sudare.examination.presence import judge_membership
from sudare.examination.subjects import Subject
from sudare.microdata.records import CodedColumn, Records, read_people
from sudare.privacy import ReleaseEvent

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["infer_membership_in_records", "link_outside", "published_records"]

MAX_OUTSIDE = 2_000
MAX_PUBLISHED = 20_000
MAX_TRIED = 1_000
ONLY_EXACT = Words(
    "The file is large: of these people only those were looked for who agree with a record exactly.",
    "ファイルが大きいため、残りの人についてはレコードと完全に一致するかどうかだけを調べました。",
)


def published_records(subject: Subject) -> Records:
    """The published file of people."""
    return read_people(subject.folder / Path(subject.document["files"][0]["name"]).name)


def link_outside(subject: Subject, outside: Records, by: Sequence[str]) -> AttackReport:
    """Look for people of an outside file among published records, by chosen columns.

    Numbers are compared by their difference, relative to how much they vary; everything else is equal or not. Of large files
    everybody is looked for who agrees with a record exactly; the nearest record is found for some people among some records, and
    nothing is decided about the others.

    Args:
        subject: a folder of records.
        outside: the file.
        by: columns of both.
    """
    published = published_records(subject)
    _require_columns(published, by, "the published file", "公開されたファイル")
    _require_columns(outside, by, "the outside file", "外部ファイル")
    found = _link_by(outside, published, by)
    # A record with a budget may look like somebody by chance.
    worst = AttackOutcome.BROKEN if subject.kind == "people" else AttackOutcome.UNDECIDED
    verdicts = [
        replace(
            verdict, attack="outside", outcome=worst if verdict.outcome is AttackOutcome.BROKEN else verdict.outcome
        )
        for verdict in found.verdicts
    ]
    return AttackReport.of("outside", found.summary, verdicts)


def _link_by(outside: Records, published: Records, by: Sequence[str]) -> AttackReport:
    exact = _Agreement.of([(outside.column(name), published.column(name)) for name in by])
    certain = np.flatnonzero(exact.is_certain)
    targets = np.union1d(_spread(outside.rows, MAX_OUTSIDE), certain[:MAX_OUTSIDE])
    rows = _spread(published.rows, MAX_PUBLISHED)
    columns = [_key(outside.column(name).take(targets), published.column(name).take(rows)) for name in by]
    links = link_records(columns)
    names = [f"row {target + 1}" for target in targets.tolist()]
    if rows.size == published.rows and targets.size == outside.rows:
        return links.report(names)
    agree = exact.records[targets]
    links = replace(
        links,
        nearest=np.where(agree > 0, exact.first[targets], rows[links.nearest]),
        distance=np.where(agree > 0, 0.0, links.distance),
        ties=np.where(agree > 0, agree, links.ties),
        is_certain=exact.is_certain[targets],
    )
    verdicts = list(links.report(names).verdicts)
    if rows.size < published.rows:  # a record that was not compared may be nearer
        open_ones = {name for name, number in zip(names, agree.tolist(), strict=True) if not number}
        verdicts = [
            replace(one, outcome=AttackOutcome.UNDECIDED) if one.target in open_ones else one for one in verdicts
        ]
    if targets.size < outside.rows:
        remedy = verdicts[0].remedy
        verdicts.append(Verdict("outside", "everybody else", AttackOutcome.UNDECIDED, math.nan, ONLY_EXACT, remedy))
    summary = Words(
        f"{certain.size:,} of {outside.rows:,} outside people match exactly one record, and it matches nobody else.",
        f"外部の {outside.rows:,} 人のうち {certain.size:,} 人がただ一つのレコードと一意に一致します。",
    )
    return AttackReport.of("outside", summary, verdicts)


@dataclass(frozen=True, eq=False)
class _Agreement:
    """Which people of one file agree with records of another in every column.

    Attributes:
        records: for each person, how many.
        first: for each person, the first of them; 0 if there is none.
        is_certain: for each person, whether there is one alone, with which nobody else agrees.
    """

    records: NDArray[np.int64]
    first: NDArray[np.int64]
    is_certain: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Sequence[tuple[CodedColumn, CodedColumn]]) -> _Agreement:
        people = columns[0][0].rows
        kinds = np.zeros(people + columns[0][1].rows, dtype=np.int64)
        for first, second in columns:
            codes = _common_codes(first, second)
            kinds = np.unique(kinds * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
        number = int(kinds.max(initial=0)) + 1
        alike_people = np.bincount(kinds[:people], minlength=number)
        alike_records = np.bincount(kinds[people:], minlength=number)
        place = np.zeros(number, dtype=np.int64)
        place[kinds[people:][::-1]] = np.arange(kinds.size - people)[::-1]
        certain = (alike_people == 1) & (alike_records == 1)
        return cls(alike_records[kinds[:people]], place[kinds[:people]], certain[kinds[:people]])


def _common_codes(first: CodedColumn, second: CodedColumn) -> NDArray[np.int64]:
    """The values of both columns, one after the other, as numbers that are equal where they are."""
    is_number = _numbers(first) is not None and _numbers(second) is not None
    places: dict[float | str, int] = {}
    found = []
    for column in (first, second):
        values = [float(label or "nan") if is_number else label or "" for label in column.labels]
        codes = np.array([places.setdefault(value, len(places)) for value in values], dtype=np.int64)
        found.append(codes[column.codes])
    return np.concatenate(found)


def infer_membership_in_records(
    subject: Subject, data: Path | None, population: Path | None, *, by_chance: bool = False
) -> AttackReport | NotApplied:
    """How well it can be told from synthetic records whether somebody was in the data, against what the budget allows.

    Args:
        subject: a folder of records with a budget.
        data: the people in the data, for their holder.
        population: other people like them.
        by_chance: whether a fair coin decided for each person of both whether it is in the data.
    """
    if data is None or population is None:
        return NotApplied(
            "membership",
            Words(
                "Needs the data (--data) and other people of the same population (--population).",
                "元データ(--data)と、同じ母集団の他の人々(--population)が必要です。",
            ),
        )
    published = published_records(subject)
    published = published.take(_spread(published.rows, MAX_PUBLISHED))
    inside, outside = read_people(data), read_people(population)
    names = list(published.names)
    _require_columns(inside, names, "the data", "元データ")
    _require_columns(outside, names, "the file of other people", "他の人々のファイル")
    share = min(1.0, MAX_TRIED / max(1, inside.rows, outside.rows))  # the same for both, as a fair coin is
    chosen = [_by_share(people.rows, share, seed) for seed, people in enumerate((inside, outside))]
    if not published.rows or chosen[0].size < 1 or chosen[1].size < 2:
        return NotApplied(
            "membership", Words("There are too few people to try it on.", "試すのに十分な人数がありません。")
        )
    groups = [
        [_key(people.column(name).take(rows), published.column(name)) for name in names]
        for people, rows in zip((inside, outside), chosen, strict=True)
    ]
    test = membership_in_records(groups[0], groups[1], random_inclusion=by_chance)
    event = ReleaseEvent.from_json(json.dumps(subject.document["event"]))
    how = Words("By how near the nearest published record is:", "最も近い公開レコードとの距離で判定します。")
    return judge_membership(test, event.cost, how)


def _by_share(rows: int, share: float, seed: int) -> NDArray[np.int64]:
    """Some rows, each by the same chance."""
    return np.flatnonzero(np.random.default_rng(seed).random(rows) < share)


def _key(first: CodedColumn, second: CodedColumn) -> KeyColumn:
    """A column of both files: of numbers where both have nothing else, and of categories otherwise."""
    numbers = [_numbers(column) for column in (first, second)]
    if numbers[0] is None or numbers[1] is None:
        return KeyColumn(first.name, _texts(first), _texts(second))
    return KeyColumn(first.name, numbers[0], numbers[1], scale=float(numbers[1].std()) or 1.0)


def _numbers(column: CodedColumn) -> NDArray[np.float64] | None:
    try:
        values = np.array([float(label) for label in column.labels if label is not None])
    except ValueError:
        return None
    if None in column.labels or not np.isfinite(values).all():
        return None
    return values[column.codes] if values.size else values


def _texts(column: CodedColumn) -> NDArray[np.str_]:
    return np.array([label or "" for label in column.labels], dtype=np.str_)[column.codes]


def _spread(rows: int, most: int) -> NDArray[np.int64]:
    """Some rows, evenly spread over all."""
    return np.unique(np.linspace(0, max(0, rows - 1), min(rows, most)).round().astype(np.int64))


def _require_columns(records: Records, names: Sequence[str], english: str, japanese: str) -> None:
    missing = next((name for name in names if name not in records.names), None)
    if missing is not None:
        listed = listed_columns(missing, records.names, names)
        raise InputError(
            f"There is no column '{missing}' in {english}.{listed.english}",
            f"{japanese}に列「{missing}」がありません。{listed.japanese}",
        )
