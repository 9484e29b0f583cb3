"""Keeping budgets: data sets, what was spent on them, and people who opted out."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.commands.checking import shown_location
from sudare.cli.console.budgets import (
    budget_in_words,
    budget_values,
    dataset_values,
    read_budget,
    read_decimal,
    remaining_in_words,
    short_text,
    unit_in_words,
)
from sudare.cli.console.messages import Catalogue
from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.cli.console.speaking import Speaker
from sudare.errors import LedgerError
from sudare.storage.guarded_json import parse_json
from sudare.system.clock import local_text

if TYPE_CHECKING:
    from sudare.ledger import Dataset, Entry
    from sudare.ledger.records import FilterBalance, WindowState
    from sudare.privacy import Budget
    from sudare.privacy.unit import Adjacency

__all__ = ["add", "create", "export", "list_datasets", "opt_out", "show", "use_rho_filter"]


class Span(Enum):
    """What of somebody is protected where tables are published again and again."""

    EVENT = "event"
    DAY = "person-day"
    WINDOW = "person-window"


TICK_KINDS = ("begin-tick", "settle-tick", "miss-ticks")
Location = Annotated[str, typer.Argument(metavar="LOCATION", show_default=False)]


def create(speaker: Speaker, location: Location) -> None:
    """Make an empty ledger."""
    from sudare.ledger import open_ledger

    if "://" not in location and Path(location).expanduser().exists():
        raise LedgerError(
            f"'{location}' exists already. Name another file.",
            f"「{location}」は既にあります。別のファイル名を指定してください。",
        )
    with open_ledger(location, create=True) as ledger:
        number, digest = ledger.head()
    speaker.say("ledger.created", style="green", location=shown_location(location))
    speaker.give({"ledger": shown_location(location), "head": {"number": number, "hash": digest}})


def add(
    speaker: Speaker,
    location: Location,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", show_default=False)],
    epsilon: Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option("--delta", metavar="NUMBER")] = None,
    rho: Annotated[str | None, typer.Option("--rho", metavar="NUMBER")] = None,
    who: Annotated[str, typer.Option("--who")] = "person",
    rows: Annotated[int | None, typer.Option("--rows", min=1)] = None,
    cells: Annotated[int | None, typer.Option("--cells", min=1)] = None,
    rows_per_cell: Annotated[int | None, typer.Option("--rows-per-cell", min=1)] = None,
    replace: Annotated[bool, typer.Option("--replace")] = False,
    protects: Annotated[Span | None, typer.Option("--protects", show_default=False)] = None,
    ticks: Annotated[int | None, typer.Option("--ticks", min=1, show_default=False)] = None,
    rho_filter: Annotated[bool, typer.Option("--rho-filter")] = False,
    reserve: Annotated[str | None, typer.Option("--reserve", metavar="NUMBER")] = None,
    description: Annotated[str, typer.Option("--description", show_default=False)] = "",
) -> None:
    """Bring a data set under the ledger."""
    from sudare.ledger import open_ledger
    from sudare.privacy.unit import ProtectedTime, unit_of

    total = read_budget(epsilon, delta, rho)
    adjacency: Adjacency = "replace" if replace else "add-remove"
    unit = unit_of(who, adjacency, rows=rows, cells=cells, rows_per_cell=rows_per_cell)
    if protects in (Span.DAY, Span.WINDOW) and ticks is None:
        raise speaker.mistake("ledger.protects_needs_ticks", span=protects.value)
    if ticks is not None and protects in (None, Span.EVENT):
        raise speaker.mistake("ledger.ticks_without_protects")
    if protects is not None:
        unit = dataclasses.replace(unit, time=ProtectedTime(protects.value, ticks or 1))
    kept = None if reserve is None else read_decimal("reserve", reserve)
    with open_ledger(location) as ledger:
        added = ledger.add_dataset(
            dataset, total, unit=unit, description=description, rho_filter=rho_filter, reserve=kept
        )
    speaker.say("ledger.added", style="green", dataset=dataset, total=budget_in_words(total, speaker.words))
    if added.filter is not None:
        speaker.say("ledger.filtered", style="green", rule=_rule_in_words(added.filter, speaker.words))
    speaker.give({"dataset": dataset_values(added)})


def use_rho_filter(
    speaker: Speaker,
    location: Location,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", show_default=False)],
    reserve: Annotated[str | None, typer.Option("--reserve", metavar="NUMBER")] = None,
) -> None:
    """Count the costs of a data set by a rho filter from now on."""
    from sudare.ledger import open_ledger

    kept = None if reserve is None else read_decimal("reserve", reserve)
    with open_ledger(location) as ledger:
        changed = ledger.use_rho_filter(dataset, reserve=kept)
    if changed.filter is not None:
        speaker.say("ledger.filtered", style="green", rule=_rule_in_words(changed.filter, speaker.words))
        if changed.filter.committed is not None:
            worst = short_text(str(2 * changed.total.delta))
            left = remaining_in_words(changed, speaker.words)
            speaker.say("ledger.filter_counts", style="yellow", left=left, delta=worst)
    speaker.give({"dataset": dataset_values(changed)})


def list_datasets(speaker: Speaker, location: Location) -> None:
    """All data sets with their balances."""
    from sudare.ledger import open_ledger

    with open_ledger(location) as ledger:
        datasets = ledger.datasets()
    words = speaker.words
    names = ("balance.dataset", "balance.total", "balance.spent", "balance.reserved", "balance.remaining")
    rows = [
        [
            d.name,
            *(budget_in_words(part, words) for part in (d.total, d.spent, d.reserved)),
            remaining_in_words(d, words),
        ]
        for d in datasets
    ]
    speaker.give(
        {"ledger": shown_location(location), "datasets": [dataset_values(dataset) for dataset in datasets]},
        table_of([(words(name), name != "balance.dataset") for name in names], rows),
    )
    for dataset in datasets:
        if dataset.publications:
            speaker.say("ledger.publications", style="yellow", dataset=dataset.name, number=dataset.publications)
    if not datasets:
        speaker.say("ledger.empty", style="dim", location=shown_location(location))


def show(
    speaker: Speaker,
    location: Location,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", show_default=False)],
) -> None:
    """One data set: its balance, every entry about it, and its windows."""
    from sudare.ledger import open_ledger

    with open_ledger(location) as ledger:
        found = ledger.dataset(dataset)
        # A day may have a thousand ticks, which the windows sum up: they are not kept where they are not shown.
        entries, left_out = [], 0
        for entry in ledger.entries(dataset):
            if speaker.as_json or entry.kind not in TICK_KINDS:
                entries.append(entry)
            else:
                left_out += 1
        windows = ledger.windows.of(dataset)
    words = speaker.words
    columns = [("ledger.entry", True), ("ledger.time", False), ("ledger.kind", False), ("ledger.says", False)]
    rows = [
        [e.number, local_text(e.time), words(f"entry.{e.kind}"), _told(e, words)]
        for e in entries
        if e.kind not in TICK_KINDS
    ]
    speaker.give(
        {
            "dataset": dataset_values(found),
            "entries": [_entry_values(entry) for entry in entries],
            "windows": [_window_values(one) for one in windows],
            "windows_together": budget_values(_together(windows)),
        },
        stack(
            heading(found.name),
            _balance(found, words),
            table_of([(words(name), is_number) for name, is_number in columns], rows),
            *(_windows(windows, words, left_out) if windows else ()),
        ),
    )


def export(
    speaker: Speaker,
    location: Location,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
) -> None:
    """All entries as JSON lines, without secrets."""
    from sudare.io import atomically
    from sudare.ledger import open_ledger

    with open_ledger(location) as ledger:
        if speaker.as_json and out is None:
            speaker.give({"ledger": shown_location(location), "entries": [_entry_values(e) for e in ledger.entries()]})
            return
        if out is None:
            ledger.export(sys.stdout)
            return
        with atomically(out) as temporary, temporary.open("w", encoding="utf-8") as stream:
            ledger.export(stream)
        number, digest = ledger.head()
    speaker.say("ledger.exported", style="green", number=number)
    speaker.give({"file": str(out), "head": {"number": number, "hash": digest}}, str(out))


def opt_out(
    speaker: Speaker,
    location: Location,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", show_default=False)],
    person: Annotated[str, typer.Argument(metavar="PERSON", show_default=False)],
) -> None:
    """Note that a person is not to be counted any more. A person of ``-`` is read from stdin, one a line."""
    from sudare.ledger import open_ledger

    people = [line.rstrip("\r\n").removeprefix("\ufeff") for line in sys.stdin] if person == "-" else [person]
    people = [line for line in people if line.strip()]
    if not people:
        raise speaker.mistake("ledger.nobody")
    for number, one in enumerate(people, start=1):
        # Another spelling would be another person, and this one would go on being counted.
        if one != one.strip() or not one.isprintable():
            raise speaker.mistake("ledger.spelling", number=number)
    with open_ledger(location) as ledger:
        numbers = [ledger.opt_out(dataset, one).number for one in people]
    speaker.say("ledger.opted_out", style="green", number=len(people), dataset=dataset)
    speaker.give({"dataset": dataset, "people": len(people), "entries": numbers})


def _balance(dataset: Dataset, words: Catalogue) -> Any:
    parts = {"total": dataset.total, "spent": dataset.spent, "reserved": dataset.reserved}
    lines = [(words("plan.protected"), unit_in_words(dataset.unit, words))]
    if dataset.description:
        lines.append((words("ledger.description"), dataset.description))
    lines += [(words(f"balance.{name}"), budget_in_words(part, words)) for name, part in parts.items()]
    lines.append((words("balance.remaining"), remaining_in_words(dataset, words)))
    if dataset.filter is not None:
        lines.append((words("balance.rule"), _rule_in_words(dataset.filter, words)))
        lines.append((words("balance.committed"), budget_in_words(dataset.filter.committed, words)))
    if dataset.publications:
        lines.append((words("balance.publications"), words("ledger.no_guarantee", number=dataset.publications)))
    return facts(lines)


def _windows(windows: Sequence[WindowState], words: Catalogue, left_out: int) -> list[Any]:
    """What was published in each window, and what all of them cost."""
    names = ("entry", "purpose", "published", "missing", "to_come", "cost")
    rows = [
        [
            one.window.number,
            one.purpose,
            one.settled,
            one.missed,
            words("ledger.closed") if one.is_closed else one.to_come,
            budget_in_words(one.charged, words),
        ]
        for one in windows
    ]
    numbers = ("entry", "published", "missing", "to_come")
    parts = [
        heading(words("ledger.windows")),
        table_of([(words(f"ledger.{name}"), name in numbers) for name in names], rows),
    ]
    charged = [one.charged for one in windows if one.charged is not None]
    together = _together(windows)
    if together is not None:
        said = {"number": len(charged), "together": budget_in_words(together, words)}
        is_same = len(set(charged)) == 1
        cost = {"cost": budget_in_words(charged[0], words)} if is_same else {}
        parts.append(words("ledger.each_window" if is_same else "ledger.all_windows", **said, **cost))
    if left_out:
        parts.append(words("ledger.tick_entries", number=left_out))
    return parts


def _together(windows: Sequence[WindowState]) -> Budget | None:
    """What windows cost together; None if there are none, or their costs do not add up as they are."""
    from sudare.ledger.amounts import NOTHING, Amount

    charged = [one.charged for one in windows if one.charged is not None]
    if len({"rho" if cost.currency == "rho" else "epsilon" for cost in charged}) != 1:
        return None
    return sum((Amount.of(cost) for cost in charged), NOTHING).to_budget(charged[0])


def _window_values(one: WindowState) -> dict[str, object]:
    return one.to_dict() | {"cost": budget_values(one.window.cost), "charged": budget_values(one.charged)}


def _rule_in_words(kept: FilterBalance, words: Catalogue) -> str:
    parts = {"rho": kept.rule.rho, "conversion": kept.rule.conversion_delta, "reserve": kept.rule.reserve}
    return words("ledger.rule_filter", **{name: short_text(str(part)) for name, part in parts.items()})


def _told(entry: Entry, words: Catalogue) -> str:
    from sudare.ledger.entries import Cancelled, DatasetAdded, PublicationNoted, Reserved, RuleChanged, Settled

    body = entry.read()
    if isinstance(body, DatasetAdded):
        return words("entry.says_total", budget=budget_in_words(body.total, words))
    if isinstance(body, Reserved):
        said = words("entry.says_cost", budget=budget_in_words(body.cost, words), purpose=body.purpose)
        return said if body.ticks is None else words("entry.says_window", ticks=body.ticks, said=said)
    if isinstance(body, Settled):
        cost = budget_in_words(body.event.cost, words)
        return words("entry.says_settled", reservation=body.reservation, budget=cost, mechanism=body.event.mechanism)
    if isinstance(body, Cancelled):
        return words("entry.says_cancelled", reservation=body.reservation, reason=body.reason)
    if isinstance(body, PublicationNoted):
        return words("entry.says_published", title=body.title or body.format, folder=body.folder)
    if isinstance(body, RuleChanged):
        return words("entry.says_rule", rho=short_text(str(body.rule.rho)))
    return words("entry.says_nothing")


def _entry_values(entry: Entry) -> Mapping[str, Any]:
    try:
        body = parse_json(entry.body, lenient=True) if isinstance(entry.body, str) else entry.body
    except ValueError:
        body = entry.read()  # which says what is wrong with it
    return {**vars(entry), "body": body}
