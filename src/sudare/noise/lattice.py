"""Noise on whole numbers: discrete Laplace, discrete Gaussian, geometric.

Each function takes the distribution's parameter, reads it exactly, and returns a `Sampler`. Building one takes
milliseconds; the last few are kept.

All three are laws with weight exp(-(linear * |x| + quadratic * x**2)) on whole numbers (`LatticeLaw`), so they share
one
method: a table where the law is narrow (`inversion`), a staircase where it is wide (`staircase`). How many words a draw reads
depends on the noise alone: one by a table, two a trial by a staircase, and more in one draw of 2**50 (2**29 at the
largest scales).

Continuous noise does not exist here: rounding it afterwards does not repair what its low bits give away (Mironov 2012).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from sudare.errors import Described, ParameterError
from sudare.noise.exact import LatticeLaw
from sudare.noise.inversion import lattice_sampler
from sudare.noise.sampler import Sampler
from sudare.noise.staircase import StaircaseSampler
from sudare.parameters import Rational, exact_fraction, show_fraction

__all__ = ["MAX_SCALE", "MIN_SCALE", "discrete_gaussian", "discrete_laplace", "geometric", "lattice_tail"]

MIN_SCALE = Fraction(1, 1000)
MAX_SCALE = Fraction(10**12)
_SCALE_RANGE = "a number from 0.001 to 10**12"

NARROW_BITS = 6
"""Laws of scale below 2**6 are drawn from a table of their own."""


def discrete_laplace(scale: Rational) -> Sampler:
    """Draw whole numbers x with probability proportional to exp(-|x| / scale).

    Guarantee: added to a vector of whole numbers whose l1 sensitivity is s, it gives epsilon-differential privacy with
    epsilon = s / scale (`sudare.privacy.LaplaceMeasurement`).

    Proof: ``inversion.md`` and ``staircase.md`` beside this file for the distribution, ``privacy/measurements.md``
        for the guarantee.

    Args:
        scale: any number from 0.001 to 10**12, read exactly.

    Raises:
        ParameterError: if the scale is not such a number.

    References:
        Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing privacy mechanisms (2009).

    Example:
        >>> import sudare
        >>> sudare.noise.discrete_laplace(10).draw(size=5).dtype
        dtype('int64')
    """
    t = _read_scale(scale, "scale", "discrete_laplace")
    return _lattice(LatticeLaw(1 / t, Fraction(0), two_sided=True), t, f"discrete_laplace({show_fraction(t)})")


def discrete_gaussian(sigma: Rational | None = None, *, sigma_squared: Rational | None = None) -> Sampler:
    """Draw whole numbers x with probability proportional to exp(-x**2 / (2 sigma**2)).

    Guarantee: added to a vector of whole numbers whose l2 sensitivity is s, it gives rho-zero-concentrated
        differential privacy with rho = s**2 / (2 sigma**2) (`sudare.privacy.GaussianMeasurement`).

    Proof: ``inversion.md`` and ``staircase.md`` beside this file for the distribution, ``privacy/measurements.md``
        for the guarantee.

    Args:
        sigma: any number from 0.001 to 10**12, read exactly.
        sigma_squared: its square, instead: the exact form where sigma itself is irrational.

    Raises:
        ParameterError: if not exactly one of the two is given, or it is out of range.

    References:
        Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020).

    Example:
        >>> import sudare
        >>> abs(sudare.noise.discrete_gaussian(sigma=2).draw()) < 1000
        True
    """
    if (sigma is None) == (sigma_squared is None):
        given = Described("neither" if sigma is None else "both")
        raise ParameterError("sigma", "discrete_gaussian", "given alone, or sigma_squared in its place", given)
    if sigma is not None:
        square = _read_scale(sigma, "sigma", "discrete_gaussian") ** 2
        name = f"discrete_gaussian({show_fraction(exact_fraction(sigma, 'sigma', 'discrete_gaussian', _SCALE_RANGE))})"
    else:
        requirement = "a number from 10**-6 to 10**24"
        square = exact_fraction(sigma_squared, "sigma_squared", "discrete_gaussian", requirement)
        if not MIN_SCALE**2 <= square <= MAX_SCALE**2:
            raise ParameterError("sigma_squared", "discrete_gaussian", requirement, sigma_squared)
        name = f"discrete_gaussian(sigma_squared={show_fraction(square)})"
    return _lattice(LatticeLaw(Fraction(0), 1 / (2 * square), two_sided=True), Fraction(isqrt(int(square))), name)


def geometric(scale: Rational) -> Sampler:
    """Draw whole numbers x >= 0 with probability proportional to exp(-x / scale).

    One-sided, so no noise for a release by itself: it is a part of other mechanisms, such as skipping over empty cells.

    Proof: ``inversion.md`` and ``staircase.md`` beside this file.

    Args:
        scale: any number from 0.001 to 10**12, read exactly. The probability of 0 is 1 - exp(-1 / scale).

    Raises:
        ParameterError: if the scale is not such a number.

    Example:
        >>> import sudare
        >>> bool((sudare.noise.geometric(3).draw(100) >= 0).all())
        True
    """
    t = _read_scale(scale, "scale", "geometric")
    return _lattice(LatticeLaw(1 / t, Fraction(0), two_sided=False), t, f"geometric({show_fraction(t)})")


def lattice_tail(law: LatticeLaw, threshold: int) -> Sampler:
    """Draw by how much a value of a law exceeds a threshold, given that it does not fall below it.

    With y = x - threshold the exponent is a (t + y) + b (t + y)**2 = constant + (a + 2 b t) y + b y**2: the tail is
    a one-sided law of the same family. It is no wider than the law itself, and no wider than a geometric law of its
    linear part, and the staircase is laid for the narrower of the two (``staircase.md``: a step then rises by at most
    1/32 for the linear part and 0.31 for the quadratic part, less than 1/2 together, and 94 % of the trials succeed).

    Args:
        law: weights exp(-(a |x| + b x**2)).
        threshold: a whole number >= 0.
    """
    tail = LatticeLaw(law.linear + 2 * law.quadratic * threshold, law.quadratic, two_sided=False)
    widths = [1 / tail.linear] if tail.linear else []
    if tail.quadratic:
        widths.append(Fraction(isqrt(int(1 / (2 * tail.quadratic)))))
    return _lattice(tail, min(widths), f"tail from {threshold} of {law}")


def _read_scale(value: object, parameter: str, function: str) -> Fraction:
    scale = exact_fraction(value, parameter, function, _SCALE_RANGE)
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ParameterError(parameter, function, _SCALE_RANGE, value)
    return scale


@lru_cache(maxsize=64)
def _lattice(law: LatticeLaw, scale: Fraction, name: str) -> Sampler:
    scale_bits = int(scale).bit_length() - 1
    if scale_bits < NARROW_BITS:
        return lattice_sampler(law, name)
    return StaircaseSampler(law, scale_bits - NARROW_BITS + 1, name)
