"""For the holder of records: how easily somebody is found in them, and hierarchies to check or to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from collections.abc import Callable

    from sudare.microdata.hierarchies.hierarchy import Generalization
    from sudare.microdata.records import CodedColumn
    from sudare.releases.kinds.records import Risks

__all__ = ["build", "check", "risk"]

MAX_LABELS = 6
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME")]


def risk(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    quasi_identifiers: Annotated[str, typer.Option("--quasi-identifiers", "-q", metavar="COLUMNS", show_default=False)],
    sensitive: Annotated[str | None, typer.Option("--sensitive", metavar="COLUMNS", show_default=False)] = None,
    population: Annotated[Path | None, typer.Option("--population", metavar="FILE", show_default=False)] = None,
    threshold: Annotated[float, typer.Option("--threshold", min=0.0, max=1.0, metavar="SHARE")] = 0.2,
    encoding: Encoding = "auto",
) -> None:
    """Measure how easily somebody is found."""
    from sudare.microdata.records import read_people
    from sudare.releases.documents import document_values
    from sudare.releases.kinds.records import measure_risks

    names = _listed(quasi_identifiers)
    private = _listed(sensitive or "")
    if not names:
        raise speaker.mistake("people.no_columns")
    both = next((name for name in private if name in names), None)
    if both is not None:
        raise speaker.mistake("people.both_roles", column=both)
    records = read_people(file, encoding=encoding, columns=[*names, *private])
    everybody = None
    if population is not None:
        others = read_people(population, encoding=encoding, columns=names)
        everybody = [others.column(name) for name in names]
    found = measure_risks(records, names, private, population=everybody, threshold=threshold)
    speaker.warn_of("people.risk_confidential")
    speaker.give(document_values(found), *_risk_shown(speaker, found))


def check(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    data: Annotated[Path | None, typer.Option("--data", metavar="FILE", show_default=False)] = None,
    column: Annotated[str | None, typer.Option("--column", metavar="COLUMN", show_default=False)] = None,
    encoding: Encoding = "auto",
) -> None:
    """Check a hierarchy file, alone or with the data it is for."""
    from sudare.microdata.hierarchies.files import read_hierarchy
    from sudare.microdata.records import read_people
    from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of

    if (data is None) != (column is None):
        raise speaker.mistake("people.data_and_column")
    found = read_hierarchy(file, column or file.stem, encoding=encoding)
    if data is not None and column is not None:
        hierarchy_of(read_people(data, encoding=encoding, columns=[column]).column(column), lambda _: found)
    speaker.say("people.hierarchy_sound", style="green", file=file)
    speaker.give(_hierarchy_values(found), _levels(speaker, found))


def build(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    column: Annotated[str, typer.Argument(metavar="COLUMN", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", show_default=False)],
    intervals: Annotated[str | None, typer.Option("--intervals", metavar="WIDTHS", show_default=False)] = None,
    whole: Annotated[bool, typer.Option("--whole")] = False,
    lowest: Annotated[str | None, typer.Option("--lowest", metavar="NUMBER", show_default=False)] = None,
    highest: Annotated[str | None, typer.Option("--highest", metavar="NUMBER", show_default=False)] = None,
    dates: Annotated[str | None, typer.Option("--dates", metavar="STEPS", show_default=False)] = None,
    mesh: Annotated[str | None, typer.Option("--mesh", metavar="LEVEL", show_default=False)] = None,
    mask: Annotated[bool, typer.Option("--mask")] = False,
    flat: Annotated[bool, typer.Option("--flat")] = False,
    missing: Annotated[str | None, typer.Option("--missing", metavar="TEXT", show_default=False)] = None,
    encoding: Encoding = "auto",
) -> None:
    """Draft a hierarchy file from the values of a column."""
    from sudare.microdata.hierarchies import builders as builders
    from sudare.microdata.hierarchies.files import write_hierarchy
    from sudare.microdata.records import read_people
    from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of

    steps = tuple(_listed(dates)) if dates is not None else ()
    low, high = (None if text is None else _number(speaker, text) for text in (lowest, highest))
    widths = [_number(speaker, text) for text in _listed(intervals or "")]
    makers: dict[str, tuple[bool, Callable[[CodedColumn], Generalization]]] = {
        "--intervals": (
            intervals is not None,
            lambda values: builders.interval_hierarchy(
                column, values, widths=widths, lowest=low, highest=high, whole=whole, missing=missing
            ),
        ),
        "--dates": (
            dates is not None,
            lambda values: builders.date_hierarchy(column, values, steps=steps, missing=missing),
        ),
        "--mesh": (
            mesh is not None,
            lambda values: builders.mesh_hierarchy(column, values, mesh or "", missing=missing),
        ),
        "--mask": (mask, lambda values: builders.masked_hierarchy(column, values, missing=missing)),
        "--flat": (flat, lambda values: builders.flat_hierarchy(column, values)),
    }
    chosen = [make for is_asked, make in makers.values() if is_asked]
    if len(chosen) != 1:
        raise speaker.mistake("people.one_rule", rules=", ".join(makers))
    made = hierarchy_of(read_people(file, encoding=encoding, columns=[column]).column(column), chosen[0])
    write_hierarchy(out, made)
    speaker.say("people.hierarchy_made", style="green", out=out)
    speaker.say("people.hierarchy_values", style="yellow")
    speaker.give(_hierarchy_values(made) | {"out": str(out)}, str(out))


def _listed(text: str) -> list[str]:
    """Names separated by commas."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _number(speaker: Speaker, text: str) -> Any:
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(text)
    except InvalidOperation:
        raise speaker.mistake("people.no_number", text=text[:40]) from None


def _risk_shown(speaker: Speaker, found: Risks) -> list[Any]:
    words = speaker.words
    lines: list[tuple[str, object]] = [
        (words("people.records"), f"{found.records:,}"),
        (words("people.classes"), f"{found.classes:,}"),
        (words("people.k"), f"{found.k:,}"),
        (words("people.unique"), f"{found.unique:.1%}"),
        (words("people.prosecutor"), f"{found.highest:.1%}"),
        (words("people.at_risk", threshold=f"{found.threshold:.0%}"), f"{found.at_risk:.1%}"),
        (words("people.marketer"), f"{found.average:.1%}"),
    ]
    if found.journalist is not None:
        lines.append((words("people.journalist"), f"{found.journalist.highest:.1%}"))
    shown: list[Any] = [facts(lines)]
    if found.sensitive:
        columns = [
            (words(f"people.table_{name}"), name != "column") for name in ("column", "l", "entropy", "t", "alpha")
        ]
        rows = [
            [name, m.distinct_l, f"{m.entropy_l:.2f}", f"{m.equal_t:.3f}", f"{m.alpha:.3f}"]
            for name, m in found.sensitive.items()
        ]
        shown += ["", heading(words("people.sensitive")), table_of(columns, rows)]
    return [stack(*shown)]


def _hierarchy_values(found: Generalization) -> dict[str, object]:
    return {
        "column": found.name,
        "height": found.height,
        "values": found.leaves,
        "groups": [len(level) for level in found.levels],
    }


def _levels(speaker: Speaker, found: Generalization) -> Any:
    words = speaker.words
    rows = []
    for number, labels in enumerate(found.levels):
        listed = ", ".join(labels[:MAX_LABELS]) + (" …" if len(labels) > MAX_LABELS else "")
        rows.append([number, f"{len(labels):,}", listed])
    columns = [(words("people.level"), True), (words("people.groups"), True), (words("people.labels"), False)]
    return table_of(columns, rows)
