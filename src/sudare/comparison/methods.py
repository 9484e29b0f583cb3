"""The methods that are compared: each takes the data and one setting of its dial, and gives what a reader makes of the result.

All noise comes from a seed, so that a comparison can be repeated; nothing of it may be published as a protected table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.comparison.hiding import hide_small_cells
from sudare.comparison.views import Axes, View, spread
from sudare.disclosure.cell_key import KEY_UNITS, perturbation_table, record_keys
from sudare.microdata.models import KAnonymity
from sudare.microdata.perturb.swapping import swap_randomly
from sudare.microdata.search.anonymizing import anonymize
from sudare.microdata.synthetic import synthesize
from sudare.privacy import Budget
from sudare.tables import laplace, nn_wavelet, publish

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.comparison.people import Sample
    from sudare.noise.entropy import EntropySource

    Floats = NDArray[np.float64]

__all__ = ["DELTA", "METHODS", "Kind", "Method"]

Kind = Literal["none", "whole", "share", "epsilon"]
"""What the dial of a method is: nothing, a whole number, a share of the records, or epsilon."""

DELTA = Fraction(1, 10**6)
"""Of synthetic data, whose noise is Gaussian."""

MAX_REMOVED = Fraction(1, 20)
"""Of the records, that k-anonymity may leave out."""

Protect = Callable[["Sample", Fraction, "EntropySource"], View]


@dataclass(frozen=True)
class Method:
    """A way to protect data.

    Attributes:
        name: in plans and files.
        title: for people.
        dial: what its setting is called; the setting stands for {value}.
        kind: of the setting.
        settings: if a plan names none.
        protect: from the data, a setting and a source of bits to what a reader makes of the result.
        is_private: whether it is differentially private.
        most_repeats: how often it is run at most if a plan does not say, because it takes long.
    """

    name: str
    title: Words
    dial: Words
    kind: Kind
    settings: tuple[Fraction, ...]
    protect: Protect
    is_private: bool = False
    most_repeats: int | None = None

    def told(self, setting: Fraction) -> Words:
        """The setting in words; empty for a method without a dial."""
        value = f"{float(100 * setting):.3g}%" if self.kind == "share" else f"{float(setting):.3g}"
        return Words(self.dial.english.format(value=value), self.dial.japanese.format(value=value))


def _as_it_is(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    return View.of_counts(sample.table)


def _suppressed(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    return hide_small_cells(sample, int(setting))


def _hidden_without_care(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    return hide_small_cells(sample, int(setting), secondary=False)


def _k_anonymous(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    """Coarser values for all columns but the sensitive one. A record stands for every cell of its group alike."""
    population = sample.population
    known = {column.name: column for column in population.columns[:-1]}
    made = anonymize(sample.records, known, [KAnonymity(int(setting))], suppression=MAX_REMOVED)
    levels = [*(made.search.levels[name] if made.search else 0 for name in known), 0]
    parts = [column.parents[level].astype(np.int64) for column, level in zip(population.columns, levels, strict=True)]
    sizes = tuple(len(column.levels[level]) for column, level in zip(population.columns, levels, strict=True))
    groups = np.ravel_multi_index(np.ix_(*parts), sizes)
    codes = sample.codes[made.kept]
    own = np.ravel_multi_index(tuple(part[codes[:, place]] for place, part in enumerate(parts)), sizes)
    totals = np.bincount(own, minlength=int(np.prod(sizes))).astype(np.float64)
    cells = np.bincount(groups.ravel(), minlength=totals.size)
    alone = (cells == 1)[groups]
    return View(
        spread(totals, groups, np.ones(groups.shape)),
        spread(totals, groups, population.table.astype(np.float64)),
        np.where(alone, totals[groups], 0.0),
        totals[groups],
        alone,
    )


def _swapped(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    """Pairs of records exchange their areas."""
    made = swap_randomly(sample.records, [sample.population.names[0]], share=setting, entropy=entropy)
    return View.of_counts(sample.count(sample.codes_of(made.records)))


def _cell_keys(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    """Every number of every table gets its own noise, which the keys of the people in it decide."""
    largest = int(setting)
    noise = perturbation_table(largest=largest, variance=Fraction(largest, 2))
    secret = entropy.words(4).tobytes()
    keys = record_keys(sample.rows.tolist(), secret)
    shape = sample.population.shape

    def answer(axes: Axes) -> Floats:
        lengths = tuple(shape[axis] for axis in axes)
        cells = np.ravel_multi_index(tuple(sample.codes[:, axis] for axis in axes), lengths)
        size = int(np.prod(lengths))
        sums = np.zeros(size, dtype=np.int64)
        np.add.at(sums, cells, keys)
        counts = np.bincount(cells, minlength=size).astype(np.int64)
        return noise.perturb(counts, sums % KEY_UNITS).reshape(lengths).astype(np.float64)

    cells = answer(tuple(range(len(shape))))
    return View(cells, cells, cells, cells, np.ones(shape, dtype=np.bool_), answer)


def _flat(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    made = laplace(sample.table, Budget(epsilon=setting), entropy=entropy)
    return View.of_counts(made.to_dense(), epsilon=float(setting))


def _nn_wavelet(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    made = nn_wavelet(sample.table, Budget(epsilon=setting), entropy=entropy)
    return View.of_counts(made.to_dense(), epsilon=float(setting))


def _wide_tree(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    made = publish(sample.table, Budget(epsilon=setting), "auto", entropy=entropy, threads=1)
    return View.of_counts(made.to_dense(), epsilon=float(setting))


def _synthetic(sample: Sample, setting: Fraction, entropy: EntropySource, method: Literal["mst", "aim"]) -> View:
    values = {column.name: column.levels[0] for column in sample.population.columns}
    budget = Budget(epsilon=setting, delta=DELTA)
    made, _ = synthesize(sample.records, values, budget, method, entropy=entropy)
    counts = sample.count(sample.codes_of(made.records))
    return View.of_counts(counts, epsilon=float(setting), delta=float(DELTA))


def _mst(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    return _synthetic(sample, setting, entropy, "mst")


def _aim(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    return _synthetic(sample, setting, entropy, "aim")


def _numbers(*numbers: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


BUDGETS = _numbers("0.1", "0.3", "1", "3", "10")
EPSILON = Words("ε = {value}", "ε = {value}")
THRESHOLD = Words("threshold {value}", "しきい値 {value}")

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "none", Words("no protection", "保護なし"), Words("", ""), "none", _numbers("0"), _as_it_is
        ),
        Method(
            "primary-only", Words("hiding small cells only", "小さいセルだけ秘匿"),
            THRESHOLD, "whole", _numbers("3", "10"), _hidden_without_care, most_repeats=4,
        ),
        Method(
            "suppression", Words("suppression", "秘匿処理"), THRESHOLD, "whole", _numbers("3", "10"), _suppressed,
            most_repeats=4,
        ),
        Method(
            "k-anonymity", Words("k-anonymity", "k-匿名性"),
            Words("k = {value}", "k = {value}"), "whole", _numbers("3", "10", "30"), _k_anonymous,
        ),
        Method(
            "swapping", Words("swapping", "スワッピング"),
            Words("{value} swapped", "{value} をスワップ"), "share", _numbers("0.05", "0.2", "0.5"), _swapped,
        ),
        Method(
            "cell-key", Words("cell key", "セルキー法"),
            Words("noise up to {value}", "最大偏差 {value}"), "whole", _numbers("2", "5", "15"), _cell_keys,
        ),
        Method("flat", Words("DP flat", "DP フラット"), EPSILON, "epsilon", BUDGETS, _flat, is_private=True),
        Method(
            "nn-wavelet", Words("DP NN-Wavelet", "DP NN-Wavelet"), EPSILON, "epsilon", BUDGETS, _nn_wavelet,
            is_private=True,
        ),
        Method("wide-tree", Words("DP wide tree", "DP ワイドツリー"), EPSILON, "epsilon", BUDGETS, _wide_tree, is_private=True),
        Method("mst", Words("DP synthetic (MST)", "DP 合成データ (MST)"), EPSILON, "epsilon", BUDGETS, _mst, is_private=True),
        Method(
            "aim", Words("DP synthetic (AIM)", "DP 合成データ (AIM)"), EPSILON, "epsilon", BUDGETS, _aim, is_private=True,
            most_repeats=4,
        ),
    )
}  # fmt: skip
"""All methods by name, in the order in which they are shown."""
