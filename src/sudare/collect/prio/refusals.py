"""Why reports and messages are refused, in English and Japanese, and without anybody's value."""

from __future__ import annotations

from sudare.bilingual import Words
from sudare.errors import AggregatorError, InputError

__all__ = ["AggregatorError", "ReportRefusedError"]


class ReportRefusedError(InputError):
    """A report, or a message about one, is malformed or does not pass verification."""


def malformed(what: Words) -> ReportRefusedError:
    """A message of a wrong length, or with a number outside the field."""
    return ReportRefusedError(
        f"The {what.english} is malformed: it has a wrong length, or a number outside the field. It was damaged or made for "
        "another task; the report is dropped.",
        f"{what.japanese}の形式が不正です（長さ、または体の範囲外の値）。破損しているか、別のタスク用です。この報告は破棄されます。",
    )


def rejected() -> ReportRefusedError:
    """A report whose proof fails."""
    return ReportRefusedError(
        "The report does not pass verification: its shares or its proof do not show a valid measurement. It is dropped.",
        "報告は検証に合格しませんでした。シェアまたは証明が正しい測定値を示していません。この報告は破棄されます。",
    )
