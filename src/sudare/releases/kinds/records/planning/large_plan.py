"""What cannot be done to records that are larger than memory, said before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sudare.releases.kinds.records.planning.model_plan import needs_population
from sudare.releases.kinds.records.planning.step_plan import Anonymize
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
    step = plan.steps[0][1]
    if len(plan.steps) > 1 or not isinstance(step, Anonymize):
        given.refuse(
            KEY,
            'is for method = "anonymize" alone: the other methods draw for each record, which must be in memory',
            'は method = "anonymize" だけで使えます（ほかの手法は記録ごとに処理するため、メモリに載せる必要があります）',
        )
    if step.search == "local":
        given.refuse(
            KEY,
            'cannot go with search = "local", which cuts the records themselves into classes',
            'は search = "local" と併用できません（記録そのものを組に分けるため）',
        )
    if step.suppressed == "starred":
        given.refuse(
            KEY,
            'cannot go with suppressed = "starred": suppressed records are left out',
            'は suppressed = "starred" と併用できません（抑制した記録は除かれます）',
        )
    if plan.population is not None or needs_population(step.models):
        given.refuse(
            KEY,
            "cannot go with a population: k-map and presence compare with everybody in memory",
            "は population と併用できません（k-map と presence は母集団をメモリに載せて比べます）",
        )
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
