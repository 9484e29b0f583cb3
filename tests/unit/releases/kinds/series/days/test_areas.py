"""Areas of a map are meshes that people know by their codes, and add up to the table."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Bins, CountTable, Domain, Mesh, mesh_codes
from sudare.errors import InputError
from sudare.examples import invent_country
from sudare.releases.kinds.series.days.areas import areas_of, largest_areas


def test_meshes_of_a_map_add_up_and_are_named_by_their_codes() -> None:
    country = invent_country(64, people=5_000)
    areas = areas_of(country.domain)
    sums = areas.sums(country)
    assert sums.sum() == country.total
    codes = country.domain.columns_of(country.keys)["KEY_CODE"]
    for area in largest_areas(areas, sums[:, None]):
        code = areas.name(area).english.split()[1]
        inside = [str(one).startswith(code) for one in codes.tolist()]
        assert sums[area] == country.counts[inside].sum()


def test_meshes_can_be_chosen_by_codes_of_one_size() -> None:
    country = invent_country(64, people=5_000)
    codes = country.domain.columns_of(country.keys)["KEY_CODE"]
    wanted = sorted({str(code)[:8] for code in codes.tolist()})[:3]
    areas = areas_of(country.domain, wanted)
    sums = areas.sums(country)
    followed = largest_areas(areas, sums[:, None])
    assert [areas.name(area).english for area in followed] == [f"Mesh {code} (1 km)" for code in wanted]
    for area, code in zip(followed, wanted, strict=True):
        assert sums[area] == sum(
            int(count) for one, count in zip(codes, country.counts, strict=True) if str(one).startswith(code)
        )


@pytest.mark.parametrize("name", ["5000", "99999999", "town", "", "553547644123"])
def test_what_is_no_mesh_of_the_map_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is no area of this table"):
        areas_of(Domain((Mesh("KEY_CODE", "1/2", 8830, 5686, 64, 64),)), [name])


def test_neighbours_of_an_ordered_attribute_are_one_area() -> None:
    domain = Domain((Bins("age", tuple(range(0, 101, 5))),))
    areas = areas_of(domain)
    table = CountTable.from_unique_cells(domain, np.arange(20, dtype=np.uint64), np.ones(20, dtype=np.int64))
    assert areas.number == 7
    assert areas.sums(table).tolist() == [3] * 6 + [2]
    assert areas.name(0).english == "0–14"
    assert largest_areas(areas, areas.sums(table)[:, None]) == list(range(7))


def test_a_mesh_of_one_row_is_followed_too() -> None:
    mesh = Mesh("KEY_CODE", "3", 4000, 3000, 1, 3)
    areas = areas_of(Domain((mesh,)))
    assert areas.number == 3
    expected = mesh_codes(np.array([4000]), np.array([3001]), "3")
    assert areas.name(1).english == f"Mesh {int(expected[0])} (1 km)"
