"""``release.json``: what was done to a table of people, what that protects, and what can be checked.

A report of a method without a guarantee has figures that were computed from the records as they were: it is for their holder. A
report of a method with a budget has nothing but the plan, the cost and what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.microdata.grouping import group
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.search.anonymizing import Search, satisfies, star_alike
from sudare.microdata.utility import average_class_size, discernibility_of_classes, measure_utility
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Charge
from sudare.releases.documents import (
    InputHash,
    describe_head,
    describe_promise,
)
from sudare.releases.kinds.records.document_parts import (
    ColumnRecord,
    InputFile,
    KeptRows,
    ModelRecord,
    PrivateRecordsDocument,
    ProtectedRecordsDocument,
    PublishedRows,
    RecordsWork,
    SearchRecord,
    StepChange,
    StepRecord,
    UtilityFigure,
)
from sudare.releases.kinds.records.measuring import Risks, class_sizes, measure_risks, shares_by_size
from sudare.releases.kinds.records.steps.step import Done, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = [
    "FOR_THE_HOLDER",
    "REPORT_FORMAT",
    "describe_work",
    "private_document",
    "protected_document",
    "record_of_models",
    "record_of_search",
]

REPORT_FORMAT = "sudare-people/1"
OF_RECORDS = "HMAC-SHA256 of the reservation's hash and the records, with a key that stays in the ledger."
MAX_VALUES = 24
PACKAGES = ("numpy", "numba", "pyarrow")
FOR_THE_HOLDER = Words(
    "Figures in this report were computed from the records as they were. Keep it where the records are kept, and "
    "give away the "
    "file of people alone.",
    "この報告書の数値には、元のレコードから計算したものが含まれます。元のレコードと同じ管理のもとに置き、people "
    "のファイルだけを渡してください。",
)


def protected_document(
    plan: PeoplePlan,
    before: Records,
    population: Records | None,
    done: Sequence[Done],
    reread: Records,
    files: Sequence[Path],
    input_hash: str,
) -> ProtectedRecordsDocument:
    """The report of steps without a budget.

    Args:
        plan: what was asked for.
        before: the records without the columns that are left out.
        population: everybody, if there is such a table.
        done: the steps.
        reread: what was written, read again.
        files: that were written.
        input_hash: of the file of records.
    """
    last = done[-1]
    quasi = [name for name in plan.quasi_identifiers if name in reread.names]
    risks: Mapping[str, Risks] | None = None
    classes: Mapping[str, Sequence[float]] | None = None
    if quasi and reread.rows:
        sensitive = [name for name, column in plan.columns.items() if column.role == "sensitive"]
        # Starred records are counted as the class that they are.
        risks = {
            "before": measure_risks(before, quasi, sensitive, population=_columns(population, quasi)),
            "after": measure_risks(reread, quasi, sensitive, population=_generalized(before, population, quasi, last)),
        }
        classes = {
            "before": shares_by_size(class_sizes(before, quasi).sizes),
            "after": shares_by_size(class_sizes(reread, quasi).sizes),
        }
    return ProtectedRecordsDocument(
        head=describe_head(REPORT_FORMAT, plan.header, files, PACKAGES),
        work=describe_work(plan, done, reread.names, reread.rows, levels=_levels(last)),
        confidential=True,
        note=FOR_THE_HOLDER,
        input=InputFile(name=plan.source.name, sha256=input_hash),
        models=record_of_models(plan, reread, quasi),
        search=None if last.anonymized is None else record_of_search(last.anonymized.search),
        kept=KeptRows(
            before=before.rows,
            published=reread.rows,
            suppressed=None if last.anonymized is None else last.anonymized.suppressed,
        ),
        risks=risks,
        classes=classes,
        utility=None if risks is None else _utility(before, reread, quasi, last),
    )


def private_document(
    plan: PeoplePlan,
    done: Done,
    event: ReleaseEvent,
    charge: Charge,
    reread: Records,
    files: Sequence[Path],
    keyed_hash: str,
) -> PrivateRecordsDocument:
    """The report of a method with a budget: nothing but the plan, the cost and what was published."""
    groups = None
    k = next((k for measured in event.measurements if isinstance(k := measured.to_dict().get("k"), int)), None)
    if k is not None:
        sizes = group([reread.column(name) for name in reread.names]).sizes
        groups = {"k": k, "holds": bool((sizes >= k).all())}
    return PrivateRecordsDocument(
        head=describe_head(REPORT_FORMAT, plan.header, files, PACKAGES),
        event=event,
        ledger=charge,
        work=describe_work(plan, [done], reread.names, reread.rows, levels=done.levels),
        confidential=False,
        promise=describe_promise(event),
        input=InputHash(keyed_hash=keyed_hash, note=OF_RECORDS),
        groups=groups,
        tables=tuple(tuple(names) for names in done.tables),
        values={name: _counts(reread.column(name), plan) for name in reread.names},
    )


def describe_work(
    plan: PeoplePlan, done: Sequence[Done], names: Sequence[str], rows: int, levels: Mapping[str, int]
) -> RecordsWork:
    """What was done, for every document of records.

    Args:
        plan: what was asked for.
        done: the steps.
        names: of the published columns.
        rows: that are published.
        levels: how coarse columns are.
    """
    return RecordsWork(
        steps=tuple(_step(each, step) for each, step in zip(done, plan.steps, strict=True)),
        columns=tuple(_column(plan, name, names, levels, done[-1]) for name in plan.columns),
        published=PublishedRows(rows=rows, columns=tuple(names)),
    )


def _step(done: Done, step: Step) -> StepRecord:
    outcome, change = done.outcome, None
    if outcome is not None:
        change = StepChange(
            touched=float(outcome.touched),
            changed=float(outcome.changed),
            local_epsilon=None if outcome.local_epsilon is None else str(outcome.local_epsilon),
            local_rho=None if outcome.local_rho is None else str(outcome.local_rho),
        )
    return StepRecord(
        method=done.method,
        name=done.name,
        settings=step.settings(),
        protects=done.protects,
        keeps=done.keeps,
        change=change,
    )


def _column(
    plan: PeoplePlan, name: str, published: Sequence[str], levels: Mapping[str, int], last: Done
) -> ColumnRecord:
    column = plan.columns[name]
    hierarchy = (last.hierarchies or {}).get(name)
    height = None if hierarchy is None else hierarchy.height
    if plan.charging is not None:
        # As the plan alone has it: how long masked texts are is a fact of the data.
        height = None if column.rule is None else column.rule.height
    return ColumnRecord(
        name=name,
        role=column.role,
        published=name in published,
        hierarchy=None if column.rule is None else column.rule.told,
        kind=None if column.rule is None else column.rule.kind,
        sha256=(column.rule.digest or None) if column.rule is not None else None,
        level=levels.get(name),
        height=height,
    )


def _levels(last: Done) -> Mapping[str, int]:
    search = None if last.anonymized is None else last.anonymized.search
    return {} if search is None else search.levels


def record_of_models(
    plan: PeoplePlan, reread: Records, quasi: Sequence[str], counts: NDArray[np.int64] | None = None
) -> tuple[ModelRecord, ...]:
    """The models, checked once more from what was written alone.

    Args:
        plan: what was asked for.
        reread: what was written.
        quasi: the quasi-identifiers.
        counts: how many people each row stands for; 1 if left out.
    """
    found = []
    for model in plan.steps[-1].promised_models:
        holds = None if model.needs_population else satisfies(reread, quasi, [model], counts=counts)
        english, japanese = model.describe("en"), model.describe("ja")
        found.append(ModelRecord(english=english, japanese=japanese, holds=holds, model=model.to_record()))
    return tuple(found)


def record_of_search(search: Search | None) -> SearchRecord | None:
    """What a search found; None for local recoding."""
    if search is None:
        return None
    return SearchRecord(
        levels=search.levels,
        loss=search.loss,
        gap=search.gap,
        is_optimal=search.is_optimal,
        checked=search.checked,
        choices=search.choices,
    )


def _utility(before: Records, after: Records, quasi: Sequence[str], last: Done) -> dict[str, UtilityFigure]:
    """What was lost; every measure where levels were chosen, and those of classes else."""
    made = last.anonymized
    sizes = class_sizes(after, quasi).sizes
    if made is None or made.search is None or last.hierarchies is None or before.rows != made.kept.size:
        return {
            "average_class_size": average_class_size(sizes),
            "discernibility_of_classes": discernibility_of_classes(sizes),
        }
    transformation = [(last.hierarchies[name], level) for name, level in made.search.levels.items()]
    classes = group(
        [hierarchy.generalized(before.column(hierarchy.name), level) for hierarchy, level in transformation]
    )
    values = asdict(measure_utility(before, transformation, classes, ~made.kept))
    return {name: value for name, value in values.items() if name != "suppressed"}


def _columns(records: Records | None, names: Sequence[str]) -> list[CodedColumn] | None:
    return None if records is None else [records.column(name) for name in names]


def _generalized(
    before: Records, population: Records | None, names: Sequence[str], last: Done
) -> list[CodedColumn] | None:
    """Everybody on the levels that were chosen; None where there are none, as in local recoding."""
    levels, made = _levels(last), last.anonymized
    if population is None or not levels or last.hierarchies is None:
        return None
    if made is not None and last.has_stars:
        chosen = {name: last.hierarchies[name] for name in names}
        return _columns(star_alike(before, population, chosen, [levels[name] for name in names], made.kept), names)
    return [last.hierarchies[name].generalized(population.column(name), levels[name]) for name in names]


def _counts(column: CodedColumn, plan: PeoplePlan) -> list[list[Any]]:
    """How many published rows have each value, or lie in each bin; the most frequent ones where there are many."""
    bins = plan.columns[column.name].bins
    counts = np.bincount(column.codes, minlength=len(column.labels)).tolist() if column.rows else []
    found: dict[str | None, int] = {}
    for label, count in zip(column.labels, counts, strict=True):
        shown = label
        if bins is not None and label is not None:
            place = int(np.searchsorted(bins.edges, float(label), side="right")) - 1
            shown = f"{bins.edges[place]:g} – {bins.edges[place + 1]:g}"
        found[shown] = found.get(shown, 0) + count
    if bins is None:
        ordered = sorted(found.items(), key=lambda item: (-item[1], str(item[0])))
    else:
        ordered = sorted(found.items(), key=lambda item: (item[0] is None, float((item[0] or "0").split(" ")[0])))
    return [[label, count] for label, count in ordered[:MAX_VALUES]]
