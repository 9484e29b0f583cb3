"""Sums over many people by two aggregators that each see a share only: keys, services, reports, results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import facts, stack, table_of
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.collect.prio.task import Task

__all__ = ["collect", "create", "send", "serve"]

TaskFile = Annotated[Path, typer.Argument(metavar="TASK.json", show_default=False)]
Certificates = Annotated[Path | None, typer.Option("--authority", metavar="FILE", show_default=False)]


def create(
    speaker: Speaker,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)],
    variant: Annotated[str, typer.Option("--variant", metavar="KIND", show_default=False)],
    length: Annotated[int | None, typer.Option("--length", metavar="N", show_default=False)] = None,
    largest: Annotated[int | None, typer.Option("--largest", metavar="N", show_default=False)] = None,
    most: Annotated[int | None, typer.Option("--most", metavar="N", show_default=False)] = None,
    leader: Annotated[str, typer.Option("--leader", metavar="URL")] = "http://127.0.0.1:8001",
    helper: Annotated[str, typer.Option("--helper", metavar="URL")] = "http://127.0.0.1:8002",
    minimum: Annotated[int, typer.Option("--minimum", metavar="N", min=1)] = 100,
    keep: Annotated[str | None, typer.Option("--keep", metavar="NUMBER", show_default=False)] = None,
) -> None:
    """Draw the keys of a task and write a folder for each party."""
    from sudare.cli.console.budgets import read_decimal
    from sudare.collect.prio import TaskMeasurement, create_task

    measured = TaskMeasurement(variant, length=length, max_measurement=largest, max_weight=most)
    kept = None if keep is None else read_decimal("keep", keep)
    task = create_task(folder, measured, leader_url=leader, helper_url=helper, minimum_batch=minimum, keep=kept)
    speaker.say("prio.created", style="green", folder=folder)
    speaker.say("prio.apart", style="yellow")
    speaker.give({"task": str(folder / "task.json"), "identifier": task.identifier.hex()}, str(folder / "task.json"))


def serve(
    speaker: Speaker,
    task: TaskFile,
    role: Annotated[str, typer.Option("--role", metavar="leader|helper", show_default=False)],
    keys: Annotated[Path, typer.Option("--keys", metavar="FOLDER", show_default=False)],
    store: Annotated[Path, typer.Option("--store", metavar="FILE", show_default=False)],
    host: Annotated[str, typer.Option("--host")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, show_default=False)] = None,
    certificate: Annotated[Path | None, typer.Option("--certificate", metavar="FILE", show_default=False)] = None,
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", show_default=False)] = None,
    behind_proxy: Annotated[bool, typer.Option("--behind-proxy", metavar="")] = False,
) -> None:
    """Run one of the two aggregators until it is interrupted."""
    from sudare.collect.prio import Task, serve_aggregator
    from sudare.collect.prio.task import read_address

    if role not in ("leader", "helper"):
        raise speaker.mistake("prio.no_role", role=role)
    agreed = Task.read(task)
    announced = read_address(agreed.leader_url if role == "leader" else agreed.helper_url, "role")[2]

    def announce(listening: int) -> None:
        speaker.say("prio.serving", style="green", role=role, host=host, port=listening)
        speaker.give({"role": role, "host": host, "port": listening})

    serve_aggregator(
        role,
        store,
        task,
        keys,
        announce=announce,
        host=host,
        port=announced if port is None else port,
        behind_proxy=behind_proxy,
        certificate=certificate,
        certificate_key=None if certificate is None else key,
    )


def send(
    speaker: Speaker,
    task: TaskFile,
    values: Annotated[list[str], typer.Argument(metavar="VALUES", show_default=False)] = [],  # noqa: B006
    data: Annotated[Path | None, typer.Option("--data", metavar="FILE", show_default=False)] = None,
    column: Annotated[str | None, typer.Option("--column", metavar="COLUMN", show_default=False)] = None,
    at_least: Annotated[
        int | None, typer.Option("--minimum-batch-at-least", metavar="N", min=1, show_default=False)
    ] = None,
    at_most: Annotated[str | None, typer.Option("--epsilon-at-most", metavar="NUMBER", show_default=False)] = None,
    authority: Certificates = None,
) -> None:
    """Send measurements, each split into two shares that are sealed to the aggregators."""
    from sudare.cli.console.budgets import read_decimal
    from sudare.collect.prio import Task, send_report
    from sudare.collect.prio.limits import epsilon_of, require_within_limits
    from sudare.collect.transitions.rounding import cautious_digits, float_above

    agreed = Task.read(task)
    cost = epsilon_of(agreed)
    shown = speaker.words("prio.no_epsilon") if cost is None else cautious_digits(cost, up=True)
    speaker.say("prio.about", minimum=f"{agreed.minimum_batch:,}", epsilon=shown)
    most = None if at_most is None else read_decimal("epsilon-at-most", at_most)
    require_within_limits(agreed, minimum_batch_at_least=at_least, epsilon_at_most=most)
    given = [_measurement(speaker, agreed, text) for text in _values(speaker, values, data, column)]
    trusted = None if authority is None else str(authority)
    with progress_bars(speaker) as tell:
        for number, value in enumerate(given, start=1):
            send_report(agreed, value, authority=trusted, minimum_batch_at_least=at_least, epsilon_at_most=most)
            tell("send", number / len(given))
    speaker.say("prio.sent", style="green", count=f"{len(given):,}")
    stated = None if cost is None else float_above(cost)
    exact = None if cost is None else str(cost)
    told = {"sent": len(given), "minimum_batch": agreed.minimum_batch, "epsilon": stated, "epsilon_exact": exact}
    speaker.give(told)


def _values(speaker: Speaker, values: list[str], data: Path | None, column: str | None) -> list[str]:
    if (values and data is not None) or (data is None) != (column is None) or ("-" in values and len(values) > 1):
        raise speaker.mistake("prio.values_or_data")
    if data is None or column is None:
        return values if values and values != ["-"] else _typed(speaker)
    from sudare.io import read_records

    return [str(value) for value in read_records(data, [column])[column].tolist()]


def _typed(speaker: Speaker) -> list[str]:
    """The lines of standard input: unlike arguments, other users of the machine do not see them."""
    if speaker.is_interactive:
        speaker.say("prio.type_values", style="dim")
    found = [line.strip() for line in sys.stdin if line.strip()]
    if not found:
        raise speaker.mistake("prio.values_or_data")
    return found


def _measurement(speaker: Speaker, task: Task, text: str) -> Any:
    """A whole number, or for vectors several with commas between."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise speaker.mistake("prio.not_a_number") from None
    if task.measured.variant in ("sumvec", "multihot"):
        return numbers
    if len(numbers) != 1:
        raise speaker.mistake("prio.not_a_number")
    return numbers[0]


def collect(
    speaker: Speaker,
    task: TaskFile,
    keys: Annotated[Path, typer.Option("--keys", metavar="FOLDER", show_default=False)],
    batch: Annotated[int | None, typer.Option("--batch", metavar="N", min=0, show_default=False)] = None,
    authority: Certificates = None,
) -> None:
    """Close the batch that is due and add up the shares of both aggregators."""
    from sudare.collect.prio import Task, collect_batch

    agreed = Task.read(task)
    done = collect_batch(agreed, keys, batch, authority=None if authority is None else str(authority))
    words = speaker.words
    rows = [
        [str(place), f"{one.count:,.1f}", f"{one.standard_error:,.1f}", f"{one.lower:,.1f} … {one.upper:,.1f}"]
        for place, one in enumerate(done.estimates)
    ]
    columns = [(words("collect.value"), False)]
    columns += [(words(f"collect.{name}"), True) for name in ("unbiased", "error", "interval")]
    about = facts(
        [
            (words("prio.batch"), done.batch),
            (words("prio.reports"), f"{done.reports:,}"),
            (words("prio.rejected"), f"{done.rejected:,}"),
        ]
    )
    estimates = [
        {"count": one.count, "standard_error": one.standard_error, "low": one.lower, "high": one.upper}
        for one in done.estimates
    ]
    values = {"batch": done.batch, "reports": done.reports, "rejected": done.rejected, "result": done.result}
    speaker.give({**values, "estimates": estimates}, stack(about, table_of(columns, rows)))
