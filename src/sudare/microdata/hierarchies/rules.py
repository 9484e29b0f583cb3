"""From a rule for one value to a hierarchy: the part that all builders share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sudare.bilingual import Words
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn

__all__ = ["TOP", "Values", "build_hierarchy", "listed_values"]

Values = CodedColumn | Iterable[object]
"""A column of the data, or the domain."""

TOP = "*"


def listed_values(values: Values) -> tuple[object, ...]:
    """The different values of a column, or those of a domain."""
    return values.labels if isinstance(values, CodedColumn) else tuple(values)


def build_hierarchy(
    name: str,
    values: Values,
    groups: Callable[[str], Sequence[str]],
    between: int,
    top: str | None,
    missing: str | None,
    wanted: Words,
) -> Generalization:
    """A hierarchy of the groups of each value; a value that the rule does not take is refused with its place.

    Args:
        name: of the column.
        values: the domain, or a column of the data.
        groups: from a value to its groups on the levels between; raises ValueError for a value that it does not take.
        between: how many groups that are, for whichever value: missing values have as many, though nobody has a value.
        top: the label of the last level; None if the groups hold it already.
        missing: what missing values are called on the levels between; None if they have no place.
        wanted: what a value must be.
    """
    paths: dict[str, tuple[str, ...]] = {}
    has_missing = False
    for place, label in enumerate(listed_values(values)):
        if label is None or label == "":
            has_missing = True
            continue
        text = str(label)
        if text in paths:
            continue
        try:
            paths[text] = (text, *groups(text), *(() if top is None else (top,)))
        except ValueError:
            raise _refused(name, values, place, text, wanted) from None
    if missing is not None and (has_missing or not isinstance(values, CodedColumn)):
        paths[""] = ("", *(missing,) * between, *(() if top is None else (top,)))
    if not paths:
        raise ParameterError("values", "a hierarchy", Words("at least one value", "1 個以上の値"), Described("none"))
    return Generalization.of_paths(name, list(paths.values()))


def _refused(name: str, values: Values, place: int, text: str, wanted: Words) -> InputError:
    if isinstance(values, CodedColumn):
        # A value of the data is not told; one of a domain was typed by the user.
        row = values.first_row(place)
        found, found_ja = f"a value in row {row} of the data", f"データ {row} 行目の値"
    else:
        found, found_ja = f"{text!r:.60} at place {place + 1} of the values", f"{place + 1} 番目の値 ({text!r:.60})"
    return InputError(
        f"The column {name!r} has {found} which is not {wanted.english}. Correct it, or take another hierarchy.",
        f"列 {name!r} の{found_ja}は{wanted.japanese}ではありません。直すか、別の階層を使ってください。",
    )
