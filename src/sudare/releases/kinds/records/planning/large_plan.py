"""What cannot be done to records that are larger than memory, refused before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sudare.releases.kinds.records.steps.registry import registered_steps
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["require_possible_out_of_memory"]

KEY = "larger_than_memory"


def require_possible_out_of_memory(plan: PeoplePlan, given: Section) -> None:
    """Refuse a plan that needs its records in memory.

    Args:
        plan: which says that they are larger.
        given: its section [source].

    Raises:
        PlanError: says what needs them.
    """
    step = plan.steps[0]
    if len(plan.steps) > 1 or not step.takes_large_files:
        methods = [f'"{one.name}"' for one in registered_steps() if one.takes_large_files]
        given.refuse(
            KEY,
            f"is for method = {' or '.join(methods)} alone: the other methods draw for each record, which must be in memory",
            f"は method = {' か '.join(methods)} だけで使えます"
            "（ほかの手法はレコードごとに処理するため、メモリに載せる必要があります）",
        )
    step.require_possible_out_of_memory(plan, given, KEY)
    if plan.encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "auto"):
        given.refuse(
            KEY, "needs a file in UTF-8: convert it before", "には UTF-8 のファイルが必要です。先に変換してください"
        )
    suffix = Path(plan.source).suffix.lower()
    if suffix not in (".csv", ".parquet") or plan.source_format not in ("auto", suffix[1:]):
        given.refuse(
            KEY,
            "needs one file whose name ends in .csv or .parquet",
            "には、名前が .csv か .parquet で終わる一つのファイルが必要です",
        )
