"""JSON-stat 2.0: one dataset with its dimensions, as the format's page at json-stat.org lays it down.

Expected errors have no place of their own there; they stand in ``extension``, which the format leaves to its users, and in the
notes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.export import export_words as texts
from sudare.export.dense import all_numbers, number_text, require_dense
from sudare.export.description import PublishedCube, SpanningDimension
from sudare.export.sentences import notes_of

if TYPE_CHECKING:
    from sudare.export.format import Publication

__all__ = ["JSON_STAT"]


READ_BY = Words(
    "JSON-stat 2.0, which PxWeb, Eurostat's and many offices' interfaces speak",
    "JSON-stat 2.0（PxWeb、Eurostat など多くの機関の API の形式）",
)


@dataclass(frozen=True)
class JsonStat:
    """JSON-stat 2.0."""

    suffix: str = ".jsonstat.json"
    words: Words = READ_BY

    def require_room(self, publication: Publication) -> None:
        """Refuse records, and tables of too many cells."""
        require_dense(publication, Words.same("JSON-stat"))

    def write(self, publication: Publication, path: Path) -> None:
        """Write the file."""
        cube = require_dense(publication, Words.same("JSON-stat"))
        head = cube.head
        numbers = list(all_numbers(cube))
        dataset: dict[str, object] = {
            "version": "2.0",
            "class": "dataset",
            "label": head.title,
            "source": head.publisher,
            "updated": head.created,
            "note": [words.explain(head.language) for words in notes_of(head, cube.dimensions)],
            "role": _roles(cube),
            "id": [one.name for one in cube.dimensions],
            "size": list(cube.shape),
            "dimension": {one.name: _dimension(one) for one in cube.dimensions},
            "extension": {"sudare": _extension(cube)},
        }
        if None in numbers:
            hidden = texts.HIDDEN.explain(head.language)
            dataset["status"] = {str(place): hidden for place, one in enumerate(numbers) if one is None}
        text = json.dumps(dataset, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Numbers are written digit by digit: as floating-point numbers, long ones would lose their last digits.
        listed = ("null" if one is None else number_text(one, cube.decimals) for one in numbers)
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text.removesuffix("}") + ',"value":[')
            stream.write(",".join(listed))
            stream.write("]}\n")


def _roles(cube: PublishedCube) -> dict[str, list[str]]:
    roles = {
        "geo": [one.name for one in cube.dimensions if one.is_geographic],
        "time": [one.name for one in cube.dimensions if one.is_time],
    }
    return {role: names for role, names in roles.items() if names}


def _dimension(dimension: SpanningDimension) -> dict[str, object]:
    category: dict[str, object] = {"index": list(dimension.codes)}
    # The label may be left out where it says what the code says, unless there is one value only.
    if dimension.labels != dimension.codes or len(dimension) == 1:
        category["label"] = dict(zip(dimension.codes, dimension.labels, strict=True))
    if dimension.parents is not None:
        children: dict[str, list[str]] = {}
        for code, parent in zip(dimension.codes, dimension.parents, strict=True):
            if parent >= 0:
                children.setdefault(dimension.codes[parent], []).append(code)
        category["child"] = children
    return {"label": dimension.name, "category": category}


def _extension(cube: PublishedCube) -> dict[str, object]:
    head = cube.head
    return {
        "value": cube.value_name,
        "decimals": cube.decimals,
        "description": head.description,
        "guarantee": [words.to_dict() for words in head.guarantee],
        "facts": {fact.key: fact.value.to_dict() for fact in head.facts},
        "expected_errors": [
            {
                "sum": error.what.to_dict(),
                "standard_error": error.rmse,
                "low": error.low,
                "high": error.high,
                "confidence": error.confidence,
            }
            for error in head.errors
        ],
    }


JSON_STAT = JsonStat()
