"""A model that a plan can ask for, and that a report states: its name and keys, how it is read, and its record.

In the order of use: `plan_name`, `plan_kind` and `plan_keys` find it in a plan, `from_plan` reads it, ``words`` and ``holds`` are
those of every model, `to_record` writes it into the report, and `from_record` reads it there, for anyone who checks the published
table. A new model is a class in a module of its own, and one line in `sudare.microdata.models.registry`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sudare.microdata.models.model import Model
from sudare.microdata.models.record_fields import FieldReader, plain_value
from sudare.sections import Section, suggest

if TYPE_CHECKING:
    from sudare.microdata.hierarchies.hierarchy import Generalization

__all__ = ["ModelColumns", "PlannedModel", "at_least_two", "sensitive_column"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelColumns:
    """What a plan says of columns, as far as models need it.

    Attributes:
        sensitive: the sensitive columns, with their hierarchies where these are known without the data.
        quasi_identifiers: columns that cannot be sensitive as well.
    """

    sensitive: Mapping[str, Generalization | None]
    quasi_identifiers: Sequence[str]


class PlannedModel(Model):
    """A model with a name in plans and reports."""

    plan_name: ClassVar[str]
    """What a plan calls it."""
    plan_kind: ClassVar[str | None] = None
    """Where models share a name in plans: what their key ``kind`` says; left out, the first that is registered is meant."""
    plan_keys: ClassVar[tuple[str, ...]]
    """What a plan may say beside the name. Models that share a name list the keys of all of them."""
    record_name: ClassVar[str]
    """What a report calls it."""
    record_fields: ClassVar[Mapping[str, FieldReader]]
    """The attributes that a report has, which are arguments of the class as well, and what each may be."""

    @classmethod
    @abstractmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """The model that a section of a plan asks for.

        Args:
            section: of the model, without its name.
            columns: of the plan.

        Raises:
            PlanError: if the section says what cannot be.
            ParameterError: likewise; names the key.
        """

    def to_record(self) -> dict[str, object]:
        """The model as plain values, for a report; fractions as texts.

        Example:
            >>> from sudare.microdata.models import KAnonymity
            >>> KAnonymity(5).to_record()
            {'name': 'k-anonymity', 'k': 5}
        """
        values = {field: plain_value(getattr(self, field)) for field in self.record_fields}
        return {"name": self.record_name, **values}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The model that a record of it tells; None if a published table alone cannot show whether it holds.

        Args:
            record: what `to_record` gave, perhaps changed by somebody since.

        Raises:
            ParameterError, TypeError, ValueError, ArithmeticError: if it is no such record.
        """
        if cls.needs_population:
            return None
        values: dict[str, object] = {field: read(record.get(field)) for field, read in cls.record_fields.items()}
        return cls(**values)


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


def sensitive_column(section: Section, columns: ModelColumns) -> str:
    """The column that a model looks at; where one column alone is sensitive it need not be named."""
    sensitive = columns.sensitive
    column = section.text("column", next(iter(sensitive)) if len(sensitive) == 1 else None)
    if column in columns.quasi_identifiers:
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
