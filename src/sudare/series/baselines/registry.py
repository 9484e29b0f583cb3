"""All baselines, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.series.baselines.baseline import StreamBaseline, StreamSetting
from sudare.series.baselines.budget_absorption import BudgetAbsorption
from sudare.series.baselines.budget_distribution import BudgetDistribution
from sudare.series.baselines.honaker_tree import HonakerTree
from sudare.series.baselines.pegasus import PegasusStream
from sudare.series.baselines.sample import SampleStream
from sudare.series.baselines.uniform import UniformStream

if TYPE_CHECKING:
    from sudare.noise.entropy import EntropySource

__all__ = ["BASELINES", "baseline_for"]

BASELINES: dict[str, type[StreamBaseline]] = {
    method.name: method
    for method in (UniformStream, SampleStream, BudgetDistribution, BudgetAbsorption, PegasusStream, HonakerTree)
}


def baseline_for(name: str, setting: StreamSetting, entropy: EntropySource) -> StreamBaseline:
    """A method by its name, at the beginning of a stream.

    Args:
        name: ``"uniform"``, ``"sample"``, ``"bd"``, ``"ba"``, ``"pegasus"`` or ``"honaker"``.
        setting: what is asked.
        entropy: where the bits of the noise come from; a `ResearchEntropy` for experiments that can be repeated.

    Raises:
        ParameterError: if there is no such method.

    Example:
        >>> import numpy as np
        >>> from sudare import Budget
        >>> from sudare.noise import ResearchEntropy
        >>> setting = StreamSetting(cells=3, window=4, budget=Budget(rho=1))
        >>> stream = baseline_for("sample", setting, ResearchEntropy(1))
        >>> first, second = (stream.release(np.array([50, 30, tick])) for tick in (0, 9))
        >>> bool((first == second).all()), stream.spent
        (True, [Fraction(1, 1), Fraction(0, 1)])
    """
    if not isinstance(name, str) or name not in BASELINES:
        raise ParameterError("name", "baseline_for", f"one of {sorted(BASELINES)}", shown(name))
    return BASELINES[name](setting, entropy)
