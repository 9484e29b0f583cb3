"""Specifications and reports as files: versioned, and marked with the randomizer they belong to.

A report means something only together with its randomizer, so every file says which it is: by a line's ``randomizer``, by the
metadata of a Parquet file, by the names of a CSV file's columns. Reports of another randomizer or another version are refused.

- One report: ``{"sudare": 1, "randomizer": "0123456789abcdef", "report": "yes"}``, a line of JSON.
- Many: Parquet, which holds the specification too, or CSV, whose columns are named like ``report_v1_0123456789abcdef``.

A new kind of randomizer joins by a line in `sudare.collect.randomizers.registry`; a new layout of reports by a class in
`sudare.collect.questionnaires.report_forms`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.signatures import check_arguments
from sudare.collect.device.client import ADDED, REPORT_VERSION, fingerprint_of, read_specification, report_line
from sudare.collect.questionnaires.report_forms import form_of
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.randomizers.registry import find_kind, registered_randomizers
from sudare.errors import EventError, GuaranteeError, InputError, OutputError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.storage.guarded_json import parse_json
from sudare.system.regular_files import require_regular_file

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "from_arrow",
    "from_columns",
    "mark_of",
    "plain_report",
    "read_lines",
    "read_randomizer",
    "read_reports",
    "report_lines",
    "specification",
    "to_arrow",
    "write_reports",
]

METADATA = b"sudare"


def specification(randomizer: Randomizer) -> dict[str, object]:
    """All that a device and the collector must agree on: the randomizer, its fingerprint, and how to draw a report.

    Args:
        randomizer: to describe.

    Example:
        >>> from sudare.collect import KaryResponse, read_randomizer, specification
        >>> question = KaryResponse(("yes", "no"), 1)
        >>> read_randomizer(specification(question)) == question
        True
    """
    check_arguments(specification, locals(), "randomizer")
    told = {**randomizer.to_dict(), "fingerprint": randomizer.fingerprint()}
    try:
        return {**told, "drawing": randomizer.drawing()}
    except GuaranteeError:
        return told


def read_randomizer(told: Mapping[str, Any] | str) -> Randomizer:
    """The randomizer that a specification describes.

    Args:
        told: what `specification` or `Randomizer.to_dict` wrote, as a dictionary or as JSON.

    Raises:
        InputError: if it is damaged, of another version, or of an unknown kind.
    """
    read = read_specification(told)
    kind = read["kind"]
    maker = find_kind(kind)
    if maker is None:
        known = ", ".join(sorted(one.kind for one in registered_randomizers()))
        raise InputError(
            f"The specification names a kind of randomizer that is not known. Known are: {known}.",
            f"仕様に書かれたランダム化器の種類は未対応です。対応している種類: {known}。",
        )
    own = {key: value for key, value in read.items() if key not in ADDED}
    try:
        randomizer = maker.from_parameters(own)
    except (AttributeError, EventError, KeyError, ParameterError, TypeError, ValueError):
        raise _damaged() from None
    if fingerprint_of(randomizer.to_dict()) != fingerprint_of(own):
        raise _damaged()
    agreed = specification(randomizer)
    if any(key in read and read[key] != agreed.get(key) for key in ADDED):
        raise _damaged()
    return randomizer


def plain_report(randomizer: Randomizer, value: Any, entropy: EntropySource | None = None) -> Any:
    """Randomize one value: the report as JSON writes it."""
    return form_of(randomizer).to_plain(randomizer.randomize([value], entropy))[0]


def report_lines(randomizer: Randomizer, reports: ArrayLike) -> Iterator[str]:
    """A line of JSON for each report."""
    form, fingerprint = form_of(randomizer), randomizer.fingerprint()
    for plain in form.to_plain(form.array(reports, randomizer)):
        yield report_line(fingerprint, plain)


def read_lines(lines: Iterable[str], randomizer: Randomizer) -> NDArray[Any]:
    """Reports, from lines of JSON; empty lines are left out.

    Args:
        lines: reports, one a line.
        randomizer: that made them.

    Raises:
        InputError: if a line is no report, or one of another version or another randomizer.
    """
    form, fingerprint, rows = form_of(randomizer), randomizer.fingerprint(), []
    read, keys = form.reader(randomizer), {"sudare", "randomizer", "report"}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            told = parse_json(line, lenient=True)
        except ValueError:
            told = None
        if not isinstance(told, dict) or told.keys() != keys:
            raise InputError(f"Line {number} is not a report.", f"{number} 行目は報告ではありません。")
        _require_same(told["sudare"], told["randomizer"], fingerprint, f"Line {number}", f"{number} 行目")
        try:
            rows.append(read(told["report"]))
        except (TypeError, ValueError):
            raise InputError(
                f"Line {number} holds a report that this randomizer does not give.",
                f"{number} 行目の報告は、このランダム化器のものではありません。",
            ) from None
    return form.gathered(rows, randomizer)


def to_arrow(randomizer: Randomizer, reports: ArrayLike, *, text: bool = False) -> Any:
    """Reports as a table of pyarrow, with the specification in its metadata.

    Args:
        randomizer: where the reports come from.
        reports: as `Randomizer.randomize` gives them.
        text: use only columns that a text file can hold, named after version and fingerprint.
    """
    import pyarrow as pa

    form = form_of(randomizer)
    types = form.types(randomizer, text)
    made = form.to_columns(form.array(reports, randomizer), text)
    columns = [column.cast(kind) for column, kind in zip(made, types.values(), strict=True)]
    mark = mark_of(randomizer) if text else ""
    told = {
        "sudare": REPORT_VERSION,
        "randomizer": randomizer.fingerprint(),
        "specification": specification(randomizer),
    }
    schema = pa.schema(
        [(name + mark, column.type) for name, column in zip(types, columns, strict=True)],
        metadata={METADATA: json.dumps(told, ensure_ascii=True).encode()},
    )
    return pa.table(columns, schema=schema)


def from_arrow(table: Any, randomizer: Randomizer | None = None) -> tuple[Randomizer, NDArray[Any]]:
    """The randomizer and the reports of a table of pyarrow.

    Args:
        table: what `to_arrow` made, also after a journey through Parquet.
        randomizer: the one that the reports must come from; by default the one that the table names.

    Raises:
        InputError: if the table holds no reports, or those of another version or another randomizer.
    """
    try:
        told = parse_json((table.schema.metadata or {})[METADATA], lenient=True)
        version, fingerprint, described = told["sudare"], told["randomizer"], told["specification"]
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "This table holds no reports of sudare: its metadata does not name a randomizer.",
            "この表は sudare の報告ではありません（メタデータにランダム化器がありません）。",
        ) from None
    own = randomizer.fingerprint() if randomizer is not None else fingerprint
    _require_same(version, fingerprint, own, "The table", "表")
    agreed = randomizer or read_randomizer(described)
    _require_same(version, fingerprint, agreed.fingerprint(), "The table", "表")
    return agreed, from_columns(table, agreed, text=False)


def write_reports(path: str | Path, randomizer: Randomizer, reports: ArrayLike) -> None:
    """Write reports to a file: ``.parquet``, ``.csv`` or ``.jsonl``, by its name.

    Args:
        path: the file; one that is there is overwritten.
        randomizer: where the reports come from.
        reports: as `Randomizer.randomize` gives them.

    Raises:
        OutputError: if the file cannot be written, or its name ends in something else.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect import KaryResponse, read_reports, write_reports
        >>> question = KaryResponse(("yes", "no"), 1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_reports(Path(folder) / "reports.parquet", question, ["yes", "no"])
        ...     read_reports(Path(folder) / "reports.parquet")[1].tolist()
        ['yes', 'no']
    """
    check_arguments(write_reports, locals(), "path", "randomizer")
    target = Path(path)
    try:
        if target.suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(to_arrow(randomizer, reports), target)
        elif target.suffix == ".csv":
            from pyarrow import csv

            csv.write_csv(to_arrow(randomizer, reports, text=True), target)
        elif target.suffix == ".jsonl":
            with target.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in report_lines(randomizer, reports))
        else:
            raise OutputError(
                f"Reports are written to .parquet, .csv or .jsonl, not to {target.name!r}.",
                f"報告の書き出し先は .parquet・.csv・.jsonl です。{target.name!r} には書けません。",
            )
    except OSError:
        raise OutputError(
            f"The file {str(target)!r} could not be written.", f"ファイル {str(target)!r} に書けませんでした。"
        ) from None


def read_reports(path: str | Path, randomizer: Randomizer | None = None) -> tuple[Randomizer, NDArray[Any]]:
    """The randomizer and the reports of a file that `write_reports` wrote.

    Args:
        path: the file.
        randomizer: the one that the reports must come from; a Parquet file names it by itself.

    Raises:
        InputError: if the file cannot be read, or holds reports of another version or another randomizer.
    """
    check_arguments(read_reports, locals(), "path", "randomizer")
    target = Path(path)
    try:
        require_regular_file(target)
        if target.suffix == ".parquet":
            import pyarrow.parquet as pq

            return from_arrow(pq.read_table(target), randomizer)
        if randomizer is None:
            raise InputError(
                f"The file {target.name!r} does not hold the specification of its reports: give the randomizer too.",
                f"ファイル {target.name!r} には報告の仕様が入っていません。ランダム化器も指定してください。",
            )
        if target.suffix == ".csv":
            return randomizer, from_columns(_read_csv(target, randomizer), randomizer, text=True)
        with target.open(encoding="utf-8") as file:
            return randomizer, read_lines(file, randomizer)
    except InputError:
        raise
    except (OSError, ValueError):  # pyarrow's errors are of these two kinds
        raise InputError(
            f"The file {str(target)!r} could not be read as reports.",
            f"ファイル {str(target)!r} を報告として読めませんでした。",
        ) from None


def _read_csv(path: Path, randomizer: Randomizer) -> Any:
    from pyarrow import csv

    types = form_of(randomizer).types(randomizer, text=True)
    marked = {name + mark_of(randomizer): kind for name, kind in types.items()}
    # Quoted or not, a text is itself: an empty one and one that reads "null" are values too.
    options = csv.ConvertOptions(column_types=marked, strings_can_be_null=False, null_values=[])
    with path.open(encoding="utf-8") as file:
        header = file.readline().strip().replace('"', "").split(",")
    if header != list(marked):
        raise InputError(
            f"The columns of {path.name!r} are not those of reports of this randomizer, which are "
            f"{', '.join(marked)}. They are of another version or another randomizer, or not reports.",
            f"{path.name!r} の列は、このランダム化器の報告の列（{', '.join(marked)}）ではありません。"
            f"別のバージョンや別のランダム化器の報告か、報告ではないファイルです。",
        )
    return csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=options)


def from_columns(table: Any, randomizer: Randomizer, *, text: bool) -> NDArray[Any]:
    """The reports of a table that has the columns of `to_arrow`, and no others."""
    form, mark = form_of(randomizer), mark_of(randomizer) if text else ""
    types = {name + mark: kind for name, kind in form.types(randomizer, text).items()}
    fits = table.column_names == list(types) and all(table.schema.field(name).type == types[name] for name in types)
    if not fits or any(column.null_count for column in table.columns):
        raise _not_reports()
    try:
        columns = [column.combine_chunks() for column in table.columns]
        return np.asarray(form.from_columns(columns, randomizer, text))
    except (TypeError, ValueError):
        raise _not_reports() from None


def mark_of(randomizer: Randomizer) -> str:
    """What the names of columns in text files end in: version and fingerprint."""
    return f"_v{REPORT_VERSION}_{randomizer.fingerprint()}"


def _require_same(version: object, fingerprint: object, own: str, english: str, japanese: str) -> None:
    if version != REPORT_VERSION or isinstance(version, bool):
        raise InputError(
            f"{english} holds reports of another version; version {REPORT_VERSION} is needed. Update sudare on both sides.",
            f"{japanese}の報告はバージョンが異なります。バージョン {REPORT_VERSION} が必要です。"
            f"送る側と集める側の sudare を揃えてください。",
        )
    if fingerprint != own:
        raise InputError(
            f"{english} holds reports of another randomizer: its fingerprint is not {own}. "
            f"Use the specification by which the reports were made.",
            f"{japanese}の報告は別のランダム化器のものです（フィンガープリントが {own} ではありません）。"
            f"報告を作ったときの仕様を使ってください。",
        )


def _not_reports() -> InputError:
    return InputError(
        "Some rows are not reports that this randomizer gives.", "このランダム化器の報告ではない行があります。"
    )


def _damaged() -> InputError:
    return InputError(
        "The specification of the randomizer is damaged, or was changed. Write it again with sudare.collect.specification.",
        "ランダム化器の仕様が壊れているか、書き換えられています。sudare.collect.specification で書き出し直してください。",
    )
