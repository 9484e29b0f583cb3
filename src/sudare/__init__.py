"""sudare (簾): publish large statistical tables about people with a proven privacy guarantee.

The flat API below is loaded on first use, so that ``import sudare`` costs next to nothing.

A reading map:

1. ``ARCHITECTURE.md``: one page, one picture.
2. `sudare.privacy.events`: the record in which a mechanism and whoever accounts for it meet.
3. `sudare.noise.selection`: a mechanism, with its proof page ``noise/selection.md`` beside it.
4. `sudare.noise.lattice` and `sudare.noise.inversion`: where noise comes from, with their proof pages.
5. `sudare.kernels.sampling`: the compiled loops, whose naive twins are in ``tests/reference``.

Example:
    >>> import sudare
    >>> budget = sudare.Budget(epsilon=0.5)
    >>> noise = sudare.LaplaceMeasurement.for_budget(budget, sudare.sensitivity_of_counts(sudare.Unit("person")))
    >>> noisy = 1200 + sudare.discrete_laplace(noise.scale).draw()
    >>> abs(noisy - 1200) < 200
    True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sudare.errors import *  # noqa: F403
    from sudare.noise import *  # noqa: F403
    from sudare.privacy import *  # noqa: F403

__version__ = "0.1.0"

_HOMES = {
    "sudare.errors": (
        "BudgetError",
        "EntropyError",
        "EventError",
        "GuaranteeError",
        "MixedCurrencyError",
        "NotPrivateError",
        "ParameterError",
        "SeedError",
        "SplitError",
        "SudareError",
        "SudareWarning",
        "WeakBudgetWarning",
    ),
    "sudare.noise": (
        "EntropySource",
        "ResearchEntropy",
        "Sampler",
        "SecureEntropy",
        "bernoulli_exp",
        "discrete_gaussian",
        "discrete_laplace",
        "entropy_name",
        "exponential_mechanism",
        "fair_coins",
        "geometric",
        "report_noisy_max",
        "secure_entropy",
        "uniform_below",
    ),
    "sudare.privacy": (
        "Accountant",
        "ApproximateAccountant",
        "Budget",
        "GaussianMeasurement",
        "LaplaceMeasurement",
        "Measurement",
        "PldAccountant",
        "PureAccountant",
        "ReleaseEvent",
        "SelectionMeasurement",
        "Sensitivity",
        "Unit",
        "ZcdpAccountant",
        "best_power",
        "compose",
        "compose_parallel",
        "epsilon_to_rho",
        "for_group",
        "plot_suggested_delta",
        "plot_trade_off",
        "rho_to_delta",
        "rho_to_epsilon",
        "sensitivity_of_counts",
        "suggest_delta",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sudare' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__version__"]
