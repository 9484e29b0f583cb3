"""What the columns of a file probably are: who a row is about, what is counted, where and when; by names and shapes alone."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sudare.bilingual import Language, Words
from sudare.drafting.columns import ColumnShape, SeenColumn, SeenFile, look_at_columns
from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft, TomlValue
from sudare.drafting.public_lists import AGES, PUBLIC_LISTS
from sudare.io import Source
from sudare.privacy import Budget

__all__ = ["ColumnRole", "GuessedColumn", "attribute_of", "draft_of_file", "guess_roles"]

DEFAULT_LEVEL = "1/2"
"""Of points: meshes of 500 m, as the census has them."""


class ColumnRole(StrEnum):
    """What a column is for."""

    PERSON = "person"
    COUNT = "count"
    MESH = "mesh"
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    CATEGORY = "category"
    NUMBER = "number"
    TIME = "time"
    LEFT_OUT = "left out"


@dataclass(frozen=True, kw_only=True)
class GuessedColumn:
    """A column with what it probably is.

    Attributes:
        seen: its name and shape.
        role: what it is for.
        labels: the public list that its values probably are of, by its name; empty if none is known.
    """

    seen: SeenColumn
    role: ColumnRole
    labels: str = ""


PERSON_NAMES = (
    r"^(id|uid|.*(person|people|user|customer|member|subscriber|household|device|respondent|patient).*(id|no|number)?|.*_id"
    r"|個人.*|.*(利用者|顧客|会員|加入者|世帯|端末|回答者|患者|整理)(番号|id)|.*番号)$"
)
_NAMES: tuple[tuple[ColumnRole, re.Pattern[str], tuple[ColumnShape, ...]], ...] = tuple(
    (role, re.compile(pattern, re.IGNORECASE), shapes)
    for role, pattern, shapes in (
        (ColumnRole.LATITUDE, r"^(lat|latitude|緯度|y)$", (ColumnShape.DECIMAL, ColumnShape.WHOLE)),
        (ColumnRole.LONGITUDE, r"^(lon|lng|long|longitude|経度|x)$", (ColumnShape.DECIMAL, ColumnShape.WHOLE)),
        (
            ColumnRole.COUNT,
            r"^(population|pop|pop_?total|total_?pop(ulation)?|count|counts|people|persons|人口|人数|人口総数|総数|件数|T[0-9]{9})$",
            (ColumnShape.WHOLE,),
        ),
        (
            ColumnRole.PERSON,
            PERSON_NAMES,
            (ColumnShape.WHOLE, ColumnShape.TEXT),
        ),
        (ColumnRole.NUMBER, r"^(age|年齢|満年齢)$", (ColumnShape.WHOLE, ColumnShape.DECIMAL)),
    )
)
_SEX = re.compile(r"^(sex|gender|性別|男女.*)$", re.IGNORECASE)
_PREFECTURE = re.compile(r"^(pref(ecture)?(_?(name|code))?|都道府県(名|コード)?)$", re.IGNORECASE)
_AGE = re.compile(r"^(age|年齢|満年齢)$", re.IGNORECASE)

STATE_LABELS = Words("list its values, which must be public", "値の一覧（公開してよいもの）を書いてください")
STATE_EDGES = Words("state the edges of its groups", "階級の境界を書いてください")
STATE_SPAN = Words("state the first and the last day", "最初の日と最後の日を書いてください")
PUBLIC_LIST = Words(
    "from a public list: {title}. Check that the data spells it so.",
    "公開の一覧から: {title}。データの表記と合うか確認してください。",
)
WHOLE_JAPAN = Words(
    "all Japan; name a prefecture or corners for less, or a public list of meshes so that nobody is published in the sea",
    "全国です。範囲を狭めるなら都道府県か四隅を、海上を除くなら公開のメッシュ一覧を指定してください",
)
OF_POINTS = Words(
    "points become meshes of 500 m in all Japan; choose another level or area if needed",
    "座標を全国の500mメッシュに変換します。階層や範囲は変更できます",
)
THREE_AGES = Words("three age groups, as labour statistics have them", "労働統計と同じ3区分")
TITLE = Words("Counts of {name}", "{name} の度数表")
PUBLISHER = Words("Statistics office", "統計局")
ESTAT_KEY = "KEY_CODE"


def guess_roles(columns: Sequence[SeenColumn]) -> tuple[GuessedColumn, ...]:
    """What each column probably is. Of persons, counts and meshes there is one at most: the first."""
    guessed = [_guess(column) for column in columns]
    taken: set[ColumnRole] = set()
    kept = []
    for column in guessed:
        is_single = column.role in (
            ColumnRole.PERSON,
            ColumnRole.COUNT,
            ColumnRole.MESH,
            ColumnRole.LATITUDE,
            ColumnRole.LONGITUDE,
        )
        role = ColumnRole.LEFT_OUT if is_single and column.role in taken else column.role
        taken.add(column.role)
        kept.append(GuessedColumn(seen=column.seen, role=role, labels=column.labels if role == column.role else ""))
    return tuple(_without_areas_of_map(_without_odd_points(kept)))


def _guess(column: SeenColumn) -> GuessedColumn:
    name = column.name.strip()
    if column.shape is ColumnShape.MESH:
        return GuessedColumn(seen=column, role=ColumnRole.MESH)
    for role, pattern, shapes in _NAMES:
        if column.shape in shapes and pattern.fullmatch(name):
            return GuessedColumn(seen=column, role=role)
    if column.shape in (ColumnShape.DAY, ColumnShape.MOMENT):
        return GuessedColumn(seen=column, role=ColumnRole.TIME)
    labels = _list_for(name, column.shape)
    if labels:
        return GuessedColumn(seen=column, role=ColumnRole.CATEGORY, labels=labels)
    return GuessedColumn(seen=column, role=ColumnRole.LEFT_OUT)


def _list_for(name: str, shape: ColumnShape) -> str:
    """The public list that a column's values are probably of. Which spelling they have, whoever confirms the draft says."""
    is_japanese = not name.isascii()
    if _SEX.fullmatch(name):
        return "sex-number" if shape is ColumnShape.WHOLE else "sex-ja" if is_japanese else "sex-en"
    if _PREFECTURE.fullmatch(name):
        return (
            "prefectures-number"
            if shape is ColumnShape.WHOLE
            else "prefectures-ja"
            if is_japanese
            else "prefectures-en"
        )
    return "yes-no" if shape is ColumnShape.YES_NO else ""


def _without_odd_points(columns: list[GuessedColumn]) -> list[GuessedColumn]:
    """Latitude and longitude count together, and only where there are no mesh codes."""
    roles = {column.role for column in columns}
    pair = {ColumnRole.LATITUDE, ColumnRole.LONGITUDE}
    if pair <= roles and ColumnRole.MESH not in roles:
        return columns
    return [
        GuessedColumn(seen=column.seen, role=ColumnRole.LEFT_OUT) if column.role in pair else column
        for column in columns
    ]


def _without_areas_of_map(columns: list[GuessedColumn]) -> list[GuessedColumn]:
    """Prefectures go where there is a map: the place of a cell says them, and most pairs of the two are no places at all."""
    if not {column.role for column in columns} & {ColumnRole.MESH, ColumnRole.LATITUDE}:
        return columns
    return [
        GuessedColumn(seen=column.seen, role=ColumnRole.LEFT_OUT)
        if column.labels.startswith("prefectures-")
        else column
        for column in columns
    ]


def attribute_of(column: GuessedColumn) -> AttributeDraft | None:
    """The attribute that a column is drafted as; None for columns that are no attribute by themselves."""
    name = column.seen.name
    if column.role is ColumnRole.MESH:
        keys: dict[str, TomlValue] = {"level": column.seen.level or DEFAULT_LEVEL, "area": "japan"}
        return AttributeDraft(name=name, kind="mesh", keys=keys, remark=WHOLE_JAPAN)
    if column.role is ColumnRole.CATEGORY:
        known = PUBLIC_LISTS.get(column.labels)
        if known is None:
            return AttributeDraft(name=name, kind="category", keys={"labels": ()}, missing=STATE_LABELS)
        remark = PUBLIC_LIST.format(title=known.title)
        return AttributeDraft(name=name, kind="category", keys={"labels": known.labels}, remark=remark)
    if column.role is ColumnRole.NUMBER:
        if _AGE.fullmatch(name):
            return AttributeDraft(name=name, kind="bins", keys={"edges": AGES}, remark=THREE_AGES)
        return AttributeDraft(name=name, kind="bins", keys={"edges": ()}, missing=STATE_EDGES)
    if column.role is ColumnRole.TIME:
        keys = {"by": "hour of day", "from": "", "to": "", "time_zone": "Asia/Tokyo"}
        return AttributeDraft(name=name, kind="time", keys=keys, missing=STATE_SPAN)
    return None


def draft_of_file(
    path: Path,
    *,
    plan_folder: Path,
    budget: Budget,
    ledger: str = "budget.db",
    dataset: str = "my-data",
    language: Language = "en",
) -> tuple[PlanDraft, SeenFile, tuple[GuessedColumn, ...]]:
    """A plan drafted from a file, with what was seen and guessed.

    Args:
        path: the data.
        plan_folder: where the plan will be.
        budget: that it spends.
        ledger: where that is charged, from where the plan is.
        dataset: its name in the ledger.
        language: of the report.

    Raises:
        InputError: if the file cannot be read as a table.
    """
    seen = look_at_columns(Source(str(path)))
    guessed = guess_roles(seen.columns)
    draft = PlanDraft(
        title=TITLE.format(name=path.stem).explain(language),
        publisher=PUBLISHER.explain(language),
        language=language,
        source=_source_of(_named_from(path, plan_folder), seen, guessed),
        attributes=_attributes_of(seen, guessed),
        left_out=tuple(column.seen.name for column in guessed if column.role is ColumnRole.LEFT_OUT),
        budget=budget,
        ledger=ledger,
        dataset=dataset,
    )
    return draft, seen, guessed


def _named_from(path: Path, folder: Path) -> str:
    """How a plan in a folder names a file, which may lie beside the folder or above it."""
    return os.path.relpath(path.resolve(), folder.resolve())


def _attributes_of(seen: SeenFile, guessed: Sequence[GuessedColumn]) -> tuple[AttributeDraft, ...]:
    if seen.format in ("e-stat", "geotiff"):
        keys: dict[str, TomlValue] = {"level": DEFAULT_LEVEL, "area": "japan"}
        return (AttributeDraft(name=ESTAT_KEY, kind="mesh", keys=keys, remark=WHOLE_JAPAN),)
    found = [attribute for column in guessed if (attribute := attribute_of(column)) is not None]
    if any(column.role is ColumnRole.LATITUDE for column in guessed):
        keys = {"level": DEFAULT_LEVEL, "area": "japan"}
        found.insert(0, AttributeDraft(name=ESTAT_KEY, kind="mesh", keys=keys, remark=OF_POINTS))
    return tuple(found)


def _source_of(path: str, seen: SeenFile, guessed: Sequence[GuessedColumn]) -> SourceDraft:
    by_role: Mapping[ColumnRole, str] = {column.role: column.seen.name for column in reversed(guessed)}
    columns: dict[str, TomlValue] = {}
    if ColumnRole.LATITUDE in by_role:
        columns[ESTAT_KEY] = f"{by_role[ColumnRole.LATITUDE]},{by_role[ColumnRole.LONGITUDE]}"
    count = by_role.get(ColumnRole.COUNT, "")
    has_counts = bool(count) or seen.format in ("e-stat", "geotiff", "people-flow")
    return SourceDraft(
        path=path,
        rows="counts" if has_counts else "people",
        count=count,
        person="" if has_counts else by_role.get(ColumnRole.PERSON, ""),
        columns=columns or None,
    )
