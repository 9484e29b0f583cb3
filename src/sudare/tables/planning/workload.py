"""What matters in a table: cells, areas, ranges, margins, totals, levels of a hierarchy, each with a weight.

A workload is typed as one part, such as ``"cells"``, as a list of parts, or as a mapping from parts to weights:
``{"cells": 1, "areas": 2, 16: 3}``. A part is a word, the side of an area, ``("margins", 2)`` for all margins of up to two
attributes, the name of a level or of an attribute, or a tuple of such names for one margin. Which parts there are follows from
the kind of table: a `Vocabulary`. A plan makes the weighted geometric mean of the errors of all parts small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction, shown

__all__ = ["MARGINS", "PlainPart", "Vocabulary", "Workload", "WorkloadPart", "read_workload"]

PlainPart = str | int | tuple[str | int, ...]
Workload = str | Sequence[PlainPart] | Mapping[Any, Rational] | None
"""As a user types it; keys of a mapping are parts."""

MARGINS = "margins"
PARAMETER = "workload"
MAX_PARTS = 1 << 12
OTHERS = Described("something else")


@dataclass(frozen=True)
class WorkloadPart:
    """One thing that matters.

    Attributes:
        weight: how much, compared with the other parts.
        word: such as ``"cells"``; empty where the part is given by its side, level or attributes.
        order: of margins: of up to this many attributes; left out, of as many as is usual.
        side: of an area.
        level: the name of a level of a hierarchy.
        attributes: of one margin, by name.
    """

    weight: float = 1.0
    word: str = ""
    order: int | None = None
    side: int | None = None
    level: str | None = None
    attributes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Vocabulary:
    """Of which parts the workload of a kind of table may consist.

    Attributes:
        words: such as ``"cells"``.
        longest: the side of the largest area; 0 where there are no areas.
        attributes: names of attributes that have margins.
        levels: names of levels of a hierarchy.
    """

    words: tuple[str, ...]
    longest: int = 0
    attributes: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """What is allowed, in words."""
        allowed = [repr(word) for word in self.words]
        if self.attributes and MARGINS in self.words:
            allowed.append(f"('{MARGINS}', k) with k from 1 to {len(self.attributes)}")
        if self.levels:
            allowed.append(f"levels {list(self.levels)}")
        if self.attributes:
            allowed.append(f"margins of the attributes {list(self.attributes)}")
        if self.longest:
            allowed.append("sides of areas such as (1, 4, 16)")
        return f"left out, or one or several of: {', '.join(allowed)}; with weights as in {{{self.words[0]!r}: 2}}"


def read_workload(workload: object, vocabulary: Vocabulary, function: str) -> tuple[WorkloadPart, ...]:
    """The parts of a workload, each once; none if it was left out.

    Raises:
        ParameterError: if it is none of the forms, or a part is not in the vocabulary; the message says what is.

    Example:
        >>> from sudare.tables.planning.workload import Vocabulary, read_workload
        >>> words = Vocabulary(("cells", "margins"), 64, ("age", "sex"))
        >>> [(part.word, part.side, part.weight) for part in read_workload({"cells": 1, 16: 0.5}, words, "plan_table")]
        [('cells', None, 1.0), ('', 16, 0.5)]
    """
    if workload is None:
        return ()
    if isinstance(workload, str):
        return (_read_part(workload, vocabulary, function, workload),)
    if isinstance(workload, Mapping):
        pairs: Iterable[tuple[object, object]] = workload.items()
    elif isinstance(workload, (list, tuple, range)) and len(workload) <= MAX_PARTS:
        is_order = len(workload) == 2 and workload[0] == MARGINS and not isinstance(workload[1], str)
        pairs = [(tuple(workload), 1)] if is_order else [(part, 1) for part in dict.fromkeys(map(_plain, workload))]
    else:
        raise ParameterError(PARAMETER, function, vocabulary.requirement, shown(workload))
    parts: dict[WorkloadPart, float] = {}
    for given, weight in pairs:
        part = _read_part(given, vocabulary, function)
        if isinstance(weight, (str, bytes)):
            raise ParameterError(
                PARAMETER, function, Words("parts with weights above 0", "0 より大きい重みの付いた部分"), OTHERS
            )
        exact = exact_fraction(
            weight, PARAMETER, function, Words("parts with weights above 0", "0 より大きい重みの付いた部分")
        )
        if exact <= 0:
            raise ParameterError(
                PARAMETER, function, Words("parts with weights above 0", "0 より大きい重みの付いた部分"), OTHERS
            )
        parts[part] = parts.get(part, 0.0) + float(exact)
    if not parts:
        raise ParameterError(PARAMETER, function, vocabulary.requirement, Described("nothing"))
    return tuple(replace(part, weight=weight) for part, weight in parts.items())


def _plain(part: object) -> object:
    """A part in a form that can be compared with others."""
    if isinstance(part, list):
        return tuple(map(_plain, part))
    is_plain = isinstance(part, (str, tuple, int, np.integer)) and not isinstance(part, (bool, np.bool_))
    return part if is_plain else Described("something else")


def _read_part(given: object, vocabulary: Vocabulary, function: str, got: object = OTHERS) -> WorkloadPart:
    """A part; a table handed in by mistake has many, of which none is shown."""
    if isinstance(given, str):
        if given in vocabulary.words:
            return WorkloadPart(word=given)
        return _read_margin((given,), got, vocabulary, function)
    if isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.bool_)):
        return WorkloadPart(side=_read_side(int(given), vocabulary, function))
    if isinstance(given, tuple) and given:
        is_order = given[0] == MARGINS and len(given) == 2 and isinstance(given[1], int)
        if is_order and MARGINS in vocabulary.words and vocabulary.attributes:
            return WorkloadPart(word=MARGINS, order=_read_order(given[1], vocabulary, function))
        return _read_margin(given, got, vocabulary, function)
    raise ParameterError(PARAMETER, function, vocabulary.requirement, got)


def _read_margin(names: tuple[object, ...], got: object, vocabulary: Vocabulary, function: str) -> WorkloadPart:
    """A level, a margin, or a margin in the areas of a level."""
    levels = [name for name in names if isinstance(name, str) and name in vocabulary.levels]
    others = [name for name in names if name not in levels]
    is_known = all(isinstance(name, str) and name in vocabulary.attributes for name in others)
    if not is_known or len(levels) > 1 or len(set(names)) < len(names):
        raise ParameterError(PARAMETER, function, vocabulary.requirement, got)
    attributes = tuple(name for name in vocabulary.attributes if name in others) or None
    return WorkloadPart(level=levels[0] if levels else None, attributes=attributes)


def _read_order(order: int, vocabulary: Vocabulary, function: str) -> int:
    most = len(vocabulary.attributes)
    if isinstance(order, bool) or not 1 <= order <= most:
        requirement = Words(
            f"('{MARGINS}', k) with k from 1 to {most}, the number of attributes",
            f"('{MARGINS}', k)（k は 1 以上、属性数 {most} 以下）",
        )
        raise ParameterError(PARAMETER, function, requirement, OTHERS)
    return order


def _read_side(side: int, vocabulary: Vocabulary, function: str) -> int:
    if not vocabulary.longest:
        raise ParameterError(PARAMETER, function, vocabulary.requirement, OTHERS)
    if not 1 <= side <= vocabulary.longest:
        requirement = Words(
            f"sides from 1 to {vocabulary.longest}, the longest axis",
            f"1 以上、最も長い軸 {vocabulary.longest} 以下の辺",
        )
        raise ParameterError(PARAMETER, function, requirement, OTHERS)
    if side & (side - 1):
        raise ParameterError(
            PARAMETER,
            function,
            Words("sides that are powers of two, as the tree's areas are", "2 の累乗の辺（木の領域に合わせるため）"),
            OTHERS,
        )
    return side
