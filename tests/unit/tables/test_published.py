"""What a mechanism hands back: the same numbers as array, frame and page, and no numbers of anybody else."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Category, CountTable, Domain, Positions, Published, ResearchEntropy, Unit
from sudare.errors import ParameterError
from sudare.tables import nn_wavelet, wide_tree


@pytest.fixture(scope="module")
def published() -> Published:
    domain = Domain((Category("sex", ("f", "m")), Positions("place", 5)))
    table = CountTable.from_dense(np.arange(10).reshape(2, 5) * 30, domain)
    return nn_wavelet(table, Budget(epsilon=2))


def test_it_comes_apart(published: Published) -> None:
    table, event = published
    assert table is published.table
    assert event is published.event


def test_as_an_array(published: Published) -> None:
    dense = published.to_dense()
    assert dense.shape == (2, 5)
    assert dense.dtype == np.int64
    assert (CountTable.from_dense(dense, published.table.domain)) == published.table


@pytest.mark.parametrize("kind", [None, "pandas", "polars", "pyarrow"])
def test_as_a_frame(published: Published, kind: Any) -> None:
    frame = published.to_frame(kind)
    package = type(frame).__module__.split(".")[0]
    assert package == (kind or "pandas")
    columns = {name: list(map(str, np.asarray(frame[name]).tolist())) for name in ("sex", "place", "count")}
    assert len(columns["count"]) == published.table.keys.size
    for sex, place, count in zip(*columns.values(), strict=True):
        assert published.to_dense()[("f", "m").index(sex), int(place)] == int(count)
    assert CountTable.from_frame(frame, published.table.domain, count="count") == published.table


@pytest.mark.parametrize("kind", ["numpy", 5, ["pandas"], ""])
def test_frames_that_there_are_not(published: Published, kind: Any) -> None:
    with pytest.raises(ParameterError, match=r"The 'kind' parameter of Published\.to_frame"):
        published.to_frame(kind)


def test_an_empty_table_has_an_empty_frame() -> None:
    nobody = wide_tree(np.zeros((4, 4), dtype=int), Budget(epsilon=1), public_total=0)
    assert len(nobody.to_frame()) == 0
    assert not nobody.to_dense().any()
    assert "<table>" in nobody._repr_html_()


def test_in_a_line(published: Published) -> None:
    assert repr(published) == f"<nn-wavelet: {published.table.total:,} people in 2 x 5 cells, {published.event.cost}>"


def test_as_a_page(published: Published) -> None:
    page = published._repr_html_()
    for shown in ("nn-wavelet", "per person (add-remove)", "2 x 5 = 10", f"{published.table.total:,}", "nothing"):
        assert shown in page
    assert "NOT private" not in page
    assert "<svg" not in page  # two rows are no map


def test_a_page_says_what_is_exact_and_what_is_not_private() -> None:
    page = wide_tree(np.ones((4, 4), dtype=int), Budget(epsilon=1), public_total=True)._repr_html_()
    assert "total" in page
    assert "replace" in page
    page = wide_tree(np.ones((4, 4), dtype=int), Budget(epsilon=1), entropy=ResearchEntropy(1))._repr_html_()
    assert "NOT private" in page


def test_words_of_a_user_are_escaped() -> None:
    unit = Unit("<script>alert(1)</script>")
    page = wide_tree(np.ones((4, 4), dtype=int), Budget(epsilon=1), unit=unit)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("shape", [(8, 8), (300, 20), (1000, 700)])
def test_a_map_has_a_picture_of_what_is_published(shape: tuple[int, int]) -> None:
    counts = np.zeros(shape, dtype=np.int64)
    counts[0, 0] = 10**6
    published = wide_tree(counts, Budget(epsilon=1), public_total=True)
    found = re.search(r'base64,([^"]+)"', published._repr_html_())
    assert found is not None
    picture = base64.b64decode(found.group(1))
    assert picture.startswith(b"\x89PNG")
    height, width = (int.from_bytes(picture[at : at + 4], "big") for at in (20, 16))
    assert max(height, width) <= 256
    assert (height > width) == (shape[0] > shape[1])


def test_a_reference_is_part_of_the_result() -> None:
    counts = np.random.default_rng(2).integers(0, 90, size=(16, 16))
    published = wide_tree(counts, Budget(epsilon=1), reference=counts.copy())
    assert published.reference == CountTable.from_dense(counts)
    assert "declared by the caller" in published._repr_html_()
    assert wide_tree(counts, Budget(epsilon=1)).reference is None
