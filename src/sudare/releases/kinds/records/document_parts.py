"""The parts of ``release.json`` of records, typed until it is written; `sudare.releases.kinds.records.document` fills them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.bilingual import Words
from sudare.releases.documents import INLINE, InputHash, Promise, ReleaseDocument
from sudare.releases.kinds.records.measuring import Risks

__all__ = [
    "AttackRecord",
    "ColumnRecord",
    "InputFile",
    "KeptRows",
    "ModelRecord",
    "PrivateRecordsDocument",
    "ProtectedRecordsDocument",
    "PublishedRows",
    "RecordsDocument",
    "RecordsWork",
    "SearchRecord",
    "StepChange",
    "StepRecord",
    "UtilityFigure",
    "VerdictRecord",
]

UtilityFigure = float | Mapping[str, float]
"""One measure of what was lost; of all columns together, or of each."""


@dataclass(frozen=True, kw_only=True)
class PublishedRows:
    """The published records in a few words.

    Attributes:
        rows: how many.
        columns: their names.
    """

    rows: int
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """The file that the records were read from.

    Attributes:
        name: of the file.
        sha256: its hash; empty for a folder.
    """

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class KeptRows:
    """How many records are published.

    Attributes:
        before: how many there were.
        published: how many are left.
        suppressed: the share that was suppressed; None where nothing was searched for.
    """

    before: int
    published: int
    suppressed: float | None


@dataclass(frozen=True, kw_only=True)
class StepChange:
    """What a step changed, and what it costs where every record is randomized by itself.

    Attributes:
        touched: the share of values that it looked at.
        changed: the share of values that are others now.
        local_epsilon: of one record; None where there is no such guarantee.
        local_rho: of one record; None where there is no such guarantee.
    """

    touched: float
    changed: float
    local_epsilon: str | None
    local_rho: str | None


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One step.

    Attributes:
        method: how it was done.
        name: what it is called.
        settings: of the plan.
        protects: what it protects.
        keeps: what it keeps.
        change: what it changed, of steps that change values one by one.
    """

    method: str
    name: str
    settings: Mapping[str, Any]
    protects: Words
    keeps: Words
    change: StepChange | None = field(default=None, metadata=INLINE)


@dataclass(frozen=True, kw_only=True)
class ColumnRecord:
    """One column of the plan.

    Attributes:
        name: of the column.
        role: such as quasi-identifier.
        published: whether it is.
        hierarchy: in words, where it has one.
        kind: of the hierarchy.
        sha256: of the hierarchy's file.
        level: how coarse it was published.
        height: of the hierarchy.
    """

    name: str
    role: str
    published: bool
    hierarchy: str | None
    kind: str | None
    sha256: str | None
    level: int | None
    height: int | None


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """One privacy model that was promised.

    Attributes:
        english: what it asks for.
        japanese: the same.
        holds: whether the written file has it; None where the file alone cannot show it.
        model: from which it can be made again.
    """

    english: str
    japanese: str
    holds: bool | None
    model: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SearchRecord:
    """What a search for levels found.

    Attributes:
        levels: of each column.
        loss: of the choice, and the least that any choice may have.
        gap: between the two.
        is_optimal: whether no choice is better.
        checked: choices that were looked at.
        choices: that there are.
    """

    levels: Mapping[str, int]
    loss: Sequence[float]
    gap: float
    is_optimal: bool
    checked: int
    choices: int


@dataclass(frozen=True, kw_only=True)
class VerdictRecord:
    """What an attack found of one target.

    Attributes:
        target: such as a column.
        outcome: how it ended.
        number: that it was judged by.
        sentence: what was found.
        remedy: what would stop it.
    """

    target: str
    outcome: str
    number: float
    sentence: Words
    remedy: Words


@dataclass(frozen=True, kw_only=True)
class AttackRecord:
    """What an attack found.

    Attributes:
        attack: its name.
        outcome: how it ended.
        summary: what it found, in a sentence.
        verdicts: for each of its targets.
    """

    attack: str
    outcome: str
    summary: Words
    verdicts: tuple[VerdictRecord, ...]


@dataclass(frozen=True, kw_only=True)
class RecordsWork:
    """What was done to records.

    Attributes:
        steps: method, settings, and what each protects and keeps.
        columns: of the plan, with their levels.
        published: what is left.
    """

    steps: tuple[StepRecord, ...]
    columns: tuple[ColumnRecord, ...]
    published: PublishedRows


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordsDocument(ReleaseDocument):
    """The document of records.

    Attributes:
        work: what was done.
        confidential: whether it is for the holder alone.
    """

    work: RecordsWork = field(metadata=INLINE)
    confidential: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class ProtectedRecordsDocument(RecordsDocument):
    """The document of steps without a budget.

    Attributes:
        note: for whom it is.
        input: the records as they were.
        models: whether they hold.
        search: what the search for levels found.
        kept: how many records are published.
        risks: before and after, where there are quasi-identifiers.
        classes: shares of records by the size of their class, likewise.
        utility: what was lost, likewise.
        larger_than_memory: true where figures come from counts.
        attacks: what the attacks found, once they were run.
        even_if_broken: whether it is published though an attack succeeded.
    """

    note: Words
    input: InputFile
    models: tuple[ModelRecord, ...]
    search: SearchRecord | None
    kept: KeptRows
    risks: Mapping[str, Risks] | None = None
    classes: Mapping[str, Sequence[float]] | None = None
    utility: Mapping[str, UtilityFigure] | None = None
    larger_than_memory: bool | None = None
    attacks: tuple[AttackRecord, ...] | None = None
    even_if_broken: bool | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateRecordsDocument(RecordsDocument):
    """The document of a method with a budget.

    Attributes:
        promise: what the guarantee means for one person.
        input: a hash that proves the records.
        tables: of columns that were measured.
        values: how often each value is published.
        groups: whether every group is as large as promised, where that is promised.
    """

    promise: Promise
    input: InputHash
    tables: tuple[tuple[str, ...], ...]
    values: Mapping[str, Sequence[Sequence[Any]]]
    groups: Mapping[str, int | bool] | None = None
