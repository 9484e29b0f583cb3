"""Files of people, batch by batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.microdata.pseudonyms.streaming import PeopleStream, StreamWriter


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
def test_a_file_keeps_the_encoding_that_it_tells(encoding: str, tmp_path: Path) -> None:
    rows = "番号,名前\n1,男\n" + "2,女\n" * 3
    source, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_bytes(rows.encode(encoding))
    stream = PeopleStream(source)
    with StreamWriter(copy, stream.schema, stream.layout) as writer:
        for batch in stream.batches():
            writer.write(batch)
            writer.write(batch.slice(0, 0))
    assert copy.read_bytes() == source.read_bytes()
