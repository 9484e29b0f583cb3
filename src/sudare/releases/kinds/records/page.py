"""The page on protected people: one HTML file that tells in plain words what was done, and what it protects and does not.

It needs no network and no JavaScript; both languages are in it. Everything on it comes from the report document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.privacy import guarantee_words
from sudare.releases.charts import bar, promise_bars
from sudare.releases.kinds.records import page_words
from sudare.releases.kinds.records.attacking.attack_words import ATTACKS
from sudare.releases.kinds.records.attacking.linking import MAX_FOUND
from sudare.releases.kinds.records.measuring import SIZES
from sudare.releases.kinds.records.steps.registry import step_named
from sudare.releases.page_numbers import (
    percent_rounded_up,
    show_budget,
    show_date,
    show_decimal,
    show_size,
    with_greek_letters,
)
from sudare.releases.page_template import page_template, stated_words

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render_people_page"]

TEMPLATE = "report.html.jinja"
UTILITY = ("loss", "precision", "average_class_size", "discernibility", "discernibility_of_classes", "entropy")
MAX_LABEL_LENGTH = 60
MARKS = {"held": "✓", "undecided": "!", "broken": "✗"}


@dataclass(frozen=True, kw_only=True)
class _ShownPromise:
    who: Words
    unit_who: Words
    unit_text: str
    rows: str
    change: Words
    budget: str
    gains: Sequence[tuple[str, str, str]]
    k: int | None
    condition: str
    level: str
    holds: bool | None


@dataclass(frozen=True, kw_only=True)
class _ShownStep:
    method: Words
    settings: str
    protects: Words
    keeps: Words
    figures: Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class _ShownColumn:
    name: str
    role: Words
    hierarchy: str
    drawn: str
    level: str
    word: str


@dataclass(frozen=True, kw_only=True)
class _ShownAttack:
    name: Words
    outcome: str
    mark: str
    found: Sequence[tuple[str, str, Words]]
    remedies: Sequence[Words]


def render_people_page(report: Mapping[str, Any], *, language: str = "en") -> str:
    """The page of a report as HTML.

    Args:
        report: what ``release.json`` says.
        language: ``"en"`` or ``"ja"``, which the page starts with; it holds both.

    Raises:
        ParameterError: if the language is another one.
    """
    if language not in ("en", "ja"):
        raise ParameterError(
            "language", "render_people_page", Words("'en' or 'ja'", "'en' または 'ja'"), shown(language)
        )
    note = report.get("note") or {"english": "", "japanese": ""}
    is_private = "event" in report
    context = {
        "language": language,
        "report": report,
        "note": stated_words(note),
        "created": show_date(report.get("created"), report.get("utc_offset")),
        "tiles": _tiles(report),
        "promise": _promise(report) if is_private else None,
        "steps": [_step(step) for step in report["steps"]],
        "models": [_model(model) for model in report.get("models") or []],
        "search": _search(report.get("search")),
        "tables": [" × ".join(names) for names in report.get("tables") or []],
        "columns": [_column(column, report) for column in report["columns"]],
        "has_identifiers": any(column["role"] == "identifier" for column in report["columns"]),
        "classes": _classes(report.get("classes")),
        "risks": _risks(report.get("risks")),
        "attacks": [_attack(attack) for attack in report.get("attacks") or []],
        "most_found": f"{MAX_FOUND:.0%}".replace("%", " %"),
        "is_broken": bool(report.get("even_if_broken")),
        "utility": _utility(report.get("utility") or {}),
        "values": _values(report.get("values") or {}),
        "files": [(file["name"], show_size(file["bytes"]), file["sha256"]) for file in report["files"]],
        "record": _record(report),
    }
    return _template().render(context)


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_template(TEMPLATE, [Path(__file__).parent], page_words.TEXTS)


def _tiles(report: Mapping[str, Any]) -> list[tuple[str, Words]]:
    tiles = [("rows", Words.same(f"{report['published']['rows']:,}"))]
    if "risks" not in report:
        tiles.append(("columns_published", Words.same(f"{len(report['published']['columns'])}")))
    if "event" in report:
        tiles.append(("budget", Words.same(show_budget(report["event"]["cost"]))))
        if "groups" in report:
            tiles.append(("group_size", Words.same(f"{report['groups']['k']:,}")))
    elif "risks" in report:
        after = report["risks"]["after"]
        tiles.append(("smallest", Words.same(f"{after['k']:,}")))
        tiles.append(("highest", Words.same(_share(after["highest"]))))
        if report["kept"]["suppressed"] is not None:
            tiles.append(("suppressed", Words.same(_share(report["kept"]["suppressed"]))))
    count = len(report["steps"])
    several = Words(f"{count} steps", f"{count} つの手順")
    return [*tiles, ("method", several if count > 1 else step_named(report["steps"][0]["method"]).words)]


def _promise(report: Mapping[str, Any]) -> _ShownPromise:
    event, stated = report["event"], report["promise"]
    unit = event["unit"]
    groups = report.get("groups") or {}
    return _ShownPromise(
        who=guarantee_words.of_unit(str(unit["who"])),
        unit_who=guarantee_words.of_unit_that_changes(str(unit["who"])),
        unit_text="unit_row" if unit["rows"] == 1 else "unit_rows",
        rows=f"{unit['rows']:,}",
        change=page_words.TEXTS["replace" if unit["adjacency"] == "replace" else "add-remove"],
        budget=show_budget(event["cost"]),
        gains=promise_bars(stated["false_alarm"], stated["best_power"]),
        k=groups.get("k"),
        condition="sampled_condition_chosen" if _chose_levels(report) else "sampled_condition",
        level="level_paid" if _chose_levels(report) else "level_stated",
        holds=groups.get("holds"),
    )


def _chose_levels(report: Mapping[str, Any]) -> bool:
    return "choose_levels" in report["steps"][0]["settings"]


def _step(step: Mapping[str, Any]) -> _ShownStep:
    figures = [(name, _share(step[name])) for name in ("touched", "changed") if step.get(name) is not None]
    if step.get("local_epsilon") is not None:
        figures.append(("local_epsilon", show_decimal(step["local_epsilon"])))
    return _ShownStep(
        method=step_named(step["method"]).words,
        settings=", ".join(f"{name}: {_plain(value)}" for name, value in step["settings"].items()),
        protects=stated_words(step["protects"]),
        keeps=stated_words(step["keeps"]),
        figures=figures,
    )


def _plain(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    return str(value)


def _model(model: Mapping[str, Any]) -> tuple[Words, str, str]:
    outcome = {True: ("holds", "✓"), False: ("fails", "✗"), None: ("with_population", "–")}[model["holds"]]
    return stated_words(model), *outcome


def _search(search: Mapping[str, Any] | None) -> tuple[str, dict[str, str]] | None:
    if search is None:
        return None
    numbers = {"checked": f"{search['checked']:,}", "choices": f"{search['choices']:,}"}
    if search["is_optimal"]:
        return "optimal", numbers
    return "gap", {**numbers, "gap": f"{search['gap']:.4g}"}


def _column(column: Mapping[str, Any], report: Mapping[str, Any]) -> _ShownColumn:
    level, height = column["level"], column["height"]
    word = "as_it_is" if column["published"] else "left_out"
    for step in report["steps"]:
        word = step_named(step["method"]).column_word(step, column) or word
    return _ShownColumn(
        name=column["name"],
        role=page_words.ROLES[column["role"]],
        hierarchy=column["hierarchy"] or "–",
        drawn="" if level is None or not height else bar(level / height),
        level="" if level is None else str(level) if height is None else f"{level} / {height}",
        word=word,
    )


def _classes(classes: Mapping[str, Sequence[float]] | None) -> list[tuple[str, str, str, str, str]]:
    if classes is None:
        return []
    rows = []
    for (low, high), old, new in zip(SIZES, classes["before"], classes["after"], strict=True):
        label = f"{low}" if low == high else f"{low}–{high}" if high is not None else f"{low}+"
        rows.append((label, bar(old), _share(old), bar(new), _share(new)))
    return rows


def _risks(risks: Mapping[str, Any] | None) -> list[tuple[Words, str, str]]:
    if risks is None:
        return []
    before, after = risks["before"], risks["after"]
    texts = page_words.TEXTS
    rows = [
        (texts["risk_records"], f"{before['records']:,}", f"{after['records']:,}"),
        (texts["risk_classes"], f"{before['classes']:,}", f"{after['classes']:,}"),
        (texts["risk_k"], f"{before['k']:,}", f"{after['k']:,}"),
    ]
    for name in ("unique", "highest", "at_risk", "average"):
        words = texts[f"risk_{name}"]
        threshold = _share(before["threshold"])
        words = Words(words.english.format(threshold=threshold), words.japanese.format(threshold=threshold))
        rows.append((words, _share(before[name]), _share(after[name])))
    for name in ("highest", "average"):
        if before["journalist"] or after["journalist"]:
            old, new = (_share(part["journalist"][name]) if part["journalist"] else "–" for part in (before, after))
            rows.append((texts[f"risk_journalist_{name}"], old, new))
    for column, measured in before["sensitive"].items():
        found = after["sensitive"].get(column)
        for name, key in (("risk_l", "distinct_l"), ("risk_t", "equal_t")):
            words = Words(texts[name].english.format(name=column), texts[name].japanese.format(name=column))
            rows.append((words, _number(measured[key]), "–" if found is None else _number(found[key])))
    return rows


def _attack(attack: Mapping[str, Any]) -> _ShownAttack:
    """One attack; each remedy is shown once, however many verdicts name it."""
    open_ones = [verdict for verdict in attack["verdicts"] if verdict["outcome"] != "held"]
    names_targets = attack["attack"] in ("models", "attributes")
    return _ShownAttack(
        name=ATTACKS[attack["attack"]],
        outcome=attack["outcome"],
        mark=MARKS[attack["outcome"]],
        found=[
            (MARKS[verdict["outcome"]], verdict["target"] if names_targets else "", stated_words(verdict["sentence"]))
            for verdict in attack["verdicts"]
        ],
        remedies=list(dict.fromkeys(stated_words(verdict["remedy"]) for verdict in open_ones)),
    )


def _utility(utility: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, _number(utility[name])) for name in UTILITY if name in utility]


def _values(values: Mapping[str, Sequence[Sequence[Any]]]) -> list[tuple[str, list[tuple[str | None, str, str]]]]:
    found = []
    for name, counts in values.items():
        most = max((count for _, count in counts), default=1) or 1
        rows = [
            (None if label is None else str(label)[:MAX_LABEL_LENGTH], bar(count / most), f"{count:,}")
            for label, count in counts
        ]
        found.append((name, rows))
    return found


def _record(report: Mapping[str, Any]) -> list[tuple[str, Words]]:
    rows: list[tuple[str, Words]] = []
    if "ledger" in report:
        ledger = report["ledger"]
        rows = [("dataset", Words.same(ledger["dataset"])), ("entry", Words.same(str(ledger["entry"])))]
        rows.append(("remaining", guarantee_words.of_remaining(with_greek_letters(str(ledger["remaining"])))))
    given = report["input"]
    if given.get("sha256"):
        rows.append(("input", Words.same(given["sha256"])))
    if given.get("keyed_hash"):
        rows.append(("keyed_input", Words.same(given["keyed_hash"])))
    return rows


def _share(share: float) -> str:
    """A share in percent, upwards, because a risk must not be shown below itself."""
    return percent_rounded_up(share)


def _number(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
