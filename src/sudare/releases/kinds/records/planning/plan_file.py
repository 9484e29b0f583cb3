"""The plan for a table of people: a TOML file that says what is done to its records before they are given away.

Reading it looks at no data and spends nothing. Hierarchy files are read with it, because they belong to the plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.microdata.models.registry import names_with_population
from sudare.privacy import Budget, Unit
from sudare.privacy.unit import ADJACENCIES, Adjacency
from sudare.releases.header import LEDGER_KEYS, TITLE_KEYS, LedgerEntryPoint, read_ledger_section, read_title
from sudare.releases.kinds.records.planning.column_plan import COLUMN_KEYS, PlannedColumn, read_columns_section
from sudare.releases.kinds.records.planning.hierarchy_plan import refused
from sudare.releases.kinds.records.planning.large_plan import require_possible_out_of_memory
from sudare.releases.kinds.records.planning.step_order import require_order
from sudare.releases.kinds.records.steps.registry import all_step_keys, read_step, registered_steps
from sudare.releases.kinds.records.steps.step import PrivateStep, Step
from sudare.sections import Section, read_toml

__all__ = ["COLUMN_KEYS", "Charging", "PeoplePlan", "read_people_plan"]

PLAN = Words("plan", "計画ファイル")
HINT = Words("The documentation has some to start from.", "文書に例があります。")
TOP_KEYS = (
    *TITLE_KEYS,
    "input",
    "columns",
    "protection",
    "steps",
    "unit",
    "budget",
    "ledger",
    "output",
)
INPUT_KEYS = ("path", "encoding", "others", "population", "person", "opt_outs_removed", "larger_than_memory")
UNIT_KEYS = ("who", "rows", "adjacency")
BUDGET_KEYS = ("epsilon", "delta", "rho")
OUTPUT_KEYS = ("folder", "format")
FORMATS = ("csv", "parquet")


@dataclass(frozen=True)
class Charging:
    """What a plan spends, of what, and for whom.

    Attributes:
        budget: the cost.
        unit: who is protected.
        ledger: where it is charged.
    """

    budget: Budget
    unit: Unit
    ledger: LedgerEntryPoint


@dataclass(frozen=True, kw_only=True, eq=False)
class PeoplePlan:
    """What a plan file says.

    Attributes:
        file: where it was read from.
        title: what the report is called.
        publisher: who gives the records away.
        description: what they are about.
        language: of the report, ``"en"`` or ``"ja"``.
        source: the records.
        encoding: of the records.
        others: what becomes of columns that the plan does not name: ``"refuse"`` or ``"drop"``.
        population: everybody, if the records are a part of them.
        person: the column that tells people apart, for methods with a budget.
        opt_outs_removed: whether people who opted out are not in the data any more.
        columns: by name.
        steps: what is done, in order.
        charging: what is spent; None for methods without a guarantee.
        folder: where the result is written.
        format: of the published records.
        said: the plan as it was typed, which its fingerprint is made of.
        is_large: whether the records do not fit into memory.
        noted_in: where it is noted that records were given away without a guarantee, if anywhere.
    """

    file: Path
    title: str
    publisher: str
    description: str
    language: str
    source: Path
    encoding: str
    others: str
    population: Path | None
    person: str | None
    opt_outs_removed: bool
    columns: Mapping[str, PlannedColumn]
    steps: tuple[Step, ...]
    charging: Charging | None
    folder: Path
    format: str
    said: Mapping[str, Any]
    is_large: bool = False
    noted_in: LedgerEntryPoint | None = None

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns by which somebody could be recognised."""
        return tuple(name for name, column in self.columns.items() if column.role == "quasi-identifier")

    @property
    def published(self) -> tuple[str, ...]:
        """Columns that are not left out."""
        return tuple(name for name, column in self.columns.items() if column.role != "identifier")

    def fingerprint(self, last_opt_out: int = 0) -> str:
        """The same for plans that ask for the same of the same file at the same cost, in the same folder."""
        words = (*TITLE_KEYS, "output")
        facts = {
            "said": {key: value for key, value in self.said.items() if key not in words},
            "source": str(self.source),
            "folder": str(self.folder.resolve()),
            "format": self.format,
            "hierarchies": {name: column.rule.digest for name, column in self.columns.items() if column.rule},
            "last_opt_out": last_opt_out if self.person is not None else 0,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def read_people_plan(path: str | Path, folder: str | Path | None = None) -> PeoplePlan:
    """Read a plan for a table of people. Relative paths in it are meant from where it is.

    Args:
        path: the plan.
        folder: where the result goes, in place of what the plan says.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names the key.
        InputError: if a hierarchy file is not one; the message names file and line.

    Example:
        >>> from sudare.releases.kinds.records import read_people_plan
        >>> read_people_plan("nowhere.toml")
        Traceback (most recent call last):
        ...
        sudare.errors.PlanError: There is no plan 'nowhere.toml'. The documentation has some to start from.
    """
    file = Path(path)
    said = read_toml(file, PLAN, HINT)
    top = Section(said, "", file.name, TOP_KEYS)
    base = file.resolve().parent
    head = read_title(top, "records")
    given = top.section("input", INPUT_KEYS)
    source, encoding = base / given.text("path"), given.text("encoding", "auto")
    others = given.choice("others", ("refuse", "drop"), "refuse")
    population = base / given.text("population") if given.has("population") else None
    person = given.text("person") if given.has("person") else None
    opt_outs_removed = given.flag("opt_outs_removed", False)
    is_large = given.flag("larger_than_memory", False)
    given.finish()
    columns = {column.name: column for column in read_columns_section(top, file.name, base)}
    steps = _read_steps(top, file.name, columns)
    charging = _read_charging(top, steps, base)
    noted_in = None
    if charging is None and top.has("ledger"):
        noted_in = read_ledger_section(top.section("ledger", LEDGER_KEYS), base)
    output = top.section("output", OUTPUT_KEYS)
    target = Path(folder) if folder is not None else base / output.text("folder", "protected")
    if folder is not None and output.has("folder"):
        output.text("folder")
    form = output.choice("format", FORMATS, "csv")
    output.finish()
    top.finish()
    plan = PeoplePlan(
        file=file,
        title=head.title,
        publisher=head.publisher,
        description=head.description,
        language=head.language,
        source=source,
        encoding=encoding,
        others=others,
        population=population,
        person=person,
        opt_outs_removed=opt_outs_removed,
        columns=MappingProxyType(columns),
        steps=steps,
        charging=charging,
        folder=target,
        format=form,
        said=said,
        is_large=is_large,
        noted_in=noted_in,
    )
    _require_consistent(plan, given)
    return plan


def _read_steps(top: Section, file: str, columns: Mapping[str, PlannedColumn]) -> tuple[Step, ...]:
    if top.has("protection") == top.has("steps"):
        top.refuse(
            "protection",
            "must be a section [protection] with a method, or [[steps]] in its place, and not both",
            "には、method を書いた [protection] か、代わりに [[steps]] のどちらか一方が必要です",
        )
    if top.has("protection"):
        return (read_step(top.section("protection", all_step_keys()), file, "protection", columns),)
    sections = top.sections("steps", all_step_keys())
    steps: list[Step] = []
    for number, section in enumerate(sections, start=1):
        step = read_step(section, file, f"steps {number}", columns)
        own = Section({}, f"steps {number}", file, all_step_keys())
        if isinstance(step, PrivateStep):
            own.refuse(
                "method",
                f'is "{step.name}", which takes the records as they are and stands alone: write it as [protection]',
                f'の "{step.name}" は元の記録にそのまま使う手法です。[protection] として単独で書いてください',
            )
        if step.must_be_last and number < len(sections):
            own.refuse(
                "method",
                f'is "{step.name}", which must be the last step: what came after it could undo it',
                f'の "{step.name}" は最後の手順でなければなりません（後の手順で条件が崩れるため）',
            )
        steps.append(step)
    quasi = [name for name, column in columns.items() if column.role == "quasi-identifier"]
    require_order(file, steps, quasi)
    return tuple(steps)


def _read_charging(top: Section, steps: tuple[Step, ...], base: Path) -> Charging | None:
    step = steps[0]
    if not isinstance(step, PrivateStep):
        for key in ("budget", "unit"):
            if top.has(key):
                top.refuse(
                    key,
                    f'must be left out: "{step.name}" is not differential privacy of the table, so no budget can be '
                    f"charged for it",
                    f'は不要です。"{step.name}" は表の差分プライバシーではないため、予算を使いません',
                )
        return None
    budget_section = top.section("budget", BUDGET_KEYS)
    numbers = {key: budget_section.number(key) for key in BUDGET_KEYS if budget_section.has(key)}
    budget_section.finish()
    unit = _read_unit(top.section("unit", UNIT_KEYS))
    ledger = read_ledger_section(top.section("ledger", LEDGER_KEYS), base)
    try:
        budget = Budget(**numbers)
    except ParameterError as error:
        refused(budget_section, error)
    step.require_budget(budget_section, budget, unit)
    return Charging(budget, unit, ledger)


def _read_unit(section: Section) -> Unit:
    who, rows = section.text("who", "person"), section.whole("rows", 1)
    adjacency = cast("Adjacency", section.choice("adjacency", ADJACENCIES, "add-remove"))
    section.finish()
    try:
        return Unit.with_rows(rows, who, adjacency) if rows != 1 else Unit(who, adjacency=adjacency)
    except ParameterError as error:
        refused(section, error)


def _require_consistent(plan: PeoplePlan, given: Section) -> None:
    last = plan.steps[-1]
    if plan.is_large:
        require_possible_out_of_memory(plan, given)
    if last.needs_population and plan.population is None:
        models = names_with_population()
        given.refuse(
            "population",
            f"is needed for {' and '.join(models)}: name the file of everybody",
            f"が {' と '.join(models)} には必要です。母集団のファイルを指定してください",
        )
    if plan.population is not None and (not last.uses_population or len(plan.steps) > 1):
        methods = [f'"{step.name}"' for step in registered_steps() if step.uses_population]
        given.refuse(
            "population",
            f"is used with method = {' or '.join(methods)} alone, without other steps",
            f"は、ほかの手順のない method = {' か '.join(methods)} でだけ使います",
        )
    if plan.person is not None and plan.charging is None:
        given.refuse(
            "person",
            'is used by methods with a budget alone; give the column role = "identifier" to leave it out',
            'は予算を使う手法でだけ使います。列を除くには role = "identifier" としてください',
        )
    if plan.person is not None and plan.person in plan.published:
        given.refuse(
            "person",
            f"names '{plan.person}', which would be published: give it role = \"identifier\"",
            f'の「{plan.person}」が公開されてしまいます。role = "identifier" としてください',
        )
    if not plan.published:
        given.refuse("path", "has no column that this plan publishes", "から公開する列が計画にありません")
