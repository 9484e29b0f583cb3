"""A plan for people says what it means, and every mistake in it is told before any data is read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sudare.errors import InputError, PlanError
from sudare.microdata.models import Closeness, DistinctDiversity, KAnonymity, RecursiveDiversity
from sudare.releases.kinds.records import PeoplePlan, read_people_plan
from sudare.releases.kinds.records.steps.aim import AimStep
from sudare.releases.kinds.records.steps.anonymize import Anonymize
from sudare.releases.kinds.records.steps.mst import MstStep
from sudare.releases.kinds.records.steps.noise import Noise
from sudare.releases.kinds.records.steps.pram import Pram
from sudare.releases.kinds.records.steps.sample import SampleStep
from sudare.releases.kinds.records.steps.sampled_k_anonymity import SampledGroups
from sudare.releases.kinds.records.steps.swap import Swap
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, LEDGER, MST, SAMPLED

GROUPS = '[[steps]]\nmethod = "microaggregate"\ncolumns = ["wage"]\nk = 3\n'


def read(folder: Path, text: str) -> PeoplePlan:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return read_people_plan(folder / "plan.toml")


def test_a_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(HEAD + COLUMNS + ANONYMIZE, encoding="utf-8")
    plan = read_people_plan(tmp_path / "plan.toml", "elsewhere")
    assert plan.quasi_identifiers == ("age", "sex", "zip")
    assert plan.published == ("age", "sex", "zip", "illness", "wage")
    assert plan.folder == Path("elsewhere")
    assert plan.charging is None
    (step,) = plan.steps
    assert step.name == "anonymize"
    assert isinstance(step, Anonymize)
    assert step.models == (KAnonymity(4),)
    assert (float(step.suppression), step.metric, step.search) == (0.0, "loss", "optimal")


def test_models(tmp_path: Path) -> None:
    models = """models = [
    { name = "l-diversity", l = 2 },
    { name = "l-diversity", column = "illness", kind = "recursive", c = 3.5, l = 2 },
    { name = "t-closeness", t = 0.25, order = ["none", "flu", "heart"] },
    { name = "alpha-k-anonymity", alpha = 0.9, k = 3 },
    { name = "beta-likeness", beta = 2, enhanced = true },
    { name = "delta-disclosure", delta = 1.5 },
]
"""
    plan = read(tmp_path, HEAD + COLUMNS + ANONYMIZE + models)
    step = plan.steps[0]
    assert isinstance(step, Anonymize)
    assert step.models[1:3] == (DistinctDiversity("illness", 2), RecursiveDiversity("illness", Fraction(7, 2), 2))
    assert isinstance(step.models[3], Closeness)
    assert len(step.models) == 7


def test_steps_in_order(tmp_path: Path) -> None:
    steps = """
[[steps]]
method = "sample"
rate = "1/2"
[[steps]]
method = "swap"
columns = ["zip"]
share = 0.1
within = ["sex"]
[[steps]]
method = "pram"
column = "illness"
keep = 0.8
[[steps]]
method = "noise"
column = "wage"
epsilon = 1
bounds = [0, 1000]
decimals = 0
[[steps]]
method = "anonymize"
k = 3
"""
    plan = read(tmp_path, HEAD + COLUMNS + steps)
    found = plan.steps
    assert found[0] == SampleStep(Fraction(1, 2), None, None)
    assert found[1] == Swap("random", ("zip",), ("sex",), Fraction(1, 10), None, None)
    assert isinstance(found[2], Pram)
    assert found[3] == Noise("wage", Fraction(1), None, None, (Fraction(0), Fraction(1000)), 0)
    assert isinstance(found[4], Anonymize)


def test_steps_that_leave_groups_as_they_are(tmp_path: Path) -> None:
    for step in (
        'method = "anonymize"\nk = 3\n',
        'method = "anonymize"\nk = 3\nsuppression = 0.1\nsuppressed = "starred"\n',
        'method = "swap"\ncolumns = ["illness"]\nshare = 0.5\n',
        'method = "microaggregate"\ncolumns = ["age"]\nk = 3\n',
    ):
        assert len(read(tmp_path, HEAD + COLUMNS + GROUPS + f"[[steps]]\n{step}").steps) == 2


def test_private_plans(tmp_path: Path) -> None:
    sampled = read(tmp_path, SAMPLED)
    assert sampled.steps == (SampledGroups(None, {"age": 1, "sex": 0}),)
    assert sampled.charging is not None
    assert sampled.charging.ledger.dataset == "town"
    made = read(tmp_path, MST)
    assert made.steps == (MstStep(None),)
    aim = read(tmp_path, MST.replace('"mst"', '"aim"\nworkload = [["age", "sex"]]'))
    assert aim.steps == (AimStep(None, (("age", "sex"),), None),)
    counted = read(tmp_path, MST.replace('"mst"', '"aim"\nworkload = 2'))
    assert counted.steps == (AimStep(None, 2, None),)


def test_words_do_not_change_a_fingerprint_and_facts_do(tmp_path: Path) -> None:
    first = read(tmp_path, MST).fingerprint()
    assert read(tmp_path, MST.replace("A small town", "Another title")).fingerprint() == first
    assert read(tmp_path, MST.replace("epsilon = 2", "epsilon = 1")).fingerprint() != first
    assert read(tmp_path, MST.replace("20, 40", "25, 40")).fingerprint() != first
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    by_file = SAMPLED.replace('role = "other"', 'role = "other"\nhierarchy = "sex.csv"')
    before = read(tmp_path, by_file).fingerprint()
    (tmp_path / "sex.csv").write_text("f;all\nm;all\n")
    assert read(tmp_path, by_file).fingerprint() != before


WHOLE = HEAD + COLUMNS + ANONYMIZE


@pytest.mark.parametrize(
    ("text", "english", "japanese"),
    [
        (WHOLE.replace("k = 4", "k = 1"), "'k' in section [protection] must be at least 2, and is 1", "2 以上"),
        (WHOLE.replace("k = 4", "kk = 4"), "'k' in section [protection] is missing", "k = 5"),
        (
            WHOLE.replace("k = 4", "k = 4\nsupression = 0.1"),
            "Did you mean 'suppression'?",
            "「suppression」のことですか",
        ),
        (WHOLE.replace("anonymize", "anonymise"), "Did you mean 'anonymize'?", "「anonymize」のことですか"),
        (WHOLE.replace('"sensitive"', '"sensible"'), "section [columns.illness]", "[columns.illness]"),
        (
            WHOLE.replace("flat = true", ""),
            "the quasi-identifier 'sex' has no hierarchy",
            "準識別子「sex」に階層がありません",
        ),
        (WHOLE.replace("flat = true", "flat = true\nmask = {}"), "cannot stand beside", "同時に指定できません"),
        (
            WHOLE.replace("[10, 20]", "[10, 25]"),
            "'widths' in section [columns.age.intervals]",
            "[columns.age.intervals]",
        ),
        (WHOLE.replace("widths", "width"), "Did you mean 'widths'?", "「widths」のことですか"),
        (WHOLE.replace("whole", "hole"), "has no key 'hole'. Did you mean 'whole'?", "「whole」のことですか"),
        (WHOLE + "suppression = 2\n", "must be a share from 0 to 1", "0 から 1 の割合"),
        (WHOLE + 'search = "local"\nsuppression = 0.1\n', "must be left out where search", "指定できません"),
        (WHOLE + LEDGER, "must be left out", "不要です"),
        (WHOLE + '[[steps]]\nmethod = "sample"\nrate = 0.5\n', "and not both", "どちらか一方"),
        (HEAD + COLUMNS, "[protection]", "[protection]"),
        (HEAD + ANONYMIZE, "[columns.NAME]", "[columns.列名]"),
        (
            WHOLE + 'models = [{ name = "l-diversity", column = "age", l = 2 }]\n',
            "names 'age', which is a quasi-identifier",
            "準識別子です",
        ),
        (
            WHOLE + 'models = [{ name = "l-diversity", column = "ilness", l = 2 }]\n',
            "Did you mean 'illness'?",
            "「illness」のことですか",
        ),
        (
            WHOLE + 'models = [{ name = "t-closeness", t = 2 }]\n',
            "'t' in section [models 1: t-closeness]",
            "使えません",
        ),
        (
            WHOLE + 'models = [{ name = "k-anonymity", k = 3, l = 2 }]\n',
            "has no key 'l'",
            "「l」というキーはありません",
        ),
        (WHOLE + 'models = [{ name = "k-map", k = 3 }]\n', "'population' in section [source]", "母集団"),
        (SAMPLED.replace("delta = 1e-5", ""), "'delta' in section [budget] is needed", "必要です"),
        (MST.replace("delta = 1e-5", ""), "'delta' in section [budget] is needed", "必要です"),
        (
            MST.replace('values = ["f", "m"]', ""),
            "nothing says what may stand in 'sex'",
            "入りうる値が示されていません",
        ),
        (SAMPLED.replace("level = 1", "level = 4"), "'level' in [columns.age] from 0 to 2", "0 から 2"),
        (SAMPLED.replace('dataset = "town"', ""), "'dataset' in section [ledger] is missing", "がありません"),
        (
            HEAD + COLUMNS + '[[steps]]\nmethod = "anonymize"\nk = 2\n[[steps]]\nmethod = "sample"\nrate = 0.5\n',
            "must be the last step",
            "最後の手順",
        ),
        (
            HEAD + COLUMNS + GROUPS + '[[steps]]\nmethod = "noise"\ncolumn = "wage"\nscale = 5\n',
            "'method' in section [steps 2] is \"noise\" on 'wage', which breaks the groups of k apart that steps 1 makes",
            "k 件の組を崩します",
        ),
        (
            HEAD + COLUMNS + GROUPS + '[[steps]]\nmethod = "swap"\ncolumns = ["illness", "wage"]\nshare = 0.5\n',
            "on 'wage', which breaks",
            "k 件の組を崩します",
        ),
        (
            HEAD + COLUMNS + GROUPS + '[[steps]]\nmethod = "microaggregate"\ncolumns = ["wage", "age"]\nk = 3\n',
            "on 'wage', which breaks",
            "k 件の組を崩します",
        ),
        (
            HEAD + COLUMNS + GROUPS.replace("wage", "age") + '[[steps]]\nmethod = "anonymize"\nk = 3\n',
            "on 'age', which breaks",
            "k 件の組を崩します",
        ),
        (
            HEAD + COLUMNS + GROUPS + '[[steps]]\nmethod = "sample"\nrate = 0.5\n',
            "which takes records away from the groups of k that steps 1 makes",
            "レコードを除きます",
        ),
        (
            HEAD + COLUMNS + GROUPS + '[[steps]]\nmethod = "anonymize"\nk = 3\nsuppression = 0.1\n',
            "which takes records away from the groups of k that steps 1 makes",
            "レコードを除きます",
        ),
        (
            HEAD + COLUMNS + '[[steps]]\nmethod = "mst"\n',
            "nothing says what may stand in 'age'",
            "入りうる値が示されていません",
        ),
        (
            HEAD + COLUMNS + '[protection]\nmethod = "swap"\ncolumns = ["zib"]\nshare = 0.1\n',
            "Did you mean 'zip'?",
            "「zip」のことですか",
        ),
        (
            HEAD + COLUMNS + '[protection]\nmethod = "swap"\ncolumns = ["person"]\nshare = 0.1\n',
            "no column of this plan that is published",
            "公開する列ではありません",
        ),
        (HEAD + COLUMNS + '[protection]\nmethod = "sample"\n', "and not both", "どちらか一方"),
        (
            HEAD + 'population = "p.csv"\n' + COLUMNS + '[protection]\nmethod = "anonymize"\nsearch = "local"\n'
            'models = [{ name = "k-map", k = 3 }]\n',
            'must not be "local"',
            '"local" にできません',
        ),
        (
            MST.replace("bins = [0, 20, 40, 60, 80, 100]", f"values = {list(range(5000))}").replace(
                'values = ["f", "m"]', f"values = {list(range(5000))}"
            ),
            "combinations of values",
            "組み合わせが",
        ),
        (
            HEAD + COLUMNS + '[protection]\nmethod = "pram"\ncolumn = "wage"\nkeep = 0.5\n',
            "list them as 'values' in [columns.wage]",
            "「values」に並べてください",
        ),
        (
            HEAD + COLUMNS + '[protection]\nmethod = "noise"\ncolumn = "wage"\nepsilon = 1\n',
            "'bounds' in section [protection] is needed",
            "必要です",
        ),
    ],
)
def test_mistakes_name_the_key(tmp_path: Path, text: str, english: str, japanese: str) -> None:
    with pytest.raises(PlanError) as caught:
        read(tmp_path, text)
    assert english in caught.value.english
    assert japanese in caught.value.japanese
    assert caught.value.english.startswith("plan.toml: ")


@pytest.mark.parametrize(
    ("hierarchy", "english"),
    [
        ("f;x;*\nm;*\n", "line 2"),
        ("f;x;*\nm;x;+\n", "line 2, column 3"),
        ("f;x;*\nf;x;*\n", "is in line 1 already"),
        ("", "is empty"),
    ],
)
def test_hierarchies_that_are_no_trees_name_file_and_line(tmp_path: Path, hierarchy: str, english: str) -> None:
    (tmp_path / "sex.csv").write_text(hierarchy)
    with pytest.raises(InputError) as caught:
        read(tmp_path, WHOLE.replace("flat = true", 'hierarchy = "sex.csv"'))
    assert "'sex.csv'" in caught.value.english
    assert english in caught.value.english
