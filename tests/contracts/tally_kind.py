"""A toy kind of release: how many lines a file has, with noise. It shows all that a new kind takes: this object, and one line.

A plan of it::

    kind = "tally"
    title = "Lines"
    [lines]
    path = "lines.txt"
    [budget]
    epsilon = 1
    [ledger]
    location = "budget.db"
    dataset = "town"
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.noise import add_noise
from sudare.releases.accounts import Identity
from sudare.releases.documents import ReleaseDocument, StatedDocument, describe_head, document_values
from sudare.releases.header import HEADER_KEYS, PlanHeader, read_header
from sudare.releases.kind import Attacked, Drawn, Kind, Run
from sudare.releases.registry import Registration
from sudare.releases.verification import Check, check_files, check_ledger, check_page, event_of, outcome_of
from sudare.sections import Section, read_toml

__all__ = ["REGISTRATION", "TALLY", "TallyKind"]

FORMAT = "tally/1"


@dataclass(frozen=True, kw_only=True)
class TallyPlan:
    header: PlanHeader
    path: Path


@dataclass(frozen=True, kw_only=True)
class TallyDraft:
    document: ReleaseDocument


class TallyKind(Kind[TallyPlan, int, int, TallyDraft]):
    """The number of lines of a file."""

    name = "tally"
    report_format = FORMAT

    def read_plan(self, file: Path, folder: Path | None = None) -> TallyPlan:
        top = Section(read_toml(file, Words("plan", "計画"), Words("", "")), "", file.name, (*HEADER_KEYS, "lines"))
        header = read_header(top, file, self.name, folder=folder)
        lines = top.section("lines", ("path",))
        path = file.resolve().parent / lines.text("path")
        lines.finish()
        top.finish()
        return TallyPlan(header=header, path=path)

    def header(self, plan: TallyPlan) -> PlanHeader:
        return plan.header

    def identity(self, plan: TallyPlan, last_opt_out: int) -> Identity:
        price = plan.header.price
        facts = [str(plan.path), str(plan.header.folder.resolve()), repr(price), str(last_opt_out)]
        return Identity(fingerprint=hashlib.sha256("\0".join(facts).encode()).hexdigest())

    def read(self, plan: TallyPlan, run: Run) -> int:
        run.tell("read", None)
        try:
            return plan.path.read_text(encoding="utf-8").count("\n")
        except OSError:
            raise InputError("There are no lines.", "行がありません。") from None

    def draw(self, plan: TallyPlan, data: int, run: Run) -> Drawn[int]:
        price = plan.header.price
        if price is None:
            raise TypeError("a tally without a price")
        noisy, event = add_noise([data], price.budget, unit=price.unit)
        return Drawn(result=int(noisy[0]), event=event)

    def write(self, plan: TallyPlan, drawn: Drawn[int], folder: Path, run: Run) -> TallyDraft:
        file = folder / "tally.txt"
        file.write_text(f"{drawn.result}\n", encoding="utf-8")
        head = describe_head(FORMAT, plan.header, [file])
        return TallyDraft(document=ReleaseDocument(head=head, event=drawn.event, ledger=run.paid.charge))

    def report(
        self, plan: TallyPlan, draft: TallyDraft, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> ReleaseDocument:
        (folder / "release.html").write_text(_page(document_values(draft.document)), encoding="utf-8")
        return draft.document

    def fault_of(self, folder: Path) -> Check | None:
        return next((one for one in self.check(folder) if one.outcome == "failed"), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        file = folder / "release.json"
        document = StatedDocument(file, json.loads(file.read_text(encoding="utf-8")))
        return [
            *check_files(document),
            outcome_of("cost", lambda: (str(event_of(document).cost), "")),
            check_page(document, lambda language: _page(document.values)),
            check_ledger(document, ledger),
        ]


def _page(document: Mapping[str, Any]) -> str:
    return f"<!doctype html><title>{escape(str(document['title']))}</title>\n"


TALLY = TallyKind()
REGISTRATION = Registration(
    name="tally",
    module="tests.contracts.tally_kind",
    attribute="TALLY",
    report_format=FORMAT,
    sections=frozenset({"lines"}),
)
