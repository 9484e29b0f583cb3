"""Pseudonyms for files of people: keys, runs, and tables for the holder of the key."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.speaking import Speaker
from sudare.cli.protection.pseudonym_options import (
    Encoding,
    Epoch,
    Key,
    KeyArgument,
    Kind,
    MappingArgument,
    MappingOption,
    Out,
    RawColumn,
    Recipient,
    RegisterOption,
    ScopeOptions,
    Yes,
    opened,
)

if TYPE_CHECKING:
    from sudare.microdata.pseudonyms import Design, Register, Scope, SecretKey

__all__ = [
    "destroy",
    "export",
    "gone",
    "import_table",
    "make_key",
    "make_table",
    "relink",
    "rotate",
    "run",
]


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

    asked = _DesignOptions(
        method=method,
        hash=hash_name,
        form=form,
        length=length,
        several=several,
        per=per,
        normalize=None if normalize is None else tuple(normalize),
        people=people,
    )
    with ExitStack() as stack:
        secret, book, table = opened(stack, key, register, mapping)
        designs = {}
        for text in columns:
            column, _, kind = text.partition("=")
            if column in designs:
                raise speaker.mistake("pseudonym.twice", column=column)
            designs[column] = _design(book, recipient, kind or column, epoch or secret.epoch, asked)
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


@dataclass(frozen=True, kw_only=True)
class _DesignOptions:
    """What was typed about pseudonyms; None where nothing was.

    Attributes:
        people: how many there are at most, for the length of pseudonyms. All others are fields of `Design`.
    """

    method: str | None
    hash: str | None
    form: str | None
    length: int | None
    several: int | None
    per: str | None
    normalize: tuple[str, ...] | None
    people: int | None


def _design(register: Register, recipient: str, kind: str, epoch: int, asked: _DesignOptions) -> Design:
    """The design of an earlier file for the recipient, or else the usual one, changed by what was typed."""
    from sudare.microdata.pseudonyms import Design, TextForm
    from sudare.microdata.pseudonyms.identifiers import read_normalizations
    from sudare.microdata.pseudonyms.notation import EVERYBODY

    known = register.design(recipient, kind, epoch)
    settled = Design(recipient, kind, epoch, normalize=register.normalization(kind)) if known is None else known
    form, length = asked.form or settled.form.name, settled.form.length
    if known is None and (asked.people is not None or asked.form is not None):
        wished = Design(recipient, kind, epoch, several=asked.several or 1, per=asked.per)
        length = TextForm.for_people(form, (asked.people or EVERYBODY) * wished.most_a_person).length
    normalize = settled.normalize if asked.normalize is None else asked.normalize
    return replace(
        settled,
        method=asked.method or settled.method,
        hash=asked.hash or settled.hash,
        form=TextForm(form, asked.length or length),
        normalize=read_normalizations(normalize, "pseudonymize"),
        several=asked.several or settled.several,
        per=settled.per if asked.per is None else asked.per,
    )


def export(
    speaker: Speaker,
    mapping: MappingArgument,
    key: Key,
    chosen: ScopeOptions,
    out: Out,
) -> None:
    """Write a mapping as identifiers and pseudonyms."""
    from sudare.microdata.pseudonyms import Mapping, export_mapping, read_key

    secret = read_key(key)
    with Mapping(mapping, secret) as table:
        export_mapping(table, _scope(chosen, secret), out, secret)
    speaker.warn_of("pseudonym.links", file=out)
    speaker.give({"file": str(out)}, str(out))


def import_table(
    speaker: Speaker,
    mapping: MappingArgument,
    source: Annotated[Path, typer.Argument(metavar="TABLE", show_default=False)],
    key: Key,
    chosen: ScopeOptions,
) -> None:
    """Take an exported table into a mapping."""
    from sudare.microdata.pseudonyms import Mapping, import_mapping, read_key

    secret = read_key(key)
    with Mapping(mapping, secret) as table:
        import_mapping(table, _scope(chosen, secret), source)
    speaker.say("pseudonym.imported", style="green", mapping=mapping)
    speaker.give({"mapping": str(mapping)}, str(mapping))


def _scope(chosen: ScopeOptions, secret: SecretKey) -> Scope:
    from sudare.microdata.pseudonyms import Scope

    return Scope(chosen.recipient, chosen.kind, chosen.epoch or secret.epoch, chosen.several)


def rotate(speaker: Speaker, key: KeyArgument, register: RegisterOption = None) -> None:
    """Begin a new epoch: new pseudonyms for everybody."""
    from sudare.microdata.pseudonyms import rotate_key

    with ExitStack() as stack:
        secret, book, _ = opened(stack, key, register, None)
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
    yes: Yes = False,
) -> None:
    """Destroy the secret of an older epoch."""
    from sudare.microdata.pseudonyms import destroy_epoch

    with ExitStack() as stack:
        secret, book, table = opened(stack, key, register, mapping)
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
    yes: Yes = False,
) -> None:
    """Declare that a file which was made with the key is gone."""
    with ExitStack() as stack:
        _, book, _ = opened(stack, key, register, None)
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
    from sudare.microdata.pseudonyms import relink_file, relink_mapping

    with ExitStack() as stack:
        secret, book, table = opened(stack, key, register, mapping)
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
