"""Plans that programs write: a new one beside its data, or another version of one, which stays as it is.

A plan that somebody wrote has comments and an order of its own. A form therefore never changes it: what is tried next is written
as ``plan-2.toml`` beside it, with a folder of its own, so that both can be compared and both can be carried out by the command.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import OutputError, PlanError
from sudare.releases.registry import find_kind_of_plan
from sudare.storage.atomic import atomically
from sudare.storage.toml_text import toml_key, toml_text

__all__ = ["plan_text", "read_values", "section_of", "write_new_plan", "write_variant"]

MAX_VARIANTS = 200
UNREADABLE = Words("'{file}' cannot be read as a plan.", "「{file}」を計画として読み取れません。")
TOO_MANY = Words(
    "There are {number} versions of this plan already. Remove some of them.",
    "この計画には既に {number} 個の版があります。不要な版を削除してください。",
)
NOT_WRITABLE = Words("Nothing can be written in '{folder}'.", "「{folder}」に書き込めません。")


def read_values(file: Path) -> dict[str, object]:
    """What a plan file says, with numbers as they are written.

    Raises:
        PlanError: if it is no TOML.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError):
        raise PlanError(UNREADABLE.format(file=file.name)) from None


def section_of(values: Mapping[str, object], name: str) -> dict[str, object]:
    """A section of a plan; empty if it has none of that name, or something else stands there.

    Example:
        >>> section_of({"rules": {"threshold": 3}}, "rules")
        {'threshold': 3}
        >>> section_of({"rules": "none"}, "rules")
        {}
    """
    found = values.get(name)
    return {str(key): value for key, value in found.items()} if isinstance(found, Mapping) else {}


def plan_text(values: Mapping[str, object]) -> str:
    """A plan file that says so: plain keys first, then sections.

    Example:
        >>> print(plan_text({"title": "x", "rules": {"threshold": 3}}))
        title = "x"
        <BLANKLINE>
        [rules]
        threshold = 3
        <BLANKLINE>
    """
    return "\n".join(_lines(values, ())).lstrip("\n") + "\n"


def write_variant(file: Path, values: Mapping[str, object]) -> Path:
    """Write another version of a plan beside it, with a release folder of its own, and read it as every release does.

    A version that says the same and is there already is not written twice.

    Raises:
        PlanError: if it says something that cannot be; nothing is left then.
        OutputError: if it cannot be written.
    """
    base = file.stem
    for number in range(2, MAX_VARIANTS):
        target = file.with_name(f"{base}-{number}.toml")
        folder = f"{base}-{number}-release"
        text = plan_text({**values, "output": {**section_of(values, "output"), "folder": folder}})
        if target.is_file() and _says(target, text):
            return target
        if target.exists() or (file.parent / folder).exists():
            continue
        _write_checked(target, text)
        return target
    raise OutputError(TOO_MANY.format(number=MAX_VARIANTS))


def write_new_plan(folder: Path, name: str, values: Mapping[str, object]) -> Path:
    """Write a plan into a folder that is not there yet, and read it as every release does.

    Raises:
        PlanError: if it says something that cannot be; nothing is left then.
        OutputError: if it cannot be written.
    """
    try:
        folder.mkdir(parents=True)
    except OSError:
        raise OutputError(NOT_WRITABLE.format(folder=folder.name)) from None
    try:
        _write_checked(folder / name, plan_text(values))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder / name


def _write_checked(target: Path, text: str) -> None:
    try:
        with atomically(target) as place:
            place.write_text(text, encoding="utf-8")
    except OSError:
        raise OutputError(NOT_WRITABLE.format(folder=target.parent.name)) from None
    try:
        find_kind_of_plan(target).load().read_plan(target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _says(file: Path, text: str) -> bool:
    try:
        return file.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _lines(values: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in values.items() if not _is_section(value)}
    is_header_needed = bool(path) and (bool(plain) or not values)
    if is_header_needed:
        yield f"\n[{'.'.join(map(toml_key, path))}]"
    for key, value in plain.items():
        yield f"{toml_key(key)} = {_value(value)}"
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _lines(value, (*path, key))
        else:
            for each in _listed_sections(value):
                yield f"\n[[{'.'.join(map(toml_key, (*path, key)))}]]"
                yield from (f"{toml_key(name)} = {_value(one)}" for name, one in each.items())


def _is_section(value: object) -> bool:
    return isinstance(value, Mapping) or bool(_listed_sections(value))


def _listed_sections(value: object) -> list[Mapping[str, object]]:
    """The sections of a list of them; none of anything else."""
    listed = value if isinstance(value, (list, tuple)) else ()
    return list(listed) if all(isinstance(each, Mapping) for each in listed) else []


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return toml_text(str(value))


def _decimal(value: Decimal) -> str:
    if value == value.to_integral_value():
        return str(int(value))
    return format(value.normalize(), "f")
