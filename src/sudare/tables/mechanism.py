"""What a mechanism for count tables is: one object that tells other code all that it needs to know about it.

The object stands at the end of the mechanism's module, and `sudare.tables.registry` has its name and where it is. Code that
plans, checks, runs, predicts or describes a release asks the object, and never which mechanism it is. So a new mechanism is one
module and one line; ``tests/contracts/toy_mechanism.py`` is one, and ``tests/contracts/test_mechanism_objects.py`` holds all to
one contract.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from sudare.bilingual import Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sudare.domain.domain import Domain
    from sudare.privacy.budget import Budget
    from sudare.privacy.conversion import Conversion
    from sudare.privacy.measurements import Measurement
    from sudare.privacy.unit import Unit
    from sudare.tables.arguments import Noise
    from sudare.tables.published import Published

    Settings = Mapping[str, Any]

__all__ = ["DividedAxis", "Mechanism", "NoiseAlone", "PlannedCall", "SettingWords", "SizeLimit"]

DECIDED_BY_CALLERS = frozenset(
    {"table", "budget", "unit", "reference", "public_total", "entropy", "threads", "keep_measurements"}
)
"""Parameters that are no settings: who is protected, what is public and what is spent is not for a plan's settings to say."""


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """All that is known of a call before anything is charged, and before any count is read.

    Attributes:
        domain: the cells.
        budget: what will be spent.
        unit: who is protected.
        settings: of the mechanism, as the plan gives them.
        public_total: whether the total is public.
        has_reference: whether there is a public table to go by.
    """

    domain: Domain
    budget: Budget
    unit: Unit
    settings: Settings
    public_total: bool = False
    has_reference: bool = False


@dataclass(frozen=True, kw_only=True)
class SizeLimit:
    """How large a domain may be for a mechanism that visits its cells.

    Attributes:
        max_cells: how many cells it visits at most.
        visited: how many it would visit, by the places along each axis and the settings.
        words: why there is a limit, after the name of the key; ``{name}`` is the mechanism, ``{cells:,}`` what was asked for.
    """

    max_cells: int
    visited: Callable[[Sequence[int], Settings], int]
    words: Words


@dataclass(frozen=True, kw_only=True)
class SettingWords:
    """How a page tells of a setting.

    Attributes:
        name: of the setting.
        values: those that have words; others are shown as they are.
    """

    name: Words
    values: Mapping[str, Words] = field(default_factory=dict)


class DividedAxis(Protocol):
    """An axis cut into ranges, such as `sudare.accuracy.groupings.Partition`."""

    @property
    def length(self) -> int:
        """Places along the axis."""

    @property
    def parts(self) -> int:
        """How many ranges there are."""

    def ranges(self, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First places and ends of the ranges, of evenly chosen ones where there are more than this many."""


@dataclass(frozen=True, kw_only=True)
class NoiseAlone:
    """The errors of a mechanism that adds noise and does nothing else: they are the same for every table.

    The mean squared error of sums over boxes is the variance of the noise, times a factor for each axis.

    Attributes:
        measure: what is measured, by the places along each axis, the budget, the unit, the kind of noise and the conversion.
        factor: of the ranges along an axis, the mean over the ranges.
    """

    measure: Callable[[Sequence[int], Budget, Unit, Noise, Conversion], Measurement]
    factor: Callable[[DividedAxis], float]


def _never(settings: Settings) -> bool:
    return False


def _nothing(call: PlannedCall) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A mechanism that publishes count tables.

    Attributes:
        name: in plans, events and documents.
        function: that publishes, with its guarantee, its proof and its settings, which are its parameters.
        words: what people read.
        noises: the kinds of noise that it can draw.
        is_flat: whether every cell has noise of its own, of the one law that the event states.
        is_slow: whether it takes many times longer than others, so that it is tried less often where errors are predicted.
        workloads: what it can make accurate by its setting ``workload``; empty where it has none.
        is_signed: whether it publishes noisy counts as they are, some of them negative, with these settings.
        limit: of the domain; None where its cost does not grow with the cells, or it says itself what it cannot take.
        check: refuses settings that cannot be used, when a plan is read: beyond this, nothing may fail before noise is drawn.
        setting_words: how pages tell of settings that only this mechanism has.
        noise_alone: its errors, where they follow from the noise; None where they depend on the table and must be tried.
    """

    name: str
    function: Callable[..., Published]
    words: Words
    noises: tuple[Noise, ...] = ("laplace", "gaussian")
    is_flat: bool = False
    is_slow: bool = False
    workloads: tuple[str, ...] = ()
    is_signed: Callable[[Settings], bool] = _never
    limit: SizeLimit | None = None
    check: Callable[[PlannedCall], None] = _nothing
    setting_words: Mapping[str, SettingWords] = field(default_factory=dict)
    noise_alone: NoiseAlone | None = None

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of all that the function takes."""
        return tuple(inspect.signature(self.function).parameters)

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of what a plan may decide, in the order of the function."""
        return tuple(name for name in self.parameters if name not in DECIDED_BY_CALLERS)

    def noise_for(self, budget: Budget, settings: Settings) -> Noise:
        """The kind of noise that it will draw.

        Where neither the mechanism nor a setting decides, it is Laplace noise as far as the budget allows. A mechanism that
        draws both kinds and has no setting for it goes by the budget: Gaussian noise wherever there is a delta.
        """
        if len(self.noises) == 1:
            return self.noises[0]
        if "noise" in self.parameters:
            chosen: Noise = settings.get("noise", "gaussian" if budget.currency == "rho" else "laplace")
            return chosen
        return "laplace" if budget.currency == "epsilon" else "gaussian"

    def is_too_large(self, shape: Sequence[int], settings: Settings) -> bool:
        """Whether it would visit more cells than it can: it then refuses the table."""
        return self.limit is not None and self.limit.visited(shape, settings) > self.limit.max_cells
