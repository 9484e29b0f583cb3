"""Names of folders tell a column only where no file has it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.domain import Category, Domain
from sudare.io import Source, read_counts

SEX = Domain((Category("sex", ("f", "m")),))


@pytest.mark.parametrize("folder", ["sex=m", "SEX=m", "s%65x=m", "year=2020"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_of_the_file_is_read_from_the_file(tmp_path: Path, folder: str, suffix: str) -> None:
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / f"people.{suffix}"
    if suffix == "csv":
        path.write_text("sex\nf\nf\nm\n")
    else:
        pq.write_table(pa.table({"sex": ["f", "f", "m"]}), path)
    assert read_counts(Source(str(path)), SEX).to_dense().tolist() == [2, 1]


def test_a_column_that_a_later_file_has_is_not_told_by_its_folder(tmp_path: Path) -> None:
    # The first file has no persons, and its folder names one; the second has three of its own.
    for folder, table in (("id=1", {"sex": ["f"]}), ("id=2", {"sex": ["f", "m", "m"], "id": ["a", "b", "c"]})):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table(table), tmp_path / folder / "people.parquet")
    assert read_counts(Source(str(tmp_path)), SEX).to_dense().tolist() == [2, 2]
    with pytest.raises(ValueError, match="id"):
        read_counts(Source(str(tmp_path), person="id"), SEX)
