"""Whoever works in Japanese reads no English sentence, whatever they get wrong: commands, plans, questionnaires, queries."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.commands import Answer, Run, runner
from tests.contracts.pairs_of_words import english_sentences

WRAPPED = re.compile(r"'sudare [^']*$")
"""A command in quotes that goes on in the next line."""

LIST = re.compile(r"[\w-]+(?:, [\w-]+)+")
"""Names with commas between them."""

COUNTS = """
title = "町の人口"
publisher = "統計局"
[source]
path = "people.csv"
[[domain]]
name = "x"
kind = "positions"
length = 4
[unit]
who = "person"
[budget]
epsilon = 0.5
[ledger]
location = "budget.db"
dataset = "town"
[output]
folder = "out"
formats = ["csv"]
"""
RECORDS = """
title = "患者"
publisher = "病院"
[source]
path = "patients.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
intervals = { widths = [10, 30], whole = true }
[columns.illness]
role = "sensitive"
[protection]
method = "anonymize"
k = 3
"""
TABLES = """
title = "売上"
publisher = "統計局"
[source]
path = "firms.csv"
value = "sales"
[dimensions.region]
[dimensions.trade]
[rules]
threshold = 3
[protection]
method = "suppress"
"""
QUESTIONS = """
title = "調査"
[[question]]
name = "smokes"
method = "warner"
values = ["yes", "no"]
epsilon = 1
"""
METADATA = """
version = "1"
[unit]
name = "person"
[tables.visits]
unit = "patient"
max_rows = 3
[tables.visits.columns]
patient = { type = "text", nullable = false }
age = { type = "integer", bounds = [0, 120], nullable = false }
"""

MISTAKES = {
    "counts": (
        ("epsilon = 0.5", "epsilon = -1"),
        ("epsilon = 0.5", "epsilon = 0"),
        ("epsilon = 0.5", 'epsilon = "much"'),
        ("epsilon = 0.5", "epsilon = 0.5\nrho = 1"),
        ("epsilon = 0.5", "epsilon = 0.5\ndelta = 2"),
        ("epsilon = 0.5", "epsilon = 500"),
        ("epsilon = 0.5", "epsilonn = 0.5"),
        ('who = "person"', 'who = ""'),
        ('who = "person"', 'who = "person"\nrows = 0'),
        ('who = "person"', 'who = "person"\nadjacency = "swap"'),
        ("length = 4", "length = 0"),
        ("length = 4", "length = -3"),
        ("length = 4", 'length = "four"'),
        ('kind = "positions"', 'kind = "place"'),
        ('kind = "positions"\nlength = 4', 'kind = "mesh"\nlevel = "4"\ncorners = ["5339", "5340"]'),
        ('kind = "positions"\nlength = 4', 'kind = "mesh"\nlevel = "1"\ncorners = ["53", "5340"]'),
        ('kind = "positions"\nlength = 4', 'kind = "mesh"\nlevel = "1/2"\ncorners = ["5340", "5339"]'),
        ('kind = "positions"\nlength = 4', 'kind = "bins"\nedges = [3, 2]'),
        ('kind = "positions"\nlength = 4', 'kind = "bins"\nedges = [1]'),
        ('kind = "positions"\nlength = 4', 'kind = "category"\nlabels = ["a", "a"]'),
        ('kind = "positions"\nlength = 4', 'kind = "category"\nlabels = []'),
        ('kind = "positions"\nlength = 4', 'kind = "time"\nperiod = "second"'),
        ('kind = "positions"\nlength = 4', 'kind = "hierarchy"\nlevels = "none.csv"\npublic = true'),
        ("[unit]", '[[domain]]\nname = "x"\nkind = "positions"\nlength = 4\n[unit]'),
        ('formats = ["csv"]', 'formats = ["xlsx"]'),
        ('formats = ["csv"]', 'formats = ["geotiff"]'),
        ('folder = "out"', 'folder = "people.csv"'),
        ('path = "people.csv"', 'path = "none.csv"'),
        ('path = "people.csv"', 'path = "people.csv"\nrows = "rows"'),
        ('path = "people.csv"', 'path = "people.csv"\nformat = "excel"'),
        ('location = "budget.db"', 'location = "none.db"'),
        ('dataset = "town"', 'dataset = "village"'),
        ("[output]", '[method]\nname = "magic"\n[output]'),
        ("[output]", '[method]\nname = "laplace"\nthreshold = -1\n[output]'),
        ("[output]", '[method]\nname = "laplace"\nrefine = "all"\n[output]'),
        ("[output]", '[method]\nname = "nn-wavelet"\npruning = "diagonal"\n[output]'),
        ("[output]", '[method]\nname = "wide-tree"\nestimate = "best"\n[output]'),
        ("[output]", '[method]\nname = "wide-tree"\nlayout = "sorted"\n[output]'),
        ("[output]", '[method]\nname = "topdown"\n[output]'),
        ("[output]", '[method]\nname = "gaussian"\n[output]'),
        ("[output]", '[method]\nname = "auto"\nworkload = "everything"\n[output]'),
        ("[output]", '[method]\nname = "auto"\nworkload = [3]\n[output]'),
        ("[output]", '[method]\nname = "auto"\npublic_total = 3\n[output]'),
        ("[output]", "[prediction]\npeople = -1\n[output]"),
        ("[output]", '[reading]\nmemory = "much"\n[output]'),
        ("[output]", "[output"),
        ("[output]", "名前 = 1\n[output]"),
        ("[budget]", "[ledger]"),
    ),
    "records": (
        ("k = 3", "k = 0"),
        ("k = 3", "k = 1"),
        ("k = 3", 'k = "three"'),
        ("k = 3", "k = 3\nsuppression = 2"),
        ("k = 3", 'k = 3\nmodels = [{ name = "l-diversity", l = 1 }]'),
        ("k = 3", 'k = 3\nmodels = [{ name = "t-closeness", t = 2 }]'),
        ("k = 3", 'k = 3\nmodels = [{ name = "m-privacy" }]'),
        ("k = 3", 'k = 3\nmetric = "beauty"'),
        ("k = 3", 'k = 3\nsearch = "magic"'),
        ("widths = [10, 30]", "widths = [10, 25]"),
        ("widths = [10, 30]", "widths = []"),
        ("widths = [10, 30]", "widths = [-1]"),
        ("widths = [10, 30], whole = true", "widths = [0.5], whole = true"),
        ("intervals = { widths = [10, 30], whole = true }", 'hierarchy = "none.csv"'),
        ("intervals = { widths = [10, 30], whole = true }", "mask = { fill = '**' }"),
        ("intervals = { widths = [10, 30], whole = true }", "mesh = '4'"),
        ("intervals = { widths = [10, 30], whole = true }", "dates = ['hour']"),
        ("intervals = { widths = [10, 30], whole = true }", "groups = { young = ['1'], old = ['1'] }"),
        ('role = "sensitive"', 'role = "secret"'),
        ('path = "patients.csv"', 'path = "none.csv"'),
        ('method = "anonymize"\nk = 3', 'method = "swap"\ncolumn = "age"\nrate = 2'),
        ('method = "anonymize"\nk = 3', 'method = "pram"\ncolumn = "illness"\nkeep = 2'),
        ('method = "anonymize"\nk = 3', 'method = "microaggregate"\ncolumns = ["age"]\nk = 1'),
        ('method = "anonymize"\nk = 3', 'method = "noise"\ncolumn = "age"\nscale = -1'),
        ('method = "anonymize"\nk = 3', 'method = "sampled-k-anonymity"\nrate = 2'),
        ('method = "anonymize"\nk = 3', 'method = "mst"\nrows = 0'),
        ('method = "anonymize"\nk = 3', 'method = "sample"\nrate = 2'),
        ("[columns.name]", "[columns.ghost]\nrole = 'other'\n[columns.name]"),
    ),
    "tables": (
        ("threshold = 3", "threshold = 0"),
        ("threshold = 3", "p_percent = { p = 0 }"),
        ("threshold = 3", "dominance = { n = 0, k = 200 }"),
        ("threshold = 3", "p_q = { p = 20, q = 10 }"),
        ("threshold = 3", "treshold = 3"),
        ('value = "sales"', 'value = "ghost"'),
        ('method = "suppress"', 'method = "round"\nbase = 1'),
        ('method = "suppress"', 'method = "cell-key"\nlargest = 0'),
        ('method = "suppress"', 'method = "merge"'),
        ('method = "suppress"', 'method = "hide"'),
        ('method = "suppress"', 'method = "suppress"\nsearch = "magic"'),
        ("[dimensions.region]", '[dimensions.region]\nhierarchy = "none.hrc"'),
        ("[dimensions.region]", "[dimensions.市区町村]"),
        ('path = "firms.csv"', 'path = "none.csv"'),
    ),
}

COMMANDS = (
    "",
    "plans",
    "plan",
    "plan none.toml",
    "plan counts.toml more",
    "plan --what counts.toml",
    "run counts.toml --threads many",
    "run counts.toml --threads",
    "run counts.toml --lang fr",
    "release counts.toml",
    "verify none",
    "verify .",
    "report none",
    "map none",
    "ledger",
    "ledger add",
    "ledger add budget.db town --epsilon x",
    "ledger add budget.db other --epsilon -1",
    "ledger add budget.db other --rho 0",
    "ledger add budget.db other --epsilon 1 --delta 3",
    "ledger add budget.db other --epsilon 1 --rows 0",
    "ledger add budget.db other --epsilon 1 --cells 0",
    "ledger add budget.db town --epsilon 1",
    "ledger show budget.db village",
    "ledger create budget.db",
    "ledger create none/none/budget.db",
    "ledger verify people.csv",
    "ledger list counts.toml",
    "anonymize counts.toml",
    "sample patients.csv --out sample.csv --rate 7",
    "sample patients.csv --out sample.csv --rows -1",
    "sample patients.csv --out sample.csv --rows 99999",
    "sample patients.csv --out sample.csv --rate 1/2 --by ghost",
    "synthesize --from-table none --out x.csv",
    "risk patients.csv --quasi-identifiers ghost",
    "risk patients.csv --quasi-identifiers age --threshold 5",
    "risk none.csv --quasi-identifiers age",
    "hierarchy check none.csv",
    "hierarchy check patients.csv",
    "hierarchy build patients.csv age --intervals 0 --out h.csv",
    "hierarchy build patients.csv age --intervals 5,7 --out h.csv",
    "hierarchy build patients.csv age --mesh 9 --out h.csv",
    "hierarchy build patients.csv age --dates hour --out h.csv",
    "hierarchy build patients.csv name --mask --out h.csv",
    "hierarchy build patients.csv age",
    "pseudonymize new-key none/none/a.key",
    "pseudonymize new-key a.key",
    "pseudonymize run patients.csv --id name --key a.key --recipient uni --out p.csv --length 1",
    "pseudonymize run patients.csv --id name --key a.key --recipient uni --out p.csv --form runes",
    "pseudonymize run patients.csv --id name --key a.key --recipient uni --out p.csv --people 0",
    "pseudonymize run patients.csv --id name --key a.key --recipient uni --out p.csv --several 0",
    "pseudonymize run patients.csv --id ghost --key a.key --recipient uni --out p.csv",
    "pseudonymize run patients.csv --id name --key none.key --recipient uni --out p.csv",
    "pseudonymize destroy a.key --epoch 4 --yes",
    "person find n1 --kind name --key a.key",
    "collect plan --people 0 --values 3 --epsilon 1",
    "collect plan --people 100 --values 1 --epsilon 1",
    "collect plan --people 100 --values 3 --epsilon 0",
    "collect plan --people 100 --values 3 --k 1000",
    "collect plan --people 100 --low 3 --high 1 --epsilon 1",
    "collect randomize questions.toml answers.csv --out r.csv",
    "collect randomize questions.toml none.csv --out r.csv",
    "collect estimate patients.csv --questions questions.toml",
    "collect estimate patients.csv --questions questions.toml --level 3",
    "collect pk questions.toml --records 0",
    "collect prio create prio --variant circle",
    "collect prio create prio --variant histogram --length 1 --minimum 0",
    "attack none",
    "attack .",
    "attack --program nothing --on people.csv --beside people.csv --claim 1",
    "compare none.toml",
    "compare --quick --repeats 0",
    "mesh code 99 139 --level 1",
    "mesh code 35 139 --level 9",
    "mesh code x y --level 1",
    "mesh bounds 1",
    "mesh parent 5339 --level 1/2",
    "mesh children 5339 --level 9",
    "demo --side 3",
    "sql run",
    "sql run 'SELECT 1'",
    "sql check --metadata none.toml --data visits.csv",
)
QUERIES = (
    "--epsilon 0 'SELECT COUNT(*) FROM visits'",
    "--epsilon x 'SELECT COUNT(*) FROM visits'",
    "'SELECT COUNT(*) FROM visits'",
    "--epsilon 1 --noise loud 'SELECT COUNT(*) FROM visits'",
    "--epsilon 1 --joins sideways 'SELECT COUNT(*) FROM visits'",
    "--epsilon 1 --timeout -1 'SELECT COUNT(*) FROM visits'",
    "--epsilon 1 'SELECT age FROM visits'",
    "--epsilon 1 'SELECT COUNT(*) FROM ghosts'",
    "--epsilon 1 'SELECT'",
    "--epsilon 1 'DROP TABLE visits'",
    "--epsilon 1 --noise gaussian 'SELECT COUNT(*) FROM visits'",
    "--epsilon 100 'SELECT COUNT(*) FROM visits'",
    "--epsilon 1 --analyst a/b 'SELECT COUNT(*) FROM visits'",
)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A folder with sound plans and data, and a way to run commands in Japanese there."""
    monkeypatch.chdir(tmp_path)
    people = "x\n" + "".join(f"{number % 4}\n" for number in range(20))
    patients = "name,age,illness\n" + "".join(f"n{number},{20 + number},{'ab'[number % 2]}\n" for number in range(12))
    firms = "firm,region,trade,sales\n" + "".join(
        f"f{number},{'EW'[number % 2]},{'ST'[number // 2 % 2]},{number + 5}\n" for number in range(20)
    )
    written = {
        "people.csv": people,
        "patients.csv": patients,
        "firms.csv": firms,
        "answers.csv": "smokes\nmaybe\n",
        "visits.csv": "patient,age\na,30\nb,40\n",
        "counts.toml": COUNTS,
        "questions.toml": QUESTIONS,
        "metadata.toml": METADATA,
    }
    for name, text in written.items():
        Path(name).write_text(text, encoding="utf-8")
    call = runner(capsys, monkeypatch, columns=200)

    def speak(*arguments: object) -> Answer:
        return call("--lang", "ja", *arguments)

    assert speak("ledger", "create", "budget.db").code == 0
    assert speak("ledger", "add", "budget.db", "town", "--epsilon", "100").code == 0
    assert speak("pseudonymize", "new-key", "a.key").code == 0
    return speak


def english_in(answer: Answer) -> list[str]:
    """Lines with three or more English words in a row. Commands of examples, and lists of keys and columns, are none."""
    lines = (answer.out + "\n" + answer.err).splitlines()
    prose = {line: WRAPPED.sub("", LIST.sub(",", line)) for line in lines if not line.lstrip().startswith("$ ")}
    found = {line: english_sentences(text) for line, text in prose.items()}
    return [line for line, sentences in found.items() if sentences]


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes_in_plans(kind: str, workplace: Run) -> None:
    plan = {"counts": COUNTS, "records": RECORDS, "tables": TABLES}[kind]
    untranslated = {}
    for right, wrong in MISTAKES[kind]:
        assert right in plan
        Path("bad.toml").write_text(plan.replace(right, wrong, 1), encoding="utf-8")
        answer = workplace("plan", "bad.toml")
        if answer.code == 0:
            answer = workplace("run", "bad.toml", "--yes", "--out", f"out-{abs(hash(wrong))}")
        if found := english_in(answer):
            untranslated[wrong] = found
    assert untranslated == {}, "\n".join(map(str, untranslated.items()))


def test_mistakes_in_commands(workplace: Run) -> None:
    sql = "sql run --data visits.csv --metadata metadata.toml --ledger budget.db --dataset town"
    lines = [*COMMANDS, *(f"{sql} {query}" for query in QUERIES)]
    untranslated = {line: found for line in lines if (found := english_in(workplace(*shlex.split(line))))}
    assert untranslated == {}, "\n".join(map(str, untranslated.items()))


def test_a_query_without_a_budget_is_told_which_option(workplace: Run) -> None:
    answer = workplace(
        *[
            "sql",
            "run",
            "--data",
            "visits.csv",
            "--metadata",
            "metadata.toml",
            "--ledger",
            "budget.db",
            "--dataset",
            "town",
        ],
        "SELECT COUNT(*) FROM visits",
    )
    assert answer.code == 2
    assert "--epsilon" in answer.err


def test_a_warning_is_given_once(workplace: Run) -> None:
    Path("weak.toml").write_text(COUNTS.replace("epsilon = 0.5", "epsilon = 50"), encoding="utf-8")
    for command in (("plan", "weak.toml"), ("run", "weak.toml", "--yes")):
        assert workplace(*command).err.count("警告:") == 1


def test_an_english_sentence_would_be_found() -> None:
    assert english_in(Answer(2, "", "エラー: 「epsilon」は使えません: The parameter must be positive."))
