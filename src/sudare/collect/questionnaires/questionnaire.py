"""A file that says what is asked, and how each answer is randomized before anybody sees it.

title = "Health survey"

[[question]]
name = "smoker"
method = "kary-response"
values = ["yes", "no"]
epsilon = 1

[[question]]
name = "age"
method = "bounded-noise"
low = 0
high = 100
step = 1
scale = 50
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.errors import GuaranteeError, ParameterError
from sudare.sections import Section, read_toml

__all__ = ["METHODS", "Questionnaire", "read_questionnaire"]

FILE = Words("questionnaire", "調査票ファイル")
DOCUMENT = Words("questionnaire", "調査票")
HINT = Words("The how-to on collecting shows one to start from.", "書き方は収集の手引きにあります。")
VALUES, RANGE = ("values",), ("low", "high", "step")

METHODS: dict[str, tuple[str, ...]] = {
    "warner": (*VALUES, "truth"),
    "binary-response": (*VALUES, "epsilon"),
    "kary-response": (*VALUES, "epsilon"),
    "retention": (*VALUES, "kept"),
    "matrix-response": (*VALUES, "rows"),
    "unary-response": (*VALUES, "epsilon", "rule"),
    "local-hashing": (*VALUES, "epsilon"),
    "bounded-noise": (*RANGE, "scale", "base", "draw"),
    "unbounded-noise": (*RANGE, "scale", "base"),
    "one-bit": (*RANGE, "epsilon"),
    "piecewise": (*RANGE, "epsilon"),
    "rappor": ("bits", "hashes", "cohorts", "f", "p", "q", "hash_rule"),
}
"""For each method, the keys of its questions."""

OWN_KEYS = ("name", "method")
_WRITTEN_FRACTION = re.compile(r"[-+]?[0-9]{1,60}(\.[0-9]{1,60}|/[0-9]{1,60})?")


@dataclass(frozen=True)
class Questionnaire:
    """What is asked.

    Attributes:
        title: of the survey.
        questions: how each is randomized, by the name of its column.
    """

    title: str
    questions: Mapping[str, Randomizer]

    def epsilon(self) -> Fraction:
        """What answering everything once costs a person.

        Raises:
            GuaranteeError: if a question has no epsilon.
        """
        return sum((randomizer.epsilon() for randomizer in self.questions.values()), Fraction(0))

    def epsilons(self) -> dict[str, Fraction | None]:
        """What each answer costs; None where no epsilon holds."""
        costs: dict[str, Fraction | None] = {}
        for name, randomizer in self.questions.items():
            try:
                costs[name] = randomizer.epsilon()
            except GuaranteeError:
                costs[name] = None
        return costs


def read_questionnaire(path: str | Path) -> Questionnaire:
    """Read a questionnaire file.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names the key.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect.questionnaires.questionnaire import read_questionnaire
        >>> text = 'question = [{name = "smoker", method = "warner", values = ["yes", "no"]}]'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "survey.toml"
        ...     _ = file.write_text(text)
        ...     round(float(read_questionnaire(file).epsilon()), 3)
        1.099
    """
    file = Path(path)
    top = Section(read_toml(file, FILE, HINT), "", file.name, ("title", "question"), DOCUMENT)
    title = top.text("title", "")
    questions: dict[str, Randomizer] = {}
    for number, any_section in enumerate(top.sections("question", OWN_KEYS), start=1):
        name = any_section.text("name")
        if name in questions:
            any_section.refuse(
                "name", f"is '{name:.60}', as that of a question before", f"「{name:.60}」が重複しています"
            )
        method = any_section.choice("method", tuple(METHODS))
        # From here on only the keys of the method are known: a key of another one is a mistake.
        keys = (*OWN_KEYS, *METHODS[method])
        questions[name] = _read_question(
            Section(any_section.rest(), f"question {number}", file.name, keys, DOCUMENT), method
        )
    top.finish()
    return Questionnaire(title, questions)


def _read_question(section: Section, method: str) -> Randomizer:
    try:
        randomizer = _MAKERS[method](section)
    except ParameterError as error:
        key = _KEYS_OF_PARAMETERS.get(error.parameter, error.parameter)
        section.refuse(key, f"is not right: {error.requirement}", f"が正しくありません: {error.requirement}")
    section.finish()
    return randomizer


_KEYS_OF_PARAMETERS = {"labels": "values", "epsilon_at_most": "epsilon", "rule": "rule", "grid": "step"}


def _number(section: Section, key: str) -> Any:
    """A number, or a fraction in quotes such as "1/3"."""
    if section.is_text(key):
        try:
            return _fraction(section.text(key))
        except (ValueError, ZeroDivisionError):
            section.refuse(key, "must be a number, or a fraction in quotes", "は数値、または引用符で囲んだ分数です")
    return section.number(key)


def _fraction(text: str) -> Fraction:
    if not _WRITTEN_FRACTION.fullmatch(text):  # an exponent could stand for a number without end
        raise ValueError
    return Fraction(text)


def _grid(section: Section) -> Any:
    from sudare.collect.transitions.grids import Grid

    return Grid(_number(section, "low"), _number(section, "high"), _number(section, "step"))


def _rows(section: Section) -> list[list[Any]]:
    rows = section.items("rows")
    if not all(isinstance(row, list) for row in rows):
        section.refuse("rows", "must be a list of lists", "はリストのリストです")
    try:
        return [[_fraction(x) if isinstance(x, str) else x for x in row] for row in rows]
    except (ValueError, ZeroDivisionError):
        section.refuse("rows", "must hold numbers, or fractions in quotes", "は数値、または引用符で囲んだ分数です")


def _warner(section: Section) -> Randomizer:
    from sudare.collect.randomizers.categories import warner

    truth = _number(section, "truth") if section.has("truth") else Fraction(3, 4)
    return warner(section.items("values"), truth)


def _binary(section: Section) -> Randomizer:
    from sudare.collect.randomizers.categories import binary_response

    return binary_response(section.items("values"), _number(section, "epsilon"))


def _kary(section: Section) -> Randomizer:
    from sudare.collect.randomizers.categories import KaryResponse

    return KaryResponse(section.items("values"), _number(section, "epsilon"))


def _retention(section: Section) -> Randomizer:
    from sudare.collect.randomizers.categories import Retention

    return Retention(section.items("values"), _number(section, "kept"))


def _matrix(section: Section) -> Randomizer:
    from sudare.collect.randomizers.categories import MatrixResponse

    return MatrixResponse(section.items("values"), _rows(section))


def _unary(section: Section) -> Randomizer:
    from sudare.collect.randomizers.unary import UnaryResponse

    rule: Any = section.choice("rule", ("optimized", "symmetric"), "optimized")
    return UnaryResponse(section.items("values"), _number(section, "epsilon"), rule)


def _hashing(section: Section) -> Randomizer:
    from sudare.collect.randomizers.hashing import LocalHashing

    return LocalHashing(section.items("values"), _number(section, "epsilon"))


def _bounded(section: Section) -> Randomizer:
    from sudare.collect.randomizers.noisy_numbers import BoundedNoise

    base: Any = section.choice("base", ("laplace", "normal"), "laplace")
    draw: Any = section.choice("draw", ("inverse", "rejection"), "inverse")
    return BoundedNoise(_grid(section), _number(section, "scale"), base, draw)


def _unbounded(section: Section) -> Randomizer:
    from sudare.collect.randomizers.noisy_numbers import UnboundedNoise

    base: Any = section.choice("base", ("laplace", "normal"), "laplace")
    return UnboundedNoise(_grid(section), _number(section, "scale"), base)


def _one_bit(section: Section) -> Randomizer:
    from sudare.collect.randomizers.means import OneBit

    return OneBit(_grid(section), _number(section, "epsilon"))


def _piecewise(section: Section) -> Randomizer:
    from sudare.collect.randomizers.means import Piecewise

    return Piecewise(_grid(section), _number(section, "epsilon"))


def _rappor(section: Section) -> Randomizer:
    from sudare.collect.rappor.rappor import Rappor

    rule: Any = section.choice("hash_rule", ("python", "java"), "python")
    bits, hashes, cohorts = (section.whole(key) for key in ("bits", "hashes", "cohorts"))
    f, p, q = (_number(section, key) for key in ("f", "p", "q"))
    return Rappor(bits, hashes, cohorts, f, p, q, rule)


_MAKERS: dict[str, Callable[[Section], Randomizer]] = {
    "warner": _warner,
    "binary-response": _binary,
    "kary-response": _kary,
    "retention": _retention,
    "matrix-response": _matrix,
    "unary-response": _unary,
    "local-hashing": _hashing,
    "bounded-noise": _bounded,
    "unbounded-noise": _unbounded,
    "one-bit": _one_bit,
    "piecewise": _piecewise,
    "rappor": _rappor,
}
