"""How a plan says which models a published table must satisfy.

``k = 5`` alone asks for k-anonymity; everything else is a list of models, each with its name and its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sudare.errors import ParameterError
from sudare.microdata.models import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    Presence,
    RecursiveDiversity,
)
from sudare.microdata.records import CodedColumn
from sudare.releases.kinds.records.planning.hierarchy_plan import HierarchyRule, refused, texts_of
from sudare.sections import Section, suggest

__all__ = ["MODEL_KEYS", "at_least_two", "needs_population", "read_models"]

MODEL_KEYS = {
    "k-anonymity": ("k",),
    "l-diversity": ("column", "l", "kind", "c"),
    "t-closeness": ("column", "t", "order", "by_hierarchy"),
    "alpha-k-anonymity": ("column", "alpha", "k"),
    "beta-likeness": ("column", "beta", "enhanced"),
    "delta-disclosure": ("column", "delta"),
    "k-map": ("k",),
    "presence": ("smallest", "largest"),
}
"""What each model may say beside its name."""

ALL_KEYS = ("name", *dict.fromkeys(key for keys in MODEL_KEYS.values() for key in keys))
KINDS = ("distinct", "entropy", "recursive")


def read_models(
    section: Section, file: str, sensitive: Mapping[str, HierarchyRule | None], quasi_identifiers: Sequence[str]
) -> tuple[Model, ...]:
    """The models of a section: its ``k`` and its ``models``, at least one.

    Args:
        section: where they stand.
        file: the plan's name.
        sensitive: the sensitive columns, with their hierarchies.
        quasi_identifiers: which cannot be sensitive as well.

    Raises:
        PlanError: if there is none, or one says what cannot be.
    """
    models: list[Model] = []
    if section.has("k"):
        models.append(KAnonymity(at_least_two(section, "k")))
    parts = section.sections("models", ALL_KEYS) if section.has("models") else []
    for number, part in enumerate(parts, start=1):
        name = part.choice("name", tuple(MODEL_KEYS))
        own = Section(part.rest(), f"models {number}: {name}", file, MODEL_KEYS[name])
        models.append(_read_model(own, name, sensitive, quasi_identifiers))
        own.finish()
    if not models:
        section.refuse(
            "k",
            "is missing: say k = 5, or list models",
            "がありません。k = 5 などとするか、models を並べてください",
        )
    return tuple(models)


def needs_population(models: tuple[Model, ...]) -> bool:
    """Whether a model compares with everybody, and not with the table alone."""
    return any(isinstance(model, (KMap, Presence)) for model in models)


def at_least_two(section: Section, key: str) -> int:
    """A smallest class: two records or more."""
    number = section.whole(key)
    if number < 2:
        section.refuse(
            key,
            f"must be at least 2, and is {number}: a class of one record protects nobody",
            f"は 2 以上です（指定: {number}）。1 件の組では誰も保護されません",
        )
    return number


def _read_model(
    section: Section, name: str, sensitive: Mapping[str, HierarchyRule | None], quasi_identifiers: Sequence[str]
) -> Model:
    try:
        if name == "k-anonymity":
            return KAnonymity(at_least_two(section, "k"))
        if name == "k-map":
            return KMap(at_least_two(section, "k"))
        if name == "presence":
            return Presence(section.number("smallest"), section.number("largest"))
        column = _sensitive(section, sensitive, quasi_identifiers)
        if name == "l-diversity":
            return _read_diversity(section, column)
        if name == "t-closeness":
            return _read_closeness(section, column, sensitive[column])
        if name == "alpha-k-anonymity":
            return AlphaAnonymity(column, section.number("alpha"), at_least_two(section, "k"))
        if name == "beta-likeness":
            return BetaLikeness(column, section.number("beta"), enhanced=section.flag("enhanced", False))
        return DeltaDisclosure(column, section.number("delta"))
    except ParameterError as error:
        refused(section, error)


def _sensitive(
    section: Section, sensitive: Mapping[str, HierarchyRule | None], quasi_identifiers: Sequence[str]
) -> str:
    """The column that a model looks at; where one column alone is sensitive it need not be named."""
    column = section.text("column", next(iter(sensitive)) if len(sensitive) == 1 else None)
    if column in quasi_identifiers:
        section.refuse(
            "column",
            f"names '{column}', which is a quasi-identifier: a column cannot be sensitive as well",
            f"の「{column}」は準識別子です。機微な列を兼ねることはできません",
        )
    if column not in sensitive:
        hint = suggest(column, sensitive)
        section.refuse(
            "column",
            f"names '{column:.60}', which has not role = \"sensitive\" in this plan.{hint.english}",
            f'の「{column:.60}」は、この計画で role = "sensitive" の列ではありません。{hint.japanese}',
        )
    return column


def _read_diversity(section: Section, column: str) -> Model:
    kind = section.choice("kind", KINDS, "distinct")
    if kind == "entropy":
        return EntropyDiversity(column, section.number("l"))
    if kind == "recursive":
        return RecursiveDiversity(column, section.number("c"), at_least_two(section, "l"))
    return DistinctDiversity(column, at_least_two(section, "l"))


def _read_closeness(section: Section, column: str, rule: HierarchyRule | None) -> Model:
    t = section.number("t")
    if section.flag("by_hierarchy", False):
        if rule is None or rule.kind not in ("hierarchy", "groups"):
            section.refuse(
                "by_hierarchy",
                f"needs a hierarchy file or groups for the column '{column}'",
                f"には、列「{column}」の階層ファイルか groups が必要です",
            )
        return Closeness(column, t, hierarchy=rule.build(CodedColumn.of(column, [])))
    if section.is_text("order"):
        section.choice("order", ("values",))
        return Closeness(column, t, order=True)
    return Closeness(column, t, order=texts_of(section, "order") if section.has("order") else False)
