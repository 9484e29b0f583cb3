"""Which points of a grid are neighbours: the edges of their Delaunay triangulation, in whole numbers throughout.

Points are added from left to right, each joined to what it sees of the hull so far; then every edge whose two triangles
break the rule (no corner inside another triangle's circle) is turned, until none does (Lawson 1977). Of four points on one
circle the last in the list gets the edge, as if it lay a hair inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["delaunay_edges"]

Point = tuple[int, int]


def delaunay_edges(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Pairs of neighbouring points, by their places in the list, in ascending order.

    Args:
        points: at least two, all different, with whole numbers as coordinates.

    Example:
        >>> from sudare.examples.triangles import delaunay_edges
        >>> delaunay_edges([(0, 0), (4, 0), (0, 4), (9, 9)])
        [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    """
    order = sorted(range(len(points)), key=lambda place: points[place])
    opposite = _swept(points, order)
    if not opposite:  # all on one line
        return sorted((min(pair), max(pair)) for pair in pairwise(order))
    waiting = [edge for edge in opposite if edge[0] < edge[1]]
    while waiting:
        a, b = waiting.pop()
        c, d = opposite.get((a, b)), opposite.get((b, a))
        if c is None or d is None:
            continue
        inside = _inside(points[a], points[b], points[c], points[d])
        if inside < 0 or (inside == 0 and max(a, b) > max(c, d)):
            continue
        del opposite[a, b], opposite[b, a]
        for one, other, third in ((a, d, c), (d, b, c)):
            opposite[one, other], opposite[other, third], opposite[third, one] = third, one, other
        waiting += [(a, d), (d, b), (b, c), (c, a)]
    return sorted({(min(edge), max(edge)) for edge in opposite})


def _swept(points: Sequence[Point], order: Sequence[int]) -> dict[tuple[int, int], int]:
    """Some triangulation: of each directed edge the third corner of the triangle on its left."""
    opposite: dict[tuple[int, int], int] = {}

    def add(a: int, b: int, c: int) -> None:
        opposite[a, b], opposite[b, c], opposite[c, a] = c, a, b

    first, second = order[:2]
    apart = next((n for n in range(2, len(order)) if _turn(points[first], points[second], points[order[n]])), None)
    if apart is None:
        return opposite
    tip, chain = order[apart], list(order[:apart])
    if _turn(points[first], points[second], points[tip]) < 0:
        chain.reverse()
    for one, other in pairwise(chain):
        add(one, other, tip)
    hull = [*chain, tip]  # counterclockwise
    for place in order[apart + 1 :]:
        seen = [_turn(points[hull[n]], points[hull[(n + 1) % len(hull)]], points[place]) < 0 for n in range(len(hull))]
        start = next(n for n in range(len(hull)) if seen[n] and not seen[n - 1])
        hull = hull[start:] + hull[:start]
        number = sum(seen)
        for n in range(number):
            add(hull[(n + 1) % len(hull)], hull[n], place)
        hull = [hull[0], place, *hull[number:]]
    return opposite


def _turn(a: Point, b: Point, c: Point) -> int:
    """Above 0 if the way from a over b to c turns left, 0 if it goes straight on."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _inside(a: Point, b: Point, c: Point, d: Point) -> int:
    """Above 0 if d lies inside the circle through a, b and c, which are in counterclockwise order; 0 if on it."""
    (ax, ay), (bx, by), (cx, cy) = ((p[0] - d[0], p[1] - d[1]) for p in (a, b, c))
    aa, bb, cc = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    return ax * (by * cc - bb * cy) - ay * (bx * cc - bb * cx) + aa * (bx * cy - by * cx)
