"""Make a table of people satisfy models of privacy by coarser values and the suppression of a few records.

What this protects: nobody is found by the quasi-identifiers alone, and, with a model of a sensitive column, a class of people
that look alike does not give its values away. What it does not: columns that were not named, knowledge from elsewhere, and
several releases of the same people. None of this is differential privacy.

What comes out is checked once more from the output alone before it is returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.microdata.grouping import Grouped, Tuples, ValueHistogram, group, histogram
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models.model import Model
from sudare.microdata.records import AnyRecords, CodedColumn, Records, names_of_columns, read_people_records
from sudare.microdata.refusals import all_suppressed, broken, nothing_found, too_few
from sudare.microdata.search.checking import BestLevels, Checker
from sudare.microdata.search.heuristic import find_good
from sudare.microdata.search.lattice import find_optimal
from sudare.microdata.search.metrics import Metric
from sudare.parameters import Rational, exact_fraction, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SUPPRESSED", "Anonymized", "RunnerUp", "Search", "anonymize", "satisfies", "star_alike"]

SUPPRESSED = "*"
MAX_RUNNERS_UP = 3
METHODS = ("optimal", "heuristic", "local")


@dataclass(frozen=True)
class RunnerUp:
    """Another choice of levels that could be published.

    Args:
        levels: of each quasi-identifier.
        loss: by the metric.
        suppressed: the share of rows that it would suppress.
    """

    levels: Mapping[str, int]
    loss: tuple[float, ...]
    suppressed: float


@dataclass(frozen=True)
class Search:
    """What a search found.

    Args:
        levels: of each quasi-identifier.
        loss: by the metric; one number, or one for each column with the largest first.
        bound: no choice of levels has a smaller loss than this.
        gap: how much smaller the loss of another choice could be; 0 if the best one is proven.
        is_optimal: whether it is.
        checked: choices of levels that were looked at.
        choices: that there are.
        runners_up: the best others of those that were looked at, at most three. A search rules most choices out unseen, so there
            may be better ones among those.
    """

    levels: Mapping[str, int]
    loss: tuple[float, ...]
    bound: tuple[float, ...]
    gap: float
    is_optimal: bool
    checked: int
    choices: int
    runners_up: tuple[RunnerUp, ...] = ()

    @classmethod
    def of(cls, found: BestLevels, names: Sequence[str], checker: Checker | None = None) -> Search:
        """Of a choice of levels that was found, by a checker that knows the others."""
        levels = dict(zip(names, found.levels or (), strict=True))
        others = () if checker is None else _runners_up(checker, found, names)
        return cls(levels, found.cost, found.bound, found.gap, found.is_optimal, found.checked, found.choices, others)


def _runners_up(checker: Checker, found: BestLevels, names: Sequence[str]) -> tuple[RunnerUp, ...]:
    known = sorted((cost, levels, rows) for levels, (cost, rows) in checker.allowed.items() if levels != found.levels)
    every = max(1, checker.tuples.rows)
    return tuple(
        RunnerUp(dict(zip(names, levels, strict=True)), cost, rows / every)
        for cost, levels, rows in known[:MAX_RUNNERS_UP]
    )


@dataclass(frozen=True, eq=False)
class Anonymized(Rows):
    """A table that satisfies its models.

    Args:
        records: the table to publish.
        kept: which of the given rows are in it with their values.
        models: that it satisfies.
        search: what was found; None for local recoding, which has no levels.
    """

    records: Records
    kept: NDArray[np.bool_]
    models: tuple[Model, ...]
    search: Search | None = field(default=None)

    def frame_columns(self) -> Mapping[str, Any]:
        """The resulting records, every column as texts."""
        return self.records.frame_columns()

    @property
    def suppressed(self) -> float:
        """The share of rows that were suppressed; a fact about the protected data."""
        return 1.0 - float(self.kept.mean()) if self.kept.size else 0.0


def anonymize(
    records: AnyRecords,
    hierarchies: Mapping[str, Generalization],
    models: Sequence[Model],
    *,
    sensitive: Sequence[str] = (),
    suppression: Rational = 0,
    metric: str | Metric = "loss",
    method: str = "optimal",
    time_limit: float | None = None,
    suppressed: str = "removed",
    others: AnyRecords | None = None,
    allow_empty: bool = False,
) -> Anonymized:
    """Find the coarser values that lose least, and give the table.

    Args:
        records: the data.
        hierarchies: of the quasi-identifiers, by their names. All other columns stay as they are.
        models: all of them must hold.
        sensitive: columns that are not quasi-identifiers; those that models name need not be listed.
        suppression: the largest share of records that may be suppressed.
        metric: what to lose little of; a name, or a ``Metric``.
        method: ``"optimal"`` proves that no other levels lose less; ``"heuristic"`` stops at the time limit and tells the gap;
            ``"local"`` gives each class its own coarser values (Mondrian), without suppression.
        time_limit: seconds of the search; 10 for the heuristic if left out, none for the others.
        suppressed: ``"removed"`` leaves suppressed records out; models that compare with the whole table then compare with the
            records that are published. ``"starred"`` keeps them with ``*`` in all quasi-identifiers, as ARX does; their other
            columns stay. A person in no other class is known to be starred, so the starred records are a class as well, and every
            model must hold for it.
        others: the rest of the population, people who are not among the records; for k-map and presence. Must have the
            quasi-identifiers.
        allow_empty: whether a table without any record that is kept may be the result.

    Raises:
        InputError: if a column is missing, a value is not in its hierarchy, there are fewer records than a class needs, or
            nothing can be published.
        ParameterError: if a sensitive column is a quasi-identifier, or an argument is none of those above.

    Example:
        >>> from sudare.microdata.search.anonymizing import anonymize
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.models import KAnonymity
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"age": ["34", "45", "66", "70"], "ill": ["no", "yes", "no", "yes"]})
        >>> age = Generalization.of_paths(
        ...     "age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*"), ("70", ">=50", "*")]
        ... )
        >>> result = anonymize(people, {"age": age}, [KAnonymity(2)])
        >>> result.records.column("age").texts().tolist(), result.search.levels, result.search.is_optimal
        (['<50', '<50', '>=50', '>=50'], {'age': 1}, True)
    """
    check_arguments(anonymize, locals(), "hierarchies", "models", "metric", "method", "time_limit", "suppressed")
    records = read_people_records(records, "anonymize")
    sensitive = names_of_columns(sensitive, records, "sensitive", "anonymize")
    others = None if others is None else read_people_records(others, "anonymize", "others")
    share = check_request(hierarchies, models, sensitive, suppression, method, suppressed)
    measured = metric if isinstance(metric, Metric) else Metric(metric)
    needs = max(model.smallest_size for model in models)
    columns = [records.column(name) for name in hierarchies]
    private = [records.column(name) for name in sensitive_names(models, sensitive)]
    if records.rows < needs:
        raise too_few(needs)
    if method == "local":
        return _locally(records, hierarchies, models)
    tuples = _tuples(records, columns, list(hierarchies.values()), private, others)
    starred = suppressed == "starred"
    checker = Checker(
        tuples,
        models,
        measured,
        share,
        compare_with_published=not starred,
        publish_suppressed=starred,
        absent_if_suppressed=True,
    )
    found = search(checker, method, time_limit)
    if found.levels is None:
        raise nothing_found(found.is_optimal, starred=starred and share > 0)
    checked = checker.check(found.levels)
    kept = _kept_rows(tuples, columns, checked.kept, checked.grouped, records.rows)
    if not kept.any() and not allow_empty:
        raise all_suppressed()
    published = _published(records, hierarchies, found.levels, kept, starred=starred)
    result = Anonymized(published, kept, tuple(models), Search.of(found, list(hierarchies), checker))
    around = None
    if others is not None:
        beside = star_alike if starred else _with_removed
        around = beside(records, others, hierarchies, found.levels, kept)
    if not satisfies(published, list(hierarchies), models, others=around):
        raise broken()
    return result


def search(checker: Checker, method: str, time_limit: float | None) -> BestLevels:
    """Search by a method's name."""
    return find_optimal(checker, time_limit) if method == "optimal" else find_good(checker, time_limit or 10.0)


def check_request(
    hierarchies: Mapping[str, Generalization],
    models: Sequence[Model],
    sensitive: Sequence[str],
    suppression: Rational,
    method: str,
    suppressed: str,
) -> Fraction:
    """Check what does not depend on the data; gives the suppression limit.

    Raises:
        ParameterError: if an argument is not what it should be.
    """
    function = "anonymize"
    if not hierarchies:
        raise ParameterError(
            "hierarchies", function, Words("of at least one quasi-identifier", "1 個以上の準識別子"), Described("none")
        )
    if not models or not all(isinstance(model, Model) for model in models):
        raise ParameterError(
            "models", function, Words("at least one model", "1 個以上のモデル"), Described("none, or others")
        )
    for name in sensitive_names(models, sensitive):
        if name in hierarchies:
            raise ParameterError(
                "sensitive",
                function,
                Words("columns that are not quasi-identifiers", "準識別子でない列"),
                name,
                "A column cannot be both.",
            )
    if method not in METHODS:
        raise ParameterError(
            "method", function, Words("one of " + ", ".join(METHODS), f"{', '.join(METHODS)} のいずれか"), shown(method)
        )
    if suppressed not in ("removed", "starred"):
        raise ParameterError(
            "suppressed", function, Words("'removed' or 'starred'", "'removed' または 'starred'"), shown(suppressed)
        )
    share = exact_fraction(suppression, "suppression", function, Words("a share from 0 to 1", "0 以上 1 以下の割合"))
    if not 0 <= share <= 1:
        raise ParameterError(
            "suppression", function, Words("a share from 0 to 1", "0 以上 1 以下の割合"), shown(suppression)
        )
    if method == "local" and (share or any(m.needs_population or m.judges_table for m in models)):
        requirement = Words(
            "another one with suppression, k-map, presence or population uniqueness",
            "秘匿、k-map、presence、母集団一意性を使う場合は別の探索",
        )
        raise ParameterError("method", function, requirement, shown(method))
    return share


def sensitive_names(models: Sequence[Model], sensitive: Sequence[str]) -> list[str]:
    named = [model.sensitive for model in models if model.sensitive is not None]
    return list(dict.fromkeys([*named, *sensitive]))


def _tuples(
    records: Records,
    columns: Sequence[CodedColumn],
    hierarchies: Sequence[Generalization],
    private: Sequence[CodedColumn],
    others: Records | None,
) -> Tuples:
    if others is None:
        return Tuples.of_rows(columns, hierarchies, private)
    # The others stand before the records; their sensitive values are not asked for.
    both = [CodedColumn.of(column.name, [*others.column(column.name).texts(), *column.texts()]) for column in columns]
    padded = [CodedColumn.of(column.name, [*column.labels[:1] * others.rows, *column.texts()]) for column in private]
    published = np.concatenate([np.zeros(others.rows, dtype=bool), np.ones(records.rows, dtype=bool)])
    return Tuples.of_rows(both, hierarchies, padded, published)


def _kept_rows(
    tuples: Tuples, columns: Sequence[CodedColumn], kept: NDArray[np.bool_], grouped: Grouped, rows: int
) -> NDArray[np.bool_]:
    """Which rows are in classes that are kept."""
    classes = group(columns)
    placed = [
        hierarchy.places(column)[column.codes[classes.firsts]]
        for hierarchy, column in zip(tuples.hierarchies, columns, strict=True)
    ]
    known = grouped.members.size
    both = np.concatenate([tuples.leaves[grouped.members], np.stack(placed, axis=1)])
    table = Tuples(tuples.hierarchies, both, np.ones(both.shape[0], dtype=np.int64))
    keys = table.keys(table.base.members, grouped.levels)
    safe = np.isin(keys[known:], keys[:known][kept])
    result: NDArray[np.bool_] = safe[classes.of_row] if rows else np.zeros(0, dtype=bool)
    return result


def _published(
    records: Records,
    hierarchies: Mapping[str, Generalization],
    levels: Sequence[int],
    kept: NDArray[np.bool_],
    *,
    starred: bool,
) -> Records:
    columns = _on_levels(records, hierarchies, levels)
    if starred:
        columns = [_starred(column, ~kept) for column in columns]
    published = records.with_columns(*columns)
    return published if starred else published.take(np.flatnonzero(kept))


def star_alike(
    records: Records,
    others: Records,
    hierarchies: Mapping[str, Generalization],
    levels: Sequence[int],
    kept: NDArray[np.bool_],
) -> Records:
    """Other people on the same levels, with stars for those who look like records that were starred: they could be the ones."""
    theirs = _on_levels(others, hierarchies, levels)
    ours = _on_levels(records, hierarchies, levels)
    of_row = group([_stacked(column, mine) for column, mine in zip(theirs, ours, strict=True)]).of_row
    alike = np.isin(of_row[: others.rows], of_row[others.rows :][~kept])
    return Records([_starred(column, alike) for column in theirs])


def _with_removed(
    records: Records,
    others: Records,
    hierarchies: Mapping[str, Generalization],
    levels: Sequence[int],
    kept: NDArray[np.bool_],
) -> Records:
    """The population that is not published: the others, and the records that were removed."""
    removed = records.take(np.flatnonzero(~kept))
    pairs = zip(_on_levels(others, hierarchies, levels), _on_levels(removed, hierarchies, levels), strict=True)
    return Records([_stacked(column, gone) for column, gone in pairs])


def _on_levels(records: Records, hierarchies: Mapping[str, Generalization], levels: Sequence[int]) -> list[CodedColumn]:
    pairs = zip(hierarchies.items(), levels, strict=True)
    return [hierarchy.generalized(records.column(name), level) for (name, hierarchy), level in pairs]


def _starred(column: CodedColumn, rows: NDArray[np.bool_]) -> CodedColumn:
    codes = np.where(rows, len(column.labels), column.codes)
    return CodedColumn.of_codes(column.name, codes, [*column.labels, SUPPRESSED])


def _stacked(upper: CodedColumn, lower: CodedColumn) -> CodedColumn:
    """The rows of one column, then those of another."""
    codes = np.concatenate([upper.codes, lower.codes + np.int32(len(upper.labels))])
    return CodedColumn.of_codes(lower.name, codes, [*upper.labels, *lower.labels])


def satisfies(
    records: AnyRecords,
    quasi_identifiers: Sequence[str],
    models: Sequence[Model],
    *,
    others: AnyRecords | None = None,
    counts: NDArray[np.int64] | None = None,
) -> bool:
    """Whether a table, as it stands, satisfies models.

    Args:
        records: the table.
        quasi_identifiers: columns by which records are alike.
        models: to check.
        others: the rest of the population, on the same levels; for k-map and presence, which else take the table for everybody.
        counts: how many people each row of the table stands for; 1 if left out.

    Example:
        >>> from sudare.microdata.search.anonymizing import satisfies
        >>> from sudare.microdata.models import KAnonymity
        >>> from sudare.microdata.records import Records
        >>> satisfies(Records.of_columns({"age": ["<50", "<50", ">50"]}), ["age"], [KAnonymity(2)])
        False
    """
    check_arguments(satisfies, locals(), "models", "counts")
    records = read_people_records(records, "satisfies")
    quasi_identifiers = names_of_columns(quasi_identifiers, records, "quasi_identifiers", "satisfies")
    others = None if others is None else read_people_records(others, "satisfies", "others")
    columns = [records.column(name) for name in quasi_identifiers]
    private = [records.column(name) for name in sensitive_names(models, ())]
    people = np.ones(records.rows, dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    everybody = people
    if others is not None and others.rows:
        columns = [_stacked(column, others.column(column.name)) for column in columns]
        # The others have no sensitive value that counts: any will do.
        private = [_stacked(column, _repeated(column, others.rows)) for column in private]
        people = np.concatenate([people, np.zeros(others.rows, dtype=np.int64)])
        everybody = np.concatenate([everybody, np.ones(others.rows, dtype=np.int64)])
    classes = group(columns, people)
    population = group(columns, everybody).sizes
    histograms = {column.name: histogram(classes, column, people) for column in private}
    grouped = Grouped((0,) * len(columns), classes.firsts, classes.sizes, population, histograms)
    return all(bool(model.holds(grouped).all()) for model in models)


def _repeated(column: CodedColumn, rows: int) -> CodedColumn:
    return CodedColumn.of_codes(column.name, np.zeros(rows, dtype=np.int32), column.labels[:1] or [None])


def _locally(records: Records, hierarchies: Mapping[str, Generalization], models: Sequence[Model]) -> Anonymized:
    from sudare.microdata.search.mondrian import recode_locally

    private = {name: records.column(name).with_one_missing() for name in sensitive_names(models, ())}
    totals = {name: np.bincount(column.codes, minlength=len(column.labels)) for name, column in private.items()}

    def allowed(rows: NDArray[np.int64]) -> bool:
        return all(model.holds(_one_class(rows, private, totals))[0] for model in models)

    k = max([2, *(model.smallest_size for model in models)])
    recoding = recode_locally(records, list(hierarchies), k, hierarchies=hierarchies, allowed=allowed)
    if not satisfies(recoding.records, list(hierarchies), models):
        raise broken()
    return Anonymized(recoding.records, np.ones(records.rows, dtype=bool), tuple(models))


def _one_class(
    rows: NDArray[np.int64], private: Mapping[str, CodedColumn], totals: Mapping[str, NDArray[np.int64]]
) -> Grouped:
    size = np.array([rows.size], dtype=np.int64)
    histograms = {}
    for name, column in private.items():
        counts = np.bincount(column.codes[rows], minlength=len(column.labels))
        found = np.flatnonzero(counts)
        edges = np.array([0, found.size], dtype=np.int64)
        histograms[name] = ValueHistogram(
            edges, found.astype(np.int32), counts[found].astype(np.int64), totals[name].astype(np.int64), column.labels
        )
    return Grouped((), np.zeros(1, dtype=np.int64), size, size, histograms)
