"""Exact, secure, fast noise on whole numbers.

- `entropy`: where bits come from; the secure source and the research source are two classes.
- `addressed`: noise that can be drawn again, from keys that form a tree.
- `lattice`: `discrete_laplace`, `discrete_gaussian`, `geometric`.
- `bernoulli`: coins with probability exp(-x), and fair ones. `uniform`: whole numbers below a bound.
- `additive`: counts plus noise, with the event. `selection`: the exponential mechanism and report-noisy-max.
- `occupied`: how many cells are not empty. `skipping`: which of many empty cells pass a threshold.

Below them: `exact` (bounds to any precision), `inversion` and `staircase` (the two methods, each with its proof
page), `sampler` (what they share).
"""

from sudare.noise.additive import add_noise, noise_for
from sudare.noise.addressed import NoiseKey
from sudare.noise.bernoulli import bernoulli_exp, fair_coins
from sudare.noise.entropy import EntropySource, ResearchEntropy, SecureEntropy, entropy_name, secure_entropy
from sudare.noise.lattice import discrete_gaussian, discrete_laplace, geometric
from sudare.noise.occupied import estimate_non_zeros
from sudare.noise.sampler import Sampler
from sudare.noise.selection import exponential_mechanism, report_noisy_max
from sudare.noise.uniform import uniform_below

__all__ = [
    "EntropySource",
    "NoiseKey",
    "ResearchEntropy",
    "Sampler",
    "SecureEntropy",
    "add_noise",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "entropy_name",
    "estimate_non_zeros",
    "exponential_mechanism",
    "fair_coins",
    "geometric",
    "noise_for",
    "report_noisy_max",
    "secure_entropy",
    "uniform_below",
]
