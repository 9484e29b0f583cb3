"""The kind ``counts``: tables of counts with a proven guarantee, from a plan to a release folder.

The order of the steps, and why no crash gives anything away, is described in `sudare.releases.protocol`; here stands what counts
add to it: how they are read without those who opted out, drawn, written and reported.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, TypedDict

from sudare.accuracy import Accuracy
from sudare.domain import CountTable, SignedTable
from sudare.errors import InputError, LedgerError, PlanError, SudareError
from sudare.io import describe_source, read_counts, write_measurements, write_table
from sudare.io.headers import names_of_columns, require_columns_of_domain
from sudare.io.source import SPARK
from sudare.ledger import Dataset, Ledger, Reservation
from sudare.releases.accounts import Identity
from sudare.releases.data.people import opt_outs_unknown, rows_not_bounded, selection_key
from sudare.releases.documents import document_values
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Kind, Run
from sudare.releases.kinds.counts.document import (
    DOCUMENT_FORMAT,
    CountsDocument,
    write_document,
)
from sudare.releases.kinds.counts.expected import accuracy_of_release
from sudare.releases.kinds.counts.hashing import hash_of_public_source, keyed_hash
from sudare.releases.kinds.counts.page import render_page
from sudare.releases.kinds.counts.plan_file import Reference, ReleasePlan, read_plan
from sudare.releases.kinds.counts.verification import verify_release
from sudare.releases.progress import Progress
from sudare.releases.protocol import carry_out
from sudare.releases.verification import Check
from sudare.spark.counting import columns_on_spark, count_on_spark
from sudare.spark.pins import InputPin, PinRecord
from sudare.storage.staging import PAGE
from sudare.tables import Published, publish

__all__ = ["COUNTS", "STAGES", "Release", "limits_of", "read_release_source", "run_release"]

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "arrow": ".arrow", "geoparquet": ".geoparquet", "geotiff": ".tif"}
ANY_TABLE = {"parquet", "csv", "arrow"}
"""Formats that hold tables over any domain."""

TABLE = "table"
MEASUREMENTS = "measurements.parquet"
COLUMNS_OF_COUNTS = {"count", "counts", "population", "people", "人口", "人数", "人口総数", "総数"}
HEAVY = (
    "duckdb",
    "pyarrow.parquet",
    "sudare.kernels.mesh_codes",
    "sudare.kernels.sampling",
    "sudare.kernels.tables.splits",
    "sudare.kernels.tables.sorting",
    "jinja2",
)

REFERENCE = "reference"
STAGES = ("read", "draw", "write", "report")
"""The stages that progress reports."""


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has been made.

    Attributes:
        folder: where it is.
        document: what ``release.json`` says.
        table: what was published; None if the same release had been made before.
        is_repeated: whether it had been made before, so that nothing was spent.
    """

    folder: Path
    document: Mapping[str, Any]
    table: CountTable | SignedTable | None
    is_repeated: bool


def run_release(
    plan: ReleasePlan,
    *,
    again: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
    on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
) -> Release:
    """Carry out a plan: charge the ledger, publish, and write the release folder with its report.

    The same plan with the same folder that was settled before is not drawn again: its folder is shown, and nothing is
    spent, also if the data has changed since. For new data name a new folder, or ask for it with ``again``.

    Args:
        plan: what to do.
        again: draw anew, and spend anew, even if the same release was settled before.
        threads: how many threads to use; as many as there are cores, at most 8, if left out.
        progress: called with the stage, and the share of it that is done.
        ledger: the plan's ledger, where it is open already.
        on_unfinished: called before anything is charged if earlier runs of the plan were stopped after their charge was kept.

    Raises:
        BudgetExceededError: if the data set's budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        InputError: if the data is not what the plan says; nothing was spent.
        OutputError: if the folder exists or cannot be written.
    """
    made = carry_out(
        COUNTS, plan, again=again, threads=threads, progress=progress, ledger=ledger, on_unfinished=on_unfinished
    )
    table = None if made.draft is None else made.draft.published.table
    return Release(made.folder, made.document, table, made.is_repeated)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedPeople:
    """What was read for a release.

    Attributes:
        truth: the true counts; not private.
        reference: the public table, if there is one.
        pin: which state of the data was read, where Spark read it.
    """

    truth: CountTable
    reference: CountTable | None
    pin: InputPin | None


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnTable:
    """What was drawn for a release.

    Attributes:
        published: the table and its event.
        keyed_hash: of the true counts.
        pin: which state of the data they were counted from, for the report.
    """

    published: Published
    keyed_hash: str
    pin: PinRecord | None


@dataclass(frozen=True, kw_only=True, eq=False)
class WrittenTable:
    """A table whose files are written.

    Attributes:
        published: the table and its event.
        document: what ``release.json`` will say.
    """

    published: Published
    document: CountsDocument


class CountsKind(Kind[ReleasePlan, CountedPeople, DrawnTable, WrittenTable]):
    """Tables of counts with differential privacy."""

    name = "counts"
    report_format = DOCUMENT_FORMAT

    def read_plan(self, file: Path, folder: Path | None = None) -> ReleasePlan:
        """Read a plan; see `sudare.releases.kinds.counts.plan_file`."""
        return read_plan(file, folder)

    def header(self, plan: ReleasePlan) -> PlanHeader:
        """What the protocol needs to know of a plan."""
        return plan.header

    def identity(self, plan: ReleasePlan, last_opt_out: int) -> Identity:
        """The plan, the public reference, and who opted out where persons are told apart."""
        reference = "" if plan.reference is None else hash_of_public_source(plan.reference.source)
        return Identity(fingerprint=plan.fingerprint(reference, last_opt_out), public_files={REFERENCE: reference})

    def require_account(self, plan: ReleasePlan, dataset: Dataset) -> None:
        """Where rows are not bounded person by person, a plan must count with as many as the ledger says there may be."""
        _require_unit(plan, dataset)

    def prepare(self, plan: ReleasePlan, folder: Path) -> None:
        """Plan, and try formats that do not hold every table; load what counting and drawing need meanwhile."""
        Thread(target=_load_ahead).start()
        self.rehearse(plan, folder)

    def rehearse(self, plan: ReleasePlan, folder: Path) -> None:
        """The same without loading."""
        _ = plan.predicted  # refused here, before anything is reserved, if no plan can be made
        _try_formats(plan, folder)

    def require_source(self, plan: ReleasePlan, *, has_opted_out: bool) -> None:
        """Refuse files that are not there or lack a column; and what reading would refuse before it reads."""
        on_spark = columns_on_spark(plan.source, plan.domain) if plan.source.format == SPARK else None
        if on_spark is None:
            require_columns_of_domain(plan.source, plan.domain)
        if plan.reference is not None:
            require_columns_of_domain(plan.reference.source, plan.domain)
        if plan.source.person is None:
            if has_opted_out and not plan.opt_outs_removed:
                raise PlanError(opt_outs_unknown(plan.header))
            _refuse_counts_as_people(plan, names_of_columns(plan.source) if on_spark is None else on_spark)

    def read(self, plan: ReleasePlan, run: Run) -> CountedPeople:
        """Count people, and read the public reference."""
        run.tell("read", None)
        paid = run.paid
        truth, pin = _read_source(
            plan, paid.ledger, lambda share, _: run.tell("read", share), reservation=paid.charge.hash
        )
        reference = None if plan.reference is None else _read_reference(plan, plan.reference)
        return CountedPeople(truth=truth, reference=reference, pin=pin)

    def draw(self, plan: ReleasePlan, data: CountedPeople, run: Run) -> Drawn[DrawnTable]:
        """Publish the counts by the plan's mechanism."""
        run.tell("draw", None)
        published = publish(
            data.truth,
            plan.budget,
            plan.method if plan.predicted is None else plan.predicted,
            unit=plan.unit,
            reference=data.reference,
            public_total=plan.public_total,
            threads=run.threads,
            keep_measurements=plan.measurements,
            **({} if plan.predicted is not None else dict(plan.settings)),
        )
        digest = keyed_hash(data.truth, run.paid.secret, run.paid.charge.hash)
        pin = None if data.pin is None else data.pin.record(run.paid.secret, run.paid.charge.hash)
        return Drawn(result=DrawnTable(published=published, keyed_hash=digest, pin=pin), event=published.event)

    def write(self, plan: ReleasePlan, drawn: Drawn[DrawnTable], folder: Path, run: Run) -> WrittenTable:
        """Write the table in all its formats, and make its document."""
        published = drawn.result.published
        run.tell("write", None)
        files = []
        for form in plan.formats:
            path = folder / f"{TABLE}{SUFFIXES[form]}"
            files.append(write_table(published.table, path, format=form, count=plan.count))
        if published.measurements is not None:
            files.append(write_measurements(published.measurements, plan.domain, folder / MEASUREMENTS))
        run.tell("report", None)
        hashes = drawn.result.keyed_hash, run.paid.identity.public_files[REFERENCE]
        accuracy = _expected(plan, published)
        document = write_document(plan, published, run.paid.charge, files, *hashes, accuracy, pin=drawn.result.pin)
        return WrittenTable(published=published, document=document)

    def report(
        self, plan: ReleasePlan, draft: WrittenTable, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> CountsDocument:
        """Write ``release.html``."""
        page = render_page(document_values(draft.document), draft.published.table, language=plan.language)
        (folder / PAGE).write_text(page, encoding="utf-8")
        return draft.document

    def fault_of(self, folder: Path) -> Check | None:
        """The first check of a release that fails."""
        return next((check for check in verify_release(folder) if check.outcome == "failed"), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check a release folder; see `verify_release`."""
        return verify_release(folder, ledger)


COUNTS = CountsKind()


def _require_unit(plan: ReleasePlan, dataset: Dataset) -> None:
    """Where rows are not bounded person by person, a plan must count with as many as the ledger says there may be."""
    refusal = rows_not_bounded(plan.unit, dataset) if plan.source.person is None else None
    if refusal is not None:
        raise LedgerError(refusal)


class _Limits(TypedDict, total=False):
    rows_per_person: int
    cells_per_person: int
    rows_per_cell: int


def limits_of(plan: ReleasePlan) -> _Limits:
    """What reading counts of each person, for `read_counts`: no more than the unit says, where persons are known."""
    if plan.source.person is None:
        return {}
    unit = plan.unit
    return {"rows_per_person": unit.rows, "cells_per_person": unit.cells, "rows_per_cell": unit.rows_per_cell}


def _load_ahead() -> None:
    """Load what counting and drawing need: a second of work, done while DuckDB counts."""
    for name in HEAVY:
        import_module(name)


def read_release_source(
    plan: ReleasePlan,
    ledger: Ledger,
    progress: Callable[[float, str], None] | None = None,
    *,
    reservation: str = "",
) -> CountTable:
    """The true counts of a plan, without the people who opted out. Not private.

    Args:
        plan: of the release.
        ledger: with the people who opted out.
        progress: called with the share that is done.
        reservation: hash of the ledger's entry that reserved the release's cost. Which rows of a person count, where there
            are too many, hangs on it; left out, they are those of no release.

    A table of nobody is a table like any other: an error would tell for nothing, and for certain, that nobody is in it.
    """
    return _read_source(plan, ledger, progress, reservation)[0]


def _read_source(
    plan: ReleasePlan, ledger: Ledger, progress: Callable[[float, str], None] | None, reservation: str
) -> tuple[CountTable, InputPin | None]:
    """The true counts, and which state of the data they are of, where Spark read it."""
    opted_out = ledger.opt_outs(plan.ledger.dataset)
    if plan.source.format == SPARK:
        is_known = plan.source.person is not None
        if opted_out.digests and not plan.opt_outs_removed and not is_known:
            raise PlanError(opt_outs_unknown(plan.header))
        found = count_on_spark(
            plan.source,
            plan.domain,
            **limits_of(plan),
            opted_out=(opted_out.salt, opted_out.digests) if opted_out.digests and is_known else None,
            selection_key=selection_key(ledger.secret(plan.ledger.dataset), reservation),
            progress=progress,
        )
        return found.table, found.pin
    if plan.source.person is None:
        if opted_out.digests and not plan.opt_outs_removed:
            raise PlanError(opt_outs_unknown(plan.header))
        _refuse_counts_as_people(plan, describe_source(plan.source).columns)
        truth = read_counts(plan.source, plan.domain, memory=plan.memory, progress=progress)
    else:
        truth = read_counts(
            plan.source,
            plan.domain,
            **limits_of(plan),
            opted_out=(opted_out.salt, opted_out.digests) if opted_out.digests else None,
            selection_key=selection_key(ledger.secret(plan.ledger.dataset), reservation),
            memory=plan.memory,
            progress=progress,
        )
    return truth, None


def _refuse_counts_as_people(plan: ReleasePlan, columns: Sequence[str]) -> None:
    """Where nobody said what a row is, a column of counts would be counted as one person a row."""
    if plan.says_rows or plan.source.rows != "people":
        return
    used = {plan.source.column_of(attribute.name) for attribute in plan.domain.attributes}
    for name in columns:
        if name.lower() in COLUMNS_OF_COUNTS and name not in used:
            raise PlanError(
                f"{plan.file.name}: the source has a column '{name}'. If it holds counts, write count = \"{name}\" in [source]; "
                'if each row is one person all the same, write rows = "people".',
                f'{plan.file.name}: 「{name}」という列があります。人数の列なら [source] に count = "{name}" と、'
                '1行が1人なら rows = "people" と書いてください。',
            )


def _read_reference(plan: ReleasePlan, reference: Reference) -> CountTable:
    """The public table; one of nobody is a mistake in the plan, which may be told because it is public."""
    table = read_counts(reference.source, plan.domain, memory=plan.memory)
    if table.total == 0:
        raise InputError(
            f"{plan.file.name}: the public reference '{reference.name}' has nobody in it: its file has no rows, or where and "
            "outside leave none.",
            f"{plan.file.name}: 公開の参照表「{reference.name}」に数える人がいません。ファイルに行がないか、"
            "where や outside によってすべて除かれています。",
        )
    return table


def _try_formats(plan: ReleasePlan, folder: Path) -> None:
    """Write an empty table in formats that do not hold every table, so that it is found before anything is spent."""
    trial = folder / "trial"
    trial.mkdir()
    nobody = CountTable.from_cells(plan.domain, [], [])
    for form in set(plan.formats) - ANY_TABLE:
        write_table(nobody, trial / f"{TABLE}{SUFFIXES[form]}", format=form, count=plan.count)
    if plan.measurements:
        write_measurements([], plan.domain, trial / MEASUREMENTS)
    shutil.rmtree(trial)


def _expected(plan: ReleasePlan, published: Published) -> Accuracy | None:
    """What errors to expect, by publishing what was published once more; None rather than a release that is lost for it."""
    try:
        return accuracy_of_release(plan, published)
    except SudareError:
        return None
