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
from typing import Any

from sudare.bilingual import Words
from sudare.microdata.models.registry import names_with_population
from sudare.privacy import Budget, Unit
from sudare.releases.header import (
    BUDGET_KEYS,
    HEADER_KEYS,
    OUTPUT_KEYS,
    SOURCE_KEYS,
    TITLE_KEYS,
    LedgerEntryPoint,
    PlanHeader,
    PlanWithHeader,
    read_header,
)
from sudare.releases.kinds.records.planning.column_plan import COLUMN_KEYS, PlannedColumn, read_columns_section
from sudare.releases.kinds.records.planning.large_plan import require_possible_out_of_memory
from sudare.releases.kinds.records.planning.step_order import require_order
from sudare.releases.kinds.records.steps.registry import all_step_keys, private_names, read_step, registered_steps
from sudare.releases.kinds.records.steps.step import PrivateStep, Step
from sudare.releases.old_keys import read_plan_values
from sudare.sections import Section

__all__ = ["COLUMN_KEYS", "Charging", "PeoplePlan", "read_people_plan"]

HINT = Words("The documentation has some to start from.", "文書に例があります。")
TOP_KEYS = (*HEADER_KEYS, "source", "columns", "protection", "steps")
RECORD_KEYS = (*SOURCE_KEYS, "others", "population", "person", "opt_outs_removed", "larger_than_memory")
UNIT_KEYS = ("who", "rows", "adjacency")
READ_FORMATS = ("auto", "csv", "parquet", "arrow", "xlsx", "gpkg")
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
class PeoplePlan(PlanWithHeader):
    """What a plan file says.

    Attributes:
        source: the records.
        source_format: of the records, ``"auto"`` where their name tells it.
        encoding: of the records.
        others: what becomes of columns that the plan does not name: ``"refuse"`` or ``"drop"``.
        population: everybody, if the records are a part of them.
        person: the column that tells people apart, for methods with a budget.
        opt_outs_removed: whether people who opted out are not in the data any more.
        columns: by name.
        steps: what is done, in order.
        said: the plan as it was typed, by the names that keys have now; its fingerprint is made of it.
        is_large: whether the records do not fit into memory.
    """

    source: Path
    source_format: str
    encoding: str
    others: str
    population: Path | None
    person: str | None
    opt_outs_removed: bool
    columns: Mapping[str, PlannedColumn]
    steps: tuple[Step, ...]
    said: Mapping[str, Any]
    is_large: bool = False

    @property
    def charging(self) -> Charging | None:
        """What is spent; None for methods without a guarantee."""
        price, ledger = self.header.price, self.header.ledger
        return None if price is None or ledger is None else Charging(price.budget, price.unit, ledger)

    @property
    def noted_in(self) -> LedgerEntryPoint | None:
        """Where it is noted that records were given away without a guarantee, if anywhere."""
        return self.header.ledger if self.header.price is None else None

    @property
    def format(self) -> str:
        """Of the published records."""
        return self.header.formats[0]

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
        # By the names that keys had at first: a plan that was settled before stays the same one.
        named = {"input" if key == "source" else key: value for key, value in self.said.items() if key not in words}
        facts = {
            "said": named,
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
    said = read_plan_values(file, "records", HINT)
    top = Section(said, "", file.name, TOP_KEYS)
    base = file.resolve().parent
    header = _read_header(top, file, said, None if folder is None else Path(folder))
    given = top.section("source", RECORD_KEYS)
    source, encoding = base / given.text("path"), given.text("encoding", "auto")
    source_format = given.choice("format", READ_FORMATS, "auto")
    others = given.choice("others", ("refuse", "drop"), "refuse")
    population = base / given.text("population") if given.has("population") else None
    person = given.text("person") if given.has("person") else None
    opt_outs_removed = given.flag("opt_outs_removed", False)
    is_large = given.flag("larger_than_memory", False)
    given.finish()
    columns = {column.name: column for column in read_columns_section(top, file.name, base)}
    steps = _read_steps(top, file.name, columns)
    _require_price(top, steps, header)
    top.finish()
    plan = PeoplePlan(
        header=header,
        source=source,
        source_format=source_format,
        encoding=encoding,
        others=others,
        population=population,
        person=person,
        opt_outs_removed=opt_outs_removed,
        columns=MappingProxyType(columns),
        steps=steps,
        said=said,
        is_large=is_large,
    )
    _require_consistent(plan, given)
    return plan


def _read_header(top: Section, file: Path, said: Mapping[str, Any], folder: Path | None) -> PlanHeader:
    """The head; only methods with differential privacy of the table have a price, and they stand alone."""
    protection = said.get("protection")
    method = protection.get("method") if isinstance(protection, dict) else None
    output = top.section("output", OUTPUT_KEYS)
    header = read_header(
        top,
        file,
        "records",
        folder=folder,
        by_default="protected",
        formats=FORMATS,
        output=output,
        is_priced=isinstance(method, str) and method in private_names(),
        unit_keys=UNIT_KEYS,
    )
    output.finish()
    if len(header.formats) > 1:
        output.refuse("formats", "must be one: records are published once", "は一つだけ指定してください")
    return header


def _require_price(top: Section, steps: tuple[Step, ...], header: PlanHeader) -> None:
    """Refuse a budget that nothing is charged to, and one that the method cannot do with."""
    step = steps[0]
    if header.price is not None and isinstance(step, PrivateStep):
        section = Section({}, "budget", header.file.name, BUDGET_KEYS)
        step.require_budget(section, header.price.budget, header.price.unit)
        return
    for key in ("budget", "unit"):
        if top.has(key):
            top.refuse(
                key,
                f'must be left out: "{step.name}" is not differential privacy of the table, so no budget can be charged for it',
                f'は不要です。"{step.name}" は表の差分プライバシーではないため、予算を使いません',
            )


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
                f'の "{step.name}" は元のレコードにそのまま使う手法です。[protection] として単独で書いてください',
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
