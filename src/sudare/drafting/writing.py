"""Writing a drafted plan and, where there is none yet, its ledger: both, or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

from sudare.drafting.plan_drafts import PlanDraft, plan_text_of
from sudare.errors import OutputError
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.releases.kinds.counts import read_plan
from sudare.system.reasons import reason_of

__all__ = ["write_drafted_plan"]


def write_drafted_plan(draft: PlanDraft, folder: Path, name: str, *, total: Budget | None) -> Path:
    """Write a plan into a new folder, and read it as every release does.

    Args:
        draft: as it was decided.
        folder: that does not exist yet.
        name: of the plan file.
        total: of a new ledger, which the draft names; None where the ledger is there already.

    Returns:
        The plan file.

    Raises:
        PlanError: if the draft says something that cannot be; nothing is left then.
        OutputError: if the folder exists or cannot be written.
    """
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        reason = reason_of(error)
        raise OutputError(
            f"'{folder.name}' cannot be written: {reason.english}.",
            f"「{folder.name}」に書き込めません: {reason.japanese}。",
        ) from None
    try:
        plan = folder / name
        plan.write_text(plan_text_of(draft, name), encoding="utf-8")
        unit = read_plan(plan).unit
        if total is not None:
            with open_ledger(folder / draft.ledger, create=True) as ledger:
                ledger.add_dataset(draft.dataset, total, unit=Unit(unit.who))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return plan
