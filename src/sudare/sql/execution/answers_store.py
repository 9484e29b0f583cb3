"""Answers on the disk: each is written once, before it is settled, and handed out again for the same query.

An answer is one Arrow file: the table, and with it a record of the query, the event and the numbers of the reservations. The
ledger's settlement has the file's hash. So an answer is found by its fingerprint in the ledger, and is used only if the
file is what was settled.

The name of the file ends with a seal that only the ledger's secret can make. By it an answer that was complete when its process
was killed is known to be ours, and is settled by the next identical query.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import OutputError, SudareError
from sudare.privacy.events import ReleaseEvent
from sudare.storage.atomic import atomically
from sudare.storage.guarded_json import parse_json
from sudare.system.reasons import reason_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["AnswerStore", "NoisyTable", "StoredAnswer"]

VERSION = 1
RECORD = b"sudare"
"""Where a file's metadata has the record."""


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """The answer to a query as it is handed out.

    Attributes:
        table: the columns that the query asked for.
        deviations: standard deviation of the noise of each number, by the position of its column, where it is known.
        reaches: how far a number may be off with probability 0.95, likewise.
        ranks: of quantiles, how many rows lie between a number and the wanted one with probability 0.95, at most, likewise.
        perhaps_empty: for each row whether nobody may be in its group: its noisy number of rows is no larger than its error.
            None where groups are not public, or their rows were not counted.
        event: what was drawn and what it costs; None if everything is public.
    """

    table: pa.Table
    deviations: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    reaches: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    ranks: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    perhaps_empty: NDArray[np.bool_] | None = None
    event: ReleaseEvent | None = None


@dataclass(frozen=True, eq=False)
class StoredAnswer:
    """An answer that was found on the disk.

    Attributes:
        answer: as it was handed out when it was made.
        fingerprint: of the query.
        reservations: what it was reserved as, by account.
        digest: SHA-256 of the file, as the ledger's settlement has it.
        name: of the file.
    """

    answer: NoisyTable
    fingerprint: str
    reservations: Mapping[str, int]
    digest: str
    name: str


class AnswerStore:
    """A folder of answers.

    Args:
        folder: made if it is not there, readable by its owner only.
        secret: of the data set.

    Raises:
        OutputError: if the folder cannot be made.
    """

    def __init__(self, folder: Path, secret: bytes) -> None:
        self.folder, self._secret = folder, secret
        with _translate_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, fingerprint: str, query: str, answer: NoisyTable, reservations: Mapping[str, int]) -> StoredAnswer:
        """Put an answer on the disk; when this returns it is there, whatever happens next."""
        if answer.event is None:
            raise ValueError("answers without noise are not stored")
        spread = _spread_columns(answer)
        values = {
            "version": VERSION,
            "fingerprint": fingerprint,
            "query": query,
            "columns": answer.table.num_columns,
            "spread": [name for name, _ in spread],
            "reservations": dict(reservations),
            "event": json.loads(answer.event.to_json()),
        }
        content = _to_bytes(answer.table, spread, json.dumps(values, ensure_ascii=False))
        name = f"{fingerprint[:32]}-{min(reservations.values())}-{self._seal(content)}.arrow"
        with atomically(self.folder / name, replace=True) as temporary:
            temporary.write_bytes(content)
        return self._read(content, name)

    def settled(self, name: str, digest: str) -> StoredAnswer | None:
        """An answer that the ledger settled with this hash; None if it is gone or is not what was settled."""
        content = self._content(name)
        return None if content is None or sha256(content).hexdigest() != digest else self._checked(content, name)

    def abandoned(self, fingerprint: str) -> Iterator[StoredAnswer]:
        """Complete answers to a query that bear the ledger's seal, settled or not."""
        for path in sorted(self.folder.glob(f"{fingerprint[:32]}-*.arrow")):
            content, seal = self._content(path.name), path.stem.rpartition("-")[2]
            if content is not None and hmac.compare_digest(seal.encode(), self._seal(content).encode()):
                record = self._checked(content, path.name)
                if record is not None and record.fingerprint == fingerprint:
                    yield record

    def _content(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes() if Path(name).name == name else None
        except OSError:
            return None

    def _checked(self, content: bytes, name: str) -> StoredAnswer | None:
        import pyarrow as pa

        try:
            return self._read(content, name)
        except (ValueError, KeyError, TypeError, SudareError, pa.ArrowException):
            return None

    def _read(self, content: bytes, name: str) -> StoredAnswer:
        import pyarrow as pa

        with pa.ipc.open_file(pa.BufferReader(content)) as reader:
            whole = reader.read_all()
        values = parse_json((whole.schema.metadata or {})[RECORD], lenient=True)
        if values["version"] != VERSION:
            raise ValueError("an answer of another version")
        number = int(values["columns"])
        kinds: dict[str, dict[int, NDArray[np.float64]]] = {"deviation": {}, "reach": {}, "rank": {}, "empty": {}}
        for place, told in enumerate(values["spread"], start=number):
            kind, _, column = told.partition(" ")
            kinds[kind][int(column)] = whole.column(place).to_numpy(zero_copy_only=False)
        event = ReleaseEvent.from_json(json.dumps(values["event"]))
        table = whole.select(list(range(number))).replace_schema_metadata(None)
        empty = kinds["empty"][0] > 0 if kinds["empty"] else None
        answer = NoisyTable(table, kinds["deviation"], kinds["reach"], kinds["rank"], empty, event)
        reservations = {str(account): int(entry) for account, entry in values["reservations"].items()}
        return StoredAnswer(answer, values["fingerprint"], reservations, sha256(content).hexdigest(), name)

    def _seal(self, content: bytes) -> str:
        return hmac.new(self._secret, b"sudare sql answer\0" + content, sha256).hexdigest()


def _spread_columns(answer: NoisyTable) -> list[tuple[str, Any]]:
    kinds: dict[str, Mapping[int, Any]] = {
        "deviation": answer.deviations,
        "reach": answer.reaches,
        "rank": answer.ranks,
        "empty": {} if answer.perhaps_empty is None else {0: answer.perhaps_empty},
    }
    return [
        (f"{kind} {column}", np.asarray(values, np.float64))
        for kind, columns in kinds.items()
        for column, values in sorted(columns.items())
    ]


def _to_bytes(table: pa.Table, spread: list[tuple[str, Any]], record: str) -> bytes:
    import pyarrow as pa

    whole = table.replace_schema_metadata({RECORD: record.encode("utf-8", "surrogatepass")})
    for name, values in spread:
        whole = whole.append_column(name, pa.array(values, pa.float64()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, whole.schema) as writer:
        writer.write_table(whole)
    return bytes(sink.getvalue())


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"Answers cannot be kept in '{folder}': {reason_of(error).english}. Name another folder; nothing was charged.",
            f"フォルダ「{folder}」に回答を保存できません: {reason_of(error).japanese}。別のフォルダを指定してください。"
            "費用は発生していません。",
        ) from None
