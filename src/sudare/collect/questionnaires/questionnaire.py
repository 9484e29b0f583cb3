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

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sudare.bilingual import Words
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.randomizers.registry import find_method, question_methods
from sudare.errors import GuaranteeError, ParameterError
from sudare.sections import Section, read_toml

__all__ = ["Questionnaire", "read_questionnaire"]

FILE = Words("questionnaire", "調査票ファイル")
DOCUMENT = Words("questionnaire", "調査票")
HINT = Words("The how-to on collecting shows one to start from.", "書き方は収集の手引きにあります。")
OWN_KEYS = ("name", "method")


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

    Args:
        path: of the file.

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
        method = any_section.choice("method", question_methods())
        maker = find_method(method)
        # From here on only the keys of the method are known: a key of another one is a mistake.
        keys = (*OWN_KEYS, *maker.question_keys[method])
        section = Section(any_section.rest(), f"question {number}", file.name, keys, DOCUMENT)
        questions[name] = _read_question(maker, method, section)
    top.finish()
    return Questionnaire(title, questions)


def _read_question(maker: type[Randomizer], method: str, section: Section) -> Randomizer:
    try:
        randomizer = maker.from_question(method, section)
    except ParameterError as error:
        key = _KEYS_OF_PARAMETERS.get(error.parameter, error.parameter)
        section.refuse_parameter(key, error)
    section.finish()
    return randomizer


_KEYS_OF_PARAMETERS = {"labels": "values", "epsilon_at_most": "epsilon", "rule": "rule", "grid": "step"}
