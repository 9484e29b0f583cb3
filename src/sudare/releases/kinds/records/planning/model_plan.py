"""How a plan says which models a published table must satisfy.

``k = 5`` alone asks for k-anonymity; everything else is a list of models, each with its name and its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sudare.errors import ParameterError
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel, at_least_two
from sudare.microdata.models.registry import all_model_keys, read_model
from sudare.microdata.models.sizes import KAnonymity
from sudare.microdata.records import CodedColumn
from sudare.releases.kinds.records.planning.hierarchy_plan import HierarchyRule, refused
from sudare.sections import Section

__all__ = ["read_models"]


def read_models(
    section: Section, file: str, sensitive: Mapping[str, HierarchyRule | None], quasi_identifiers: Sequence[str]
) -> tuple[PlannedModel, ...]:
    """The models of a section: its ``k`` and its ``models``, at least one.

    Args:
        section: where they stand.
        file: the plan's name.
        sensitive: the sensitive columns, with their hierarchies.
        quasi_identifiers: which cannot be sensitive as well.

    Raises:
        PlanError: if there is none, or one says what cannot be.
    """
    models: list[PlannedModel] = []
    if section.has("k"):
        models.append(KAnonymity(at_least_two(section, "k")))
    keys = all_model_keys()
    every_key = ("name", *dict.fromkeys(key for names in keys.values() for key in names))
    columns = ModelColumns(
        sensitive={
            name: rule.build(CodedColumn.of(name, [])) if rule is not None and rule.is_fixed else None
            for name, rule in sensitive.items()
        },
        quasi_identifiers=quasi_identifiers,
    )
    parts = section.sections("models", every_key) if section.has("models") else []
    for number, part in enumerate(parts, start=1):
        name = part.choice("name", tuple(keys))
        own = Section(part.rest(), f"models {number}: {name}", file, keys[name])
        try:
            models.append(read_model(own, name, columns))
        except ParameterError as error:
            refused(own, error)
        own.finish()
    if not models:
        section.refuse(
            "k",
            "is missing: say k = 5, or list models",
            "がありません。k = 5 などとするか、models を並べてください",
        )
    return tuple(models)
