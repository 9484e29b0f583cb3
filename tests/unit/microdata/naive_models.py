"""Models on lists of sensitive values, as slowly and plainly as their definitions; for comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from scipy.special import digamma

from sudare.microdata.models import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
)


def naive_holds(model: Model, values: Sequence[str], table: Sequence[str]) -> bool:
    """Whether a class with these sensitive values holds a model in a table with those."""
    here, there = Counter(values), Counter(table)
    n, whole = len(values), len(table)
    share = {value: Fraction(here[value], n) for value in there}
    base = {value: Fraction(there[value], whole) for value in there}
    ordered = sorted(here.values(), reverse=True)
    match model:
        case KAnonymity():
            return n >= model.k
        case DistinctDiversity():
            return len(here) >= model.l
        case EntropyDiversity(estimator="grassberger"):
            return len(here) >= model.l and naive_grassberger(ordered) >= math.log(model.l)
        case EntropyDiversity():
            return -sum(c / n * math.log(c / n) for c in ordered) >= math.log(model.l) - 1e-12
        case RecursiveDiversity():
            return len(here) >= model.l and ordered[0] < model.c * sum(ordered[model.l - 1 :])
        case AlphaAnonymity():
            return n >= model.k and ordered[0] <= model.alpha * n
        case BetaLikeness():
            return all(
                share[value] <= base[value]
                or (
                    (growth := (share[value] - base[value]) / base[value]) <= model.beta
                    and (not model.enhanced or growth <= -math.log(base[value]))
                )
                for value in here
            )
        case DeltaDisclosure():
            asked = there if model.absent else here
            return all(share[v] > 0 and abs(math.log(share[v] / base[v])) < model.delta for v in asked)
        case Closeness():
            return naive_distance(model, share, base) <= model.t
    raise AssertionError(model)


def naive_grassberger(counts: Sequence[int]) -> float:
    """Grassberger's estimate of an entropy (2003, equation 28), by the digamma function as the paper defines G."""
    rows = sum(counts)

    def g(n: int) -> float:
        return float(digamma(n) + (-1) ** n / 2 * (digamma((n + 1) / 2) - digamma(n / 2)))

    return g(rows) - sum(n * g(n) for n in counts) / rows


def naive_distance(model: Closeness, share: dict[str, Fraction], base: dict[str, Fraction]) -> Fraction:
    """The earth mover's distance."""
    if model.hierarchy is not None:
        paths = {path[0]: path for path in model.hierarchy.paths()}
        cost = Fraction(0)
        extra: dict[tuple[str, ...], Fraction] = {paths[v]: share[v] - base[v] for v in base}
        for level in range(1, model.hierarchy.height + 1):
            above: dict[tuple[str, ...], list[Fraction]] = {}
            for path, amount in extra.items():
                above.setdefault(path[1:], []).append(amount)
            for amounts in above.values():
                more = sum(a for a in amounts if a > 0)
                less = -sum(a for a in amounts if a < 0)
                cost += Fraction(level, model.hierarchy.height) * min(more, less)
            extra = {path: Fraction(sum(amounts)) for path, amounts in above.items()}
        return cost
    if model.order is False:
        return Fraction(sum(abs(share[v] - base[v]) for v in base), 2)
    moved, cost = Fraction(0), Fraction(0)
    for value in sorted(base) if model.order is True else model.order:
        moved += share.get(value, Fraction(0)) - base.get(value, Fraction(0))
        cost += abs(moved)
    count = len(base) if model.order is True else len(model.order)
    return cost / max(count - 1, 1)
