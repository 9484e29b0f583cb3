"""sudare (簾): publish large statistical tables about people with a proven privacy guarantee.

The flat API below is loaded on first use, so that ``import sudare`` costs next to nothing.

A reading map:

1. ``ARCHITECTURE.md``: one page, one picture.
2. `sudare.privacy.events`: the record in which a mechanism and an accountant meet.
3. `sudare.noise.selection`: a mechanism, with its proof page ``noise/selection.md`` beside it.
4. `sudare.noise.lattice` and `sudare.noise.inversion`: where noise comes from, with their proof pages.
5. `sudare.kernels.sampling`: the compiled loops, whose naive twins are in ``tests/reference``.
6. `sudare.releases.protocol`: how anything is published, and why no crash gives anything away.

Example:
    >>> import sudare
    >>> budget = sudare.Budget(epsilon=0.5)
    >>> noise = sudare.LaplaceMeasurement.for_budget(budget, sudare.sensitivity_of_counts(sudare.Unit("person")))
    >>> noisy = 1200 + sudare.discrete_laplace(noise.scale).draw()
    >>> abs(noisy - 1200) < 200
    True
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sudare.lazy import MovedModules

if TYPE_CHECKING:
    from sudare.domain import *  # noqa: F403
    from sudare.errors import *  # noqa: F403
    from sudare.ledger import *  # noqa: F403
    from sudare.noise import *  # noqa: F403
    from sudare.privacy import *  # noqa: F403
    from sudare.releases.kinds.counts import *  # noqa: F403
    from sudare.sql.execution.connection import connect as connect
    from sudare.tables import *  # noqa: F403

__version__ = "0.1.0"

_PACKAGES = (
    "sudare.errors",
    "sudare.privacy",
    "sudare.domain",
    "sudare.noise",
    "sudare.tables",
    "sudare.ledger",
    "sudare.releases.kinds.counts",
)
"""What the flat API is made of, lightest first: a name is looked up, and its package loaded, when it is first used."""

_SINGLE = {"connect": "sudare.sql.execution.connection"}
"""Names of packages whose others stay in the package."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted({*_SINGLE, *(exported for package in _PACKAGES for exported in import_module(package).__all__)})
    if name in _SINGLE:
        value = globals()[name] = getattr(import_module(_SINGLE[name]), name)
        return value
    for package in () if name.startswith("_") else _PACKAGES:
        module = import_module(package)
        if name in module.__all__:
            value = globals()[name] = getattr(module, name)
            return value
    from sudare.renamed import renamed

    if (value := renamed("sudare.errors", name)) is not None:
        return value
    raise AttributeError(f"module 'sudare' has no attribute {name!r}")


if MovedModules not in sys.meta_path:
    sys.meta_path.append(MovedModules)


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__doc__", "__version__"]
