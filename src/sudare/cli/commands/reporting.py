"""The page of a release, rendered again: for readers, or with the truth beside it for those who may see it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.console.progress import progress_bars
from sudare.cli.console.speaking import Speaker
from sudare.errors import InputError

if TYPE_CHECKING:
    from sudare.domain import CountTable

__all__ = ["report"]

PAGE, CONFIDENTIAL_PAGE = "release.html", "confidential.html"
OWNER_ONLY = 0o600


def report(
    speaker: Speaker,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)],
    with_truth: Annotated[Path | None, typer.Option("--with-truth", metavar="PLAN.toml", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> None:
    """Render the page of a release again."""
    from sudare.io import atomically
    from sudare.releases.kinds.counts import read_document, read_published_table, render_page

    document = read_document(folder)
    target = out if out is not None else _usual_target(folder, is_confidential=with_truth is not None)
    truth = None
    if with_truth is not None:
        _refuse_inside(speaker, target, folder)
        speaker.warn_of("report.confidential", page=target)
        speaker.confirm("report.ask", yes=yes)
        truth = _read_truth(speaker, with_truth, document)
    table = read_published_table(folder, document)
    page = render_page(document, table, language=speaker.language, truth=truth)
    with atomically(target, replace=out is None) as temporary:
        if truth is not None:
            temporary.chmod(OWNER_ONLY)
        temporary.write_text(page, encoding="utf-8")
    speaker.say("report.done", style="green")
    speaker.give({"page": str(target), "confidential": truth is not None}, str(target))


def _usual_target(folder: Path, *, is_confidential: bool) -> Path:
    folder = folder.resolve()
    return folder.with_name(f"{folder.name}-{CONFIDENTIAL_PAGE}") if is_confidential else folder / PAGE


def _refuse_inside(speaker: Speaker, target: Path, folder: Path) -> None:
    """What is in a release folder gets published."""
    if target.resolve().is_relative_to(folder.resolve()):
        raise speaker.mistake("report.inside", page=target)


def _read_truth(speaker: Speaker, plan_file: Path, document: Mapping[str, Any]) -> CountTable:
    from sudare.ledger import open_ledger
    from sudare.releases.data.domains import describe_domain
    from sudare.releases.kinds.counts import read_plan, read_release_source
    from sudare.releases.kinds.counts.hashing import keyed_hash

    plan = read_plan(plan_file)
    if describe_domain(plan.domain) != document["domain"]:
        raise InputError(
            f"The cells of the plan '{plan_file}' are not those of the release: it is another release's plan.",
            f"計画「{plan_file}」のセルが公表物と一致しません。別の公表の計画です。",
        )
    with open_ledger(plan.ledger.location) as ledger, progress_bars(speaker) as tell:
        paid = document["ledger"]["hash"]
        truth = read_release_source(plan, ledger, lambda share, _: tell("read", share), reservation=paid)
        secret = ledger.secret(plan.ledger.dataset)
    if keyed_hash(truth, secret, document["ledger"]["hash"]) != document["input"]["keyed_hash"]:
        raise InputError(
            f"The data of the plan '{plan_file}' is not what this release was made from: it has changed, or belongs to another "
            "release.",
            f"計画「{plan_file}」のデータは、この公表の元になったものと一致しません。変更されたか、別の公表のものです。",
        )
    return truth
