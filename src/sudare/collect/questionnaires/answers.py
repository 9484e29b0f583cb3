"""Answers to a whole questionnaire: randomized together, shuffled, and kept in one table.

In a table each question has a column of its name, or several if its reports have parts. The specifications of all randomizers
are in the metadata of a Parquet file; a CSV file names them by the fingerprints in its columns' names, and needs the
questionnaire to be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import columns_of_frame
from sudare.border.signatures import check_arguments
from sudare.collect.questionnaires.questionnaire import Questionnaire
from sudare.collect.questionnaires.report_forms import form_of
from sudare.collect.questionnaires.reports import from_columns, mark_of, read_randomizer, specification, to_arrow
from sudare.collect.randomizers.randomizer import AnswerType, Randomizer
from sudare.errors import InputError, ParameterError
from sudare.noise.sampler import read_entropy
from sudare.storage.guarded_json import parse_json

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from sudare.border.native_frames import IntoFrame
    from sudare.noise.entropy import EntropySource

__all__ = [
    "answers_from_arrow",
    "answers_to_arrow",
    "not_allowed",
    "randomize_answers",
    "shuffled",
    "text_types",
    "typed_answers",
]

METADATA = b"sudare-questionnaire"
VERSION = 1


def randomize_answers(
    questionnaire: Questionnaire, answers: Mapping[str, ArrayLike] | IntoFrame, entropy: EntropySource | None = None
) -> dict[str, NDArray[Any]]:
    """A report for each answer of each person.

    Guarantee: the sum of the epsilons of all questions, for each person.

    Args:
        questionnaire: what is asked.
        answers: for each question the true answers, all equally many.
        entropy: where the bits come from; the secure source by default.

    Raises:
        InputError: if a question has no answers, not as many as others have, or one that it does not allow. The message does not
            say which one.

    Example:
        >>> from sudare.collect import KaryResponse, Questionnaire, randomize_answers
        >>> survey = Questionnaire("", {"smoker": KaryResponse(("yes", "no"), 1)})
        >>> reports = randomize_answers(survey, {"smoker": ["yes", "no", "no"]})
        >>> reports["smoker"].shape
        (3,)
    """
    answers = columns_of_frame(answers, "answers", "randomize_answers")
    check_arguments(randomize_answers, locals(), "questionnaire", "answers")
    lengths = set()
    for name in questionnaire.questions:
        if name not in answers:
            raise InputError(f"There are no answers to '{name}'.", f"「{name}」への回答がありません。")
        if np.ndim(answers[name]) != 1:
            raise InputError(
                f"The answers to '{name}' must be a list with one for each person.",
                f"「{name}」への回答は、1人1件のリストで指定してください。",
            )
        lengths.add(np.shape(answers[name]))
    if len(lengths) > 1:
        raise InputError(
            "The questions have not been answered by equally many people.", "質問ごとに回答者の数が異なります。"
        )
    reports = {}
    for name, randomizer in questionnaire.questions.items():
        try:
            reports[name] = randomizer.randomize(answers[name], entropy)
        except ParameterError as error:
            raise not_allowed(name, error) from None
    return reports


def not_allowed(question: str, error: ParameterError) -> InputError:
    """The error for an answer that a question does not allow; it does not name the answer."""
    allowed = error.requirement_words
    return InputError(
        f"An answer to '{question}' is not what the questionnaire allows: it must be {allowed.english}.",
        f"「{question}」の回答に、調査票で許されない値があります"
        f"{f'（{allowed.japanese}）' if allowed.japanese else ''}。",
    )


def typed_answers(questionnaire: Questionnaire, answers: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Answers from a file, whose texts and numbers are told apart only by what each question wants.

    What does not fit is left as it is, for the question to refuse.
    """
    typed = {}
    for name, randomizer in questionnaire.questions.items():
        typed[name] = _READERS[randomizer.answer_type()](answers[name])
    return typed


def _texts(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.str_) if values.dtype.kind in "iuf" else values


def _numbers(values: NDArray[Any], kinds: tuple[type[np.generic], ...]) -> NDArray[Any]:
    for kind in kinds if values.dtype.kind == "U" else ():
        try:
            return values.astype(kind)
        except (ValueError, OverflowError):
            continue
    return values


def _truths(values: NDArray[Any]) -> NDArray[Any]:
    is_true = values == "true" if values.dtype.kind == "U" else np.zeros(values.shape, dtype=np.bool_)
    return is_true if values.dtype.kind == "U" and bool((is_true | (values == "false")).all()) else values


_READERS: dict[AnswerType, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "text": _texts,
    "truth": _truths,
    "whole": lambda values: _numbers(values, (np.int64,)),
    "number": lambda values: _numbers(values, (np.int64, np.float64)),
}


def shuffled(reports: Mapping[str, NDArray[Any]], entropy: EntropySource | None = None) -> dict[str, NDArray[Any]]:
    """The reports in a random order, the same for all questions: all orders are equally likely.

    Pk-anonymity takes for granted that the order of the rows tells nothing about whose they are.

    Args:
        reports: for each question, one for each person.
        entropy: where the bits come from; the secure source by default.
    """
    source = read_entropy(entropy, "shuffled")
    people = len(next(iter(reports.values())))
    while True:
        words = source.words(people)
        order = np.argsort(words)
        # Words without equals among them come in every order equally often.
        if not (np.diff(words[order]) == 0).any():
            return {name: column[order] for name, column in reports.items()}


def answers_to_arrow(questionnaire: Questionnaire, reports: Mapping[str, ArrayLike], *, text: bool = False) -> Any:
    """The reports as a table of pyarrow.

    Args:
        questionnaire: what was asked.
        reports: for each question, as `randomize_answers` gives them.
        text: use only columns that a text file can hold.
    """
    import pyarrow as pa

    names: list[str] = []
    columns: list[Any] = []
    for question, randomizer in questionnaire.questions.items():
        names += _names(question, randomizer, text)
        columns += to_arrow(randomizer, reports[question], text=text).columns
    if len(set(names)) < len(names):
        raise InputError(
            "Two questions would have columns of the same name. Rename the one with a dot in its name.",
            "列の名前が重複する質問があります。名前に点を含む質問の名前を変えてください。",
        )
    told = {
        "version": VERSION,
        "title": questionnaire.title,
        "questions": {name: specification(randomizer) for name, randomizer in questionnaire.questions.items()},
    }
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    schema = pa.schema(fields, metadata={METADATA: json.dumps(told, ensure_ascii=True).encode()})
    return pa.table(columns, schema=schema)


def answers_from_arrow(
    table: Any, questionnaire: Questionnaire | None = None, *, text: bool = False
) -> tuple[Questionnaire, dict[str, NDArray[Any]]]:
    """The questionnaire and the reports of a table.

    Args:
        table: what `answers_to_arrow` made.
        questionnaire: the one that the reports must come from; by default the one in the metadata.
        text: whether the table comes from a text file.

    Raises:
        InputError: if the table holds no reports, or those of another questionnaire.
    """
    asked = questionnaire or _from_metadata(table)
    if not text and questionnaire is not None:
        _require_same(_from_metadata(table), questionnaire)
    reports = {}
    for question, randomizer in asked.questions.items():
        names = _names(question, randomizer, text)
        if not set(names) <= set(table.column_names):
            raise InputError(
                f"There are no reports to '{question}' in this table, or they were made by another questionnaire.",
                f"この表に「{question}」への報告がないか、別の調査票によるものです。",
            )
        own = [name + (mark_of(randomizer) if text else "") for name in form_of(randomizer).types(randomizer, text)]
        reports[question] = from_columns(table.select(names).rename_columns(own), randomizer, text=text)
    return asked, reports


def text_types(questionnaire: Questionnaire) -> dict[str, pa.DataType]:
    """The types of all columns of a text file, so that nothing is guessed."""
    types: dict[str, pa.DataType] = {}
    for question, randomizer in questionnaire.questions.items():
        kinds = form_of(randomizer).types(randomizer, True).values()
        types.update(zip(_names(question, randomizer, text=True), kinds, strict=True))
    return types


def _names(question: str, randomizer: Randomizer, text: bool) -> list[str]:
    mark = mark_of(randomizer) if text else ""
    parts = list(form_of(randomizer).types(randomizer, text))
    return [question + mark] if len(parts) == 1 else [f"{question}.{part}{mark}" for part in parts]


def _from_metadata(table: Any) -> Questionnaire:
    try:
        told = parse_json((table.schema.metadata or {})[METADATA], lenient=True)
        version, title, questions = told["version"], told["title"], told["questions"]
        if not questions:
            raise ValueError
        specifications = {str(name): spec for name, spec in questions.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(
            "This file does not say how its answers were randomized: it is not one that sudare wrote, or was written again "
            "without its metadata.",
            "このファイルにはランダム化の方法が記されていません。sudare が書いたものではないか、"
            "メタデータなしで書き直されたものです。",
        ) from None
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"These reports are of another version; version {VERSION} is needed. Update sudare on both sides.",
            f"報告のバージョンが異なります。バージョン {VERSION} が必要です。送る側と集める側の sudare を揃えてください。",
        )
    return Questionnaire(str(title), {name: read_randomizer(spec) for name, spec in specifications.items()})


def _require_same(found: Questionnaire, wanted: Questionnaire) -> None:
    for name, randomizer in wanted.questions.items():
        other = found.questions.get(name)
        if other is None or other.fingerprint() != randomizer.fingerprint():
            raise InputError(
                f"The reports to '{name}' were made by another questionnaire.",
                f"「{name}」への報告は別の調査票によるものです。",
            )
