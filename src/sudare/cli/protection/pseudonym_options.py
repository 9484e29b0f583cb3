"""The options of the commands about pseudonyms and about one person, and what they open: a key, a register, a mapping."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.microdata.pseudonyms import Mapping, PersonDesk, Register, SecretKey

__all__ = [
    "Encoding",
    "Key",
    "KeyArgument",
    "MappingArgument",
    "MappingOption",
    "Out",
    "OutOption",
    "PersonOptions",
    "RawColumn",
    "RegisterOption",
    "ReleaseOptions",
    "RowOptions",
    "ScopeOptions",
    "Yes",
    "identifier",
    "opened",
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
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)]
Yes = Annotated[bool, typer.Option("--yes", "-y")]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", show_default=False)]
Several = Annotated[bool, typer.Option("--several")]
LedgerOption = Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", show_default=False)]
Datasets = Annotated[list[str] | None, typer.Option("--dataset", metavar="DATASET", show_default=False)]


@dataclass(frozen=True, kw_only=True)
class ScopeOptions:
    """Which pseudonyms of a mapping are meant."""

    recipient: Recipient
    kind: Kind
    epoch: Epoch = None
    several: Several = False


@dataclass(frozen=True, kw_only=True)
class PersonOptions:
    """One person, and the key and the register by which they are found."""

    person: Person
    key: Key
    kind: Kind
    register: RegisterOption = None


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Where a person's rows are looked for."""

    files: Files = None
    column: RawColumn = None
    mapping: MappingOption = None
    encoding: Encoding = "auto"


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """Data sets whose releases leave a person out as well."""

    location: LedgerOption = None
    dataset: Datasets = None

    def require_whole(self, speaker: Speaker) -> None:
        """Refuse a ledger without data sets, and data sets without a ledger.

        Raises:
            UsageError: if one is named without the other.
        """
        if (self.location is None) != (not self.dataset):
            raise speaker.mistake("person.ledger_and_dataset")

    def leave_out(self, person: str) -> None:
        """Opt a person out in the ledger. This comes first: whatever happens to files, releases leave the person out."""
        if self.location is None:
            return
        from sudare.ledger import open_ledger

        with open_ledger(self.location) as ledger:
            for name in self.dataset or ():
                ledger.opt_out(name, person)


def opened(
    stack: ExitStack, key: Path, register: Path | None, mapping: Path | None, *, check: bool = True
) -> tuple[SecretKey, Register, Mapping | None]:
    """Open the key, the register beside it and a mapping; the stack closes them."""
    from sudare.microdata.pseudonyms import Mapping, Register, read_key, register_beside

    secret = read_key(key)
    place = register if register is not None else register_beside(key)
    book = stack.enter_context(Register(place, secret, check=check))
    table = None if mapping is None else stack.enter_context(Mapping(mapping, secret))
    return secret, book, table


def person_desk(
    speaker: Speaker, stack: ExitStack, asked: PersonOptions, who: str, mapping: Path | None = None
) -> PersonDesk:
    """Open the desk where one person's rights are carried out.

    Args:
        speaker: warns if the register knows no such kind of identifier.
        stack: closes what is opened.
        asked: which key, register and kind.
        who: the identifier of the person.
        mapping: of random pseudonyms, if there is one.
    """
    from sudare.microdata.pseudonyms import PersonDesk

    secret, book, table = opened(stack, asked.key, asked.register, mapping)
    if asked.kind not in book.kinds():
        speaker.warn_of("person.new_kind", kind=asked.kind, kinds=", ".join(book.kinds()) or "–")
    return PersonDesk(secret, book, asked.kind, who, table)


def identifier(speaker: Speaker, person: str) -> str:
    """The identifier that was typed, or the first line of stdin, which stays out of the shell's history."""
    who = sys.stdin.readline().rstrip("\r\n").removeprefix("\ufeff") if person == "-" else person
    # Another spelling would be another person.
    if not who or who != who.strip() or not who.isprintable():
        raise speaker.mistake("person.spelling")
    return who
