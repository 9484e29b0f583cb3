"""Permanent answers: the same question about the same value gets the same report, forever.

Anyone who is asked every day and randomizes anew each time gives the truth away: the average of many reports is as good as the
truth. So the first report is kept, and sent again. The keeping is durable: a report leaves only after it is on the disk, and two
processes that ask at once get one answer.

A memory holds true values. It belongs on the person's device, or with a holder of the values; only its owner may read it. It
needs nothing but the standard library.

Proof and limits: ``memory.md`` beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.collect.device.client import Client
from sudare.collect.device.durable import DurableFile, drawn_for_research
from sudare.errors import Described, InputError, ParameterError
from sudare.parameters import shown
from sudare.storage.guarded_json import parse_json

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import ArrayLike, NDArray

    from sudare.collect.randomizers.randomizer import Randomizer
    from sudare.noise.entropy import EntropySource

__all__ = ["Memory"]

APPLICATION = 0x73756461
"""Marks the file as a memory of this package."""

VERSION = 1
SCHEMA = (
    """CREATE TABLE answers (person TEXT NOT NULL, question TEXT NOT NULL, value TEXT NOT NULL, report TEXT NOT NULL,
        PRIMARY KEY (person, question, value)) WITHOUT ROWID""",
    "CREATE TABLE questions (question TEXT PRIMARY KEY, randomizer TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA user_version = {VERSION}",
)


class Memory:
    """Permanent reports in one SQLite file.

    Args:
        path: the file; it is made if it is not there.

    Raises:
        InputError: if the file is something else, damaged, or open to others and not the caller's own.
        OutputError: if it cannot be written.

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
        self._file = DurableFile(path, APPLICATION, SCHEMA)
        tables = {name for (name,) in self._file.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if self._file.rows("PRAGMA user_version") != [(VERSION,)] or not {"answers", "questions"} <= tables:
            self._file.close()
            raise self._file.not_a_memory()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def recall(self, person: str | int, question: str, value: object, make: Callable[[], Any]) -> Any:
        """What was kept for a person's value, or what ``make`` gives, kept from now on.

        Args:
            person: who is asked.
            question: what is asked; anything that tells questions apart.
            value: the true value: a text, a whole number or a truth value.
            make: draws a report, as JSON writes it; called at most once, and only if none is kept.
        """
        key = (_key(person, "person"), question, _key(value, "value"))
        kept = self._find(key)
        if kept is None:
            with self._file.writing() as connection:
                kept = self._find(key)
                if kept is None:
                    kept = json.dumps(make())
                    connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", (*key, kept))
        return self._read(kept)

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
            NotPrivateError: if a client draws from other words than the operating system's.
        """
        if isinstance(randomizer, Client) and not randomizer.is_private:
            raise drawn_for_research(f"the question {question!r}")

        def make() -> Any:
            if isinstance(randomizer, Client):
                return randomizer.randomize(value)  # type: ignore[arg-type]
            from sudare.collect.questionnaires.reports import plain_report

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
            entropy: where the bits come from; the secure source by default, and no other one is taken.

        Raises:
            NotPrivateError: if they would come from research entropy.
        """
        import numpy as np

        from sudare.collect.questionnaires.report_forms import form_of
        from sudare.noise.entropy import entropy_name
        from sudare.noise.sampler import read_entropy

        source = read_entropy(entropy, "Memory.respond_all")
        if entropy_name(source) != "secure":
            raise drawn_for_research(f"the question {question!r}")
        form, truths = form_of(randomizer), np.asarray(values)
        if truths.ndim != 1 or truths.size != len(persons):
            raise ParameterError("values", "Memory.respond_all", "one value for each person", Described("others"))
        points = randomizer.points_of(truths)
        keys = [(_key(p, "person"), _key(v, "values")) for p, v in zip(persons, points.tolist(), strict=True)]
        self._agree(randomizer, question)
        with self._file.writing() as connection:
            kept = _find_all(connection, question, keys)
            missing: dict[tuple[str, str], int] = {}
            for place, key in enumerate(keys):
                if key not in kept:
                    missing.setdefault(key, place)
            if missing:
                drawn = form.to_plain(randomizer.randomize(truths[list(missing.values())], source))
                new = {key: json.dumps(plain) for key, plain in zip(missing, drawn, strict=True)}
                rows = [(p, question, v, new[p, v]) for p, v in new]
                connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?)", rows)
                kept.update(new)
        read = form.reader(randomizer)
        return form.gathered([read(self._read(kept[key])) for key in keys], randomizer)

    def answered(self, randomizer: Client | Randomizer, person: str | int, *, question: str) -> int:
        """For how many different values a person has answered a question."""
        self._agree(randomizer, question, only_look=True)
        statement = "SELECT count(*) FROM answers WHERE person = ? AND question = ?"
        return int(self._file.rows(statement, (_key(person, "person"), question))[0][0])

    def cost(self, randomizer: Client | Randomizer, person: str | int, *, question: str) -> Fraction:
        """The epsilon of all reports that a person gave to a question, however often: once for each different value.

        It bounds what they tell about the values, not about when the value changed: see ``memory.md``.
        """
        return self.answered(randomizer, person, question=question) * randomizer.epsilon()

    def forget(self, person: str | int) -> None:
        """Erase all that is kept of a person, from the disk too. Anyone who answers again after it pays again.

        Raises:
            OutputError: if another program reads the memory all the while. The person is forgotten, but what was kept still
                stands in the log file; end the other program and forget once more.
        """
        with self._file.writing() as connection:
            connection.execute("DELETE FROM answers WHERE person = ?", (_key(person, "person"),))
        self._file.empty_log()

    def _agree(self, randomizer: Client | Randomizer, question: str, *, only_look: bool = False) -> None:
        """A question has one randomizer for ever: a small change must not give a fresh report of the same value."""
        if not isinstance(question, str) or not question:
            raise ParameterError("question", "Memory.respond", "a name for the question", shown(question))
        own = randomizer.fingerprint()
        find = "SELECT randomizer FROM questions WHERE question = ?"
        known = self._file.rows(find, (question,))
        if not known and not only_look:
            with self._file.writing() as connection:
                connection.execute("INSERT OR IGNORE INTO questions VALUES (?, ?)", (question, own))
            known = self._file.rows(find, (question,))
        if known and known[0][0] != own:
            raise InputError(
                f"This memory holds answers to '{question}' by another randomizer, or by another version of its "
                "specification. "
                "A second report of the same answers would give more away: keep the specification, or ask a new "
                "question under "
                "another name, which costs anew.",
                f"この記憶ファイルには、「{question}」への回答が別のランダム化器（または別の版の仕"
                "様）で記録されています。同じ回答を別の方法で報告すると"
                "漏れる情報が増えます。仕様を変えないか、"
                "新しい名前の質問として尋ねてください（費用が新たにかかります）。",
            )

    def _read(self, kept: str) -> Any:
        """A report that was kept as JSON; whatever else stands there was not written by a memory."""
        try:
            return parse_json(kept, lenient=True)
        except ValueError:
            raise self._file.damaged() from None

    def _find(self, key: tuple[str, str, str]) -> str | None:
        found = self._file.rows("SELECT report FROM answers WHERE person = ? AND question = ? AND value = ?", key)
        return str(found[0][0]) if found else None


def _find_all(connection: sqlite3.Connection, question: str, keys: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS asked (person TEXT, value TEXT)")
    connection.execute("DELETE FROM asked")
    connection.executemany("INSERT INTO asked VALUES (?, ?)", keys)
    statement = "SELECT person, value, report FROM asked CROSS JOIN answers USING (person, value) WHERE question = ?"
    found = {(p, v): str(report) for p, v, report in connection.execute(statement, (question,))}
    connection.execute("DELETE FROM asked")
    return found


def _point(randomizer: Client | Randomizer, value: Any) -> Any:
    """What a value means to a randomizer: for a number the place of its point of the grid, so that 17 and 17.2 are one answer."""
    if isinstance(randomizer, Client):
        return randomizer.point_of(value)
    if randomizer.value_grid() is None:
        return value
    return int(randomizer.points_of([value])[0])


def _key(value: Any, parameter: str) -> str:
    """As JSON, in which 1, "1" and true are different."""
    plain = value.item() if hasattr(value, "item") else value
    if type(plain) not in (str, int, bool):
        requirement = "a text, a whole number or a truth value"
        raise ParameterError(parameter, "Memory", requirement, Described(f"an object of type {type(value).__name__}"))
    return json.dumps(plain, ensure_ascii=True)
