"""Hierarchies made by a rule: numbers into intervals, dates into months and years, meshes into coarser meshes, and texts.

Every builder takes the values (the leaves) in one of two forms. As a list, such as ``range(120)`` for ages, they are the domain:
the hierarchy depends on nothing in the data. As a column of the data they are only listed: the rule, and with it the group of any
value, still does not depend on the data, but which values there are does, and so do measures that count leaves (loss). Whatever
claims to be independent of the data must be given the domain.

Missing values have no place in a hierarchy unless ``missing`` says what they are called on the levels between; the hierarchy
then has an empty leaf.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.domain import mesh_cells, mesh_codes, mesh_level
from sudare.domain.mesh import MeshLevel
from sudare.errors import Described, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.hierarchies.numbers import interval_hierarchy
from sudare.microdata.hierarchies.rules import TOP, Values, build_hierarchy, listed_values
from sudare.microdata.records import CodedColumn
from sudare.parameters import exact_integer, shown

__all__ = [
    "DATE_STEPS",
    "Values",
    "date_hierarchy",
    "flat_hierarchy",
    "grouped_hierarchy",
    "interval_hierarchy",
    "masked_hierarchy",
    "mesh_hierarchy",
    "meshes_within",
]

DATE_STEPS = ("month", "quarter", "year", "decade")
MESH_PARENTS = {"1/8": "1/4", "1/4": "1/2", "1/2": "3", "3": "2", "2x": "2", "5x": "2", "2": "1"}


def date_hierarchy(
    name: str,
    values: Values,
    *,
    steps: Sequence[str] = DATE_STEPS,
    top: str | None = TOP,
    missing: str | None = None,
) -> Generalization:
    """Days such as 2020-01-31 in months, quarters, years and decades.

    Args:
        name: of the column.
        values: the domain, or a column of the data (see above).
        steps: which levels there are between the day and the top, from finer to coarser.
        top: the label of the last level; None to leave it out.
        missing: what missing values are called on the levels between.

    Raises:
        InputError: if a value is not such a date; names its row.

    Example:
        >>> from sudare.microdata.hierarchies.builders import date_hierarchy
        >>> date_hierarchy("born", ["1987-05-03"]).paths()
        [('1987-05-03', '1987-05', '1987-Q2', '1987', '1980s', '*')]
    """
    check_arguments(date_hierarchy, locals(), "values", "steps", "top", "missing")
    chosen = list(steps)
    if [step for step in DATE_STEPS if step in chosen] != chosen:
        raise ParameterError(
            "steps",
            "date_hierarchy",
            Words("some of " + ", ".join(DATE_STEPS) + ", in order", f"{', '.join(DATE_STEPS)} のいくつか（この順）"),
            shown(steps),
        )

    def groups(text: str) -> list[str]:
        if len(text) != len("2020-01-31"):
            raise ValueError
        day = date.fromisoformat(text)
        written = {
            "month": f"{day.year:04}-{day.month:02}",
            "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
            "year": f"{day.year:04}",
            "decade": f"{day.year // 10 * 10:04}s",
        }
        return [written[step] for step in chosen]

    wanted = Words("a date such as 2020-01-31", "2020-01-31 のような日付")
    return build_hierarchy(name, values, groups, len(chosen), top, missing, wanted)


def mesh_hierarchy(
    name: str,
    values: Values,
    level: str,
    *,
    coarser: Sequence[str] | None = None,
    top: str | None = TOP,
    missing: str | None = None,
) -> Generalization:
    """Codes of the regional mesh (JIS X 0410) in coarser meshes.

    Args:
        name: of the column.
        values: the domain (see ``meshes_within``), or a column of the data.
        level: of the codes, such as ``"1/2"`` for 500 m.
        coarser: the levels above, from finer to coarser; all that the code's digits nest in, up to ``"1"``, if left out.
        top: the label of the last level; None to leave it out.
        missing: what missing values are called on the levels between.

    Raises:
        InputError: if a value is no code of the level; names its row.
        ParameterError: if a level does not lie within the next.

    Example:
        >>> from sudare.microdata.hierarchies.builders import mesh_hierarchy
        >>> mesh_hierarchy("KEY_CODE", ["533946113"], "1/2").paths()
        [('533946113', '53394611', '533946', '5339', '*')]
    """
    check_arguments(mesh_hierarchy, locals(), "values", "coarser", "top", "missing")
    finest = mesh_level(level, "mesh_hierarchy")
    chain: list[str] = []
    if coarser is None:
        here = finest.name
        while here in MESH_PARENTS:
            here = MESH_PARENTS[here]
            chain.append(here)
    else:
        chain = list(coarser)
    levels = [finest, *(mesh_level(each, "mesh_hierarchy") for each in chain)]
    if any(
        fine.divisions % coarse.divisions or fine.divisions == coarse.divisions for fine, coarse in pairwise(levels)
    ):
        raise ParameterError(
            "coarser",
            "mesh_hierarchy",
            Words("levels that lie in one another", "互いに入れ子になる段階"),
            shown(str(chain)),
        )

    listed = values if isinstance(values, CodedColumn) else tuple(values)
    texts = list(dict.fromkeys(str(label) for label in listed_values(listed) if label is not None and label != ""))
    try:
        found = dict(zip(texts, _coarser_codes(texts, levels), strict=True))
    except ParameterError:
        found = {}

    def groups(text: str) -> tuple[str, ...]:
        # If one of them is no code, they are looked at one by one. A ParameterError is a ValueError: the row is named.
        return found[text] if found else _coarser_codes([text], levels)[0]

    wanted = Words(
        f"a mesh code of {finest.digits} digits at level {finest.name!r}",
        f"レベル {finest.name!r} の {finest.digits} 桁のメッシュコード",
    )
    return build_hierarchy(name, listed, groups, len(chain), top, missing, wanted)


def _coarser_codes(texts: Sequence[str], levels: Sequence[MeshLevel]) -> list[tuple[str, ...]]:
    """The codes of each mesh on all levels but its own, which is the first."""
    rows, columns = mesh_cells(np.array(texts, dtype=object), levels[0])
    found = []
    for coarse in levels[1:]:
        ratio = levels[0].divisions // coarse.divisions
        codes = mesh_codes(rows // ratio, columns // ratio, coarse)
        found.append([str(code).zfill(coarse.digits) for code in codes.tolist()])
    return list(zip(*found, strict=True)) if found else [()] * len(texts)


def meshes_within(codes: Iterable[str | int], coarse: str, fine: str) -> list[str]:
    """All meshes of a finer level within some meshes: a domain that does not depend on the data.

    Args:
        codes: of the coarse meshes.
        coarse: their level, such as ``"1"``.
        fine: the level of the meshes within them.

    Example:
        >>> from sudare.microdata.hierarchies.builders import meshes_within
        >>> meshes_within(["53394611"], "3", "1/2")
        ['533946111', '533946112', '533946113', '533946114']
    """
    check_arguments(meshes_within, locals(), "codes")
    outer, inner = mesh_level(coarse, "meshes_within"), mesh_level(fine, "meshes_within")
    if inner.divisions % outer.divisions:
        raise ParameterError(
            "fine",
            "meshes_within",
            Words(f"a level within {outer.name!r}", f"{outer.name!r} に含まれる段階"),
            shown(fine),
        )
    ratio = inner.divisions // outer.divisions
    rows, columns = mesh_cells([str(code) for code in codes], outer)
    steps = np.arange(ratio)
    all_rows = (rows[:, None, None] * ratio + steps[None, :, None]).repeat(ratio, axis=2).ravel()
    all_columns = (columns[:, None, None] * ratio + steps[None, None, :]).repeat(ratio, axis=1).ravel()
    return [str(code).zfill(inner.digits) for code in mesh_codes(all_rows, all_columns, inner).tolist()]


def masked_hierarchy(
    name: str,
    values: Values,
    *,
    mask: str = "*",
    from_left: bool = False,
    missing: str | None = None,
    levels: int | None = None,
) -> Generalization:
    """Texts of one length, such as zip codes, with one letter more masked on each level: 81667, 8166*, 816**, ...

    Without ``levels`` there are as many as the first text has letters: whatever claims to be independent of the data needs them.

    Args:
        name: of the column.
        values: the domain, or a column of the data (see above).
        mask: what stands for a masked letter.
        from_left: whether the first letters go first.
        missing: what missing values are called on the levels between.
        levels: how many there are above the texts, which may then be of any length: a shorter one is masked to its end, a longer
            one keeps its other letters, and missing values are called the same on all of them.

    Raises:
        InputError: if a text is longer or shorter than the first, without ``levels``; names its row. Pad such texts before.

    Example:
        >>> from sudare.microdata.hierarchies.builders import masked_hierarchy
        >>> masked_hierarchy("zip", ["81667", "81675"]).paths()[0]
        ('81667', '8166*', '816**', '81***', '8****', '*****')
    """
    check_arguments(masked_hierarchy, locals(), "values", "missing")
    if not isinstance(mask, str) or len(mask) != 1:
        raise ParameterError("mask", "masked_hierarchy", Words("one letter", "1 文字"), shown(mask))
    listed = values if isinstance(values, CodedColumn) else tuple(values)
    first = next((str(label) for label in listed_values(listed) if label is not None and label != ""), mask)
    between = len(first) - 1
    if levels is not None:
        between = exact_integer(
            levels, "levels", "masked_hierarchy", Words("a whole number >= 1", "1 以上の整数"), smallest=1
        )

    def groups(text: str) -> list[str]:
        if levels is None and len(text) != len(first):
            raise ValueError
        masked = [min(gone, len(text)) for gone in range(1, between + 1)]
        if from_left:
            return [mask * gone + text[gone:] for gone in masked]
        return [text[: len(text) - gone] + mask * gone for gone in masked]

    return build_hierarchy(
        name,
        listed,
        groups,
        between,
        mask * len(first) if levels is None else None,
        missing,
        Words("a text of the same length as the others", "他と同じ長さの文字列"),
    )


def grouped_hierarchy(
    name: str, groups: Mapping[str, Any], *, top: str | None = TOP, missing: str | None = None
) -> Generalization:
    """Categories in groups that are listed: a mapping of groups to values, or to mappings of finer groups, and so on.

    Args:
        name: of the column.
        groups: by name; all values equally deep.
        top: the label of the last level; None to leave it out.
        missing: what missing values are called on the levels between.

    Raises:
        ParameterError: if values are not equally deep, or one is there twice.

    Example:
        >>> from sudare.microdata.hierarchies.builders import grouped_hierarchy
        >>> grouped_hierarchy("job", {"health": ["nurse", "doctor"], "school": ["teacher"]}).paths()[2]
        ('teacher', 'school', '*')
    """
    check_arguments(grouped_hierarchy, locals(), "top", "missing")
    found: list[tuple[str, ...]] = []

    def walk(part: Any, above: tuple[str, ...]) -> None:
        if isinstance(part, Mapping):
            for label, inner in part.items():
                walk(inner, (str(label), *above))
        elif isinstance(part, (list, tuple, set, frozenset, range)):
            found.extend(
                (str(value), *above) for value in (sorted(part) if isinstance(part, (set, frozenset)) else part)
            )
        else:
            raise ParameterError(
                "groups",
                "grouped_hierarchy",
                Words("mappings, and lists of values within", "対応表と、その中の値のリスト"),
                shown(part),
            )

    walk(groups, ())
    lengths = {len(path) for path in found}
    if not isinstance(groups, Mapping) or len(lengths) != 1:
        got = Described("none" if not found else "values of different depth")
        raise ParameterError(
            "groups", "grouped_hierarchy", Words("groups of values that are equally deep", "同じ深さの区分"), got
        )
    by_value = {path[0]: path[1:] for path in found}
    if len(by_value) != len(found):
        raise ParameterError(
            "groups",
            "grouped_hierarchy",
            Words("each value in one group", "どの値も 1 つの区分に属すること"),
            Described("a value twice"),
        )
    values = [path[0] for path in found]
    between = min(lengths) - 1
    return build_hierarchy(name, values, lambda text: by_value[text], between, top, missing, Words("a value", "値"))


def flat_hierarchy(name: str, values: Values, *, top: str = TOP) -> Generalization:
    """Values that are published as they are, or not at all. A missing value is one of them.

    Args:
        name: of the column.
        values: that it has.
        top: what all of them become.

    Example:
        >>> from sudare.microdata.hierarchies.builders import flat_hierarchy
        >>> flat_hierarchy("sex", ["f", "m"]).paths()
        [('f', '*'), ('m', '*')]
    """
    check_arguments(flat_hierarchy, locals(), "values", "top")
    listed = values if isinstance(values, CodedColumn) else tuple(values)
    has_missing = any(label is None or label == "" for label in listed_values(listed))
    return build_hierarchy(name, listed, lambda text: (), 0, top, top if has_missing else None, Words("a value", "値"))
