"""Domains by a public list of meshes, by prefecture and by municipality."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from sudare import Budget, Unit
from sudare.domain import CountTable, MeshList
from sudare.errors import InputError, PlanError
from sudare.io import Source, read_counts, write_table
from sudare.ledger import open_ledger
from sudare.releases.data.domains import describe_domain, domain_of_description
from sudare.releases.kinds.counts import ReleasePlan, read_plan, read_published_table, run_release, verify_release

LIST = """都道府県市区町村コード,市区町村名,基準メッシュコード,備考
13101,千代田区,53394610,
13101,千代田区,53394611,
13102,中央区,53394611,
13102,中央区,53394612,
14101,横浜市鶴見区,53391530,
01101,札幌市中央区,64414277,
"""
PLAN = """
title = "t"
[source]
path = "people.csv"
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "3"
{keys}
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "town"
[output]
formats = ["csv", "parquet", "geoparquet"]
"""


def planned(folder: Path, keys: str, encoding: str = "cp932", level: str = "3") -> ReleasePlan:
    (folder / "meshes.csv").write_bytes(LIST.encode(encoding))
    keys = keys if "public" in keys or "meshes" not in keys else f"{keys}\npublic = true"
    (folder / "plan.toml").write_text(
        PLAN.format(keys=keys).replace('level = "3"', f'level = "{level}"'), encoding="utf-8"
    )
    return read_plan(folder / "plan.toml")


def meshes(plan: ReleasePlan) -> list[int]:
    listed = plan.domain.attributes[0]
    assert isinstance(listed, MeshList)
    codes: list[int] = sorted(listed.codes.tolist())
    return codes


ALL = [53391530, 53394610, 53394611, 53394612, 64414277]


@pytest.mark.parametrize("encoding", ["cp932", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('meshes = "meshes.csv"', ALL),
        ('meshes = ["meshes.csv"]\nprefectures = [13]', ALL[1:4]),
        ('meshes = "meshes.csv"\nprefectures = "東京都"', ALL[1:4]),
        ('meshes = "meshes.csv"\nprefectures = ["Tokyo", "Kanagawa"]', ALL[:4]),
        ('meshes = "meshes.csv"\nprefectures = [1]', ALL[4:]),
        ('meshes = "meshes.csv"\nmunicipalities = [13102]', ALL[2:4]),
        ('meshes = "meshes.csv"\nmunicipalities = ["千代田区", "01101"]', [ALL[1], ALL[2], ALL[4]]),
    ],
)
def test_lists(keys: str, expected: list[int], encoding: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, keys, encoding)
    assert meshes(plan) == expected
    assert domain_of_description(json.loads(json.dumps(describe_domain(plan.domain))), "x") == plan.domain
    assert plan.count == "population"


def test_coarser_lists_other_files_and_names(tmp_path: Path) -> None:
    finer = planned(tmp_path, 'meshes = "meshes.csv"\nmunicipalities = [13102]', level="1/2")
    assert len(meshes(finer)) == 8
    pyarrow.parquet.write_table(
        pyarrow.table({"mesh_code": ALL, "city_code": [14101, 13101, 13101, 13102, 1101]}), tmp_path / "list.parquet"
    )
    assert meshes(planned(tmp_path, 'meshes = "list.parquet"\nprefectures = [13]')) == ALL[1:4]
    (tmp_path / "one.csv").write_text("whatever\n53394611\n")
    assert meshes(planned(tmp_path, 'meshes = "one.csv"')) == [53394611]
    (tmp_path / "lists").mkdir()
    for number, code in enumerate(ALL):
        (tmp_path / "lists" / f"{number}.csv").write_text(f"mesh\n{code}\n")
    assert meshes(planned(tmp_path, 'meshes = "lists"')) == ALL


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("prefectures = [13]", "'meshes' .* is missing: name a public list .*m_itiran"),
        ('meshes = "nowhere.csv"', "'meshes' .* no file to read"),
        ('meshes = "meshes.csv"\npublic = false', "'public' .* must be true: you declare that this list of meshes"),
        ('meshes = "meshes.csv"\npublic = "yes"', "'public' .* must be true or false"),
        ('meshes = "meshes.csv"\nprefectures = ["Edo"]', "'prefectures' .* has 'Edo', which is none"),
        ('meshes = "meshes.csv"\nprefectures = [27]', "'prefectures' .* leaves no mesh"),
        (
            'meshes = "meshes.csv"\nmunicipalities = ["大阪市"]',
            "'municipalities' .* has '大阪市', which the list does not",
        ),
        ('meshes = "meshes.csv"\narea = "japan"', "'area' .* cannot go with meshes"),
        ("meshes = [3]", "'meshes' .* must be a file"),
        ('meshes = "bare.csv"', "'meshes' .* needs a column of mesh codes"),
        ('meshes = "codes.csv"\nprefectures = [13]', "'meshes' .* needs a column of codes of municipalities"),
        ('meshes = "words.csv"', "'meshes' .* something else than digits"),
        ('window = [4280, 3180, 4, 4]\nlisted = "AAAA"', "'listed' .* a packed bit"),
        ("window = [99999, 3180, 4, 4]", "'window' .* 99999"),
    ],
)
def test_mistakes(keys: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("a,b\n1,2\n")
    (tmp_path / "codes.csv").write_text("mesh,b\n53394611,2\n")
    (tmp_path / "words.csv").write_text("mesh\nnone\n")
    with pytest.raises(PlanError, match=message) as caught:
        planned(tmp_path, keys)
    assert caught.value.explain("ja")


def test_reading_people_into_a_list(tmp_path: Path) -> None:
    domain = planned(tmp_path, 'meshes = "meshes.csv"\nprefectures = [13]').domain
    people = tmp_path / "people.csv"
    people.write_text("KEY_CODE,lat,lon\n53394611,35.681236,139.767125\n53394611,35.681236,139.767125\n")
    assert read_counts(Source(str(people)), domain).counts.tolist() == [2]
    assert read_counts(Source(str(people), columns={"KEY_CODE": "lat,lon"}), domain).total == 2
    people.write_text("KEY_CODE,lat,lon\n53394611,35.681236,139.767125\n53394613,35.681236,139.79\n")
    with pytest.raises(
        InputError, match=r"'KEY_CODE' has a value in 'people.csv', row 3.* one of the 3 listed"
    ) as caught:
        read_counts(Source(str(people)), domain)
    assert "一覧にある 3 個" in caught.value.explain("ja")
    with pytest.raises(InputError, match="a point in one of the 3 listed meshes"):
        read_counts(Source(str(people), columns={"KEY_CODE": "lat,lon"}), domain)
    assert read_counts(Source(str(people), outside="leave out"), domain).total == 1
    assert read_counts(Source(str(people), columns={"KEY_CODE": "lat,lon"}, outside="leave out"), domain).total == 1
    with zipfile.ZipFile(tmp_path / "tblT000608S5339.zip", "w") as archive:
        archive.writestr("a.txt", "KEY_CODE,T000608001\n53394611,7\n53394613,9\n")
    estat = Source(str(tmp_path / "tblT000608S5339.zip"), outside="leave out")
    assert read_counts(estat, domain).counts.tolist() == [7]


def test_a_release_over_a_list(tmp_path: Path) -> None:
    plan = planned(tmp_path, 'meshes = "meshes.csv"\nprefectures = [13]')
    (tmp_path / "people.csv").write_text("KEY_CODE\n" + "53394611\n" * 90 + "53394612\n" * 40)
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=3), unit=Unit("person"))
    release = run_release(plan)
    published = read_published_table(release.folder)
    assert published == release.table
    assert published.domain == plan.domain
    assert set(published.to_columns()["KEY_CODE"].tolist()) <= set(ALL[1:4])
    assert not [check for check in verify_release(release.folder) if check.outcome == "failed"]
    assert "data:image/png" in (release.folder / "release.html").read_text(encoding="utf-8")


def test_rasters(tmp_path: Path) -> None:
    pytest.importorskip("rasterio")
    domain = planned(tmp_path, 'meshes = "meshes.csv"\nprefectures = [13]').domain
    table = CountTable.from_dense(np.array([3, 0, 8]), domain)
    write_table(table, tmp_path / "t.tif")
    assert read_counts(Source(str(tmp_path / "t.tif")), domain) == table
