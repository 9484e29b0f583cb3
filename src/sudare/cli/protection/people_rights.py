"""One person's rights: find their rows, correct or delete them, leave the person out or take them in again, and show the log."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.console.failures import FOUND_FAULTS
from sudare.cli.console.showing import table_of
from sudare.cli.console.speaking import Speaker
from sudare.cli.protection.pseudonym_options import (
    Key,
    OutOption,
    PersonOptions,
    RegisterOption,
    ReleaseOptions,
    RowOptions,
    Yes,
    identifier,
    opened,
    person_desk,
)
from sudare.system.clock import local_text

if TYPE_CHECKING:
    from sudare.microdata.pseudonyms import Answer, Register

__all__ = ["correct", "delete", "find", "log", "opt_in", "opt_out"]


def find(speaker: Speaker, asked: PersonOptions, rows: RowOptions, out: OutOption = None) -> None:
    """Find one person's rows."""
    from sudare.io import atomically
    from sudare.microdata.pseudonyms.registers.rights import rows_as_lines

    with ExitStack() as stack:
        desk = person_desk(speaker, stack, asked, identifier(speaker, asked.person), rows.mapping)
        answer, found = desk.find(rows.files or (), raw_column=rows.column, encoding=rows.encoding)
    if out is not None:
        with atomically(out) as temporary:
            temporary.chmod(0o600)
            temporary.write_text(rows_as_lines(found), encoding="utf-8")
    told = {} if out is not None else {"rows": found}
    _give(speaker, answer, **told)


def opt_out(
    speaker: Speaker,
    asked: PersonOptions,
    rows: RowOptions,
    releases: ReleaseOptions,
    only_future: Annotated[bool, typer.Option("--only-future")] = False,
) -> None:
    """Leave one person out of files and releases, from now on."""
    releases.require_whole(speaker)
    who = identifier(speaker, asked.person)
    with ExitStack() as stack:
        desk = person_desk(speaker, stack, asked, who, rows.mapping)
        releases.leave_out(who)
        answer = desk.opt_out(rows.files or (), raw_column=rows.column, encoding=rows.encoding, only_future=only_future)
    _say_new(speaker, answer, "person.opted_out")
    _give(speaker, answer, datasets=list(releases.dataset or ()))


def delete(
    speaker: Speaker,
    asked: PersonOptions,
    rows: RowOptions,
    releases: ReleaseOptions,
    yes: Yes = False,
) -> None:
    """Delete one person's rows, and leave the person out from now on."""
    releases.require_whole(speaker)
    who = identifier(speaker, asked.person)
    with ExitStack() as stack:
        desk = person_desk(speaker, stack, asked, who, rows.mapping)
        speaker.confirm("person.ask_delete", yes=yes)
        releases.leave_out(who)
        answer = desk.delete(rows.files or (), raw_column=rows.column, encoding=rows.encoding)
    _say_new(speaker, answer, "person.deleted")
    _give(speaker, answer, datasets=list(releases.dataset or ()))


def correct(
    speaker: Speaker,
    asked: PersonOptions,
    fields: Annotated[list[str], typer.Option("--set", metavar="COLUMN=VALUE", show_default=False)],
    rows: RowOptions,
) -> None:
    """Correct fields of one person's rows."""
    right = {}
    for text in fields:
        name, mark, value = text.partition("=")
        if not mark or not name:
            raise speaker.mistake("person.bad_field")
        right[name] = value
    with ExitStack() as stack:
        desk = person_desk(speaker, stack, asked, identifier(speaker, asked.person), rows.mapping)
        answer = desk.correct(right, rows.files or (), raw_column=rows.column, encoding=rows.encoding)
    _say_new(speaker, answer, "person.corrected")
    _give(speaker, answer)


def opt_in(speaker: Speaker, asked: PersonOptions) -> None:
    """Take an opt-out or a deletion back, for files to come."""
    with ExitStack() as stack:
        answer = person_desk(speaker, stack, asked, identifier(speaker, asked.person)).take_back()
    _say_new(speaker, answer, "person.opted_in")
    _give(speaker, answer)


def log(
    speaker: Speaker,
    key: Key,
    register: RegisterOption = None,
    person: Annotated[str | None, typer.Option("--person", metavar="PERSON", show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", show_default=False)] = None,
    verify: Annotated[bool, typer.Option("--verify")] = False,
    files: Annotated[bool, typer.Option("--files")] = False,
    head: Annotated[str | None, typer.Option("--head", metavar="SEAL", show_default=False)] = None,
) -> None:
    """Show what was done, and check that nobody changed it."""
    if (person is None) != (kind is None):
        raise speaker.mistake("person.person_and_kind")
    with ExitStack() as stack:
        _, book, _ = opened(stack, key, register, None, check=False)
        findings = book.verify(noted=head, files=files) if verify or files or head else []
        entries = book.entries()
        last = book.head()
        if person is not None and kind is not None:
            tag = book.tag(kind, _canonical(book, kind, identifier(speaker, person)))
            entries = [entry for entry in entries if entry.read().get("person") == tag]
    words = speaker.words
    rows = [[entry.number, local_text(entry.time), _told(entry.read())] for entry in entries]
    columns = [(words("person.entry"), True), (words("person.time"), False), (words("person.did"), False)]
    told = {
        "entries": [{"number": one.number, "time": one.time, **one.read(), "seal": one.seal} for one in entries],
        "head": last,
        "findings": [{"entry": one.entry, "english": one.english, "japanese": one.japanese} for one in findings],
    }
    speaker.give(told, table_of(columns, rows))
    speaker.say("person.head", style="dim", head=last)
    if findings:
        for finding in findings:
            speaker.warn(finding.words)
        raise typer.Exit(FOUND_FAULTS)
    if verify or files or head:
        speaker.say("person.sound", style="green")


def _told(body: Mapping[str, Any]) -> str:
    """One line on an entry: what was done, and to which file."""
    rest = [str(body[name]) for name in ("kind", "field", "epoch", "file") if name in body]
    return " · ".join([body["did"], *rest])


def _canonical(register: Register, kind: str, person: str) -> str:
    from sudare.microdata.pseudonyms.identifiers import canonical_texts

    return str(canonical_texts([person], register.normalization(kind)).to_pylist()[0])


def _say_new(speaker: Speaker, answer: Answer, key: str) -> None:
    speaker.say(key if answer.is_new else "person.known_already", style="green")


def _give(speaker: Speaker, answer: Answer, **more: Any) -> None:
    words = speaker.words
    for one in answer.files:
        if one.state in ("missing", "unlinkable", "unknown", "unreadable", "unwritable"):
            speaker.warn_of(f"person.warn_{one.state}", file=one.path)
    if answer.is_mapping_kept:
        speaker.warn_of("person.mapping_kept")
    columns = [(words("person.file"), False), (words("person.state"), False), (words("person.rows"), True)]
    rows = [[one.path, words(f"person.state_{one.state}"), one.rows] for one in answer.files]
    files = [{"file": str(one.path), "state": one.state, "rows": one.rows} for one in answer.files]
    shown = [table_of(columns, rows)] if rows else []
    told = {"new": answer.is_new, "files": files, "mapping_kept": answer.is_mapping_kept, **more}
    speaker.give(told, *shown)
