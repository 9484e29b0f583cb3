"""All who keep a private SQLite file, behind one small interface: the ledger, memories, mappings, registers and Prio's store."""

from __future__ import annotations

import json
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from sudare.collect.device.memory import Memory
from sudare.collect.prio.services.store import ReportRecord, ReportStore
from sudare.collect.rappor.memory import PermanentMemory
from sudare.collect.rappor.rappor import Rappor
from sudare.ledger import Ledger, open_ledger
from sudare.microdata.pseudonyms import (
    Mapping,
    Register,
    Scope,
    SecretKey,
    TextForm,
    make_mapping,
    make_register,
    new_key,
    read_key,
)
from sudare.privacy import Budget, Unit

__all__ = ["HOLDERS", "MOMENTS", "Holder", "write_and_die", "write_until_killed"]


class Holder(ABC):
    """Somebody who keeps a private file in a folder; items are whole numbers."""

    name: ClassVar[str]
    many_processes: ClassVar[bool] = True
    """Whether several processes may have the file open."""

    forgets: ClassVar[bool] = True
    """Whether an item can be taken out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"{self.name}.db"

    @abstractmethod
    def open(self) -> Any:
        """Open the file; the first time it is made."""

    @abstractmethod
    def write(self, opened: Any, number: int) -> None:
        """Keep an item durably."""

    @abstractmethod
    def has(self, opened: Any, number: int) -> bool:
        """Whether an item is kept."""

    def trace(self, opened: Any, number: int) -> bytes:
        """Bytes that stand in the file as long as an item is kept, and in no other place."""
        raise NotImplementedError

    def forget(self, opened: Any, number: int) -> None:
        """Take an item out."""
        raise NotImplementedError

    def connection(self, opened: Any) -> Any:
        """The connection of SQLite."""
        return getattr(*self._place_of_connection(opened))

    def replace_connection(self, opened: Any, other: object) -> None:
        """Put something else in the place of the connection."""
        setattr(*self._place_of_connection(opened), other)

    def _place_of_connection(self, opened: Any) -> tuple[Any, str]:
        holder, name, inside = opened, "", opened
        while names := {"_store", "_database", "_file", "_connection"} & vars(inside).keys():
            holder, name = inside, names.pop()
            inside = getattr(holder, name)
            if not hasattr(inside, "__dict__") or name == "_connection":
                break
        return holder, name

    def files(self) -> list[Path]:
        """The file and what stands beside it."""
        return sorted(file for file in self.folder.glob(f"{self.path.name}*") if file.is_file())

    def raw(self) -> bytes:
        """All bytes on the disk, of the file and of its log."""
        return b"".join(file.read_bytes() for file in self.files())


class LedgerHolder(Holder):
    """Opt-outs of a ledger; they are never taken back."""

    name = "ledger"
    forgets = False

    def open(self) -> Ledger:
        """See `Holder`."""
        ledger = open_ledger(self.path, create=True)
        try:
            if not ledger.datasets():
                ledger.add_dataset("census", Budget(epsilon=1), unit=Unit())
        except BaseException:
            ledger.close()
            raise
        return ledger

    def write(self, opened: Ledger, number: int) -> None:
        """See `Holder`."""
        opened.opt_out("census", f"person {number}")

    def has(self, opened: Ledger, number: int) -> bool:
        """See `Holder`."""
        from sudare.ledger.records import digest_of

        found = opened.opt_outs("census")
        return digest_of(found.salt, f"person {number}") in found.digests


class MemoryHolder(Holder):
    """Permanent answers."""

    name = "memory"

    def open(self) -> Memory:
        """See `Holder`."""
        return Memory(self.path)

    def write(self, opened: Memory, number: int) -> None:
        """See `Holder`."""
        opened.recall(number, "?", "flu", lambda: f"report number {number:08}.")

    def has(self, opened: Memory, number: int) -> bool:
        """See `Holder`."""

        def missing() -> Any:
            raise LookupError

        try:
            return bool(opened.recall(number, "?", "flu", missing) == f"report number {number:08}.")
        except LookupError:
            return False

    def trace(self, opened: Memory, number: int) -> bytes:
        """See `Holder`."""
        return f"report number {number:08}.".encode()

    def forget(self, opened: Memory, number: int) -> None:
        """See `Holder`."""
        opened.forget(number)


class RapporHolder(Holder):
    """Permanent responses of RAPPOR, which are kept for ever."""

    name = "rappor"
    forgets = False
    rappor = Rappor(bits=16, hashes=2, cohorts=4, f=0.5, p=0.5, q=0.75)

    def open(self) -> PermanentMemory:
        """See `Holder`."""
        return PermanentMemory(self.path, self.rappor, "browser")

    def write(self, opened: PermanentMemory, number: int) -> None:
        """See `Holder`."""
        opened.report([number], ["Firefox"])

    def has(self, opened: PermanentMemory, number: int) -> bool:
        """See `Holder`."""
        place = opened._hash("person", f"number {number}")
        return bool(opened._file.rows("SELECT 1 FROM cohorts WHERE person = ?", (place,)))


class KeyedHolder(Holder):
    """Somebody with a key."""

    @property
    def key(self) -> SecretKey:
        """In a folder of its own."""
        place = self.folder / "keys" / "study.key"
        if not place.exists():
            place.parent.mkdir()
            new_key(place)
        return read_key(place)


class MappingHolder(KeyedHolder):
    """A table of pseudonyms."""

    name = "mapping"
    scope = Scope("university", "patient", 1)
    form = TextForm("digits", 20)

    def open(self) -> Mapping:
        """See `Holder`."""
        if not (self.path.exists() or self.path.is_symlink()):
            make_mapping(self.path, self.key)
        return Mapping(self.path, self.key)

    def write(self, opened: Mapping, number: int) -> None:
        """See `Holder`."""
        opened.pseudonyms(self.scope, [str(number)], self.form)

    def has(self, opened: Mapping, number: int) -> bool:
        """See `Holder`."""
        return opened.known(self.scope, [str(number)]) != [None]

    def trace(self, opened: Mapping, number: int) -> bytes:
        """See `Holder`."""
        return str(opened.known(self.scope, [str(number)])[0]).encode()

    def forget(self, opened: Mapping, number: int) -> None:
        """See `Holder`."""
        opened.forget_person("patient", str(number))


class RegisterHolder(KeyedHolder):
    """Corrections of a register."""

    name = "register"

    def open(self) -> Register:
        """See `Holder`."""
        if not (self.path.exists() or self.path.is_symlink()):
            make_register(self.path, self.key)
        return Register(self.path, self.key)

    def write(self, opened: Register, number: int) -> None:
        """See `Holder`."""
        opened.correct("patient", str(number), "town", ["Kyoto"], "Nara")

    def has(self, opened: Register, number: int) -> bool:
        """See `Holder`."""
        return bool(self._sealed(opened, number))

    def trace(self, opened: Register, number: int) -> bytes:
        """See `Holder`."""
        return bytes(self._sealed(opened, number)[0][0])

    def forget(self, opened: Register, number: int) -> None:
        """See `Holder`."""
        opened.forget_corrections("patient", str(number))

    def _sealed(self, opened: Register, number: int) -> list[Any]:
        tag = opened.tag("patient", str(number))
        return opened._rows("SELECT sealed FROM corrections WHERE tag = ?", (tag,))


class PrioHolder(Holder):
    """Reports that an aggregator holds; a share is deleted once it is added up."""

    name = "prio"
    many_processes = False

    def open(self) -> ReportStore:
        """See `Holder`."""
        return ReportStore(self.path, "leader of a task", bytes(16))

    def write(self, opened: ReportStore, number: int) -> None:
        """See `Holder`."""
        assert opened.hold(number.to_bytes(16, "big"), self.trace(opened, number))

    def has(self, opened: ReportStore, number: int) -> bool:
        """See `Holder`."""
        nonce = number.to_bytes(16, "big")
        return nonce in opened.records([nonce])

    def trace(self, opened: ReportStore, number: int) -> bytes:
        """See `Holder`."""
        return f"the share of report {number:08}.".encode()

    def forget(self, opened: ReportStore, number: int) -> None:
        """See `Holder`."""
        held = opened.next_reports(1000)
        nonce = number.to_bytes(16, "big")
        record = opened.records([nonce])[nonce]
        opened.settle(held[0].batch, [ReportRecord(nonce, record.digest, b"")], bytes(16))


HOLDERS: dict[str, type[Holder]] = {
    holder.name: holder
    for holder in (LedgerHolder, MemoryHolder, RapporHolder, MappingHolder, RegisterHolder, PrioHolder)
}


MOMENTS = ("BEGIN IMMEDIATE after", "COMMIT before", "COMMIT after")
"""Where a process that writes ends itself: with the file held, with everything but its last word written, and right behind it."""


class Deadly:
    """A connection at which the process is killed at a moment of its next transaction."""

    def __init__(self, connection: Any, moment: str) -> None:
        self.connection = connection
        self.statement, _, self.when = moment.rpartition(" ")

    def execute(self, statement: str, *values: Any) -> Any:
        """As SQLite does."""
        is_it = statement.startswith(self.statement)
        if is_it and self.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = self.connection.execute(statement, *values)
        if is_it:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def write_and_die(name: str, folder: str, numbers: Iterable[int], moment: str) -> None:
    """Keep all items but the last, say so of each once it is kept, and be killed at a moment of keeping the last one."""
    holder = HOLDERS[name](Path(folder))
    *before, last = numbers
    opened = holder.open()
    for number in before:
        holder.write(opened, number)
        sys.stdout.write(json.dumps(number) + "\n")
        sys.stdout.flush()
    holder.replace_connection(opened, Deadly(holder.connection(opened), moment))
    holder.write(opened, last)


def write_until_killed(name: str, folder: str, numbers: Iterable[int]) -> None:
    """Keep items one after the other, and say so of each once it is kept."""
    holder = HOLDERS[name](Path(folder))
    with closing(holder.open()) as opened:
        for number in numbers:
            holder.write(opened, number)
            sys.stdout.write(json.dumps(number) + "\n")
            sys.stdout.flush()
