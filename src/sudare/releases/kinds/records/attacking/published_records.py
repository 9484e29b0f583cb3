"""What a folder of records publishes, read as anybody reads it: the file, and what its report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import InputError
from sudare.microdata.models.model import Model
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.large_counts import open_large
from sudare.releases.kinds.records.model_record import model_of_record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["CHANGING", "PublishedRecords", "read_published_records"]

CHANGING = ("swap", "pram", "microaggregate", "noise")
"""Methods after which a value need not be that of its person."""

MAX_PARAMETER = 10**15


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
        steps: method and settings.
        models: the name of each that is promised, and the model itself where the file alone can show it.
        uniform: for each sensitive column, people in classes that share a value, where they were counted already.
    """

    records: Records
    counts: Integers | None
    name: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    levels: Mapping[str, int | None]
    steps: tuple[tuple[str, Mapping[str, Any]], ...]
    models: tuple[tuple[str, Model | None], ...]
    uniform: Mapping[str, int] | None

    @property
    def people(self) -> int:
        """How many people the records are about."""
        return self.records.rows if self.counts is None else int(self.counts.sum())

    def changed(self, name: str) -> bool:
        """Whether a step changed the values of a column, by chance or by means of several people's."""
        return any(
            method in CHANGING and (settings.get("column") == name or name in (settings.get("columns") or ()))
            for method, settings in self.steps
        )


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
        steps = tuple((str(step["method"]), _settings(step)) for step in document["steps"])
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
            f"「{folder}」のレポートの内容が不正です。`sudare verify` で確認できます。",
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


def _settings(step: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a step, of which those are as they should be that are looked at here.

    Raises:
        ValueError: if they are not.
    """
    settings = dict(step["settings"])
    if step["method"] in CHANGING:
        column, columns, k = settings.get("column"), settings.get("columns"), settings.get("k")
        listed = columns if isinstance(columns, list | tuple) else []
        is_right = (column is None or isinstance(column, str)) and all(isinstance(name, str) for name in listed)
        if step["method"] == "microaggregate":
            is_right = is_right and len(listed) > 0 and type(k) is int and 0 < k <= MAX_PARAMETER
        if not is_right or (columns is not None and columns is not listed):
            raise ValueError("settings")
    return settings
