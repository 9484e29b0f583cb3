"""Models in a report: as plain values, and back, whatever somebody made of them since."""

from __future__ import annotations

import json

import pytest

from sudare.errors import InputError
from sudare.microdata.models import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    PlannedModel,
    Presence,
    RecursiveDiversity,
)
from sudare.microdata.models.registry import model_of_record

MODELS: list[PlannedModel] = [
    KAnonymity(5),
    DistinctDiversity("ill", 2),
    EntropyDiversity("ill", 1.5),
    RecursiveDiversity("ill", 2.5, 3),
    Closeness("ill", 0.2),
    Closeness("ill", 0.2, order=["a", "b"]),
    Closeness("ill", 0.2, order=True),
    AlphaAnonymity("ill", 0.5, 3),
    BetaLikeness("ill", 1.25, enhanced=True),
    DeltaDisclosure("ill", 1.5),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.describe()[:20])
def test_models_come_back_from_a_report(model: PlannedModel) -> None:
    record = json.loads(json.dumps(model.to_record()))
    found = model_of_record(record)
    assert type(found) is type(model)
    assert vars(found) == vars(model)


def test_models_that_a_file_cannot_show() -> None:
    for model in (KMap(5), Presence(0.1, 0.5)):
        assert model_of_record(model.to_record()) is None
    close: dict[str, object] = {"name": "t-closeness", "column": "ill", "t": "1/5", "order": False}
    assert isinstance(model_of_record(close), Closeness)
    changes: list[dict[str, object]] = [{"t": "1e999999999"}, {"t": "1/0"}, {"order": [[]]}, {"column": {}}]
    hostile = [close | change for change in changes]
    unknown: tuple[object, ...] = (None, 7, {}, {"name": "trust me"}, {"name": []}, {"name": "k-anonymity"})
    for wrong in (*unknown, *hostile, {"name": "k-anonymity", "k": "many"}, {"name": "k-anonymity", "k": 10**30}):
        with pytest.raises(InputError):
            model_of_record(wrong)
