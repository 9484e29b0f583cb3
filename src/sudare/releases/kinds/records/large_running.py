"""Records that are larger than memory: anonymized file by file, with a report whose figures come from counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.microdata.records import Records
from sudare.microdata.search.anonymizing import sensitive_names
from sudare.microdata.search.large import AnonymizedFile, anonymize_large
from sudare.microdata.search.large_counts import LargeFile, open_large
from sudare.microdata.utility import average_class_size, discernibility_of_classes
from sudare.releases.documents import describe_head
from sudare.releases.kinds.records.document import (
    FOR_THE_HOLDER,
    PACKAGES,
    REPORT_FORMAT,
    describe_work,
    record_of_models,
    record_of_search,
)
from sudare.releases.kinds.records.document_parts import InputFile, KeptRows, ProtectedRecordsDocument
from sudare.releases.kinds.records.folders import PEOPLE
from sudare.releases.kinds.records.measuring import class_sizes, measure_risks, shares_by_size
from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of
from sudare.releases.kinds.records.sources import require_named
from sudare.releases.kinds.records.steps.anonymize import CLASSES_KEEP, CLASSES_PROTECT, Anonymize, pinned_levels
from sudare.releases.kinds.records.steps.step import Done
from sudare.storage.hashes import hash_of_file

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["anonymize_large_plan"]

MEMORY = "1GB"
"""That DuckDB may use; what does not fit goes to a temporary folder."""


def anonymize_large_plan(plan: PeoplePlan, step: Anonymize, folder: Path) -> ProtectedRecordsDocument:
    """Anonymize a file that is larger than memory into a folder, and tell what was done.

    Args:
        plan: with this step alone.
        step: what to do.
        folder: where the file goes.

    Returns:
        The report. Its figures on sensitive columns are those of columns that models name.

    Raises:
        InputError: if the data is not what the plan says.
        OutputError: if the file cannot be written.
    """
    quasi = plan.quasi_identifiers
    named = [*quasi, *sensitive_names(step.models, ())]
    file = folder / f"{PEOPLE}.{plan.format}"
    with open_large(plan.source, memory=MEMORY) as people:
        require_named(plan, people.columns)
        before = people.count(named)
        hierarchies = {name: _hierarchy(plan, people, before.records, name) for name in quasi}
        made = anonymize_large(
            people,
            file,
            hierarchies,
            step.models,
            before=before,
            others=[name for name in plan.published if name not in named],
            levels=pinned_levels(plan, hierarchies),
            suppression=step.suppression,
            metric=step.metric,
            method=step.search,
            time_limit=step.seconds,
        )
        names = [name for name in people.columns if name in plan.published]
    done = Done(step.name, "global-recoding", Records([]), CLASSES_PROTECT, CLASSES_KEEP, hierarchies=hierarchies)
    return _document(plan, made, done, names, file)


def _hierarchy(plan: PeoplePlan, people: LargeFile, different: Records, name: str) -> Any:
    rule = plan.columns[name].rule
    if rule is None:
        raise AssertionError("a quasi-identifier without a hierarchy")
    return hierarchy_of(different.column(name), rule.build, lambda value: people.first_row(name, value))


def _document(
    plan: PeoplePlan, made: AnonymizedFile, done: Done, names: list[str], file: Path
) -> ProtectedRecordsDocument:
    """The same report as of records in memory, but for what needs them: journalists, and measures of single values."""
    quasi = plan.quasi_identifiers
    sensitive = sensitive_names(made.models, ())
    before, after = made.before, made.after
    both = {"before": before, "after": after}
    sizes = {name: class_sizes(part.records, quasi, part.counts).sizes for name, part in both.items()}
    return ProtectedRecordsDocument(
        head=describe_head(REPORT_FORMAT, plan.header, [file], PACKAGES),
        work=describe_work(plan, [done], names, after.people, levels=made.search.levels),
        confidential=True,
        larger_than_memory=True,
        note=FOR_THE_HOLDER,
        input=InputFile(name=plan.source.name, sha256=hash_of_file(plan.source)),
        models=record_of_models(plan, after.records, quasi, after.counts),
        search=record_of_search(made.search),
        kept=KeptRows(
            before=before.people,
            published=after.people,
            suppressed=1.0 - after.people / before.people if before.people else 0.0,
        ),
        risks={name: measure_risks(part.records, quasi, sensitive, counts=part.counts) for name, part in both.items()},
        classes={name: shares_by_size(part) for name, part in sizes.items()},
        utility={
            "average_class_size": average_class_size(sizes["after"]),
            "discernibility_of_classes": discernibility_of_classes(sizes["after"]),
        },
    )
