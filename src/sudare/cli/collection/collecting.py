"""Randomized answers: make them, estimate from them, cross them, and say how well they protect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.cli.console.speaking import Speaker
from sudare.errors import GuaranteeError, InputError
from sudare.system.regular_files import require_regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.collect.estimation.crosstab import CrossTab
    from sudare.collect.questionnaires.questionnaire import Questionnaire
    from sudare.collect.randomizers.randomizer import Randomizer

    Reports = dict[str, NDArray[Any]]

__all__ = ["crosstab", "estimate", "pk", "randomize"]

QuestionsArgument = Annotated[Path, typer.Argument(metavar="QUESTIONS.toml", show_default=False)]
QuestionsOption = Annotated[Path | None, typer.Option("--questions", metavar="QUESTIONS.toml", show_default=False)]
ReportsArgument = Annotated[Path, typer.Argument(metavar="REPORTS", show_default=False)]
Level = Annotated[float, typer.Option("--level", min=0.5, max=0.9999)]
MAX_SHOWN = 40


def randomize(
    speaker: Speaker,
    questions: QuestionsArgument,
    data: Annotated[Path, typer.Argument(metavar="DATA", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="REPORTS", show_default=False)],
    memory: Annotated[Path | None, typer.Option("--memory", metavar="FILE", show_default=False)] = None,
    person: Annotated[str | None, typer.Option("--person", metavar="COLUMN", show_default=False)] = None,
    encoding: Annotated[str, typer.Option("--encoding", metavar="NAME")] = "auto",
) -> None:
    """Randomize each person's answers; only the reports are written."""
    from sudare.collect.questionnaires.answers import answers_to_arrow, randomize_answers, shuffled, typed_answers
    from sudare.collect.questionnaires.questionnaire import read_questionnaire
    from sudare.collect.transitions.rounding import cautious_digits, float_above
    from sudare.io import read_records, write_arrow

    asked = read_questionnaire(questions)
    if (memory is None) != (person is None):
        raise speaker.mistake("collect.memory_and_person")
    names = list(asked.questions)
    # So that what one person writes never changes how another's answer is read.
    texts = [name for name, randomizer in asked.questions.items() if randomizer.answer_type() == "text"]
    people = [person] if person else []
    found = read_records(data, [*names, *people], encoding, texts=[*texts, *people])
    answers = typed_answers(asked, found)
    if memory is not None and person is not None:
        reports = _remembered(asked, answers, found[person], memory)
    else:
        reports = randomize_answers(asked, answers)
    # Where the order of the rows told whose they are, Pk-anonymity would not hold.
    reports = shuffled(reports)
    write_arrow(out, answers_to_arrow(asked, reports, text=out.suffix == ".csv"))
    people_asked = len(next(iter(reports.values())))
    exact = asked.epsilons()
    costs = {name: None if cost is None else float_above(cost) for name, cost in exact.items()}
    known = [cost for cost in exact.values() if cost is not None]
    total = float_above(sum(known, Fraction(0))) if len(known) == len(exact) else None
    speaker.say("collect.randomized", style="green", people=f"{people_asked:,}", questions=len(names), out=out)
    speaker.say("collect.cost", total="–" if total is None else cautious_digits(total, up=True))
    if memory is None:
        speaker.say("collect.once", style="dim")
    fractions = {name: None if cost is None else str(cost) for name, cost in exact.items()}
    told = {
        "reports": str(out),
        "people": people_asked,
        "epsilon": total,
        "epsilons": costs,
        "epsilons_exact": fractions,
    }
    speaker.give(told, str(out))


def _remembered(asked: Questionnaire, answers: Reports, people: NDArray[Any], place: Path) -> Reports:
    from sudare.collect.device.memory import Memory
    from sudare.collect.questionnaires.answers import not_allowed
    from sudare.errors import ParameterError

    reports = {}
    with Memory(place) as memory:
        for name, randomizer in asked.questions.items():
            try:
                reports[name] = memory.respond_all(randomizer, people.tolist(), answers[name], question=name)
            except ParameterError as error:
                raise not_allowed(name, error) from None
    return reports


@dataclass(frozen=True)
class _EstimateRow:
    """One estimated number; its fields are the columns of the output.

    Attributes:
        question: that was asked.
        value: of the people who are counted, or ``"mean"``.
        unbiased: None where the method has no such estimate.
        standard_error: of it.
        low: lower end of the interval.
        high: upper end.
        constrained: an estimate that is no impossible number; None of a mean.
    """

    question: str
    value: object
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    constrained: float | None

    @property
    def best(self) -> float:
        """By which rows are sorted."""
        return (self.constrained or 0.0) if self.unbiased is None else self.unbiased


@dataclass(frozen=True)
class _CellRow:
    """One cell of a reconstructed table: the value of each question, and how many people have them."""

    values: Mapping[str, object]
    people: float
    low: float
    high: float


def estimate(
    speaker: Speaker,
    reports: ReportsArgument,
    questions: QuestionsOption = None,
    candidates: Annotated[Path | None, typer.Option("--candidates", metavar="FILE", show_default=False)] = None,
    level: Level = 0.95,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
) -> None:
    """Estimate how many people have each value, with standard errors and intervals."""
    asked, told = _read(reports, questions)
    wanted = _lines(candidates) if candidates is not None else []
    rows: list[_EstimateRow] = []
    parts: list[Any] = []
    for name, randomizer in asked.questions.items():
        found = _estimated(speaker, name, randomizer, told[name], level, wanted)
        rows += found
        told_of = [heading(f"{name} ({randomizer.kind})"), randomizer.words.explain(speaker.language)]
        parts += [*told_of, _estimate_table(speaker, found, level)]
    listed = [vars(row) for row in rows]
    _write(out, listed)
    speaker.give({"people": _people(told), "level": level, "estimates": listed}, stack(*parts))


def _estimated(
    speaker: Speaker, name: str, randomizer: Randomizer, told: Any, level: float, candidates: list[str]
) -> list[_EstimateRow]:
    if randomizer.has_mean:
        try:
            mean = randomizer.estimate_mean(told)
        except GuaranteeError:  # a matrix without inverse, as that of normal noise
            return _fitted(name, randomizer, told, level)
        low, high = mean.interval(level)
        error = mean.standard_error
        return [_EstimateRow(name, "mean", mean.mean, error, low, high, constrained=None)]
    if randomizer.needs_candidates and not candidates:
        raise speaker.mistake("collect.no_candidates", question=name)
    found = randomizer.estimate_batch(randomizer.batch(told), candidates)
    low_ends, high_ends = found.intervals(level)
    columns = zip(
        found.labels, found.unbiased, found.standard_errors, low_ends, high_ends, found.constrained, strict=True
    )
    return [_EstimateRow(name, label, *map(float, numbers)) for label, *numbers in columns]


def _fitted(name: str, randomizer: Randomizer, told: Any, level: float) -> list[_EstimateRow]:
    """How many people have each number, by the iterative Bayes method."""
    return [
        _EstimateRow(name, cell.values["number"], None, None, cell.low, cell.high, constrained=cell.people)
        for cell in _cells(randomizer.fit(told), level)
    ]


def _estimate_table(speaker: Speaker, rows: list[_EstimateRow], level: float) -> Any:
    words, shares = speaker.words, {"level": _percent(level)}
    columns = [(words("collect.value"), False)]
    columns += [(words(f"collect.{name}", **shares), True) for name in ("unbiased", "error", "interval", "constrained")]
    shown = sorted(rows, key=lambda row: -row.best)[:MAX_SHOWN]
    cells = [
        [
            words("collect.mean") if row.constrained is None else str(row.value),
            _rounded(row.unbiased),
            _rounded(row.standard_error),
            f"{_rounded(row.low)} … {_rounded(row.high)}",
            _rounded(row.constrained),
        ]
        for row in shown
    ]
    if len(rows) > len(shown):
        cells.append([words("collect.more", count=f"{len(rows) - len(shown):,}"), "", "", "", ""])
    return table_of(columns, cells)


def _percent(level: float) -> str:
    """A probability in percent, such as 95 % or 99.9 %."""
    return f"{100 * level:.4f}".rstrip("0").rstrip(".") + " %"


def _rounded(number: float | None) -> str:
    """With one decimal; numbers below 100, such as the mean of a share, with four digits."""
    if number is None:
        return ""
    return f"{number:,.1f}" if abs(number) >= 100 else f"{number:.4g}"


def crosstab(
    speaker: Speaker,
    reports: ReportsArgument,
    by: Annotated[list[str], typer.Option("--by", metavar="QUESTION", show_default=False)],
    questions: QuestionsOption = None,
    method: Annotated[str, typer.Option("--method", metavar="METHOD")] = "bayes",
    bins: Annotated[list[str], typer.Option("--bins", metavar="QUESTION=EDGES", show_default=False)] = [],  # noqa: B006
    level: Level = 0.95,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
) -> None:
    """Reconstruct the table of true answers to several questions."""
    from sudare.collect.estimation.crosstab import invert, iterative_bayes, maximum_likelihood

    methods = {"bayes": iterative_bayes, "inversion": invert, "likelihood": maximum_likelihood}
    if method not in methods:
        raise speaker.mistake("collect.no_method", method=method, methods=", ".join(methods))
    asked, told = _read(reports, questions)
    counts, attributes = _counted(speaker, asked, told, by, bins)
    table: CrossTab = methods[method](counts, attributes)
    cells = _cells(table, level)
    rows = [{**cell.values, "people": cell.people, "low": cell.low, "high": cell.high} for cell in cells]
    _write(out, rows)
    if out is None and table.constrained.size > MAX_SHOWN:
        speaker.say("collect.write_all", style="dim")
    speaker.say(f"collect.intervals.{method}", style="dim", level=_percent(level))
    found = {"people": table.people, "method": table.method, "level": level, "cells": rows}
    speaker.give(found, _cell_table(speaker, table, cells, level))


def _counted(speaker: Speaker, asked: Questionnaire, told: Reports, by: list[str], bins: list[str]) -> tuple[Any, Any]:
    from sudare.collect.estimation.records import RandomizedAttribute, count_reports

    edges = _read_bins(speaker, bins)
    attributes, columns = [], {}
    for name in by:
        if name not in asked.questions:
            raise speaker.mistake("collect.no_question", question=name, questions=", ".join(asked.questions))
        randomizer = asked.questions[name]
        if name in edges:
            attribute, column = _binned(speaker, name, randomizer, told[name], edges[name])
        else:
            if not randomizer.reports_are_values:
                raise speaker.mistake("collect.not_crossed", question=name, kind=randomizer.kind)
            attribute, column = RandomizedAttribute.of(name, randomizer), told[name]
        attributes.append(attribute)
        columns[name] = column
    for name in edges:
        if name not in by:
            raise speaker.mistake("collect.no_question", question=name, questions=", ".join(by))
    return count_reports(columns, attributes), attributes


def _binned(speaker: Speaker, name: str, randomizer: Randomizer, told: Any, edges: list[float]) -> tuple[Any, Any]:
    """A number in bins: from each edge to below the next, the first from the lowest number on."""
    import numpy as np

    from sudare.collect.estimation.records import RandomizedAttribute
    from sudare.collect.transitions.bins import grouped

    grid = randomizer.value_grid()
    if grid is None or not randomizer.reports_are_values:
        raise speaker.mistake("collect.not_a_number", question=name)
    points = np.asarray(grid.values(range(grid.size)), dtype=np.float64)
    inner = [edge for edge in edges if points[0] < edge <= points[-1]]
    starts = np.unique(np.concatenate([[0], np.searchsorted(points, inner)])).astype(np.int64)
    if starts.size < 2:
        raise speaker.mistake("collect.no_bins", question=name)
    ends = [*starts[1:].tolist(), grid.size]
    labels = tuple(f"{points[a]:.15g}–{points[b - 1]:.15g}" for a, b in zip(starts.tolist(), ends, strict=True))
    places = np.searchsorted(starts, grid.places(told, function="crosstab"), side="right") - 1
    attribute = RandomizedAttribute(name, grouped(randomizer.transition(), starts), labels)
    return attribute, np.asarray(labels)[places]


def _read_bins(speaker: Speaker, bins: list[str]) -> dict[str, list[float]]:
    read = {}
    for text in bins:
        name, _, edges = text.partition("=")
        try:
            read[name] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            raise speaker.mistake("collect.bad_bins", text=text) from None
    return read


def _cells(table: CrossTab, level: float) -> list[_CellRow]:
    import numpy as np

    low, high = table.intervals(level)
    rows = []
    for place in np.ndindex(table.constrained.shape):
        labels = {_column(a.name): a.labels[i] for a, i in zip(table.attributes, place, strict=True)}
        rows.append(_CellRow(labels, float(table.constrained[place]), float(low[place]), float(high[place])))
    return rows


def _cell_table(speaker: Speaker, table: CrossTab, rows: list[_CellRow], level: float) -> Any:
    """The largest cells, with intervals of the very method that estimated them."""
    words, names = speaker.words, [_column(attribute.name) for attribute in table.attributes]
    shown = sorted(rows, key=lambda row: -row.people)[:MAX_SHOWN]
    columns = [(attribute.name, False) for attribute in table.attributes]
    columns += [(words("collect.people"), True), (words("collect.interval", level=_percent(level)), True)]
    cells = [
        [
            *(str(row.values[name]) for name in names),
            f"{row.people:,.1f}",
            f"{row.low:,.1f} … {row.high:,.1f}",
        ]
        for row in shown
    ]
    if len(rows) > len(shown):
        more = words("collect.more", count=f"{len(rows) - len(shown):,}")
        cells.append([more, *[""] * (len(columns) - 1)])
    return table_of(columns, cells)


def _column(question: str) -> str:
    """The question, unless a column of ours has its name."""
    return f"{question} (question)" if question in ("people", "low", "high") else question


def pk(
    speaker: Speaker,
    questions: QuestionsArgument,
    records: Annotated[int, typer.Option("--records", metavar="N", min=2, show_default=False)],
    k: Annotated[float | None, typer.Option("--k", metavar="NUMBER", show_default=False)] = None,
) -> None:
    """Tell the k of Pk-anonymity of a randomized table, or the noise for a wanted k."""
    from sudare.collect.estimation.pk import pk_of
    from sudare.collect.questionnaires.questionnaire import read_questionnaire
    from sudare.collect.transitions.rounding import cautious_digits

    asked = read_questionnaire(questions)
    words = speaker.words
    rates = {name: float(randomizer.anonymity_rate()) for name, randomizer in asked.questions.items()}
    reached = float(pk_of(records, asked.questions))
    rows = [[name, asked.questions[name].kind, f"{rate:.4g}"] for name, rate in rates.items()]
    columns = [(words("collect.question"), False), (words("collect.method"), False), (words("collect.rate"), True)]
    values: dict[str, object] = {"records": records, "k": reached, "rates": rates}
    parts: list[Any] = [table_of(columns, rows), facts([(words("collect.k"), cautious_digits(reached, up=False))])]
    if k is not None:
        suggested = _for_k(speaker, asked, records, k)
        values["suggested"] = suggested
        lines = [[name, *(f"{value}" for value in noise.values())] for name, noise in suggested.items()]
        heads = [
            (words("collect.question"), False),
            (words("collect.method"), False),
            (words("collect.parameter"), False),
            (words("collect.setting"), True),
        ]
        parts += [heading(words("collect.for_k", k=f"{k:g}")), table_of(heads, lines)]
    speaker.give(values, stack(*parts))


def _for_k(speaker: Speaker, asked: Questionnaire, records: int, k: float) -> dict[str, dict[str, str | float]]:
    from sudare.collect.estimation.pk import NumberAttribute, noise_for_k

    attributes: dict[str, NumberAttribute | tuple[object, ...]] = {}
    for name, randomizer in asked.questions.items():
        attribute = randomizer.attribute_for_k()
        if attribute is None:
            raise speaker.mistake("collect.no_k", question=name, kind=randomizer.kind)
        attributes[name] = attribute
    plan = noise_for_k(records, k, attributes)
    suggested: dict[str, dict[str, str | float]] = {}
    for name, randomizer in plan.randomizers.items():
        # Numbers were given bounded noise, categories retention: see `noise_for_k`.
        parameter = "kept" if randomizer.value_grid() is None else "scale"
        # Rounded so that the printed number protects at least as much: more noise, less kept.
        value = float(getattr(randomizer, parameter))
        shown = value * (1 + 1e-5) if parameter == "scale" else value * (1 - 1e-5)
        suggested[name] = {"method": randomizer.kind, "parameter": parameter, "value": float(f"{shown:.6g}")}
    return suggested


def _read(reports: Path, questions: Path | None) -> tuple[Questionnaire, Reports]:
    import pyarrow as pa

    from sudare.collect.questionnaires.answers import answers_from_arrow, text_types
    from sudare.collect.questionnaires.questionnaire import read_questionnaire
    from sudare.io import complaints
    from sudare.io.source import first_fields

    asked = None if questions is None else read_questionnaire(questions)
    try:
        require_regular_file(reports)
        if reports.suffix == ".parquet":
            import pyarrow.parquet as pq

            return answers_from_arrow(pq.read_table(reports), asked)
        from pyarrow import csv

        if asked is None:
            raise InputError(
                "A CSV file does not say how its answers were randomized. Give the questionnaire with --questions.",
                "CSV ファイルにはランダム化の方法が記されていません。--questions で調査票を指定してください。",
            )
        complaints.require_few_columns(first_fields(str(reports), "utf-8"), str(reports))
        options = csv.ConvertOptions(strings_can_be_null=False, null_values=[], column_types=text_types(asked))
        parsing = csv.ParseOptions(newlines_in_values=True)
        table = csv.read_csv(reports, convert_options=options, parse_options=parsing)
        return answers_from_arrow(table, asked, text=True)
    except (OSError, pa.ArrowException):
        raise InputError(
            f"The file '{reports}' cannot be read as reports.", f"「{reports}」を報告として読めません。"
        ) from None


def _lines(file: Path) -> list[str]:
    from sudare.io.formats.text_files import read_text

    return [line for line in read_text(file).splitlines() if line]


def _people(told: Reports) -> int:
    return len(next(iter(told.values())))


def _write(out: Path | None, rows: Sequence[Mapping[str, object]]) -> None:
    if out is None:
        return
    import pyarrow as pa

    from sudare.io import write_arrow

    columns = {name: [row[name] for row in rows] for name in rows[0]}
    texts = {name: [str(value) for value in values] if name == "value" else values for name, values in columns.items()}
    write_arrow(out, pa.table(texts))
