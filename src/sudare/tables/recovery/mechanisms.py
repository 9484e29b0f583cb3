"""Noise on every cell, and recovery of a sparse table of whole numbers with a known or noisy total.

The four methods that Matsumoto et al. compare, as mechanisms. What is published is max(noisy - level, 0) / divisor, rounded
to whole numbers that add up to the total; they differ in which of level and divisor is given. Empty cells are not visited:
which of them are above the level is drawn exactly, from the top.

Proof: ``recovery.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.noise.entropy import EntropySource
from sudare.parameters import Rational
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.arguments import MechanismRequest, Noise, read_noise, read_request
from sudare.tables.mechanism import Mechanism, PlannedCall, SettingWords
from sudare.tables.published import Published
from sudare.tables.recovery.arguments import WITHOUT_WEIGHT, Weight, read_recovery, read_total_share
from sudare.tables.recovery.recovering import Recovery, measurements_for, publish_recovered

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LASSO", "LM", "NEGATIVE_L2", "SIMPLEX", "lasso", "lm", "negative_l2", "simplex"]


def negative_l2(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    weight: Weight = None,
    share_of_non_zeros: Rational | None = None,
    reference: CountTable | NDArray[Any] | None = None,
    unit: Unit | None = None,
    public_total: bool | int = False,
    total_share: Rational | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by noise on every cell and the negative l2 penalty, which favours few large counts.

    The published table is near the minimum of ||noisy - b||^2 - weight ||b||^2 over all b >= 0 with the total: one level is
    taken away from every noisy count, and what is left above 0 is divided by 1 - weight. Cost grows with the cells that hold
    people or are published, not with the domain.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit changes the total and the cells by as much as it is counted; the budget is divided between them.

    Proof: ``recovery.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        weight: how much few large counts are favoured, from 0 to below 1; ``"reference"`` chooses it by simulated noise on the
            reference, ``"sparsity"`` from the noisy counts. Left out, the reference decides where there is one, else sparsity.
        share_of_non_zeros: of all cells, where it is public knowledge, for ``"sparsity"``; estimated from the noisy counts if
            left out.
        reference: a table over the same cells that is public already, such as the last census. **You declare that it is
            public.**
        unit: who is protected; one person in one cell if left out.
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another with as many rows: how many it has is not protected.
        total_share: of the budget, for the total where it is not public; 1/20 if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy total, and the noisy counts of the cells that were used, are part of the
            result.

    Returns:
        The recovered table, with the event and, on request, the measurements. ``settled`` tells level, divisor and weight.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Matsumoto, Matsui, Terada: Differential privacy for large-scale sparse data via negative l2 regularization.

    Example:
        >>> import numpy as np, sudare
        >>> counts = np.zeros((64, 64), dtype=np.int64); counts[20:30, 20:30] = 50
        >>> published = sudare.tables.negative_l2(counts, sudare.Budget(epsilon=1), public_total=True)
        >>> published.table.total, 0 <= published.settled["weight"] < 1
        (5000, True)
    """
    request = _read(
        "negative_l2", table, budget, unit, public_total, entropy, threads, keep_measurements=keep_measurements
    )
    recovery = read_recovery("negative-l2", "negative_l2", request, table, weight, share_of_non_zeros, reference)
    return _publish(recovery, request, noise, conversion, total_share)


def simplex(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    unit: Unit | None = None,
    public_total: bool | int = False,
    total_share: Rational | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by noise on every cell and projection on the simplex: the nearest counts >= 0 with the total.

    One level is taken away from every noisy count, and what is left below 0 becomes 0. Cost grows with the cells that hold
    people or are published, not with the domain.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit changes the total and the cells by as much as it is counted; the budget is divided between them.

    Proof: ``recovery.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        unit: who is protected; one person in one cell if left out.
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another with as many rows: how many it has is not protected.
        total_share: of the budget, for the total where it is not public; 1/20 if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy total, and the noisy counts of the cells that were used, are part of the
            result.

    Returns:
        The recovered table, with the event and, on request, the measurements. ``settled`` tells level and divisor.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Matsumoto, Matsui, Terada: Differential privacy for large-scale sparse data via negative l2 regularization.

    Example:
        >>> import numpy as np, sudare
        >>> table = sudare.CountTable.from_cells(sudare.Domain.of_shape((2**30, 2**30)), [7, 2**50], [500, 900])
        >>> published = sudare.tables.simplex(table, sudare.Budget(epsilon=1), public_total=True)
        >>> published.table.total, {7, 2**50} <= set(published.table.keys.tolist())
        (1400, True)
    """
    request = _read("simplex", table, budget, unit, public_total, entropy, threads, keep_measurements=keep_measurements)
    return _publish(WITHOUT_WEIGHT["simplex"], request, noise, conversion, total_share)


def lasso(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    weight: Weight = None,
    share_of_non_zeros: Rational | None = None,
    reference: CountTable | NDArray[Any] | None = None,
    unit: Unit | None = None,
    public_total: bool | int = False,
    total_share: Rational | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by noise on every cell and the non-negative Lasso, scaled to the total.

    Half the weight is taken away from every noisy count, what is left below 0 becomes 0, and the rest is multiplied by one
    number. A weight chosen by sparsity gives what `negative_l2` gives, which is of the same family.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit changes the total and the cells by as much as it is counted; the budget is divided between them.

    Proof: ``recovery.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        weight: of the absolute values in the Lasso: twice what is taken away from every count;
            ``"reference"`` chooses it by simulated noise on the reference, ``"sparsity"`` from the noisy counts. Left out,
            the reference decides where there is one, else sparsity.
        share_of_non_zeros: of all cells, where it is public knowledge, for ``"sparsity"``; estimated from the noisy counts if
            left out.
        reference: a table over the same cells that is public already, such as the last census. **You declare that it is
            public.**
        unit: who is protected; one person in one cell if left out.
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another with as many rows: how many it has is not protected.
        total_share: of the budget, for the total where it is not public; 1/20 if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy total, and the noisy counts of the cells that were used, are part of the
            result.

    Returns:
        The recovered table, with the event and, on request, the measurements. ``settled`` tells level, divisor and weight.

    Raises:
        ParameterError: if an argument is not what it should be, or very many empty cells would be
            published.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Matsumoto, Matsui, Terada: Differential privacy for large-scale sparse data via negative l2 regularization.

    Example:
        >>> import numpy as np, sudare
        >>> published = sudare.tables.lasso(np.full((8, 8), 100), sudare.Budget(epsilon=1), weight=5, public_total=True)
        >>> published.table.total, published.settled["level"]
        (6400, 2.5)
    """
    request = _read("lasso", table, budget, unit, public_total, entropy, threads, keep_measurements=keep_measurements)
    recovery = read_recovery("lasso", "lasso", request, table, weight, share_of_non_zeros, reference)
    return _publish(recovery, request, noise, conversion, total_share)


def lm(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    unit: Unit | None = None,
    public_total: bool | int = False,
    total_share: Rational | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by noise on every cell, cut off at 0 and scaled to the total.

    The baseline of the paper: nearly half of the empty cells become positive, and large counts shrink to make up for them.
    Every positive cell is published, so that large tables are refused.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit changes the total and the cells by as much as it is counted; the budget is divided between them.

    Proof: ``recovery.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        unit: who is protected; one person in one cell if left out.
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another with as many rows: how many it has is not protected.
        total_share: of the budget, for the total where it is not public; 1/20 if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy total, and the noisy counts of the cells that were used, are part of the
            result.

    Returns:
        The recovered table, with the event and, on request, the measurements. ``settled`` tells level and divisor.

    Raises:
        ParameterError: if an argument is not what it should be, or more than 2**24 empty cells would
            be published.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Matsumoto, Matsui, Terada: Differential privacy for large-scale sparse data via negative l2 regularization.

    Example:
        >>> import numpy as np, sudare
        >>> sudare.tables.lm(np.full((8, 8), 100), sudare.Budget(epsilon=1), public_total=True).table.total
        6400
    """
    request = _read("lm", table, budget, unit, public_total, entropy, threads, keep_measurements=keep_measurements)
    return _publish(WITHOUT_WEIGHT["lm"], request, noise, conversion, total_share)


def _read(
    function: str,
    table: object,
    budget: object,
    unit: Unit | None,
    public_total: bool | int,
    entropy: EntropySource | None,
    threads: object,
    *,
    keep_measurements: object,
) -> MechanismRequest:
    return read_request(
        function,
        table,
        budget,
        unit=unit,
        public_total=public_total,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )


def _publish(
    recovery: Recovery, request: MechanismRequest, noise: object, conversion: Conversion, total_share: object
) -> Published:
    function = recovery.function
    share = read_total_share(total_share, request, function)
    return publish_recovered(recovery, request, read_noise(noise, function), conversion, share)


def _check(name: str) -> Callable[[PlannedCall], None]:
    """What refuses weights and shares that cannot be used, and domains of which too many cells would be published."""

    def check(call: PlannedCall) -> None:
        nobody = CountTable.from_cells(call.domain, [], [])
        settings = call.settings
        request = read_request(name, nobody, call.budget, unit=call.unit, public_total=call.public_total)
        total_share = read_total_share(settings.get("total_share"), request, name)
        usual = "gaussian" if call.budget.currency == "rho" else "laplace"
        noise = read_noise(settings.get("noise", usual), name)
        recovery = WITHOUT_WEIGHT.get(name)
        if recovery is None:
            reference = CountTable.from_cells(call.domain, [], []) if call.has_reference else None
            weight, share = settings.get("weight"), settings.get("share_of_non_zeros")
            recovery = read_recovery(name, name, request, nobody, weight, share, reference)
        measurements_for(recovery, request, noise, settings.get("conversion", "optimal"), total_share)

    return check


OF_TOTALS = {
    "total_share": SettingWords(name=Words("Share of the budget for the total", "合計に使う予算の割合")),
}
OF_WEIGHTS = {
    "weight": SettingWords(
        name=Words("Weight of sparsity", "スパース化の重み λ"),
        values={
            "sparsity": Words("from how sparse the noisy counts are", "ノイズ付き集計のスパース性から決定"),
            "reference": Words("the best on the public reference", "公開の参照表で最良の値"),
        },
    ),
    "share_of_non_zeros": SettingWords(name=Words("Share of non-empty cells (public)", "0 でないセルの割合（公知）")),
}

NEGATIVE_L2 = Mechanism(
    name="negative-l2",
    function=negative_l2,
    words=Words("negative l2 recovery", "負の l2 正則化による復元（negative l2）"),
    check=_check("negative-l2"),
    setting_words=OF_WEIGHTS | OF_TOTALS,
)
SIMPLEX = Mechanism(
    name="simplex",
    function=simplex,
    words=Words("projection on the simplex", "単体への射影（simplex）"),
    check=_check("simplex"),
    setting_words=OF_TOTALS,
)
LASSO = Mechanism(
    name="lasso",
    function=lasso,
    words=Words("non-negative Lasso", "非負 Lasso"),
    check=_check("lasso"),
    setting_words=OF_WEIGHTS | OF_TOTALS,
)
LM = Mechanism(
    name="lm",
    function=lm,
    words=Words("clipping and scaling (LM)", "切り捨てと比例補正（LM）"),
    check=_check("lm"),
    setting_words=OF_TOTALS,
)
