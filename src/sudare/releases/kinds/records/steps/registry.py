"""All steps that a plan can ask for. A new one is a class, `sudare.releases.kinds.records.steps.step`, and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.errors import ParameterError
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn
from sudare.releases.kinds.records.planning.hierarchy_plan import refused
from sudare.releases.kinds.records.steps.aim import AimStep
from sudare.releases.kinds.records.steps.anonymize import Anonymize
from sudare.releases.kinds.records.steps.microaggregate import Microaggregate
from sudare.releases.kinds.records.steps.mst import MstStep
from sudare.releases.kinds.records.steps.noise import Noise
from sudare.releases.kinds.records.steps.pram import Pram
from sudare.releases.kinds.records.steps.sample import SampleStep
from sudare.releases.kinds.records.steps.sampled_k_anonymity import SampledGroups
from sudare.releases.kinds.records.steps.step import PrivateStep, Step
from sudare.releases.kinds.records.steps.swap import Swap
from sudare.sections import Section

__all__ = ["all_step_keys", "private_names", "read_step", "register_step", "registered_steps", "step_named"]

_REGISTERED: dict[str, type[Step]] = {}


def register_step(step: type[Step]) -> None:
    """Make a step known to plans, pages and the verification of reports.

    Raises:
        ParameterError: if another one has its name.
    """
    if step.name in _REGISTERED:
        raise ParameterError("step", "register_step", "one whose name no other step has", step.name)
    _REGISTERED[step.name] = step


for _step in (Anonymize, SampleStep, Swap, Pram, Microaggregate, Noise, SampledGroups, MstStep, AimStep):
    register_step(_step)


def registered_steps() -> tuple[type[Step], ...]:
    """All of them, in the order in which they are shown."""
    return tuple(_REGISTERED.values())


def private_names() -> tuple[str, ...]:
    """The names of steps with differential privacy of the table, which have a price."""
    return tuple(step.name for step in _REGISTERED.values() if issubclass(step, PrivateStep))


def step_named(name: str) -> type[Step]:
    """The step that plans and reports call so.

    Raises:
        KeyError: if there is none.

    Example:
        >>> step_named("mst").words.english
        'Synthetic people (MST)'
    """
    return _REGISTERED[name]


def all_step_keys() -> tuple[str, ...]:
    """All that a section of a step may say, whatever its method."""
    return ("method", *dict.fromkeys(key for step in _REGISTERED.values() for key in step.keys))


def read_step(section: Section, file: str, where: str, columns: Mapping[str, PlannedColumn]) -> Step:
    """One step of a plan.

    Args:
        section: where it stands.
        file: the plan's name.
        where: the section's name.
        columns: of the plan, by name.

    Raises:
        PlanError: if it says what cannot be.
    """
    step = _REGISTERED[section.choice("method", tuple(_REGISTERED))]
    own = Section(section.rest(), where, file, ("method", *step.keys))
    published = {name: column for name, column in columns.items() if column.role != "identifier"}
    try:
        made = step.read(own, published, file)
    except ParameterError as error:
        refused(own, error)
    own.finish()
    return made
