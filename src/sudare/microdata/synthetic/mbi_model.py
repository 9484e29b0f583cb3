"""The last fit of a model by the package ``mbi``, which compiles the whole of it for the machine at hand.

Compiling takes 5 to 30 seconds for each new set of cliques, whatever the data; so the rounds before, each with another set, are
fitted by `graphical_model`, and only the last model by this, if asked for. ``mbi`` gets noisy marginals and their variances, and
nothing else.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sudare.errors import MissingPackageError
from sudare.tables.adaptive.graphical_model import GraphicalModel
from sudare.tables.adaptive.measured import Evidence

__all__ = ["fit_with_mbi", "require_mbi"]


def require_mbi() -> None:
    """Refuse, before anything is drawn, if the package is not there.

    Raises:
        MissingPackageError: if it is not.
    """
    if importlib.util.find_spec("mbi") is None:
        raise MissingPackageError(
            "Fitting the last model with engine='mbi' needs the package 'mbi'. Install it with: pip install 'sudare[synth]'. "
            "With engine='numpy' it is not needed.",
            "engine='mbi' には 'mbi' パッケージが必要です。pip install 'sudare[synth]' で入れてください。"
            "engine='numpy' なら不要です。",
        )


def fit_with_mbi(sizes: Sequence[int], evidence: Sequence[Evidence], total: float, *, steps: int) -> GraphicalModel:
    """The model whose marginals are nearest to the evidence, found by ``mbi``'s mirror descent in double precision.

    Args:
        sizes: how many values each column has.
        evidence: noisy marginals; every column must be in one.
        total: how many people there are, by what is known.
        steps: how many steps to take.
    """
    mbi, jax = _load()
    names = [f"column {place}" for place in range(len(sizes))]
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        domain = mbi.Domain(names, list(sizes))
        measurements = []
        for item in evidence:
            # Variances may differ within a marginal: all cells are scaled to the noise of the sharpest one.
            sharpest = float(item.variances.min())
            scale = np.sqrt(sharpest / item.variances).ravel()
            plain = bool((scale == 1).all())
            query = mbi.DatavectorQuery() if plain else mbi.WeightedQuery(scale)
            clique = tuple(names[column] for column in item.clique)
            measurements.append(
                mbi.LinearMeasurement(item.values.ravel() * scale, clique, stddev=sharpest**0.5, query=query)
            )
        model = mbi.estimation.MirrorDescent().estimate(domain, measurements, known_total=total, iters=steps)
        potentials = {
            tuple(names.index(name) for name in clique): np.asarray(model.potentials[clique].values, dtype=np.float64)
            for clique in model.potentials.cliques
        }
    ordered = {tuple(sorted(clique)): table.transpose(np.argsort(clique)) for clique, table in potentials.items()}
    return GraphicalModel(sizes, total, ordered)


def _load() -> tuple[Any, Any]:
    """The two packages. On loading, mbi warns of settings of JAX that are set only where it is used here."""
    require_mbi()
    import jax

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="JAX is running in float32")
        warnings.filterwarnings("ignore", message="JAX persistent compilation cache")
        import mbi  # type: ignore[import-untyped, unused-ignore]
    return mbi, jax
