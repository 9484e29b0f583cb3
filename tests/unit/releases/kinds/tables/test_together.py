"""Tables that were published one after the other, and digits that only the holder knows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sudare.attacks.verdicts import AttackOutcome
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.releases.kinds.tables import (
    ProtectedFolder,
    attack_folder,
    read_report,
    read_table_plan,
    run_table_plan,
    verify_protected,
)
from sudare.releases.kinds.tables.confidential import CONFIDENTIAL, read_confidential
from sudare.releases.kinds.tables.published_table import digits_needed_by, read_published_tables
from sudare.releases.kinds.tables.sources import _with_marks, read_judged_table
from tests.unit.releases.kinds.tables.firms import COUNTS, RULES, SUPPRESS, WHOLE, build_firms, firms, write_key

NOTED = '\n[ledger]\nlocation = "budget.db"\ndataset = "firms"\n'
BARE = WHOLE + "secondary = false\n"
REGIONS = WHOLE.replace('\n[dimensions.trade]\ncodes = ["mines", "shops", "boats"]\n', "")


@pytest.fixture
def office(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("firms", Budget(epsilon=1), unit=Unit())
    return tmp_path


def carry_out(
    folder: Path, plan: str, name: str = "out", rows: list[list[str]] | None = None, *, even_if_broken: bool = False
) -> ProtectedFolder:
    return run_table_plan(
        read_table_plan(build_firms(folder, plan, rows), folder / name), even_if_broken=even_if_broken
    )


def is_sound(folder: Path) -> bool:
    return all(check.outcome != "failed" for check in verify_protected(folder))


class TestDigits:
    """What is shown has the digits of published cells; what is hidden may have more."""

    def test_needed(self) -> None:
        values = np.array([1200, 350, 0])
        assert [digits_needed_by(values, 2, least) for least in (0, 1, 2)] == [1, 1, 2]
        assert digits_needed_by(np.zeros(3, dtype=np.int64), 9) == 0

    @pytest.fixture
    def finer(self, tmp_path: Path) -> Path:
        """Two firms in a hidden cell have cents; the same sum."""
        rows = firms()
        pairs: dict[tuple[str, str], list[int]] = {}
        for place, row in enumerate(rows):
            pairs.setdefault((row[1], row[2]), []).append(place)
        one, other = next(places for places in pairs.values() if len(places) == 2)
        rows[one][5], rows[other][5] = f"{rows[one][5]}.25", f"{int(rows[other][5]) - 1}.75"
        carry_out(tmp_path, WHOLE, rows=rows)
        return tmp_path / "out"

    def test_the_holder_has_more(self, finer: Path) -> None:
        published = read_published_tables(finer, read_report(finer))
        holder = read_confidential(finer, published)
        assert holder is not None
        assert (published.decimals, holder.decimals) == (0, 2)
        shown = ~published.hidden
        assert (holder.values[shown] == 100 * published.values[shown]).all()
        assert is_sound(finer)
        assert {one.outcome for one in attack_folder(finer, read_report(finer))} == {AttackOutcome.HELD}

    def test_a_reader_without_the_holders_file(self, finer: Path) -> None:
        for path in finer.glob("confidential*"):
            path.unlink()
        assert attack_folder(finer, read_report(finer))[0].outcome is AttackOutcome.HELD

    def test_earlier_tables_with_other_digits(self, finer: Path) -> None:
        plan = (
            (finer.parent / "plan.toml").read_text().replace('value = "turnover"', 'value = "turnover"\ndecimals = 4')
        )
        (finer.parent / "plan.toml").write_text(plan + '[earlier]\nfolders = ["out"]\n')
        made = run_table_plan(read_table_plan(finer.parent / "plan.toml", finer.parent / "after"))
        assert made.document["value"]["decimals"] == 4
        assert made.attacks[-1].outcome is AttackOutcome.HELD

    def test_stated_digits_are_shown(self, tmp_path: Path) -> None:
        carry_out(tmp_path, WHOLE.replace('value = "turnover"', 'value = "turnover"\ndecimals = 2'))
        with (tmp_path / "out" / "table.csv").open(newline="") as stream:
            assert next(csv.DictReader(stream))["turnover"].endswith(".00")

    def test_rounded_magnitudes(self, tmp_path: Path) -> None:
        plan = WHOLE.replace('"suppress"', '"round"\nbase = 100')
        rows = [[*row[:5], f"{row[5]}.5"] for row in firms()]
        made = carry_out(tmp_path, plan, rows=rows, even_if_broken=True)
        settings = made.document["settings"]
        assert made.document["value"]["decimals"] == 0
        assert settings["reach"] == (settings["steps"] + 1) * 100
        assert is_sound(tmp_path / "out")


class TestTheLedger:
    """What is found there is compared if it can be, and told if not."""

    def test_another_value_is_told(self, office: Path) -> None:
        carry_out(office, WHOLE + NOTED, "before")
        made = carry_out(office, COUNTS + SUPPRESS + NOTED, "after")
        assert made.left_out == (str(office / "before"),)
        assert "earlier" not in [report.attack for report in made.attacks]

    def test_other_numbers_are_told(self, office: Path) -> None:
        carry_out(office, WHOLE + NOTED, "before")
        made = carry_out(office, WHOLE + NOTED, "after", firms(seed=6))
        assert made.left_out == (str(office / "before"),)

    def test_a_changed_table_is_lost(self, office: Path) -> None:
        carry_out(office, WHOLE + NOTED, "before")
        (office / "before" / "table.csv").write_text("x\n")
        made = carry_out(office, WHOLE + NOTED, "after")
        assert (made.lost, made.left_out) == ((str(office / "before"),), ())

    @pytest.mark.parametrize("plan", [COUNTS + SUPPRESS, WHOLE.replace("turnover", "size")])
    def test_another_value_that_is_named_is_refused(self, tmp_path: Path, plan: str) -> None:
        carry_out(tmp_path, WHOLE, "before")
        rows = [[*row[:3], row[5], *row[4:]] for row in firms()]
        with pytest.raises(InputError, match="about another value"):
            carry_out(tmp_path, plan + '[earlier]\nfolders = ["before"]\n', "after", rows)

    def test_a_run_that_is_not_yet_shown(self, office: Path) -> None:
        """Its note is there, its folder not: nothing can be attacked."""
        plan = read_table_plan(build_firms(office, WHOLE + NOTED), office / "out")

        def meanwhile(stage: str, share: float | None) -> None:
            with open_ledger(office / "budget.db") as ledger:
                ledger.note_publication(
                    "firms",
                    document_sha256="0" * 64,
                    report_format="sudare-protected-table/1",
                    folder=str(office / "soon"),
                )

        with pytest.raises(InputError, match="being published at this moment"):
            run_table_plan(plan, progress=meanwhile)
        assert not (office / "out").exists()

    def test_a_run_that_does_no_harm(self, office: Path) -> None:
        """The same table twice at once: the second is attacked again, and shown."""
        first = read_table_plan(build_firms(office, WHOLE + NOTED), office / "first")
        second = read_table_plan(office / "plan.toml", office / "second")
        begun: list[str] = []

        def meanwhile(stage: str, share: float | None) -> None:
            begun.append(stage)
            if begun.count("tables.attack") == 1 and stage == "tables.attack":
                run_table_plan(first)

        made = run_table_plan(second, progress=meanwhile)
        assert begun.count("tables.attack") == 2
        assert [report.attack for report in made.attacks][-1] == "earlier"
        assert is_sound(office / "second")
        with open_ledger(office / "budget.db") as ledger:
            assert len(ledger.publications("firms")) == 2


class TestWhatWasKnownBefore:
    """A table answers for what it adds, and for what it has to hide itself."""

    def test_nothing_is_added(self, tmp_path: Path) -> None:
        carry_out(tmp_path, BARE, "bare", even_if_broken=True)
        made = carry_out(tmp_path, REGIONS + '[earlier]\nfolders = ["bare"]\n', "after")
        earlier = made.attacks[-1]
        assert earlier.outcome is AttackOutcome.UNDECIDED
        assert "known too closely from earlier tables already" in earlier.summary.english

    def test_more_is_added(self, tmp_path: Path) -> None:
        """Two tables are safe each; the second tells what the first hid."""
        carry_out(tmp_path, WHOLE, "safe")
        lax = WHOLE.replace(RULES, "[rules]\nthreshold = 1\n") + '[earlier]\nfolders = ["safe"]\n'
        with pytest.raises(InputError, match="The attack 'earlier' breaks"):
            carry_out(tmp_path, lax, "after")

    def test_a_broken_cell_that_becomes_certain(self, tmp_path: Path) -> None:
        """It was known too closely before; now it is known exactly."""
        rounded = WHOLE.replace('"suppress"', '"round"\nbase = 5')
        made = carry_out(tmp_path, rounded, "rounded", even_if_broken=True)
        assert made.attacks[0].outcome is AttackOutcome.BROKEN
        lax = WHOLE.replace(RULES, "[rules]\nthreshold = 1\n") + '[earlier]\nfolders = ["rounded"]\n'
        with pytest.raises(InputError, match="The attack 'earlier' breaks"):
            carry_out(tmp_path, lax, "after")


def test_the_holders_file_keeps_the_whole_problem(tmp_path: Path) -> None:
    """Of counts everybody knows that they are whole and, where they are hidden, not 0."""
    carry_out(tmp_path, COUNTS + SUPPRESS)
    out = tmp_path / "out"
    holder = read_confidential(out, read_published_tables(out, read_report(out)))
    assert holder is not None
    assert holder.problem.whole_numbers
    assert (holder.problem.smallest[holder.problem.primary] >= 1).all()
    assert is_sound(out)


ARGUS = (
    'title = "t"\n[source]\nformat = "tau-argus"\npath = "firms.asc"\nmetadata = "firms.rda"\nvalue = "turnover"\n'
    'apriori = "firms.hst"\n[[tables]]\ndimensions = ["region", "trade"]\n' + RULES
)


def write_argus(folder: Path) -> None:
    lines = "".join(f"{region:<4}{trade:<6}{value:>9}\n" for _, region, trade, _, _, value in firms())
    (folder / "firms.asc").write_text(lines)
    (folder / "firms.rda").write_text(
        "region 1 4\n  <RECODEABLE>\ntrade 5 6\n  <RECODEABLE>\nturnover 11 9\n  <NUMERIC>\n"
    )
    (folder / "firms.hst").write_text("n1,shops,m\n")


def test_marks_of_a_file_leave_the_judgements(tmp_path: Path) -> None:
    """By them the sums of hidden cells are judged."""
    judged = read_judged_table(read_table_plan(build_firms(tmp_path, WHOLE), tmp_path / "out")).primaries
    nothing = np.zeros(judged.status.size, dtype=np.int64)
    marked = PrimaryCells(np.full(judged.status.size, int(CellStatus.SAFE)), nothing, nothing, nothing)
    assert judged.judgements
    assert _with_marks(judged, marked).judgements == judged.judgements


def test_padded_contributions_are_not_known(tmp_path: Path) -> None:
    plan = WHOLE.replace('path = "firms.csv"', 'rows = "cells"\npath = "c.csv"\ncontributors = "n"\nlargest = ["x"]')
    plan = plan.replace("p_percent = { p = 10 }\n", "")
    (tmp_path / "c.csv").write_text(
        "region,trade,turnover,n,x\nTotal,Total,9,3,4\nnorth,Total,9,3,4\nn1,Total,9,3,4\n"
        + "".join(f"{region},mines,9,3,4\n" for region in ("Total", "north", "n1"))
    )
    table = read_judged_table(read_table_plan(build_firms(tmp_path, plan), tmp_path / "out")).table
    assert (table.largest.shape[1], table.known_width) == (2, 1)


@pytest.mark.parametrize("more", ["", "secondary = false\n"])
def test_a_cell_that_is_hidden_by_hand(tmp_path: Path, more: str) -> None:
    write_argus(tmp_path)
    carry_out(tmp_path, ARGUS + SUPPRESS + more + '[output]\nformats = ["tau-argus"]\n', even_if_broken=bool(more))
    with (tmp_path / "out" / "table.csv").open(newline="") as stream:
        status = {(row["region"], row["trade"]): row["status"] for row in csv.DictReader(stream)}
    assert status["n1", "shops"] == "hidden"
    own = json.loads((tmp_path / "out" / CONFIDENTIAL).read_text())
    assert len(own["must_hide"]) == 1
    lines = (tmp_path / "out" / "confidential-tau-argus.csv").read_text().splitlines()
    (line,) = [line for line in lines if "n1" in line and "shops" in line]
    assert line.endswith((",11", ",12"))
    assert is_sound(tmp_path / "out")


def test_a_cell_that_is_hidden_by_hand_needs_a_method_that_hides(tmp_path: Path) -> None:
    write_argus(tmp_path)
    with pytest.raises(InputError, match="the method of the plan hides nothing"):
        carry_out(tmp_path, ARGUS + '[protection]\nmethod = "round"\nbase = 5\n')


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("largest_deviation",), 10**30),
        (("largest_deviation",), 2.5),
        (("noise", "lowest"), 10**30),
        (("noise", "lowest"), "x"),
        (("noise", "probabilities"), [2.0, 3.0]),
        (("noise", "probabilities"), {"a": 1}),
    ],
)
def test_hostile_cell_keys(tmp_path: Path, keys: tuple[str, ...], value: object) -> None:
    write_key(tmp_path / "secret.key")
    carry_out(tmp_path, COUNTS + '[protection]\nmethod = "cell-key"\nkey_file = "secret.key"\nidentifier = "firm"\n')
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    part = document["settings"]
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    (tmp_path / "out" / "release.json").write_text(json.dumps(document))
    verify_protected(tmp_path / "out")
    with pytest.raises(InputError):
        attack_folder(tmp_path / "out", read_report(tmp_path / "out"))


@pytest.mark.parametrize("key", ["decimals", "insiders", "smallest", "must_hide", "unsafe", "insider_rest", "cells"])
@pytest.mark.parametrize("value", [None, -1, 99, [[10**30]], {"numbers": [0], "values": [10**30]}])
def test_a_hostile_holders_file(tmp_path: Path, key: str, value: object) -> None:
    carry_out(tmp_path, REGIONS)
    path = tmp_path / "out" / CONFIDENTIAL
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    verify_protected(tmp_path / "out")
    with pytest.raises(InputError, match="is damaged"):
        attack_folder(tmp_path / "out", read_report(tmp_path / "out"))
