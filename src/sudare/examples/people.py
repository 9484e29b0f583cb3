"""The inhabitants of an invented country, one row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.domain import CountTable
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer, shown

__all__ = ["invent_people"]

MAX_PEOPLE = 1 << 25
OLDEST = 104
RURAL = 30
"""Cells with fewer people than this are villages, where people are older."""


def invent_people(country: CountTable, seed: int = 2020) -> Any:
    """Microdata of an invented country: a row for each inhabitant, in no particular order.

    Columns: ``person`` (1, 2, 3, ...), the attributes of the country such as ``KEY_CODE``, ``sex`` (``"female"`` or
    ``"male"``) and ``age`` in years. Villages are older than cities. Counting the rows of each cell gives the country back.

    Args:
        country: whose inhabitants, such as `invent_country` makes; at most 2**25 people.
        seed: which people; a whole number >= 0.

    Returns:
        A pyarrow table.

    Raises:
        ParameterError: if the country is no CountTable, or too large.

    Example:
        >>> from sudare.examples import invent_country, invent_people
        >>> people = invent_people(invent_country(64, people=1_000))
        >>> people.num_rows, people.column_names
        (1000, ['person', 'KEY_CODE', 'sex', 'age'])
    """
    import pyarrow

    function = "invent_people"
    if not isinstance(country, CountTable):
        raise ParameterError("country", function, "a CountTable", shown(country))
    taken = {"person", "sex", "age"} & {attribute.name for attribute in country.domain.attributes}
    if taken:
        requirement = "a table without attributes named person, sex or age"
        raise ParameterError("country", function, requirement, Described(f"one with {sorted(taken)}"))
    number = exact_integer(seed, "seed", function, "a whole number from 0 to 2**62", smallest=0, largest=2**62)
    if country.total > MAX_PEOPLE:
        raise ParameterError("country", function, f"a country of at most {MAX_PEOPLE:,} people", Described("more"))
    generator = np.random.default_rng(number)
    cells = generator.permutation(np.repeat(np.arange(country.keys.size), country.counts))
    columns = {name: pyarrow.array(values[cells]) for name, values in country.domain.columns_of(country.keys).items()}
    is_rural = country.counts[cells] < RURAL
    ages = np.where(is_rural, _ages(is_rural.size, 58, generator), _ages(is_rural.size, 46, generator))
    # Women live longer: their share grows from a little under one half to two thirds.
    is_female = generator.random(cells.size) < 0.485 + 0.18 * np.clip((ages - 60) / 40, 0, 1)
    sexes = pyarrow.DictionaryArray.from_arrays(is_female.astype(np.int8), ["male", "female"]).cast(pyarrow.string())
    return pyarrow.table(
        {"person": np.arange(1, cells.size + 1), **columns, "sex": sexes, "age": ages.astype(np.int16)}
    )


def _ages(number: int, middle: int, generator: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Ages with that median, few of them very old."""
    spread = generator.beta(2.0, 2.0 * (OLDEST - middle) / middle, number)
    return (spread * (OLDEST + 1)).astype(np.int64)
