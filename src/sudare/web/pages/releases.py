"""A release: its map and table, its files, and whether it stands up to checks and attacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

from sudare.bilingual import Words
from sudare.domain.sparse_table import SparseTable
from sudare.errors import InputError
from sudare.releases.documents import StatedDocument
from sudare.releases.registry import find_kind_of_folder, verify_folder
from sudare.storage.guarded_json import read_json
from sudare.storage.staging import DOCUMENT
from sudare.tables.maps import find_map
from sudare.web.command_lines import command_line
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.guard import SANDBOX_POLICY
from sudare.web.maps.areas import area_shapes, find_areas
from sudare.web.maps.borders import lists_in
from sudare.web.maps.description import CategoryChoice, MapAbout, category_choices, describe_areas, describe_map
from sudare.web.maps.layers import published_table
from sudare.web.rendering import language_of, page, text_of
from sudare.web.words.maps import SCRIPT_TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sudare.attacks.verdicts import AttackReport

__all__ = ["ROUTES", "attack_release", "give_file", "show_release", "verify_release_folder"]

MAX_ROWS = 200
PAGE = "release.html"
LAYERS = ("released", "error", "truth", "difference")
NO_FILE = Words("This release has no file '{name}'.", "この公表にファイル「{name}」はありません。")


@plain_page
def show_release(request: Request) -> Response:
    """What was published."""
    workspace, name = context_of(request).workspace, request.query_params.get("folder", "")
    folder = workspace.place(name)
    kind = find_kind_of_folder(folder)
    document = _document(folder)
    table = published_table(folder) if kind.name == "counts" else None
    rows, columns = ([], []) if table is None else _first_rows(table)
    return page(
        request,
        "release.html.jinja",
        commands=[command_line("verify", name), command_line("attack", name)],
        folder=name,
        kind=kind.name,
        title=document.get("title") or name,
        publisher=document.get("publisher") or "",
        files=[*_listed(document), DOCUMENT],
        has_report=(folder / PAGE).is_file(),
        rows=rows,
        columns=columns,
        total=0 if table is None else int(table.keys.size),
        map=None if table is None else _map(request, folder, table, document),
        could_be_map=table is not None and find_areas(table.domain) is not None,
    )


@plain_page
def give_file(request: Request) -> Response:
    """A public file of a release: one that its document lists, the document, or the report."""
    workspace = context_of(request).workspace
    folder = workspace.place(request.query_params.get("folder", ""))
    name = request.query_params.get("name", "")
    find_kind_of_folder(folder)
    if name not in (*_listed(_document(folder)), DOCUMENT, PAGE):
        raise InputError(NO_FILE.format(name=name))
    path = folder / name
    if not path.is_file():
        raise InputError(NO_FILE.format(name=name))
    if name == PAGE:
        return FileResponse(path, headers={"Content-Security-Policy": SANDBOX_POLICY})
    return FileResponse(path, filename=name)


@form_page
def verify_release_folder(request: Request, form: Form) -> Response:
    """Check a release as `sudare verify` does."""
    workspace, language = context_of(request).workspace, language_of(request)
    folder = workspace.place(form.get("folder", ""))
    plan = workspace.plan_of(folder)
    checks = verify_folder(folder, None if plan is None else plan.ledger)
    failed = sum(check.outcome == "failed" for check in checks)
    verdict = "release.unsound" if failed else "release.sound"
    return JSONResponse(
        {
            "verdict": text_of(language, verdict, **({"number": failed} if failed else {})),
            "is_sound": not failed,
            "checks": [
                {
                    "name": check.words.explain(language),
                    "outcome": check.outcome,
                    "label": text_of(language, f"release.{check.outcome}"),
                    "finding": check.japanese if language == "ja" else check.english,
                }
                for check in checks
            ],
        }
    )


@form_page
def attack_release(request: Request, form: Form) -> Response:
    """Attack a release as `sudare attack` does."""
    from sudare.examination import examine
    from sudare.examination.findings import NAMES

    workspace, language = context_of(request).workspace, language_of(request)
    examination = examine(workspace.place(form.get("folder", "")))
    reports = [
        {
            "name": NAMES.get(report.attack, Words.same(report.attack)).explain(language),
            "outcome": report.outcome.value,
            "label": text_of(language, f"release.{report.outcome.value}"),
            "finding": " ".join(filter(None, (report.summary.explain(language), _worst(report, language)))),
        }
        for report in examination.reports
    ]
    left_out = [
        {
            "name": NAMES.get(one.attack, Words.same(one.attack)).explain(language),
            "outcome": "skipped",
            "label": text_of(language, "release.open" if one.is_open else "release.not_applied"),
            "finding": one.reason.explain(language),
        }
        for one in examination.not_applied
    ]
    outcome = examination.outcome
    return JSONResponse(
        {
            "verdict": text_of(language, f"release.attacks.{outcome.value}"),
            "is_sound": outcome.value != "broken",
            "checks": reports + left_out,
        }
    )


def _worst(report: AttackReport, language: str) -> str:
    """Of what was broken or is open, the first; what held is told by the summary alone."""
    if report.outcome.value == "held":
        return ""
    verdict = next(iter(report.with_outcome(report.outcome)), None)
    return "" if verdict is None else verdict.explain(language)


def _document(folder: Path) -> StatedDocument:
    path = folder / DOCUMENT
    try:
        values = read_json(path)
    except (OSError, ValueError):
        values = None
    return StatedDocument(path, values if isinstance(values, dict) else {})


def _listed(document: StatedDocument) -> list[str]:
    """Names of files that a document lists, if they lead nowhere else."""
    files = document.get("files")
    listed = [file.get("name") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return [name for name in listed if isinstance(name, str) and Path(name).name == name]


def _first_rows(table: SparseTable) -> tuple[list[list[str]], list[str]]:
    """The first cells of a published table, and the names of its columns."""
    keys = table.keys[:MAX_ROWS]
    columns = table.domain.columns_of(keys)
    rows = [
        [*(str(columns[name][place]) for name in columns), f"{table.counts[place]:,}"] for place in range(keys.size)
    ]
    return rows, list(columns)


@dataclass(frozen=True, kw_only=True)
class _MapSection:
    """What the template and the script of the map need.

    Attributes:
        about: the map, as `sudare.web.maps.description` has it.
        words: texts that the script fills in.
        choices: attributes beside the map.
        has_errors: whether the release says what errors to expect.
        has_plan: whether the plan is here, so that its holder may look at the true counts.
    """

    about: MapAbout
    words: dict[str, str]
    choices: list[CategoryChoice]
    has_errors: bool
    has_plan: bool


def _map(request: Request, folder: Path, table: SparseTable, document: StatedDocument) -> _MapSection | None:
    language = language_of(request)
    if find_map(table.domain) is not None:
        about = describe_map(table, document.values)
    else:
        axis = find_areas(table.domain)
        shapes = None if axis is None else area_shapes(axis, lists_in(context_of(request).workspace))
        if axis is None or shapes is None:
            return None
        about = describe_areas(table, axis, shapes, document.values, language)
    words = {name: text_of(language, f"map.{name}") for name in SCRIPT_TEXTS}
    words |= {f"layer_{name}": text_of(language, f"map.layer.{name}") for name in LAYERS}
    return _MapSection(
        about=about,
        words=words | {"first": text_of(language, "map.left"), "second": text_of(language, "map.right")},
        choices=category_choices(table),
        has_errors=bool(about["errors"]["all"]),
        has_plan=context_of(request).workspace.plan_of(folder) is not None,
    )


ROUTES = (
    Route("/release", show_release),
    Route("/release/file", give_file),
    Route("/release/verify", verify_release_folder, methods=["POST"]),
    Route("/release/attack", attack_release, methods=["POST"]),
)
