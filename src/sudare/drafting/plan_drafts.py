"""A plan for counts as somebody has decided it so far, and the plan file that says so.

The file is the state: whoever drafts a plan on the page, in the terminal or by hand ends with the same TOML, read by the same
function. Nothing here looks at data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from sudare.bilingual import Language, Words
from sudare.parameters import show_fraction
from sudare.privacy import Budget
from sudare.storage.toml_text import toml_key, toml_text

__all__ = ["AttributeDraft", "PlanDraft", "SourceDraft", "TomlValue", "budget_lines", "plan_text_of", "with_budget"]

TomlValue = str | bool | int | float | date | tuple["TomlValue", ...] | Mapping[str, "TomlValue"]

OPENING = Words(
    "The plan of a release, drafted from {file}. Nothing in it was taken from the data but names of columns and their sort.\n"
    "Look at what to expect (nothing is spent): sudare plan {plan}",
    "{file} から下書きした公表の計画です。データから取ったのは列の名前と種類だけです。\n"
    "結果の見通しを確認してください（予算は使いません）: sudare plan {plan}",
)
UNDECIDED = Words("not decided yet: {reason}", "未定: {reason}")
LEFT_OUT = Words("columns that the table leaves out: {names}", "表に使わない列: {names}")


@dataclass(frozen=True, kw_only=True)
class AttributeDraft:
    """One attribute of the table.

    Attributes:
        name: of the attribute.
        kind: such as ``"mesh"``.
        keys: what else its section says.
        missing: what has still to be decided by whoever confirms the draft; None if nothing.
        remark: why it was drafted so, for people; None if there is nothing to say.
    """

    name: str
    kind: str
    keys: Mapping[str, TomlValue]
    missing: Words | None = None
    remark: Words | None = None


@dataclass(frozen=True, kw_only=True)
class SourceDraft:
    """The data.

    Attributes:
        path: as the plan names it, from where the plan is.
        rows: ``"people"`` or ``"counts"``.
        count: the column of counts; empty if there is none.
        person: the column that tells people apart; empty if each row is another person.
        columns: of attributes that are named otherwise than their column.
        encoding: of text files; empty where the file tells.
    """

    path: str
    rows: str = "people"
    count: str = ""
    person: str = ""
    columns: Mapping[str, TomlValue] | None = None
    encoding: str = ""


@dataclass(frozen=True, kw_only=True)
class PlanDraft:
    """A plan for counts.

    Attributes:
        title: of the release.
        publisher: who publishes it.
        description: of what is counted.
        language: of the report and of the comments.
        source: the data.
        attributes: of the table, in their order.
        left_out: columns that the table does not have.
        unit_rows: how many rows one person may have; 1 where each row is another person.
        budget: what the release spends.
        ledger: where it is charged, from where the plan is.
        dataset: its name there.
        people: about how many people there are, where that is public; None otherwise.
        folder: where the release goes, from where the plan is.
        formats: of the files.
    """

    title: str
    publisher: str
    description: str = ""
    language: Language = "en"
    source: SourceDraft
    attributes: tuple[AttributeDraft, ...]
    left_out: tuple[str, ...] = ()
    unit_rows: int = 1
    budget: Budget
    ledger: str = "budget.db"
    dataset: str = "my-data"
    people: int | None = None
    folder: str = "release"
    formats: tuple[str, ...] = ("parquet", "csv")

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to be decided."""
        return bool(self.attributes) and all(attribute.missing is None for attribute in self.attributes)


def plan_text_of(draft: PlanDraft, plan: str = "plan.toml") -> str:
    """The plan file that says what a draft says.

    Args:
        draft: as it was decided.
        plan: what the file will be called.
    """
    return "\n".join(_lines(draft, plan)) + "\n"


def budget_lines(budget: Budget) -> list[str]:
    """The keys of a ``[budget]`` section."""
    return [f"{name} = {_number(Fraction(value))}" for name, value in budget.to_dict().items()]


def _number(value: Fraction) -> str:
    """A number without loss; what is no short decimal goes as a quotient in quotes."""
    text = show_fraction(value, digits=12)
    return toml_text(str(value)) if text.startswith("~") else text


_SECTION = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+")


def with_budget(text: str, budget: Budget) -> str:
    """A plan file that spends another budget, and is the same otherwise, comments included.

    Args:
        text: of a plan file that has a section ``[budget]``.
        budget: to spend.

    Raises:
        ValueError: if it has no such section.
    """
    lines = text.split("\n")
    starts = [place for place, line in enumerate(lines) if (found := _SECTION.match(line)) and found[1] == "budget"]
    if len(starts) != 1:
        raise ValueError("the plan has no section [budget] of its own")
    end = next((place for place in range(starts[0] + 1, len(lines)) if _SECTION.match(lines[place])), len(lines))
    kept = [line for line in lines[starts[0] + 1 : end] if not re.match(r"\s*(epsilon|delta|rho)\s*=", line)]
    return "\n".join([*lines[: starts[0] + 1], *budget_lines(budget), *kept, *lines[end:]])


def _lines(draft: PlanDraft, plan: str) -> Iterator[str]:
    yield from _comment(OPENING.format(file=draft.source.path, plan=plan), draft.language)
    yield ""
    yield from _keys({"title": draft.title, "publisher": draft.publisher})
    if draft.description:
        yield from _keys({"description": draft.description})
    yield from _keys({"language": draft.language})
    yield from ("", "[source]")
    yield from _keys(_source_keys(draft.source))
    if draft.left_out:
        yield from _comment(LEFT_OUT.format(names=list(draft.left_out)), draft.language)
    for attribute in draft.attributes:
        yield from _attribute_lines(attribute, draft.language)
    yield from ("", "[unit]")
    yield from _keys({"who": "person", **({"rows": draft.unit_rows} if draft.unit_rows > 1 else {})})
    yield from ("", "[budget]", *budget_lines(draft.budget))
    yield from ("", "[ledger]")
    yield from _keys({"location": draft.ledger, "dataset": draft.dataset})
    if draft.people is not None:
        yield from ("", "[prediction]")
        yield from _keys({"people": draft.people})
    yield from ("", "[output]")
    yield from _keys({"folder": draft.folder, "formats": draft.formats})


def _attribute_lines(attribute: AttributeDraft, language: Language) -> Iterator[str]:
    """A section; one that is not decided yet stands in comments."""
    lines = ["[[domain]]", *_keys({"name": attribute.name, "kind": attribute.kind, **attribute.keys})]
    yield ""
    if attribute.remark is not None:
        yield from _comment(attribute.remark, language)
    if attribute.missing is None:
        yield from lines
        return
    yield from _comment(UNDECIDED.format(reason=attribute.missing), language)
    yield from (f"# {line}" for line in lines)


def _source_keys(source: SourceDraft) -> dict[str, TomlValue]:
    named: dict[str, TomlValue] = {"path": source.path, "rows": source.rows}
    named |= {key: value for key in ("count", "person", "encoding") if (value := getattr(source, key))}
    return {**named, **({"columns": source.columns} if source.columns else {})}


def _keys(values: Mapping[str, TomlValue]) -> Iterator[str]:
    return (f"{toml_key(name)} = {_value(value)}" for name, value in values.items())


def _value(value: TomlValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_keys(value)) + " }"
    return "[" + ", ".join(_value(each) for each in value) + "]"


def _comment(words: Words, language: Language) -> Iterable[str]:
    """A text as comments; what a name brings along cannot end one."""
    return (f"# {''.join(c if c.isprintable() else ' ' for c in line)}" for line in words.explain(language).split("\n"))
