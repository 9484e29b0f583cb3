"""All models that a plan can ask for. A new one is a class, `sudare.microdata.models.planned_model`, and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.microdata.models.closeness import Closeness
from sudare.microdata.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sudare.microdata.models.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel
from sudare.microdata.models.sizes import KAnonymity, KMap, Presence
from sudare.sections import Section

__all__ = [
    "all_model_keys",
    "model_of_record",
    "models_by_plan_name",
    "names_with_population",
    "needs_population",
    "read_model",
    "register_model",
    "registered_models",
]

_REGISTERED: dict[str, type[PlannedModel]] = {}


def register_model(model: type[PlannedModel]) -> None:
    """Make a model known to plans and to the verification of reports.

    Raises:
        ParameterError: if another one has its name.
    """
    others = [other for other in _REGISTERED.values() if other.plan_name == model.plan_name]
    is_taken = any(model.plan_kind is None or other.plan_kind in (None, model.plan_kind) for other in others)
    if is_taken or model.record_name in _REGISTERED:
        raise ParameterError("model", "register_model", "one whose name no other model has", model.record_name)
    _REGISTERED[model.record_name] = model


for _model in (
    KAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    Closeness,
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KMap,
    Presence,
):
    register_model(_model)


def registered_models() -> tuple[type[PlannedModel], ...]:
    """All of them, in the order in which they are shown."""
    return tuple(_REGISTERED.values())


def models_by_plan_name() -> dict[str, tuple[type[PlannedModel], ...]]:
    """The models that each name in a plan stands for: one, or several that their ``kind`` tells apart."""
    found: dict[str, tuple[type[PlannedModel], ...]] = {}
    for model in _REGISTERED.values():
        found[model.plan_name] = (*found.get(model.plan_name, ()), model)
    return found


def all_model_keys() -> dict[str, tuple[str, ...]]:
    """What each name in a plan may say beside it.

    Example:
        >>> all_model_keys()["k-anonymity"]
        ('k',)
    """
    return {
        name: tuple(dict.fromkeys(key for model in models for key in model.plan_keys))
        for name, models in models_by_plan_name().items()
    }


def names_with_population() -> tuple[str, ...]:
    """What plans call the models that compare with everybody."""
    return tuple(dict.fromkeys(model.plan_name for model in _REGISTERED.values() if model.needs_population))


def needs_population(record_name: str) -> bool:
    """Whether a model compares with everybody, and not with the table alone.

    Args:
        record_name: what a report calls it; one that is unknown does not.
    """
    model = _REGISTERED.get(record_name)
    return model is not None and model.needs_population


def read_model(section: Section, name: str, columns: ModelColumns) -> PlannedModel:
    """The model that a section of a plan asks for.

    Args:
        section: of the model, without its name.
        name: what the plan calls it.
        columns: of the plan.

    Raises:
        PlanError: if the section says what cannot be.
        ParameterError: likewise; names the key.
    """
    models = models_by_plan_name()[name]
    kinds = {model.plan_kind: model for model in models if model.plan_kind is not None}
    if not kinds:
        return models[0].from_plan(section, columns)
    return kinds[section.choice("kind", tuple(kinds), next(iter(kinds)))].from_plan(section, columns)


def model_of_record(record: Any) -> PlannedModel | None:
    """The model that a record tells; None if it cannot be checked from a table alone.

    Args:
        record: what ``to_record`` gave, perhaps changed by somebody since.

    Raises:
        InputError: if it is no such record.

    Example:
        >>> model_of_record({"name": "k-anonymity", "k": 5})
        KAnonymity(k=5)
    """
    name = record.get("name") if isinstance(record, Mapping) else None
    if not isinstance(name, str) or name not in _REGISTERED:
        raise _no_record()
    try:
        return _REGISTERED[name].from_record(record)
    except (ParameterError, TypeError, ValueError, ArithmeticError):
        raise _no_record() from None


def _no_record() -> InputError:
    return InputError(
        "The report names a model that this sudare does not know.",
        "報告書に、この sudare が扱えない条件があります。",
    )
