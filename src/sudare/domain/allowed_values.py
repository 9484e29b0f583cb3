"""Which values an attribute takes, in words: phrases that follow *must be*."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = [
    "CODE_OF_DIGITS",
    "WHOLE_NUMBERS",
    "codes_of",
    "labels_like",
    "leaves_like",
    "listed_meshes",
    "may_lie_outside",
    "meshes_within",
    "numbers_between",
    "point_in",
    "points_within",
    "times_between",
    "whole_numbers_between",
]

WHOLE_NUMBERS = Words("whole numbers", "整数")
CODE_OF_DIGITS = Words("a mesh code of digits", "数字のメッシュコード")
_WHOLE_NUMBERS = Words("whole numbers from {first} to {last}", "{first} から {last} までの整数")
_NUMBERS = Words("numbers from {first} to below {end}", "{first} 以上 {end} 未満の数")
_LABELS = Words("one of its {number} labels, such as {label}", "{label} など {number} 個のラベルのいずれか")
_LEAVES = Words("one of its {number} leaf codes, such as {code}", "{code} など {number} 個の末端のコードのいずれか")
_CODES = Words("codes of {digits} digits at level {level}", "レベル {level} の {digits} 桁のコード")
_TIMES = Words("times from {first} to {last}", "{first} から {last} までの時刻")
_WINDOW = Words(
    "mesh codes within {rows} rows and {columns} columns of the window",
    "計画の範囲（{rows} 行 × {columns} 列）内のメッシュコード",
)
_LISTED = Words("one of the {number} listed meshes", "計画の一覧にある {number} 個のメッシュのいずれか")
_POINTS = Words(
    "a point within {rows} rows and {columns} columns of the window",
    "計画の範囲（{rows} 行 × {columns} 列）内の地点",
)
_POINT_IN = Words("a point in {meshes}", "{meshes}の中の地点")
_EXTENTS = {_TIMES, _WINDOW, _LISTED, _POINTS, _POINT_IN}


def whole_numbers_between(first: int, last: int) -> Words:
    """Whole numbers, both ends among them."""
    return _WHOLE_NUMBERS.format(first=first, last=last)


def numbers_between(first: object, end: object) -> Words:
    """Numbers, without the upper end."""
    return _NUMBERS.format(first=first, end=end)


def labels_like(number: int, label: object) -> Words:
    """One of this many labels, such as this one, which the plan names."""
    return _LABELS.format(number=number, label=f"{label!r:.40}")


def leaves_like(number: int, code: object) -> Words:
    """One of this many codes of leaves, such as this one, which the hierarchy names."""
    return _LEAVES.format(number=number, code=f"{code!r:.40}")


def codes_of(digits: int, level: str) -> Words:
    """Mesh codes of a level."""
    return _CODES.format(digits=digits, level=repr(level))


def times_between(first: object, last: object) -> Words:
    """Times of a span."""
    return _TIMES.format(first=first, last=last)


def meshes_within(rows: int, columns: int) -> Words:
    """Meshes of a window."""
    return _WINDOW.format(rows=rows, columns=columns)


def listed_meshes(number: int) -> Words:
    """Meshes of a list."""
    return _LISTED.format(number=number)


def points_within(rows: int, columns: int) -> Words:
    """Points in a window of meshes."""
    return _POINTS.format(rows=rows, columns=columns)


def point_in(meshes: Words) -> Words:
    """Points in listed meshes."""
    return _POINT_IN.format(meshes=meshes)


def may_lie_outside(allowed: Words) -> bool:
    """Whether these are the values of an extent: then rows outside of it can be left out."""
    return Words(allowed.en, allowed.ja) in _EXTENTS
