"""Plan files: what they may say, and what each mistake is answered with, in both languages."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare import Bins, Budget, Category, Mesh, Positions, Unit
from sudare.domain import Times
from sudare.errors import PlanError
from sudare.releases.data.domains import describe_domain, domain_of_description
from sudare.releases.kinds.counts import ReleasePlan, read_plan

PLAN = """
title = "Population by mesh"
publisher = "Office"
language = "ja"

[source]
path = "people.parquet"
columns = { mesh = "KEY_CODE" }

[[domain]]
name = "mesh"
kind = "mesh"
level = "1/2"
corners = ["533945", "533946"]

[[domain]]
name = "sex"
kind = "category"
labels = ["f", "m"]

[unit]
who = "resident"

[budget]
epsilon = 0.1

[ledger]
location = "budget.db"
dataset = "census"

[output]
folder = "out/release"
formats = ["parquet", "csv"]
"""


def written(folder: Path, text: str = PLAN, **replaced: str) -> Path:
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_says_everything(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path))
    assert (plan.title, plan.publisher, plan.language) == ("Population by mesh", "Office", "ja")
    assert plan.source.path == (str(tmp_path / "people.parquet"),)
    assert plan.source.rows == "people"
    assert plan.domain.attributes == (Mesh("mesh", "1/2", 8560, 6240 + 100, 20, 40), Category("sex", ("f", "m")))
    assert plan.budget == Budget(epsilon=Fraction(1, 10))
    assert plan.unit == Unit("resident")
    assert plan.ledger.location == str(tmp_path / "budget.db")
    assert plan.folder == tmp_path / "out" / "release"
    assert plan.formats == ("parquet", "csv")
    assert plan.predicted is not None
    assert plan.predicted.budget == plan.budget
    assert plan.reference is None


def test_relative_paths_start_at_the_plan_and_urls_stay(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, **{'"budget.db"': '"postgresql://somewhere/ledger"'}))
    assert plan.ledger.location == "postgresql://somewhere/ledger"


def test_all_kinds_of_attributes_and_back(tmp_path: Path) -> None:
    more = """
[[domain]]
name = "age"
kind = "bins"
edges = [0, 15, 64.5, 120]
[[domain]]
name = "hour"
kind = "positions"
length = 24
[unit]"""
    plan = read_plan(written(tmp_path, **{"[unit]": more}))
    assert plan.domain.attributes[2:] == (Bins("age", (0, 15, 64.5, 120)), Positions("hour", 24))
    assert domain_of_description(describe_domain(plan.domain), "release.json") == plan.domain


@pytest.mark.parametrize(
    ("corners", "level", "window"),
    [
        ('corners = ["5339", "5339"]', "3", (4240, 3120, 80, 80)),
        ('corners = ["53394611", "53394622"]', "3", (4240 + 41, 3120 + 61, 2, 2)),
        ("window = [10, 20, 4, 8]", "1", (10, 20, 4, 8)),
        ('area = "japan"', "1", (36, 22, 33, 32)),
    ],
)
def test_windows(tmp_path: Path, corners: str, level: str, window: tuple[int, ...]) -> None:
    text = PLAN.replace('corners = ["533945", "533946"]', corners).replace('"1/2"', f'"{level}"')
    (mesh, _) = read_plan(written(tmp_path, text)).domain.attributes
    assert mesh == Mesh("mesh", level, *window)


MISTAKES: dict[str, tuple[str, str, list[str]]] = {
    "a typo": ("title =", "titel =", ["'title' in the plan is missing", "'titel'"]),
    "a typo in a budget": ("epsilon = 0.1", "epsilom = 0.1", ["epsilom", "Did you mean 'epsilon'?"]),
    "a typo of an optional key": ("columns = {", "colums = {", ["colums", "Did you mean 'columns'?"]),
    "one domain": ('[[domain]]\nname = "sex"', '[domain]\nname = "sex"', ["TOML"]),
    "a size of memory": ("[output]", '[reading]\nmemory = "lots"\n[output]', ["memory", "500MB"]),
    "a raster of sexes": ('"csv"]', '"geotiff"]', ["formats", "geotiff"]),
    "gaussian noise for pure epsilon": ("[output]", '[method]\nname = "gaussian"\n[output]', ["name", "delta"]),
    "an unknown key": ('publisher = "Office"', 'publishr = "Office"', ["publishr", "Did you mean 'publisher'?"]),
    "a key in a section": ('who = "resident"', 'whom = "resident"', ["[unit]", "whom", "who"]),
    "an unknown section": ("[output]", "[outputs]", ["outputs", "Did you mean 'output'?"]),
    "no TOML": ("[budget]", "[budget", ["not TOML", "line"]),
    "text for a number": ("epsilon = 0.1", 'epsilon = "0.1"', ["epsilon", "a number"]),
    "a negative budget": ("epsilon = 0.1", "epsilon = -1", ["epsilon", "positive"]),
    "no budget": ("epsilon = 0.1", "", ["epsilon", "rho"]),
    "both": ("epsilon = 0.1", "epsilon = 1\nrho = 1", ["epsilon", "rho"]),
    "a flag as a number": ("epsilon = 0.1", "epsilon = true", ["epsilon", "a number"]),
    "a level": ('level = "1/2"', 'level = "1/3"', ["level", "'1/2'"]),
    "corners in the wrong order": ('["533945", "533946"]', '["533946", "533945"]', ["corners", "south-west first"]),
    "a corner that is no code": ('["533945", "533946"]', '["5339", "99999"]', ["mesh codes"]),
    "a kind": ('kind = "category"', 'kind = "categorie"', ["categorie", "Did you mean 'category'?"]),
    "labels": ('labels = ["f", "m"]', 'labels = ["f", "f"]', ["labels", "different"]),
    "a format": ('"csv"]', '"xls"]', ["formats", "parquet", "xls"]),
    "an empty title": ('title = "Population by mesh"', 'title = ""', ["title", "empty"]),
    "no source": ('path = "people.parquet"', "", ["path", "source", "missing"]),
    "a method": ("[output]", '[method]\nname = "wide-tre"\n[output]', ["wide-tre", "Did you mean 'wide-tree'?"]),
    "a setting of no mechanism": ("[output]", "[method]\nthreshold = 3\n[output]", ["threshold", "auto"]),
    "a setting that releases decide": (
        "[output]",
        '[method]\nname = "laplace"\nthreads = 2\n[output]',
        ["threads", "threshold"],
    ),
    "a workload": ("[output]", '[method]\nworkload = ["a"]\n[output]', ["workload", "[1, 4, 16]"]),
    "a reference that is not public": (
        "[output]",
        '[reference]\nname = "old"\npath = "old.csv"\n[output]',
        ["reference", "public", "declare"],
    ),
    "a public total under add-remove": (
        'who = "resident"',
        'adjacency = "add-remove"\n[method]\npublic_total = true',
        ["adjacency", "replace"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(tmp_path: Path, mistake: str) -> None:
    old, new, words = MISTAKES[mistake]
    with pytest.raises(PlanError) as caught:
        read_plan(written(tmp_path, **{old: new}))
    for word in words:
        assert word in str(caught.value)
    assert caught.value.japanese != caught.value.english
    assert "plan.toml" in caught.value.japanese


def test_a_missing_and_an_unreadable_plan(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="sudare init"):
        read_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_bytes(b"title = '\x93\xfa'")
    with pytest.raises(PlanError, match="UTF-8"):
        read_plan(tmp_path / "plan.toml")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('path = "people.parquet"', 'path = "people.parquet"\noutside = "leave out"'),
        ('path = "people.parquet"', 'path = "people.parquet"\nwhere = { year = 2020 }'),
        ('who = "resident"', 'who = "resident"\nrows = 2'),
    ],
)
def test_a_public_total_needs_everybody_exactly_once(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(PlanError, match="public_total"):
        read_plan(written(tmp_path, **{old: new, "[output]": "[method]\npublic_total = true\n[output]"}))


def test_persons_are_bounded_by_rows_or_by_cells(tmp_path: Path) -> None:
    person = {'path = "people.parquet"': 'path = "people.parquet"\nperson = "id"'}
    assert read_plan(written(tmp_path, **person, **{'who = "resident"': "rows = 3"})).unit == Unit.with_rows(3)
    distinct = read_plan(written(tmp_path, **person, **{'who = "resident"': "cells = 3\nrows_per_cell = 1"}))
    assert distinct.unit == Unit(cells=3)
    with pytest.raises(PlanError, match="'rows'"):
        read_plan(written(tmp_path, **person, **{'who = "resident"': "cells = 3\nrows = 4"}))


def test_a_public_total_protects_by_replacement(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, **{"[output]": "[method]\npublic_total = true\n[output]"}))
    assert plan.unit.adjacency == "replace"
    assert plan.predicted is not None
    assert plan.predicted.invariants == ("total",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon = 0.1", "epsilon = 0.2"),
        ('labels = ["f", "m"]', 'labels = ["m", "f"]'),
        ('who = "resident"', 'who = "resident"\nrows = 2'),
        ('columns = { mesh = "KEY_CODE" }', 'columns = { mesh = "CODE" }'),
        ("[output]", '[method]\nworkload = "cells"\n[output]'),
        ("[output]", "[output]\nmeasurements = true"),
    ],
)
def test_fingerprints_tell_releases_apart(tmp_path: Path, old: str, new: str) -> None:
    plan = read_plan(written(tmp_path))
    assert plan.fingerprint() == read_plan(written(tmp_path)).fingerprint()
    assert plan.fingerprint() != plan.fingerprint("another reference")
    assert plan.fingerprint() != read_plan(written(tmp_path, **{old: new})).fingerprint()


def test_fingerprints_ignore_words(tmp_path: Path) -> None:
    plan, other = read_plan(written(tmp_path)), read_plan(written(tmp_path, **{"Population by mesh": "Another title"}))
    assert plan.fingerprint() == other.fingerprint()


def test_settings_of_a_named_mechanism(tmp_path: Path) -> None:
    text = '[method]\nname = "laplace"\nthreshold = 5\n[output]'
    plan: ReleasePlan = read_plan(written(tmp_path, **{"[output]": text}))
    settings: dict[str, Any] = dict(plan.settings)
    assert (plan.method, settings, plan.predicted) == ("laplace", {"threshold": 5}, None)


TIME = """labels = ["f", "m"]

[[domain]]
name = "time"
kind = "time"
by = "hour"
from = 2025-03-29
to = "2025-03-31"
time_zone = "Europe/Paris"
"""


def test_times(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, **{'labels = ["f", "m"]': TIME}))
    times = plan.domain.attributes[2]
    assert times == Times("time", "hour", date(2025, 3, 29), date(2025, 3, 31), "Europe/Paris")
    assert times.shape == (71,)
    assert domain_of_description(json.loads(json.dumps(describe_domain(plan.domain))), "x") == plan.domain


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('by = "hour"', 'by = "hours"', "'by' .* Did you mean 'hour'"),
        ('by = "hour"', "", "'by' .* is missing"),
        ("from = 2025-03-29", "from = 2025-03-29T10:00:00", "'from' .* must be a day, such as 2025-04-01"),
        ('to = "2025-03-31"', 'to = "31.3.2025"', "'to' .* must be a day"),
        ('to = "2025-03-31"', 'to = "2025-03-01"', "'to' .* a day from 2025-03-29 on"),
        ('time_zone = "Europe/Paris"', "", "'time_zone' .* is missing: name one"),
        ('time_zone = "Europe/Paris"', 'time_zone = "Paris"', "'time_zone' .* the name of a time zone"),
    ],
)
def test_mistakes_in_times(old: str, new: str, key: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=key):
        read_plan(written(tmp_path, **{'labels = ["f", "m"]': TIME.replace(old, new)}))


@pytest.mark.parametrize(
    "edges", ["[2025-04-01, 2025-05-01]", '["2025/05/01", "2025-04-01T09:00"]', "[2025-04-01T00:00:00Z, 2025-05-01]"]
)
def test_days_and_times_as_edges_are_told_how_to_be_written(tmp_path: Path, edges: str) -> None:
    """What is told can be written as it stands."""
    lines = PLAN.split("[[domain]]")[0], "[budget]\nepsilon = 1" + PLAN.split("epsilon = 0.1")[1]
    file = tmp_path / "plan.toml"
    file.write_text(
        f'{lines[0]}[[domain]]\nname = "visit"\nkind = "bins"\nedges = {edges}\n{lines[1]}', encoding="utf-8"
    )
    with pytest.raises(PlanError) as told:
        read_plan(file)
    for said in (told.value.english, told.value.japanese):
        _, written, _ = said.split("\n\n")
        file.write_text(f"{lines[0]}{written}\n{lines[1]}", encoding="utf-8")
        times = read_plan(file).domain.attributes[0]
        assert isinstance(times, Times)
        assert (times.name, times.first, times.last) == ("visit", date(2025, 4, 1), date(2025, 5, 1))


def test_a_mesh_level_may_be_a_size(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    by_name = read_plan(file).fingerprint()
    file.write_text(PLAN.replace('"1/2"', '"500m"'), encoding="utf-8")
    assert read_plan(file).fingerprint() == by_name


def test_a_mesh_level_that_there_is_none_of(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.replace('"1/2"', '"100m"'), encoding="utf-8")
    with pytest.raises(PlanError) as told:
        read_plan(tmp_path / "plan.toml")
    assert "'level' in section [domain 1] must be one of '1' (80km)" in told.value.english
    assert "「level」は次のいずれか: '1' (80km)" in told.value.japanese
