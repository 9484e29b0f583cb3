"""Pseudonymize a file: read in batches, leave out people who opted out, apply corrections, replace identifiers, write it whole.

Nothing is written on an error: the file appears under its name only at the end, and a table's mapping is not touched before every
identifier was seen to be there. Somebody who opts out while a file is made stops it from appearing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import InputError, OutputError, ParameterError
from sudare.io import atomically
from sudare.io.formats.text_files import AUTO
from sudare.microdata.pseudonyms.hashing import KeyedHash
from sudare.microdata.pseudonyms.identifiers import first_missing, missing_identifier
from sudare.microdata.pseudonyms.keys import SecretKey, require_apart
from sudare.microdata.pseudonyms.mapping import Mapping as NameMapping
from sudare.microdata.pseudonyms.notation import EVERYBODY
from sudare.microdata.pseudonyms.pseudonymizer import MISSING, Design, Pseudonymizer, require_table
from sudare.microdata.pseudonyms.registers.register import TAG, Correction, KnownFile, Register
from sudare.microdata.pseudonyms.streaming import PeopleStream, StreamWriter, require_written_form
from sudare.parameters import shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Pseudonymized", "pseudonymize_file"]


@dataclass(frozen=True)
class Pseudonymized:
    """What a run made.

    Attributes:
        path: the new file.
        columns: the design of each column of pseudonyms.
        new_kinds: kinds of identifiers that the register had not met, while people of other kinds are left out: nobody is left
            out by these, and a kind that is spelled in another way would bring them back.
    """

    path: Path
    columns: Mapping[str, Design]
    new_kinds: tuple[str, ...] = ()


def pseudonymize_file(
    source: str | Path,
    out: str | Path,
    columns: Mapping[str, Design],
    *,
    key: SecretKey,
    register: Register,
    mapping: NameMapping | None = None,
    people: int = EVERYBODY,
    missing: str = "refuse",
    encoding: str = AUTO,
    threads: int | None = None,
) -> Pseudonymized:
    r"""Replace the identifiers in some columns of a file by pseudonyms, and write a new file.

    Rows in which somebody is named who is left out by the register are not in it. Rows keep their order.

    Args:
        source: a CSV or Parquet file.
        out: the new file, CSV or Parquet by its name.
        columns: the design for each column of identifiers.
        key: the secret key.
        register: of the key.
        mapping: the random table, for the method ``"table"``; it must not lie in the folder of the output.
        people: how many people there may be at most; keyed pseudonyms must be long enough for them. See `Pseudonymizer`.
        missing: ``"refuse"`` missing identifiers, or ``"keep"`` them missing.
        encoding: of a text file.
        threads: how many to use; all processors if left out.

    Raises:
        InputError: if the file, a column, an identifier, the key or the register is not what it must be.
        OutputError: if the new file exists or cannot be written, or somebody opted out meanwhile.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.pseudonyms import Design, Register, make_register, new_key, register_beside
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     for part in ("keys", "out"):
        ...         (folder / part).mkdir()
        ...     key = new_key(folder / "keys" / "study.key")
        ...     make_register(register_beside(key.path), key)
        ...     _ = (folder / "visits.csv").write_text("patient,age\n17,44\n18,51\n")
        ...     with Register(register_beside(key.path), key) as register:
        ...         design = {"patient": Design("university", "patient", key.epoch)}
        ...         made = pseudonymize_file(
        ...             folder / "visits.csv", folder / "out" / "visits.csv", design, key=key, register=register
        ...         )
        ...     [line.split(",")[1] for line in made.path.read_text().splitlines()]
        ['age', '44', '51']
    """
    target = Path(out)
    require_written_form(target)
    require_apart(key, (target, "folder", "output"), (source, "file", "input"))
    for what, what_ja, private in (("register", "登録簿", register), ("mapping", "対応表", mapping)):
        if private is not None and private.path.resolve().is_relative_to(target.resolve().parent):
            raise InputError(
                f"The {what} {str(private.path)!r} lies in the folder of the output. Write somewhere else.",
                f"{what_ja} {str(private.path)!r} が出力先のフォルダにあります。別の場所に書き出してください。",
            )
    if not columns:
        raise ParameterError(
            "columns",
            "pseudonymize_file",
            Words("at least one column of identifiers", "1 個以上の識別子の列"),
            shown(None),
        )
    if missing not in MISSING:
        raise ParameterError(
            "missing",
            "pseudonymize_file",
            Words(f"one of {', '.join(MISSING)}", f"{', '.join(MISSING)} のいずれか"),
            shown(missing),
        )
    stream = PeopleStream(source, encoding)
    stream.require(*(name for column, design in columns.items() for name in (column, design.per) if name is not None))
    for design in columns.values():
        require_table(design, mapping)
        register.require_agreement(design)
    version = register.version()
    others = set(register.kinds_left_out())
    new_kinds = {design.kind for design in columns.values()} - set(register.kinds()) if others else set()
    parts = {
        column: _Column(column, design, key, register, mapping if design.method == "table" else None, people, threads)
        for column, design in columns.items()
    }
    checking = _Checking(stream.path, parts, missing)
    if any(design.method == "table" for design in columns.values()):
        for batch in stream.batches():
            checking.identifiers(batch)
        checking.row = 0
    if target.exists():
        raise _exists(target)
    lock = register.locked()
    try:
        with atomically(target) as temporary:
            schema = _new_schema(stream.schema, columns)
            with StreamWriter(temporary, schema, stream.layout) as writer:
                for batch in stream.batches():
                    writer.write(_replaced(batch, schema, parts, checking))
            # Hashing takes long, so it comes before the register is looked at for the last time.
            before, after = register.file_hash(stream.path), register.file_hash(temporary)
            lock.take()
            made = KnownFile(target, stream.layout.encoding, columns)
            register.record_file(made, after, stream.path, before, version=version)
    finally:
        lock.leave()
    return Pseudonymized(target, dict(columns), tuple(sorted(new_kinds)))


class _Column:
    """One column of identifiers in a run."""

    def __init__(
        self,
        name: str,
        design: Design,
        key: SecretKey,
        register: Register,
        mapping: NameMapping | None,
        people: int,
        threads: int | None,
    ) -> None:
        import pyarrow as pa

        self.name, self.design = name, design
        self.pseudonymizer = Pseudonymizer(key, design, mapping=mapping, people=people, missing="keep", threads=threads)
        self._left_out = pa.array(register.left_out(design.kind), pa.string())
        self.corrections = register.corrections(design.kind)
        is_needed = len(self._left_out) or self.corrections
        self._tags: KeyedHash | None = register.tags(design.kind) if is_needed else None

    def tags(self, texts: Any) -> Any:
        """What the register knows people by; None where it knows nobody."""
        return None if self._tags is None else self._tags.texts(texts, TAG)

    def stays(self, tags: Any) -> Any:
        """Which rows are of nobody who is left out."""
        import pyarrow.compute as pc

        return pc.invert(pc.is_in(tags, value_set=self._left_out))


class _Checking:
    """Canonical identifiers of a batch, with the row of whatever is wrong."""

    def __init__(self, path: Path, parts: Mapping[str, _Column], missing: str) -> None:
        self.path, self.parts, self.missing, self.row = path, parts, missing, 0

    def identifiers(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """The texts of each column of identifiers."""
        found = {}
        for name, part in self.parts.items():
            texts = part.pseudonymizer.identifiers(batch.column(name), column=name)
            place = first_missing(texts)
            if place is not None and self.missing == "refuse":
                raise missing_identifier(name, self.path, self.row + place + 1)
            found[name] = texts
        self.row += batch.num_rows
        return found


def _replaced(batch: Any, schema: Any, parts: Mapping[str, _Column], checking: _Checking) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = checking.identifiers(batch)
    values = dict(zip(batch.schema.names, batch.columns, strict=True))
    stays = None
    for name, part in parts.items():
        tags = part.tags(texts[name])
        if tags is not None:
            kept = part.stays(tags)
            stays = kept if stays is None else pc.and_(stays, kept)
            for correction in part.corrections:
                if correction.field in values and correction.field not in parts:
                    old = values[correction.field]
                    values[correction.field] = corrected(old, pc.equal(tags, correction.tag), correction)
    if stays is not None and not pc.all(stays).as_py():
        values = {name: column.filter(stays) for name, column in values.items()}
        texts = {name: column.filter(stays) for name, column in texts.items()}
    for name, part in parts.items():
        per = None if part.design.per is None else values[part.design.per]
        texts[name] = part.pseudonymizer.of_identifiers(texts[name], per)
    return pa.record_batch([texts.get(name, values[name]) for name in schema.names], schema=schema)


def corrected(column: Any, is_theirs: Any, correction: Correction) -> Any:
    """A column with the right value wherever a row is theirs and holds a wrong one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wrong = pc.is_in(as_texts(column), value_set=pa.array(correction.wrong, pa.large_string()))
    wanted = pc.and_(pc.fill_null(is_theirs, False), wrong)
    if not pc.any(wanted).as_py():
        return column
    return pc.if_else(wanted, typed_value(correction.right, column.type, correction.field), column)


def as_texts(column: Any) -> Any:
    """A column as texts, missing values as empty ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.fill_null(column.cast(pa.large_string()), "")


def typed_value(text: str, kind: Any, field: str) -> Any:
    """A text as a value of a column's type; an empty one is a missing value where the column is not of texts.

    Raises:
        InputError: if it is no value of that type.
    """
    import pyarrow as pa

    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if text == "" and not is_text:
        return pa.scalar(None, kind)
    try:
        return pa.scalar(text, pa.string()).cast(kind)
    except pa.ArrowException:
        raise InputError(
            f"The right value for the column {field!r} is not of its type ({kind}).",
            f"列 {field!r} の正しい値が列の型（{kind}）に合いません。",
        ) from None


def _new_schema(schema: Any, columns: Mapping[str, Design]) -> Any:
    import pyarrow as pa

    fields = [pa.field(one.name, pa.string(), one.nullable) if one.name in columns else one for one in schema]
    return pa.schema(fields, metadata=schema.metadata)


def _exists(target: Path) -> OutputError:
    return OutputError(
        f"{str(target)!r} exists already. Choose another name, or move it away.",
        f"{str(target)!r} は既にあります。別の名前にするか、移動してください。",
    )
