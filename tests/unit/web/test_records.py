"""Records on the page: from a file to a verified release, the lattice of choices, and nobody's values unless asked for."""

from __future__ import annotations

import csv
import json
import random
import re
import tomllib
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from sudare.releases.registry import verify_folder
from tests.unit.web.asking import Asking
from tests.unit.web.test_tables import last_event, words_in

FORM = {
    "file": "patients.csv",
    "title": "患者",
    "publisher": "hospital",
    "k": "5",
    "suppression": "0.05",
    "role-0": "identifier",
    "role-1": "quasi-identifier",
    "rule-1": "intervals",
    "detail-1": "10, 20",
    "role-2": "quasi-identifier",
    "rule-2": "groups",
    "detail-2": "医療: nurse, doctor\noffice: teacher, clerk",
    "role-3": "sensitive",
    "model-3": "l-diversity",
    "number-3": "2",
}


def write_patients(folder: Path) -> None:
    draw = random.Random(7)
    with (folder / "patients.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "age", "job", "illness"])
        for number in range(600):
            age = min(95, max(0, round(draw.gauss(45, 20))))
            illness = draw.choices(["none", "flu", "heart", "cancer"], [70, 15, 10, 5])[0]
            writer.writerow([f"Patient {number}", age, draw.choice(["nurse", "doctor", "teacher", "clerk"]), illness])


@pytest.mark.parametrize(("language", "risk"), [("en", "Equivalence classes"), ("ja", "等価クラス")])
def test_from_a_file_to_verified_records(tmp_path: Path, language: str, risk: str) -> None:
    write_patients(tmp_path)
    asking = Asking(tmp_path, language=language)
    asked = asking.get("/records/new?file=patients.csv")
    assert "Patient" not in asked.text
    place = asking.post("/records/new", FORM).headers["location"]
    assert unquote(place) == "/records?file=患者/plan.toml"
    assert asking.get(f"/plan?file={quote('患者/plan.toml')}").headers["location"] == place
    row = f'<th scope="row">{risk}'
    assert row not in asking.get(place).text, "figures of the data come when they are asked for"
    shown = asking.get(f"{place}&risks=1")
    assert row in shown.text
    row = r"<td>(nurse|doctor|teacher|clerk|医療|office|\*)</td>"
    assert not re.search(row, shown.text), "values of persons are not shown unasked"
    assert len(re.findall('action="/records/levels"', shown.text)) <= 10
    rows = asking.get(f"{place}&risks=1&rows=1")
    assert len(re.findall(row, rows.text)) >= 10
    assert "Patient" not in rows.text
    done = last_event(asking, asking.post("/plan/carry-out", {"file": "患者/plan.toml"}))
    assert done["state"] == "done", done
    folder = tmp_path / unquote(done["result"]).partition("=")[2]
    assert not [check for check in verify_folder(folder) if check.outcome == "failed"]
    assert json.loads((folder / "release.json").read_text(encoding="utf-8"))["risks"]["after"]["k"] >= 5


def test_a_choice_of_the_lattice_becomes_levels_of_another_version(tmp_path: Path) -> None:
    write_patients(tmp_path)
    asking = Asking(tmp_path)
    place = asking.post("/records/new", FORM | {"title": "p"}).headers["location"]
    before = (tmp_path / "p/plan.toml").read_bytes()
    shown = asking.get(f"{place}&risks=1&weight-0=10").text
    second = re.findall(r'action="/records/levels">(.*?)<button', shown, re.S)[1]
    levels = dict(re.findall(r'name="(level-\d)" value="(\d)"', second))
    made = asking.post("/records/levels", {"file": "p/plan.toml", **levels})
    assert unquote(made.headers["location"]) == "/records?file=p/plan-2.toml&risks=1"
    assert (tmp_path / "p/plan.toml").read_bytes() == before
    said = tomllib.loads((tmp_path / "p/plan-2.toml").read_text(encoding="utf-8"))["columns"]
    assert [str(said[name]["level"]) for name in ("age", "job")] == list(levels.values())
    done = last_event(asking, asking.post("/plan/carry-out", {"file": "p/plan-2.toml"}))
    assert done["state"] == "done", done


def test_weights_change_the_order_of_choices(tmp_path: Path) -> None:
    from sudare.releases.kinds.records.planning.plan_file import read_people_plan
    from sudare.web.content.record_choices import lattice_of

    write_patients(tmp_path)
    Asking(tmp_path).post("/records/new", FORM | {"title": "p"})
    plan = read_people_plan(tmp_path / "p/plan.toml")
    every = lattice_of(plan)
    assert every.is_proved
    assert len(every.nodes) == every.choices, "a small lattice is looked at as a whole"
    assert [node.loss for node in every.best] == sorted(node.loss for node in every.best)
    finest = {name: lattice_of(plan, {name: 1000.0}).best[0].levels for name in every.names}
    assert finest["age"][0] <= finest["job"][0]
    assert finest["job"][1] <= finest["age"][1]


def test_another_version_with_other_models(tmp_path: Path) -> None:
    write_patients(tmp_path)
    asking = Asking(tmp_path)
    asking.post("/records/new", FORM | {"title": "p"})
    shown = asking.get("/records?file=p/plan.toml").text
    assert "医療: nurse, doctor" in shown, "the hierarchy can be edited"
    changed = {key: value for key, value in FORM.items() if key not in ("title", "publisher")}
    changed |= {"file": "p/plan.toml", "k": "7", "model-3": "t-closeness", "number-3": "0.4"}
    assert asking.post("/records/change", changed).status == 303
    said = tomllib.loads((tmp_path / "p/plan-2.toml").read_text(encoding="utf-8"))
    assert said["protection"] == {
        "method": "anonymize",
        "k": 7,
        "suppression": 0.05,
        "models": [{"name": "t-closeness", "column": "illness", "t": 0.4}],
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": "1"}, "is no number"),
        ({"k": "", "model-3": ""}, "k"),
        ({"suppression": "2"}, "is no number"),
        ({"detail-1": "wide"}, "widths"),
        ({"detail-2": "nurse doctor"}, "one a line"),
        ({"number-3": ""}, "needs a number"),
        ({"rule-1": "none"}, "hierarchy"),
        ({"file": "/etc/passwd"}, "There is no"),
    ],
)
def test_a_wrong_form_leaves_nothing(tmp_path: Path, change: dict[str, str], said: str) -> None:
    write_patients(tmp_path)
    answer = Asking(tmp_path).post("/records/new", FORM | change)
    assert answer.status == 400
    assert said in answer.text
    assert [path.name for path in tmp_path.iterdir()] == ["patients.csv"]


def test_what_cannot_be_protected_is_said(tmp_path: Path) -> None:
    write_patients(tmp_path)
    asking = Asking(tmp_path)
    asking.post("/records/new", FORM | {"title": "p", "k": "100000"})
    shown = asking.get("/records?file=p/plan.toml&risks=1")
    assert shown.status == 200
    assert 'role="alert"' in shown.text
    assert "Patient" not in words_in(shown)
