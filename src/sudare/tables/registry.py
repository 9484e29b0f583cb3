"""All mechanisms for count tables by name. One is loaded when it is first used: naming them loads none.

A new mechanism is a module with an object (`sudare.tables.mechanism.Mechanism`) and one line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudare.tables.mechanism import Mechanism

__all__ = [
    "find_mechanism",
    "mechanism_named",
    "mechanism_names",
    "names_with_workloads",
    "register_mechanism",
]

AUTO = "auto"
"""What plans write where the planner decides: no mechanism can have this name."""

_HOMES: dict[str, str] = {
    "wide-tree": "sudare.tables.mechanisms.wide_tree:WIDE_TREE",
    "margin-tree": "sudare.tables.strategies.margin_tree:MARGIN_TREE",
    "nn-wavelet": "sudare.tables.mechanisms.nn_wavelet:NN_WAVELET",
    "topdown-bisection": "sudare.tables.mechanisms.bisection:TOPDOWN_BISECTION",
    "topdown": "sudare.tables.mechanisms.topdown:TOPDOWN",
    "histogram": "sudare.tables.histograms.mechanism:HISTOGRAM",
    "laplace": "sudare.tables.mechanisms.flat:LAPLACE",
    "gaussian": "sudare.tables.mechanisms.flat:GAUSSIAN",
    "privelet": "sudare.tables.mechanisms.privelet:PRIVELET",
    "negative-l2": "sudare.tables.recovery.mechanisms:NEGATIVE_L2",
    "simplex": "sudare.tables.recovery.mechanisms:SIMPLEX",
    "lasso": "sudare.tables.recovery.mechanisms:LASSO",
    "lm": "sudare.tables.recovery.mechanisms:LM",
    "adaptive-margins": "sudare.tables.adaptive.adaptive_margins:ADAPTIVE_MARGINS",
}
"""The module of each mechanism, and what its object is called there."""


def mechanism_names() -> tuple[str, ...]:
    """Of all mechanisms, in the order in which they are listed for people."""
    return tuple(_HOMES)


def find_mechanism(name: object) -> Mechanism | None:
    """A mechanism by its name; None for one that is not known, such as ``"auto"``, or what a document of others states."""
    return mechanism_named(name) if isinstance(name, str) and name in _HOMES else None


def mechanism_named(name: str) -> Mechanism:
    """A mechanism by its name.

    Raises:
        KeyError: if there is none.

    Example:
        >>> mechanism_named("laplace").words.english
        'Laplace noise on each cell'
    """
    module, _, attribute = _HOMES[name].partition(":")
    mechanism: Mechanism = getattr(import_module(module), attribute)
    return mechanism


def names_with_workloads() -> tuple[str, ...]:
    """Of mechanisms that take a workload of their own. Loads all of them: it is asked for a message of an error alone."""
    return tuple(name for name in _HOMES if mechanism_named(name).workloads)


def register_mechanism(name: str, home: str) -> None:
    """Make a mechanism known. Repeating it changes nothing.

    Args:
        name: in plans, events and documents.
        home: its module, a colon, and what its object is called there.

    Raises:
        ValueError: if another mechanism has the name.
    """
    if name == AUTO or _HOMES.get(name, home) != home:
        raise ValueError(f"the name {name!r} is taken")
    _HOMES[name] = home
