"""What a folder of records publishes, read as anybody reads it: the file, and what its report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import InputError
from sudare.microdata.models.model import Model
from sudare.microdata.models.registry import model_of_record
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.large_counts import open_large
from sudare.releases.kinds.records.steps.registry import step_named
from sudare.releases.kinds.records.steps.step import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["PublishedRecords", "read_published_records"]


@dataclass(frozen=True, eq=False)
class PublishedRecords:
    """What a folder publishes, and what its report says of it.

    Attributes:
        records: of the file; where counts are given, its different combinations.
        counts: how many people each row stands for; None is one.
        name: of the file.
        quasi: the quasi-identifiers.
        sensitive: the sensitive columns.
        levels: how coarse each column was published.
        steps: what was done, with the settings in the report.
        models: the name of each that is promised, and the model itself where the file alone can show it.
        uniform: for each sensitive column, people in classes that share a value, where they were counted already.
    """

    records: Records
    counts: Integers | None
    name: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    levels: Mapping[str, int | None]
    steps: tuple[tuple[type[Step], Mapping[str, Any]], ...]
    models: tuple[tuple[str, Model | None], ...]
    uniform: Mapping[str, int] | None

    @property
    def people(self) -> int:
        """How many people the records are about."""
        return self.records.rows if self.counts is None else int(self.counts.sum())

    def changed(self, name: str) -> bool:
        """Whether a step changed the values of a column, by chance or by means of several people's."""
        return any(name in step.changed_in(settings) for step, settings in self.steps)


def read_published_records(folder: Path, document: Mapping[str, Any]) -> PublishedRecords:
    """What a folder publishes.

    Args:
        folder: of records of people.
        document: what its ``release.json`` says, or will say.

    Raises:
        InputError: if the folder has not what its report says.
    """
    try:
        name = Path(document["files"][0]["name"]).name
        columns = [column for column in document["columns"] if column["published"]]
        steps = tuple(_step(step) for step in document["steps"])
        models = tuple((str(one["model"]["name"]), model_of_record(one["model"])) for one in document["models"])
        role = {str(column["name"]): str(column["role"]) for column in columns}
        levels = {str(column["name"]): column["level"] for column in columns}
        is_large = bool(document.get("larger_than_memory"))
        if not (folder / name).is_file():  # such as a pipe, on which a reader would wait forever
            raise ValueError("no file")
    except InputError:  # a model that is none
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InputError(
            f"The report of '{folder}' does not say what it should; `sudare verify` tells more.",
            f"「{folder}」の報告書の内容が不正です。`sudare verify` で確認できます。",
        ) from None
    quasi = tuple(name for name in role if role[name] == "quasi-identifier")
    sensitive = tuple(name for name in role if role[name] == "sensitive")
    counts, uniform = None, None
    if is_large:
        named = [model.sensitive for _, model in models if model is not None and model.sensitive is not None]
        with open_large(folder / name) as file:
            counted = file.count([*quasi, *named])
            uniform = {column: file.rows_in_uniform_classes(quasi, column) for column in sensitive}
        records, counts = counted.records, counted.counts
    else:
        records = read_people(folder / name)
    for column in role if counts is None else quasi:
        records.column(column)
    return PublishedRecords(records, counts, name, quasi, sensitive, levels, steps, models, uniform)


def _step(step: Mapping[str, Any]) -> tuple[type[Step], dict[str, object]]:
    """What was done, and its settings, of which those are as they should be that are looked at here.

    Raises:
        KeyError: if this sudare does not know the method.
        ValueError: if the settings are not what they should be.
    """
    found, settings = step_named(str(step["method"])), dict(step["settings"])
    found.require_settings(settings)
    return found, settings
