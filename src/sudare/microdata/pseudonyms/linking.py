"""Tables for the holder of the key: a mapping as identifiers and pseudonyms, and old pseudonyms beside new ones after a rotation.

Every such table undoes pseudonyms for its readers. It is written readable by its owner only, in the order of the pseudonyms,
which says nothing about the order of the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.io import atomically, complaints
from sudare.io.formats.text_files import AUTO
from sudare.microdata.pseudonyms.keys import SecretKey, require_apart
from sudare.microdata.pseudonyms.mapping import Mapping, Scope, index_and_identifier, indexed_message
from sudare.microdata.pseudonyms.pseudonymizer import Design, Pseudonymizer
from sudare.microdata.pseudonyms.streaming import PeopleStream, StreamWriter, TextLayout, require_written_form

__all__ = ["export_mapping", "import_mapping", "relink_file", "relink_mapping"]

PAGE = 1 << 16


def export_mapping(mapping: Mapping, scope: Scope, out: str | Path, key: SecretKey) -> None:
    """Write the identifiers and pseudonyms of a scope to a CSV or Parquet file, readable by its owner only.

    Raises:
        InputError: if the mapping has nobody in that scope.
        OutputError: if the file exists or cannot be written.
    """
    if scope not in mapping.scopes():
        known = ", ".join(f"{one.recipient}/{one.kind}/{one.epoch}" for one in mapping.scopes()) or "–"
        raise InputError(
            f"The mapping has no pseudonyms for recipient {scope.recipient!r}, kind {scope.kind!r}, epoch {scope.epoch}. It has: "
            f"{known}.",
            f"対応表に提供先 {scope.recipient!r}、種類 {scope.kind!r}、世代 {scope.epoch} の仮名はありません。"
            f"あるのは {known} です。",
        )
    names = ["identifier", "index", "pseudonym"] if scope.is_indexed else ["identifier", "pseudonym"]

    def rows() -> Any:
        for message, pseudonym in mapping.entries(scope):
            if scope.is_indexed:
                index, identifier = index_and_identifier(message)
                yield identifier, index, pseudonym
            else:
                yield message, pseudonym

    _write_table(out, names, rows(), key)


def import_mapping(mapping: Mapping, scope: Scope, source: str | Path) -> None:
    """Take a table that `export_mapping` wrote into a mapping; all or nothing.

    Raises:
        InputError: if columns are missing or empty, or the table contradicts itself or the mapping.
    """
    stream = PeopleStream(source)
    names = ["identifier", "index", "pseudonym"] if scope.is_indexed else ["identifier", "pseudonym"]
    stream.require(*names)
    entries: list[tuple[str, str]] = []
    for batch in stream.batches():
        for values in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
            if not values[0] or not values[-1]:
                name = names[0] if not values[0] else names[-1]
                raise complaints.missing_value(name, complaints.Spot(str(source), len(entries) + 2))
            message = indexed_message(values[1] or "", values[0]) if scope.is_indexed else values[0]
            entries.append((message, values[-1]))
    mapping.add(scope, entries)


def relink_mapping(mapping: Mapping, old: Design, new: Design, out: str | Path, key: SecretKey) -> None:
    """Old and new pseudonyms of everybody in a mapping; new ones are drawn where there are none.

    Raises:
        ParameterError: if the designs are not those of a table, or one has several pseudonyms a person and the other not.
    """
    if old.method != "table" or new.method != "table" or old.scope.is_indexed != new.scope.is_indexed:
        raise ParameterError(
            "new", "relink_mapping", "a design like the old one, both of the method 'table'", new.method
        )
    entries = dict(mapping.entries(old.scope))
    fresh = mapping.pseudonyms(new.scope, list(entries), new.form)
    pairs = sorted(zip(entries.values(), fresh, strict=True), key=lambda pair: pair[1])
    _write_table(out, ["old", "new"], iter(pairs), key)


def relink_file(
    source: str | Path,
    column: str,
    old: Design,
    new: Design,
    out: str | Path,
    *,
    key: SecretKey,
    encoding: str = AUTO,
) -> None:
    """Old and new pseudonyms of everybody in a file of raw identifiers, by the keyed method.

    The pairs of the whole file are held in memory.

    Args:
        source: a file with the raw identifiers.
        column: where they stand.
        old: the design of the pseudonyms that were given.
        new: the design of those to come.
        out: the table of pairs.
        key: a key that has both epochs.
        encoding: of a text file.

    Raises:
        InputError: if an epoch was destroyed, or the file is not what it must be.
    """
    if (old.several, old.per) != (new.several, new.per):
        raise ParameterError(
            "new", "relink_file", "a design with as many pseudonyms a person as the old one", new.several
        )
    stream = PeopleStream(source, encoding)
    stream.require(*(name for name in (column, old.per) if name is not None))
    # Lengths were weighed when files were made; the new one is as long as the old one, or settled.
    makers = [Pseudonymizer(key, design, people=1, missing="keep") for design in (old, new)]
    pairs: set[tuple[str, str]] = set()
    for batch in stream.batches():
        for choice in range(old.several):
            per = None if old.per is None else batch.column(old.per)
            made = [
                maker.of_identifiers(maker.identifiers(batch.column(column), column=column), per, choice=choice)
                for maker in makers
            ]
            pairs.update(pair for pair in zip(*(one.to_pylist() for one in made), strict=True) if pair[0] is not None)
    _write_table(out, ["old", "new"], iter(sorted(pairs, key=lambda pair: pair[1])), key)


def _write_table(out: str | Path, names: list[str], rows: Any, key: SecretKey) -> None:
    import pyarrow as pa

    require_written_form(out)
    require_apart(key, (out, "file", "output"))
    schema = pa.schema([(name, pa.string()) for name in names])
    with atomically(out) as temporary:
        temporary.chmod(0o600)  # before anything is in it
        with StreamWriter(temporary, schema, TextLayout()) as writer:
            page: list[Any] = []
            for row in rows:
                page.append(row)
                if len(page) == PAGE:
                    writer.write(_batch(page, schema))
                    page = []
            if page:
                writer.write(_batch(page, schema))


def _batch(page: list[Any], schema: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch([pa.array(column, pa.string()) for column in zip(*page, strict=True)], schema=schema)
