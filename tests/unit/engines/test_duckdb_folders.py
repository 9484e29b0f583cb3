"""Names of folders are no data: a column is read from the file, whatever the folder is called."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.engines import open_engine


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_folder_with_an_equals_sign(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / "sex=m" / f"people.{suffix}"
    file.parent.mkdir()
    if suffix == "csv":
        file.write_text("sex\nf\nf\nm\n")
    else:
        pyarrow.parquet.write_table(pa.table({"sex": ["f", "f", "m"]}), file)
    with open_engine(file) as engine:
        found = engine.fetch("SELECT sex, count(*) AS number FROM people GROUP BY sex ORDER BY sex").to_pylist()
    assert [tuple(row.values()) for row in found] == [("f", 2), ("m", 1)]
