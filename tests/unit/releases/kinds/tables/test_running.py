"""From a plan to a folder: every kind of input, every method, what is public and what is not, and the same bytes every time."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import numpy as np
import pytest

from sudare.attacks.verdicts import AttackOutcome
from sudare.errors import InputError, OutputError
from sudare.microdata.records import read_people, write_people
from sudare.releases.kinds.tables import (
    ProtectedFolder,
    attack_folder,
    read_table_plan,
    run_table_plan,
    verify_protected,
)
from sudare.releases.kinds.tables.confidential import CERTIFICATE, CONFIDENTIAL
from sudare.releases.kinds.tables.published_table import read_published_tables, system_of_document
from tests.unit.releases.kinds.tables.firms import (
    COUNTS,
    DIMENSIONS,
    HEAD,
    RULES,
    SUPPRESS,
    UNTOLD,
    WHOLE,
    build_firms,
    firms,
    write_key,
)

LINKED = (
    HEAD
    + DIMENSIONS
    + '[dimensions.size]\ncodes = ["a", "b"]\n'
    + '[[tables]]\nname = "trade"\ndimensions = ["region", "trade"]\n'
    + '[[tables]]\nname = "size"\ndimensions = ["region", "size"]\n'
    + RULES
    + SUPPRESS
)


def carry_out(folder: Path, plan: str = WHOLE, name: str = "out", *, even_if_broken: bool = False) -> ProtectedFolder:
    return run_table_plan(read_table_plan(build_firms(folder, plan), folder / name), even_if_broken=even_if_broken)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def holder(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / CONFIDENTIAL).read_text(encoding="utf-8"))
    return found


def is_sound(folder: Path) -> bool:
    return all(check.outcome != "failed" for check in verify_protected(folder))


def test_a_folder(tmp_path: Path) -> None:
    made = carry_out(tmp_path)
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {
        "table.csv",
        "release.json",
        "release.html",
        "confidential.json",
        "confidential.html",
        "confidential-certificate.json",
    }
    table = rows(out / "table.csv")
    assert len(table) == 7 * 4
    assert set(table[0]) == {"region", "trade", "turnover", "status"}
    assert all((row["status"] == "hidden") == (row["turnover"] == "") for row in table)
    assert any(row["status"] == "hidden" for row in table)
    assert made.document["even_if_broken"] is False
    assert {report.attack for report in made.attacks} == {"interval", "insiders"}
    assert is_sound(out)


def test_who_may_read_what(tmp_path: Path) -> None:
    carry_out(tmp_path, WHOLE + '[output]\nformats = ["tau-argus"]\n')
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()}
    assert "confidential-tau-argus.csv" in modes
    assert all((mode & 0o077 == 0) == name.startswith("confidential") for name, mode in modes.items())


def test_nothing_public_follows_from_hidden_values(tmp_path: Path) -> None:
    """Hidden values, levels, cost and parameters are in the holder's files, and in no public one."""
    carry_out(tmp_path, WHOLE.replace("p = 10", "p = 13.7"))
    out = tmp_path / "out"
    own = json.loads((out / CONFIDENTIAL).read_text(encoding="utf-8"))
    public = "".join(
        (out / name).read_text(encoding="utf-8") for name in ("table.csv", "release.json", "release.html")
    ).replace(",", "")
    secrets = {str(value) for value in own["cells"]["values"] if value > 500}
    secrets |= {str(own["cost"]["secondary"]), "13.7", own["input"]["sha256"]}
    shown = {row["turnover"] for row in rows(out / "table.csv")}
    assert len(secrets - shown) > 5
    assert not [secret for secret in secrets - shown if secret in public]
    assert "13.7" in (out / "confidential.html").read_text(encoding="utf-8")
    for name in ("confidential.json", CERTIFICATE, "confidential.html"):
        assert name not in public


@pytest.mark.parametrize("plan", [WHOLE, WHOLE + 'search = "exact"\n', LINKED], ids=["fast", "exact", "linked"])
def test_the_same_bytes_every_time(tmp_path: Path, plan: str) -> None:
    carry_out(tmp_path, plan, "one")
    carry_out(tmp_path, plan, "two")
    names = [path.name for path in (tmp_path / "one").iterdir() if path.suffix == ".csv"] + [CERTIFICATE]
    assert len(names) > 1
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_linked_tables_are_one_system(tmp_path: Path) -> None:
    carry_out(tmp_path, LINKED)
    out = tmp_path / "out"
    by_trade = {(row["region"]): row for row in rows(out / "table-trade.csv") if row["trade"] == "Total"}
    by_size = {(row["region"]): row for row in rows(out / "table-size.csv") if row["size"] == "Total"}
    assert {code: row["turnover"] for code, row in by_trade.items()} == {
        code: row["turnover"] for code, row in by_size.items()
    }
    assert is_sound(out)


def test_exact_is_at_most_as_expensive(tmp_path: Path) -> None:
    carry_out(tmp_path, WHOLE, "fast")
    carry_out(tmp_path, WHOLE + 'search = "exact"\n', "exact")
    costs = [json.loads((tmp_path / name / CONFIDENTIAL).read_text())["cost"] for name in ("fast", "exact")]
    assert costs[1]["secondary"] <= costs[0]["secondary"]
    assert costs[1]["at_least"] == costs[1]["secondary"]


class TestAttacks:
    """What an attack breaks is not shown."""

    @pytest.mark.parametrize(
        "plan",
        [
            WHOLE + "secondary = false\n",
            WHOLE.replace('"suppress"', '"none"'),
            WHOLE.replace('"suppress"', '"round"\nbase = 2'),
        ],
        ids=["primary only", "none", "rounded too finely"],
    )
    def test_broken(self, tmp_path: Path, plan: str) -> None:
        with pytest.raises(InputError) as told:
            carry_out(tmp_path, plan)
        assert "The attack 'interval' breaks 4 of 4 targets" in told.value.english
        assert "--even-if-broken" in told.value.english
        assert "--even-if-broken" in told.value.japanese
        assert not (tmp_path / "out").exists()
        made = carry_out(tmp_path, plan, even_if_broken=True)
        assert made.document["even_if_broken"]
        assert "Published although an attack breaks it" in (tmp_path / "out" / "release.html").read_text()
        assert made.attacks[0].outcome is AttackOutcome.BROKEN

    def test_no_message_tells_a_value(self, tmp_path: Path) -> None:
        lines = firms()
        lines[0][1:3] = ["s2", "mines"]
        lines[0][5] = str(UNTOLD)
        build_firms(tmp_path, WHOLE + "secondary = false\n", lines)
        with pytest.raises(InputError) as told:
            run_table_plan(read_table_plan(tmp_path / "plan.toml", tmp_path / "out"))
        assert str(UNTOLD) not in told.value.english + told.value.japanese

    def test_earlier_tables(self, tmp_path: Path) -> None:
        """A total that was published before undoes a cell that is hidden now."""
        coarse = WHOLE.replace('hierarchy = "region.hrc"', 'hierarchy = "coarse.hrc"')
        (tmp_path / "coarse.hrc").write_text("north\n@n1\n@n2\nsouth\n@s1\n@s2\n", encoding="utf-8")
        carry_out(tmp_path, coarse, "before")
        named = WHOLE + '[earlier]\nfolders = ["before"]\n'
        made = carry_out(tmp_path, named, "same")
        assert [report.attack for report in made.attacks][-1] == "earlier"
        assert made.attacks[-1].outcome is AttackOutcome.HELD
        naked = WHOLE.replace('"suppress"', '"none"')
        carry_out(tmp_path, naked, "naked", even_if_broken=True)
        with pytest.raises(InputError, match="The attack 'earlier' breaks 4 of 4"):
            carry_out(tmp_path, WHOLE + '[earlier]\nfolders = ["naked"]\n', "after")
        assert not (tmp_path / "after").exists()

    def test_an_earlier_table_of_other_data(self, tmp_path: Path) -> None:
        carry_out(tmp_path, WHOLE, "before")
        build_firms(tmp_path, WHOLE + '[earlier]\nfolders = ["before"]\n', firms(seed=6))
        with pytest.raises(InputError, match="contradict"):
            run_table_plan(read_table_plan(tmp_path / "plan.toml", tmp_path / "out"))

    def test_an_earlier_folder_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no folder of protected tables"):
            carry_out(tmp_path, WHOLE + '[earlier]\nfolders = ["nowhere"]\n')

    def test_an_insider(self, tmp_path: Path) -> None:
        """Two firms, each alone in a cell, are hidden with each other: each works out the other one."""
        lines = [["f1", "n1", "mines", "a", "g1", "100"], ["f2", "n1", "boats", "a", "g2", "200"]]
        for place, (trade, region) in enumerate(
            [(t, r) for t in ("mines", "shops", "boats") for r in ("n2", "s1", "s2")]
        ):
            lines += [[f"x{place}{n}", region, trade, "a", f"h{place}{n}", str(100 + n)] for n in range(4)]
        lines += [[f"y{n}", "n1", "shops", "a", f"k{n}", str(100 + n)] for n in range(4)]
        plan = HEAD + DIMENSIONS + "[rules]\nthreshold = 2\n" + SUPPRESS
        build_firms(tmp_path, plan, lines)
        made = run_table_plan(read_table_plan(tmp_path / "plan.toml", tmp_path / "aware"))
        assert made.attacks[1].outcome is AttackOutcome.HELD
        assert made.attacks[1].verdicts
        # A control: the pattern that was found without thinking of them, seen by them.
        unaware = plan + "singletons = false\n"
        build_firms(tmp_path, unaware, lines)
        made = run_table_plan(read_table_plan(tmp_path / "plan.toml", tmp_path / "unaware"))
        assert "alone in a cell" in made.document["limits"]["english"]
        texts = [(tmp_path / name / "table.csv").read_text() for name in ("aware", "unaware")]
        assert texts[0] != texts[1]
        own, theirs = (json.loads((tmp_path / name / CONFIDENTIAL).read_text()) for name in ("unaware", "aware"))
        own |= {key: theirs[key] for key in ("insiders", "insider_rest", "insider_share")}
        (tmp_path / "unaware" / CONFIDENTIAL).write_text(json.dumps(own))
        seen = attack_folder(tmp_path / "unaware", made.document)
        assert [report.outcome for report in seen] == [AttackOutcome.HELD, AttackOutcome.BROKEN]


class TestInputs:
    """Records with weights and holdings, finished tables, files of tau-ARGUS."""

    def test_counts(self, tmp_path: Path) -> None:
        carry_out(tmp_path, COUNTS + SUPPRESS)
        total = rows(tmp_path / "out" / "table.csv")[0]
        assert (total["count"], total["status"]) == ("70", "published")

    def test_holdings(self, tmp_path: Path) -> None:
        plan = WHOLE.replace('value = "turnover"', 'value = "turnover"\nholding = "group"')
        carry_out(tmp_path, plan, "groups")
        both = plan.replace("[protection]", "[rules.records]\nthreshold = 6\n\n[protection]")
        carry_out(tmp_path, both, "both")
        counts = [len(holder(tmp_path / name)["unsafe"]) for name in ("groups", "both")]  # type: ignore[arg-type]
        assert counts[0] < counts[1]

    def test_weights_and_decimals(self, tmp_path: Path) -> None:
        lines = [[*row[:3], "1.5", *row[4:5], f"{row[5]}.25"] for row in firms()]
        plan = WHOLE.replace('value = "turnover"', 'value = "turnover"\nweight = "size"')
        build_firms(tmp_path, plan, lines)
        run_table_plan(read_table_plan(tmp_path / "plan.toml", tmp_path / "out"))
        exact = sum(int(row[5]) for row in firms()) * 1500 + 70 * 375
        assert rows(tmp_path / "out" / "table.csv")[0]["turnover"] == f"{exact / 1000:.3f}"
        assert is_sound(tmp_path / "out")

    def test_requests(self, tmp_path: Path) -> None:
        plan = WHOLE.replace('value = "turnover"', 'value = "turnover"\nrequest = "size"\nasks = ["a"]')
        plan = plan.replace("threshold = 3\n", "").replace("p_percent = { p = 10 }", "request = { percent = 50 }")
        carry_out(tmp_path, plan)
        assert holder(tmp_path / "out")["primary_by_status"].keys() == {"UNSAFE_REQUEST"}  # type: ignore[attr-defined]

    def test_missing_is_safe(self, tmp_path: Path) -> None:
        lines = [[*row[:2], "?", *row[3:]] if number < 2 else row for number, row in enumerate(firms())]
        missing = WHOLE.replace('codes = ["mines"', 'missing = ["?"]\ncodes = ["mines"')
        build_firms(tmp_path, missing, lines)
        run_table_plan(read_table_plan(tmp_path / "plan.toml", tmp_path / "out"))
        assert not [one for one in holder(tmp_path / "out")["unsafe"] if "?" in one["name"]]  # type: ignore[attr-defined]

    def test_codes_found_in_the_data(self, tmp_path: Path) -> None:
        plan = WHOLE.replace('codes = ["mines", "shops", "boats"]', 'total = "all"')
        carry_out(tmp_path, plan)
        assert [row["trade"] for row in rows(tmp_path / "out" / "table.csv")[:4]] == ["all", "boats", "mines", "shops"]

    def cells(self, folder: Path, name: str = "cells.csv") -> list[list[str]]:
        """The finished table of the firms, with contributors and the two largest."""
        region = {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
        found: dict[tuple[str, str], list[int]] = {}
        for _, code, trade, _, _, value in firms():
            for one in (code, region[code], "Total"):
                for other in (trade, "Total"):
                    found.setdefault((one, other), []).append(int(value))
        table = []
        for (one, other), values in found.items():
            top = [*sorted(values, reverse=True), 0, 0]
            table.append([one, other, str(sum(values)), str(len(values)), str(top[0]), str(top[1])])
        self.write(folder / name, table)
        return table

    @staticmethod
    def write(path: Path, table: list[list[str]]) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["region", "trade", "turnover", "n", "x1", "x2"])
            writer.writerows(table)

    CELLS = WHOLE.replace(
        'path = "firms.csv"', 'rows = "cells"\npath = "cells.csv"\ncontributors = "n"\nlargest = ["x1", "x2"]'
    )

    def test_a_finished_table(self, tmp_path: Path) -> None:
        """The same unsafe cells as from the records; the pattern may differ, because nobody knows who is who."""
        self.cells(tmp_path)
        carry_out(tmp_path, self.CELLS)
        carry_out(tmp_path, WHOLE, "records")
        names = [{one["name"] for one in holder(tmp_path / name)["unsafe"]} for name in ("out", "records")]  # type: ignore[attr-defined]
        assert names[0] == names[1]
        assert is_sound(tmp_path / "out")

    @pytest.mark.parametrize(
        ("place", "column", "value", "english"),
        [
            (0, 2, str(UNTOLD), "does not add up"),
            (0, 2, "-5", "is negative"),
            (3, 3, "0", "has a value and no contributors"),
            (3, 3, "-1", "negative number of contributors"),
            (3, 4, str(UNTOLD), "less than its largest contributions together"),
            (3, 0, "mars", "not in the hierarchy"),
            (3, 2, "many", "not a number"),
            (3, 2, "", "not a number"),
        ],
    )
    def test_finished_tables_that_are_wrong(
        self, tmp_path: Path, place: int, column: int, value: str, english: str
    ) -> None:
        table = self.cells(tmp_path)
        table[place][column] = value
        self.write(tmp_path / "cells.csv", table)
        with pytest.raises(InputError, match=english) as told:
            carry_out(tmp_path, self.CELLS)
        assert "cells.csv" in told.value.english
        assert "cells.csv" in told.value.japanese
        assert str(UNTOLD) not in told.value.english
        assert not (tmp_path / "out").exists()

    def test_linked_finished_tables(self, tmp_path: Path) -> None:
        table = self.cells(tmp_path)
        self.write(tmp_path / "regions.csv", [row for row in table if row[1] == "Total"])
        plan = self.CELLS.replace('path = "cells.csv"\n', "") + (
            '[[tables]]\nname = "both"\ndimensions = ["region", "trade"]\npath = "cells.csv"\n'
            '[[tables]]\nname = "regions"\ndimensions = ["region"]\npath = "regions.csv"\n'
        )
        carry_out(tmp_path, plan)
        assert len(rows(tmp_path / "out" / "table-regions.csv")) == 7
        assert is_sound(tmp_path / "out")
        other = [[*row[:2], str(int(row[2]) * 2), *row[3:]] for row in table if row[1] == "Total"]
        self.write(tmp_path / "regions.csv", other)
        with pytest.raises(InputError, match="The linked tables disagree about the cell"):
            carry_out(tmp_path, plan, "other")

    def test_parquet(self, tmp_path: Path) -> None:
        build_firms(tmp_path)
        write_people(tmp_path / "firms.parquet", read_people(tmp_path / "firms.csv"))
        carry_out(tmp_path, WHOLE.replace("firms.csv", "firms.parquet"), "parquet")
        carry_out(tmp_path, WHOLE, "csv")
        assert (tmp_path / "parquet" / "table.csv").read_bytes() == (tmp_path / "csv" / "table.csv").read_bytes()

    def test_hidden_sums(self, tmp_path: Path) -> None:
        carry_out(tmp_path, COUNTS + SUPPRESS + "hidden_sums = 8\n")
        own = json.loads((tmp_path / "out" / CONFIDENTIAL).read_text())
        values = dict(zip(own["cells"]["numbers"], own["cells"]["values"], strict=True))
        report = json.loads((tmp_path / "out" / "release.json").read_text())
        system, shown = system_of_document(report), read_published_tables(tmp_path / "out", report).values
        for total, parts in system.sums():
            inside = [cell for cell in parts if cell in values]
            if inside and total not in values:
                is_all = len(inside) == sum(cell in values or shown[cell] > 0 for cell in parts)
                assert is_all or sum(values[cell] for cell in inside) >= 8

    def test_a_cell_twice(self, tmp_path: Path) -> None:
        table = self.cells(tmp_path)
        self.write(tmp_path / "cells.csv", [*table, table[4]])
        with pytest.raises(InputError, match="second one for the cell"):
            carry_out(tmp_path, self.CELLS)

    def test_tau_argus(self, tmp_path: Path) -> None:
        lines = "".join(f"{region:<4}{trade:<6}{value:>9}\n" for _, region, trade, _, _, value in firms())
        (tmp_path / "firms.asc").write_text(lines)
        (tmp_path / "firms.rda").write_text(
            'region 1 4\n  <RECODEABLE> <HIERCODELIST> "region.hrc" <HIERLEADSTRING> "@"\n'
            "trade 5 6\n  <RECODEABLE>\nturnover 11 9\n  <NUMERIC>\n"
        )
        plan = (
            'title = "t"\n[source]\nformat = "tau-argus"\npath = "firms.asc"\nmetadata = "firms.rda"\nvalue = "turnover"\n'
            '[[tables]]\ndimensions = ["region", "trade"]\n' + RULES + SUPPRESS + '[output]\nformats = ["tau-argus"]\n'
        )
        carry_out(tmp_path, plan)
        carry_out(tmp_path, WHOLE, "records")
        shown = [
            {(row["region"], row["trade"]): row["turnover"] for row in rows(tmp_path / name / "table.csv")}
            for name in ("out", "records")
        ]
        hidden = [{key for key, value in one.items() if not value} for one in shown]
        assert all(shown[0][key] == shown[1][key] for key in shown[0] if key not in hidden[0] | hidden[1])
        codes = (tmp_path / "out" / "confidential-tau-argus.csv").read_text().splitlines()
        assert len(codes) == 28
        assert sum(line.endswith((",3", ",5", ",11")) and ",x," in line for line in codes) == len(hidden[0])


class TestMethods:
    """Rounding, cell keys, merged meshes."""

    def test_rounding(self, tmp_path: Path) -> None:
        made = carry_out(tmp_path, COUNTS + '[protection]\nmethod = "round"\nbase = 5\n')
        table = rows(tmp_path / "out" / "table.csv")
        assert all(int(row["count"]) % 5 == 0 and row["status"] == "rounded" for row in table)
        assert made.attacks[0].outcome is AttackOutcome.HELD
        assert is_sound(tmp_path / "out")

    def test_cell_keys(self, tmp_path: Path) -> None:
        write_key(tmp_path / "secret.key")
        plan = COUNTS + '[protection]\nmethod = "cell-key"\nkey_file = "secret.key"\nidentifier = "firm"\n'
        made = carry_out(tmp_path, plan)
        carry_out(tmp_path, plan, "again")
        out = tmp_path / "out"
        assert (out / "table.csv").read_bytes() == (tmp_path / "again" / "table.csv").read_bytes()
        own = json.loads((out / CONFIDENTIAL).read_text())
        shown = np.array([int(row["count"]) for row in rows(out / "table.csv")])
        true = np.array(own["cells"]["values"])
        assert (shown != true).any()
        assert np.abs(shown - true).max() <= made.document["settings"]["largest_deviation"] == 5
        assert {report.attack for report in made.attacks} == {"interval", "averaging"}
        assert is_sound(out)
        assert (tmp_path / "secret.key").read_text().split()[-1] not in (out / "release.json").read_text()

    def test_cell_keys_of_linked_tables(self, tmp_path: Path) -> None:
        """A cell that two tables share has the same noise in both."""
        write_key(tmp_path / "secret.key")
        tables = LINKED[LINKED.index("[[tables]]") : LINKED.index("\n[rules]")]
        plan = COUNTS + '[dimensions.size]\ncodes = ["a", "b"]\n' + tables
        carry_out(tmp_path, plan + '[protection]\nmethod = "cell-key"\nkey_file = "secret.key"\nidentifier = "firm"\n')
        first, second = (rows(tmp_path / "out" / f"table-{name}.csv") for name in ("trade", "size"))
        shared = [
            {row["region"]: row["count"] for row in table if row[axis] == "Total"}
            for table, axis in ((first, "trade"), (second, "size"))
        ]
        assert shared[0] == shared[1]
        assert is_sound(tmp_path / "out")

    def test_no_key(self, tmp_path: Path) -> None:
        plan = COUNTS + '[protection]\nmethod = "cell-key"\nkey_file = "secret.key"\nidentifier = "firm"\n'
        with pytest.raises(InputError, match=r"secret\.key"):
            carry_out(tmp_path, plan)

    def test_an_identifier_that_is_none(self, tmp_path: Path) -> None:
        write_key(tmp_path / "secret.key")
        plan = COUNTS + '[protection]\nmethod = "cell-key"\nkey_file = "secret.key"\nidentifier = "group"\n'
        with pytest.raises(InputError, match="does not tell the records apart"):
            carry_out(tmp_path, plan)

    MESHES = (
        'title = "m"\n[source]\nrows = "meshes"\npath = "m.csv"\nmesh = "code"\nlevel = "1/2"\npopulation = "people"\n'
        'values = ["men", "women"]\n[protection]\nmethod = "merge-meshes"\nminimum = 10\n'
    )
    MESH_ROWS = (
        "code,people,men,women\n533946111,520,251,269\n533946112,84,40,44\n533946113,3,2,1\n"
        "533946114,0,0,0\n533946121,9,4,5\n"
    )

    def test_meshes(self, tmp_path: Path) -> None:
        (tmp_path / "m.csv").write_text(self.MESH_ROWS)
        made = carry_out(tmp_path, self.MESHES + '[output]\nformats = ["csv", "e-stat"]\n')
        out = tmp_path / "out"
        hidden = [row for row in rows(out / "table.csv") if row["status"] == "hidden"]
        assert [row["mesh"] for row in hidden] == ["533946113", "533946121"]
        assert b"HTKSYORI,HTKSAKI,GASSAN" in (out / "table-estat.csv").read_bytes()
        assert b",*" in (out / "table-estat.csv").read_bytes()
        assert made.attacks[0].outcome is AttackOutcome.HELD
        assert is_sound(out)

    def test_meshes_merged_otherwise_before(self, tmp_path: Path) -> None:
        """With another minimum a mesh is merged elsewhere: the difference with its neighbour before is the mesh itself."""
        lines = "code,people,men,women\n533946111,520,251,269\n533946121,3,2,1\n533946122,6,2,4\n533946131,84,40,44\n"
        (tmp_path / "m.csv").write_text(lines)
        carry_out(tmp_path, self.MESHES.replace("minimum = 10", "minimum = 4"), "before")
        with pytest.raises(InputError, match="The attack 'differencing' breaks"):
            carry_out(tmp_path, self.MESHES + '[earlier]\nfolders = ["before"]\n')

    @pytest.mark.parametrize(
        ("old", "new", "english"),
        [
            ("533946112,", "533946111,", "comes twice"),
            ("84,40,44", "84,-40,124", "negative"),
            ("84,40,44", "many,40,44", "not a number"),
            ("533946112", "999999999", "mesh"),
        ],
    )
    def test_meshes_that_are_wrong(self, tmp_path: Path, old: str, new: str, english: str) -> None:
        (tmp_path / "m.csv").write_text(self.MESH_ROWS.replace(old, new))
        with pytest.raises(InputError, match=english) as told:
            carry_out(tmp_path, self.MESHES)
        assert "m.csv" in told.value.english


def test_a_folder_that_exists(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        carry_out(tmp_path)
    assert not list((tmp_path / "out").iterdir())
