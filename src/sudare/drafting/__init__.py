"""Drafts of plans: what a file looks like, what its columns probably are, and the plan file that says so.

`sudare init --from FILE` and the page write the same drafts. A guess is made of names of columns and of the *shape* of a few
values (whole numbers, days, mesh codes of a level): a word of a closed list that the layout of the data decides. Which values
there are never enters a draft: labels, ranges and areas come from lists that are public anyhow, or from whoever confirms it.
"""

from __future__ import annotations

from sudare.drafting.columns import ColumnShape, SeenColumn, look_at_columns
from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft, plan_text_of, with_budget
from sudare.drafting.roles import ColumnRole, GuessedColumn, draft_of_file, guess_roles

__all__ = [
    "AttributeDraft",
    "ColumnRole",
    "ColumnShape",
    "GuessedColumn",
    "PlanDraft",
    "SeenColumn",
    "SourceDraft",
    "draft_of_file",
    "guess_roles",
    "look_at_columns",
    "plan_text_of",
    "with_budget",
]
