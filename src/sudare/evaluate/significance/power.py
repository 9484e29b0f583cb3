"""How large a difference must be to be found: the power of a test on released counts, under epsilon and under zCDP.

The test is that of equal counts (`areas_differ`): the contrast of two published numbers is significant where it lies
beyond what its noise reaches with the chance of a false alarm. Its power at a true difference follows from the same law.

Formulas: ``significance.md`` beside this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.evaluate.significance.comparing import read_significance
from sudare.evaluate.significance.laws import Law, law_of_noise
from sudare.evaluate.significance.sums import LawOfSum, Term
from sudare.parameters import Rational, exact_integer, read_chance, shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals = NDArray[np.float64]

__all__ = ["flat_noise", "halves_noise", "node_noise", "power_curve", "smallest_detectable"]

NoiseKind = Literal["laplace", "gaussian"]
MAX_LEVELS = 62
MAX_CELLS = 10**9


def flat_noise(
    budget: Budget,
    noise: NoiseKind = "laplace",
    *,
    cells: int = 1,
    unit: Unit | None = None,
    conversion: Conversion = "optimal",
) -> LawOfSum:
    """The noise in the sum of this many cells of a flat table.

    Args:
        budget: of the table.
        noise: ``"laplace"`` for a budget in epsilon, ``"gaussian"`` for rho or (epsilon, delta).
        cells: how many; for the difference of two areas, those of both.
        unit: who is protected; one person in one cell if left out.
        conversion: how (epsilon, delta) is turned into rho.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.

    Example:
        >>> import sudare
        >>> from sudare.evaluate.significance import flat_noise, smallest_detectable
        >>> smallest_detectable(flat_noise(sudare.Budget(epsilon=0.1), cells=2))
        57
    """
    function = "flat_noise"
    number = exact_integer(
        cells,
        "cells",
        function,
        Words("a whole number from 1 to 10**9", "1 以上 10**9 以下の整数"),
        smallest=1,
        largest=MAX_CELLS,
    )
    sensitivity = sensitivity_of_counts(Unit() if unit is None else unit)
    return LawOfSum((Term(_law(budget, noise, sensitivity, conversion, function), times=number),))


def halves_noise(
    budget: Budget, levels: int, noise: NoiseKind = "laplace", *, conversion: Conversion = "optimal"
) -> LawOfSum:
    """The noise in the difference of the two halves of an area, as NN-Wavelet and Privelet measure it.

    Args:
        budget: of the whole table, of which the total and each level of differences get the same share.
        levels: H, the logarithm to base 2 of the number of cells.
        noise: ``"laplace"`` for a budget in epsilon, ``"gaussian"`` for rho or (epsilon, delta).
        conversion: how (epsilon, delta) is turned into rho.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.
    """
    return LawOfSum((Term(_law_of_level(budget, levels, noise, conversion, "halves_noise")),))


def node_noise(
    budget: Budget, levels: int, depth: int, noise: NoiseKind = "laplace", *, conversion: Conversion = "optimal"
) -> LawOfSum:
    """The noise in the count of an area of the Haar tree, times ``2**depth`` so that it is a whole number.

    The count follows from the noisy total and one noisy difference of each level above, before any refinement.

    Args:
        budget: of the whole table, of which the total and each level of differences get the same share.
        levels: H, the logarithm to base 2 of the number of cells.
        depth: how often the table is halved down to the area; 0 is the total, ``levels`` a cell.
        noise: ``"laplace"`` for a budget in epsilon, ``"gaussian"`` for rho or (epsilon, delta).
        conversion: how (epsilon, delta) is turned into rho.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.
    """
    function = "node_noise"
    law = _law_of_level(budget, levels, noise, conversion, function)
    below = exact_integer(
        depth,
        "depth",
        function,
        Words(f"a whole number from 0 to {levels}", f"0 以上 {levels} 以下の整数"),
        smallest=0,
        largest=levels,
    )
    return LawOfSum((Term(law), *(Term(law, weight=1 << height) for height in range(below))))


def power_curve(noise: LawOfSum, effects: ArrayLike, significance: Rational = 0.05) -> Reals:
    """The chance that the two-sided test of equal counts finds a true difference, for each size of it.

    Args:
        noise: the law of the noise in the published difference.
        effects: true differences.
        significance: the chance of a false alarm.

    Raises:
        ParameterError: if the significance is not from 1e-9 to 0.5.

    Example:
        >>> import sudare
        >>> from sudare.evaluate.significance import flat_noise, power_curve
        >>> laplace = flat_noise(sudare.Budget(epsilon=0.1), cells=2)
        >>> power_curve(laplace, [0, 40, 80]).round(3).tolist()
        [0.048, 0.463, 0.969]
    """
    level = read_significance(significance, "power_curve")
    sizes = np.asarray(effects, dtype=np.float64)
    upper, lower = noise.upper_critical(level / 2), noise.lower_critical(level / 2)
    return np.asarray(np.maximum(noise.surely_at_least(upper - sizes) + noise.surely_at_most(lower - sizes), 0.0))


def smallest_detectable(noise: LawOfSum, power: Rational = 0.8, significance: Rational = 0.05) -> int:
    """The smallest true difference that the two-sided test of equal counts finds with this chance.

    Args:
        noise: the law of the noise in the published difference.
        power: the chance to find it.
        significance: the chance of a false alarm.

    Raises:
        ParameterError: if a chance is not one that can be kept.
    """
    function = "smallest_detectable"
    level = read_significance(significance, function)
    wanted = read_chance(power, "power", function, words="a number from the significance to below 1")
    if not level <= wanted < 1 - 1e-9:
        raise ParameterError("power", function, "a number from the significance to below 1", shown(power))
    low, high = 0, 1
    while float(power_curve(noise, high, level)) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if float(power_curve(noise, middle, level)) < wanted:
            low = middle
        else:
            high = middle
    return high


def _law_of_level(budget: Budget, levels: int, noise: NoiseKind, conversion: Conversion, function: str) -> Law:
    requirement = f"a whole number from 1 to {MAX_LEVELS}"
    height = exact_integer(levels, "levels", function, requirement, smallest=1, largest=MAX_LEVELS)
    # One person changes the total and one difference of each level, each by 1.
    changed = Sensitivity(height + 1, height + 1, height + 1, 1)
    return _law(budget, noise, changed, conversion, function)


def _law(budget: Budget, noise: NoiseKind, sensitivity: Sensitivity, conversion: Conversion, function: str) -> Law:
    if not isinstance(noise, str) or noise not in ("laplace", "gaussian"):
        raise ParameterError(
            "noise", function, Words("'laplace' or 'gaussian'", "'laplace' または 'gaussian'"), shown(noise)
        )
    if noise == "laplace":
        return law_of_noise(LaplaceMeasurement.for_budget(budget, sensitivity))
    return law_of_noise(GaussianMeasurement.for_budget(budget, sensitivity, conversion))
