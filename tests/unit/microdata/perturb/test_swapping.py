"""Swapping: margins that stay, partners that agree, ranks that stay near, and shares that are told truly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.errors import InputError, ParameterError
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.perturb.swapping import swap_randomly, swap_ranks, swap_risky
from sudare.microdata.records import Records

ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from(["f", "m", None]), st.integers(0, 3)),
    max_size=40,
)
SEEDS = st.integers(0, 2**32)


def table_of(rows: list[tuple[Any, ...]]) -> Records:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 4
    return Records.of_columns(
        {**dict(zip(("town", "job", "sex", "age"), columns, strict=True)), "row": range(len(rows))}
    )


def texts(records: Records, *names: str) -> list[tuple[str | None, ...]]:
    return list(zip(*(records.column(name).texts().tolist() for name in names), strict=True))


def require_margins(before: Records, outcome: Outcome, swapped: tuple[str, ...], within: tuple[str, ...]) -> None:
    after = outcome.records
    others = tuple(name for name in before.names if name not in swapped)
    assert after.names == before.names
    assert texts(after, *others) == texts(before, *others)
    for margin in (swapped, (*swapped, *within)):
        assert Counter(texts(after, *margin)) == Counter(texts(before, *margin))
    different = sum(a != b for a, b in zip(texts(before, *swapped), texts(after, *swapped), strict=True))
    assert outcome.changed == (Fraction(different, before.rows) if before.rows else 0)
    assert outcome.changed <= outcome.touched <= 1


@given(ROWS, SEEDS, st.fractions(0, 1, max_denominator=10), st.booleans())
def test_random_swaps_keep_what_they_promise(
    rows: list[tuple[Any, ...]], seed: int, share: Fraction, has_strata: bool
) -> None:
    table = table_of(rows)
    within = ("sex",) if has_strata else ()
    outcome = swap_randomly(table, ["town", "job"], share=share, within=within, entropy=ResearchEntropy(seed))
    require_margins(table, outcome, ("town", "job"), within)
    if not has_strata:
        assert outcome.touched * table.rows == 2 * int(share * table.rows / 2)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25])
def test_the_share_of_swapped_households_is_exact(share: float) -> None:
    """What sdcMicro's recordSwap is tested by: n * share swapped, each with its partner's region, and partners alike."""
    count = 10_000
    table = Records.of_columns({"region": range(count), "size": [i % 5 for i in range(count)], "income": range(count)})
    outcome = swap_randomly(table, ["region"], share=share, within=["size"])
    assert outcome.touched == outcome.changed == Fraction(str(share))
    after = [int(text) for text in outcome.records.column("region").texts()]
    moved = [row for row in range(count) if after[row] != row]
    assert len(moved) == count * Fraction(str(share))
    assert all(after[after[row]] == row and row % 5 == after[row] % 5 for row in moved)
    assert texts(outcome.records, "size", "income") == texts(table, "size", "income")


def test_every_partner_is_equally_likely() -> None:
    table, source = Records.of_columns({"a": range(4)}), ResearchEntropy(3)
    partners = Counter(
        swap_randomly(table, ["a"], share=1, entropy=source).records.column("a").texts()[0] for _ in range(900)
    )
    assert set(partners) == {"1", "2", "3"}
    assert all(220 < count < 380 for count in partners.values())


@given(ROWS, SEEDS, st.integers(2, 5), st.booleans())
def test_targeted_swaps_reach_every_risky_record_that_has_a_partner(
    rows: list[tuple[Any, ...]], seed: int, k: int, has_strata: bool
) -> None:
    table = table_of(rows)
    within = ("sex",) if has_strata else ()
    # The row's own number is swapped, so that it shows who swapped with whom.
    outcome = swap_risky(table, ["row"], ["town", "age"], k=k, within=within, entropy=ResearchEntropy(seed))
    require_margins(table, outcome, ("row",), within)
    sizes = Counter(texts(table, "town", "age"))
    risky = [sizes[key] < k for key in texts(table, "town", "age")]
    strata = texts(table, "sex") if has_strata else [()] * table.rows
    after = [int(text or 0) for text in outcome.records.column("row").texts()]
    moved = [after[row] != row for row in range(table.rows)]
    for row in range(table.rows):
        assert after[after[row]] == row
        if moved[row]:
            assert risky[row] or risky[after[row]]
    for stratum in set(strata):
        members = [row for row in range(table.rows) if strata[row] == stratum]
        left = [row for row in members if risky[row] and not moved[row]]
        free = [row for row in members if not moved[row]]
        assert not left or (len(left) == 1 and free == left)
        if sum(risky[row] for row in members) <= len(members) / 2:
            assert all(not risky[after[row]] for row in members if risky[row])


@given(st.lists(st.integers(-50, 50) | st.none(), max_size=60), SEEDS, st.fractions(0, 1, max_denominator=12))
def test_rank_swaps_stay_within_their_distance(values: list[int | None], seed: int, distance: Fraction) -> None:
    table = Records.of_columns({"wage": values, "other": range(len(values))})
    ordered = sorted(value for value in values if value is not None)
    reach = int(distance * len(ordered))
    if reach == 0 or len(ordered) < 2:
        with pytest.raises(InputError, match="Take a larger distance"):
            swap_ranks(table, "wage", distance=distance, entropy=ResearchEntropy(seed))
        return
    outcome = swap_ranks(table, "wage", distance=distance, entropy=ResearchEntropy(seed))
    assert outcome.touched > 0
    require_margins(table, outcome, ("wage",), ())
    after = [None if text is None else int(text) for text in outcome.records.column("wage").texts()]
    for old, new in zip(values, after, strict=True):
        assert (old is None) == (new is None)
        if old is not None and new is not None:
            low, high = sorted((old, new))
            # From the last rank of the lower number to the first of the higher one, both lie within reach.
            last = len(ordered) - 1 - ordered[::-1].index(low)
            assert low == high or ordered.index(high) - last <= reach


def test_rank_swaps_reach_as_far_as_they_may() -> None:
    """Else a bound that is kept would prove nothing: a distance of a tenth must be used, and nearly all records moved."""
    count = 1000
    table = Records.of_columns({"wage": range(count)})
    outcome = swap_ranks(table, "wage", distance=0.1, entropy=ResearchEntropy(1))
    after = outcome.records.column("wage").texts().astype(int)
    distances = np.abs(after - np.arange(count))
    assert 80 < distances.max() <= 100
    assert outcome.changed > Fraction(9, 10)
    with pytest.raises(InputError, match="larger distance") as caught:
        swap_ranks(table, "wage", distance=0.0009)
    assert "1000" not in caught.value.english


def test_mistakes_are_named() -> None:
    table = table_of([("a", "x", "f", 1), ("b", "y", "m", 2)])
    with pytest.raises(InputError, match="no column 'towns'"):
        swap_randomly(table, ["towns"], share=0.5)
    with pytest.raises(InputError, match="'town' has no plain number in row 1"):
        swap_ranks(table, "town", distance=0.1)
    for names in ("town", [], ["town", "town"], [3]):
        with pytest.raises(ParameterError, match="'columns'"):
            swap_randomly(table, names, share=0.5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'within'"):
        swap_randomly(table, ["town"], share=0.5, within=["town"])
    with pytest.raises(ParameterError, match="'share'"):
        swap_randomly(table, ["town"], share=2)
    with pytest.raises(ParameterError, match="'distance'"):
        swap_ranks(table, "age", distance=-1)
    with pytest.raises(ParameterError, match="'k'"):
        swap_risky(table, ["town"], ["age"], k=1)


def test_who_swaps_nothing_says_so() -> None:
    table = table_of([("a", "x", "f", 1), ("b", "y", "m", 1)])
    for outcome in (
        swap_randomly(table, ["town"], share=0.9),
        swap_randomly(table, ["town"], share=1, within=["sex"]),
        swap_risky(table, ["town"], ["age"], k=2),
    ):
        assert outcome.touched == 0
        assert "Nothing was swapped" in outcome.protects.english
        assert "何も入れ替えていません" in outcome.protects.japanese
    assert "swapped with an equal value" in swap_randomly(table, ["age"], share=1).protects.english


def test_each_says_what_it_protects() -> None:
    table = table_of([("a", "x", "f", 1), ("b", "y", "m", 2)])
    outcomes = [
        swap_randomly(table, ["town"], share=1),
        swap_risky(table, ["town"], ["age"], k=2),
        swap_ranks(table, "age", distance=0.5),
    ]
    assert [outcome.method for outcome in outcomes] == ["random-swap", "targeted-swap", "rank-swap"]
    assert len({outcome.protects.english for outcome in outcomes}) == 3
    for outcome in outcomes:
        assert "no differential privacy" in outcome.protects.english
        assert "差分プライバシーではありません" in outcome.protects.japanese
