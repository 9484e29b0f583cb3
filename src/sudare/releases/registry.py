"""All kinds of release: a list of them, the kind of a plan or a folder, and one call for any of them.

A kind is named here by the module that has it, and loaded when one of its plans or folders turns up: a command that protects
tables does not load the mechanisms of counts. A new kind is a folder with an object (`sudare.releases.kind.Kind`) and one
`Registration`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError, PlanError
from sudare.ledger import Reservation
from sudare.releases.header import KIND
from sudare.releases.kind import Kind, TickKind, is_tick_kind
from sudare.releases.progress import Progress
from sudare.releases.protocol import Released, carry_out, carry_out_tick
from sudare.releases.verification import Check, printable
from sudare.sections import nearest, read_toml
from sudare.storage.guarded_json import read_json
from sudare.storage.staging import DOCUMENT, REPORT, document_in
from sudare.system.regular_files import read_regular_file

__all__ = [
    "Registration",
    "find_kind_of_folder",
    "find_kind_of_plan",
    "register_kind",
    "registered_kinds",
    "run_plan",
    "verify_folder",
]

PLAN = Words("plan", "計画ファイル")
HINT = Words("`sudare init` writes one to start from.", "`sudare init` で雛形を作れます。")


@dataclass(frozen=True, kw_only=True)
class Registration:
    """What is known of a kind before it is loaded.

    Attributes:
        name: in plans, as ``kind = "..."``, and for people.
        module: that has the kind's object.
        attribute: the object's name there.
        report_format: what documents of its folders say that their format is.
        other_formats: of further folders that its `check` knows, such as the report of a whole window.
        sections: a plan that has one of them, and names no kind, is of this kind.
        shared_sections: the same, if no kind is found by what is its own.
    """

    name: str
    module: str
    attribute: str
    report_format: str
    other_formats: tuple[str, ...] = ()
    sections: frozenset[str] = frozenset()
    shared_sections: frozenset[str] = frozenset()

    @property
    def formats(self) -> tuple[str, ...]:
        """All formats of its documents."""
        return (self.report_format, *self.other_formats)

    def load(self) -> Kind[Any, Any, Any, Any]:
        """The kind itself."""
        kind: Kind[Any, Any, Any, Any] = getattr(import_module(self.module), self.attribute)
        return kind


NOR = Words(" nor ", " も ")
NOTHING_PUBLISHED = Words(
    "'{folder}' has neither {names}: it is nothing that sudare published, or was damaged.",
    "「{folder}」には {names} もありません。sudare が公表したものではないか、壊れています。",
)

_REGISTERED: dict[str, Registration] = {
    one.name: one
    for one in (
        Registration(
            name="series",
            module="sudare.releases.kinds.series.running",
            attribute="TICKS",
            report_format="sudare-tick/1",
            other_formats=("sudare-series-day/1",),
            sections=frozenset({"series"}),
        ),
        Registration(
            name="subtrees",
            module="sudare.releases.kinds.subtrees.running",
            attribute="SUBTREES",
            report_format="sudare-subtrees/1",
            sections=frozenset({"executors"}),
        ),
        Registration(
            name="counts",
            module="sudare.releases.kinds.counts.running",
            attribute="COUNTS",
            report_format="sudare-release/1",
            sections=frozenset({"domain", "method", "reference", "reading", "prediction"}),
            shared_sections=frozenset({"source"}),
        ),
        Registration(
            name="records",
            module="sudare.releases.kinds.records.running",
            attribute="RECORDS",
            report_format="sudare-people/1",
            sections=frozenset({"columns", "steps"}),
        ),
        Registration(
            name="tables",
            module="sudare.releases.kinds.tables.running",
            attribute="TABLES",
            report_format="sudare-protected-table/1",
            sections=frozenset({"dimensions", "tables", "rules", "protection", "input"}),
        ),
    )
}


def registered_kinds() -> tuple[Registration, ...]:
    """All kinds, in the order in which the sections of a plan are looked through."""
    return tuple(_REGISTERED.values())


def register_kind(registration: Registration) -> None:
    """Make a kind known. Repeating it changes nothing.

    Raises:
        ValueError: if another kind has its name, or its format.
    """
    for known in _REGISTERED.values():
        is_taken = known.name == registration.name or not set(known.formats).isdisjoint(registration.formats)
        if is_taken and known != registration:
            raise ValueError(f"the name or the format of {registration.name!r} is taken by {known.name!r}")
    _REGISTERED[registration.name] = registration


def find_kind_of_plan(file: str | Path) -> Registration:
    """Which kind a plan is of: the one that it names, or the first that one of its sections belongs to, old names included.

    Raises:
        PlanError: if it is no plan, or of no kind that is known.
    """
    place = Path(file)
    return _kind_of_sections(read_toml(place, PLAN, HINT), place.name)


def _kind_of_sections(said: Mapping[str, Any], file: str) -> Registration:
    listed = ", ".join(f'"{name}"' for name in _REGISTERED)
    if KIND in said:
        stated = said[KIND]
        if isinstance(stated, str) and stated in _REGISTERED:
            return _REGISTERED[stated]
        english, japanese = nearest(str(stated), _REGISTERED)
        raise PlanError(
            f"{file}: 'kind' must be one of {listed}.{english}", f"{file}: kind は {listed} のいずれかです。{japanese}"
        )
    for known in _REGISTERED.values():
        if known.sections & set(said):
            return known
    for known in _REGISTERED.values():
        if known.shared_sections & set(said):
            return known
    raise PlanError(
        f"{file}: nothing tells what is published. Write kind = ... at the top, one of {listed}.",
        f"{file}: 何を公表する計画か分かりません。先頭に kind = ... を書いてください（{listed}）。",
    )


def run_plan(
    file: str | Path,
    *,
    folder: str | Path | None = None,
    again: bool = False,
    even_if_broken: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
) -> Released[Any]:
    """Carry out a plan of any kind; see `sudare.releases.protocol.carry_out`. Of a series, the latest tick that is over.

    Args:
        file: the plan.
        folder: where the release goes, in place of what the plan says.
        again: with a price, draw and spend anew even if the same release was settled before.
        even_if_broken: show it even if an attack succeeds; the report says so.
        threads: how many threads to use; as many as there are cores, within reason, if left out.
        progress: called with the stage, and the share of it that is done.
        on_unfinished: with a price, called before anything is charged if earlier runs of the same plan were stopped after their
            charge was kept. A tick is charged for with its window, and never asks.

    Raises:
        PlanError: if the plan cannot be read, or is of no kind that is known.
    """
    kind = find_kind_of_plan(file).load()
    plan = kind.read_plan(Path(file), None if folder is None else Path(folder))
    if is_tick_kind(kind):
        if again:
            requirement = Words("left out: a tick is published once", "省略（時点は一度だけ公表されます）")
            raise ParameterError("again", "run_plan", requirement, again)
        return carry_out_tick(cast("TickKind[Any, Any, Any, Any]", kind), plan, threads=threads, progress=progress)
    return carry_out(
        kind,
        plan,
        again=again,
        even_if_broken=even_if_broken,
        threads=threads,
        progress=progress,
        on_unfinished=on_unfinished,
    )


def find_kind_of_folder(folder: str | Path) -> Registration:
    """Which kind a folder is of, by what its document says that its format is.

    Raises:
        InputError: if it has no document of any kind, or one in a format that is not known.
    """
    place = Path(folder)
    document = document_in(place)
    if not document.exists() and place.is_dir():
        raise InputError(NOTHING_PUBLISHED.format(folder=folder, names=Words.joined((DOCUMENT, REPORT), NOR)))
    stated = _format_of(document)
    for known in _REGISTERED.values():
        if stated in known.formats:
            return known
    raise InputError(
        f"'{document}' is missing, damaged, or in a format that this sudare does not know: {printable(str(stated))}.",
        f"「{document}」がないか、壊れているか、この sudare が扱わない形式です: {printable(str(stated))}。",
    )


def verify_folder(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check a folder of any kind, and the ledger's entry where a ledger is named.

    Raises:
        InputError: if it is no folder of any kind.
        LedgerError: if the ledger cannot be opened.
    """
    return find_kind_of_folder(folder).load().check(Path(folder), ledger)


def _format_of(document: Path) -> object:
    """What a document says that its format is; a damaged one is taken for what it names, so that its check tells why."""
    try:
        said = read_json(document)
    except OSError:
        return None
    except ValueError:
        text = read_regular_file(document)
        names = (name for known in _REGISTERED.values() for name in known.formats)
        return next((name for name in names if f'"{name}"'.encode() in text), None)
    return said.get("format") if isinstance(said, dict) else None
