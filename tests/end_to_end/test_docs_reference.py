"""The reference pages list what there is: options, keys of plans, fields of release.json, exit codes, formats; and no more."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

import sudare
from sudare.bilingual import Words
from sudare.cli.app import COMMANDS, GROUPS, main
from sudare.cli.console import failures
from sudare.io import FORMATS
from sudare.io.source import SPARK, SUFFIXES
from sudare.ledger import open_ledger
from sudare.privacy import ReleaseEvent
from sudare.releases.kinds.counts import read_plan, run_release
from sudare.releases.kinds.counts.plan_file import OUTPUT_FORMATS
from sudare.releases.kinds.counts.running import SUFFIXES as OUTPUT_SUFFIXES
from sudare.releases.kinds.series.days.document import DAY_FORMAT, DayDocument
from sudare.releases.kinds.series.document import TICK_FORMAT, TickDocument
from sudare.sections import Section
from sudare.spark.pins import PinRecord
from sudare.tables.registry import mechanism_named, mechanism_names

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def sections_of(text: str) -> dict[str, str]:
    """The parts of a page by their second-level headings."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def rows_of(text: str) -> list[list[str]]:
    """The rows of all tables of a text, without their headings."""
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if row[0].startswith("`") or row[0].isdigit()]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


class TestCommandLine:
    """The page lists what ``--help`` lists, and nothing else."""

    PAGE = sections_of(page("command-line"))
    ALL = [(name,) for _, name, _ in COMMANDS] + [
        (*group.split(), name) for group, (_, of) in GROUPS.items() for name, _ in of
    ]

    def shown(self, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> set[str]:
        """Arguments and options in the boxes of a command's help."""
        assert main([*arguments, "--lang", "en", "--help"]) == 0
        named = re.findall(r"^│ \*? *(--[\w-]+|[A-Z][\w.]*)(?: +(-\w)\b)?", capsys.readouterr().out, re.M)
        return {name for names in named for name in names if name}

    def documented(self, section: str) -> set[str]:
        return {name for row in rows_of(self.PAGE[section]) for name in names_in(row[0])}

    def test_commands(self) -> None:
        assert {" ".join(("sudare", *command)) for command in self.ALL} == set(self.PAGE) - {"Every command"}

    def test_options_of_the_whole(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "300")
        shown = {name for name in self.shown((), capsys) if name.startswith("-")}
        assert shown == {name for name in names_in(self.PAGE["Every command"]) if name.startswith("-")}

    @pytest.mark.parametrize("command", ALL, ids=" ".join)
    def test_options(
        self, command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "300")  # so that no line is broken
        common = self.documented("Every command")
        shown = self.shown(command, capsys)
        assert common == {"--lang", "--json", "--debug", "--help", "-h"}
        assert common <= shown
        assert self.documented(" ".join(("sudare", *command))) == shown - common


class TestPlanFile:
    """The page lists every key that is read, with its default, and no other."""

    PAGE = sections_of(page("plan-file"))
    ATTRIBUTES = (
        'kind = "mesh"\nlevel = "1/2"\ncorners = ["5339", "5339"]',
        'kind = "mesh"\nlevel = "1/2"\narea = "japan"',
        'kind = "mesh"\nlevel = "1/2"\nwindow = [0, 0, 4, 4]',
        'kind = "mesh"\nlevel = "3"\nmeshes = "meshes.csv"\npublic = true\nprefectures = [13]\nmunicipalities = [13101]',
        'kind = "inspire"\nsize = "1km"\nform = "short"\nwindow = [2689, 4341, 4, 4]',
        'kind = "inspire"\nsize = "1km"\ncorners = ["1kmN2689E4341", "1kmN2692E4344"]',
        'kind = "category"\nlabels = ["a", "b"]',
        'kind = "bins"\nedges = [0, 1]',
        'kind = "positions"\nlength = 4',
        'kind = "time"\nby = "day"\nfrom = 2025-04-01\nto = 2025-04-02\ntime_zone = "Asia/Tokyo"',
        'kind = "hierarchy"\nlevels = ["all", "ward"]\nareas = "areas.csv"\npublic = true',
        'kind = "hierarchy"\nlevels = ["all", "ward"]\nleaves = [["x", "a"], ["x", "b"]]',
    )
    PLAN = """title = "t"
[source]
path = "p.csv"
[reference]
name = "r"
public = true
path = "r.csv"
[[domain]]
name = "a"
{attribute}
[budget]
epsilon = 1
[ledger]
location = "b.db"
dataset = "d"
[method]
name = "{method}"
"""

    @pytest.fixture
    def asked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], set[Any]]:
        """Every section and key that reading plans asks for, with the defaults it gives."""
        found: dict[tuple[str, str], set[Any]] = {}
        take, has = Section._take, Section.has

        def place(section: Section) -> str:
            return section._name.split(" ")[0] or "At the top"

        def taking(self: Section, key: str, kind: type, default: Any) -> Any:
            shown = tuple(default) if isinstance(default, list) else default
            found.setdefault((place(self), key), set()).add(None if isinstance(shown, dict) else shown)
            return take(self, key, kind, default)

        def having(self: Section, key: str) -> bool:
            found.setdefault((place(self), key), set())
            return has(self, key)

        monkeypatch.setattr(Section, "_take", taking)
        monkeypatch.setattr(Section, "has", having)
        (tmp_path / "meshes.csv").write_text("mesh,city_code\n53394611,13101\n")
        (tmp_path / "areas.csv").write_text("all,ward\nx,a\nx,b\n")
        for attribute in self.ATTRIBUTES:
            for method in ("auto", "negative-l2"):
                (tmp_path / "plan.toml").write_text(self.PLAN.format(attribute=attribute, method=method))
                read_plan(tmp_path / "plan.toml")
        return found

    def documented(self) -> dict[tuple[str, str], list[str]]:
        # Tables with three columns tell settings of mechanisms, some of which have the name of a key.
        rows = [(section, row) for section, text in self.PAGE.items() for row in rows_of(text) if len(row) == 4]
        keys = {(section, names_in(row[0])[0]): row for section, row in rows}
        sources = {key: row for (section, key), row in keys.items() if section == "source"}
        # The page says so in a sentence.
        keys |= {("reference", key): row for key, row in sources.items() if key != "opt_outs_removed"}
        return keys

    def test_keys(self, asked: dict[tuple[str, str], set[Any]]) -> None:
        assert set(self.documented()) == set(asked)

    def test_defaults(self, asked: dict[tuple[str, str], set[Any]]) -> None:
        compared = 0
        for place, row in self.documented().items():
            for default in asked[place] - {None}:
                if place[1] == "public":  # whatever is left out is refused
                    continue
                text = str(list(default)) if isinstance(default, tuple) else f'"{default}"'
                text = str(default).lower() if isinstance(default, bool) else text.replace("'", '"')
                assert text in names_in(row[2]) or text == "[]", place
                compared += 1
        assert compared >= 15

    def test_required_keys(self, asked: dict[tuple[str, str], set[Any]]) -> None:
        for place, row in self.documented().items():
            if row[2] == "required" and row[1] not in ("section", "sections"):
                assert asked[place] == {None}, place

    def test_types(self) -> None:
        kinds = {"text", "flag", "number", "whole number", "list", "section", "sections", "text or list", "day"}
        kinds |= {"text, list or table"}
        assert {row[1] for row in self.documented().values()} <= kinds

    def test_settings_of_mechanisms(self) -> None:
        given = {"table", "budget", "unit", "reference", "public_total", "entropy", "threads", "keep_measurements"}
        expected: dict[str, set[str]] = {"noise": {"auto"}, "conversion": {"auto"}}
        for name in mechanism_names():
            for setting in set(inspect.signature(mechanism_named(name).function).parameters) - given:
                expected.setdefault(setting, set()).add(name)
        rows = [row for row in rows_of(self.PAGE["method"]) if len(row) == 3]
        assert {names_in(row[0])[0]: set(names_in(row[1])) for row in rows} == expected

    def test_methods_are_named(self) -> None:
        named = self.documented()["method", "name"][3]
        assert set(names_in(named)) == {f'"{name}"' for name in ("auto", *mechanism_names())}


class TestReleaseJson:
    """The page lists the fields of real documents, and no other."""

    CATEGORIES = """[[domain]]
name = "a"
kind = "category"
labels = ["f", "m"]
[[domain]]
name = "b"
kind = "bins"
edges = [0, 50, 120]
[reference]
name = "r"
public = true
path = "public.csv"
[method]
name = "negative-l2"
[budget]
epsilon = 1
"""
    POSITIONS = """[[domain]]
name = "c"
kind = "positions"
length = 4
[method]
public_total = true
[budget]
epsilon = 1
delta = 1e-6
"""
    MESH = """[[domain]]
name = "d"
kind = "mesh"
level = "3"
corners = ["533946", "533946"]
[method]
name = "gaussian"
threshold = 3
[budget]
rho = 0.1
"""
    FREE = (
        "deployment.privacy_loss.privacy_parameters",
        "event.cost",
        "method.settings",
        "method.settled",
        "plan.settings",
        "versions",
    )

    def fields(self, value: Any, path: str = "") -> Iterator[str]:
        if isinstance(value, dict):
            for name, part in value.items():
                yield from self.fields(part, f"{path}.*" if path in self.FREE else f"{path}.{name}".strip("."))
        elif isinstance(value, list):
            for part in value or [None]:
                yield from self.fields(part, path if path.endswith("*") else f"{path}[]")
        else:
            yield path

    @pytest.fixture
    def real(self, tmp_path: Path) -> set[str]:
        for file in ("people.csv", "public.csv"):
            (tmp_path / file).write_text("a,b,c,d\nf,40,0,53394600\nm,60,1,53394611\n")
        totals = {
            "epsilon": sudare.Budget(epsilon=1),
            "delta": sudare.Budget(epsilon=1, delta=Decimal("1e-6")),
            "rho": sudare.Budget(rho=1),
        }
        with open_ledger(tmp_path / "budget.db", create=True) as ledger:
            for name, total in totals.items():
                unit = sudare.Unit(adjacency="replace" if name == "delta" else "add-remove")
                ledger.add_dataset(name, total, unit=unit)
        found: set[str] = set()
        for name, part in zip(totals, (self.CATEGORIES, self.POSITIONS, self.MESH), strict=True):
            head = f'title = "t"\npublisher = "p"\n[source]\npath = "people.csv"\n[output]\nfolder = "{name}"\n'
            ledger_part = f'[ledger]\nlocation = "budget.db"\ndataset = "{name}"\n'
            (tmp_path / "plan.toml").write_text(head + part + ledger_part)
            found |= set(self.fields(dict(run_release(read_plan(tmp_path / "plan.toml"), threads=1).document)))
        return found

    def test_fields(self, real: set[str]) -> None:
        rows = rows_of(page("release-json"))
        documented = {name for row in rows for name in names_in(row[0])}
        whole = {"plan"}  # null where there is none; the page has it and its parts
        pin = {f"pin.{one.name}" for one in fields(PinRecord)}  # of data on Spark alone
        assert documented == real | whole | pin


def fields_of_type(kind: Any, path: str = "") -> Iterator[str]:
    """The fields of a document by its dataclasses; ``*`` for what has names of its own."""
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is tuple:
        yield from fields_of_type(get_args(kind)[0], f"{path}[]")
    elif get_origin(kind) is Mapping or kind in (Words, ReleaseEvent):
        yield f"{path}.*"
    elif is_dataclass(kind):
        hints = get_type_hints(kind)
        for one in fields(kind):
            inner = path if one.metadata.get("inline") else f"{path}.{one.name}".strip(".")
            yield from fields_of_type(hints[one.name], inner)
    else:
        yield path


@pytest.mark.parametrize(
    ("name", "document", "stated"),
    [("tick-json", TickDocument, TICK_FORMAT), ("series-day-json", DayDocument, DAY_FORMAT)],
)
def test_fields_of_documents_of_a_series(name: str, document: type[Any], stated: str) -> None:
    text = page(name)
    listed = [field for row in rows_of(text) for field in names_in(row[0])]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(fields_of_type(document))
    assert f"`{stated}`" in text


def test_exit_codes() -> None:
    rows = rows_of(page("exit-codes"))
    documented = {(int(row[0]), kind) for row in rows for kind in names_in(row[1])}
    kinds = {(code, kind) for _, kind, code in failures.KINDS}
    assert documented == kinds | {(failures.USAGE, "usage"), (failures.INTERNAL, "internal")}
    assert {int(row[0]) for row in rows} == {code for code, _ in documented} | {0, failures.FOUND_FAULTS}


def test_formats() -> None:
    parts = sections_of(page("formats"))
    read = {names_in(row[0])[0]: set(names_in(row[1])) for row in rows_of(parts["Read"])}
    assert set(read) == {*FORMATS, SPARK}
    assert set().union(*read.values()) == set(SUFFIXES)
    for suffix, form in SUFFIXES.items():
        assert suffix in read["csv" if form == "text" else form]
    written = {names_in(row[0])[0]: names_in(row[1])[0] for row in rows_of(parts["Written"]) if len(row) == 3}
    assert written == {form: f"table{OUTPUT_SUFFIXES[form]}" for form in OUTPUT_FORMATS}
