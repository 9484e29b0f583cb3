"""Settings of a named mechanism, checked when the plan is read: nothing is charged for a plan that cannot be carried out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NoReturn

from sudare.domain import CountTable, Domain
from sudare.errors import ParameterError, PlanError, SudareError
from sudare.privacy import Budget, Unit
from sudare.sections import Section
from sudare.tables.adaptive.adaptive_margins import read_settings
from sudare.tables.arguments import read_layout, read_noise, read_refinement, read_request
from sudare.tables.publish import METHODS, publishes_too_many_cells
from sudare.tables.recovery.arguments import WITHOUT_WEIGHT, read_recovery, read_total_share
from sudare.tables.recovery.recovering import measurements_for

__all__ = ["require_usable"]

RECOVERIES = ("negative-l2", "simplex", "lasso", "lm")


def require_usable(
    section: Section,
    name: str,
    domain: Domain,
    budget: Budget,
    unit: Unit,
    settings: Mapping[str, Any],
    public_total: bool,
    has_reference: bool,
) -> None:
    """Refuse an order of the cells, weights and shares that cannot be used, and what the mechanism does not take."""
    accepted = inspect.signature(METHODS[name]).parameters
    for key, is_given in (("public_total", public_total), ("reference", has_reference)):
        if is_given and key not in accepted:
            section.refuse(
                "name",
                f'cannot be "{name}" with a {key.replace("_", " ")}: it takes none',
                f"を「{name}」にする場合、{key} は使えません",
            )
    if settings.get("layout") == "sorted":
        _refuse_sorted(section)
    _require_size(section, name, domain, settings)
    nobody = CountTable.from_cells(domain, [], [])
    try:
        if "layout" in settings:
            read_layout(settings["layout"], nobody, name)
        if "refine" in settings:
            read_refinement(settings["refine"], name)
        if name in RECOVERIES:
            _read_as_recovery(name, nobody, budget, unit, settings, public_total, has_reference)
        if name == "adaptive-margins":
            read_settings(domain, budget, unit, **settings)
    except ParameterError as error:
        section.refuse(error.parameter, f"cannot be used: {error}", f"は使えません: {error}")
    except SudareError as error:
        raise PlanError(str(error), str(error)) from None


def _require_size(section: Section, name: str, domain: Domain, settings: Mapping[str, Any]) -> None:
    """Methods that publish every cell take no larger table than they can write."""
    if name == "histogram" and publishes_too_many_cells(name, domain.shape, settings):
        section.refuse(
            "name",
            f'cannot be "histogram" for {domain.cells:,} cells: it measures every cell, up to 2**24',
            f"を「histogram」にできるのは 2**24 セルまでです（指定: {domain.cells:,}）。すべてのセルを測定するためです",
        )
    if publishes_too_many_cells(name, domain.shape, settings):
        others = '"wide-tree", "nn-wavelet", "negative-l2"'
        section.refuse(
            "name",
            f'cannot be "{name}" for {domain.cells:,} cells: it publishes every cell with its noise, up to 2**28. Take a method '
            f"that publishes cells with people alone ({others}), or, for laplace and gaussian, state a threshold",
            f"を「{name}」にできるのは 2**28 セルまでです（指定: {domain.cells:,}）。すべてのセルがノイズ付きで公表さ"
            "れるためです。"
            f"人のいるセルだけを公表する方式（{others}）を選ぶか、laplace と gaussian では threshold を指定してください",
        )


def _refuse_sorted(section: Section) -> NoReturn:
    section.refuse(
        "layout",
        'cannot be "sorted": the order of the cells by their counts is read off the data. Which cell comes first would be '
        'published without noise. Take "morton", "raster", "hilbert" or "random"',
        'に "sorted" は使えません。件数順の並びは元データから決まるため、どのセルが先に来るかがノイズなしで公表されてしまいます。'
        '"morton"、"raster"、"hilbert"、"random" のいずれかを指定してください',
    )


def _read_as_recovery(
    name: str,
    nobody: CountTable,
    budget: Budget,
    unit: Unit,
    settings: Mapping[str, Any],
    public_total: bool,
    has_reference: bool,
) -> None:
    request = read_request(name, nobody, budget, unit=unit, public_total=public_total)
    total_share = read_total_share(settings.get("total_share"), request, name)
    noise = read_noise(settings.get("noise", "gaussian" if budget.currency == "rho" else "laplace"), name)
    recovery = WITHOUT_WEIGHT.get(name)
    if recovery is None:
        reference = CountTable.from_cells(nobody.domain, [], []) if has_reference else None
        weight, share = settings.get("weight"), settings.get("share_of_non_zeros")
        recovery = read_recovery(name, name, request, nobody, weight, share, reference)
    measurements_for(recovery, request, noise, settings.get("conversion", "optimal"), total_share)
