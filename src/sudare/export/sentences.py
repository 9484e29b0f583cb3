"""What is said of a release wherever a format has room for it: who is protected and how, how accurate it is, where it is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sudare.accuracy.expected import ExpectedError
from sudare.bilingual import Language, Words
from sudare.export import export_words as texts
from sudare.export.description import ErrorOfSums, Fact, PublicationHead, SpanningDimension

__all__ = ["errors_of", "guarantee_of_counts", "language_of", "notes_of", "reason_in_short", "show_figure"]

FIELDS = ("kind", "name", "side", "groups", "rmse", "low", "high", "mean_error", "systematic", "systematic_high")
SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
MAX_AREAS_NOTED = 6
"""Sums whose expected error is told in notes; all of them are listed where a format has tables."""

MAX_REASON = 200
"""Letters of what a package says of its failure: behind them are traces of its own code."""


def language_of(*written: str) -> Language:
    """Japanese if there is a Japanese letter, English otherwise.

    Example:
        >>> language_of("人口"), language_of("People of a town")
        ('ja', 'en')
    """
    return "ja" if any("\u3040" <= letter <= "\u9fff" for one in written for letter in one) else "en"


def guarantee_of_counts(document: Mapping[str, Any]) -> tuple[tuple[Words, ...], tuple[Fact, ...]]:
    """What a document of counts promises, in sentences and as facts."""
    stated = document["deployment"]["privacy_loss"]
    unit = str(stated["privacy_unit"])
    who = texts.PERSON if unit == "person" else Words.same(unit)
    budget = ", ".join(f"{SYMBOLS.get(key, key)} = {value}" for key, value in stated["privacy_parameters"].items())
    promise, published = document["promise"], document["published"]
    sentences = [
        texts.GUARANTEE.format(budget=budget, who=who),
        texts.PROMISE.format(who=who, alarm=float(promise["false_alarm"]), power=float(promise["best_power"])),
    ]
    exact = [str(one) for one in document["deployment"]["dp_flavor"]["unprotected_quantities"]]
    if exact:
        sentences.append(texts.UNPROTECTED.format(what=exact))
    if published.get("signed"):
        sentences.append(texts.SIGNED)
    facts = (
        Fact("budget", texts.LABELS["budget"], Words.same(budget)),
        Fact("unit", texts.LABELS["unit"], who),
        Fact("mechanism", texts.LABELS["mechanism"], Words.same(document["method"]["name"])),
        Fact("total", texts.LABELS["total"], Words.same(f"{int(published['total'])}")),
    )
    return tuple(sentences), facts


def errors_of(document: Mapping[str, Any]) -> tuple[ErrorOfSums, ...]:
    """The errors that a document of counts says to expect: those of trials, or else those of the plan."""
    accuracy, plan = document.get("accuracy"), document.get("plan")
    if accuracy:
        return tuple(_of_trials(one) for one in accuracy["errors"])
    return tuple(_of_plan(one) for one in plan["errors"] if not one["margin"] and not one["name"]) if plan else ()


def _of_trials(stated: Mapping[str, Any]) -> ErrorOfSums:
    words = stated.get("name_words")
    name = None if words is None else Words.read(words, stated["name"])
    error = ExpectedError(**{key: stated[key] for key in FIELDS}, name_words=name)
    is_of_cells = error.kind == "area" and error.side == 1
    return ErrorOfSums(error.in_words, float(error.rmse), float(error.low), float(error.high), 95, is_of_cells)


def _of_plan(stated: Mapping[str, Any]) -> ErrorOfSums:
    from sudare.accuracy.accuracy_words import TEXTS

    side = int(stated["side"])
    words = TEXTS["cell" if side == 1 else "area"].format(side=f"{side:,}", name="")
    return ErrorOfSums(words, float(stated["rmse"]), float(stated["low"]), float(stated["high"]), 90, side == 1)


def notes_of(head: PublicationHead, dimensions: Sequence[SpanningDimension] = ()) -> tuple[Words, ...]:
    """All sentences that belong to a table: what protects people, how accurate it is, which values are left out, its origin."""
    partial = [texts.PARTIAL.format(name=one.name) for one in dimensions if one.is_partial]
    origin = [fact.value for fact in head.facts if fact.key == "origin"]
    return (*head.guarantee, *_accuracy_of(head), *partial, *origin)


def _accuracy_of(head: PublicationHead) -> list[Words]:
    found = []
    for error in head.errors[:MAX_AREAS_NOTED]:
        words = texts.CELL_ERROR if error.is_of_cells else texts.AREA_ERROR
        numbers = {key: show_figure(getattr(error, key)) for key in ("rmse", "low", "high")}
        found.append(words.format(what=error.what, confidence=error.confidence, **numbers))
    return found


def show_figure(value: float) -> str:
    """A figure to three digits.

    Example:
        >>> show_figure(2.19670), show_figure(1234.5)
        ('2.2', '1.23e+03')
    """
    return f"{value:.3g}"


def reason_in_short(failure: Exception) -> str:
    r"""What a package says of its failure, in one line.

    Example:
        >>> reason_in_short(ValueError("no bucket\n  named x")), reason_in_short(KeyError())
        ('no bucket named x', 'KeyError')
    """
    said = " ".join(str(failure).split())
    return said[:MAX_REASON] or type(failure).__name__
