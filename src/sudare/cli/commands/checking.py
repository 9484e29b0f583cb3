"""Checks that anybody can repeat: of a release folder, and of a ledger."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.failures import FOUND_FAULTS
from sudare.cli.console.showing import MARKS, stack, table_of
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


__all__ = ["verify", "verify_ledger"]

HEAD = re.compile(r"([0-9]+):([0-9a-f]{64})")


def verify(
    speaker: Speaker,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)],
    ledger: Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", show_default=False)] = None,
) -> None:
    """Check a release folder, or one of protected records or tables."""
    from rich.text import Text

    from sudare.releases.registry import verify_folder

    checks = verify_folder(folder, ledger)
    failed = [check for check in checks if check.outcome == "failed"]
    rows = [
        [
            Text(*MARKS[check.outcome]),
            check.words.explain(speaker.language),
            check.japanese if speaker.language == "ja" else check.english,
        ]
        for check in checks
    ]
    columns = [("", False), (speaker.words("verify.check"), False), (speaker.words("verify.finding"), False)]
    verdict = _verdict(speaker, is_sound=not failed, sound="verify.sound", unsound="verify.unsound", number=len(failed))
    speaker.give(
        {"folder": str(folder), "sound": not failed, "checks": [vars(check) for check in checks]},
        stack(table_of(columns, rows), verdict),
    )
    if failed:
        raise typer.Exit(FOUND_FAULTS)


def verify_ledger(
    speaker: Speaker,
    location: Annotated[str, typer.Argument(metavar="LOCATION", show_default=False)],
    known: Annotated[str | None, typer.Option("--known", metavar="NUMBER:HASH", show_default=False)] = None,
) -> None:
    """Check the chain of a ledger."""
    from sudare.ledger import open_ledger

    head = None
    if known is not None:
        found = HEAD.fullmatch(known.strip())
        if found is None:
            raise speaker.mistake("ledger.bad_head")
        head = (int(found[1]), found[2])
    with open_ledger(location) as ledger:
        findings = ledger.verify(head)
        number, digest = ledger.head()
    parts: list[RenderableType] = []
    if findings:
        rows = [["–" if f.entry is None else f.entry, f.explain(speaker.language)] for f in findings]
        parts.append(table_of([(speaker.words("ledger.entry"), True), (speaker.words("verify.finding"), False)], rows))
    parts.append(
        _verdict(
            speaker,
            is_sound=not findings,
            sound="ledger.sound",
            unsound="ledger.unsound",
            number=len(findings) or number,
        )
    )
    speaker.give(
        {
            "ledger": shown_location(location),
            "sound": not findings,
            "findings": [finding.to_dict() for finding in findings],
            "head": {"number": number, "hash": digest},
        },
        stack(*parts),
    )
    if findings:
        raise typer.Exit(FOUND_FAULTS)
    speaker.say("ledger.keep_head", style="dim", head=f"{number}:{digest}")


def shown_location(location: str) -> str:
    """A ledger's location without the password in it.

    Example:
        >>> shown_location("postgresql://office:secret@host/budgets"), shown_location("budget.db")
        ('postgresql://…@host/budgets', 'budget.db')
    """
    return re.sub(r"^(\w+://)[^/@]*@", r"\1…@", location)


def _verdict(speaker: Speaker, *, is_sound: bool, sound: str, unsound: str, number: int) -> Text:
    from rich.text import Text

    key, style = (sound, "bold green") if is_sound else (unsound, "bold red")
    return Text(speaker.words(key, number=number), style)
