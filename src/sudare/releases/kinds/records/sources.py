"""Reading the records that a plan names, and refusing columns that it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sudare.column_names import are_evident, shown_column
from sudare.errors import InputError
from sudare.io import Source, complaints
from sudare.io.headers import require_columns
from sudare.microdata.records import Records, read_people
from sudare.sections import suggest
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["read_planned", "read_population", "require_named", "require_planned_columns", "without_identifiers"]


def read_planned(plan: PeoplePlan) -> Records:
    """The records, with the columns that the plan names.

    Raises:
        InputError: if a column is missing, or one is there that the plan does not name.
    """
    if plan.others == "drop":
        return read_people(plan.source, format=plan.source_format, encoding=plan.encoding, columns=_wanted(plan))
    records = read_people(plan.source, format=plan.source_format, encoding=plan.encoding)
    require_named(plan, records.names)
    return records


def require_named(plan: PeoplePlan, columns: Sequence[str], *, peek: bool = True) -> None:
    """Refuse columns that the plan does not name, unless it drops them, and a file without those that it names.

    Args:
        plan: which says what to do with each column.
        columns: of the file.
        peek: whether rows may be looked at, to tell whether these are names.

    Raises:
        InputError: names the column.
    """
    wanted, looked_at = _wanted(plan), plan.source if peek else None
    for name in wanted:
        if name not in columns:
            raise complaints.missing_column(name, list(columns), str(plan.source), asked=wanted, peek=peek)
    for place, name in enumerate(columns if plan.others != "drop" else ()):
        if name not in wanted:
            shown = shown_column(place, columns, wanted, looked_at)
            if not are_evident(columns, wanted, looked_at):
                raise InputError(
                    f"Column {shown.english} of {plan.source.name} is not named by the plan, and the first row may hold no "
                    'names of columns. Put the names there, or write others = "drop" under [source].',
                    f"{plan.source.name} の {shown.japanese} の列が計画になく、1行目が列名の見出しではないようです。"
                    '1行目に列名を書くか、[source] に others = "drop" と書いてください。',
                )
            hint = suggest(name, wanted)
            raise InputError(
                f"{plan.source.name} has a column '{name:.60}' that the plan does not name.{hint.english} Add "
                f"[columns.{toml_key(name):.60}] with "
                'a role ("identifier" leaves it out), or write others = "drop" under [source].',
                f"{plan.source.name} の列「{name:.60}」が計画にありません。{hint.japanese}"
                f"[columns.{toml_key(name):.60}] に role を書くか"
                '（"identifier" なら除かれます）、[source] に others = "drop" と書いてください。',
            )


def require_planned_columns(plan: PeoplePlan) -> None:
    """Refuse records that are not there or lack a column, by their headers alone.

    Raises:
        InputError: names the file and the column.
    """
    source = Source(str(plan.source), plan.source_format, encoding=plan.encoding)
    columns = require_columns(source, _wanted(plan))
    if columns is not None:
        require_named(plan, columns, peek=False)
    if plan.population is not None:
        require_columns(Source(str(plan.population), encoding=plan.encoding), plan.quasi_identifiers)


def read_population(plan: PeoplePlan) -> Records:
    """The quasi-identifiers of everybody."""
    if plan.population is None:
        return read_people(
            plan.source, format=plan.source_format, encoding=plan.encoding, columns=plan.quasi_identifiers
        )
    return read_people(plan.population, encoding=plan.encoding, columns=plan.quasi_identifiers)


def without_identifiers(plan: PeoplePlan, records: Records) -> Records:
    """The columns that are published."""
    return records.without(*(name for name in records.names if name not in plan.published))


def _wanted(plan: PeoplePlan) -> list[str]:
    wanted = list(plan.columns)
    if plan.person is not None and plan.person not in wanted:
        wanted.append(plan.person)
    return wanted
