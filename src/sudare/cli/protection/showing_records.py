"""What became of records, for the terminal of whoever holds them: levels, what was lost, who was left out, other choices.

All of it is a result on confidential data. It is printed where the command was typed, and is in no file that is given away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.releases.page_numbers import percent_rounded_up

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.cli.console.messages import Catalogue
    from sudare.releases.kinds.records import ProtectedPeople

__all__ = ["result_of_records", "show_result_of_records"]


def result_of_records(made: ProtectedPeople) -> dict[str, object]:
    """What became of records without a price, as it stands in JSON."""
    document, search = made.document, made.search
    kept = document["kept"]
    found = document["search"] or {}
    return {
        "levels": {one["name"]: {"level": one["level"], "of": one["height"]} for one in _leveled(document)},
        "starred_throughout": list(made.constant),
        "records": {
            "read": kept["before"],
            "published": kept["published"],
            "suppressed": _suppressed(kept),
            "suppressed_are": "removed" if kept["published"] < kept["before"] else "starred",
        },
        "loss": found.get("loss"),
        "is_optimal": found.get("is_optimal"),
        "gap": found.get("gap"),
        "runners_up": [] if search is None else [_runner_up(one) for one in search.runners_up],
    }


def show_result_of_records(made: ProtectedPeople, words: Catalogue) -> RenderableType:
    """The same for people."""
    document, search = made.document, made.search
    parts: list[RenderableType] = [heading(words("result.title"))]
    leveled = _leveled(document)
    if leveled:
        columns = [(words("result.column"), False), (words("result.level"), True), (words("result.highest"), True)]
        rows = [
            [
                one["name"],
                str(one["level"]),
                str(one["height"]),
                words("result.all_starred") if one["name"] in made.constant else "",
            ]
            for one in leveled
        ]
        parts.append(table_of([*columns, ("", False)], rows))
    parts.append(facts(_lines(document, words)))
    if search is not None and search.runners_up:
        names = list(search.levels)
        columns = [*((name, True) for name in names), (words("result.loss"), True), (words("result.suppressed"), True)]
        rows = [
            [
                *(str(one.levels[name]) for name in names),
                _loss(one.loss),
                percent_rounded_up(one.suppressed),
            ]
            for one in search.runners_up
        ]
        parts += ["", heading(words("result.runners_up")), table_of(columns, rows), words("result.runners_up_note")]
    return stack(*parts)


def _lines(document: Mapping[str, Any], words: Catalogue) -> list[tuple[str, object]]:
    kept, found = document["kept"], document["search"]
    lines: list[tuple[str, object]] = []
    if found is not None:
        proof = words("result.proven") if found["is_optimal"] else words("result.gap", gap=f"{found['gap']:.4g}")
        lines.append((words("result.loss"), f"{_loss(found['loss'])} ({proof})"))
    if kept["suppressed"] is not None:
        removed = kept["published"] < kept["before"]
        label = words("result.removed" if removed or not kept["suppressed"] else "result.starred")
        share = percent_rounded_up(kept["suppressed"])
        values = {"number": f"{_suppressed(kept):,}", "all": f"{kept['before']:,}", "share": share}
        lines.append((label, words("result.of_all", **values)))
    else:
        values = {"number": f"{kept['published']:,}", "all": f"{kept['before']:,}"}
        lines.append((words("result.published"), words("result.of_read", **values)))
    for step in document["steps"]:
        if step.get("changed") is not None:
            lines.append((words("result.changed", step=step["name"]), percent_rounded_up(step["changed"])))
    return lines


def _leveled(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in document["columns"] if one["published"] and one["level"] is not None]


def _suppressed(kept: Mapping[str, Any]) -> int:
    share, records = float(kept["suppressed"] or 0.0), int(kept["before"])
    return round(share * records)


def _runner_up(one: Any) -> dict[str, object]:
    return {"levels": dict(one.levels), "loss": list(one.loss), "suppressed": one.suppressed}


def _loss(loss: Sequence[float]) -> str:
    return ", ".join(f"{part:.4g}" for part in loss)
