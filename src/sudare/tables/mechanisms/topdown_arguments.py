"""Reading what a caller asks of `topdown`: a hierarchy, queries, weights, invariants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.hierarchy import Hierarchy
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_fraction, shown
from sudare.tables.mechanisms.detail import Detail, Query

__all__ = [
    "name_of",
    "read_hierarchy",
    "read_invariants",
    "read_names",
    "read_queries",
    "read_query",
    "read_size",
    "read_weights",
]

MAX_DETAIL_CELLS = 1 << 12
MAX_LEVEL_CELLS = 1 << 28


def name_of(query: Query, area: Hierarchy, depth: int) -> str:
    """What a query on a level is called in events and measurements."""
    what = " x ".join(query) or "total"
    return f"{what} by {area.levels[depth].name}" if depth else what


def read_hierarchy(name: object, domain: Domain, function: str) -> Hierarchy:
    """The hierarchy of a domain: the only one, or the one with a name."""
    found = {attribute.name: attribute for attribute in domain.attributes if isinstance(attribute, Hierarchy)}
    if not found:
        got = Described(f"the attributes {[attribute.name for attribute in domain.attributes]}")
        raise ParameterError(
            "table",
            function,
            Words("a table whose domain has a Hierarchy among its attributes", "階層（hierarchy）の属性をもつ表"),
            got,
        )
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if not isinstance(name, str) or name not in found:
        raise ParameterError(
            "hierarchy", function, Words(f"one of {sorted(found)}", f"{sorted(found)} のいずれか"), shown(name)
        )
    return found[name]


def read_names(area: Hierarchy, detail: Detail, function: str) -> None:
    """Refuse names of attributes and levels that would make the names of queries mean two things."""
    for name in (*detail.names, *(level.name for level in area.levels)):
        if name == "total" or " x " in name or " by " in name:
            requirement = "a table whose attributes and levels are not named 'total', nor contain ' x ' or ' by '"
            raise ParameterError("table", function, requirement, name)


def read_size(area: Hierarchy, detail: Detail, function: str) -> None:
    """Refuse what would take more memory than is reasonable, or more noise than is of use."""
    if detail.cells > MAX_DETAIL_CELLS:
        requirement = Words(
            f"a table with at most {MAX_DETAIL_CELLS} cells for one area",
            f"1 地域あたり {MAX_DETAIL_CELLS} セル以下の表",
        )
        hint = "Merge values of its attributes, or leave one out."
        raise ParameterError("table", function, requirement, Described(f"{detail.cells} cells"), hint)
    cells = area.shape[0] * detail.cells
    if cells > MAX_LEVEL_CELLS:
        requirement = Words(
            "a table of at most 2**28 cells, which are all held in memory",
            "2**28 セル以下の表（すべてメモリに置くため）",
        )
        raise ParameterError("table", function, requirement, Described(f"{cells} cells"))


def read_query(query: object, detail: Detail, parameter: str, function: str) -> Query:
    """Names of attributes, brought into the order of the domain."""
    requirement = Words(
        f"a tuple of different names among {list(detail.names)}, empty for the total",
        f"{list(detail.names)} のうち互いに異なる名前の組（合計は空）",
    )
    if isinstance(query, str) or not isinstance(query, Sequence):
        got = f"{query!r:.60}" if isinstance(query, str) else f"an object of type {type(query).__name__}"
        raise ParameterError(parameter, function, requirement, Described(got))
    wrong = [name for name in query if not isinstance(name, str) or name not in detail.names]
    if wrong or len(set(query)) < len(query):
        got = "one name twice" if not wrong else f"{wrong[0]!r:.60}" if isinstance(wrong[0], str) else "something else"
        raise ParameterError(parameter, function, requirement, Described(got))
    return tuple(name for name in detail.names if name in query)


def read_queries(queries: object, detail: Detail) -> list[Query]:
    """The queries of every area; the detail itself must be one of them, because it is what is published."""
    if queries is None:
        usual: list[Query] = [(), *((name,) for name in detail.names), detail.names]
        return list(dict.fromkeys(usual))
    requirement = f"different tuples of names among {list(detail.names)}, all of them together being one"
    if isinstance(queries, str) or not isinstance(queries, Sequence):
        raise ParameterError("queries", "topdown", requirement, shown(queries))
    read = [read_query(query, detail, "queries", "topdown") for query in queries]
    if len(set(read)) < len(read):
        raise ParameterError("queries", "topdown", requirement, Described("one of them twice"))
    if detail.names not in read:
        hint = "An attribute that is not to be published together with the others belongs in another table."
        raise ParameterError("queries", "topdown", requirement, Described(f"no {detail.names}"), hint)
    return read


def read_weights(weights: object, parameter: str, what: list[str]) -> list[Fraction]:
    """A positive number for each of some things; 1 if left out."""
    if weights is None:
        return [Fraction(1)] * len(what)
    requirement = f"{len(what)} positive numbers, for {what}"
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != len(what):
        raise ParameterError(parameter, "topdown", requirement, shown(weights))
    read = [exact_fraction(weight, parameter, "topdown", requirement) for weight in weights]
    for number, weight in zip(read, weights, strict=True):
        if number <= 0:
            raise ParameterError(parameter, "topdown", requirement, shown(weight))
    return read


def read_invariants(invariants: object, area: Hierarchy, detail: Detail) -> list[Query | None]:
    """The query that is exact on each level, from the top; None where there is none.

    What is exact on a level is exact above it. Each level may have one such query, so that the exact numbers of a level
    must contain those of the levels below.
    """
    requirement = "pairs of a level and a query, such as ('prefecture', ())"
    if isinstance(invariants, str) or not isinstance(invariants, Sequence):
        raise ParameterError("invariants", "topdown", requirement, shown(invariants))
    exact: list[Query | None] = [None] * len(area.levels)
    for pair in invariants:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            got = f"{pair!r:.60}" if isinstance(pair, str) else f"an object of type {type(pair).__name__}"
            raise ParameterError("invariants", "topdown", requirement, Described(got))
        if not isinstance(pair[0], (str, int)):
            got = Described(f"a level of type {type(pair[0]).__name__}")
            raise ParameterError("invariants", "topdown", requirement, got)
        depth = area.depth_of(pair[0], "topdown", "invariants")
        query = read_query(pair[1], detail, "invariants", "topdown")
        if exact[depth] not in (None, query):
            name = area.levels[depth].name
            raise ParameterError(
                "invariants",
                "topdown",
                Words("one query for each level", "階層ごとに 1 つの問い合わせ"),
                Described(f"two for {name!r}"),
            )
        exact[depth] = query
    for depth, below in reversed(list(pairwise(range(len(exact))))):
        lower, upper = exact[below], exact[depth]
        if lower is not None and upper is not None and not set(lower) <= set(upper):
            names = f"{name_of(upper, area, depth)!r} and {name_of(lower, area, below)!r}"
            nested = "such that the query of a level contains those of the levels below, which are exact above too"
            raise ParameterError("invariants", "topdown", nested, Described(names))
        exact[depth] = lower if upper is None else upper
    return exact
