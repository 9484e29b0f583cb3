"""What users hand in by mistake, most often: an error says which parameter, and none comes from the inside.

Mechanisms for tables, which work with much of it, get what works with none; `test_errors_show_no_data` tries more of them.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pandas
import pytest

from sudare import disclosure, microdata
from sudare.errors import ParameterError, SudareError
from tests.contracts.test_errors_show_no_data import WORKING as OF_TABLES
from tests.contracts.working_calls import WORKING as OF_PILLARS

CALLS = {**OF_TABLES, **OF_PILLARS}
NEVER_RIGHT = ("a frame", "a list of mappings", "a text")
MISTAKES: dict[str, Any] = {
    "a frame": pandas.DataFrame({"age": [31, 45], "sex": ["f", "m"]}),
    "a mapping": {"age": 31},
    "a list of mappings": [{"age": 31}, {"age": 45}],
    "a text": "age, sex",
    "a whole number": 7,
    "a float": 0.3,
    "an object": object(),
    "None": None,
}


@pytest.mark.parametrize("name", OF_PILLARS)
def test_the_arguments_do_work(name: str) -> None:
    """Else every mistake would be hidden behind the same error."""
    call, arguments = OF_PILLARS[name]
    call(**arguments)


def from_inside(name: str) -> list[str]:
    """What does not end in an error that names a parameter, for one call."""
    call, arguments = CALLS[name]
    found = []
    for parameter in inspect.signature(call).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        for words in MISTAKES if name in OF_PILLARS else NEVER_RIGHT:
            mistake = MISTAKES[words]
            try:
                call(**{**arguments, parameter.name: mistake})
            except SudareError:
                pass
            except TypeError as error:
                if f"'{parameter.name}'" not in str(error):
                    found.append(f"{parameter.name} = {words}: {type(error).__name__}: {error}")
            except Exception as error:
                found.append(f"{parameter.name} = {words}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("name", CALLS)
def test_no_error_comes_from_the_inside(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a text is a path to some
    assert from_inside(name) == []


def test_errors_of_signatures() -> None:
    """What was given, what is allowed: in the words of every other refusal."""
    frame = MISTAKES["a frame"]
    number: Any = 5
    models: Any = [microdata.KAnonymity(5)]
    for call, words in (
        (lambda: disclosure.primary_cells(frame, []), "The 'table' parameter of primary_cells must be a CellTable. "),
        (
            lambda: microdata.satisfies(frame, ["age"], number),
            "The 'models' parameter of satisfies must be a list of Model objects. ",
        ),
        (
            lambda: microdata.anonymize(frame, {"age": number}, [microdata.KAnonymity(2)]),
            "The 'hierarchies' parameter of anonymize must be a mapping of names to Generalization objects. ",
        ),
        (
            lambda: microdata.measure(frame, ["age"], models),
            "The 'sensitive' parameter of measure must be the name of a column. ",
        ),
    ):
        with pytest.raises(ParameterError) as caught:
            call()
        assert str(caught.value).startswith(words)
