"""A person's rights: find, correct, delete or opt out one person, in all files that were made with a key and all to come.

What is asked is noted in the register first, so that no later run misses it; then each file is rewritten whole, and the log says
what was done to which file before it is done. Whatever is interrupted is finished by asking again; asking twice changes nothing.
A file that cannot be read or written is reported, and the others are changed all the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from sudare.bilingual import Words
from sudare.errors import InputError, OutputError, ParameterError
from sudare.io import atomically
from sudare.io.formats.text_files import AUTO
from sudare.microdata.pseudonyms.identifiers import canonical_texts
from sudare.microdata.pseudonyms.keys import SecretKey
from sudare.microdata.pseudonyms.mapping import Mapping as NameMapping
from sudare.microdata.pseudonyms.pseudonymizer import Design, Pseudonymizer, require_table
from sudare.microdata.pseudonyms.registers.answers import SETTLED, FileAnswer, PersonAnswer
from sudare.microdata.pseudonyms.registers.register import Register
from sudare.microdata.pseudonyms.running import as_texts, typed_value
from sudare.microdata.pseudonyms.streaming import PeopleStream, StreamWriter, files_below

__all__ = ["FileAnswer", "FoundRow", "PersonAnswer", "PersonDesk"]

ONE_PERSON = 1
"""Collisions were weighed when the file was made; here only one person is looked for."""


class FoundRow(TypedDict):
    """A row of a person, as JSON writes it: its file, its number from 1, and its values as texts."""

    file: str
    row: int
    values: dict[str, str | None]


@dataclass(frozen=True)
class _Place:
    """A file to look into: columns of pseudonyms of the person's kind, or one column of raw identifiers."""

    path: Path
    encoding: str
    designs: Mapping[str, Design]
    raw: str | None


class PersonDesk:
    r"""Where one person's requests are carried out.

    Args:
        key: the secret key.
        register: of the key.
        kind: of identifier.
        person: the identifier as it stands in the raw data. It is kept nowhere.
        mapping: the random table, if files were made with one.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.pseudonyms import Register, make_register, new_key, register_beside
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     key = new_key(folder / "study.key")
        ...     make_register(register_beside(key.path), key)
        ...     raw = folder / "raw.csv"
        ...     _ = raw.write_text("patient,age\n17,44\n18,51\n")
        ...     with Register(register_beside(key.path), key) as register:
        ...         desk = PersonDesk(key, register, "patient", "17")
        ...         first = desk.delete([raw], raw_column="patient")
        ...         again = desk.delete([raw], raw_column="patient")
        ...     left = raw.read_text()
        >>> first.is_new, again.is_new, left
        (True, False, 'patient,age\n18,51\n')
    """

    def __init__(
        self, key: SecretKey, register: Register, kind: str, person: str, mapping: NameMapping | None = None
    ) -> None:
        texts = canonical_texts([person], register.normalization(kind), column="person").to_pylist()
        if texts[0] is None:
            raise ParameterError("person", "PersonDesk", Words("an identifier that is not empty", "空でない識別子"), "")
        self._key, self._register, self._kind, self._mapping = key, register, kind, mapping
        self._person = str(texts[0])
        self._tag = register.tag(kind, self._person)

    def find(
        self, files: Sequence[str | Path] = (), *, raw_column: str | None = None, encoding: str = AUTO
    ) -> tuple[PersonAnswer, list[FoundRow]]:
        """Find the person's rows.

        Args:
            files: files or folders; all that were made with the key if left out.
            raw_column: the column of identifiers in files that were not made with the key.
            encoding: of such files.

        Returns:
            The answer, and the rows, each with its file, its number from 1 and its values as texts.
        """
        rows: list[FoundRow] = []
        answers = []
        for place in self._places(files, raw_column, encoding):
            if isinstance(place, FileAnswer):
                answers.append(place)
                continue
            found = self._rows_in(place)
            if found is None:
                answers.append(FileAnswer(place.path, "unreadable"))
                continue
            rows += found
            answers.append(FileAnswer(place.path, "found" if found else "nothing", len(found)))
        looked = [str(answer.path.resolve()) for answer in answers if answer.state in ("found", "nothing")]
        self._register.note({"did": "find", "kind": self._kind, "person": self._tag, "files": looked})
        return PersonAnswer(True, tuple(answers)), rows

    def opt_out(
        self,
        files: Sequence[str | Path] = (),
        *,
        raw_column: str | None = None,
        encoding: str = AUTO,
        only_future: bool = False,
    ) -> PersonAnswer:
        """Leave the person out of all files to come, and take the rows out of files that there are.

        Args:
            files: files or folders; all that were made with the key if left out.
            raw_column: the column of identifiers in files that were not made with the key.
            encoding: of such files.
            only_future: leave the files that there are as they are.
        """
        is_new = self._register.leave_out(self._kind, self._person, "opt-out")
        return PersonAnswer(is_new, () if only_future else self._taken_out(files, raw_column, encoding, "opt-out"))

    def delete(
        self, files: Sequence[str | Path] = (), *, raw_column: str | None = None, encoding: str = AUTO
    ) -> PersonAnswer:
        """Take the person out of files, of all files to come, and, once no known file is left to look into, of the mapping.

        Args:
            files: files or folders; all that were made with the key if left out.
            raw_column: the column of identifiers in files that were not made with the key.
            encoding: of such files.
        """
        is_new = self._register.leave_out(self._kind, self._person, "delete")
        answers = self._taken_out(files, raw_column, encoding, "delete")
        self._register.forget_corrections(self._kind, self._person)
        is_done = not files and all(answer.state in SETTLED for answer in answers)
        if self._mapping is not None and is_done:
            self._mapping.forget_person(self._kind, self._person)
            return PersonAnswer(is_new, answers)
        known = [design for file in self._register.files() for design in self._of_kind(file.columns).values()]
        return PersonAnswer(is_new, answers, any(design.method == "table" for design in known))

    def take_back(self) -> PersonAnswer:
        """Let the person be in files to come again."""
        return PersonAnswer(self._register.take_back(self._kind, self._person), ())

    def correct(
        self,
        fields: Mapping[str, str],
        files: Sequence[str | Path] = (),
        *,
        raw_column: str | None = None,
        encoding: str = AUTO,
    ) -> PersonAnswer:
        """Set fields of all rows of the person; what was wrong is corrected in files to come as well.

        A file to come that holds neither the wrong nor the right value has news of the person, and is left as it is.

        Args:
            fields: the right value of each column.
            files: files or folders; all that were made with the key if left out.
            raw_column: the column of identifiers in files that were not made with the key.
            encoding: of such files.

        Raises:
            InputError: if a column is in none of the files, is one of identifiers, or cannot hold the value.
        """
        with self._register.locked():
            places, wrong = self._wrong_values(self._places(files, raw_column, encoding), fields)
            is_new = False
            for field, right in fields.items():
                if wrong[field]:
                    is_new |= self._register.correct(self._kind, self._person, field, sorted(wrong[field]), right)

            def change(batch: Any, mine: Any) -> tuple[Any, int]:
                return _with_fields(batch, mine, fields)

            answers = [
                place if isinstance(place, FileAnswer) else self._rewritten(place, change, "correct")
                for place in places
            ]
        return PersonAnswer(is_new, tuple(answers))

    def _wrong_values(
        self, places: Sequence[_Place | FileAnswer], fields: Mapping[str, str]
    ) -> tuple[list[_Place | FileAnswer], dict[str, set[str]]]:
        """The places, less what cannot be read, and what the person's fields hold."""
        import pyarrow.compute as pc

        wrong: dict[str, set[str]] = {field: set() for field in fields}
        seen: set[str] = set()
        readable: list[_Place | FileAnswer] = []
        for place in places:
            stream = None if isinstance(place, FileAnswer) else _stream_of(place.path, place.encoding)
            if isinstance(place, FileAnswer) or stream is None:
                readable.append(place if isinstance(place, FileAnswer) else FileAnswer(place.path, "unreadable"))
                continue
            # Another value of the column that pseudonyms depend on would make them those of nobody.
            fixed = {place.raw, *place.designs, *(design.per for design in place.designs.values())}
            for field in sorted(set(fields) & fixed):
                raise InputError(
                    f"The column {field!r} decides who the person is, and cannot be corrected here.",
                    f"列 {field!r} は本人を識別するための列なので、ここでは訂正できません。",
                )
            present = [field for field in fields if field in stream.names]
            seen.update(present)
            for field in present:
                typed_value(fields[field], stream.schema.field(field).type, field)
            matches = self._matching(place)
            try:
                for batch in stream.batches():
                    mine = matches(batch)
                    for field in present if pc.any(mine).as_py() else ():
                        wrong[field].update(as_texts(batch.column(field)).filter(mine).unique().to_pylist())
                readable.append(place)
            except _unreadable():
                readable.append(FileAnswer(place.path, "unreadable"))
        for field in fields:
            if field not in seen:
                raise InputError(
                    f"None of the files has a column {field!r}.", f"列 {field!r} のあるファイルがありません。"
                )
            wrong[field].discard(fields[field])
        return readable, wrong

    def _taken_out(
        self, files: Sequence[str | Path], raw_column: str | None, encoding: str, did: str
    ) -> tuple[FileAnswer, ...]:
        import pyarrow.compute as pc

        def change(batch: Any, mine: Any) -> tuple[Any, int]:
            return batch.filter(pc.invert(mine)), int(pc.sum(mine).as_py() or 0)

        with self._register.locked():
            return tuple(
                place if isinstance(place, FileAnswer) else self._rewritten(place, change, did)
                for place in self._places(files, raw_column, encoding)
            )

    def _places(self, files: Sequence[str | Path], raw_column: str | None, encoding: str) -> list[_Place | FileAnswer]:
        places: list[_Place | FileAnswer] = []
        if not files:
            for known in self._register.files():
                designs = self._of_kind(known.columns)
                if not designs:
                    continue
                here = known.path.is_file()
                places.append(
                    self._linkable(_Place(known.path, known.encoding, designs, None))
                    if here
                    else FileAnswer(known.path, "missing")
                )
            return places
        for path in dict.fromkeys(file for one in files for file in files_below(one)):
            try:
                made = self._register.known_file(path)
            except OSError:
                places.append(FileAnswer(path, "unreadable"))
                continue
            if made is not None:
                designs = self._of_kind(made.columns)
                place = _Place(path, made.encoding, designs, None)
                places.append(self._linkable(place) if designs else FileAnswer(path, "nothing"))
            else:
                places.append(_raw_place(path, encoding, raw_column))
        return places

    def _of_kind(self, columns: Mapping[str, Design]) -> dict[str, Design]:
        return {column: design for column, design in columns.items() if design.kind == self._kind}

    def _linkable(self, place: _Place) -> _Place | FileAnswer:
        needed = {*place.designs, *(design.per for design in place.designs.values() if design.per is not None)}
        is_gone = any(self._key.epochs.get(design.epoch) is None for design in place.designs.values())
        stream = _stream_of(place.path, place.encoding)
        if stream is not None and not needed <= set(stream.names):
            return FileAnswer(place.path, "unknown")  # another file has taken its place
        if is_gone or stream is None:
            return FileAnswer(place.path, "unlinkable" if is_gone else "unreadable")
        for design in place.designs.values():
            require_table(design, self._mapping)  # before the first file is changed
        return place

    def _matching(self, place: _Place) -> Callable[[Any], Any]:
        """A function that says which rows of a batch are the person's."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if place.raw is not None:
            column, normalize = place.raw, self._register.normalization(self._kind)

            def by_identifier(batch: Any) -> Any:
                texts = canonical_texts(batch.column(column), normalize, column=column)
                return pc.fill_null(pc.equal(texts, self._person), False)

            return by_identifier
        makers = {}
        for column, design in place.designs.items():
            table = self._mapping if design.method == "table" else None
            makers[column] = Pseudonymizer(self._key, design, mapping=table, people=ONE_PERSON)
        fixed = {
            column: pa.array(maker.all_of(self._person), pa.string())
            for column, maker in makers.items()
            if maker.design.per is None
        }

        def by_pseudonym(batch: Any) -> Any:
            mine = pa.array(np.zeros(batch.num_rows, dtype=np.bool_))
            for column, maker in makers.items():
                theirs = fixed.get(column)
                if theirs is None:
                    values = batch.column(maker.design.per)
                    # As in the run: texts, and an empty one where a value is missing.
                    theirs = pa.array(maker.all_of(self._person, per=values.unique()), pa.string())
                mine = pc.or_(mine, pc.is_in(batch.column(column).cast(pa.string()), value_set=theirs))
            return mine

        return by_pseudonym

    def _rows_in(self, place: _Place) -> list[FoundRow] | None:
        """The person's rows; None if the file cannot be read to its end."""
        import pyarrow.compute as pc

        matches, first = self._matching(place), 0
        rows: list[FoundRow] = []
        try:
            for batch in PeopleStream(place.path, place.encoding).batches():
                mine = matches(batch)
                if pc.any(mine).as_py():
                    numbers = np.flatnonzero(mine.to_numpy(zero_copy_only=False)) + first + 1
                    for number, values in zip(numbers.tolist(), batch.filter(mine).to_pylist(), strict=True):
                        texts = {name: None if value is None else str(value) for name, value in values.items()}
                        rows.append({"file": str(place.path), "row": number, "values": texts})
                first += batch.num_rows
        except _unreadable():
            return None
        return rows

    def _rewritten(self, place: _Place, change: Callable[[Any, Any], tuple[Any, int]], did: str) -> FileAnswer:
        """The file with some rows changed, in the place of the old one; untouched if nothing is to be changed."""
        matches, path = self._matching(place), place.path.resolve()  # a link stays a link to the new file
        try:
            stream = PeopleStream(place.path, place.encoding)
            count = sum(change(batch, matches(batch))[1] for batch in stream.batches())
            if not count:
                return FileAnswer(place.path, "nothing")
            before = self._register.file_hash(path)
        except _unreadable():
            return FileAnswer(place.path, "unreadable")
        try:
            with atomically(path, replace=True) as temporary:
                temporary.chmod(path.stat().st_mode & 0o777)
                with StreamWriter(temporary, stream.schema, stream.layout) as writer:
                    for batch in stream.batches():
                        writer.write(change(batch, matches(batch))[0])
                body = {"did": f"{did} in a file", "kind": self._kind, "person": self._tag}
                self._register.record_change(path, self._register.file_hash(temporary), before, body)
        except (OutputError, OSError):
            return FileAnswer(place.path, "unwritable", count)
        return FileAnswer(place.path, "rewritten", count)


def _unreadable() -> tuple[type[Exception], ...]:
    """What reading a file raises that is damaged, or is not what it was."""
    import pyarrow as pa

    return (InputError, OSError, pa.ArrowException)


def _stream_of(path: Path, encoding: str) -> PeopleStream | None:
    """A file of people; None if it cannot be read."""
    try:
        return PeopleStream(path, encoding)
    except _unreadable():
        return None


def _raw_place(path: Path, encoding: str, raw_column: str | None) -> _Place | FileAnswer:
    """A file that was not made with the key, if its column of identifiers is named."""
    stream = None if raw_column is None else _stream_of(path, encoding)
    if raw_column is None or (stream is not None and raw_column not in stream.names):
        return FileAnswer(path, "unknown")
    return FileAnswer(path, "unreadable") if stream is None else _Place(path, encoding, {}, raw_column)


def _with_fields(batch: Any, mine: Any, fields: Mapping[str, str]) -> tuple[Any, int]:
    """A batch with fields of some rows set, and how many rows that changes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    changed = pa.array(np.zeros(batch.num_rows, dtype=np.bool_))
    for field in [field for field in fields if field in batch.schema.names]:
        place = batch.schema.get_field_index(field)
        column = batch.column(place)
        right = typed_value(fields[field], column.type, field)
        differs = pc.not_equal(as_texts(column), as_texts(pa.array([right.as_py()], column.type))[0])
        wanted = pc.and_(mine, differs)
        if pc.any(wanted).as_py():
            changed = pc.or_(changed, wanted)
            batch = batch.set_column(place, batch.schema.field(place), pc.if_else(wanted, right, column))
    return batch, int(pc.sum(changed).as_py() or 0)


def rows_as_lines(rows: Sequence[FoundRow]) -> str:
    """Rows that were found, one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
