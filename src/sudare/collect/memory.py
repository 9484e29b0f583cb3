"""Permanent answers: the same question about the same value gets the same report, forever.

Whoever is asked every day and randomizes anew each time gives the truth away: the average of many reports is as good as the
truth. So the first report is kept, and sent again. The keeping is durable: a report leaves only after it is on the disk, and two
processes that ask at once get one answer.

A memory holds true values. It belongs on the person's device, or with whoever holds the values anyway; only its owner may
read it. It needs nothing but the standard library.

Proof and limits: ``memory.md`` beside this file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.collect.client import Client
from sudare.errors import Described, InputError, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.collect.randomizer import Randomizer
    from sudare.noise.entropy import EntropySource

__all__ = ["Memory"]

APPLICATION = 0x73756461
"""Marks the file as a memory of this package."""

VERSION = 1
LONGEST_WAIT = 60.0
"""Seconds until a memory that another process holds is given up."""

SCHEMA = (
    """CREATE TABLE answers (person TEXT NOT NULL, question TEXT NOT NULL, value TEXT NOT NULL, report TEXT NOT NULL,
        PRIMARY KEY (person, question, value)) WITHOUT ROWID""",
    "CREATE TABLE questions (question TEXT PRIMARY KEY, randomizer TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class Memory:
    """Permanent reports in one SQLite file.

    Args:
        path: the file; it is made if it is not there.

    Raises:
        InputError: if the file is something else, damaged, or cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect import KaryResponse, Memory
        >>> illness = KaryResponse(("yes", "no"), 1)
        >>> with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "answers.db") as memory:
        ...     answers = {memory.respond(illness, "ann", "yes", question="flu?") for day in range(30)}
        ...     len(answers), memory.cost(illness, "ann", question="flu?") == illness.epsilon()
        (1, True)
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._process = os.getpid()
        self._lock = threading.RLock()
        with self._told():
            _make_private(self._path)
            self._connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=LONGEST_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
            # A commit is on the disk before it returns, and before others see it; what is forgotten is overwritten.
            for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {setting}").fetchall()
            with self._writing():
                self._make_or_check()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if os.getpid() == self._process:
            self._connection.close()

    def recall(self, person: str | int, question: str, value: object, make: Callable[[], Any]) -> Any:
        """What was kept for a person's value, or what ``make`` gives, kept from now on.

        Args:
            person: who is asked.
            question: what is asked; anything that tells questions apart.
            value: the true value: a text, a whole number or a truth value.
            make: draws a report, as JSON writes it; called at most once, and only if none is kept.
        """
        key = (_key(person, "person"), question, _key(value, "value"))
        with self._told(), self._lock:
            self._require_same_process()
            kept = self._find(key)
            if kept is None:
                with self._writing():
                    kept = self._find(key)
                    if kept is None:
                        kept = json.dumps(make())
                        self._connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", (*key, kept))
        return json.loads(kept)

    def respond(self, randomizer: Client | Randomizer, person: str | int, value: object, *, question: str) -> Any:
        """A person's permanent report for a value, as JSON writes it.

        Args:
            randomizer: a `Client`, or any `Randomizer`.
            person: who is asked.
            value: the true value.
            question: what is asked. Two questions must have two names, even if they share a randomizer: a person whose reports to
                both were one and the same draw would show whether the two values agree.

        Raises:
            ParameterError: if the value is none of the randomizer's.
            InputError: if the question was answered by another randomizer before: a second report would tell more.
        """

        def make() -> Any:
            if isinstance(randomizer, Client):
                return randomizer.randomize(value)  # type: ignore[arg-type]
            from sudare.collect.reports import plain_report

            return plain_report(randomizer, value)

        point = _point(randomizer, value)
        self._agree(randomizer, question)
        return self.recall(person, question, point, make)

    def respond_all(
        self,
        randomizer: Randomizer,
        persons: Sequence[str | int],
        values: ArrayLike,
        *,
        question: str,
        entropy: EntropySource | None = None,
    ) -> NDArray[Any]:
        """The permanent reports of many people, as the randomizer's `estimate` takes them; all or none are kept.

        Args:
            randomizer: how new reports are drawn.
            persons: who is asked.
            values: their true values.
            question: what is asked; see `respond`.
            entropy: where the bits come from; the secure source by default.
        """
        import numpy as np

        from sudare.collect.forms import form_of

        form, truths = form_of(randomizer), np.asarray(values)
        if truths.ndim != 1 or truths.size != len(persons):
            raise ParameterError("values", "Memory.respond_all", "one value for each person", Described("others"))
        points = randomizer.grid.places(truths) if hasattr(randomizer, "grid") else truths
        keys = [(_key(p, "person"), _key(v, "values")) for p, v in zip(persons, points.tolist(), strict=True)]
        self._agree(randomizer, question)
        with self._told(), self._lock:
            self._require_same_process()
            with self._writing():
                kept = self._find_all(question, keys)
                missing: dict[tuple[str, str], int] = {}
                for place, key in enumerate(keys):
                    if key not in kept:
                        missing.setdefault(key, place)
                if missing:
                    drawn = form.to_plain(randomizer.randomize(truths[list(missing.values())], entropy))
                    new = {key: json.dumps(plain) for key, plain in zip(missing, drawn, strict=True)}
                    self._connection.executemany(
                        "INSERT INTO answers VALUES (?, ?, ?, ?)", [(p, question, v, new[p, v]) for p, v in new]
                    )
                    kept.update(new)
        read = form.reader(randomizer)
        return form.gathered([read(json.loads(kept[key])) for key in keys], randomizer)

    def answered(self, randomizer: Client | Randomizer, person: str | int, *, question: str) -> int:
        """For how many different values a person has answered a question."""
        self._agree(randomizer, question, only_look=True)
        with self._told(), self._lock:
            found = self._connection.execute(
                "SELECT count(*) FROM answers WHERE person = ? AND question = ?",
                (_key(person, "person"), question),
            ).fetchone()
        return int(found[0])

    def cost(self, randomizer: Client | Randomizer, person: str | int, *, question: str) -> Fraction:
        """The epsilon of all reports that a person gave to a question, however often: once for each different value.

        It bounds what they tell about the values, not about when the value changed: see ``memory.md``.
        """
        return self.answered(randomizer, person, question=question) * randomizer.epsilon()

    def forget(self, person: str | int) -> None:
        """Erase all that is kept of a person. Whoever answers again after it pays again."""
        with self._told(), self._lock:
            self._require_same_process()
            with self._writing():
                self._connection.execute("DELETE FROM answers WHERE person = ?", (_key(person, "person"),))
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _agree(self, randomizer: Client | Randomizer, question: str, *, only_look: bool = False) -> None:
        """A question has one randomizer for ever: whoever changes it a little must not get a fresh report of the same value."""
        if not isinstance(question, str) or not question:
            raise ParameterError("question", "Memory.respond", "a name for the question", shown(question))
        own = randomizer.fingerprint()
        find = "SELECT randomizer FROM questions WHERE question = ?"
        with self._told(), self._lock:
            self._require_same_process()
            known = self._connection.execute(find, (question,)).fetchone()
            if known is None and not only_look:
                with self._writing():
                    self._connection.execute("INSERT OR IGNORE INTO questions VALUES (?, ?)", (question, own))
                known = self._connection.execute(find, (question,)).fetchone()
        if known is not None and known[0] != own:
            raise InputError(
                f"This memory holds answers to '{question}' by another randomizer, or by another version of its "
                "specification. "
                "A second report of the same answers would give more away: keep the specification, or ask a new "
                "question under "
                "another name, which costs anew.",
                f"この記憶ファイルには、「{question}」への回答が別の乱択器（または別の版の仕"
                "様）で記録されています。同じ回答を別の方法で報告すると"
                "漏れる情報が増えます。仕様を変えないか、"
                "新しい名前の質問として尋ねてください（費用が新たにかかります）。",
            )

    def _find(self, key: tuple[str, str, str]) -> str | None:
        statement = "SELECT report FROM answers WHERE person = ? AND question = ? AND value = ?"
        found = self._connection.execute(statement, key).fetchone()
        return None if found is None else str(found[0])

    def _find_all(self, question: str, keys: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
        self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS asked (person TEXT, value TEXT)")
        self._connection.execute("DELETE FROM asked")
        self._connection.executemany("INSERT INTO asked VALUES (?, ?)", keys)
        statement = (
            "SELECT person, value, report FROM asked CROSS JOIN answers USING (person, value) WHERE question = ?"
        )
        found = {(p, v): str(report) for p, v, report in self._connection.execute(statement, (question,))}
        self._connection.execute("DELETE FROM asked")
        return found

    def _make_or_check(self) -> None:
        connection = self._connection
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if not tables and not application:
            for statement in SCHEMA:
                connection.execute(statement)
        elif application != APPLICATION or version != VERSION or not {"answers", "questions"} <= tables:
            raise _not_a_memory(self._path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time, all or nothing, on the disk at the end."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    def _require_same_process(self) -> None:
        if os.getpid() != self._process:
            raise InputError(
                "This memory was opened by another process; open it again in each process.",
                "この記憶ファイルは別のプロセスで開かれたものです。プロセスごとに開き直してください。",
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in the user's words what went wrong with the file, and nothing of what it holds."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                raise _not_a_memory(self._path) from None
            raise _not_usable(self._path, name or type(error).__name__) from None
        except OSError as error:
            raise _not_usable(self._path, os.strerror(error.errno or 0)) from None


def _point(randomizer: Client | Randomizer, value: object) -> object:
    """What a value means to a randomizer: for a number the place of its point of the grid, so that 17 and 17.2 are one answer."""
    if isinstance(randomizer, Client):
        return randomizer.point_of(value)
    if not hasattr(randomizer, "grid"):
        return value
    import numpy as np

    return int(randomizer.grid.places(np.asarray([value]))[0])


def _key(value: Any, parameter: str) -> str:
    """As JSON, in which 1, "1" and true are different."""
    plain = value.item() if hasattr(value, "item") else value
    if type(plain) not in (str, int, bool):
        requirement = "a text, a whole number or a truth value"
        raise ParameterError(parameter, "Memory", requirement, Described(f"an object of type {type(value).__name__}"))
    return json.dumps(plain, ensure_ascii=True)


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner may read, and bring its name to the disk."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _not_a_memory(path: Path) -> InputError:
    return InputError(
        f"The file {str(path)!r} is not a memory of permanent answers, is damaged, or is of another version. "
        "Give another path; a new file is made by itself.",
        f"ファイル {str(path)!r} は永続回答の記憶ファイルではないか、壊れているか、バージョンが異なります。"
        "別のパスを指定してください（なければ新しく作られます）。",
    )


def _not_usable(path: Path, reason: str) -> InputError:
    return InputError(
        f"The memory {str(path)!r} cannot be used ({reason}). It and its folder must be writable for you, and the "
        "disk not full.",
        f"記憶ファイル {str(path)!r} を使えません（{reason}）。書き込み権限とディスクの空きをご確認ください。",
    )
