"""A table with differential privacy as an attacker reads it, and how well anybody's presence can be told from it.

The noise of a release is public, and part of its document. What an attack finds here is bounded beforehand by epsilon; the
attacks show where in practice the bound is, and would show noise that is smaller than the document says.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.records.membership import Rate, membership_in_tables
from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.distributions import proportion_limits
from sudare.domain import Bins, CountTable, Domain
from sudare.domain.sparse_table import SparseTable
from sudare.errors import InputError
from sudare.examination.findings import NotApplied, Remark
from sudare.examination.presence import judge_draws, judge_membership
from sudare.examination.subjects import Subject
from sudare.examination.views import IncompatibleTables, TableView, ViewCell
from sudare.io import Source, describe_source, read_counts
from sudare.privacy import Budget, ReleaseEvent, best_power
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.releases.data.domains import domain_of_description
from sudare.releases.kinds.counts.verification import read_published_table
from sudare.releases.page_numbers import percent_rounded_up
from sudare.storage.staging import DOCUMENT
from sudare.tables.registry import find_mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["infer_membership", "law_of_release", "remarks_on", "view_of_release"]

MAX_CELLS = 20_000
MAX_CELLS_OF_MEMBERSHIP = 1 << 20
MAX_TRIED = 2_000
ERROR = 0.01
"""How likely it may be that the noise of some cell is larger than the margin that the attacker counts with."""

FALSE_ALARM = 0.05
MAX_WIDTH = 1e5


@dataclass(frozen=True)
class _Noise:
    """The noise of a published cell.

    Attributes:
        law: of the noise; of the same deviation where the true one has no simple form.
        is_exact: whether it is the law that was drawn from, cell by cell.
        threshold: noisy counts below it are published as 0; None if there is none.
    """

    law: NoiseLaw
    is_exact: bool
    threshold: int | None = None


def view_of_release(subject: Subject) -> TableView:
    """The published table of a release, with the margin of its noise.

    Raises:
        IncompatibleTables: if it has too many cells to look at each, or so much noise that there is nothing to look for.
    """
    document = subject.document
    cells = _cells(subject)
    if cells > MAX_CELLS:
        raise IncompatibleTables(
            Words(
                f"'{subject.name}' has {cells:,} cells, more than the {MAX_CELLS:,} that are looked at one by one.",
                f"「{subject.name}」のセル数 {cells:,} は、一つずつ調べられる {MAX_CELLS:,} を超えています。",
            ),
            is_open=True,
        )
    noise = _noise_of(subject)
    table = read_published_table(subject.folder, dict(document))
    margin = noise.law.margin(ERROR / cells)
    columns, edges = _labels(table.domain)
    found = []
    for place, count in enumerate(table.to_dense().ravel().tolist()):
        labels = {name: column[place] for name, column in columns.items()}
        where = {name: frozenset({label}) for name, label in labels.items()}
        label = ", ".join(map(" ".join, labels.items()))
        if count or noise.threshold is None:
            # A noisy count may be below 0; a true one is not.
            found.append(ViewCell(where, max(0, count - margin), max(0, count + margin), count, label))
        else:  # its noisy count was somewhere below the threshold
            found.append(ViewCell(where, 0, noise.threshold - 1 + margin, None, label))
    if "total" in _event(subject).invariants:
        found.append(ViewCell({}, table.total, table.total, None, "total"))
    leaves = {name: tuple(dict.fromkeys(column)) for name, column in columns.items()}
    return TableView(subject.name, leaves, tuple(found), edges, noise.law)


def law_of_release(subject: Subject) -> NoiseLaw:
    """The law of the noise of a count.

    Raises:
        IncompatibleTables: if it is not known, or so wide that there is nothing to look for.
    """
    return _noise_of(subject).law


def remarks_on(subject: Subject) -> list[Remark]:
    """What the budget of a release bounds beforehand, and what it does not protect."""
    if "event" not in subject.document:
        return []
    event = _event(subject)
    power = float(best_power(event.cost, FALSE_ALARM))
    remarks = [
        Words(
            f"Whatever attack is tried, {event.cost} bounds it: a test of one {event.unit.who}'s presence with {FALSE_ALARM:.0%} "
            f"false alarms is right in at most {percent_rounded_up(power)} of the cases.",
            f"どのような攻撃も {event.cost} によって抑えられます。誤検出率 {FALSE_ALARM:.0%} で一人({event.unit.who})の有無を"
            f"当てられる割合は、最大でも {percent_rounded_up(power)} です。",
        )
    ]
    if event.invariants:
        listed = ", ".join(event.invariants)
        remarks.append(
            Words(
                f"Published exactly, and not protected: {listed}.",
                f"厳密に公表され、保護されない量: {listed}。",
            )
        )
    return remarks


def infer_membership(
    subject: Subject, data: Path | None, population: Path | None, *, by_chance: bool = False
) -> AttackReport | NotApplied:
    """How well somebody's presence can be told from a release, against what its budget allows.

    With other people of the same population, people in the data are told from them. Without, somebody is assumed who knows
    everybody else in the data, and asks of one count after the other whether there is one more: the strongest test there is,
    of tables that have noise on each cell.

    Args:
        subject: a release.
        data: the people in it, for their holder.
        population: other people, who are not in it.
        by_chance: whether a fair coin decided for each person of both whether it is in the data.
    """
    attack = "membership"
    if data is None:
        return NotApplied(
            attack, Words("Needs the data: give it with --data.", "元データが必要です。--data で指定してください。")
        )
    document, event = subject.document, _event(subject)
    cells = _cells(subject)
    if cells > MAX_CELLS_OF_MEMBERSHIP:
        return NotApplied(
            attack,
            Words(
                f"The table has {cells:,} cells, more than the {MAX_CELLS_OF_MEMBERSHIP:,} that are looked at.",
                f"セル数 {cells:,} が上限 {MAX_CELLS_OF_MEMBERSHIP:,} を超えています。",
            ),
            is_open=True,
        )
    try:
        noise = _noise_of(subject)
    except IncompatibleTables as reason:
        return NotApplied(attack, reason.words, reason.is_open)
    published = read_published_table(subject.folder, dict(document))
    truth = _read_people(data, published.domain, document)
    if population is not None:
        others = _read_people(population, published.domain, document)
        return _told_from_others(published, truth, others, noise.law, event.cost, by_chance)
    if not noise.is_exact:
        return NotApplied(
            attack,
            Words(
                "Needs other people of the same population: give them with --population.",
                "同じ母集団の、データに含まれない人々が必要です。--population で指定してください。",
            ),
        )
    return _by_knowing_everybody_else(published, truth, event.cost)


def _told_from_others(
    published: SparseTable,
    truth: CountTable,
    others: CountTable,
    law: NoiseLaw,
    budget: Budget,
    by_chance: bool,
) -> AttackReport | NotApplied:
    # Members are halved as outsiders are, who are needed for two purposes: else chance would not have put as many in as out.
    share = min(1.0, 2 * MAX_TRIED / max(1, truth.total, others.total))
    people, _ = _some_people(truth, share, 0)
    strangers, reference = _some_people(others, share, 1)
    if people.size < 1 or strangers.size < 2 or reference.size < 2:
        return NotApplied(
            "membership",
            Words(
                "There are too few people in the files to try it on.",
                "試すのに十分な人数がファイルに含まれていません。",
            ),
        )
    test = membership_in_tables(
        published.to_dense().ravel(),
        max(1, published.total),
        members=people.reshape(-1, 1),
        outsiders=strangers.reshape(-1, 1),
        reference=reference.reshape(-1, 1),
        law=law,
        random_inclusion=by_chance,
    )
    how = Words(
        "By how much the person's count exceeds what others lead one to expect:",
        "本人のセルの度数が他の人々からの予想を上回る度合いで判定します。",
    )
    return judge_membership(test, budget, how)


def _by_knowing_everybody_else(published: SparseTable, truth: CountTable, budget: Budget) -> AttackReport | NotApplied:
    """Somebody who knows all others but one of a cell asks whether the published count reaches the next number.

    Each cell has noise of its own, so that many cells are many trials of one mechanism.
    """
    noisy, true = published.to_dense().ravel(), truth.to_dense().ravel()
    occupied = true > 0
    trials = int(occupied.sum())
    if not trials:
        return NotApplied("membership", Words("The data counts nobody.", "データに数えられる人がいません。"))
    # Noise of at least 0 finds a member; a member who is not there would be found with noise of at least 1.
    found = _rate(int((noisy[occupied] >= true[occupied]).sum()), trials)
    alarms = _rate(int((noisy[occupied] > true[occupied]).sum()), trials)
    how = Words(
        "Somebody who knows everybody else asks whether a count is one higher:",
        "他の全員を知っている者が、度数が一人多いかどうかで判定します。",
    )
    return judge_draws(found, alarms, budget, how)


def _rate(hits: int, trials: int) -> Rate:
    low, high = proportion_limits(hits, trials, ERROR / 4)
    return Rate(hits / trials, float(low), float(high))


def _some_people(table: CountTable, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of some people, in two halves; each person is in each half by the same chance."""
    draws = np.random.default_rng(seed)
    taken = draws.binomial(table.counts, share)
    first = draws.binomial(taken, 0.5)
    keys = table.keys.astype(np.int64)
    return np.repeat(keys, first), np.repeat(keys, taken - first)


def _read_people(path: Path, domain: Domain, document: Any) -> CountTable:
    """Count a file whose columns have the names of the table's attributes: people, or counts if it has the table's column."""
    count = str(document["published"]["count"])
    if not path.is_file():
        raise InputError(f"There is no file '{path}'.", f"ファイル「{path}」がありません。")
    source = Source((str(path),))
    names = {attribute.name for attribute in domain.attributes}
    if count in describe_source(source).columns and count not in names:
        source = Source((str(path),), rows="counts", count=count)
    return read_counts(source, domain)


def _cells(subject: Subject) -> int:
    """Counted from the domain: what a document says of their number may be anything."""
    return domain_of_description(subject.document["domain"], DOCUMENT).cells


def _event(subject: Subject) -> ReleaseEvent:
    return ReleaseEvent.from_json(json.dumps(subject.document["event"]))


def _noise_of(subject: Subject) -> _Noise:
    event = _event(subject)
    drawn = [each for each in event.measurements if isinstance(each, (LaplaceMeasurement, GaussianMeasurement))]
    mechanism = find_mechanism(event.mechanism)
    if mechanism is not None and mechanism.is_flat and len(event.measurements) == len(drawn) == 1:
        settings = (subject.document.get("method") or {}).get("settings", {})
        threshold = settings.get("threshold")
        is_refined = settings.get("refine") is not None
        return _Noise(_law(drawn[0], None, subject), threshold in (None, 1) and not is_refined, threshold)
    if not drawn:
        raise IncompatibleTables(
            Words(f"The noise of '{event.mechanism}' is not known.", f"「{event.mechanism}」のノイズの法則が不明です。")
        )
    # What is measured need not be cells: Privelet's noise on a cell is much less than that on its coefficients.
    stated = [(subject.document.get(part) or {}).get("errors") or [] for part in ("plan", "accuracy")]
    of_cells = [
        float(error["rmse"])
        for errors in stated
        for error in errors
        if error.get("kind", "area") == "cell" or (error.get("kind", "area") == "area" and error["side"] == 1)
    ]
    return _Noise(_law(drawn[-1], of_cells[0] if of_cells else None, subject), False)


def _law(measurement: Measurement, deviation: float | None, subject: Subject) -> NoiseLaw:
    """The law of a measurement, or one of its shape with another deviation."""
    is_laplace = isinstance(measurement, LaplaceMeasurement)
    if deviation is not None:
        width = max(1e-3, deviation / math.sqrt(2) if is_laplace else deviation)
    elif isinstance(measurement, LaplaceMeasurement):
        width = float(measurement.scale)
    else:
        width = math.sqrt(float(getattr(measurement, "sigma_squared", 1.0)))
    if width > MAX_WIDTH:
        raise IncompatibleTables(
            Words(
                f"The noise of '{subject.name}' is so wide that no count can be read.",
                f"「{subject.name}」のノイズは非常に大きく、度数は読み取れません。",
            )
        )
    return NoiseLaw.laplace(width) if is_laplace else NoiseLaw.gaussian(width)


def _labels(domain: Domain) -> tuple[dict[str, Sequence[str]], dict[str, tuple[float, ...]]]:
    """The value of each attribute in each cell, as texts; and the edges of bins."""
    keys = np.arange(domain.cells, dtype=np.uint64)
    columns: dict[str, Sequence[str]] = {
        name: [str(value) for value in values.tolist()] for name, values in domain.columns_of(keys).items()
    }
    edges = {}
    for attribute in domain.attributes:
        if isinstance(attribute, Bins):
            limits = tuple(float(edge) for edge in attribute.edges)
            edges[attribute.name] = limits
            text = {
                str(value): f"{low:g} – {high:g}"
                for value, low, high in zip(
                    np.array(attribute.edges[:-1]).tolist(), limits[:-1], limits[1:], strict=True
                )
            }
            columns[attribute.name] = [text[value] for value in columns[attribute.name]]
    return columns, edges
