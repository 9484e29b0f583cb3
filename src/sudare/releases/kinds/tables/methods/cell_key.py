"""Cell keys: small noise for counts that depends on a secret and on who is in the cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.disclosure.cell_key import (
    KEY_UNITS,
    PerturbationTable,
    cell_keys,
    perturbation_table,
    read_perturbation_table,
    record_keys,
)
from sudare.errors import InputError, ParameterError
from sudare.microdata.pseudonyms.keys import read_key
from sudare.releases.kinds.tables.attacking.averaging_attacks import attack_by_averaging
from sudare.releases.kinds.tables.attacking.cell_attacks import AttackedCells
from sudare.releases.kinds.tables.methods.cell_method import ATTACK_WORDS, CellMethod, Protected
from sudare.releases.kinds.tables.methods.method import MethodWords
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.planning.input_plan import Input, RecordsInput
from sudare.releases.kinds.tables.published_table import PublishedTables
from sudare.releases.kinds.tables.sources import JudgedTable, RecordCells
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["CELL_KEY", "CellKey"]

LAW = ("largest", "variance", "forbidden", "stay", "monotone")
WORDS = MethodWords(
    name=Words("Cell keys", "セルキー法"),
    protects=Words(
        "Every count has small noise of at most {largest_deviation}, drawn from a secret key and the people in the cell. The "
        "same cell has the same noise wherever it is published, so that asking again tells nothing.",
        "すべての件数に、秘密の鍵とセルの構成員から決まる小さなノイズ（最大 {largest_deviation}）を加えています。"
        "同じセルのノイズはどこでも同じなので、繰り返し尋ねても何もわかりません。",
    ),
    keeps=Words(
        "Counts are right on average. Sums of published cells differ a little from published totals.",
        "件数は平均的に正しい値です。公表したセルの和は、公表した合計と少し異なります。",
    ),
    limits=Words(
        "Not covered: differences of many tables, because the noise is small and bounded. Whoever has the key can undo "
        "the noise.",
        "対象外: 多数の表の差し引き（ノイズは小さく有界なため）。鍵をもつ人はノイズを取り除けます。",
    ),
)
ATTACKS = {
    **ATTACK_WORDS,
    "averaging": Words("Averaging of noise over all sums", "すべての合計を使ってノイズを平均する"),
}


@dataclass(frozen=True, eq=False)
class CellKey:
    """Noise for counts that depends on who is in the cell.

    Attributes:
        key_file: of the secret; it is never in the plan.
        identifier: the column that tells records apart, the same in every table.
        table: the noise of each count.
        settings: what the plan said of the noise.
    """

    key_file: Path
    identifier: str
    table: PerturbationTable
    settings: tuple[tuple[str, str], ...]

    @property
    def largest(self) -> int:
        """The largest deviation of a published count."""
        return max(abs(step) for row in self.table.noise for step in row)


@dataclass(frozen=True, kw_only=True)
class LargeCountNoise:
    """Probabilities of whole numbers.

    Attributes:
        lowest: the first number.
        probabilities: of it and those that follow.
    """

    lowest: int
    probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class PublicNoise:
    """What everybody may know of keyed noise.

    Attributes:
        largest: deviation that the plan asks for.
        variance: of the noise.
        forbidden: counts from 1 to this are not published.
        stay: the probability that a count is not changed.
        monotone: whether larger counts stay larger on average.
        largest_deviation: that there is.
        noise: of large counts.
    """

    largest: str
    variance: str
    forbidden: str | None = None
    stay: str | None = None
    monotone: str | None = None
    largest_deviation: int
    noise: LargeCountNoise


class _KeyedNoise(CellMethod[CellKey, Protected]):
    """Counts with noise."""

    name = "cell-key"
    keys = ("key_file", "identifier", *LAW, "perturbation")
    words = WORDS
    attack_words = ATTACKS
    state = "perturbed"
    adds_up = False

    def read_settings(self, section: Section, base: Path) -> CellKey:
        key_file, identifier = base / section.text("key_file"), section.text("identifier")
        if section.has("perturbation"):
            for key in LAW:
                if section.has(key):
                    section.refuse(
                        key,
                        "cannot stand beside 'perturbation': the file says what the noise is",
                        "は「perturbation」と同時に指定できません。ノイズはファイルで決まります",
                    )
            file = base / section.text("perturbation")
            return CellKey(key_file, identifier, read_perturbation_table(file), (("perturbation", file.name),))
        return CellKey(key_file, identifier, *_read_law(section))

    def require_source(self, source: Input, section: Section) -> None:
        if not (isinstance(source, RecordsInput) and source.value is None):
            section.refuse(
                "method",
                "is \"cell-key\", which needs records and makes counts: leave 'value' out",
                'の "cell-key" にはレコードが必要で、件数表を作ります（value は書きません）',
            )
        if source.weight or source.holding:
            section.refuse(
                "method", 'is "cell-key", which counts records one by one', 'の "cell-key" はレコードを一件ずつ数えます'
            )

    def prepare(self, settings: CellKey) -> None:
        read_key(settings.key_file)

    def columns_of_records(self, settings: CellKey) -> tuple[str, ...]:
        return (settings.identifier,)

    def keys_of_cells(self, settings: CellKey, cells: RecordCells) -> NDArray[np.int64]:
        """The key of every cell; one that two tables share has the same in both, because it depends on its records alone."""
        column = cells.records.column(settings.identifier)
        if len(set(column.labels)) < cells.records.rows or None in column.labels:
            raise InputError(
                f"The column '{settings.identifier}' does not tell the records apart: a text comes twice, or a field is empty. "
                "Cell keys need a different identifier in each row.",
                f"列「{settings.identifier}」ではレコードを区別できません（同じ値または空欄があります）。"
                "セルキーには行ごとに異なる識別子が必要です。",
            )
        secret = read_key(settings.key_file).subkey("cell keys of tables")
        keys = record_keys(column.texts().tolist(), secret)
        found = np.zeros(cells.system.size, dtype=np.int64)
        for number, span in enumerate(cells.spans):
            _, own = cell_keys(span, cells.codes, keys)
            found[cells.system.tables[number].cells.reshape(-1)] = own % KEY_UNITS
        return found

    def protect_cells(self, settings: CellKey, judged: JudgedTable) -> Protected:
        if judged.keys is None:
            raise ParameterError("judged", "protect_cells", "with the keys of its cells", None)
        return Protected.without_hiding(judged, settings.table.perturb(judged.table.counts, judged.keys))

    def public_settings(self, plan: TablePlan, settings: CellKey, result: Protected) -> PublicNoise:
        return PublicNoise(
            **dict(settings.settings),
            largest_deviation=settings.largest,
            noise=_law_of_large_counts(settings.table),
        )

    def reach(self, published: PublishedTables, settings: Mapping[str, Any]) -> tuple[int, int]:
        reach = whole_number(settings["largest_deviation"])
        return reach, reach

    def further_attacks(self, cells: AttackedCells) -> tuple[AttackReport, ...]:
        return (attack_by_averaging(cells.published, cells.document, cells.holder),)


def _read_law(section: Section) -> tuple[PerturbationTable, tuple[tuple[str, str], ...]]:
    """The noise that a plan describes, and how it describes it."""
    largest, variance = section.whole("largest", 5), section.number("variance") if section.has("variance") else 2
    forbidden = section.whole("forbidden", 0)
    stay = section.number("stay") if section.has("stay") else None
    monotone = section.flag("monotone", False)
    try:
        table = perturbation_table(
            largest=largest, variance=variance, forbidden=forbidden, stay=stay, monotone=monotone
        )
    except ParameterError as error:
        key = error.parameter if error.parameter in LAW else "variance"
        section.refuse_parameter(key, error)
    except InputError as error:
        section.refuse("variance", f"cannot be met. {error.english}", f"を満たせません。{error.japanese}")
    settings: list[tuple[str, str]] = [("largest", str(largest)), ("variance", str(variance))]
    if forbidden:
        settings.append(("forbidden", str(forbidden)))
    if stay is not None:
        settings.append(("stay", str(stay)))
    if monotone:
        settings.append(("monotone", "true"))
    return table, tuple(settings)


def _law_of_large_counts(table: PerturbationTable) -> LargeCountNoise:
    """The noise of large counts, as probabilities of whole numbers from the lowest on."""
    noise, bounds = table.noise[-1], table.bounds[-1]
    shares = dict(zip(noise, (high - low for low, high in zip((0, *bounds), bounds, strict=False)), strict=True))
    span = range(min(noise), max(noise) + 1)
    return LargeCountNoise(lowest=min(noise), probabilities=tuple(shares.get(step, 0) / KEY_UNITS for step in span))


CELL_KEY = _KeyedNoise()
