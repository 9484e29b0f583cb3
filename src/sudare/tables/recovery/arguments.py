"""Reading what only the recoveries take: weights, shares of the budget and of non-empty cells."""

from __future__ import annotations

from fractions import Fraction

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction, shown
from sudare.tables.arguments import MechanismRequest, read_reference
from sudare.tables.recovery.recovering import USUAL_TOTAL_SHARE, Recovery

__all__ = ["WITHOUT_WEIGHT", "Weight", "read_recovery", "read_total_share"]

Weight = Rational | None

WITHOUT_WEIGHT = {
    "simplex": Recovery("simplex", "divisor", Fraction(0)),
    "lm": Recovery("lm", "level", Fraction(0)),
}
"""Recoveries with nothing to choose."""


def read_total_share(share: object, request: MechanismRequest, function: str) -> Fraction:
    """The share of the budget that the total gets."""
    if share is None:
        return USUAL_TOTAL_SHARE
    if request.total_is_public:
        requirement = Words(
            "left out where the total is public: it is not measured then", "合計が公開の場合は省略（測定しないため）"
        )
        raise ParameterError("total_share", function, requirement, shown(share))
    requirement = Words("a number above 0 and below 1", "0 より大きく 1 より小さい数")
    exact = exact_fraction(share, "total_share", function, requirement)
    if not 0 < exact < 1:
        raise ParameterError("total_share", function, requirement, shown(share))
    return exact


def read_recovery(
    name: str,
    function: str,
    request: MechanismRequest,
    table: object,
    weight: object,
    share_of_non_zeros: object,
    reference: object,
) -> Recovery:
    """A recovery whose weight is a number, chosen on a reference, or by sparsity.

    Raises:
        ParameterError: if they do not belong together.
    """
    family, limit = ("divisor", 1) if name == "negative-l2" else ("level", 2**53)
    public: CountTable | None = None
    if reference is not None:
        public = read_reference(reference, table, request.table, function)
    way = weight
    if weight is None:
        way = "sparsity" if public is None else "reference"
    if isinstance(way, str) and way in ("sparsity", "reference"):
        _require_together(way, public is not None, share_of_non_zeros is not None, function)
        share = None if share_of_non_zeros is None else _read_share(share_of_non_zeros, function)
        return Recovery(name, "divisor" if way == "sparsity" else family, None, share, public)  # type: ignore[arg-type]
    _require_together("a number", public is not None, share_of_non_zeros is not None, function)
    exact = exact_fraction(way, "weight", function, _requirement(limit))
    if not 0 <= exact < limit:
        raise ParameterError("weight", function, _requirement(limit), shown(weight))
    return Recovery(name, family, exact)  # type: ignore[arg-type]


def _requirement(limit: int) -> str:
    range_ = "below 1" if limit == 1 else "2**53"
    return f"a number from 0 to {range_}, 'sparsity' or 'reference'"


def _require_together(way: str, has_reference: bool, has_share: bool, function: str) -> None:
    if way == "reference" and not has_reference:
        raise ParameterError(
            "reference",
            function,
            Words("a public table where the weight is chosen on one", "重みを公開の表から選ぶ場合は、その表"),
            Described("none"),
        )
    if way != "reference" and has_reference:
        requirement = Words(
            "left out unless the weight is chosen on it (weight='reference')", "weight='reference' の場合以外は省略"
        )
        raise ParameterError("reference", function, requirement, Described("a table"))
    if way != "sparsity" and has_share:
        requirement = Words(
            "left out unless the weight is chosen by it (weight='sparsity')", "weight='sparsity' の場合以外は省略"
        )
        raise ParameterError("share_of_non_zeros", function, requirement, Described("a number"))


def _read_share(share: object, function: str) -> Fraction:
    requirement = Words(
        "a number above 0 and at most 1: the public share of cells that are not empty",
        "0 より大きく 1 以下の数（空でないセルの、公開された割合）",
    )
    exact = exact_fraction(share, "share_of_non_zeros", function, requirement)
    if not 0 < exact <= 1:
        raise ParameterError("share_of_non_zeros", function, requirement, shown(share))
    return exact
