"""The head of a plan, which every kind has: what it is called, who publishes it, what it costs, who pays, and where it goes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, cast

from sudare.bilingual import Words
from sudare.errors import ParameterError, PlanError
from sudare.parameters import show_fraction
from sudare.privacy import Budget, Unit
from sudare.privacy.unit import ADJACENCIES, Adjacency, unit_of
from sudare.sections import Section, suggest

__all__ = [
    "BUDGET_KEYS",
    "HEADER_KEYS",
    "KIND",
    "LEDGER_KEYS",
    "OUTPUT_KEYS",
    "SOURCE_KEYS",
    "TITLE_KEYS",
    "UNIT_KEYS",
    "LedgerEntryPoint",
    "PlanHeader",
    "PlanTitle",
    "PlanWithHeader",
    "PricedPlan",
    "ReleasePrice",
    "read_budget_section",
    "read_header",
    "read_ledger_section",
    "read_title",
    "read_unit_section",
]

KIND = "kind"
TITLE_KEYS = (KIND, "title", "publisher", "description", "language")
"""Keys of the head itself; every kind's own sections stand beside them."""

HEADER_KEYS = (*TITLE_KEYS, "unit", "budget", "ledger", "output")
"""The head with the sections that `read_header` reads."""

UNIT_KEYS = ("who", "rows", "cells", "rows_per_cell", "adjacency")
BUDGET_KEYS = ("epsilon", "delta", "rho")
LEDGER_KEYS = ("location", "dataset")
SOURCE_KEYS = ("path", "format", "encoding")
"""What every kind may say of the data under ``[source]``, besides keys of its own."""

OUTPUT_KEYS = ("folder", "formats")
"""What every kind may say of the release under ``[output]``, besides keys of its own."""

NO_LEDGER = Words(
    """{file} has a budget, and no section [ledger] that says where it is charged. Add these three lines:

[ledger]
location = "budget.db"
dataset = "my-data"

If there is no ledger yet, make one beside the plan, with all that may ever be spent on the data (at least the cost of this plan):

{commands}""",
    """{file} には予算がありますが、その予算を差し引く台帳（[ledger] セクション）がありません。次の3行を加えてください:

[ledger]
location = "budget.db"
dataset = "my-data"

台帳がまだなければ、計画と同じフォルダで作成し、このデータに使ってよい総予算（この計画の費用以上）を登録してください:

{commands}""",
)
COMMANDS = "sudare ledger create budget.db\nsudare ledger add budget.db my-data {options}"
LANGUAGES = ("en", "ja")
DATABASES = ("postgresql:", "postgres:")


@dataclass(frozen=True)
class LedgerEntryPoint:
    """Where the budget is kept.

    Attributes:
        location: a file, or the URL of a PostgreSQL database.
        dataset: the data set's name there.
    """

    location: str
    dataset: str

    @property
    def public_name(self) -> str:
        """What reports call it: without the folders of a machine, and without a password."""
        return "PostgreSQL" if "://" in self.location else Path(self.location).name


@dataclass(frozen=True, kw_only=True)
class PlanTitle:
    """What a plan says of itself, for people.

    Attributes:
        title: what the report is called.
        publisher: who publishes it.
        description: what it is about.
        language: of the report, ``"en"`` or ``"ja"``.
    """

    title: str
    publisher: str = ""
    description: str = ""
    language: str = "en"


@dataclass(frozen=True, kw_only=True)
class ReleasePrice:
    """What a release costs, and whom it protects for that.

    Attributes:
        budget: the cost.
        unit: who is protected.
    """

    budget: Budget
    unit: Unit


@dataclass(frozen=True, kw_only=True)
class PlanHeader(PlanTitle):
    """What the order of a release needs to know of a plan, whatever kind it is.

    Attributes:
        file: where the plan was read from.
        folder: where the release is written.
        formats: of what is published; empty for kinds that have one alone.
        price: what it costs; None for methods without a guarantee.
        ledger: where it is charged; or, without a price, where it is noted, if anywhere.
    """

    file: Path
    folder: Path
    formats: tuple[str, ...] = ()
    price: ReleasePrice | None = None
    ledger: LedgerEntryPoint | None = None


@dataclass(frozen=True, kw_only=True)
class PlanWithHeader:
    """A plan of any kind: its head, to which a kind adds what it alone knows.

    Attributes:
        header: title, folder, formats, price and ledger.
    """

    header: PlanHeader

    @property
    def file(self) -> Path:
        """Where the plan was read from."""
        return self.header.file

    @property
    def title(self) -> str:
        """What the report is called."""
        return self.header.title

    @property
    def publisher(self) -> str:
        """Who publishes it."""
        return self.header.publisher

    @property
    def description(self) -> str:
        """What it is about."""
        return self.header.description

    @property
    def language(self) -> str:
        """Of the report, ``"en"`` or ``"ja"``."""
        return self.header.language

    @property
    def folder(self) -> Path:
        """Where the release is written."""
        return self.header.folder

    @property
    def formats(self) -> tuple[str, ...]:
        """Of what is published."""
        return self.header.formats

    @property
    def ledger(self) -> LedgerEntryPoint | None:
        """Where it is charged or noted, if anywhere."""
        return self.header.ledger

    def in_folder(self, folder: Path) -> Self:
        """The same plan for another folder."""
        return replace(self, header=replace(self.header, folder=folder))


@dataclass(frozen=True, kw_only=True)
class PricedPlan(PlanWithHeader):
    """A plan of a kind that always has a price, and a ledger that it is charged to."""

    @property
    def price(self) -> ReleasePrice:
        """What will be spent, and who is protected for it."""
        if self.header.price is None:
            raise TypeError("a plan of this kind without a price")
        return self.header.price

    @property
    def budget(self) -> Budget:
        """What will be spent."""
        return self.price.budget

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.price.unit

    @property
    def ledger(self) -> LedgerEntryPoint:
        """Where it is charged."""
        if self.header.ledger is None:
            raise TypeError("a plan of this kind without a ledger")
        return self.header.ledger


def read_title(top: Section, kind: str) -> PlanTitle:
    """The head of a plan.

    Args:
        top: of the plan.
        kind: that is expected; a plan need not name it.

    Raises:
        PlanError: if the plan is of another kind, or lacks a title.
    """
    stated = top.text(KIND, kind)
    if stated != kind:
        top.refuse(
            KIND,
            f'is "{stated:.60}", and a plan of the kind "{kind}" is expected here; `sudare run` takes plans of every kind',
            f"は「{stated:.60}」ですが、ここでは「{kind}」の計画が必要です（`sudare run` はどの種類の計画も実行できます）",
        )
    return PlanTitle(
        title=top.text("title"),
        publisher=top.text("publisher", ""),
        description=top.text("description", ""),
        language=top.choice("language", LANGUAGES, "en"),
    )


def read_header(
    top: Section,
    file: Path,
    kind: str,
    *,
    folder: Path | None = None,
    by_default: str = "published",
    formats: Sequence[str] = (),
    output: Section | None = None,
    is_priced: bool | None = None,
    unit_keys: Sequence[str] = UNIT_KEYS,
    adjacency: Adjacency = "add-remove",
) -> PlanHeader:
    """The whole head of a plan: title, unit, budget, ledger and output. Every kind reads it here.

    Args:
        top: of the plan.
        file: of the plan; relative paths are meant from where it is.
        kind: that is expected.
        folder: where the release goes, in place of what the plan says.
        by_default: name of the folder if neither is given.
        formats: that the kind can write, the usual one first; none for a kind that has no choice.
        output: the section ``[output]`` of a kind with keys of its own there, which it reads and finishes itself.
        is_priced: whether there is a price; left out, there is one where the plan has a budget.
        unit_keys: what the kind takes of a unit.
        adjacency: of the unit if the plan states none.

    Raises:
        PlanError: if something in it cannot be; the message names the key.
    """
    base = file.resolve().parent
    title = read_title(top, kind)
    price = None
    if top.has("budget") if is_priced is None else is_priced:
        unit = read_unit_section(top.section("unit", unit_keys), by_default=adjacency, keys=unit_keys)
        price = ReleasePrice(budget=read_budget_section(top.section("budget", BUDGET_KEYS)), unit=unit)
    ledger = None
    if price is not None and not top.has("ledger"):
        raise PlanError(NO_LEDGER.format(file=file.name, commands=COMMANDS.format(options=_options_of(price))))
    if price is not None or top.has("ledger"):
        ledger = read_ledger_section(top.section("ledger", LEDGER_KEYS), base)
    written = top.section("output", OUTPUT_KEYS if formats else OUTPUT_KEYS[:1]) if output is None else output
    stated = base / written.text("folder", by_default)
    chosen = _read_formats(written, formats) if formats else ()
    if output is None:
        written.finish()
    return PlanHeader(
        file=file,
        title=title.title,
        publisher=title.publisher,
        description=title.description,
        language=title.language,
        folder=stated if folder is None else folder,
        formats=chosen,
        price=price,
        ledger=ledger,
    )


def _options_of(price: ReleasePrice) -> str:
    """What `sudare ledger add` takes for a data set that this price can be charged to, once."""
    budget, unit = price.budget, price.unit
    parts = {"rho": budget.rho} if budget.currency == "rho" else {"epsilon": budget.epsilon, "delta": budget.delta}
    options = [f"--{name} {show_fraction(value)}" for name, value in parts.items() if value]
    if unit.who != "person":
        options.append(f"--who {shlex.quote(unit.who)}")
    if unit.rows > 1:
        in_any_cells = unit.cells == unit.rows_per_cell == unit.rows
        options += [] if in_any_cells else [f"--cells {unit.cells}", f"--rows-per-cell {unit.rows_per_cell}"]
        options.append(f"--rows {unit.rows}")
    return " ".join([*options, *(["--replace"] if unit.adjacency == "replace" else [])])


def _read_formats(section: Section, known: Sequence[str]) -> tuple[str, ...]:
    formats = section.items("formats", known[:1])
    for form in formats:
        if form not in known:
            listed = ", ".join(known)
            hint = suggest(str(form), known)
            section.refuse(
                "formats",
                f"may have {listed}, not {form!r:.40}.{hint.english}",
                f"に使えるのは {listed} です（指定: {form!r:.40}）。{hint.japanese}",
            )
    if not formats or len(set(formats)) < len(formats):
        section.refuse("formats", "must name at least one format, each once", "は1つ以上、重複なしで指定してください")
    return tuple(formats)


def read_budget_section(section: Section) -> Budget:
    """What is spent.

    Raises:
        PlanError: if it is no budget.
    """
    numbers = {key: section.number(key) for key in BUDGET_KEYS if section.has(key)}
    section.finish()
    try:
        return Budget(**numbers)
    except ParameterError as error:
        section.refuse_parameter(error.parameter, error)


def read_unit_section(
    section: Section, *, by_default: Adjacency = "add-remove", keys: Sequence[str] = UNIT_KEYS
) -> Unit:
    """Who is protected.

    Args:
        section: of the plan.
        by_default: the adjacency if none is stated.
        keys: that the kind of the plan takes.

    Raises:
        PlanError: if it is no unit.
    """
    who = section.text("who", "person")
    limits = [key for key in ("cells", "rows_per_cell", "rows") if key in keys]
    numbers = {key: section.whole(key) for key in limits if section.has(key)}
    adjacency = cast("Adjacency", section.choice("adjacency", ADJACENCIES, by_default))
    section.finish()
    try:
        return unit_of(who, adjacency, **numbers)
    except ParameterError as error:
        section.refuse_parameter(error.parameter, error)


def read_ledger_section(section: Section, base: Path) -> LedgerEntryPoint:
    """Where a ledger is, and which data set in it is meant; a relative path is meant from the plan's folder."""
    location, dataset = section.text("location"), section.text("dataset")
    section.finish()
    return LedgerEntryPoint(location if location.startswith(DATABASES) else str(base / location), dataset)
