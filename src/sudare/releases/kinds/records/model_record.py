"""Models in a report: as plain values, and back, so that whoever has the file can check once more what it promises."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.microdata.models import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    Presence,
    RecursiveDiversity,
)

__all__ = ["model_of_record", "record_of_model"]

FIELDS: Mapping[str, tuple[type[Model], tuple[str, ...]]] = {
    "k-anonymity": (KAnonymity, ("k",)),
    "distinct-l-diversity": (DistinctDiversity, ("column", "l")),
    "entropy-l-diversity": (EntropyDiversity, ("column", "l")),
    "recursive-l-diversity": (RecursiveDiversity, ("column", "c", "l")),
    "t-closeness": (Closeness, ("column", "t", "order")),
    "alpha-k-anonymity": (AlphaAnonymity, ("column", "alpha", "k")),
    "beta-likeness": (BetaLikeness, ("column", "beta", "enhanced")),
    "delta-disclosure": (DeltaDisclosure, ("column", "delta", "absent")),
    "k-map": (KMap, ("k",)),
    "presence": (Presence, ("smallest", "largest", "absent")),
}
"""What is written of each model; fractions as texts."""

FRACTION = re.compile(r"[0-9]{1,300}([./][0-9]{1,300})?")
"""No exponents: a short text with one could stand for a number that fills the memory."""
MAX_PARAMETER = 10**15


def record_of_model(model: Model) -> dict[str, Any]:
    """A model as plain values.

    A closeness by a hierarchy says so (``by_hierarchy``): its distances are not in the record.

    Example:
        >>> from sudare.microdata.models import KAnonymity
        >>> record_of_model(KAnonymity(5))
        {'name': 'k-anonymity', 'k': 5}
    """
    name = next(name for name, (shape, _) in FIELDS.items() if type(model) is shape)
    record: dict[str, Any] = {"name": name}
    for field in FIELDS[name][1]:
        value = getattr(model, field)
        record[field] = (
            str(value) if isinstance(value, Fraction) else list(value) if isinstance(value, tuple) else value
        )
    if isinstance(model, Closeness) and model.hierarchy is not None:
        record["by_hierarchy"] = True
    return record


def model_of_record(record: Any) -> Model | None:
    """The model that a record tells; None if it cannot be checked from a table alone.

    Args:
        record: what `record_of_model` gave, perhaps changed by somebody since.

    Raises:
        InputError: if it is no such record.

    Example:
        >>> model_of_record({"name": "k-anonymity", "k": 5})
        KAnonymity(k=5)
    """
    name = record.get("name") if isinstance(record, Mapping) else None
    if not isinstance(name, str) or name not in FIELDS:
        raise _no_record()
    if name in ("k-map", "presence") or record.get("by_hierarchy"):
        return None
    shape, fields = FIELDS[name]
    values: dict[str, Any] = {field: record.get(field) for field in fields}
    exact = ("t", "alpha", "beta", "delta", "c") if shape is not EntropyDiversity else ("l",)
    try:
        for field in fields:
            values[field] = _value(field, values[field], is_exact=field in exact)
        return shape(**values)
    except (ParameterError, TypeError, ValueError, ArithmeticError):
        raise _no_record() from None


def _value(field: str, value: Any, *, is_exact: bool) -> Any:
    """A value of a model, of the type that it should have.

    Raises:
        ValueError: if it has another one.
    """
    if is_exact:
        if not FRACTION.fullmatch(str(value)):
            raise ValueError(field)
        return Fraction(str(value))
    if field == "order" and isinstance(value, list | tuple):
        if not all(label is None or isinstance(label, str) for label in value):
            raise ValueError(field)
        return tuple(value)
    is_right = {
        "column": isinstance(value, str),
        "k": type(value) is int and value <= MAX_PARAMETER,
        "l": type(value) is int and value <= MAX_PARAMETER,
    }.get(field, isinstance(value, bool))
    if not is_right:
        raise ValueError(field)
    return value


def _no_record() -> InputError:
    return InputError(
        "The report names a model that this sudare does not know.",
        "レポートに、この sudare が扱えない条件があります。",
    )
