"""Adaptive margins: a table of many attributes by the margins that tell most about it, and a model of them.

Proof: ``adaptive_margins.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.parameters import exact_integer
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.adaptive.measured import MeasuredPeople
from sudare.tables.adaptive.prices import Prices, prices_for
from sudare.tables.adaptive.raking import attribute_estimates, raked
from sudare.tables.adaptive.rounds import CHOOSING, MeasuredMargins, attribute_parts, measure_in_rounds
from sudare.tables.adaptive.table_drawing import draw_counts
from sudare.tables.adaptive.workload import CandidateMargins, attribute_sizes, candidates_for, read_workload
from sudare.tables.arguments import read_request
from sudare.tables.mechanism import Mechanism, PlannedCall, SettingWords
from sudare.tables.published import NoisyCounts, Published

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.adaptive.workload import MarginWorkload

__all__ = ["ADAPTIVE_MARGINS", "AdaptiveSettings", "adaptive_margins", "read_settings"]

NAME, FUNCTION = "adaptive-margins", "adaptive_margins"
ROUNDS_PER_ATTRIBUTE = 16
PURE_ROUNDS_PER_ATTRIBUTE = 2
"""Of a pure epsilon, of which every further round costs more."""

MARGIN_CELLS = 1 << 16
MODEL_CELLS = 1 << 18
MAX_CELLS = 1 << 24


def adaptive_margins(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    workload_margins: MarginWorkload = None,
    unit: Unit | None = None,
    public_total: bool | int = False,
    rounds: int | None = None,
    margin_cells: int = MARGIN_CELLS,
    model_cells: int = MODEL_CELLS,
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table of many attributes by noisy margins that are chosen one after the other, and a model of them.

    Every attribute is counted by itself with noise. Then, in rounds, a margin (the counts of all combinations of some attributes'
    values) is chosen where the model of all that was measured so far is worst for the workload, and measured. The published table
    is drawn from the last model: whole numbers >= 0, with about the margins that the model has. Memory grows with the margins,
    the model and the people, not with the number of cells. How accurate the result is depends on the data.

    Guarantee: the budget, for the unit: pure epsilon with Laplace noise, or with Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit is counted in every margin; all of its cells may meet in one place of it.

    Proof: ``adaptive_margins.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        workload_margins: which margins matter: all of up to this many attributes (3 if left out), or a list of margins, each a
            list of attributes' names, or such margins (as tuples) with their weights.
        unit: who is protected; one person in one cell if left out.
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another.
        rounds: into how many parts the budget is cut at first; 16 for each attribute if left out, 2 for a pure epsilon.
        margin_cells: margins of several attributes with more cells are not measured.
        model_cells: how many cells the tables of the model may have together.
        conversion: how (epsilon, delta) is turned into rho.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw noise. The result of a research source does not depend on it.
        keep_measurements: whether the noisy margins are part of the result.

    Returns:
        The drawn table, with the event, which states every choice and every measurement, and on request the margins.

    Raises:
        ParameterError: if an argument is not what it should be, or an attribute has too many values.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        McKenna, Mullins, Sheldon, Miklau: AIM: an adaptive and iterative mechanism for differentially private synthetic data
        (2022).

    Example:
        >>> import numpy as np, sudare
        >>> counts = np.zeros((4, 3, 2, 2), dtype=np.int64); counts[0, 1], counts[2, 2] = 500, 300
        >>> published, event = sudare.tables.adaptive_margins(counts, sudare.Budget(rho=0.5))
        >>> published.domain.shape, abs(published.total - 3200) < 500, str(event.cost)
        ((4, 3, 2, 2), True, 'rho = 0.5')
    """
    request = read_request(
        FUNCTION,
        table,
        budget,
        unit=unit,
        public_total=public_total,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    domain = request.table.domain
    settings = read_settings(
        domain,
        request.budget,
        request.unit,
        workload_margins=workload_margins,
        rounds=rounds,
        margin_cells=margin_cells,
        model_cells=model_cells,
        conversion=conversion,
    )
    seen, model = measure_in_rounds(
        _people_of(request.table, settings.sizes),
        settings.candidates,
        settings.prices,
        request.source,
        known_total=request.table.total if request.total_is_public else None,
        rounds=settings.rounds,
        model_cells=settings.model_cells,
        threads=request.threads,
    )
    event = request.state(NAME, seen.measurements, conversion)
    total = request.table.total if request.total_is_public else min(round(seen.total_or_nobody), CountTable.highest)
    model = raked(model, attribute_estimates(seen.evidence, settings.sizes, seen.total))
    places, counts = draw_counts(model, total, request.source)
    cells = CountTable.from_cells(domain, _keys_of(domain, places), counts)
    return Published(cells, event, measurements=_notes(seen, domain) if request.keeps_measurements else None)


@dataclass(frozen=True)
class AdaptiveSettings:
    """What a run is made of, checked: nothing of it depends on the counts.

    Attributes:
        sizes: how many values each attribute has.
        candidates: margins that may be measured.
        prices: what may be spent, and what it buys.
        rounds: into how many parts the budget is cut at first.
        model_cells: how many cells the tables of the model may have together.
    """

    sizes: tuple[int, ...]
    candidates: CandidateMargins
    prices: Prices
    rounds: int
    model_cells: int


def read_settings(
    domain: Domain,
    budget: Budget,
    unit: Unit,
    *,
    workload_margins: MarginWorkload = None,
    rounds: int | None = None,
    margin_cells: int = MARGIN_CELLS,
    model_cells: int = MODEL_CELLS,
    conversion: Conversion = "optimal",
) -> AdaptiveSettings:
    """Check all that can be checked without the counts, so that nothing can fail once something was drawn.

    Raises:
        ParameterError: if a setting is not what it should be, or an attribute has too many values.
        GuaranteeError: if the noise cannot give the guarantee.
    """
    sizes = attribute_sizes(domain)
    most = Words(f"a whole number from 1 to {MAX_CELLS}", f"1 以上 {MAX_CELLS} 以下の整数")
    exact_integer(margin_cells, "margin_cells", FUNCTION, most, smallest=1, largest=MAX_CELLS)
    exact_integer(model_cells, "model_cells", FUNCTION, most, smallest=1, largest=MAX_CELLS)
    if sum(sizes) > model_cells:
        # Every attribute is measured and modelled by itself, all values of it.
        requirement = Words(
            f"a table whose attributes have at most {model_cells} cells together (the setting 'model_cells')",
            f"属性のセル数の合計が {model_cells} 以下の表（設定 'model_cells'）",
        )
        hint = "Take 'wide-tree' for maps and long axes."
        raise ParameterError("table", FUNCTION, requirement, Described(f"{sum(sizes)} cells"), hint)
    wanted = read_workload(workload_margins, domain, FUNCTION)
    candidates = candidates_for(wanted, sizes, min(margin_cells, model_cells))
    sensitivity = sensitivity_of_counts(unit, merged=True)
    prices = prices_for(budget, conversion, sensitivity, unit, FUNCTION)
    usual = (PURE_ROUNDS_PER_ATTRIBUTE if prices.is_pure else ROUNDS_PER_ATTRIBUTE) * len(sizes)
    requirement = Words("a whole number from 1 to 100000", "1 以上 100000 以下の整数")
    cuts = (
        usual if rounds is None else exact_integer(rounds, "rounds", FUNCTION, requirement, smallest=1, largest=10**5)
    )
    # No later measurement has more noise than these, and none has less than can be drawn.
    smallest = min(*attribute_parts(prices, candidates, sizes, cuts), prices.amount / cuts / 4)
    noise_for(prices.measurement(smallest))
    prices.choice(CHOOSING * prices.amount / cuts)
    return AdaptiveSettings(sizes, candidates, prices, cuts, model_cells)


def _people_of(table: CountTable, sizes: tuple[int, ...]) -> MeasuredPeople:
    """The occupied cells, each with the place of every attribute's value."""
    along = list(table.domain.places_of(table.keys))
    places = []
    for attribute in table.domain.attributes:
        combined = np.zeros(table.keys.size, dtype=np.int64)
        for length in attribute.shape:
            combined = combined * length + along.pop(0)
        places.append(combined)
    return MeasuredPeople(places, sizes, table.counts)


def _keys_of(domain: Domain, places: list[NDArray[np.int64]]) -> NDArray[np.uint64]:
    keys = np.zeros(places[0].shape, dtype=np.uint64)
    for attribute, along in zip(domain.attributes, places, strict=True):
        keys = keys * np.uint64(prod(attribute.shape)) + along.astype(np.uint64)
    return keys


def _notes(seen: MeasuredMargins, domain: Domain) -> tuple[NoisyCounts, ...]:
    """The noisy margins, each count with the key of the first cell that it counts."""
    notes = []
    for number, (clique, noisy, measurement) in enumerate(seen.margins, 1):
        names = " x ".join(domain.attributes[attribute].name for attribute in clique)
        places = [np.zeros(noisy.size, dtype=np.int64) for _ in domain.attributes]
        for attribute, along in zip(clique, np.unravel_index(np.arange(noisy.size), noisy.shape), strict=True):
            places[attribute] += along
        keys = _keys_of(domain, places)
        notes.append(NoisyCounts(f"margin {number}: {names}", measurement, keys, noisy.ravel()))
    return tuple(notes)


def _check(call: PlannedCall) -> None:
    read_settings(call.domain, call.budget, call.unit, **call.settings)


ADAPTIVE_MARGINS = Mechanism(
    name=NAME,
    function=adaptive_margins,
    words=Words("margins chosen adaptively", "周辺表の適応的な選択（adaptive margins）"),
    is_slow=True,
    check=_check,
    setting_words={
        "workload_margins": SettingWords(name=Words("Margins that matter", "重視する周辺表")),
        "rounds": SettingWords(name=Words("Parts of the budget at first", "はじめに予算を分ける数")),
        "margin_cells": SettingWords(name=Words("Most cells of a measured margin", "測定する周辺表の最大セル数")),
        "model_cells": SettingWords(name=Words("Most cells of the model", "モデルの最大セル数")),
    },
)
