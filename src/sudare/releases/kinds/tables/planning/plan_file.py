"""The plan for a protected table: a TOML file that says what is read, judged, hidden and written.

Reading it looks at no data. Hierarchy files are read with it, because they belong to the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from sudare.bilingual import Words
from sudare.releases.header import OUTPUT_KEYS, TITLE_KEYS, PlanWithHeader, read_header
from sudare.releases.kinds.tables.methods.registry import method_named, registered_methods
from sudare.releases.kinds.tables.planning.dimension_plan import (
    DIMENSION_KEYS,
    PlannedDimension,
    read_dimension,
    texts_of,
)
from sudare.releases.kinds.tables.planning.input_plan import (
    ALL_SOURCE_KEYS,
    ArgusInput,
    CellsInput,
    Input,
    MeshInput,
    RecordsInput,
    read_input,
)
from sudare.releases.kinds.tables.planning.protection_plan import protection_keys, read_protection
from sudare.releases.kinds.tables.planning.rule_plan import RULE_KEYS, PlannedRule, largest_needed, read_rules
from sudare.releases.old_keys import read_plan_values
from sudare.sections import Section
from sudare.storage.toml_text import toml_key

__all__ = ["FORMATS", "PlannedTable", "TablePlan", "plan_values", "read_table_plan"]

HINT = Words("The documentation has some to start from.", "文書に例があります。")
TOP_KEYS = (*TITLE_KEYS, "source", "dimensions", "tables", "rules", "protection", "earlier", "ledger", "output")
TABLE_KEYS = ("name", "dimensions", "path")
EARLIER_KEYS = ("folders",)
FORMATS = ("csv", "tau-argus", "e-stat")
FOR_OTHER_METHODS = {
    "e-stat": Words('has "e-stat", which is for merged meshes', 'の "e-stat" は合算したメッシュのための形式です'),
    "tau-argus": Words(
        'has "tau-argus", whose status codes are for hidden cells',
        'の "tau-argus" は秘匿セルの状態コードのための形式です',
    ),
}
"""Why a method that cannot be written in a format cannot."""

NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@dataclass(frozen=True)
class PlannedTable:
    """One of the tables that are published.

    Attributes:
        name: empty if it is the only one.
        dimensions: names of its spanning variables.
        path: of its cells, where each table has a file of its own.
    """

    name: str
    dimensions: tuple[str, ...]
    path: Path | None = None

    @property
    def file(self) -> str:
        """Where the published table is."""
        return f"table-{self.name}.csv" if self.name else "table.csv"


@dataclass(frozen=True, kw_only=True, eq=False)
class TablePlan(PlanWithHeader):
    """What a plan file says. CSV is always among its formats; the ledger, if any, is where a publication is noted.

    Attributes:
        source: what is read.
        dimensions: by name; empty for files of tau-ARGUS, whose metadata has them, and for meshes.
        tables: one, or several that are protected together; empty for meshes.
        rules: which cells are unsafe.
        record_rules: rules for single records, where the others are about holdings.
        method: name of the method.
        protection: its settings, as the method's module has them.
        earlier: folders of tables that were published before, about the same data.
    """

    source: Input
    dimensions: Mapping[str, PlannedDimension]
    tables: tuple[PlannedTable, ...]
    rules: tuple[PlannedRule, ...]
    record_rules: tuple[PlannedRule, ...]
    method: str
    protection: object
    earlier: tuple[Path, ...]

    @property
    def value_name(self) -> str:
        """What the column of values is called in the published table."""
        return "count" if isinstance(self.source, MeshInput) or self.source.value is None else self.source.value

    @property
    def is_of_counts(self) -> bool:
        """Whether the values are numbers of contributors."""
        if isinstance(self.source, CellsInput):
            return self.source.contributors is None
        return isinstance(self.source, MeshInput) or self.source.value is None

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions the rules look at."""
        return largest_needed((*self.rules, *self.record_rules))


def read_table_plan(path: str | Path, folder: str | Path | None = None) -> TablePlan:
    """Read a plan for a protected table. Relative paths in it are meant from where it is.

    Args:
        path: the plan.
        folder: where the result goes, in place of what the plan says.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names the key.
        InputError: if a hierarchy file is not one; the message names file and line.

    Example:
        >>> from sudare.releases.kinds.tables import read_table_plan
        >>> read_table_plan("nowhere.toml")
        Traceback (most recent call last):
        ...
        sudare.errors.PlanError: There is no plan 'nowhere.toml'. The documentation has some to start from.
    """
    file = Path(path)
    top = Section(read_plan_values(file, "tables", HINT), "", file.name, TOP_KEYS)
    base = file.resolve().parent
    header = read_header(
        top,
        file,
        "tables",
        folder=None if folder is None else Path(folder),
        by_default="protected",
        formats=FORMATS,
        is_priced=False,
    )
    dimensions = _read_dimensions(top, file.name, base)
    tables = _read_tables(top, base, dimensions)
    source = read_input(
        top.section("source", ALL_SOURCE_KEYS),
        base,
        tables_have_paths=bool(tables) and all(table.path is not None for table in tables),
    )
    rules_section = top.section("rules", (*RULE_KEYS, "records"))
    record_rules = read_rules(rules_section.section("records", RULE_KEYS))
    rules = read_rules(rules_section)
    method, protection = read_protection(top.section("protection", protection_keys()), base)
    earlier_section = top.section("earlier", EARLIER_KEYS)
    earlier = (
        tuple(base / one for one in texts_of(earlier_section, "folders")) if earlier_section.has("folders") else ()
    )
    earlier_section.finish()
    top.finish()
    if isinstance(source, MeshInput):
        tables = ()
    elif not tables:
        tables = (PlannedTable("", tuple(dimensions)),)
    plan = TablePlan(
        header=replace(header, formats=("csv", *(one for one in header.formats if one != "csv"))),
        source=source,
        dimensions=MappingProxyType(dimensions),
        tables=tables,
        rules=rules,
        record_rules=record_rules,
        method=method,
        protection=protection,
        earlier=earlier,
    )
    _require_consistent(plan)
    return plan


def _read_dimensions(top: Section, file: str, base: Path) -> dict[str, PlannedDimension]:
    found = {}
    for name, values in top.mapping("dimensions").items():
        if not isinstance(values, dict):
            top.refuse(
                "dimensions",
                f"must have a section [dimensions.{toml_key(name):.60}]",
                f"には [dimensions.{toml_key(name):.60}] の形のセクションが必要です",
            )
        found[name] = read_dimension(Section(values, f"dimensions.{name}", file, DIMENSION_KEYS), name, base)
    return found


def _read_tables(top: Section, base: Path, dimensions: Mapping[str, PlannedDimension]) -> tuple[PlannedTable, ...]:
    if not top.has("tables"):
        return ()
    found: list[PlannedTable] = []
    sections = top.sections("tables", TABLE_KEYS)
    for section in sections:
        name = section.text("name", "") if len(sections) == 1 else section.text("name")
        if set(name) - NAME_LETTERS or name in [one.name for one in found]:
            section.refuse(
                "name",
                "must be letters, digits, - and _, and another for each table",
                "は英数字と - _ だけで、表ごとに別の名前にしてください",
            )
        spanning = texts_of(section, "dimensions")
        unknown = [one for one in spanning if dimensions and one not in dimensions]
        if unknown:
            section.refuse(
                "dimensions",
                f"names '{unknown[0]:.60}', which has no section [dimensions.{toml_key(unknown[0]):.60}]",
                f"の「{unknown[0]:.60}」に当たる [dimensions.{toml_key(unknown[0]):.60}] がありません",
            )
        path = base / section.text("path") if section.has("path") else None
        section.finish()
        found.append(PlannedTable(name, spanning, path))
    if len({one.path is None for one in found}) > 1:
        sections[0].refuse(
            "path", "must be given for all tables or for none", "はすべての表に書くか、すべて省いてください"
        )
    return tuple(found)


def _require_consistent(plan: TablePlan) -> None:
    """Whatever parts of the plan do not go together is refused before any data is read."""
    file, source = plan.file.name, plan.source
    method = method_named(plan.method)
    protection = Section({}, "protection", file, protection_keys())
    output = Section({}, "output", file, OUTPUT_KEYS)
    rules = Section({}, "rules", file, RULE_KEYS)
    top = Section({}, "", file, TOP_KEYS)
    if isinstance(source, MeshInput) != method.is_of_meshes:
        named = " / ".join(f'"{one.name}"' for one in registered_methods() if one.is_of_meshes)
        protection.refuse(
            "method",
            f'must be {named} if and only if rows = "meshes" stands under [source]',
            f'が {named} のときだけ、[source] を rows = "meshes" とします',
        )
    for one, reason in FOR_OTHER_METHODS.items():
        if one in plan.formats and one not in method.formats:
            output.refuse("formats", reason.english, reason.japanese)
    if isinstance(source, MeshInput):
        for key, given in (("dimensions", plan.dimensions), ("rules", plan.rules)):
            if given:
                top.refuse(key, 'must be left out for "meshes"', 'は "meshes" では不要です')
        return
    if not plan.rules:
        top.refuse(
            "rules",
            "must have at least one rule: threshold, dominance, p_percent, pq, request or zero",
            "には threshold、dominance、p_percent、pq、request、zero のうち一つ以上が必要です",
        )
    _require_dimensions(plan, top)
    _require_rules(plan, rules)
    method.require_source(source, protection)


def _require_dimensions(plan: TablePlan, top: Section) -> None:
    source = plan.source
    if isinstance(source, ArgusInput):
        if plan.dimensions:
            top.refuse(
                "dimensions", "stand in the metadata of tau-ARGUS already", "は tau-ARGUS のメタデータにあります"
            )
        if not plan.tables[0].dimensions:
            top.refuse(
                "tables",
                "must name the spanning variables: [[tables]] with dimensions = [...]",
                "で軸の変数を指定してください（[[tables]] の dimensions）",
            )
        if (source.is_table or source.apriori is not None) and len(plan.tables) > 1:
            top.refuse("tables", "can be several for records only", "を複数にできるのはレコードの場合だけです")
    elif not plan.dimensions:
        top.refuse(
            "dimensions",
            "is missing: write [dimensions.NAME] for each",
            "がありません。[dimensions.名前] を書いてください",
        )
    if len(plan.tables) > 1 and not isinstance(source, CellsInput) and any(one.path for one in plan.tables):
        top.refuse("tables", "have a path for finished tables only", "の path は完成した表の場合だけです")
    if isinstance(source, CellsInput) and len(plan.tables) > 1 and any(one.path is None for one in plan.tables):
        top.refuse("tables", "must each have a path of its own", "にはそれぞれ path が必要です")
    if plan.value_name == "status":
        top.refuse(
            "source",
            "has a value called 'status'; give the column another name",
            "の value を「status」以外の列名にしてください",
        )
    reserved = {"status", plan.value_name}
    for table in plan.tables:
        for name in table.dimensions:
            if name in reserved:
                top.refuse("dimensions", f"cannot be called '{name}'", f"を「{name}」という名前にできません")


def _require_rules(plan: TablePlan, rules: Section) -> None:
    source = plan.source
    shares = [one for one in (*plan.rules, *plan.record_rules) if one.is_about_shares]
    if shares and plan.is_of_counts:
        rules.refuse(
            shares[0].name,
            "compares contributions, and this is a table of counts: name a 'value' under [source]",
            "は値の大きさを比べる規則です。件数表では使えません（[source] に value を指定してください）",
        )
    if isinstance(source, CellsInput) and shares and plan.largest_needed > len(source.largest):
        rules.refuse(
            shares[0].name,
            f"looks at the {plan.largest_needed} largest contributions: name so many columns as 'largest' under [source]",
            f"には上位 {plan.largest_needed} 件の値が必要です。[source] の largest に列を指定してください",
        )
    has_request = any(one.name == "request" for one in (*plan.rules, *plan.record_rules))
    if has_request and isinstance(source, RecordsInput) and source.request is None:
        rules.refuse(
            "request", "needs 'request' and 'asks' under [source]", "には [source] の request と asks が必要です"
        )
    if has_request and isinstance(source, CellsInput):
        rules.refuse("request", "needs records", "にはレコードが必要です")
    if plan.record_rules and not (isinstance(source, RecordsInput) and source.holding is not None):
        rules.refuse(
            "records",
            "is for rules besides those for holdings: name a 'holding' under [source]",
            "は企業グループ（holding）の規則と併用するものです。[source] に holding を指定してください",
        )


def plan_values(plan: TablePlan) -> dict[str, object]:
    """What a plan will do, for programs. Looks at no data."""
    return {
        "plan": str(plan.file),
        "title": plan.title,
        "method": plan.method,
        "tables": [{"file": table.file, "dimensions": list(table.dimensions)} for table in plan.tables],
        "rules": [one.name for one in plan.rules],
        "earlier": [str(folder) for folder in plan.earlier],
        "formats": list(plan.formats),
        "dataset": None if plan.ledger is None else plan.ledger.dataset,
        "folder": str(plan.folder),
    }
