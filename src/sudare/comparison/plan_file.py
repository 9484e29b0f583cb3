"""The plan of a comparison: a TOML file that names people, columns and methods. Reading it looks at no data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from sudare.bilingual import Words
from sudare.comparison.invented import invent_town
from sudare.comparison.methods import METHODS, Method
from sudare.comparison.people import Population
from sudare.comparison.running import MAX_REPEATS, Chosen
from sudare.microdata.hierarchies.builders import flat_hierarchy
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn, read_people
from sudare.releases.kinds.records.planning.hierarchy_plan import HIERARCHY_KEYS, HierarchyRule, hierarchy_of, read_rule
from sudare.releases.old_keys import COMPARISON, read_plan_values
from sudare.sections import Section, nearest

__all__ = ["ComparedColumn", "ComparisonPlan", "quick_plan", "read_comparison_plan"]

HINT = Words("The documentation has one to start from.", "文書に例があります。")
TOP_KEYS = (
    "title",
    "publisher",
    "description",
    "language",
    "seed",
    "repeats",
    "source",
    "columns",
    "methods",
    "output",
)
SOURCE_KEYS = ("path", "encoding")
COLUMN_KEYS = ("role", *HIERARCHY_KEYS, "missing", "level")
METHOD_KEYS = ("name", "settings", "repeats")
OUTPUT_KEYS = ("folder",)
ROLES = ("area", "known", "sensitive")
USUAL_REPEATS, QUICK_REPEATS, QUICK_FEW = 8, 6, 3
USUAL_SEED = 1
LEFT_OUT = ("aim",)
"""Methods that are compared only where a plan names them, because they take long."""

QUICK_PEOPLE = 1500
QUICK_SETTINGS = {
    "suppression": ("3",),
    "primary-only": ("3",),
    "flat": ("0.1", "1", "10"),
    "nn-wavelet": ("0.1", "1", "10"),
    "wide-tree": ("0.1", "1", "10"),
    "mst": ("0.1", "1", "10"),
}


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column of the table.

    Attributes:
        name: as the header has it.
        role: ``"area"``, ``"known"`` to an attacker, or ``"sensitive"``.
        rule: where its coarser values come from; None for values as they are, or all together.
        level: whose groups are the values of the table.
    """

    name: str
    role: str
    rule: HierarchyRule | None
    level: int


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """What a plan says.

    Attributes:
        file: where it was read from; None for the invented town.
        title: of the page.
        publisher: who compares.
        description: what the data is about.
        language: of the page.
        seed: of all randomness.
        source: the people; None for the invented town.
        encoding: of the people.
        columns: the area, what is known, and what is sensitive; in this order.
        chosen: methods, settings and repeats.
        folder: where the result is written.
    """

    file: Path | None
    title: str
    publisher: str
    description: str
    language: str
    seed: int
    source: Path | None
    encoding: str
    columns: tuple[ComparedColumn, ...]
    chosen: tuple[Chosen, ...]
    folder: Path

    def people(self) -> Population:
        """Read the people.

        Raises:
            InputError: if the file or a column is not there, or a value has no place in its hierarchy.
        """
        if self.source is None:
            return invent_town(QUICK_PEOPLE)
        records = read_people(self.source, encoding=self.encoding, columns=[column.name for column in self.columns])
        hierarchies = []
        for column in self.columns:
            build = column.rule.build if column.rule is not None else _flat
            hierarchies.append((hierarchy_of(records.column(column.name).with_one_missing(), build), column.level))
        return Population.of_records(records, hierarchies)


def _flat(column: CodedColumn) -> Generalization:
    return flat_hierarchy(column.name, column)


def quick_plan(
    folder: Path, repeats: int | None = None, seed: int = USUAL_SEED, language: str = "en"
) -> ComparisonPlan:
    """The invented town, with few settings and few runs: seconds instead of minutes.

    Example:
        >>> quick_plan(Path("comparison")).people().people
        1500
    """

    def often(method: Method) -> int:
        return repeats or (QUICK_REPEATS if method.most_repeats is None else QUICK_FEW)

    chosen = tuple(
        Chosen(method, tuple(map(Fraction, QUICK_SETTINGS.get(name, ()))) or method.settings, often(method))
        for name, method in METHODS.items()
        if name not in LEFT_OUT
    )
    title = Words("An invented town, protected in many ways", "さまざまな方法で保護した架空の町").explain(language)
    return ComparisonPlan(None, title, "", "", language, seed, None, "utf-8", (), chosen, folder)


def read_comparison_plan(file: Path, out: Path | None = None, repeats: int | None = None) -> ComparisonPlan:
    """Read a plan.

    Args:
        file: the plan.
        out: the folder to write, instead of the plan's own.
        repeats: how many runs, instead of the plan's own.

    Raises:
        PlanError: if the plan cannot be read, or says what cannot be.
        InputError: if a hierarchy file is not one; names file and line.
    """
    top = Section(read_plan_values(file, COMPARISON, HINT), "", file.name, TOP_KEYS)
    title = top.text("title", file.stem)
    publisher, description = top.text("publisher", ""), top.text("description", "")
    language = top.choice("language", ("en", "ja"), "en")
    seed = top.whole("seed", USUAL_SEED)
    if seed < 0:
        top.refuse("seed", "must be 0 or more", "は 0 以上の整数です")
    often = _repeats(top, USUAL_REPEATS)
    source = top.section("source", SOURCE_KEYS)
    path, encoding = file.parent / source.text("path"), source.text("encoding", "utf-8")
    source.finish()
    columns = _columns(top, file)
    chosen = _chosen(top, often if repeats is None else repeats, is_forced=repeats is not None)
    output = top.section("output", OUTPUT_KEYS)
    folder = file.parent / output.text("folder", f"{file.stem}-compared")
    output.finish()
    top.finish()
    return ComparisonPlan(
        file, title, publisher, description, language, seed, path, encoding, columns, chosen, out or folder
    )


def _columns(top: Section, file: Path) -> tuple[ComparedColumn, ...]:
    given = top.mapping("columns")
    holder = Section(given, "columns", file.name, tuple(given))
    found = [_column(holder.section(name, COLUMN_KEYS), name, file.parent) for name in given]
    roles = [column.role for column in found]
    if roles.count("area") != 1 or roles.count("sensitive") != 1 or len(found) > 8:
        top.refuse(
            "columns",
            'needs one [columns.NAME] with role = "area", one with role = "sensitive", and up to six with role = "known"',
            'には role = "area" の列と role = "sensitive" の列が一つずつ必要です（role = "known" の列は六つまで）',
        )
    return tuple(sorted(found, key=lambda column: ROLES.index(column.role)))


def _column(section: Section, name: str, base: Path) -> ComparedColumn:
    role = section.choice("role", ROLES)
    missing = section.text("missing") if section.has("missing") else None
    rule = read_rule(section, name, base, missing)
    level = section.whole("level", 0)
    height = 1 if rule is None else rule.height
    if level < 0 or (height is not None and level > height):
        section.refuse("level", f"must be from 0 to {height}", f"は 0 から {height} までです")
    section.finish()
    return ComparedColumn(name, role, rule, level)


def _chosen(top: Section, repeats: int, *, is_forced: bool) -> tuple[Chosen, ...]:
    if not top.has("methods"):
        return tuple(
            Chosen(method, method.settings, _usual_repeats(method, repeats, is_forced))
            for name, method in METHODS.items()
            if name not in LEFT_OUT
        )
    chosen: list[Chosen] = []
    for section in top.sections("methods", METHOD_KEYS):
        name = section.text("name")
        if name not in METHODS:
            english, japanese = nearest(name, METHODS)
            listed = ", ".join(f'"{known}"' for known in METHODS)
            section.refuse(
                "name",
                f'must be one of {listed}, and is "{name:.60}".{english}',
                f"は {listed} のいずれかです（指定: 「{name:.60}」）。{japanese}",
            )
        method = METHODS[name]
        settings = _settings(section, method) if section.has("settings") else method.settings
        usual = _usual_repeats(method, repeats, is_forced)
        asked = _repeats(section, usual)
        section.finish()
        if name in [one.method.name for one in chosen]:
            section.refuse("name", "stands there twice", "が二度あります")
        chosen.append(Chosen(method, settings, usual if is_forced else asked))
    return tuple(chosen)


def _usual_repeats(method: Method, repeats: int, is_forced: bool) -> int:
    most = method.most_repeats
    return repeats if is_forced or most is None else min(repeats, most)


def _repeats(section: Section, usual: int) -> int:
    repeats = section.whole("repeats", usual)
    if not 2 <= repeats <= MAX_REPEATS:
        section.refuse("repeats", f"must be from 2 to {MAX_REPEATS}", f"は 2 から {MAX_REPEATS} までです")
    return repeats


def _settings(section: Section, method: Method) -> tuple[Fraction, ...]:
    """The settings of a plan, ascending; nobody is surprised by the order of a line through them."""
    limits: dict[str, tuple[Sequence[Fraction], str, str]] = {
        "whole": ((Fraction(2), Fraction(1000)), "whole numbers from 2 to 1000", "2 から 1000 までの整数"),
        "share": ((Fraction(0), Fraction(1)), "shares from 0 to 1", "0 から 1 の割合"),
        "epsilon": ((Fraction(1, 1000), Fraction(50)), "epsilons from 0.001 to 50", "0.001 から 50 までの ε"),
    }
    given = section.items("settings")
    if method.kind == "none":
        section.refuse(
            "settings", "must be left out: this method has no dial", "は指定できません。この方法に設定値はありません"
        )
    (least, most), english, japanese = limits[method.kind]
    good = [value for value in given if isinstance(value, (int, Decimal)) and not isinstance(value, bool)]
    numbers = [Fraction(value) for value in good]
    is_whole = method.kind != "whole" or all(number.denominator == 1 for number in numbers)
    is_right = len(good) == len(given) and is_whole and all(least <= number <= most for number in numbers)
    if not numbers or not is_right or len(set(numbers)) < len(numbers):
        section.refuse("settings", f"must be a list of different {english}", f"は異なる{japanese}のリストです")
    return tuple(sorted(numbers))
