"""Pseudonyms for files of people, and one person's rights: keys, runs, tables for the holder of the key, requests, the log."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.console.failures import FOUND_FAULTS
from sudare.cli.console.showing import table_of
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.microdata.pseudonyms import Answer, Design, Mapping, PersonDesk, Register, SecretKey

__all__ = [
    "correct",
    "delete",
    "destroy",
    "export",
    "find",
    "gone",
    "import_table",
    "log",
    "make_key",
    "make_table",
    "opt_in",
    "opt_out",
    "relink",
    "rotate",
    "run",
]

Key = Annotated[Path, typer.Option("--key", metavar="KEY", envvar="SUDARE_KEY", show_envvar=False, show_default=False)]
KeyArgument = Annotated[Path, typer.Argument(metavar="KEY", show_default=False)]
RegisterOption = Annotated[Path | None, typer.Option("--register", metavar="FILE", show_default=False)]
MappingOption = Annotated[Path | None, typer.Option("--mapping", metavar="FILE", show_default=False)]
MappingArgument = Annotated[Path, typer.Argument(metavar="MAPPING", show_default=False)]
Recipient = Annotated[str, typer.Option("--recipient", metavar="NAME", show_default=False)]
Kind = Annotated[str, typer.Option("--kind", metavar="KIND", show_default=False)]
Epoch = Annotated[int | None, typer.Option("--epoch", metavar="N", min=1, show_default=False)]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME")]
Person = Annotated[str, typer.Argument(metavar="PERSON", show_default=False)]
Files = Annotated[list[Path] | None, typer.Argument(metavar="FILES", show_default=False)]
RawColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", show_default=False)]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", show_default=False)]
Several = Annotated[bool, typer.Option("--several")]
LedgerOption = Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", show_default=False)]
Datasets = Annotated[list[str] | None, typer.Option("--dataset", metavar="DATASET", show_default=False)]


def make_key(speaker: Speaker, key: KeyArgument, register: RegisterOption = None) -> None:
    """Make a secret key, and the register that lies beside it."""
    from sudare.microdata.pseudonyms import make_register, new_key, register_beside

    place = register if register is not None else register_beside(key)
    if place.exists():
        raise speaker.mistake("pseudonym.register_exists", register=place)
    made = new_key(key)
    make_register(place, made)
    speaker.say("pseudonym.key_made", style="green", file=key, register=place)
    speaker.say("pseudonym.keep_key", style="dim")
    speaker.give({"key": str(key), "name": made.name, "register": str(place)}, made.name)


def make_table(speaker: Speaker, mapping: MappingArgument, key: Key) -> None:
    """Make an empty mapping for random pseudonyms."""
    from sudare.microdata.pseudonyms import make_mapping, read_key

    make_mapping(mapping, read_key(key))
    speaker.say("pseudonym.mapping_made", style="green", mapping=mapping)
    speaker.give({"mapping": str(mapping)}, str(mapping))


def run(
    speaker: Speaker,
    source: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    columns: Annotated[list[str], typer.Option("--id", metavar="COLUMN[=KIND]", show_default=False)],
    key: Key,
    recipient: Recipient,
    out: Out,
    method: Annotated[str | None, typer.Option("--method", metavar="METHOD", show_default=False)] = None,
    mapping: MappingOption = None,
    hash_name: Annotated[str | None, typer.Option("--hash", metavar="HASH", show_default=False)] = None,
    form: Annotated[str | None, typer.Option("--form", metavar="FORM", show_default=False)] = None,
    length: Annotated[int | None, typer.Option("--length", metavar="N", min=1, show_default=False)] = None,
    people: Annotated[int | None, typer.Option("--people", metavar="N", min=1, show_default=False)] = None,
    several: Annotated[int | None, typer.Option("--several", metavar="M", min=1, show_default=False)] = None,
    per: Annotated[str | None, typer.Option("--per", metavar="COLUMN", show_default=False)] = None,
    normalize: Annotated[list[str] | None, typer.Option("--normalize", metavar="HOW", show_default=False)] = None,
    missing: Annotated[str, typer.Option("--missing", metavar="refuse|keep")] = "refuse",
    epoch: Epoch = None,
    register: RegisterOption = None,
    encoding: Encoding = "auto",
) -> None:
    """Replace identifiers by pseudonyms, and write a new file."""
    from sudare.microdata.pseudonyms import pseudonymize_file
    from sudare.microdata.pseudonyms.notation import EVERYBODY

    wishes = {
        "method": method,
        "hash": hash_name,
        "form": form,
        "length": length,
        "several": several,
        "per": per,
        "normalize": None if normalize is None else tuple(normalize),
    }
    with ExitStack() as stack:
        secret, book, table = _opened(stack, key, register, mapping)
        designs = {}
        for text in columns:
            column, _, kind = text.partition("=")
            if column in designs:
                raise speaker.mistake("pseudonym.twice", column=column)
            designs[column] = _design(book, recipient, kind or column, epoch or secret.epoch, wishes, people)
        made = pseudonymize_file(
            source,
            out,
            designs,
            key=secret,
            register=book,
            mapping=table,
            people=people or EVERYBODY,
            missing=missing,
            encoding=encoding,
        )
        others = ", ".join(book.kinds_left_out())
    for kind in made.new_kinds:
        speaker.warn_of("pseudonym.new_kind", kind=kind, kinds=others)
    speaker.say("pseudonym.done", style="green", out=made.path, recipient=recipient)
    told = {column: design.to_dict() for column, design in made.columns.items()}
    speaker.give({"file": str(made.path), "recipient": recipient, "columns": told}, str(made.path))


def _design(
    register: Register, recipient: str, kind: str, epoch: int, wishes: dict[str, Any], people: int | None
) -> Design:
    """What was settled for the recipient by an earlier file, changed by what was typed; else what was typed."""
    from sudare.microdata.pseudonyms import Design, TextForm
    from sudare.microdata.pseudonyms.identifiers import read_normalizations
    from sudare.microdata.pseudonyms.notation import EVERYBODY

    known = register.design(recipient, kind, epoch)
    if known is not None:
        settled = known.to_dict()
    else:
        settled = Design(recipient, kind, epoch).to_dict()
        settled["normalize"] = list(register.normalization(kind))
        if people is not None or wishes["form"] is not None:
            wished = Design(recipient, kind, epoch, several=wishes["several"] or 1, per=wishes["per"])
            number = (people or EVERYBODY) * wished.most_a_person
            settled["length"] = TextForm.for_people(wishes["form"] or settled["form"], number).length
    values = {**settled, **{name: wish for name, wish in wishes.items() if wish is not None}}
    values["normalize"] = list(read_normalizations(values["normalize"], "pseudonymize"))
    return Design.from_dict(values)


def export(
    speaker: Speaker,
    mapping: MappingArgument,
    key: Key,
    recipient: Recipient,
    kind: Kind,
    out: Out,
    epoch: Epoch = None,
    several: Several = False,
) -> None:
    """Write a mapping as identifiers and pseudonyms."""
    from sudare.microdata.pseudonyms import Mapping, Scope, export_mapping, read_key

    secret = read_key(key)
    with Mapping(mapping, secret) as table:
        export_mapping(table, Scope(recipient, kind, epoch or secret.epoch, several), out, secret)
    speaker.warn_of("pseudonym.links", file=out)
    speaker.give({"file": str(out)}, str(out))


def import_table(
    speaker: Speaker,
    mapping: MappingArgument,
    source: Annotated[Path, typer.Argument(metavar="TABLE", show_default=False)],
    key: Key,
    recipient: Recipient,
    kind: Kind,
    epoch: Epoch = None,
    several: Several = False,
) -> None:
    """Take an exported table into a mapping."""
    from sudare.microdata.pseudonyms import Mapping, Scope, import_mapping, read_key

    secret = read_key(key)
    with Mapping(mapping, secret) as table:
        import_mapping(table, Scope(recipient, kind, epoch or secret.epoch, several), source)
    speaker.say("pseudonym.imported", style="green", mapping=mapping)
    speaker.give({"mapping": str(mapping)}, str(mapping))


def rotate(speaker: Speaker, key: KeyArgument, register: RegisterOption = None) -> None:
    """Begin a new epoch: new pseudonyms for everybody."""
    from sudare.microdata.pseudonyms import rotate_key

    with ExitStack() as stack:
        secret, book, _ = _opened(stack, key, register, None)
        rotated = rotate_key(secret)
        book.note({"did": "rotate", "epoch": rotated.epoch})
    speaker.say("pseudonym.rotated", style="green", epoch=rotated.epoch)
    speaker.give({"key": str(key), "epoch": rotated.epoch}, str(rotated.epoch))


def destroy(
    speaker: Speaker,
    key: KeyArgument,
    epoch: Annotated[int, typer.Option("--epoch", metavar="N", min=1, show_default=False)],
    mapping: MappingOption = None,
    register: RegisterOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> None:
    """Destroy the secret of an older epoch."""
    from sudare.microdata.pseudonyms import destroy_epoch

    with ExitStack() as stack:
        secret, book, table = _opened(stack, key, register, mapping)
        if epoch not in secret.epochs or epoch == secret.epoch:
            raise speaker.mistake("pseudonym.no_old_epoch", epoch=epoch, latest=secret.epoch)
        speaker.confirm("pseudonym.ask_destroy", yes=yes, epoch=epoch)
        destroy_epoch(secret, epoch)
        if table is not None:
            table.forget_epoch(epoch)
        book.note({"did": "destroy", "epoch": epoch})
    speaker.say("pseudonym.destroyed", style="green", epoch=epoch)
    speaker.give({"key": str(key), "destroyed": epoch}, str(epoch))


def gone(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    key: Key,
    register: RegisterOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> None:
    """Declare that a file which was made with the key is gone."""
    with ExitStack() as stack:
        _, book, _ = _opened(stack, key, register, None)
        speaker.confirm("pseudonym.ask_gone", yes=yes, file=file)
        book.declare_gone(file)
    speaker.say("pseudonym.gone", style="green", file=file)
    speaker.give({"file": str(file), "gone": True}, str(file))


def relink(
    speaker: Speaker,
    key: Key,
    recipient: Recipient,
    kind: Kind,
    out: Out,
    old: Annotated[int | None, typer.Option("--from", metavar="EPOCH", min=1, show_default=False)] = None,
    source: Annotated[Path | None, typer.Option("--file", metavar="FILE", show_default=False)] = None,
    column: RawColumn = None,
    mapping: MappingOption = None,
    register: RegisterOption = None,
    encoding: Encoding = "auto",
) -> None:
    """Write old pseudonyms beside those of the latest epoch."""
    from dataclasses import replace

    from sudare.microdata.pseudonyms import relink_file, relink_mapping

    with ExitStack() as stack:
        secret, book, table = _opened(stack, key, register, mapping)
        epoch = old or max(1, secret.epoch - 1)
        before = book.design(recipient, kind, epoch)
        if before is None or epoch == secret.epoch:
            raise speaker.mistake("pseudonym.never_made", recipient=recipient, kind=kind, epoch=epoch)
        after = book.design(recipient, kind, secret.epoch) or replace(before, epoch=secret.epoch)
        if before.method == "table":
            if table is None:
                raise speaker.mistake("pseudonym.needs_mapping")
            relink_mapping(table, before, after, out, secret)
        else:
            if source is None:
                raise speaker.mistake("pseudonym.needs_file")
            relink_file(source, column or kind, before, after, out, key=secret, encoding=encoding)
    speaker.warn_of("pseudonym.links", file=out)
    speaker.give({"file": str(out), "from": epoch, "to": secret.epoch}, str(out))


def find(
    speaker: Speaker,
    person: Person,
    key: Key,
    kind: Kind,
    files: Files = None,
    column: RawColumn = None,
    mapping: MappingOption = None,
    register: RegisterOption = None,
    encoding: Encoding = "auto",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
) -> None:
    """Find one person's rows."""
    from sudare.io import atomically
    from sudare.microdata.pseudonyms.registers.rights import rows_as_lines

    with ExitStack() as stack:
        desk = _desk(speaker, stack, person, key, kind, mapping, register)
        answer, rows = desk.find(files or (), raw_column=column, encoding=encoding)
    if out is not None:
        with atomically(out) as temporary:
            temporary.chmod(0o600)
            temporary.write_text(rows_as_lines(rows), encoding="utf-8")
    told = {} if out is not None else {"rows": rows}
    _give(speaker, answer, **told)


def opt_out(
    speaker: Speaker,
    person: Person,
    key: Key,
    kind: Kind,
    files: Files = None,
    column: RawColumn = None,
    mapping: MappingOption = None,
    register: RegisterOption = None,
    encoding: Encoding = "auto",
    only_future: Annotated[bool, typer.Option("--only-future")] = False,
    location: LedgerOption = None,
    dataset: Datasets = None,
) -> None:
    """Leave one person out of files and releases, from now on."""
    if (location is None) != (not dataset):
        raise speaker.mistake("person.ledger_and_dataset")
    who = _identifier(speaker, person)
    with ExitStack() as stack:
        desk = _desk(speaker, stack, who, key, kind, mapping, register)
        _leave_out_of_releases(location, dataset, who)
        answer = desk.opt_out(files or (), raw_column=column, encoding=encoding, only_future=only_future)
    _say_new(speaker, answer, "person.opted_out")
    _give(speaker, answer, datasets=list(dataset or ()))


def delete(
    speaker: Speaker,
    person: Person,
    key: Key,
    kind: Kind,
    files: Files = None,
    column: RawColumn = None,
    mapping: MappingOption = None,
    register: RegisterOption = None,
    encoding: Encoding = "auto",
    location: LedgerOption = None,
    dataset: Datasets = None,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> None:
    """Delete one person's rows, and leave the person out from now on."""
    if (location is None) != (not dataset):
        raise speaker.mistake("person.ledger_and_dataset")
    who = _identifier(speaker, person)
    with ExitStack() as stack:
        desk = _desk(speaker, stack, who, key, kind, mapping, register)
        speaker.confirm("person.ask_delete", yes=yes)
        _leave_out_of_releases(location, dataset, who)
        answer = desk.delete(files or (), raw_column=column, encoding=encoding)
    _say_new(speaker, answer, "person.deleted")
    _give(speaker, answer, datasets=list(dataset or ()))


def _leave_out_of_releases(location: str | None, datasets: list[str] | None, person: str) -> None:
    """Opt a person out in a ledger too. First: whatever happens to the files, releases leave the person out."""
    if location is None:
        return
    from sudare.ledger import open_ledger

    with open_ledger(location) as ledger:
        for name in datasets or ():
            ledger.opt_out(name, person)


def correct(
    speaker: Speaker,
    person: Person,
    key: Key,
    kind: Kind,
    fields: Annotated[list[str], typer.Option("--set", metavar="COLUMN=VALUE", show_default=False)],
    files: Files = None,
    column: RawColumn = None,
    mapping: MappingOption = None,
    register: RegisterOption = None,
    encoding: Encoding = "auto",
) -> None:
    """Correct fields of one person's rows."""
    right = {}
    for text in fields:
        name, mark, value = text.partition("=")
        if not mark or not name:
            raise speaker.mistake("person.bad_field")
        right[name] = value
    with ExitStack() as stack:
        desk = _desk(speaker, stack, person, key, kind, mapping, register)
        answer = desk.correct(right, files or (), raw_column=column, encoding=encoding)
    _say_new(speaker, answer, "person.corrected")
    _give(speaker, answer)


def opt_in(speaker: Speaker, person: Person, key: Key, kind: Kind, register: RegisterOption = None) -> None:
    """Take an opt-out or a deletion back, for files to come."""
    with ExitStack() as stack:
        answer = _desk(speaker, stack, person, key, kind, None, register).take_back()
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
        _, book, _ = _opened(stack, key, register, None, check=False)
        findings = book.verify(noted=head, files=files) if verify or files or head else []
        entries = book.entries()
        last = book.head()
        if person is not None and kind is not None:
            tag = book.tag(kind, _canonical(book, kind, _identifier(speaker, person)))
            entries = [entry for entry in entries if entry.read().get("person") == tag]
    words = speaker.words
    rows = [[entry.number, entry.time, _told(entry.read())] for entry in entries]
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


def _told(body: dict[str, Any]) -> str:
    """One line on an entry: what was done, and to which file."""
    rest = [str(body[name]) for name in ("kind", "field", "epoch", "file") if name in body]
    return " · ".join([body["did"], *rest])


def _opened(
    stack: ExitStack, key: Path, register: Path | None, mapping: Path | None, *, check: bool = True
) -> tuple[SecretKey, Register, Mapping | None]:
    from sudare.microdata.pseudonyms import Mapping, Register, read_key, register_beside

    secret = read_key(key)
    place = register if register is not None else register_beside(key)
    book = stack.enter_context(Register(place, secret, check=check))
    table = None if mapping is None else stack.enter_context(Mapping(mapping, secret))
    return secret, book, table


def _desk(
    speaker: Speaker,
    stack: ExitStack,
    person: str,
    key: Path,
    kind: str,
    mapping: Path | None,
    register: Path | None,
) -> PersonDesk:
    from sudare.microdata.pseudonyms import PersonDesk

    who = _identifier(speaker, person)
    secret, book, table = _opened(stack, key, register, mapping)
    if kind not in book.kinds():
        speaker.warn_of("person.new_kind", kind=kind, kinds=", ".join(book.kinds()) or "–")
    return PersonDesk(secret, book, kind, who, table)


def _identifier(speaker: Speaker, person: str) -> str:
    """What was typed, or the first line of stdin, which stays out of the shell's history."""
    who = sys.stdin.readline().rstrip("\r\n").removeprefix("\ufeff") if person == "-" else person
    # Another spelling would be another person.
    if not who or who != who.strip() or not who.isprintable():
        raise speaker.mistake("person.spelling")
    return who


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
