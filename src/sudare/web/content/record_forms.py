"""What a form says of the columns of records, as the keys of a plan: roles, hierarchies and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sudare.bilingual import Words
from sudare.drafting import ColumnShape, SeenColumn
from sudare.drafting.plan_files import section_of
from sudare.drafting.record_drafts import guess_record_columns
from sudare.errors import InputError
from sudare.microdata.models.registry import registered_models
from sudare.releases.kinds.records.planning.column_plan import ROLES
from sudare.web.context import Form
from sudare.web.pages.ways import number_in
from sudare.web.words import TEXTS

__all__ = [
    "MODELS",
    "RULES",
    "ColumnFields",
    "column_sections",
    "fields_of_plan",
    "guessed_fields",
    "model_fields",
    "protection_of",
]

RULES = ("none", "keep", "intervals", "dates", "mesh", "mask", "groups", "flat")
"""Where coarser values come from; ``keep`` is whatever the plan says already."""

MODELS: dict[str, str] = {
    model.plan_name: next(key for key in model.plan_keys if key not in ("column", "kind"))
    for model in reversed(registered_models())
    if not model.needs_population and "column" in model.plan_keys
}
"""Models of a sensitive column, with the number that each asks for."""

BAD_GROUPS = Words(
    "Write the groups of “{column}” as one a line, such as “health: nurse, doctor”.",
    "「{column}」のグループは「医療: 看護師, 医師」のように1行に1つ書いてください。",
)
BAD_WIDTHS = Words(
    "Write the widths of “{column}” as whole or decimal numbers, such as 5, 10, 20.",
    "「{column}」の幅は 5, 10, 20 のように数で書いてください。",
)


@dataclass(frozen=True, kw_only=True)
class ColumnFields:
    """The fields of one column.

    Attributes:
        name: of the column.
        shape: of its values; None if that was not looked at.
        role: one of those that plans know.
        rule: one of `RULES`.
        detail: widths, groups or a level, as they are typed.
        model: of a sensitive column; empty for none.
        number: that the model asks for.
    """

    name: str
    shape: ColumnShape | None = None
    role: str = "quasi-identifier"
    rule: str = "none"
    detail: str = ""
    model: str = ""
    number: str = ""


def guessed_fields(columns: Sequence[SeenColumn]) -> list[ColumnFields]:
    """What the columns of a file probably are, as `sudare init --kind records` guesses it."""
    return [
        ColumnFields(name=one.seen.name, shape=one.seen.shape, role=one.role, rule=one.rule, detail=one.detail)
        for one in guess_record_columns(columns)
    ]


def fields_of_plan(values: Mapping[str, object]) -> list[ColumnFields]:
    """The fields that a plan fills in."""
    stated = section_of(values, "protection").get("models")
    models = {one.get("column"): one for one in stated if isinstance(one, dict)} if isinstance(stated, list) else {}
    named = section_of(values, "columns")
    columns = {name: section_of(named, name) for name in named}
    sensitive = [name for name, one in columns.items() if one.get("role") == "sensitive"]
    found = []
    for name, one in columns.items():
        rule, detail = _typed_rule(one)
        model = models.get(name) or (models.get(None) if sensitive == [name] else None) or {}
        key = MODELS.get(str(model.get("name", "")), "")
        found.append(
            ColumnFields(
                name=name,
                role=str(one.get("role", "other")),
                rule=rule,
                detail=detail,
                model=str(model.get("name", "")) if key else "",
                number=str(model.get(key, "")) if key else "",
            )
        )
    return found


def _typed_rule(column: Mapping[str, object]) -> tuple[str, str]:
    if isinstance(widths := section_of(column, "intervals").get("widths"), list):
        return "intervals", ", ".join(str(one) for one in widths)
    groups = column.get("groups")
    if isinstance(groups, dict) and all(isinstance(one, list) for one in groups.values()):
        return "groups", "\n".join(f"{name}: {', '.join(map(str, one))}" for name, one in groups.items())
    if "mesh" in column:
        return "mesh", str(section_of(column, "mesh").get("level", ""))
    simple = next((rule for rule in ("dates", "mask", "flat") if rule in column), "")
    if simple:
        return simple, ""
    return ("keep", "") if "hierarchy" in column or "intervals" in column or "groups" in column else ("none", "")


def model_fields(values: Mapping[str, object]) -> dict[str, str]:
    """What a plan says of k, and of records that may be left out."""
    protection = section_of(values, "protection")
    return {"k": str(protection.get("k", "")), "suppression": str(protection.get("suppression", "0"))}


def column_sections(
    form: Form, fields: Sequence[ColumnFields], before: Mapping[str, object]
) -> dict[str, dict[str, object]]:
    """The sections ``[columns.NAME]`` that a form describes.

    Args:
        form: as it was sent.
        fields: the columns.
        before: sections of the plan that is changed; empty for a new one.

    Raises:
        InputError: if groups or widths are none.
    """
    made = {}
    for place, column in enumerate(fields):
        given = form.get(f"role-{place}", column.role)
        role = given if given in ROLES else column.role
        known = section_of(before, column.name)
        section: dict[str, object] = {"role": role}
        if role != "identifier":
            section |= {key: known[key] for key in ("missing", "values", "bins") if key in known}
            rule = form.get(f"rule-{place}", column.rule)
            if role == "quasi-identifier" or rule == "keep":
                section |= _rule(column, rule, form.get(f"detail-{place}", ""), known)
        made[column.name] = section
    return made


def _rule(column: ColumnFields, rule: str, detail: str, known: Mapping[str, object]) -> dict[str, object]:
    if rule == "keep":
        return {
            key: known[key]
            for key in ("hierarchy", "intervals", "dates", "mesh", "mask", "groups", "flat")
            if key in known
        }
    if rule == "intervals":
        kept = section_of(known, "intervals") or ({"whole": True} if column.shape is ColumnShape.WHOLE else {})
        return {"intervals": {**kept, "widths": _widths(column.name, detail)}}
    if rule == "groups":
        return {"groups": _groups(column.name, detail)}
    if rule == "mesh":
        return {"mesh": {**section_of(known, "mesh"), **({"level": detail.strip()} if detail.strip() else {})}}
    if rule in ("dates", "mask"):
        return {rule: known.get(rule, {})}
    return {"flat": True} if rule == "flat" else {}


def _widths(column: str, detail: str) -> list[int | Decimal]:
    parts = [part.strip() for part in detail.replace("、", ",").split(",") if part.strip()]
    try:
        numbers = [Decimal(part) for part in parts]
    except InvalidOperation:
        numbers = []
    if not numbers or not all(one.is_finite() and 0 < one <= 10**9 for one in numbers):
        raise InputError(BAD_WIDTHS.format(column=column))
    return [int(one) if one == one.to_integral_value() else one for one in numbers]


def _groups(column: str, detail: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for line in filter(str.strip, detail.replace("：", ":").replace("、", ",").splitlines()):
        name, sign, listed = line.partition(":")
        values = [one.strip() for one in listed.split(",") if one.strip()]
        if not sign or not name.strip() or not values or name.strip() in groups:
            raise InputError(BAD_GROUPS.format(column=column))
        groups[name.strip()] = values
    if not groups:
        raise InputError(BAD_GROUPS.format(column=column))
    return groups


def protection_of(form: Form, fields: Sequence[ColumnFields], before: Mapping[str, object]) -> dict[str, object]:
    """The section ``[protection]`` that a form describes; what it does not ask for stays.

    Raises:
        InputError: if a number is none.
    """
    kept = {
        key: one for key, one in section_of(before, "protection").items() if key not in ("k", "models", "suppression")
    }
    k = number_in(form, "k", "records.k", smallest=2, largest=10**6)
    suppression = number_in(form, "suppression", "records.suppression", largest=1)
    models: list[dict[str, object]] = []
    for place, column in enumerate(fields):
        name = form.get(f"model-{place}", "")
        if form.get(f"role-{place}", column.role) != "sensitive" or name not in MODELS:
            continue
        number = number_in(form, f"number-{place}", "records.number")
        if number is None:
            raise InputError(TEXTS["records.no_number"].format(model=name))
        models.append({"name": name, "column": column.name, MODELS[name]: _plain(number)})
        if name == "alpha-k-anonymity" and k is not None:
            models[-1]["k"] = int(k)
    made: dict[str, object] = {**kept, "method": "anonymize"}
    made |= {} if k is None else {"k": int(k)}
    made |= {} if not suppression else {"suppression": suppression}
    return made | ({"models": models} if models else {})


def _plain(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number
