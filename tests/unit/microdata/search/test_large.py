"""Files larger than memory give what tables in memory give, and nothing is written if anything is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.errors import InputError, OutputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import Closeness, DistinctDiversity, KAnonymity, KMap, Model
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.anonymizing import anonymize, satisfies
from sudare.microdata.search.large import anonymize_file
from sudare.microdata.search.large_counts import open_large

AGE = Generalization.of_paths("age", [(str(i), f"{i // 10}x", "<50" if i < 50 else ">=50", "*") for i in range(100)])
ZIP = Generalization.of_paths("zip", [(f"{i:03}", f"{i // 10:02}_", f"{i // 100}__", "*") for i in range(1000)])
HIERARCHIES = {"age": AGE, "zip": ZIP}


def people(rows: int, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(rows),
            "age": rng.binomial(99, 0.4, rows),
            "zip": [f"{value:03}" for value in rng.integers(0, 1000, rows).tolist()],
            "ill": [f"i{value}" for value in rng.binomial(5, 0.3, rows).tolist()],
        }
    )


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "people.parquet"
    pyarrow.parquet.write_table(people(5000), path)
    return path


@pytest.mark.parametrize("target", ["safe.csv", "safe.parquet"])
@pytest.mark.parametrize(
    ("models", "suppression"),
    [([KAnonymity(20)], 0.02), ([KAnonymity(5), DistinctDiversity("ill", 3)], 0), ([Closeness("ill", 0.2)], 0.1)],
)
def test_a_file_gives_what_a_table_gives(
    tmp_path: Path, parquet: Path, target: str, models: list[Model], suppression: float
) -> None:
    result = anonymize_file(parquet, tmp_path / target, HIERARCHIES, models, suppression=suppression)
    twin = anonymize(read_people(parquet), HIERARCHIES, models, suppression=suppression)
    assert twin.search is not None
    assert result.search.levels == twin.search.levels
    assert result.search.loss == pytest.approx(twin.search.loss)
    written = read_people(tmp_path / target)
    assert written.names == ("id", "age", "zip", "ill")
    assert satisfies(written, ["age", "zip"], models)

    def rows(records: Records) -> list[tuple[object, ...]]:
        return sorted(zip(*(records.column(name).texts().tolist() for name in records.names), strict=True))

    assert rows(written) == rows(twin.records)


def test_missing_values(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,ill\nf,no\n,yes\nf,no\n,no\n", encoding="utf-8")
    listed = Generalization.of_paths("sex", [("f", "*"), ("m", "*"), ("", "*")])
    anonymize_file(tmp_path / "people.csv", tmp_path / "safe.csv", {"sex": listed}, [KAnonymity(2)])
    assert sorted((tmp_path / "safe.csv").read_text(encoding="utf-8").splitlines()) == [
        ",no",
        ",yes",
        "f,no",
        "f,no",
        "sex,ill",
    ]
    plain = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
    with pytest.raises(InputError, match="'sex' has an empty field in row 2"):
        anonymize_file(tmp_path / "people.csv", tmp_path / "other.csv", {"sex": plain}, [KAnonymity(2)])
    assert not (tmp_path / "other.csv").exists()


def test_a_hierarchy_serves_the_column_that_it_is_given_for(tmp_path: Path) -> None:
    """One hierarchy for two columns, under a name that is a third one's."""
    (tmp_path / "people.csv").write_text("home,work,town\na,b,x\nb,a,y\na,a,z\nb,b,x\n", encoding="utf-8")
    town = Generalization.of_paths("town", [("a", "*"), ("b", "*")])
    anonymize_file(tmp_path / "people.csv", tmp_path / "safe.csv", {"home": town, "work": town}, [KAnonymity(4)])
    written = (tmp_path / "safe.csv").read_text(encoding="utf-8").splitlines()
    assert written[0] == "home,work,town"
    assert sorted(written[1:]) == ["*,*,x", "*,*,x", "*,*,y", "*,*,z"]


def test_a_value_outside_its_hierarchy_is_named_with_its_row(tmp_path: Path) -> None:
    ages = [str(i % 100) for i in range(3000)]
    ages[2222] = "old"
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(ages) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="The column 'age' has a value in row 2223 of the data") as caught:
        anonymize_file(tmp_path / "people.csv", tmp_path / "safe.csv", {"age": AGE}, [KAnonymity(2)])
    assert "old" not in caught.value.english + caught.value.japanese
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


def test_what_is_refused_leaves_nothing(tmp_path: Path, parquet: Path) -> None:
    safe = tmp_path / "safe.parquet"
    flat = {"id": Generalization.of_paths("id", [(str(i),) for i in range(5000)])}
    with pytest.raises(InputError, match="No choice of levels"):
        anonymize_file(parquet, safe, flat, [KAnonymity(2)])
    with pytest.raises(InputError, match="Every record would be suppressed"):
        anonymize_file(parquet, safe, flat, [KAnonymity(2)], suppression=1)
    with pytest.raises(InputError, match="fewer"):
        anonymize_file(parquet, safe, HIERARCHIES, [KAnonymity(5001)])
    with pytest.raises(InputError, match="aeg"):
        anonymize_file(parquet, safe, {"aeg": AGE}, [KAnonymity(2)])
    with pytest.raises(InputError):
        anonymize_file(tmp_path / "none.parquet", safe, HIERARCHIES, [KAnonymity(2)])
    with pytest.raises(ParameterError):
        anonymize_file(parquet, safe, HIERARCHIES, [KMap(2)])
    with pytest.raises(OutputError, match=r"\.xlsx"):
        anonymize_file(parquet, tmp_path / "safe.xlsx", HIERARCHIES, [KAnonymity(2)])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 secret PAR1")
    with pytest.raises(InputError) as caught:
        anonymize_file(tmp_path / "broken.parquet", safe, HIERARCHIES, [KAnonymity(2)])
    assert "secret" not in str(caught.value)
    safe.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError):
        anonymize_file(parquet, safe, HIERARCHIES, [KAnonymity(2)])
    assert safe.read_text(encoding="utf-8") == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["broken.parquet", "safe.parquet"]


@pytest.mark.slow
def test_a_million_rows(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(people(1_000_000), tmp_path / "people.parquet")
    models: list[Model] = [KAnonymity(50), DistinctDiversity("ill", 3)]
    result = anonymize_file(
        tmp_path / "people.parquet", tmp_path / "safe.parquet", HIERARCHIES, models, suppression=0.01, memory="512MB"
    )
    assert result.search.is_optimal
    written = read_people(tmp_path / "safe.parquet")
    assert satisfies(written, ["age", "zip"], models)
    assert written.rows >= 990_000


def test_only_the_columns_named_are_published(tmp_path: Path) -> None:
    people, safe = tmp_path / "people.csv", tmp_path / "safe.csv"
    people.write_text("name,sex,ill,town\nann,f,no,a\nbea,f,yes,b\n")
    sex = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
    anonymize_file(people, safe, {"sex": sex}, [KAnonymity(2)], others=["ill"])
    assert safe.read_text().splitlines()[0] == "sex,ill"
    with pytest.raises(InputError, match="nobody"):
        anonymize_file(people, tmp_path / "more.csv", {"sex": sex}, [KAnonymity(2)], others=["nobody"])
    assert not (tmp_path / "more.csv").exists()


def test_levels_that_are_decided_beforehand(tmp_path: Path, parquet: Path) -> None:
    models: list[Model] = [KAnonymity(20)]
    free = anonymize_file(parquet, tmp_path / "free.csv", HIERARCHIES, models, suppression=0.02)
    pinned = anonymize_file(parquet, tmp_path / "pinned.csv", HIERARCHIES, models, suppression=0.02, levels={"age": 2})
    assert pinned.search.levels["age"] == 2 != free.search.levels["age"]
    assert pinned.search.choices == free.search.choices // 4
    written = read_people(tmp_path / "pinned.csv")
    assert set(written.column("age").labels) == {"<50", ">=50"}
    assert satisfies(written, ["age", "zip"], models)
    same = anonymize_file(
        parquet, tmp_path / "same.csv", HIERARCHIES, models, suppression=0.02, levels=free.search.levels
    )
    assert same.search.levels == free.search.levels
    assert same.search.choices == 1
    assert (same.after.counts == free.after.counts).all()
    for wrong in ({"age": 4}, {"age": -1}, {"ill": 0}):
        with pytest.raises(ParameterError, match="levels"):
            anonymize_file(parquet, tmp_path / "never.csv", HIERARCHIES, models, levels=wrong)
    assert not (tmp_path / "never.csv").exists()


def test_counts_of_a_large_file(parquet: Path) -> None:
    records = read_people(parquet)
    with open_large(parquet) as file:
        counted = file.count(["age", "ill"])
        uniform = file.rows_in_uniform_classes(["age", "zip"], "ill")
        row = file.first_row("age", records.column("age").texts()[17])
        with pytest.raises(InputError, match="nobody"):
            file.count(["nobody"])
    assert counted.people == records.rows == 5000
    pairs = list(zip(records.column("age").texts(), records.column("ill").texts(), strict=True))
    found = zip(counted.records.column("age").texts(), counted.records.column("ill").texts(), strict=True)
    assert dict(zip(found, counted.counts.tolist(), strict=True)) == {pair: pairs.count(pair) for pair in set(pairs)}
    assert row == records.column("age").texts().tolist().index(records.column("age").texts()[17]) + 1
    values: dict[tuple[object, object], list[object]] = {}
    for age, zip_, ill in zip(*(records.column(name).texts() for name in ("age", "zip", "ill")), strict=True):
        values.setdefault((age, zip_), []).append(ill)
    assert uniform == sum(len(ills) for ills in values.values() if len(set(ills)) == 1)
