"""Cell keys: distributions of largest entropy, and noise that is the same wherever a cell is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sudare.disclosure.cell_key import (
    KEY_UNITS,
    PerturbationTable,
    cell_keys,
    maximum_entropy_row,
    perturbation_table,
    read_perturbation_table,
    record_keys,
)
from sudare.disclosure.structure import Dimension
from sudare.errors import InputError, ParameterError

SECRET = b"a secret of enough bytes"


def moments(count: int, row: dict[int, float]) -> tuple[float, float, float]:
    return (
        sum(row.values()),
        sum(share * (target - count) for target, share in row.items()),
        sum(share * (target - count) ** 2 for target, share in row.items()),
    )


def entropy(shares: np.ndarray) -> float:
    positive = shares[shares > 0]
    return -float((positive * np.log(positive)).sum())


@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 40), st.integers(0, 2), st.booleans())
@settings(max_examples=60, deadline=None)
def test_rows_meet_the_conditions_and_nothing_has_more_entropy(
    count: int, largest: int, tenths: int, forbidden: int, monotone: bool
) -> None:
    variance = tenths / 10
    try:
        row = maximum_entropy_row(count, largest=largest, variance=variance, forbidden=forbidden, monotone=monotone)
    except InputError:
        assume(False)
        raise
    assert moments(count, row) == pytest.approx((1, 0, variance), abs=1e-9)
    assert all(target == 0 or target > forbidden for target in row)
    assert all(abs(target - count) <= largest for target in row)
    targets = np.array(sorted(row))
    shares = np.array([row[target] for target in targets])
    if monotone and count in row:
        below, above = shares[targets <= count], shares[targets >= count]
        assert (np.diff(below) >= -1e-8).all()
        assert (np.diff(above) <= 1e-8).all()
    # Every direction that keeps the sum, the mean and the variance lowers the entropy.
    steps = targets - count
    _, _, directions = np.linalg.svd(np.array([np.ones(steps.size), steps, steps**2]))
    for direction in directions[3:]:
        for sign in (-1, 1):
            moved = shares + sign * 1e-4 * direction
            if (moved < 0).any():
                continue
            if monotone and count in row:
                below, above = moved[targets <= count], moved[targets >= count]
                if (np.diff(below) < 0).any() or (np.diff(above) > 0).any():
                    continue
            assert entropy(moved) <= entropy(shares) + 1e-10


def test_conditions_that_cannot_be_met_are_refused() -> None:
    for options in (
        {"largest": 2, "variance": 5},  # the largest deviation is 2, so that the variance is at most 4
        {"largest": 2, "variance": "0.9", "forbidden": 1},  # 1 must go to 0 or to 2 and more
        {"largest": 1, "variance": "0.5", "forbidden": 1},
        {"largest": 2, "variance": "2.1", "monotone": True},  # all five equally likely have 2
    ):
        with pytest.raises(InputError, match="No distribution"):
            maximum_entropy_row(1 if "forbidden" in options else 5, **options)
    with pytest.raises(ParameterError):
        maximum_entropy_row(1, largest=0, variance=1)
    with pytest.raises(ParameterError):
        maximum_entropy_row(1, largest=1, variance="x")
    with pytest.raises(ParameterError):
        maximum_entropy_row(1, largest=3, variance=1, stay=1)


def test_staying_has_its_probability() -> None:
    row = maximum_entropy_row(9, largest=3, variance=1, stay="0.7")
    assert row[9] == pytest.approx(0.7, abs=1e-10)
    assert moments(9, row) == pytest.approx((1, 0, 1), abs=1e-9)


def test_a_table_of_rows() -> None:
    table = perturbation_table(largest=3, variance="1.5", forbidden=1)
    assert len(table.noise) == 6  # the count 5 is the first whose noise is never cut off
    assert table.noise[0] == (0,)
    assert table.noise[-1] == (-3, -2, -1, 0, 1, 2, 3)
    assert perturbation_table(largest=3, variance="1.5", forbidden=1).bounds == table.bounds


def test_noise_has_the_distribution_of_its_row() -> None:
    table = perturbation_table(largest=2, variance=1)
    keys = np.arange(0, KEY_UNITS, KEY_UNITS // 20_000, dtype=np.int64)
    noise = table.perturb(np.full(keys.size, 7), keys) - 7
    for step, share in zip((-2, -1, 0, 1, 2), np.diff([0, *table.bounds[-1]]) / KEY_UNITS, strict=True):
        assert (noise == step).mean() == pytest.approx(share, abs=1e-4)
    assert table.perturb(np.array([0, 0]), np.array([0, KEY_UNITS - 1])).tolist() == [0, 0]


def test_the_bounds_of_a_row_are_hit_exactly() -> None:
    table = PerturbationTable(((0,), (-1, 2)), ((KEY_UNITS,), (10, KEY_UNITS)))
    assert table.perturb(np.array([1, 1]), np.array([9, 10])).tolist() == [0, 3]


def test_the_same_people_get_the_same_noise_in_every_table() -> None:
    people = [f"p{number}" for number in range(200)]
    sex = np.array(["f" if number % 3 else "m" for number in range(200)])
    area = np.array([f"a{number % 7}" for number in range(200)])
    keys = record_keys(people, SECRET)
    areas, sexes = Dimension.flat("area", sorted(set(area.tolist()))), Dimension.flat("sex", ["f", "m"])
    noise = perturbation_table(largest=4, variance=2, forbidden=1)
    both, both_keys = cell_keys([areas, sexes], {"area": area, "sex": sex}, keys)
    one, one_keys = cell_keys([sexes], {"sex": sex}, keys)
    published, published_one = noise.perturb(both.counts, both_keys), noise.perturb(one.counts, one_keys)
    for code in ("f", "m"):
        assert published[both.system.cell(sex=code)] == published_one[one.system.cell(sex=code)]
    assert both_keys[0] == int(keys.sum()) % KEY_UNITS
    assert (published != both.counts).any()
    order = np.random.default_rng(1).permutation(200)  # the order of the records does not matter
    mixed, mixed_keys = cell_keys([areas, sexes], {"area": area[order], "sex": sex[order]}, keys[order])
    assert (noise.perturb(mixed.counts, mixed_keys) == published).all()


def test_keys_depend_on_the_secret_and_look_uniform() -> None:
    keys = record_keys(range(4000), SECRET)
    assert (keys != record_keys(range(4000), b"another secret of enough")).all()
    counts = np.bincount(keys * 16 // KEY_UNITS, minlength=16)
    assert (
        (counts - 250) ** 2 / 250
    ).sum() < 45  # chi-square, 15 degrees; 37.7 has probability 0.001, and the draw is fixed
    with pytest.raises(ParameterError) as caught:
        record_keys(["a"], b"short")
    assert "short" not in str(caught.value)
    with pytest.raises(InputError, match="below 1"):
        cell_keys([Dimension.flat("x", ["a"])], {"x": ["a"]}, ["1.0"])


def test_tables_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.25;-1;0.25\n1;1;0.75;0;1\n")
    table = read_perturbation_table(path)
    assert table.noise == ((0,), (-1, 0))
    assert table.bounds[1] == (KEY_UNITS // 4, KEY_UNITS)
    for wrong, match in (
        ("i;j;p;v\n1;1;1;0\n", "every count from 0"),
        ("i;j;p;v\n0;0;0.5;0\n", "add up to 1"),
        ("i;j;v\n0;0;0\n", "columns i, v and p"),
    ):
        path.write_text(wrong)
        with pytest.raises(InputError, match=match):
            read_perturbation_table(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_perturbation_table(tmp_path / "none.txt")
    with pytest.raises(ParameterError):
        PerturbationTable(((-1, 1),), ((5, KEY_UNITS),))
    with pytest.raises(ParameterError):
        PerturbationTable(((0, 1),), ((KEY_UNITS, 5),))
