"""Settings of a named mechanism, checked when the plan is read: nothing is charged for a plan that cannot be carried out."""

from __future__ import annotations

from typing import NoReturn

from sudare.domain import CountTable
from sudare.errors import ParameterError, PlanError, SudareError, words_of_error
from sudare.sections import Section, suggest
from sudare.tables.arguments import read_layout, read_refinement
from sudare.tables.mechanism import Mechanism, PlannedCall
from sudare.tables.planning.workload import Workload
from sudare.tables.registry import names_with_workloads

__all__ = ["require_settings", "require_usable"]


def require_settings(section: Section, mechanism: Mechanism, call: PlannedCall, workload: Workload) -> None:
    """Refuse a budget that its noise cannot spend, and settings that the mechanism does not take.

    Args:
        section: of the plan that names the mechanism.
        mechanism: that is named.
        call: what the plan asks of it.
        workload: the value under the key, where it is no setting of the mechanism.
    """
    name = mechanism.name
    if mechanism.noises == ("gaussian",) and call.budget.currency == "epsilon":
        section.refuse(
            "name",
            f'cannot be "{name}" with epsilon alone: state delta or rho under [budget]',
            f'は epsilon だけの予算では "{name}" にできません。[budget] に delta か rho を指定してください',
        )
    if mechanism.noises == ("laplace",) and call.budget.currency == "rho":
        section.refuse(
            "name",
            f'cannot be "{name}" with rho: state epsilon under [budget]',
            f'は rho の予算では "{name}" にできません。[budget] に epsilon を指定してください',
        )
    if workload is not None:
        names = ", ".join(f'"{one}"' for one in names_with_workloads())
        section.refuse(
            "workload",
            f'is only for name = "auto" and {names}',
            f'は name = "auto" か {names} のときだけ使えます',
        )
    for key in call.settings:
        if key not in mechanism.settings:
            hint = suggest(key, mechanism.settings)
            listed = ", ".join(mechanism.settings)
            section.refuse(
                key,
                f'is not a setting of "{name}".{hint.english} It takes: {listed}',
                f"は「{name}」の設定ではありません。{hint.japanese}使える設定: {listed}",
            )


def require_usable(section: Section, mechanism: Mechanism, call: PlannedCall) -> None:
    """Refuse an order of the cells, weights and shares that cannot be used, and what the mechanism does not take."""
    name, settings = mechanism.name, call.settings
    for key, is_given in (("public_total", call.public_total), ("reference", call.has_reference)):
        if is_given and key not in mechanism.parameters:
            section.refuse(
                "name",
                f'cannot be "{name}" with a {key.replace("_", " ")}: it takes none',
                f"を「{name}」にする場合、{key} は使えません",
            )
    if settings.get("layout") == "sorted":
        _refuse_sorted(section)
    if mechanism.limit is not None and mechanism.is_too_large(call.domain.shape, settings):
        reason = mechanism.limit.words.format(name=name, cells=call.domain.cells)
        section.refuse("name", reason.english, reason.japanese)
    try:
        if "layout" in settings:
            read_layout(settings["layout"], CountTable.from_cells(call.domain, [], []), name)
        if "refine" in settings:
            read_refinement(settings["refine"], name)
        mechanism.check(call)
    except ParameterError as error:
        section.refuse_parameter(error.parameter, error)
    except SudareError as error:
        raise PlanError(words_of_error(error)) from None


def _refuse_sorted(section: Section) -> NoReturn:
    section.refuse(
        "layout",
        'cannot be "sorted": the order of the cells by their counts is read off the data. Which cell comes first would be '
        'published without noise. Take "morton", "raster", "hilbert" or "random"',
        'に "sorted" は使えません。件数順の並びは元データから決まるため、どのセルが先に来るかがノイズなしで公表されてしまいます。'
        '"morton"、"raster"、"hilbert"、"random" のいずれかを指定してください',
    )
