"""Domains as plan files state them and release documents record them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Bins, Category, Domain, Hierarchy, Mesh, MeshList, Positions, Times
from sudare.domain.attributes import Attribute
from sudare.domain.grids.inspire import Form, InspireGrid
from sudare.domain.mesh import mesh_cells, mesh_level
from sudare.domain.times import PERIODS
from sudare.errors import InputError, ParameterError, SudareError
from sudare.io import Source
from sudare.io.formats.text_files import read_text
from sudare.releases.data.mesh_lists import read_mesh_list
from sudare.releases.data.public_files import require_other_files, require_public
from sudare.sections import Section
from sudare.storage.toml_text import toml_text

__all__ = ["ATTRIBUTE_KEYS", "describe_domain", "domain_of_description", "read_domain_sections"]

ATTRIBUTE_KEYS = (
    "name",
    "kind",
    "level",
    "window",
    "area",
    "corners",
    "meshes",
    "public",
    "prefectures",
    "municipalities",
    "listed",
    "size",
    "form",
    "labels",
    "edges",
    "length",
    "levels",
    "areas",
    "leaves",
    "by",
    "from",
    "to",
    "time_zone",
)
KINDS = ("mesh", "inspire", "category", "bins", "positions", "hierarchy", "time")
KEY_OF = {
    "first": "from",
    "last": "to",
    "ids": "corners",
    **dict.fromkeys(("first_row", "first_column", "rows", "columns"), "window"),
}
"""Keys that are named otherwise than what they give to an attribute."""

PUBLIC_AREAS = Words("this list of areas, which becomes the cells of the table,", "表のセルになるこの地域一覧")
EDGES_ARE_TIMES = Words(
    "are bounds of numbers, and these are days or times. Write instead:\n\n{lines}\n\n"
    'by may be "hour", "day", "month", "hour of day", "weekday" or "hour of week".',
    "は数値の境界ですが、日付や時刻が指定されています。次のように書いてください:\n\n{lines}\n\n"
    'by には "hour"、"day"、"month"、"hour of day"、"weekday"、"hour of week" のいずれかを書きます。',
)
AS_TIMES = """[[domain]]
name = {name}
kind = "time"
by = "day"
from = {first}
to = {last}
time_zone = "Asia/Tokyo\""""
FOUR_NUMBERS = (
    "must be four whole numbers: first row, first column, rows, columns",
    "は4つの整数（最初の行、最初の列、行数、列数）です",
)
AREAS = {"japan": (36, 22, 33, 32)}
"""Windows of primary meshes. Japan with all its inhabited islands: latitude 24 to 46, longitude 122 to 154."""


def read_domain_sections(sections: list[Section], base: Path, protected: Source | None = None) -> Domain:
    """The domain that the ``[[domain]]`` sections of a plan state.

    Args:
        sections: of the attributes.
        base: the folder that files are meant from.
        protected: the data of the plan, of which the domain must not be made.
    """
    attributes = [_read_attribute(section, base, protected) for section in sections]
    try:
        return Domain(tuple(attributes))
    except ParameterError as error:
        sections[0].refuse_parameter("name", error)


def _read_attribute(section: Section, base: Path, protected: Source | None) -> Attribute:
    name = section.text("name")
    kind = section.choice("kind", KINDS)
    try:
        if kind in ("hierarchy", "mesh"):
            attribute = (_read_hierarchy if kind == "hierarchy" else _read_mesh)(section, name, base, protected)
        else:
            attribute = _READERS[kind](section, name)
    except ParameterError as error:
        key = KEY_OF.get(error.parameter, error.parameter)
        key = key if key in ATTRIBUTE_KEYS else "kind"
        section.refuse_parameter(key, error)
    section.finish()
    return attribute


def _read_mesh(section: Section, name: str, base: Path, protected: Source | None) -> Attribute:
    try:
        level = mesh_level(section.text("level"), "plan")
    except ParameterError as error:
        wanted = error.requirement_words
        section.refuse("level", f"must be {wanted.english}", f"は{wanted.japanese}")
    listing = [key for key in ("meshes", "prefectures", "municipalities") if section.has(key)]
    bounding = [key for key in ("corners", "area", "window") if section.has(key)]
    if listing and bounding:
        section.refuse(
            bounding[0], f"cannot go with {listing[0]}: a list says all", f"は {listing[0]} と同時に指定できません"
        )
    if listing:
        return read_mesh_list(section, name, level, base, protected)
    if section.has("window"):
        window = section.items("window")
        if len(window) != 4 or not all(type(number) is int for number in window):
            section.refuse("window", *FOUR_NUMBERS)
        window_mesh = Mesh(name, level, *window)
        return MeshList.from_bitmap(window_mesh, section.text("listed")) if section.has("listed") else window_mesh
    if section.has("area"):
        return Mesh(name, level, *(number * level.divisions for number in AREAS[section.choice("area", tuple(AREAS))]))
    corners = section.items("corners", [])
    if len(corners) != 2 or not all(
        isinstance(corner, str) and corner.isascii() and corner.isdigit() for corner in corners
    ):
        section.refuse(
            "corners",
            'must be two mesh codes in quotes, south-west and north-east; or give area = "japan", a window, or a list of meshes',
            'は南西と北東の2つのメッシュコード（引用符付き）です。area = "japan"、window、meshes（一覧）も使えます',
        )
    (south, west), (north, east) = _ends(corners[0], level, first=True), _ends(corners[1], level, first=False)
    if south > north or west > east:
        section.refuse(
            "corners", "must be given south-west first, then north-east", "は南西、北東の順に指定してください"
        )
    return Mesh(name, level, south, west, north - south + 1, east - west + 1)


def _read_inspire(section: Section, name: str) -> Attribute:
    size, form = (
        section.text("size"),
        section.choice("form", ("inspire", "short")) if section.has("form") else "inspire",
    )
    if section.has("window"):
        window = section.items("window")
        if len(window) != 4 or not all(type(number) is int for number in window):
            section.refuse("window", *FOUR_NUMBERS)
        south, west, rows, columns = window
        return InspireGrid(name, size, south, west, rows, columns, form=cast("Form", form))
    corners = section.items("corners", [])
    if len(corners) != 2 or not all(isinstance(corner, str) for corner in corners):
        section.refuse(
            "corners",
            "must be two ids of cells in quotes, south-west and north-east; or give a window",
            "は南西と北東の2つのセルの ID（引用符付き）です。window も使えます",
        )
    grid = InspireGrid.between(name, size, *corners)
    return replace(grid, form=cast("Form", form))


def _ends(code: str, level: Any, *, first: bool) -> tuple[int, int]:
    """The southernmost row and westernmost column of a mesh, or its last ones, at a finer level."""
    own = next((known for known in ("1", "2", "3", "1/2", "1/4", "1/8") if _reads(code, known)), None)
    if own is None:
        raise ParameterError(
            "corners", "plan", Words("mesh codes of 4 to 11 digits", "4 桁から 11 桁のメッシュコード"), code
        )
    row, column = (int(places[0]) for places in mesh_cells([int(code)], own))
    finer = level.cells_per_side // mesh_level(own).cells_per_side
    if finer < 1:
        raise ParameterError(
            "corners",
            "plan",
            Words("meshes no finer than those of the table", "表のメッシュより細かくないメッシュ"),
            code,
        )
    return (row * finer, column * finer) if first else ((row + 1) * finer - 1, (column + 1) * finer - 1)


def _reads(code: str, level: str) -> bool:
    try:
        mesh_cells([int(code)], level)
    except SudareError:
        return False
    return True


def _read_category(section: Section, name: str) -> Attribute:
    return Category(name, tuple(_plain(label) for label in section.items("labels")))


def _read_bins(section: Section, name: str) -> Attribute:
    edges = section.items("edges")
    days = [day for edge in edges if (day := _day_of(edge)) is not None]
    if days:
        words = EDGES_ARE_TIMES.format(lines=AS_TIMES.format(name=toml_text(name), first=min(days), last=max(days)))
        section.refuse("edges", words.english, words.japanese)
    return Bins(name, tuple(_plain(edge) for edge in edges))


def _day_of(edge: object) -> date | None:
    """The day of an edge that is no number but a day or a time, as TOML has it or as a text."""
    if isinstance(edge, str):
        try:
            return datetime.fromisoformat(edge.strip().replace("/", "-")).date()
        except ValueError:
            return None
    return edge.date() if isinstance(edge, datetime) else edge if isinstance(edge, date) else None


def _read_positions(section: Section, name: str) -> Attribute:
    return Positions(name, section.whole("length"))


def _read_times(section: Section, name: str) -> Attribute:
    by = section.choice("by", PERIODS)
    first, last = section.day("from"), section.day("to")
    if not section.has("time_zone"):
        section.refuse(
            "time_zone",
            'is missing: name one, such as "Asia/Tokyo"',
            'がありません。"Asia/Tokyo" のように指定してください',
        )
    return Times(name, by, first, last, section.text("time_zone"))


_READERS = {
    "inspire": _read_inspire,
    "category": _read_category,
    "bins": _read_bins,
    "positions": _read_positions,
    "time": _read_times,
}


def _read_hierarchy(section: Section, name: str, base: Path, protected: Source | None) -> Attribute:
    """Areas within areas: from a file with a column for each level, or with codes and parents; or row by row."""
    levels = section.items("levels")
    if not levels or not all(isinstance(level, str) for level in levels):
        section.refuse(
            "levels",
            'must name the levels from the top down, such as ["nation", "prefecture", "city"]',
            'は上から順の階層名です（例: ["nation", "prefecture", "city"]）',
        )
    if section.has("leaves"):
        rows = section.items("leaves")
        if not all(isinstance(row, list) and len(row) == len(levels) for row in rows):
            section.refuse("leaves", "must be lists with a code for each level", "は階層ごとのコードのリストです")
        return Hierarchy.from_levels(name, {level: [row[i] for row in rows] for i, level in enumerate(levels)})
    path = base / section.text("areas")
    require_public(section, PUBLIC_AREAS)
    if protected is not None:
        require_other_files(section, "areas", Source(str(path)), protected)
    try:
        listed = list(csv.DictReader(io.StringIO(read_text(path), newline="")))
    except InputError as error:
        section.refuse("areas", f"cannot be used: {error.english}", f"は使えません: {error.japanese}")
    except csv.Error:
        section.refuse(
            "areas", f"'{path.name}' cannot be read as a CSV file", f"「{path.name}」を CSV として読めません"
        )
    columns = set(listed[0]) if listed else set()
    if set(levels) <= columns:
        return Hierarchy.from_levels(name, {level: [row[level] for row in listed] for level in levels})
    if not {"code", "parent"} <= columns:
        section.refuse(
            "areas",
            f"'{path.name}' must have a column for each of the levels, or the columns code and parent",
            f"「{path.name}」には階層ごとの列、または code と parent の列が必要です",
        )
    parents = {row["code"]: row["parent"] or None for row in listed}
    if len(parents) < len(listed):
        section.refuse("areas", f"'{path.name}' has a code twice", f"「{path.name}」に同じコードが2回あります")
    return Hierarchy.from_parents(name, parents, level_names=levels)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def describe_domain(domain: Domain) -> dict[str, object]:
    """A domain in plain values, from which `domain_of_description` makes an equal one."""
    return {
        "shape": list(domain.shape),
        "cells": domain.cells,
        "attributes": [_describe(attribute) for attribute in domain.attributes],
    }


def _describe(attribute: Attribute) -> dict[str, object]:
    if isinstance(attribute, Mesh):
        window = [attribute.first_row, attribute.first_column, attribute.rows, attribute.columns]
        return {"name": attribute.name, "kind": "mesh", "level": mesh_level(attribute.level).name, "window": window}
    if isinstance(attribute, InspireGrid):
        window = [attribute.first_row, attribute.first_column, attribute.rows, attribute.columns]
        said: dict[str, object] = {"name": attribute.name, "kind": "inspire", "size": attribute.size, "window": window}
        return said if attribute.form == "inspire" else {**said, "form": attribute.form}
    if isinstance(attribute, MeshList):
        return {**_describe(attribute.window), "listed": attribute.to_bitmap()}
    if isinstance(attribute, Category):
        return {"name": attribute.name, "kind": "category", "labels": list(attribute.labels)}
    if isinstance(attribute, Bins):
        return {"name": attribute.name, "kind": "bins", "edges": list(attribute.edges)}
    if isinstance(attribute, Times):
        span = {"from": attribute.first.isoformat(), "to": attribute.last.isoformat()}
        return {"name": attribute.name, "kind": "time", "by": attribute.by, **span, "time_zone": attribute.time_zone}
    if isinstance(attribute, Hierarchy):
        places = np.arange(attribute.shape[0])
        columns = [level.labels[level.nodes_at(places)].tolist() for level in attribute.levels]
        leaves = [list(row) for row in zip(*columns, strict=True)]
        names = [level.name for level in attribute.levels]
        return {"name": attribute.name, "kind": "hierarchy", "levels": names, "leaves": leaves}
    return {"name": attribute.name, "kind": "positions", "length": attribute.shape[0]}


def domain_of_description(description: Mapping[str, Any], file: str) -> Domain:
    """The domain that `describe_domain` described."""
    attributes = description.get("attributes", [])
    sections = [
        Section(values, f"domain {number}", file, ATTRIBUTE_KEYS) for number, values in enumerate(attributes, start=1)
    ]
    return read_domain_sections(sections, Path())
