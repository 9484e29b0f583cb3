"""Drafts of plans: roles are told by names and shapes, and no value of anybody enters a plan."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.drafting import ColumnRole, ColumnShape, SeenColumn, draft_of_file, guess_roles, look_at_columns
from sudare.drafting.columns import MAX_COLUMNS
from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft, plan_text_of, with_budget
from sudare.errors import InputError
from sudare.io import Source
from sudare.privacy import Budget
from sudare.releases.kinds.counts import read_plan

ROWS = """person_id,lat,lon,性別,age,note,when
901,35.61,139.71,男,33,secret-word,2025-04-01 09:00
902,35.62,139.72,女,34,other-word,2025-04-01 10:00
"""


def _draft(file: Path, **options: object) -> PlanDraft:
    return draft_of_file(file, plan_folder=file.parent, budget=Budget(epsilon="0.25"), **options)[0]  # type: ignore[arg-type]


def test_a_file_of_people_becomes_a_plan_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    draft = _draft(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(plan_text_of(draft), encoding="utf-8")
    plan = read_plan(tmp_path / "plan.toml")
    assert [attribute.name for attribute in plan.domain.attributes] == ["KEY_CODE", "性別", "age"]
    assert plan.source.person == "person_id"
    assert plan.source.columns == {"KEY_CODE": "lat,lon"}
    assert plan.budget == Budget(epsilon="0.25")
    assert not draft.is_decided  # the span of the times is nobody's but the user's to state


def test_no_value_of_anybody_is_in_the_plan(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    text = plan_text_of(_draft(tmp_path / "people.csv"))
    for value in ("901", "902", "35.6", "139.7", "secret", "other-word", "33", "2025-04-01"):
        assert value not in text


def test_people_in_other_rows_give_the_same_draft(tmp_path: Path) -> None:
    """The draft depends on the layout: everybody may be exchanged for somebody else of the same sort."""
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    first = plan_text_of(_draft(tmp_path / "people.csv"))
    other = "person_id,lat,lon,性別,age,note,when\n7,43.1,141.3,女,5,zzz,1999-12-31 23:59\n"
    (tmp_path / "people.csv").write_text(other, encoding="utf-8")
    assert plan_text_of(_draft(tmp_path / "people.csv")) == first


@pytest.mark.parametrize(
    ("values", "shape", "level"),
    [
        (["533946113", "533946114"], ColumnShape.MESH, "1/2"),
        (["53394611"], ColumnShape.MESH, "3"),
        (["5339461132"], ColumnShape.MESH, "1/4"),
        (["533999999"], ColumnShape.WHOLE, ""),
        (["53394611", "533946113"], ColumnShape.WHOLE, ""),
        (["5339"], ColumnShape.WHOLE, ""),
        (["12", "-3"], ColumnShape.WHOLE, ""),
        (["12", "3.5"], ColumnShape.DECIMAL, ""),
        (["2025-04-01", "2025/4/2"], ColumnShape.DAY, ""),
        (["2025-04-01", "2025-04-01T09:30"], ColumnShape.MOMENT, ""),
        (["true", "False"], ColumnShape.YES_NO, ""),
        (["a", "1"], ColumnShape.TEXT, ""),
        (["", ""], ColumnShape.EMPTY, ""),
    ],
)
def test_the_shape_of_a_column(tmp_path: Path, values: list[str], shape: ColumnShape, level: str) -> None:
    file = tmp_path / "one.csv"
    file.write_text("id,thing\n" + "".join(f"{n},{value}\n" for n, value in enumerate(values)), encoding="utf-8")
    seen = look_at_columns(Source(str(file))).columns[1]
    assert (seen.shape, seen.level) == (shape, level)


def test_a_parquet_file_of_counts(tmp_path: Path) -> None:
    table = pyarrow.table({"KEY_CODE": [533946113, 533946114], "population": [3, 4]})
    pyarrow.parquet.write_table(table, tmp_path / "counts.parquet")
    draft = _draft(tmp_path / "counts.parquet")
    assert draft.is_decided
    assert (draft.source.rows, draft.source.count) == ("counts", "population")
    assert draft.attributes[0].keys["level"] == "1/2"


def test_a_file_without_a_header_shows_nobody(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("1,Yamada Taro,1980-01-02\n2,Suzuki Jiro,1981-03-04\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        look_at_columns(Source(str(tmp_path / "bare.csv")))
    assert "Yamada" not in str(caught.value)


def test_a_file_that_is_too_wide_is_refused(tmp_path: Path) -> None:
    names = ",".join(f"c{n}" for n in range(MAX_COLUMNS + 1))
    (tmp_path / "wide.csv").write_text(names + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="501 columns"):
        look_at_columns(Source(str(tmp_path / "wide.csv")))


def test_of_persons_and_counts_there_is_one() -> None:
    columns = [SeenColumn(name=name, shape=ColumnShape.WHOLE) for name in ("user_id", "customer_id", "count", "people")]
    assert [guess.role for guess in guess_roles(columns)] == [
        ColumnRole.PERSON,
        ColumnRole.LEFT_OUT,
        ColumnRole.COUNT,
        ColumnRole.LEFT_OUT,
    ]


@pytest.mark.parametrize("names", [("T001141001", "T001141002"), ("pop", "pop_white"), ("TotalPop", "age")])
def test_what_censuses_call_a_count_is_one(names: tuple[str, str]) -> None:
    """e-Stat names its value columns by number, the population first; a row of such a file is a place, not a person."""
    first, second = guess_roles([SeenColumn(name=name, shape=ColumnShape.WHOLE) for name in names])
    assert first.role is ColumnRole.COUNT
    assert second.role is not ColumnRole.COUNT


def test_half_a_point_is_no_place() -> None:
    guessed = guess_roles([SeenColumn(name="lat", shape=ColumnShape.DECIMAL)])
    assert guessed[0].role is ColumnRole.LEFT_OUT


_HOSTILE = st.text(min_size=1, max_size=12).filter(lambda name: name.strip() == name)


@given(_HOSTILE, _HOSTILE, st.lists(_HOSTILE, min_size=1, max_size=3, unique=True))
def test_any_name_survives_the_file(title: str, name: str, labels: list[str]) -> None:
    attribute = AttributeDraft(name=name, kind="category", keys={"labels": tuple(labels)})
    draft = PlanDraft(
        title=title,
        publisher=title,
        source=SourceDraft(path=name, columns={name: title}),
        attributes=(attribute,),
        left_out=(name, "a\nb"),
        budget=Budget(epsilon="0.1", delta="1e-9"),
    )
    found = tomllib.loads(plan_text_of(draft))
    assert found["title"] == title
    assert found["source"] == {"path": name, "rows": "people", "columns": {name: title}}
    assert found["domain"] == [{"name": name, "kind": "category", "labels": labels}]


def test_another_budget_leaves_the_rest_as_it_is() -> None:
    text = '# first\ntitle = "x"\n\n[budget]  # what is spent\nepsilon = 1\n# a word\ndelta = 1e-6\n\n[ledger]\nlocation = "b"\n'
    changed = with_budget(text, Budget(rho="0.25"))
    assert (
        changed
        == '# first\ntitle = "x"\n\n[budget]  # what is spent\nrho = 0.25\n# a word\n\n[ledger]\nlocation = "b"\n'
    )
    assert tomllib.loads(with_budget(changed, Budget(epsilon="1/3")))["budget"] == {"epsilon": "1/3"}


def test_a_plan_without_a_budget_is_not_changed() -> None:
    with pytest.raises(ValueError, match="no section"):
        with_budget('title = "x"\n', Budget(epsilon=1))


def test_where_there_is_a_map_prefectures_are_not_drafted_beside_it(tmp_path: Path) -> None:
    rows = "".join(f"{number},東京都,35.6,139.7\n" for number in range(9))
    file = tmp_path / "people.csv"
    file.write_text(f"個人番号,都道府県,緯度,経度\n{rows}", encoding="utf-8")
    draft, _, _ = draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))
    assert [attribute.kind for attribute in draft.attributes] == ["mesh"]
    assert "都道府県" in draft.left_out
    file.write_text("個人番号,都道府県\n1,東京都\n", encoding="utf-8")
    draft, _, _ = draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))
    assert [attribute.name for attribute in draft.attributes] == ["都道府県"]


@pytest.mark.parametrize(("sign", "shown"), [(";", "';'"), ("|", "'|'"), ("\t", "'Tab'")])
def test_columns_that_are_separated_otherwise_are_told(tmp_path: Path, sign: str, shown: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text(f"sex{sign}age\nMale{sign}39\nFemale{sign}50\n", encoding="utf-8")
    with pytest.raises(InputError, match="separated by") as refused:
        draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))
    assert shown in str(refused.value)
    assert "39" not in str(refused.value)


@pytest.mark.parametrize(("start", "sort"), [(b"PK\x03\x04", "ZIP"), (b"PAR1", "Parquet"), (b"\x89PNG", "PNG")])
def test_a_text_file_that_is_none_is_called_what_it_is(tmp_path: Path, start: bytes, sort: str) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(start + bytes(range(255, 100, -1)) * 9)
    with pytest.raises(InputError, match=f"is a {sort}"):
        draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))


def test_a_raster_that_is_none_is_refused_before_it_is_drafted(tmp_path: Path) -> None:
    from sudare.io import Source, describe_source

    file = tmp_path / "people.tif"
    for start in (b"person_id,sex\n1,female\n", b"", b"II", b"PK\x03\x04"):
        file.write_bytes(start)
        with pytest.raises(InputError, match=r"'people.tif' is not a whole GeoTIFF file"):
            draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))
        with pytest.raises(InputError, match="GeoTIFF"):
            describe_source(Source(str(file)))
    file.write_bytes(b"MM\0*")
    assert describe_source(Source(str(file))).format == "geotiff"


def test_no_more_of_a_text_than_its_start_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large a file is; what lies behind may even be in no encoding."""
    from sudare.io.formats import text_files

    def refuse(*_: object) -> str:
        raise AssertionError("the whole file is read")

    monkeypatch.setattr(text_files, "MAX_START", 1 << 12)
    file = tmp_path / "people.csv"
    for encoding in ("utf-8", "cp932"):
        text = "番号,性別\n" + "1,男性\n" * 1000
        file.write_bytes(text.encode(encoding) + b"\xff\xff\n" * 9)
        assert text_files.encoding_at_start(str(file)) == encoding
        file.write_bytes(text.encode(encoding))
        with monkeypatch.context() as patched:
            patched.setattr(text_files, "_looked_up", refuse)
            guessed = draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))[2]
        assert [column.seen.name for column in guessed] == ["番号", "性別"]
    file.write_bytes(b"a,b\n" + bytes(1 << 13))
    with pytest.raises(InputError, match="is not a whole text file"):
        draft_of_file(file, plan_folder=tmp_path, budget=Budget(epsilon=1))
