"""Public lists of meshes in a plan: which meshes a table has, by a file of codes, by prefecture or by municipality.

The Statistics Bureau publishes such a list of all meshes of Japan with the municipalities that they touch
(市区町村別メッシュ・コード一覧, www.stat.go.jp/data/mesh/m_itiran.html), one CSV file for each prefecture.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import MeshLevel, MeshList
from sudare.domain.prefectures import prefecture_number
from sudare.errors import InputError, ParameterError, SudareError
from sudare.io import Source, describe_source, read_records
from sudare.io.headers import names_of_columns
from sudare.releases.data.public_files import require_other_files, require_public
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MunicipalityMeshes", "names_municipalities", "read_mesh_list", "read_municipality_meshes"]

WHERE = (
    "The Statistics Bureau publishes one: www.stat.go.jp/data/mesh/m_itiran.html",
    "総務省統計局の「市区町村別メッシュ・コード一覧」（www.stat.go.jp/data/mesh/m_itiran.html）が使えます",
)
PUBLIC_LIST = Words("this list of meshes, which becomes the cells of the table,", "表のセルになるこのメッシュ一覧")
MESH_COLUMNS = frozenset({"keycode", "mesh", "meshcode", "code", "mesh1kmid"})
MUNICIPALITY_COLUMNS = frozenset(
    {"citycode", "municipality", "municipalitycode", "city", "団体コード", "行政区域コード"}
)
NAME_COLUMNS = frozenset({"cityname", "municipalityname", "市町村名"})
MAX_KEPT = 64
"""Lists that are kept in memory, of one prefecture each: 16 bytes for each of its meshes."""

MAX_CODE = 100_000
"""Codes of municipalities have five digits; a sixth one is a check digit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MunicipalityMeshes:
    """A public list of meshes with their municipalities, outside of any plan. A mesh on a border may stand in several rows.

    Attributes:
        meshes: codes of meshes.
        municipalities: the code of each, of five digits; the first two are its prefecture.
        names: of municipalities, by their codes, where the list names them.
    """

    meshes: NDArray[np.int64]
    municipalities: NDArray[np.int64]
    names: Mapping[int, str]

    @property
    def repeats(self) -> bool:
        """Whether a mesh of a municipality stands in several rows: a list names each once, so these are rows of people."""
        pairs = np.stack([self.meshes, self.municipalities], axis=1)
        return len(np.unique(pairs, axis=0)) < len(pairs)


def names_municipalities(line: str) -> bool:
    """Whether the first line of a text file has the columns of a list of meshes with their municipalities."""
    separator = "\t" if "\t" in line else ","
    return {"mesh", "municipality"} <= _roles(name.strip().strip('"') for name in line.split(separator)).keys()


def read_municipality_meshes(path: Path) -> MunicipalityMeshes | None:
    """The meshes and municipalities of a file, which is read once as long as it stays the same; None if it is no such list."""
    try:
        found = path.stat()
    except OSError:
        return None
    return _read_once(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=MAX_KEPT)
def _read_once(path: Path, changed: int, size: int) -> MunicipalityMeshes | None:
    try:
        roles = _roles(names_of_columns(Source(str(path))))
        if not {"mesh", "municipality"} <= roles.keys():
            return None
        wanted = [roles["mesh"], roles["municipality"]]
        texts = list(dict.fromkeys([*wanted, roles.get("name", wanted[0])]))
        read = read_records(path, texts, texts=texts)
        meshes, codes = (np.char.strip(read[name].astype(np.str_)).astype(np.int64) for name in wanted)
    except (SudareError, ValueError):
        return None
    codes = _of_five_digits(codes)
    different, first = np.unique(codes, return_index=True)
    named = read[roles["name"]][first].tolist() if "name" in roles else []
    names = {int(code): str(name) for code, name in zip(different, named, strict=bool(named)) if name}
    return MunicipalityMeshes(meshes=meshes, municipalities=codes, names=names)


def _roles(columns: Iterable[str]) -> dict[str, str]:
    """Which column holds meshes, municipalities and their names."""
    roles: dict[str, str] = {}
    for column in columns:
        role = _role_of(column)
        if role is not None:
            roles.setdefault(role, column)
    return roles


def _of_five_digits(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(codes >= MAX_CODE, codes // 10, codes)


def read_mesh_list(
    section: Section, name: str, level: MeshLevel, base: Path, protected: Source | None = None
) -> MeshList:
    """The meshes that a section names.

    Args:
        section: of the attribute.
        name: of the attribute.
        level: of its meshes.
        base: the folder that files are meant from.
        protected: the data of the plan, which is no list.

    Raises:
        PlanError: if there is no such list, it is not declared to be public, or it is the protected data itself.
    """
    prefectures, municipalities = _given(section, "prefectures"), _given(section, "municipalities")
    if not section.has("meshes"):
        section.refuse(
            "meshes",
            f"is missing: name a public list of meshes with the municipality of each. {WHERE[0]}",
            f"がありません。市区町村別のメッシュの一覧を指定してください。{WHERE[1]}",
        )
    paths = _given(section, "meshes") or []
    if not paths or not all(isinstance(path, str) and path for path in paths):
        section.refuse("meshes", "must be a file or a list of files", "はファイル名、またはそのリストです")
    require_public(section, PUBLIC_LIST)
    if protected is not None:
        require_other_files(section, "meshes", Source(tuple(str(base / path) for path in paths)), protected)
    lists = [_read_file(section, base / path, needs_areas=bool(prefectures or municipalities)) for path in paths]
    codes = np.concatenate([found["mesh"] for found in lists])
    chosen = np.ones(codes.size, dtype=bool)
    if prefectures:
        chosen &= np.isin(_codes_of_areas(lists) // 1000, [_prefecture(section, given) for given in prefectures])
    if municipalities:
        chosen &= _in_municipalities(section, lists, municipalities)
    if not chosen.any():
        key = "municipalities" if municipalities else "prefectures" if prefectures else "meshes"
        section.refuse(key, "leaves no mesh of the list", "に当てはまるメッシュが一覧にありません")
    try:
        return MeshList(name, level, codes[chosen])
    except ParameterError as error:
        section.refuse_parameter("meshes", error)


def _given(section: Section, key: str) -> list[Any] | None:
    """One text, or a list; None if it is not there."""
    if not section.has(key):
        return None
    return [section.text(key)] if section.is_text(key) else section.items(key)


def _plain(column: str) -> str:
    """A column's name without what is spelled in several ways."""
    text = unicodedata.normalize("NFKC", column).casefold()
    return "".join(letter for letter in text if letter not in "・ _-().'\"\ufeff")


def _role_of(column: str) -> str | None:
    plain = _plain(column)
    if plain in NAME_COLUMNS or "市区町村名" in plain:
        return "name"
    if plain in MUNICIPALITY_COLUMNS or "市区町村コード" in plain:
        return "municipality"
    return "mesh" if plain in MESH_COLUMNS or "メッシュコード" in plain else None


def _read_file(section: Section, path: Path, *, needs_areas: bool) -> dict[str, NDArray[Any]]:
    """The columns of a list by what they hold: meshes, codes and names of municipalities."""
    try:
        columns = describe_source(Source(str(path), format="auto")).columns
        roles = _roles(columns)
        if "mesh" not in roles and len(columns) == 1:
            roles["mesh"] = columns[0]
        _require(section, path, roles, "mesh", needs_areas)
        wanted = list(roles.values()) if needs_areas else [roles["mesh"]]
        read = read_records(path, wanted, texts=wanted)
    except InputError as error:
        section.refuse("meshes", f"cannot be used: {error.english}", f"は使えません: {error.japanese}")
    found: dict[str, NDArray[Any]] = {role: read[column] for role, column in roles.items() if column in read}
    for role in ("mesh", "municipality"):
        if role in found:
            found[role] = _numbers(section, path, found[role])
    if "municipality" in found:
        found["municipality"] = _of_five_digits(found["municipality"])
    return found


def _require(section: Section, path: Path, roles: dict[str, str], role: str, needs_areas: bool) -> None:
    if role not in roles or (needs_areas and "municipality" not in roles):
        missing = (
            "mesh codes, named such as KEY_CODE or mesh_code",
            "メッシュコードの列（KEY_CODE、メッシュコード など）",
        )
        if role in roles:
            missing = (
                "codes of municipalities, named such as city_code or 都道府県市区町村コード",
                "市区町村コードの列（都道府県市区町村コード など）",
            )
        section.refuse(
            "meshes",
            f"needs a column of {missing[0]}, which '{path.name}' does not have. {WHERE[0]}",
            f"の「{path.name}」に{missing[1]}がありません。{WHERE[1]}",
        )


def _numbers(section: Section, path: Path, texts: NDArray[Any]) -> NDArray[np.int64]:
    try:
        return np.char.strip(texts.astype(np.str_)).astype(np.int64)
    except ValueError:
        section.refuse(
            "meshes",
            f"has something else than digits among the codes of '{path.name}'",
            f"の「{path.name}」に数字でないコードがあります",
        )


def _codes_of_areas(lists: list[dict[str, NDArray[Any]]]) -> NDArray[np.int64]:
    return np.concatenate([found["municipality"] for found in lists])


def _prefecture(section: Section, given: object) -> int:
    number = prefecture_number(given)
    if number is None:
        section.refuse(
            "prefectures",
            f'has {given!r:.40}, which is none: give numbers from 1 to 47, or names such as "Tokyo"',
            f"の {given!r:.40} は都道府県ではありません。1 から 47 の番号、または「東京都」のような名前です",
        )
    return number


def _in_municipalities(section: Section, lists: list[dict[str, NDArray[Any]]], given: list[Any]) -> NDArray[np.bool_]:
    """Which rows are of one of these municipalities, by code or by name."""
    codes = _codes_of_areas(lists)
    has_names = all("name" in found for found in lists)
    names = np.concatenate([found["name"] for found in lists]) if has_names else np.full(codes.size, "")
    chosen = np.zeros(codes.size, dtype=bool)
    for one in given:
        is_number = isinstance(one, int) or (isinstance(one, str) and one.isascii() and one.isdigit())
        wanted = codes == int(one) % (10 * MAX_CODE) if is_number else names == str(one).strip()
        if not wanted.any():
            section.refuse(
                "municipalities",
                f"has {one!r:.40}, which the list does not: give codes such as 13101, or names as the list has them",
                f"の {one!r:.40} は一覧にありません。13101 のようなコード、または一覧にある名前を指定してください",
            )
        chosen |= wanted
    return chosen
