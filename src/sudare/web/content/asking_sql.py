"""Private SQL for the page: what can be asked where, and answers as rows and bars with their errors.

Everything goes through `sudare.connect`, as `sudare sql` does: the same prices, the same ledger, the same store of answers. A
question that was asked before costs nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.border.frames import text_width
from sudare.errors import InputError, SudareError
from sudare.ledger import open_ledger
from sudare.ledger.entries import Reserved
from sudare.privacy import Budget
from sudare.web.command_lines import command_line
from sudare.web.workspace import WorkFolder, safe_name

if TYPE_CHECKING:
    from sudare.engines import Engine
    from sudare.ledger import Reservation
    from sudare.sql.execution.connection import Connection
    from sudare.sql.execution.cursors import Cursor
    from sudare.sql.metadata.model import Metadata

__all__ = [
    "AnswerBar",
    "AnswerRows",
    "SqlPlace",
    "accounts_in",
    "answer_rows",
    "databases_in",
    "history_of",
    "likely_place",
    "metadata_in",
    "refuse_unfinished",
    "sql_folder",
]

DATABASES = (".duckdb", ".ddb", ".csv", ".parquet", ".pq")
MAX_ROWS, MAX_BARS, MAX_HISTORY = 500, 40, 100
MAX_METADATA = 1 << 20
MAX_LABEL = 18
"""Letters beside a bar; a wide one counts as two."""
TIMEOUT = 300.0
UNFINISHED = Words(
    "This question was charged before and its answer was lost on the way. Asking again would charge it again: the command "
    "below asks you whether it shall.",
    "この質問は以前に課金されましたが、回答が途中で失われました。もう一度行うと再び課金されます。"
    "下のコマンドで確認のうえ実行してください。",
)
NO_ACCOUNT = Words("Choose a data set of a ledger.", "台帳のデータセットを選んでください。")


@dataclass(frozen=True, kw_only=True)
class SqlPlace:
    """Where questions are asked and charged, by the names of the page.

    Attributes:
        data: the database or file.
        metadata: the file that says who is protected.
        ledger: where it is charged.
        dataset: its name there.
        epsilon: of a question.
    """

    data: str
    metadata: str
    ledger: str
    dataset: str
    epsilon: Decimal

    def connect(self, workspace: WorkFolder, *, reads_later: bool = False) -> Connection:
        """Open it, as `sudare sql` does.

        Args:
            workspace: of the page.
            reads_later: whether rows are read only if something asks for them: a price needs none, however large the file is.

        Raises:
            InputError: if something is not in the folder.
            PlanError: if the metadata have a mistake.
        """
        from sudare.sql.execution.opening import open_described
        from sudare.sql.metadata.file import read_metadata

        if not self.ledger or not self.dataset:
            raise InputError(NO_ACCOUNT)
        known = read_metadata(workspace.place(self.metadata))
        engine = open_described(workspace.place(self.data), known, reads_later=reads_later)
        try:
            return self._charging(workspace, engine, known)
        except BaseException:
            engine.close()
            raise

    def _charging(self, workspace: WorkFolder, engine: Engine, known: Metadata) -> Connection:
        from sudare.sql.execution.connection import connect

        return connect(
            engine,
            known,
            Budget(epsilon=self.epsilon),
            ledger=workspace.place(self.ledger),
            dataset=self.dataset,
            timeout=TIMEOUT,
        )

    def command(self, action: str, sql: str) -> str:
        """The command line that does the same."""
        where = ("--data", self.data, "--metadata", self.metadata, "--ledger", self.ledger, "--dataset", self.dataset)
        return command_line("sql", action, *where, "--epsilon", self.epsilon, sql)


@dataclass(frozen=True, kw_only=True)
class AnswerBar:
    """A number of an answer in a picture, in shares of its width.

    Attributes:
        label: what it is about.
        start: where the bar begins.
        width: of the bar.
        low: end of the error bar.
        high: the other end.
        text: the number with its error.
    """

    label: str
    start: float
    width: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, kw_only=True)
class AnswerRows:
    """An answer, as it is shown.

    Attributes:
        names: of the columns.
        numbers: which of them have an error.
        rows: with the error beside each number.
        bars: of the first column of numbers; none if there is none.
        charted: that column.
        total: rows of the answer.
    """

    names: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    bars: tuple[AnswerBar, ...]
    charted: str
    total: int


def databases_in(workspace: WorkFolder) -> list[str]:
    """Files that can be asked."""
    return [name for name in workspace.data_files() if name.lower().endswith(DATABASES)]


def metadata_in(workspace: WorkFolder) -> list[str]:
    """Files that say who is protected, told by their sections."""
    found = []
    for name in workspace.toml_files():
        path = workspace.place(name)
        try:
            if path.stat().st_size > MAX_METADATA:
                continue
            said = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        tables = said.get("tables")
        if isinstance(tables, dict) and isinstance(said.get("unit"), dict) and "name" in said["unit"]:
            found.append(name)
    return found


def accounts_in(workspace: WorkFolder) -> list[tuple[str, str]]:
    """Data sets of the ledgers: a ledger and a name."""
    found: list[tuple[str, str]] = []
    for location in workspace.ledgers():
        try:
            with open_ledger(workspace.place(location)) as ledger:
                found += [(location, dataset.name) for dataset in ledger.datasets()]
        except SudareError:
            continue
    return found


def likely_place(
    databases: Sequence[str], metadata: Sequence[str], accounts: Sequence[tuple[str, str]]
) -> tuple[str, str, str]:
    """Data, metadata and account that probably belong together: those that this page made lie in one folder.

    Args:
        databases: files that can be asked.
        metadata: files that say who is protected; the first one is taken.
        accounts: data sets of the ledgers.
    """
    file = metadata[0] if metadata else ""
    folder = PurePosixPath(file).parent
    ledger, dataset = next(
        (one for one in accounts if PurePosixPath(one[0]).parent == folder), accounts[0] if accounts else ("", "")
    )
    named = (one for one in databases if folder.name.startswith(sql_folder(one)))
    return next(named, databases[0] if databases else ""), file, f"{ledger}::{dataset}"


def sql_folder(file: str) -> str:
    """What the folder with the metadata and the ledger of a file is called."""
    return safe_name(f"{PurePosixPath(file).stem}-sql")


def refuse_unfinished(left: Sequence[Reservation]) -> None:
    """Nothing is charged twice by a click."""
    raise InputError(UNFINISHED)


def history_of(place: Path, dataset: str) -> list[tuple[int, str, str, Budget]]:
    """What was charged to a data set: entry, time, question and cost; the latest first."""
    with open_ledger(place) as ledger:
        lines = [
            (entry.number, entry.time, said.purpose, said.cost)
            for entry in ledger.entries(dataset)
            if isinstance(said := entry.read(), Reserved)
        ]
    return list(reversed(lines))[:MAX_HISTORY]


def answer_rows(cursor: Cursor) -> AnswerRows:
    """An answer as rows and bars; the same errors as `sudare sql run` prints."""
    noisy = cursor.noisy
    names = tuple(name for name, *_ in cursor.description or [])
    columns = [column.to_pylist()[:MAX_ROWS] for column in noisy.table.columns]
    reaches = {place: [float(one) for one in reach[:MAX_ROWS]] for place, reach in noisy.reaches.items()}
    shown = [
        [_text(value, reaches[place][row] if place in reaches else None) for row, value in enumerate(values)]
        for place, values in enumerate(columns)
    ]
    charted = next((place for place in range(len(names)) if place in reaches), None)
    keys = [place for place in range(len(names)) if place not in reaches and place not in noisy.ranks]
    bars: tuple[AnswerBar, ...] = ()
    if charted is not None:
        labels = [" / ".join(shown[place][row] for place in keys) for row in range(len(columns[charted]))]
        bars = _bars(labels, columns[charted], reaches[charted], shown[charted])
    return AnswerRows(
        names=names,
        numbers=tuple(place in reaches or place in noisy.ranks for place in range(len(names))),
        rows=tuple(zip(*shown, strict=True)),
        bars=bars,
        charted="" if charted is None else names[charted],
        total=int(noisy.table.num_rows),
    )


def _bars(
    labels: Sequence[str], values: Sequence[Any], reach: Sequence[float], texts: Sequence[str]
) -> tuple[AnswerBar, ...]:
    known = [
        (label, float(value), error, text)
        for label, value, error, text in zip(labels, values, reach, texts, strict=True)
        if value is not None and isfinite(float(value)) and isfinite(error)
    ][:MAX_BARS]
    if not known:
        return ()
    low = min(0.0, *(value - error for _, value, error, _ in known))
    high = max(0.0, *(value + error for _, value, error, _ in known))
    width = (high - low) or 1.0

    def share(number: float) -> float:
        return round((number - low) / width, 4)

    return tuple(
        AnswerBar(
            label=_cut(label),
            start=min(share(0), share(value)),
            width=abs(share(value) - share(0)),
            low=share(value - error),
            high=share(value + error),
            text=text,
        )
        for label, value, error, text in known
    )


def _cut(label: str) -> str:
    """A label that is no wider than its place in the picture; the table has it whole."""
    if text_width(label) <= MAX_LABEL:
        return label
    kept = next(label[:end] for end in range(len(label), -1, -1) if text_width(label[:end]) < MAX_LABEL)
    return f"{kept}…"


def _text(value: object, error: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return str(value)
    text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
    return text if error is None or not isfinite(error) else f"{text} ± {error:,.3g}"
