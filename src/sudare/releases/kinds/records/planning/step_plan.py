"""What a plan does to the records, step by step: each step is a value that says everything its method needs.

Steps that are differential privacy of the table stand alone; the others follow each other in any order, with models of classes
last, because whatever came after could undo them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sudare.errors import ParameterError
from sudare.microdata.models import Model
from sudare.microdata.perturb.pram import TransitionMatrix
from sudare.microdata.search.metrics import METRICS
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of, columns_of, share_of
from sudare.releases.kinds.records.planning.hierarchy_plan import numbers_of, refused
from sudare.releases.kinds.records.planning.model_plan import at_least_two, needs_population, read_models
from sudare.releases.kinds.records.planning.private_step_plan import (
    PRIVATE_METHODS,
    SampledGroups,
    Synthesize,
    read_sampled_groups,
    read_synthesize,
)
from sudare.sections import Section

__all__ = [
    "ALL_STEP_KEYS",
    "METHODS",
    "PRIVATE_METHODS",
    "Anonymize",
    "Microaggregate",
    "Noise",
    "Pram",
    "SampleStep",
    "SampledGroups",
    "Step",
    "Swap",
    "Synthesize",
    "read_step",
]

METHODS: Mapping[str, tuple[str, ...]] = {
    "anonymize": ("k", "models", "suppression", "suppressed", "metric", "search", "seconds"),
    "sample": ("rate", "rows", "by"),
    "swap": ("kind", "columns", "share", "k", "within", "distance"),
    "pram": ("column", "keep", "matrix", "invariant"),
    "microaggregate": ("columns", "k", "kind"),
    "noise": ("column", "epsilon", "scale", "sigma", "bounds", "decimals"),
    "sampled-k-anonymity": ("rate", "choose_levels"),
    "mst": ("rows",),
    "aim": ("rows", "workload", "rounds"),
}
"""What each method may say."""

ALL_STEP_KEYS = ("method", *dict.fromkeys(key for keys in METHODS.values() for key in keys))
SEARCHES = ("optimal", "heuristic", "local")


@dataclass(frozen=True, eq=False)
class Anonymize:
    """Coarser values, and suppression, until models hold; see ``sudare.microdata.search.anonymizing``."""

    models: tuple[Model, ...]
    suppression: Fraction
    suppressed: str
    metric: str
    search: str
    seconds: float | None


@dataclass(frozen=True)
class SampleStep:
    """Some of the records: by coins, or so many, of all or of each stratum."""

    rate: Fraction | None
    rows: int | None
    by: str | None


@dataclass(frozen=True)
class Swap:
    """Values exchanged between records."""

    kind: str
    columns: tuple[str, ...]
    within: tuple[str, ...]
    share: Fraction | None
    k: int | None
    distance: Fraction | None


@dataclass(frozen=True)
class Pram:
    """Values replaced by a matrix of probabilities."""

    column: str
    matrix: TransitionMatrix
    invariant: bool


@dataclass(frozen=True)
class Microaggregate:
    """Numbers replaced by means of groups."""

    columns: tuple[str, ...]
    k: int
    kind: str


@dataclass(frozen=True)
class Noise:
    """Noise added to numbers; one of epsilon, scale and sigma is given."""

    column: str
    epsilon: Fraction | None
    scale: Fraction | None
    sigma: Fraction | None
    bounds: tuple[Fraction, Fraction] | None
    decimals: int | None


Step = Anonymize | SampleStep | Swap | Pram | Microaggregate | Noise | SampledGroups | Synthesize


def read_step(section: Section, file: str, where: str, columns: Mapping[str, PlannedColumn]) -> tuple[str, Step]:
    """One step, and the name of its method.

    Args:
        section: where it stands.
        file: the plan's name.
        where: the section's name.
        columns: of the plan, by name.

    Raises:
        PlanError: if it says what cannot be.
    """
    method = section.choice("method", tuple(METHODS))
    values = section.rest()
    own = Section(values, where, file, ("method", *METHODS[method]))
    counts_columns = type(values.get("workload")) is int
    published = {name: column for name, column in columns.items() if column.role != "identifier"}
    readers: Mapping[str, Callable[[], Step]] = {
        "anonymize": lambda: _read_anonymize(own, file, published),
        "sample": lambda: _read_sample(own, published),
        "swap": lambda: _read_swap(own, published),
        "pram": lambda: _read_pram(own, published),
        "microaggregate": lambda: _read_microaggregate(own, published),
        "noise": lambda: _read_noise(own, published),
        "sampled-k-anonymity": lambda: read_sampled_groups(own, published),
        "mst": lambda: read_synthesize(own, "mst", published, False),
        "aim": lambda: read_synthesize(own, "aim", published, counts_columns),
    }
    try:
        step = readers[method]()
    except ParameterError as error:
        refused(own, error)
    own.finish()
    return method, step


def _read_anonymize(section: Section, file: str, columns: Mapping[str, PlannedColumn]) -> Anonymize:
    quasi = [name for name, column in columns.items() if column.role == "quasi-identifier"]
    if not quasi:
        section.refuse(
            "method",
            'is "anonymize", which needs at least one column with role = "quasi-identifier"',
            'が "anonymize" のときは、role = "quasi-identifier" の列が一つ以上必要です',
        )
    for name in quasi:
        if columns[name].rule is None:
            section.refuse(
                "method",
                f"is \"anonymize\", and the quasi-identifier '{name}' has no hierarchy: add a file, or intervals, "
                f"dates, mesh, "
                f"mask, groups or flat to [columns.{name}]",
                f'が "anonymize" ですが、準識別子「{name}」に階層がありません。[columns.{name}] に hierarchy（ファイル）、'
                "intervals、dates、mesh、mask、groups、flat のいずれかを加えてください",
            )
    sensitive = {name: column.rule for name, column in columns.items() if column.role == "sensitive"}
    models = read_models(section, file, sensitive, quasi)
    search = section.choice("search", SEARCHES, "optimal")
    seconds = float(section.number("seconds")) if section.has("seconds") else None
    if seconds is not None and (seconds <= 0 or search == "local"):
        section.refuse(
            "seconds",
            'must be above 0, for search = "optimal" or "heuristic"',
            'は正の数で、search が "optimal" か "heuristic" のときに指定できます',
        )
    suppression = share_of(section, "suppression") if section.has("suppression") else Fraction(0)
    if search == "local" and suppression:
        section.refuse(
            "suppression",
            'must be left out where search is "local": classes are cut so that nothing is suppressed',
            'は search が "local" のとき指定できません（抑制が起きないように組を作ります）',
        )
    if search == "local" and needs_population(models):
        section.refuse(
            "search",
            'must not be "local" with k-map or presence',
            'は k-map や presence では "local" にできません',
        )
    _require_levels(section, {name: columns[name] for name in quasi}, search)
    suppressed = section.choice("suppressed", ("removed", "starred"), "removed")
    metric = section.choice("metric", tuple(METRICS), "loss")
    return Anonymize(models, suppression, suppressed, metric, search, seconds)


def _require_levels(section: Section, columns: Mapping[str, PlannedColumn], search: str) -> None:
    """Refuse levels that are decided where there are none, or that a hierarchy has not."""
    for name, column in columns.items():
        height = None if column.rule is None else column.rule.height
        if column.level is None:
            continue
        if search == "local":
            section.refuse(
                "search",
                f"is \"local\", which has no levels: leave 'level' out of [columns.{name}]",
                f'が "local" のときは段階がありません。[columns.{name}] の「level」を除いてください',
            )
        if column.level < 0 or (height is not None and column.level > height):
            section.refuse(
                "method",
                f"needs 'level' in [columns.{name}] from 0 to {height or 0}, as its hierarchy has them, or none",
                f"では、[columns.{name}] の「level」は 0 から {height or 0} です（省略もできます）",
            )


def _read_sample(section: Section, columns: Mapping[str, PlannedColumn]) -> SampleStep:
    if section.has("rate") == section.has("rows"):
        section.refuse("rate", "or 'rows' must be given, and not both", "か「rows」のどちらか一方を指定してください")
    rate = share_of(section, "rate") if section.has("rate") else None
    rows = section.whole("rows") if section.has("rows") else None
    if rows is not None and rows < 1:
        section.refuse("rows", "must be at least 1", "は 1 以上です")
    by = column_of(section, "by", section.text("by"), columns) if section.has("by") else None
    if by is not None and rate is None:
        section.refuse(
            "rows", "must be 'rate' where 'by' names a column", "ではなく「rate」を「by」と組み合わせてください"
        )
    return SampleStep(rate, rows, by)


def _read_swap(section: Section, columns: Mapping[str, PlannedColumn]) -> Swap:
    kind = section.choice("kind", ("random", "targeted", "rank"), "random")
    names = columns_of(section, "columns", columns)
    within = columns_of(section, "within", columns) if section.has("within") else ()
    share = k = distance = None
    if kind == "random":
        share = share_of(section, "share")
    elif kind == "targeted":
        k = at_least_two(section, "k")
        if not any(column.role == "quasi-identifier" for column in columns.values()):
            section.refuse(
                "kind",
                'is "targeted", which needs a column with role = "quasi-identifier"',
                'が "targeted" のときは、role = "quasi-identifier" の列が必要です',
            )
    else:
        distance = share_of(section, "distance")
        if within or len(names) != 1:
            section.refuse(
                "columns",
                "must name one column of numbers where kind is \"rank\", without 'within'",
                'は kind が "rank" のとき数値の列一つだけです（「within」は使えません）',
            )
    both = next((name for name in within if name in names), None)
    if both is not None:
        section.refuse(
            "within", f"names '{both}', whose values are swapped", f"の「{both}」は交換する列と重複しています"
        )
    return Swap(kind, names, within, share, k, distance)


def _read_pram(section: Section, columns: Mapping[str, PlannedColumn]) -> Pram:
    column = column_of(section, "column", section.text("column"), columns)
    values = columns[column].values
    if values is None:
        section.refuse(
            "column",
            f"needs all values that may stand in '{column}': list them as 'values' in [columns.{column}]",
            f"の「{column}」に入りうる値を [columns.{column}] の「values」に並べてください",
        )
    labels = (*values, None) if columns[column].missing is not None else values
    invariant = section.flag("invariant", False)
    if section.has("matrix") == section.has("keep"):
        section.refuse(
            "keep", "or 'matrix' must be given, and not both", "か「matrix」のどちらか一方を指定してください"
        )
    if section.has("keep"):
        return Pram(column, TransitionMatrix.keeping(labels, share_of(section, "keep")), invariant)
    rows = section.items("matrix")
    if not all(isinstance(row, list) and all(isinstance(item, (int, Decimal)) for item in row) for row in rows):
        section.refuse("matrix", "must be a list of rows of probabilities", "は確率の行のリストです")
    return Pram(column, TransitionMatrix(labels, tuple(tuple(map(Fraction, row)) for row in rows)), invariant)


def _read_microaggregate(section: Section, columns: Mapping[str, PlannedColumn]) -> Microaggregate:
    names = columns_of(section, "columns", columns)
    return Microaggregate(
        names, at_least_two(section, "k"), section.choice("kind", ("multivariate", "univariate"), "multivariate")
    )


def _read_noise(section: Section, columns: Mapping[str, PlannedColumn]) -> Noise:
    column = column_of(section, "column", section.text("column"), columns)
    stated = [key for key in ("epsilon", "scale", "sigma") if section.has(key)]
    if len(stated) != 1:
        section.refuse(
            "scale",
            "or 'epsilon' or 'sigma' must be given, and no two of them",
            "、「epsilon」、「sigma」のうち一つだけを指定してください",
        )
    amount = Fraction(section.number(stated[0]))
    if amount <= 0:
        section.refuse(stated[0], "must be above 0", "は正の数です")
    bounds = None
    if section.has("bounds"):
        ends = numbers_of(section, "bounds")
        if len(ends) != 2 or ends[0] >= ends[1]:
            section.refuse("bounds", "must be two numbers, the smaller one first", "は小さい順の二つの数値です")
        bounds = (Fraction(ends[0]), Fraction(ends[1]))
    decimals = section.whole("decimals") if section.has("decimals") else None
    if stated[0] == "epsilon" and bounds is None:
        section.refuse("bounds", "is needed with 'epsilon'", "は「epsilon」と共に必要です")
    if bounds is not None and decimals is None:
        section.refuse("decimals", "is needed with 'bounds'", "は「bounds」と共に必要です")
    amounts = {key: amount if key in stated else None for key in ("epsilon", "scale", "sigma")}
    return Noise(column, amounts["epsilon"], amounts["scale"], amounts["sigma"], bounds, decimals)
