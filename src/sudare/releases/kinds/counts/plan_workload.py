"""The key ``workload`` of a plan file: one part, a list of parts, or a table of parts with weights.

TOML has texts for keys, so parts are written in words there: ``16`` is a side, ``"margins 2"`` are all margins of up to two
attributes, and ``"age x sex"`` is one margin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NoReturn

from sudare.domain.domain import Domain
from sudare.domain.hierarchy import Hierarchy
from sudare.sections import Section, suggest
from sudare.tables.histograms.planning import HISTOGRAM_WORKLOADS
from sudare.tables.planning.areas import AREA_WORDS
from sudare.tables.planning.workload import MARGINS, PlainPart, Workload

__all__ = ["read_own_workload", "read_workload_key", "workload_facts"]

KEY = "workload"
WORDS = tuple(dict.fromkeys((*AREA_WORDS, *HISTOGRAM_WORKLOADS)))
JOINED = " x "
ORDER = re.compile(rf"{MARGINS} ([0-9]{{1,2}})")


def read_workload_key(section: Section, domain: Domain) -> Workload:
    """What matters, as `plan_table` takes it; None if not stated."""
    if not section.has(KEY):
        return None
    if section.is_text(KEY):
        part = _read_part(section, section.text(KEY), domain)
        return part if isinstance(part, str) else [part]
    if section.is_table(KEY):
        given = section.mapping(KEY)
        if not given:
            _refuse(section, domain)
        return {_read_key(section, key, domain): _weight(section, weight) for key, weight in given.items()}
    items = section.items(KEY)
    if not items:
        _refuse(section, domain)
    if len(items) == 2 and items[0] == MARGINS and type(items[1]) is int:
        return [(MARGINS, items[1])]
    return tuple(_read_part(section, item, domain) for item in items)


def read_own_workload(section: Section, words: tuple[str, ...]) -> str | dict[str, float]:
    """The same for a plan that names a mechanism with a workload of its own: one word, or several with weights.

    Args:
        section: of the plan that names the mechanism.
        words: what the mechanism can make accurate.
    """
    if not section.is_table(KEY):
        return section.choice(KEY, words)
    given = section.mapping(KEY)
    if not given or not set(given) <= set(words):
        listed = ", ".join(f'"{word}"' for word in words)
        section.refuse(KEY, f"must have weights of {listed}", f"は {listed} の重みです")
    return {key: float(_weight(section, weight)) for key, weight in given.items()}


def workload_facts(workload: Workload) -> Any:
    """The workload in a form that two plans can be compared by."""
    if workload is None or isinstance(workload, str):
        return workload or []
    if isinstance(workload, Mapping):
        return sorted([_written(part), str(weight)] for part, weight in workload.items())
    return [part if isinstance(part, int) else _written(part) for part in workload]


def _written(part: PlainPart) -> str:
    return JOINED.join(map(str, part)) if isinstance(part, tuple) else str(part)


def _read_key(section: Section, key: str, domain: Domain) -> PlainPart:
    return int(key) if key.isascii() and key.isdigit() and len(key) <= 18 else _read_part(section, key, domain)


def _read_part(section: Section, part: object, domain: Domain) -> PlainPart:
    if type(part) is int:
        return part
    if isinstance(part, list) and len(part) == 2 and part[0] == MARGINS and type(part[1]) is int:
        return (MARGINS, part[1])
    names = _names(domain)
    if isinstance(part, str):
        order = ORDER.fullmatch(part)
        if part in WORDS or part in names:
            return part
        if order:
            return (MARGINS, int(order[1]))
        part = part.split(JOINED)
    if not isinstance(part, list) or not part or not all(isinstance(name, str) and name in names for name in part):
        _refuse(section, domain, part)
    return tuple(part)


def _names(domain: Domain) -> tuple[str, ...]:
    """Of attributes, and of levels of hierarchies."""
    levels = (level.name for a in domain.attributes if isinstance(a, Hierarchy) for level in a.levels)
    return tuple(dict.fromkeys((*(attribute.name for attribute in domain.attributes), *levels)))


def _weight(section: Section, weight: object) -> int | Decimal:
    if isinstance(weight, bool) or not isinstance(weight, (int, Decimal)) or not weight > 0:
        section.refuse(KEY, "must have weights that are numbers above 0", "の重みは 0 より大きい数です")
    return weight


def _refuse(section: Section, domain: Domain, part: object = None) -> NoReturn:
    words, names = ", ".join(f'"{word}"' for word in WORDS), ", ".join(f'"{name}"' for name in _names(domain))
    meant = part[0] if isinstance(part, list) and part and isinstance(part[0], str) else ""
    hint = suggest(meant, (*WORDS, *_names(domain)))
    section.refuse(
        KEY,
        f'must be one or several of {words}, "{MARGINS} 2" (of up to two attributes), {names}, and sides such as [1, 4, 16]; '
        f"with weights as in {{ cells = 1, 16 = 2 }}.{hint.english}",
        f'は {words}、"{MARGINS} 2"（2 属性までの周辺表）、{names}、[1, 4, 16] のような辺の長さのうち 1 つ以上です。'
        f"重みは {{ cells = 1, 16 = 2 }} のように書きます。{hint.japanese}",
    )
