"""Synthetic people: one call from records and a description of their columns to rows of nobody.

Proof: ``synthesis.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.microdata.records import AnyRecords, Records, read_people_records
from sudare.microdata.synthetic.drawing import MAX_ROWS, draw_rows
from sudare.microdata.synthetic.mbi_model import fit_with_mbi, require_mbi
from sudare.microdata.synthetic.public_columns import PublicColumn, code_records, read_columns
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.adaptive.aim import measure_aim, weigh_candidates
from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model
from sudare.tables.adaptive.measured import MeasuredMarginal, MeasuredPeople, cells_of
from sudare.tables.adaptive.mst import Looks, estimated_total, measure_mst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.microdata.synthetic.public_columns import Columns
    from sudare.tables.adaptive.measured import Clique

__all__ = ["Synthetic", "synthesize"]

MAX_CELLS = 1 << 24
"""Of a marginal that is measured: every cell gets noise and a place in the model."""

STEPS, STEPS_OF_MBI = 1000, 5000
"""At most; without momentum more are needed."""

ROUNDS_PER_COLUMN = 16

MAX_ROWS_UNASKED = 1 << 27
"""Noise alone may say that there are more people than rows fit into memory."""


@dataclass(frozen=True, eq=False)
class Synthetic(Rows):
    """Synthetic people, and all that is known of how they came about; all of it may be published.

    Attributes:
        records: the people, with the columns in the order of their description.
        columns: the description.
        marginals: what was measured of the real people.
        model: what the rows were drawn from; its columns are numbered in the same order.
        merged: for each column, the place in the model of each of its values; rare values may share one.
        method: ``"mst"`` or ``"aim"``.
    """

    records: Records
    columns: tuple[PublicColumn, ...]
    marginals: tuple[MeasuredMarginal, ...]
    model: GraphicalModel
    merged: tuple[NDArray[np.int64], ...]
    method: str

    def frame_columns(self) -> Mapping[str, Any]:
        """The resulting records, every column as texts."""
        return self.records.frame_columns()

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each table of the model; columns that are in none together are independent given the others."""
        return tuple(tuple(self.columns[column].name for column in clique) for clique in self.model.tree.cliques)


def synthesize(
    records: AnyRecords,
    columns: Columns,
    budget: Budget,
    method: Literal["mst", "aim"] = "mst",
    *,
    rows: int | None = None,
    workload: int | Sequence[Sequence[str]] | None = None,
    missing: Iterable[str] = (),
    unit: Unit | None = None,
    conversion: Conversion = "optimal",
    engine: Literal["numpy", "mbi"] = "numpy",
    rounds: int | None = None,
    marginal_cells: int = 10_000,
    model_cells: int = 1 << 20,
    entropy: EntropySource | None = None,
) -> tuple[Synthetic, ReleaseEvent]:
    """Draw rows of nobody that have about the marginals that the records have.

    Guarantee: the budget, for the unit, whatever is done with the result. Rows are drawn from a model of noisy counts.

    Sensitivity: of counts; a unit may have several rows (`Unit.with_rows`).

    Proof: ``synthesis.md`` beside this file.

    Args:
        records: the people.
        columns: what each column may hold: a `Domain`, attributes, or for each name a list of values, a `Category` or
            `Bins`. It is published, so it must be known without the data.
        budget: what may be spent: rho, or epsilon with a delta.
        method: ``"mst"`` measures a tree of pairs; ``"aim"`` measures what the workload needs, in rounds.
        rows: how many rows to draw; as many as the noisy counts say if left out.
        workload: for AIM, which tables the result shall be good for: all of this many columns (2 if left out), or a list of
            tables, each a list of columns.
        missing: columns in which a missing value is a value.
        unit: who is protected; one person with one row if left out.
        conversion: how epsilon and delta are turned into rho.
        engine: what fits the last model: ``"numpy"``, or the package ``"mbi"``, which needs the extra ``synth`` and some
            10 seconds to compile. Both look for the same model.
        rounds: for AIM, into how many the budget is cut at first; 16 for each column if left out.
        marginal_cells: for AIM, tables with more cells are left out of a workload that is given as a number.
        model_cells: for AIM, how many cells the tables of the model may have together.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The synthetic people with what was measured, and the event with the cost.

    Raises:
        InputError: if a column is missing or not described, or a value is not in its description.
        ParameterError: if an argument is of the wrong kind, or a table would be too large.
        GuaranteeError: for a budget without a delta.
        MissingPackageError: if ``mbi`` is needed and not installed.

    References:
        McKenna, Miklau, Sheldon (2021) for MST; McKenna, Mullins, Sheldon, Miklau (2022) for AIM.

    Example:
        >>> import sudare
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.synthetic import synthesize
        >>> people = Records.of_columns({"sex": ["f", "m"] * 500, "job": ["yes", "yes", "no", "yes"] * 250})
        >>> values = {"sex": ["f", "m"], "job": ["yes", "no"]}
        >>> budget = sudare.Budget(rho=0.5)
        >>> made, event = synthesize(people, values, budget, rows=1000, entropy=sudare.ResearchEntropy(1))
        >>> made.records.rows, made.tables, str(event.cost)
        (1000, (('sex', 'job'),), 'rho = 0.5')
    """
    check_arguments(synthesize, locals(), "missing")
    records = read_people_records(records, "synthesize")
    function = "synthesize"
    source = read_entropy(entropy, function)
    protected = _read_unit(unit, function)
    rho = _read_rho(budget, conversion, function)
    public = read_columns(columns, missing, function)
    sizes = [column.size for column in public]
    if rows is not None:
        exact_integer(
            rows,
            "rows",
            function,
            Words(f"a whole number from 1 to {MAX_ROWS}", f"1 以上 {MAX_ROWS} 以下の整数"),
            smallest=1,
            largest=MAX_ROWS,
        )
    if not isinstance(method, str) or method not in ("mst", "aim"):
        raise ParameterError("method", function, Words("'mst' or 'aim'", "'mst' または 'aim'"), shown(method))
    if not isinstance(engine, str) or engine not in ("mbi", "numpy"):
        raise ParameterError("engine", function, Words("'mbi' or 'numpy'", "'mbi' または 'numpy'"), shown(engine))
    if engine == "mbi":
        require_mbi()
    candidates: dict[Clique, int] = {}
    if method == "aim":
        most = Words(f"a whole number from 1 to {MAX_CELLS}", f"1 以上 {MAX_CELLS} 以下の整数")
        exact_integer(marginal_cells, "marginal_cells", function, most, smallest=1, largest=MAX_CELLS)
        exact_integer(model_cells, "model_cells", function, most, smallest=1, largest=MAX_CELLS)
        candidates = weigh_candidates(_read_workload(workload, public, marginal_cells, function), len(public))
        if rounds is not None:
            requirement = Words("a whole number from 1 to 100000", "1 以上 100000 以下の整数")
            exact_integer(rounds, "rounds", function, requirement, smallest=1, largest=100_000)
    else:
        if workload is not None:
            raise ParameterError(
                "workload", function, Words("left out for MST", "MST では省略"), shown(workload), "Use method='aim'."
            )
        _require_small_pairs(public, function)
    people = MeasuredPeople(code_records(records, public, function), sizes)
    sensitivity = sensitivity_of_counts(protected, merged=True)
    if method == "aim":
        looks = measure_aim(
            people,
            candidates,
            rho,
            protected,
            sensitivity,
            source,
            rounds=rounds or ROUNDS_PER_COLUMN * len(public),
            model_cells=model_cells,
        )
    else:
        looks = measure_mst(people, rho, protected, sensitivity, source)
    event = ReleaseEvent(method, protected, budget, looks.measurements, entropy_name(source), conversion=conversion)
    return _drawn(looks, public, rows, method, engine, source), event


def _drawn(
    looks: Looks, public: tuple[PublicColumn, ...], rows: int | None, method: str, engine: str, source: EntropySource
) -> Synthetic:
    """From here on nothing sees the records."""
    total = estimated_total(list(looks.evidence))
    if engine == "mbi":
        model = fit_with_mbi(looks.sizes, looks.evidence, total, steps=STEPS_OF_MBI)
    else:
        model = fit_model(looks.sizes, looks.evidence, total, steps=STEPS, start=looks.model)
    count = rows if rows is not None else min(max(1, round(total)), MAX_ROWS_UNASKED)
    columns = []
    for column, places, mapping in zip(public, draw_rows(model, count, source), looks.merged, strict=True):
        columns.append(column.drawn(_unmerged(places, mapping, source), source))
    names = [column.name for column in public]
    marginals = []
    for clique, counts, sigma_squared in looks.seen:
        # Columns by themselves are measured before values are taken together, everything else after.
        own = tuple(looks.merged[column] if len(clique) > 1 else np.arange(public[column].size) for column in clique)
        marginals.append(MeasuredMarginal(tuple(names[column] for column in clique), counts, sigma_squared, own))
    return Synthetic(Records(columns), public, tuple(marginals), model, looks.merged, method)


def _unmerged(places: NDArray[np.int64], mapping: NDArray[np.int64], source: EntropySource) -> NDArray[np.int64]:
    """Values in place of those that were taken together: drawn fairly from all that share a place."""
    result = np.empty(places.size, dtype=np.int64)
    for place in range(int(mapping.max()) + 1):
        values = np.flatnonzero(mapping == place)
        rows = np.flatnonzero(places == place)
        one = values.size == 1
        result[rows] = values[0] if one else values[uniform_below(values.size, rows.size, source).astype(np.int64)]
    return result


def _read_unit(unit: Unit | None, function: str) -> Unit:
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    return protected


def _read_rho(budget: object, conversion: Conversion, function: str) -> Fraction:
    read = read_budget(budget, function)
    if not isinstance(conversion, str) or conversion not in ("simple", "optimal"):
        raise ParameterError(
            "conversion", function, Words("'simple' or 'optimal'", "'simple' または 'optimal'"), shown(conversion)
        )
    if read.currency == "epsilon":
        raise GuaranteeError(
            Words(
                f"Synthetic people are made with Gaussian noise, which cannot give {read} with delta = 0. "
                "Give a delta (suggest_delta() helps), or rho.",
                f"合成データはガウスノイズで作るため、delta = 0 では {read} にできません。"
                "delta を指定するか（suggest_delta() が目安を示します）、rho を指定してください。",
            )
        )
    rho = read.rho if read.currency == "rho" else epsilon_to_rho(read.epsilon, read.delta, conversion)
    if rho <= 0:
        raise GuaranteeError(
            Words(
                f"No Gaussian noise gives {read}: the delta leaves nothing.",
                f"{read} を満たすガウスノイズはありません。delta に余裕がありません。",
            )
        )
    return rho


def _read_workload(
    workload: object, public: Sequence[PublicColumn], marginal_cells: int, function: str
) -> list[Clique]:
    sizes = [column.size for column in public]
    count = len(public)
    if workload is None or (isinstance(workload, int) and not isinstance(workload, bool)):
        requirement = Words(
            f"from 1 to {min(count, 4)} columns, or a list of tables",
            f"1 以上 {min(count, 4)} 以下の列数、または表のリスト",
        )
        width = min(2, count) if workload is None else workload
        exact_integer(width, "workload", function, requirement, smallest=1, largest=min(count, 4))
        return [clique for clique in combinations(range(count), width) if cells_of(clique, sizes) <= marginal_cells]
    requirement = Words(
        "a number of columns, or a list of tables, each a list of names of columns",
        "列数、または表（列名のリスト）のリスト",
    )
    if isinstance(workload, (str, bytes)) or not isinstance(workload, Sequence) or not workload:
        raise ParameterError("workload", function, requirement, shown(workload))
    names = [column.name for column in public]
    cliques: list[Clique] = []
    for table in workload:
        if isinstance(table, (str, bytes)) or not isinstance(table, Sequence) or not table:
            raise ParameterError("workload", function, requirement, shown(table))
        for name in table:
            if name not in names:
                raise ParameterError(
                    "workload", function, Words(f"tables of the columns {names}", f"列 {names} の表"), shown(name)
                )
        clique = tuple(sorted({names.index(name) for name in table}))
        if cells_of(clique, sizes) > MAX_CELLS:
            got = Described(f"{cells_of(clique, sizes)} cells for {list(table)}")
            raise ParameterError(
                "workload", function, Words(f"tables of at most {MAX_CELLS} cells", f"{MAX_CELLS} セル以下の表"), got
            )
        cliques.append(clique)
    return sorted(set(cliques))


def _require_small_pairs(public: Sequence[PublicColumn], function: str) -> None:
    widest = sorted(public, key=lambda column: column.size)[-2:]
    cells = widest[0].size * widest[-1].size if len(widest) > 1 else widest[0].size
    if cells > MAX_CELLS:
        names = " and ".join(repr(column.name) for column in widest)
        raise ParameterError(
            "columns",
            function,
            Words(
                f"columns of which every two have at most {MAX_CELLS} combinations of values",
                f"どの 2 列も値の組合せが {MAX_CELLS} 通り以下の列",
            ),
            Described(f"{cells} for {names}"),
            "Describe the widest by fewer values, such as Bins.",
        )
