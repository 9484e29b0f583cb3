"""Companies of an invented economy, one row each: few large ones, many small ones, and holdings that own several."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.parameters import exact_integer

__all__ = ["invent_companies"]

REGIONS = {"north": 0.16, "east": 0.34, "south": 0.24, "west": 0.2, "islands": 0.06}
INDUSTRIES = {
    "trade": 0.3,
    "construction": 0.18,
    "food": 0.15,
    "transport": 0.13,
    "machines": 0.12,
    "chemicals": 0.08,
    "mining": 0.04,
}
PER_HOLDING = 6
OWNED = 0.25
"""About this share of the companies belongs to a holding."""

TAIL = 1.05
"""Turnover falls off by a power law: in many industries one company has most of it, which is what disclosure control is for."""


def invent_companies(number: int = 400, seed: int = 2020) -> Any:
    """Microdata of an invented economy: a row for each company. The same arguments give the same companies.

    Columns: ``company`` (1, 2, 3, ...), ``holding`` (the company itself where nobody owns it), ``region``, ``industry`` and
    ``turnover`` in millions.

    Args:
        number: of companies, from 1 to 1,000,000.
        seed: which companies; a whole number >= 0.

    Returns:
        A pyarrow table.

    Raises:
        ParameterError: if an argument is out of its range.

    Example:
        >>> from sudare.examples import invent_companies
        >>> companies = invent_companies(50)
        >>> companies.num_rows, companies.column_names
        (50, ['company', 'holding', 'region', 'industry', 'turnover'])
    """
    import pyarrow

    function = "invent_companies"
    rows = exact_integer(number, "number", function, "a whole number from 1 to 1,000,000", smallest=1, largest=10**6)
    start = exact_integer(seed, "seed", function, "a whole number from 0 to 2**62", smallest=0, largest=2**62)
    generator = np.random.default_rng(start)
    names = np.array([f"C{place}" for place in range(1, rows + 1)])
    holdings = np.array([f"H{place}" for place in range(1, max(2, int(OWNED * rows / PER_HOLDING)) + 1)])
    is_owned = generator.random(rows) < OWNED
    owners = np.where(is_owned, generator.choice(holdings, rows), names)
    turnover = np.ceil(5 * (1 + generator.pareto(TAIL, rows))).clip(max=200_000).astype(np.int64)
    return pyarrow.table(
        {
            "company": names,
            "holding": owners,
            "region": _drawn(REGIONS, rows, generator),
            "industry": _drawn(INDUSTRIES, rows, generator),
            "turnover": turnover,
        }
    )


def _drawn(shares: dict[str, float], rows: int, generator: np.random.Generator) -> np.ndarray[Any, np.dtype[np.str_]]:
    return generator.choice(np.array(list(shares)), rows, p=list(shares.values()))
