"""What the parties send each other, as bytes: versioned, with stated lengths, and read strictly.

A message is four letters, a version, its kind, the digest of the task it belongs to, and its fields. A field of bytes
has its length (4 bytes, lowest first) in front, a number has 8 bytes. A message that is too short, too long, of
another kind, version or task is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from sudare.collect.prio.refusals import ReportRefusedError

__all__ = [
    "CollectRequest",
    "Collection",
    "Job",
    "JobAnswer",
    "JobItem",
    "ReportOutcome",
    "ShareAnswer",
    "ShareRequest",
    "UploadedReport",
]

MAGIC = b"SPRI"
VERSION = 1
DIGEST_SIZE = 32
NONCE_SIZE = 16
HEAD_SIZE = len(MAGIC) + 2 + DIGEST_SIZE
ANY_BATCH = 2**64 - 1
"""Asks for the batch that is due, whatever its number."""


@dataclass(frozen=True)
class UploadedReport:
    """A client's report: both input shares are sealed, each to its aggregator."""

    nonce: bytes
    public_share: bytes
    leader_sealed: bytes
    helper_sealed: bytes

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        return _Writer(1, task).raw(self.nonce).field(self.public_share, self.leader_sealed, self.helper_sealed).done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> UploadedReport:
        """From bytes."""
        reader = _Reader(data, 1, task)
        report = UploadedReport(reader.raw(NONCE_SIZE), reader.field(), reader.field(), reader.field())
        reader.end()
        return report


@dataclass(frozen=True)
class JobItem:
    """One report of a job: the helper's sealed share, and what the leader found in its own."""

    nonce: bytes
    public_share: bytes
    helper_sealed: bytes
    verifier_share: bytes

    def pack(self) -> bytes:
        """As bytes, without a head."""
        return _Writer().raw(self.nonce).field(self.public_share, self.helper_sealed, self.verifier_share).done()


@dataclass(frozen=True)
class Job:
    """What the leader asks the helper to verify with it, for one batch."""

    batch: int
    items: tuple[JobItem, ...]

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        return _Writer(2, task).number(self.batch, len(self.items)).raw(*(item.pack() for item in self.items)).done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> Job:
        """From bytes."""
        reader = _Reader(data, 2, task)
        batch, count = reader.number(), reader.number()
        items = []
        for _ in range(reader.at_most(count, NONCE_SIZE)):
            items.append(JobItem(reader.raw(NONCE_SIZE), reader.field(), reader.field(), reader.field()))
        reader.end()
        return Job(batch, tuple(items))


@dataclass(frozen=True)
class ReportOutcome:
    """What became of one report: the message that ends its verification, or None if it was dropped."""

    nonce: bytes
    message: bytes | None


@dataclass(frozen=True)
class JobAnswer:
    """What the helper found, in the order of the job."""

    outcomes: tuple[ReportOutcome, ...]

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        writer = _Writer(3, task).number(len(self.outcomes))
        for outcome in self.outcomes:
            writer.raw(outcome.nonce, bytes([outcome.message is not None])).field(outcome.message or b"")
        return writer.done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> JobAnswer:
        """From bytes."""
        reader = _Reader(data, 3, task)
        outcomes = []
        for _ in range(reader.at_most(reader.number(), NONCE_SIZE)):
            nonce, accepted, message = reader.raw(NONCE_SIZE), reader.raw(1), reader.field()
            if accepted not in (b"\x00", b"\x01"):
                raise unreadable()
            outcomes.append(ReportOutcome(nonce, message if accepted == b"\x01" else None))
        reader.end()
        return JobAnswer(tuple(outcomes))


@dataclass(frozen=True)
class ShareRequest:
    """The leader asks for the helper's aggregate share of a batch, and says what it believes is in it."""

    batch: int
    reports: int
    checksum: bytes

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        return _Writer(4, task).number(self.batch, self.reports).raw(self.checksum).done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> ShareRequest:
        """From bytes."""
        reader = _Reader(data, 4, task)
        request = ShareRequest(reader.number(), reader.number(), reader.raw(DIGEST_SIZE))
        reader.end()
        return request


@dataclass(frozen=True)
class ShareAnswer:
    """An aggregate share, sealed to the collector."""

    sealed: bytes

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        return _Writer(5, task).field(self.sealed).done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> ShareAnswer:
        """From bytes."""
        reader = _Reader(data, 5, task)
        answer = ShareAnswer(reader.field())
        reader.end()
        return answer


@dataclass(frozen=True)
class CollectRequest:
    """The collector asks for a batch by its number, or for the one that is due."""

    batch: int = ANY_BATCH

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        return _Writer(6, task).number(self.batch).done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> CollectRequest:
        """From bytes."""
        reader = _Reader(data, 6, task)
        request = CollectRequest(reader.number())
        reader.end()
        return request


@dataclass(frozen=True)
class Collection:
    """A whole batch for the collector: both aggregate shares, sealed, and what is in them."""

    batch: int
    reports: int
    rejected: int
    checksum: bytes
    leader_sealed: bytes
    helper_sealed: bytes

    def pack(self, task: bytes) -> bytes:
        """As bytes."""
        writer = _Writer(7, task).number(self.batch, self.reports, self.rejected).raw(self.checksum)
        return writer.field(self.leader_sealed, self.helper_sealed).done()

    @staticmethod
    def unpack(data: bytes, task: bytes) -> Collection:
        """From bytes."""
        reader = _Reader(data, 7, task)
        numbers = reader.number(), reader.number(), reader.number()
        collection = Collection(*numbers, reader.raw(DIGEST_SIZE), reader.field(), reader.field())
        reader.end()
        return collection


def purpose_of_input(role: str, task: bytes, nonce: bytes, public_share: bytes) -> bytes:
    """What the seal of an input share is bound to."""
    return _Writer().raw(b"sudare prio input 1 ", role.encode(), task, nonce).field(public_share).done()


def purpose_of_aggregate(role: str, task: bytes, batch: int, reports: int, checksum: bytes) -> bytes:
    """What the seal of an aggregate share is bound to."""
    head = b"sudare prio aggregate 1 " + role.encode()
    return _Writer().raw(head, task).number(batch, reports).raw(checksum).done()


def unreadable() -> ReportRefusedError:
    """For a message that is not what it should be."""
    return ReportRefusedError(
        "A message cannot be read: it is cut off, damaged, or of another kind, version or task. Check that all parties "
        "have the same task file and the same version of sudare.",
        "メッセージを読めません。途中で切れたか破損したか、別の種類・版・タスクのものです。"
        "全員が同じタスクファイルと同じ版の sudare を使っているか確認してください。",
    )


class _Writer:
    def __init__(self, kind: int | None = None, task: bytes = b"") -> None:
        self._pieces = [] if kind is None else [MAGIC, bytes([VERSION, kind]), task]

    def raw(self, *pieces: bytes) -> _Writer:
        self._pieces.extend(pieces)
        return self

    def field(self, *fields: bytes) -> _Writer:
        for field in fields:
            self._pieces += [len(field).to_bytes(4, "little"), field]
        return self

    def number(self, *numbers: int) -> _Writer:
        self._pieces += [number.to_bytes(8, "little") for number in numbers]
        return self

    def done(self) -> bytes:
        return b"".join(self._pieces)


class _Reader:
    def __init__(self, data: bytes, kind: int, task: bytes) -> None:
        self._data, self._at = data, HEAD_SIZE
        if data[:HEAD_SIZE] != MAGIC + bytes([VERSION, kind]) + task:
            raise unreadable()

    def raw(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if len(piece) != size:
            raise unreadable()
        self._at += size
        return piece

    def field(self) -> bytes:
        return self.raw(int.from_bytes(self.raw(4), "little"))

    def number(self) -> int:
        return int.from_bytes(self.raw(8), "little")

    def at_most(self, count: int, size: int) -> int:
        """A count of items, refused if the rest of the message cannot hold this many."""
        if count * size > len(self._data) - self._at:
            raise unreadable()
        return count

    def end(self) -> None:
        if self._at != len(self._data):
            raise unreadable()
