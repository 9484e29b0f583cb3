"""The addressed wide tree: its slow twin, any cut, subtrees by themselves, and the event of the ordinary mechanism."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, CountTable, Unit
from sudare.domain import SignedTable
from sudare.errors import EntropyError, ParameterError
from sudare.noise.addressed import NoiseKey
from sudare.tables import wide_tree
from sudare.tables.addressed import refining, tree
from sudare.tables.addressed.mechanism import addressed_wide_tree, plan_addressed_tree
from sudare.tables.addressed.refining import Subtree, cut_by_people, refine_subtree, refine_upper_levels
from sudare.tables.addressed.tree import Anchor
from tests.reference.naive_addressed import naive_addressed

EPSILON = Budget(epsilon=1)
SHAPES = st.sampled_from([(2,), (16, 16), (5, 7), (3, 4, 5), (30, 21), (64,), (1, 9)])


def table_of(shape: tuple[int, ...], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.asarray(random.poisson(0.2, shape) * random.integers(0, 40, shape), dtype=np.int64)


def some_cut(seed: int) -> Any:
    """Any nodes, decided by their prefixes and by no order of the work."""

    def cut(level: int, prefixes: Any, refined: Any) -> Any:
        mixed = (prefixes * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed + level)) >> np.uint64(40)
        return mixed % np.uint64(3) == 0

    return cut


def same_bytes(one: CountTable | SignedTable, other: CountTable | SignedTable) -> bool:
    return one.keys.tobytes() == other.keys.tobytes() and one.counts.tobytes() == other.counts.tobytes()


@settings(max_examples=25)
@given(SHAPES, st.integers(0, 10**6), st.sampled_from([1, 2, 4, 12]), st.booleans(), st.booleans())
def test_the_slow_twin(shape: tuple[int, ...], seed: int, anchors: int, is_coarse: bool, is_gaussian: bool) -> None:
    counts, key = table_of(shape, seed), NoiseKey.for_research(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "ANCHOR_BITS", anchors)
        epsilon = 1 if is_coarse else 10
        budget = Budget(epsilon=epsilon, delta=1e-6) if is_gaussian else Budget(epsilon=epsilon)
        options: Any = {"noise": "gaussian" if is_gaussian else "laplace"}
        planned = plan_addressed_tree(CountTable.from_dense(counts).domain, budget, key, **options)
        table = CountTable.from_dense(counts)
        leaves = planned.tree.layout.to_tree(table.keys)
        slow = naive_addressed(planned.tree, key, dict(zip(leaves.tolist(), table.counts.tolist(), strict=True)))
        quick = addressed_wide_tree(counts, budget, key, cut=some_cut(seed), **options).table
    cells = planned.tree.layout.to_raster(np.array(sorted(slow), dtype=np.uint64)).tolist()
    assert dict(zip(cells, (slow[leaf] for leaf in sorted(slow)), strict=True)) == dict(
        zip(quick.keys.tolist(), quick.counts.tolist(), strict=True)
    )


@settings(max_examples=12)
@given(SHAPES, st.integers(0, 10**6), st.sampled_from([1, 3, 12]))
def test_any_cut_gives_the_same_bytes(shape: tuple[int, ...], seed: int, anchors: int) -> None:
    counts, key = table_of(shape, seed), NoiseKey.for_research(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "ANCHOR_BITS", anchors)
        whole = addressed_wide_tree(counts, EPSILON, key).table
        for cut in (some_cut(seed), some_cut(seed + 1), cut_by_people(20), cut_by_people(10**9), cut_by_people(0)):
            assert same_bytes(addressed_wide_tree(counts, EPSILON, key, cut=cut).table, whole)


def test_it_does_not_matter_how_many_children_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, key = table_of((64, 64), 5), NoiseKey.for_research(5)
    whole = addressed_wide_tree(counts, EPSILON, key).table
    monkeypatch.setattr(refining, "CHILDREN_AT_ONCE", 64)
    assert same_bytes(addressed_wide_tree(counts, EPSILON, key).table, whole)


def test_words_without_a_fair_meaning_are_replaced_by_the_node_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word of a node that is this high is passed over; the next one of the same node decides, whatever the cut."""
    counts, key = table_of((16, 16), 5), NoiseKey.for_research(5)
    usual = addressed_wide_tree(counts, EPSILON, key).table
    runs = refining._runs
    monkeypatch.setattr(refining, "_runs", lambda turns, fan: [slice(i, i + 1) for i in range(turns.size)])
    assert same_bytes(addressed_wide_tree(counts, EPSILON, key).table, usual), "one by one is the same"
    monkeypatch.setattr(refining, "_runs", runs)
    words = tree.FamilyDraws._words

    def mostly_unfair(self: Any, label: str, numbers: Any, blocks: int) -> Any:
        found = words(self, label, numbers, blocks)
        if label == "turns":
            found[:, 0] = np.where(found[:, 0] % np.uint64(3) > 0, np.uint64(2**64 - 1), found[:, 0])
        return found

    monkeypatch.setattr(tree.FamilyDraws, "_words", mostly_unfair)
    results = [addressed_wide_tree(counts, EPSILON, key, cut=cut).table for cut in (None, some_cut(1), some_cut(2))]
    assert all(same_bytes(one, results[0]) for one in results)
    assert not same_bytes(results[0], usual)
    assert refining._runs(np.array([5, 2**64 - 1, 7, 8], dtype=np.uint64), 16) == [
        slice(0, 1),
        slice(1, 2),
        slice(2, 4),
    ]


@pytest.mark.parametrize("options", [{}, {"public_total": True}, {"noise": "gaussian"}, {"unit": Unit.with_rows(3)}])
def test_the_event_is_that_of_the_ordinary_mechanism(options: dict[str, Any]) -> None:
    counts, budget = table_of((30, 21), 1), Budget(epsilon=1, delta=1e-6)
    given_settings: Any = {"bits": (2, 4, 4), "weights": (1, 2, 2, 3), **options}
    event = addressed_wide_tree(counts, budget, NoiseKey.fresh(), **given_settings).event
    assert event == wide_tree(counts, budget, **given_settings).event
    assert not addressed_wide_tree(counts, budget, NoiseKey.for_research(1), **given_settings).event.is_private


def test_a_public_total_is_published_exactly() -> None:
    counts = table_of((30, 21), 1)
    assert addressed_wide_tree(counts, EPSILON, NoiseKey.fresh(), public_total=True).table.total == counts.sum()


def test_a_subtree_needs_its_own_key_only_and_draws_nothing_else() -> None:
    counts, key = table_of((64, 64), 2), NoiseKey.for_research(2)
    table = CountTable.from_dense(counts)
    planned = plan_addressed_tree(table.domain, EPSILON, key).tree
    leaves = np.sort(planned.layout.to_tree(table.keys))
    order = np.argsort(planned.layout.to_tree(table.keys))
    people = table.counts[order]
    upper = refine_upper_levels(planned, key, leaves, people, cut_by_people(300))
    whole = addressed_wide_tree(counts, EPSILON, key).table
    key.destroy()
    assert len(upper.subtrees) > 5
    found = [(upper.leaves, upper.counts)]
    for subtree in reversed(upper.subtrees):
        bare = Anchor(subtree.anchor.level, subtree.anchor.prefix, NoiseKey(subtree.anchor.key.material(), "research"))
        end = bare.prefix + (1 << planned.heights[bare.level])
        inside = (leaves >= bare.prefix) & (leaves < end)
        part = refine_subtree(planned, Subtree(bare, subtree.refined), leaves[inside], people[inside])
        assert part[1].sum() == subtree.refined
        found.append(part)
    cells, refined = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    keys = planned.layout.to_raster(cells)
    order = np.argsort(keys)
    assert same_bytes(CountTable(table.domain, keys[order], refined[order]), whole)


def test_keys_of_different_anchors_differ() -> None:
    counts, key = table_of((64, 64), 2), NoiseKey.for_research(2)
    table = CountTable.from_dense(counts)
    planned = plan_addressed_tree(table.domain, EPSILON, key).tree
    leaves = np.sort(planned.layout.to_tree(table.keys))
    upper = [refine_upper_levels(planned, key, leaves, table.counts, cut) for cut in (None, cut_by_people(300))]
    materials = {
        (one.anchor.level, one.anchor.prefix): one.anchor.key.material() for each in upper for one in each.subtrees
    }
    assert len(set(materials.values())) == len(materials) > 20
    assert key.material() not in materials.values()


def test_what_is_no_part_of_the_tree_is_refused() -> None:
    key = NoiseKey.for_research(1)
    planned = plan_addressed_tree(CountTable.from_dense(np.zeros((16, 16), int)).domain, EPSILON, key).tree
    subtree = Subtree(Anchor(1, 16, key), 5)
    for leaves, counts in (([15], [1]), ([32], [1]), ([18, 17], [1, 1]), ([17], [0]), ([17], [-1]), ([17, 18], [1])):
        with pytest.raises(ParameterError):
            refine_subtree(planned, subtree, np.array(leaves, dtype=np.uint64), np.array(counts))
    with pytest.raises(ParameterError):
        replace(planned, steps=(4,))
    with pytest.raises(ParameterError):
        addressed_wide_tree(np.array([5]), EPSILON, key)
    with pytest.raises(ParameterError):
        addressed_wide_tree(np.array([5, 5]), EPSILON, b"0" * 32)  # type: ignore[arg-type]
    key.destroy()
    with pytest.raises(EntropyError):
        addressed_wide_tree(np.array([5, 5]), EPSILON, key)


def test_nobody_is_published_where_the_noisy_total_is_not_positive() -> None:
    nothing = np.zeros((8, 8), dtype=np.int64)
    totals = [addressed_wide_tree(nothing, EPSILON, NoiseKey.for_research(seed)).table.total for seed in range(30)]
    assert min(totals) == 0
    assert max(totals) > 0
