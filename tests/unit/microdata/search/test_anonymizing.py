"""What is published satisfies its models when it is looked at alone, by plain code; wrong requests are refused in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import GuaranteeError, InputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    PopulationUniqueness,
    Presence,
    RecursiveDiversity,
)
from sudare.microdata.records import Records
from sudare.microdata.search.anonymizing import SUPPRESSED, anonymize, satisfies
from sudare.microdata.search.checking import Checker
from sudare.microdata.search.metrics import Metric
from tests.unit.microdata.naive_models import naive_holds

AGE = Generalization.of_paths("age", [(str(i), f"{i // 2 * 2}s", "young" if i < 4 else "old", "*") for i in range(8)])
SEX = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
HIERARCHIES = {"age": AGE, "sex": SEX}

MODELS: list[list[Model]] = [
    [KAnonymity(2)],
    [KAnonymity(3), DistinctDiversity("ill", 2)],
    [EntropyDiversity("ill", 1.9)],
    [RecursiveDiversity("ill", 2, 2)],
    [AlphaAnonymity("ill", 0.5, 2)],
    [KAnonymity(2), Closeness("ill", 0.25)],
    [Closeness("ill", 0.25, order=True)],
    [BetaLikeness("ill", 0.8, enhanced=True)],
]

Row = tuple[int, str, str]
ROWS = st.lists(st.tuples(st.integers(0, 7), st.sampled_from("fm"), st.sampled_from("abc")), min_size=4, max_size=30)


def records_of(rows: list[Row]) -> Records:
    return Records.of_columns(
        {
            "id": [f"p{place}" for place in range(len(rows))],
            "age": [str(row[0]) for row in rows],
            "sex": [row[1] for row in rows],
            "ill": [row[2] for row in rows],
        }
    )


def plain_check(rows: list[tuple[str, ...]], models: list[Model], table: list[str]) -> bool:
    classes: dict[tuple[str, ...], list[str]] = {}
    for age, sex, ill in rows:
        classes.setdefault((age, sex), []).append(ill)
    return all(naive_holds(model, values, table) for model in models for values in classes.values())


def rows_of(records: Records) -> list[tuple[str, ...]]:
    return list(zip(*(records.column(name).texts().tolist() for name in ("age", "sex", "ill")), strict=True))


@pytest.mark.parametrize("models", MODELS, ids=lambda models: "+".join(m.describe().split(":")[0] for m in models))
@settings(max_examples=15)
@given(
    rows=ROWS,
    suppression=st.sampled_from([0, 0.2, 0.6]),
    suppressed=st.sampled_from(["removed", "starred"]),
    method=st.sampled_from(["optimal", "heuristic", "local"]),
)
def test_the_output_alone_satisfies_its_models(
    models: list[Model], rows: list[Row], suppression: float, suppressed: str, method: str
) -> None:
    records = records_of(rows)
    limit = 0 if method == "local" else suppression
    result, told = None, ""
    try:
        result = anonymize(records, HIERARCHIES, models, suppression=limit, suppressed=suppressed, method=method)
    except InputError as refused:
        told = refused.english
    if result is None:
        assert any(words in told for words in ("No choice", "Every record", "fewer", "Even all records"))
        return
    out = rows_of(result.records)
    if suppressed == "removed":
        assert plain_check(out, models, [ill for *_, ill in out])
        assert len(out) == result.kept.sum()
    else:
        assert len(out) == len(rows)
        assert all(row[:2] == (SUPPRESSED, SUPPRESSED) for row, kept in zip(out, result.kept, strict=True) if not kept)
        # Nobody is exempt: the starred records are a class as well.
        assert plain_check(out, models, [ill for *_, ill in out])
    assert result.suppressed <= limit + 1e-12
    ids = result.records.column("id").texts().tolist()
    given_rows = {f"p{place}": row for place, row in enumerate(rows)}
    for name, (age, sex, ill) in zip(ids, out, strict=True):
        assert ill == given_rows[name][2]
        if method != "local" and age != SUPPRESSED:
            assert age in dict.fromkeys(AGE.paths()[given_rows[name][0]])
        assert sex in ("*", given_rows[name][1]) or method == "local"


def test_a_table_that_fails_is_seen_to_fail() -> None:
    """The control of the re-check."""
    records = Records.of_columns({"age": ["young", "young", "old"], "ill": ["a", "b", "a"]})
    assert not satisfies(records, ["age"], [KAnonymity(2)])
    assert satisfies(records, ["age"], [KAnonymity(2)], counts=np.array([1, 1, 2]))
    others = Records.of_columns({"age": ["old", "baby"]})
    assert not satisfies(records, ["age"], [KMap(2)])
    assert satisfies(records, ["age"], [KMap(2)], others=others)
    assert not satisfies(records, ["age"], [KMap(3)], others=others)
    # One of two old ones is published, and nobody of the babies.
    assert satisfies(records, ["age"], [Presence(0, 1)], others=others)
    assert not satisfies(records, ["age"], [Presence(0.1, 1)], others=others)
    assert satisfies(records, ["age"], [Presence(0.5, 1, absent=False)], others=others)
    assert not satisfies(records, ["age"], [Presence(0, 0.9)], others=others)
    assert not satisfies(records, ["age"], [DistinctDiversity("ill", 2)], others=others)


def test_one_kind_of_missing_sensitive_value_is_no_diversity() -> None:
    records = Records.of_columns({"age": ["1"] * 4, "ill": [None, "", None, ""]})
    assert not satisfies(records, ["age"], [DistinctDiversity("ill", 2)])
    for method in ("optimal", "local"):
        with pytest.raises(InputError):
            anonymize(records, {"age": AGE}, [DistinctDiversity("ill", 2)], method=method)


@settings(max_examples=60)
@given(
    rows=ROWS,
    others=ROWS,
    suppression=st.sampled_from([0, 0.3, 0.8]),
    suppressed=st.sampled_from(["removed", "starred"]),
    models=st.sampled_from(
        [
            [Presence(0.2, 0.8)],
            [Presence(0, 0.6)],
            [Presence(0.1, 0.9), KAnonymity(3)],
            [KMap(4)],
            [KMap(3), DistinctDiversity("ill", 2)],
        ]
    ),
)
def test_the_population_beside_the_output_bears_out_k_map_and_presence(
    rows: list[Row], others: list[Row], suppression: float, suppressed: str, models: list[Model]
) -> None:
    """From the output and the population alone, by plain code: also for classes of which nothing is published."""
    try:
        result = anonymize(
            records_of(rows),
            HIERARCHIES,
            models,
            others=records_of(others),
            suppression=suppression,
            suppressed=suppressed,
        )
    except InputError:
        return
    assert result.search is not None
    levels = result.search.levels

    def seen(row: Row) -> tuple[str, str]:
        return AGE.paths()[row[0]][levels["age"]], SEX.paths()["fm".index(row[1])][levels["sex"]]

    starred = {seen(row) for row, kept in zip(rows, result.kept, strict=True) if not kept}
    published = Counter(row[:2] for row in rows_of(result.records))
    everybody: Counter[tuple[str, ...]] = Counter()
    for row in [*rows, *others]:
        is_starred = suppressed == "starred" and seen(row) in starred
        everybody[(SUPPRESSED, SUPPRESSED) if is_starred else seen(row)] += 1
    for model in models:
        for key, count in everybody.items():
            if isinstance(model, Presence):
                assert model.smallest * count <= published[key] <= model.largest * count
            if isinstance(model, KMap) and published[key]:
                assert count >= model.k


@pytest.mark.parametrize("suppressed", ["removed", "starred"])
def test_what_a_wrong_search_finds_is_not_given_out(suppressed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the output is judged by itself, whatever the search says."""
    town = {"town": Generalization.of_paths("town", [("a",), ("b",), ("c",)])}
    records = Records.of_columns({"town": ["a"] * 9 + ["b"] * 5 + ["c"] * 2})
    others = Records.of_columns({"town": ["b"] * 5 + ["c"] * 2})
    asked: list[list[Model]] = [[Presence(0.3, 0.8)], [Presence(0.1, 1), KAnonymity(5)]]
    if suppressed == "starred":
        asked += [[KMap(8)], [KAnonymity(5)]]
    monkeypatch.setattr(Checker, "_can_be_absent", lambda *_: True)
    monkeypatch.setattr(Checker, "_hold_together", lambda *_: True)
    for models in asked:
        with pytest.raises(GuaranteeError):
            anonymize(records, town, models, others=others, suppression=0.9, suppressed=suppressed)


def test_starred_records_are_as_many_as_a_class_must_have() -> None:
    """Two rare records could be starred, three must be; and coarser values for all are better than a lone star."""
    rows: list[Row] = [(1, "f", "a")] * 6 + [(6, "m", "b")] * 6 + [(0, "m", "a"), (7, "f", "b")]
    two = anonymize(records_of(rows), HIERARCHIES, [KAnonymity(3)], suppression=0.3, suppressed="starred")
    assert two.kept.all()
    three = [*rows, (3, "m", "a")]
    result = anonymize(records_of(three), HIERARCHIES, [KAnonymity(3)], suppression=0.3, suppressed="starred")
    assert result.search is not None
    assert dict(result.search.levels) == {"age": 0, "sex": 0}
    assert result.kept.tolist() == [True] * 12 + [False] * 3
    flat = {"age": Generalization.of_paths("age", [(str(i),) for i in range(8)])}
    with pytest.raises(InputError, match="for the starred ones, which are a class as well"):
        anonymize(records_of(rows), flat, [KAnonymity(3)], suppression=0.3, suppressed="starred")


def test_starred_records_do_not_share_their_secret() -> None:
    """Every class that is suppressed for want of diversity has illness b, so together they have none either."""
    flat = {"age": Generalization.of_paths("age", [(str(i),) for i in range(8)])}
    rows: list[Row] = [(1, "f", "a"), (1, "f", "b")] * 4 + [(2, "m", "b"), (3, "m", "b")]
    models: list[Model] = [DistinctDiversity("ill", 2)]
    assert anonymize(records_of(rows), flat, models, suppression=0.3).records.rows == 8
    with pytest.raises(InputError, match="starred"):
        anonymize(records_of(rows), flat, models, suppression=0.3, suppressed="starred")


def test_the_search_tells_what_it_did() -> None:
    result = anonymize(records_of([(i % 8, "fm"[i % 2], "ab"[i % 2]) for i in range(24)]), HIERARCHIES, [KAnonymity(4)])
    search = result.search
    assert search is not None
    assert search.is_optimal
    assert search.gap == 0
    assert search.choices == 8
    assert 1 <= search.checked <= 9
    assert search.loss == search.bound


def test_suppression_of_two_strangers_keeps_the_rest_as_it_is() -> None:
    rows: list[Row] = [(1, "f", "a")] * 5 + [(6, "m", "b")] * 5 + [(0, "m", "a"), (7, "f", "b")]
    result = anonymize(records_of(rows), HIERARCHIES, [KAnonymity(5)], suppression=0.2)
    assert result.search is not None
    assert dict(result.search.levels) == {"age": 0, "sex": 0}
    assert result.kept.tolist() == [True] * 10 + [False] * 2
    assert result.records.rows == 10


def test_others_around_the_records() -> None:
    others = records_of([(i % 8, "fm"[i % 2], "a") for i in range(40)])
    records = records_of([(1, "m", "a"), (2, "f", "b")])
    result = anonymize(records, HIERARCHIES, [KMap(8)], others=others)
    assert result.search is not None
    assert result.search.is_optimal
    assert dict(result.search.levels) in ({"age": 1, "sex": 1}, {"age": 2, "sex": 0})
    with pytest.raises(InputError, match="No choice of levels"):
        anonymize(records, HIERARCHIES, [Presence(0.5, 1)], others=others)


def test_a_value_that_is_suppressed_everywhere_leaves_the_scale() -> None:
    """Ordered distances are in parts of the scale; without the suppressed value it is shorter, and what is near may be far."""
    rows: list[Row] = [(1, "f", "a"), (1, "f", "b"), (6, "m", "a"), (6, "m", "b"), (0, "m", "z"), (7, "f", "c")] * 3
    for t in (0, 0.1, 0.2, 0.3):
        models: list[Model] = [Closeness("ill", t, order=True)]
        result = anonymize(records_of(rows), HIERARCHIES, models, suppression=0.4)
        out = rows_of(result.records)
        assert plain_check(out, models, [ill for *_, ill in out])


def test_missing_values_are_values_if_the_hierarchy_lists_them() -> None:
    age = Generalization.of_paths("age", [*((str(i), "*") for i in range(3)), ("", "*")])
    records = Records.of_columns({"age": ["1", None, "1", None]})
    result = anonymize(records, {"age": age}, [KAnonymity(2)])
    assert result.records.column("age").texts().tolist() == ["1", None, "1", None]
    with pytest.raises(InputError, match="'age' has an empty field in row 2"):
        anonymize(records, {"age": AGE}, [KAnonymity(2)])


GOOD = records_of([(1, "f", "a"), (2, "m", "b"), (3, "f", "a")])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(4)]),
            "at least 4 records in each class, and the table has fewer",
        ),
        (lambda: anonymize(GOOD, {"agee": AGE}, [KAnonymity(2)]), "There is no column 'agee'. Did you mean 'age'?"),
        (lambda: anonymize(GOOD, HIERARCHIES, [DistinctDiversity("no", 2)]), "There is no column 'no'"),
        (
            lambda: anonymize(Records.of_columns({"age": ["1", "77"]}), {"age": AGE}, [KAnonymity(2)]),
            "The column 'age' has a value in row 2 of the data which is not in its hierarchy",
        ),
        (
            lambda: anonymize(
                GOOD, {"age": Generalization.of_paths("age", [(str(i),) for i in range(8)])}, [KAnonymity(2)]
            ),
            "No choice of levels satisfies the models, not even the coarsest",
        ),
        (
            lambda: anonymize(
                GOOD,
                {"age": Generalization.of_paths("age", [(str(i),) for i in range(8)])},
                [KAnonymity(2)],
                suppression=1,
            ),
            "Every record would be suppressed",
        ),
    ],
)
def test_bad_data_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in caught.value.english
    assert not caught.value.japanese.isascii()


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: anonymize(GOOD, HIERARCHIES, [DistinctDiversity("sex", 2)]), "sensitive"),
        (lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(2)], sensitive=["age"]), "sensitive"),
        (lambda: anonymize(GOOD, {}, [KAnonymity(2)]), "hierarchies"),
        (lambda: anonymize(GOOD, HIERARCHIES, []), "models"),
        (lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(2)], suppression=1.5), "suppression"),
        (lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(2)], method="best"), "method"),
        (lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(2)], method="local", suppression=0.1), "method"),
        (lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(2)], suppressed="hidden"), "suppressed"),
        (lambda: anonymize(GOOD, HIERARCHIES, [KAnonymity(2)], metric="beauty"), "metric"),
        (lambda: Metric("loss", "median"), "aggregate"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], object], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.parameter == parameter


def test_an_empty_result_may_be_allowed() -> None:
    flat = Generalization.of_paths("age", [(str(i),) for i in range(8)])
    result = anonymize(GOOD, {"age": flat}, [KAnonymity(2)], suppression=1, allow_empty=True)
    assert result.records.rows == 0
    assert result.suppressed == 1.0


@pytest.mark.parametrize("suppressed", ["removed", "starred"])
def test_population_uniqueness_holds_in_what_is_published(suppressed: str) -> None:
    """Beside another model, whose suppressed records change the estimate."""
    random = np.random.default_rng(3)
    table = Records.of_columns(
        {"age": random.integers(20, 60, 120).astype(str).tolist(), "ill": random.choice(list("abc"), 120).tolist()}
    )
    age = Generalization.of_paths("age", [(str(year), f"{year // 10}0s", "*") for year in range(20, 60)])
    models: list[Model] = [PopulationUniqueness(0.0005, 20_000), Closeness("ill", 0.7)]
    result = anonymize(table, {"age": age}, models, suppression=0.4, suppressed=suppressed)
    assert satisfies(result.records, ["age"], models)
    assert result.search is not None
    assert result.search.levels == {"age": 0}
    assert 0 < result.suppressed < 0.4
    with pytest.raises(ParameterError, match="population uniqueness"):
        anonymize(table, {"age": age}, models, method="local")
