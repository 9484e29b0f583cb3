"""INSPIRE grids in plans: windows by cells and by numbers, as documents record them, and files of ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.domain import Domain
from sudare.domain.grids.inspire import InspireGrid
from sudare.errors import InputError, PlanError
from sudare.io import Source, read_counts
from sudare.releases.data.domains import describe_domain, domain_of_description

BASE = {"name": "GRD_ID", "kind": "inspire", "size": "1km"}
GRID = InspireGrid("GRD_ID", "1km", 2689, 4341, 4, 8)


def read(**keys: object) -> Domain:
    return domain_of_description({"attributes": [{**BASE, **keys}]}, "plan.toml")


def test_a_window_by_two_cells_or_by_numbers() -> None:
    assert read(corners=["1kmN2689E4341", "CRS3035RES1000mN2692000E4348000"]).attributes == (GRID,)
    assert read(window=[2689, 4341, 4, 8]).attributes == (GRID,)


@pytest.mark.parametrize("form", ["inspire", "short"])
def test_a_document_records_it(form: str) -> None:
    domain = read(window=[2689, 4341, 4, 8], form=form)
    described = describe_domain(domain)
    assert domain_of_description(described, "release.json").attributes == domain.attributes


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": [1, 2, 3]},
        {"corners": ["1kmN2689E4341"]},
        {"corners": ["1kmN2692E4348", "1kmN2689E4341"]},
        {"corners": ["53394611", "53394611"]},
        {"window": [1, 2, 3, 4], "size": "3km"},
        {"window": [10_000, 0, 1, 1]},
        {"window": [1, 2, 3, 4], "form": "long"},
        {},
    ],
)
def test_what_is_no_window_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PlanError, match=r"plan\.toml"):
        read(**wrong)


def test_people_are_counted_from_a_file_of_ids(tmp_path: Path) -> None:
    ids = ["1kmN2689E4341", "CRS3035RES1000mN2689000E4341000", "1kmE4348N2692"]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["GRD_ID", *ids]), encoding="utf-8")
    table = read_counts(Source(str(file)), Domain((GRID,)))
    assert dict(zip(table.keys.tolist(), table.counts.tolist(), strict=True)) == {0: 2, 31: 1}
    for wrong in ("1kmN2600E4341", "somewhere"):
        file.write_text("\n".join(["GRD_ID", *ids, wrong]), encoding="utf-8")
        with pytest.raises(InputError):
            read_counts(Source(str(file)), Domain((GRID,)))
    file.write_text("\n".join(["GRD_ID", *ids, "1kmN2600E4341"]), encoding="utf-8")
    assert read_counts(Source(str(file), outside="leave out"), Domain((GRID,))).total == 3
