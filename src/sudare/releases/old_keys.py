"""Former names of keys in plans: their new names, and how plans that still use the old ones are read.

An old plan means what it always meant. Each new name is told once, by `OldKeyWarning`; commands show it in the user's language. A
plan that has a key under both names is refused, because one of them would be overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.border.notices import warn_user
from sudare.errors import OldKeyWarning, PlanError
from sudare.sections import read_toml

__all__ = ["COMPARISON", "OLD_KEYS", "OldKey", "read_plan_values", "with_new_keys"]

PLAN = Words("plan", "計画ファイル")
HINT = Words("`sudare init` writes one to start from.", "`sudare init` で雛形を作れます。")
NOTICE = Words(
    "{file}: {old} is called {new} now. The old name is still read; please change it.",
    "{file}: {old} は {new} に変わりました。古い書き方も読み込めますが、書き換えてください。",
)
BOTH = Words(
    "{file}: {old} is the old name of {new}, and both are there. Keep {new} alone.",
    "{file}: {old} は {new} の古い書き方で、両方が書かれています。{new} だけを残してください。",
)


def _as_it_is(value: Any) -> Any:
    return value


def _as_list(value: Any) -> Any:
    return [value]


@dataclass(frozen=True, kw_only=True)
class OldKey:
    """A key that is called otherwise now.

    Attributes:
        kinds: of plans that had it.
        old: sections and key, with points between them; a section alone stands for all its keys.
        new: the same, as it is called now.
        value: only this value of the key; any if None.
        convert: the old value in its new form.
    """

    kinds: tuple[str, ...]
    old: str
    new: str
    value: str | None = None
    convert: Callable[[Any], Any] = _as_it_is

    @property
    def old_words(self) -> str:
        """As it stood in plans, such as ``[output] format``."""
        return _shown(self.old, self.value)

    @property
    def new_words(self) -> str:
        """As it stands in plans now, such as ``[output] formats``."""
        return _shown(self.new, self.value)


COMPARISON = "comparison"
"""Plans of `sudare compare`, which are of no kind of release and are written in the same way."""

OLD_KEYS = (
    OldKey(kinds=("tables",), old="input.kind", new="source.format", value="tau-argus"),
    OldKey(kinds=("tables",), old="input.kind", new="source.rows"),
    OldKey(kinds=("records", "tables", COMPARISON), old="input", new="source"),
    OldKey(kinds=("records",), old="output.format", new="output.formats", convert=_as_list),
)
"""All of them, keys before the section that they stand in. The same table stands in docs/reference/plan-file.md."""


def read_plan_values(file: Path, kind: str, hint: Words = HINT) -> dict[str, object]:
    """What a plan says, under the names that keys have now.

    Args:
        file: the plan.
        kind: that it is of.
        hint: how to get a plan, if it is not there.

    Raises:
        PlanError: if it cannot be read, is not TOML, or has a key under both names.
    """
    return with_new_keys(read_toml(file, PLAN, hint), file.name, kind)


def with_new_keys(said: Mapping[str, Any], file: str, kind: str) -> dict[str, object]:
    """A plan under the names that its keys have now; tells of each old one.

    Args:
        said: the plan as it was typed, which is not changed.
        file: its name.
        kind: that it is of.

    Raises:
        PlanError: if it has a key under both names.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     with_new_keys({"input": {"path": "people.csv"}}, "plan.toml", "records")
        {'source': {'path': 'people.csv'}}
        >>> str(told[0].message)
        'plan.toml: [input] is called [source] now. The old name is still read; please change it.'
    """
    found = deepcopy(dict(said))
    for key in OLD_KEYS:
        if kind in key.kinds:
            _rename(found, key, file)
    return found


def _rename(plan: dict[str, object], key: OldKey, file: str) -> None:
    *above, old = key.old.split(".")
    new = key.new.split(".")[-1]
    holder = plan.get(above[0]) if above else plan
    if not isinstance(holder, dict) or old not in holder or key.value not in (None, holder[old]):
        return
    blanks = {"file": file, "old": key.old_words, "new": key.new_words}
    if new in holder:
        raise PlanError(BOTH.format(**blanks))
    # In the place where the old one stood: the nearest name for a typo, and the order of columns, depend on it.
    renamed = {
        new if name == old else name: key.convert(value) if name == old else value for name, value in holder.items()
    }
    holder.clear()
    holder.update(renamed)
    warn_user(OldKeyWarning(NOTICE.format(**blanks)))


def _shown(key: str, value: str | None) -> str:
    section, _, name = key.partition(".")
    if not name:
        return f"[{section}]"
    return f"[{section}] {name}" if value is None else f'[{section}] {name} = "{value}"'
