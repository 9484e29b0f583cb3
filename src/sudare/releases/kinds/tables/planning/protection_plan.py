"""The methods of a plan: hide cells, round them, add noise by cell keys, merge meshes, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, cast

from sudare.disclosure.cell_key import PerturbationTable, perturbation_table, read_perturbation_table
from sudare.disclosure.rounding import MAX_STEPS
from sudare.errors import InputError, ParameterError
from sudare.sections import Section

__all__ = [
    "ALL_PROTECTION_KEYS",
    "METHODS",
    "CellKey",
    "MergeMeshes",
    "Protection",
    "Round",
    "Suppress",
    "Unprotected",
    "read_protection",
]

METHODS: dict[str, tuple[str, ...]] = {
    "suppress": ("search", "seconds", "cost", "singletons", "hidden_sums", "secondary"),
    "round": ("base", "steps", "seconds"),
    "cell-key": ("key_file", "identifier", "largest", "variance", "forbidden", "stay", "monotone", "perturbation"),
    "merge-meshes": ("minimum",),
    "none": (),
}
"""What each method may say."""

ALL_PROTECTION_KEYS = ("method", *dict.fromkeys(key for keys in METHODS.values() for key in keys))
LAW = ("largest", "variance", "forbidden", "stay", "monotone")
MAX_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class Suppress:
    """Hide cells until nobody can work out the unsafe ones.

    Attributes:
        search: fast for any size, exact for the cheapest pattern.
        seconds: time limit; None for none.
        cost: of hiding a cell: its value, its contributors, or the same for all.
        singletons: whether contributors who are alone in a cell, or dominate several, count as attackers.
        hidden_sums: contributors that the hidden parts of a sum must have together; 0 for no such rule.
        secondary: whether to hide more than the unsafe cells.
    """

    search: Literal["fast", "exact"] = "fast"
    seconds: float | None = None
    cost: Literal["value", "count", "equal"] = "value"
    singletons: bool = True
    hidden_sums: int = 0
    secondary: bool = True


@dataclass(frozen=True)
class Round:
    """Round every cell to a multiple of a base so that the table still adds up.

    Attributes:
        base: in the units in which values are written.
        steps: how many multiples beyond the next one a cell may go; None for as few as possible.
        seconds: time limit.
    """

    base: int
    steps: int | None = None
    seconds: float = 60.0


@dataclass(frozen=True, eq=False)
class CellKey:
    """Noise for counts that depends on who is in the cell.

    Attributes:
        key_file: of the secret; it is never in the plan.
        identifier: the column that tells records apart, the same in every table.
        table: the noise of each count.
        settings: what the plan said of the noise.
    """

    key_file: Path
    identifier: str
    table: PerturbationTable
    settings: tuple[tuple[str, str], ...]

    @property
    def largest(self) -> int:
        """The largest deviation of a published count."""
        return max(abs(step) for row in self.table.noise for step in row)


@dataclass(frozen=True)
class MergeMeshes:
    """Count the attributes of meshes with few people in a neighbour.

    Attributes:
        minimum: people that published attributes must stand for.
    """

    minimum: int


@dataclass(frozen=True)
class Unprotected:
    """Publish the table as it is; the attacks then say what that means."""


Protection = Suppress | Round | CellKey | MergeMeshes | Unprotected


def read_protection(section: Section, base: Path) -> tuple[str, Protection]:
    """Read ``[protection]``.

    Args:
        section: of the plan.
        base: the folder that files are meant from.

    Returns:
        The method's name and its settings.

    Raises:
        PlanError: if it says what cannot be, or a key of another method.
        InputError: if a perturbation table cannot be read.
    """
    method = section.choice("method", tuple(METHODS))
    for key in ALL_PROTECTION_KEYS[1:]:
        if section.has(key) and key not in METHODS[method]:
            owners = " / ".join(f'"{name}"' for name, keys in METHODS.items() if key in keys)
            section.refuse(key, f"belongs to method {owners}", f"は method {owners} のキーです")
    readers: dict[str, Callable[[Section, Path], Protection]] = {
        "suppress": _read_suppress,
        "round": _read_round,
        "cell-key": _read_cell_key,
        "merge-meshes": lambda section, base: MergeMeshes(_at_least(section, "minimum", 2, 10**6)),
        "none": lambda section, base: Unprotected(),
    }
    read = readers[method](section, base)
    section.finish()
    return method, read


def _read_suppress(section: Section, base: Path) -> Suppress:
    search = cast("Literal['fast', 'exact']", section.choice("search", ("fast", "exact"), "fast"))
    cost = cast("Literal['value', 'count', 'equal']", section.choice("cost", ("value", "count", "equal"), "value"))
    seconds = _seconds(section) if section.has("seconds") else None
    singletons = section.flag("singletons", True)
    hidden_sums = _at_least(section, "hidden_sums", 0, 10**6, 0)
    secondary = section.flag("secondary", True)
    return Suppress(search, seconds, cost, singletons, hidden_sums, secondary)


def _read_round(section: Section, base: Path) -> Round:
    unit = _at_least(section, "base", 2, 10**12)
    steps = _at_least(section, "steps", 0, MAX_STEPS) if section.has("steps") else None
    return Round(unit, steps, _seconds(section) if section.has("seconds") else 60.0)


def _read_cell_key(section: Section, base: Path) -> CellKey:
    key_file, identifier = base / section.text("key_file"), section.text("identifier")
    if section.has("perturbation"):
        for key in LAW:
            if section.has(key):
                section.refuse(
                    key,
                    "cannot stand beside 'perturbation': the file says what the noise is",
                    "は「perturbation」と同時に指定できません。ノイズはファイルで決まります",
                )
        file = base / section.text("perturbation")
        return CellKey(key_file, identifier, read_perturbation_table(file), (("perturbation", file.name),))
    largest, variance = section.whole("largest", 5), section.number("variance") if section.has("variance") else 2
    forbidden = section.whole("forbidden", 0)
    stay = section.number("stay") if section.has("stay") else None
    monotone = section.flag("monotone", False)
    try:
        table = perturbation_table(
            largest=largest, variance=variance, forbidden=forbidden, stay=stay, monotone=monotone
        )
    except ParameterError as error:
        key = error.parameter if error.parameter in LAW else "variance"
        section.refuse(key, f"must be {error.requirement}", f"が不正です（{error.requirement}）")
    except InputError as error:
        section.refuse("variance", f"cannot be met. {error.english}", f"を満たせません。{error.japanese}")
    settings: list[tuple[str, str]] = [("largest", str(largest)), ("variance", str(variance))]
    if forbidden:
        settings.append(("forbidden", str(forbidden)))
    if stay is not None:
        settings.append(("stay", str(stay)))
    if monotone:
        settings.append(("monotone", "true"))
    return CellKey(key_file, identifier, table, tuple(settings))


def _seconds(section: Section) -> float:
    value = section.number("seconds")
    if not 0 < Decimal(value) <= MAX_SECONDS:
        section.refuse(
            "seconds", f"must be above 0 and at most {MAX_SECONDS:,}", f"は 0 より大きく {MAX_SECONDS:,} 以下です"
        )
    return float(value)


def _at_least(section: Section, key: str, smallest: int, largest: int, default: int | None = None) -> int:
    value = section.whole(key, default)
    if not smallest <= value <= largest:
        section.refuse(key, f"must be from {smallest:,} to {largest:,}", f"は {smallest:,} から {largest:,} までです")
    return value
