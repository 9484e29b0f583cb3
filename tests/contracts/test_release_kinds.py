"""What every kind of release keeps, a new one included: nothing unpaid, nothing half, nothing twice, nothing changed unseen."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sudare
from sudare.errors import BudgetExceededError, InputError, LedgerError, OutputError, ParameterError, PlanError
from sudare.ledger import Ledger, open_ledger
from sudare.noise import SecureEntropy
from sudare.privacy import Budget, Unit
from sudare.releases import folder_store, protocol, registry
from sudare.releases.kind import Attacked, Kind
from sudare.releases.registry import find_kind_of_folder, find_kind_of_plan, run_plan, verify_folder
from sudare.storage import staging
from sudare.storage.staging import DOCUMENT, REPORT
from sudare.system.locks import is_held
from tests.contracts.tally_kind import REGISTRATION
from tests.processes import start
from tests.unit.releases.kinds.counts.offices import PLAN, open_office
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, SAMPLED, build_town
from tests.unit.releases.kinds.tables.firms import WHOLE, build_firms

SOURCE = Path(sudare.__file__).parent
LEDGER = '\n[ledger]\nlocation = "budget.db"\ndataset = "town"\n'
OUTPUT = '\n[output]\nfolder = "out"\n'


@dataclass(frozen=True)
class Case:
    """One plan of a kind.

    Attributes:
        kind: its name.
        build: writes data, plan and ledger into a folder; gives the plan.
    """

    kind: str
    build: Callable[[Path], Path]


def build_counts(folder: Path) -> Path:
    return open_office(folder, text=PLAN.replace('"release"', '"out"')).file


def build_private_records(folder: Path) -> Path:
    return build_town(folder, SAMPLED + OUTPUT)


def build_tally(folder: Path) -> Path:
    (folder / "lines.txt").write_text("a\nb\nc\n")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=3), unit=Unit())
    plan = folder / "plan.toml"
    text = 'title = "Lines"\n[lines]\npath = "lines.txt"\n[budget]\nepsilon = 1\n'
    plan.write_text(text + LEDGER + OUTPUT, encoding="utf-8")
    return plan


def build_records(folder: Path) -> Path:
    return build_town(folder, HEAD + COLUMNS + ANONYMIZE + LEDGER + OUTPUT)


def build_tables(folder: Path) -> Path:
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=3), unit=Unit())
    return build_firms(folder, WHOLE + LEDGER + OUTPUT)


PAID = {
    "counts": Case("counts", build_counts),
    "records with a price": Case("records", build_private_records),
    "a toy": Case("tally", build_tally),
}
NOTED = {"records": Case("records", build_records), "tables": Case("tables", build_tables)}
ALL = PAID | NOTED


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a new kind takes."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register_kind(REGISTRATION)


def each(cases: dict[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases.items()])


def account(folder: Path) -> tuple[list[str], Budget | None]:
    """What the ledger has noted, and what is left."""
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        kinds = [entry.kind for entry in ledger.entries() if entry.kind != "dataset"]
        return kinds, ledger.dataset("town").remaining


def no_trace(folder: Path) -> bool:
    return not (folder / "out").exists() and not list(folder.glob(".*partial*"))


def kind_class(case: Case) -> type[Kind[Any, Any, Any, Any]]:
    found: type[Kind[Any, Any, Any, Any]] = type(
        next(one for one in registry.registered_kinds() if one.name == case.kind).load()
    )
    return found


def fail_with(error: type[BaseException]) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error("stopped")

    return fail


@each(ALL)
def test_from_a_plan_to_a_folder_that_is_sound(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    assert find_kind_of_plan(plan).name == case.kind
    made = run_plan(plan)
    assert made.folder == tmp_path / "out"
    assert not made.is_repeated
    assert find_kind_of_folder(made.folder).name == case.kind
    location = str(tmp_path / "budget.db")
    outcomes = {check.outcome for check in verify_folder(made.folder, location)}
    assert "passed" in outcomes
    assert "failed" not in outcomes
    kind = find_kind_of_folder(made.folder).load()
    assert json.loads((made.folder / DOCUMENT).read_text(encoding="utf-8")) == json.loads(
        json.dumps(made.document, default=int)
    )
    assert kind.fault_of(made.folder) is None
    assert account(tmp_path)[0] == (["reserve", "settle"] if kind.header(kind.read_plan(plan)).price else ["publish"])


ORDER = {
    "reserved",
    "charge_once",
    "tick_once",
    "uninterrupted",
    "publish_folder",
    "Staging",
    "ReportStaging",
    "completed_beside",
    "seal_of",
}
"""What the order is made of."""


def test_no_kind_takes_part_in_the_order() -> None:
    """It stands once: no module of a kind imports what reserves, seals, settles or shows."""
    found = []
    for package in ("counts", "records", "series", "tables"):
        for path in (SOURCE / "releases" / "kinds" / package).rglob("*.py"):
            if path.name in ("folders.py", "hashing.py"):  # which define some of it
                continue
            if path.relative_to(SOURCE).as_posix() == "releases/kinds/series/days/report.py":
                continue  # made from what was published, and settled when its window is closed
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    found += [f"{path}: {name.name}" for name in node.names if name.name in ORDER]
                elif isinstance(node, ast.Attribute) and node.attr in (
                    "reserve",
                    "settle",
                    "cancel",
                    "note_publication",
                    "begin_tick",
                    "settle_tick",
                ):
                    found.append(f"{path}: {node.attr}")
    assert found == []


@each(ALL)
def test_the_kind_may_be_named(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    text = plan.read_text(encoding="utf-8")
    plan.write_text(f'kind = "{case.kind}"\n{text}', encoding="utf-8")
    assert find_kind_of_plan(plan).name == case.kind
    assert not run_plan(plan).is_repeated
    other = "tables" if case.kind == "counts" else "counts"
    plan.write_text(f'kind = "{other}"\n{text}', encoding="utf-8")
    with pytest.raises(PlanError):
        run_plan(plan)
    with pytest.raises(PlanError, match="kind"):
        kind_class(case)().read_plan(plan)


@each(ALL)
def test_the_order(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reserve, read, draw, write, attack, report, settle, show; and nothing is to be seen before the end."""
    plan = case.build(tmp_path)
    steps: list[str] = []

    def noted(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def wrapped(*given: Any, **named: Any) -> Any:
            steps.append(name)
            assert not (tmp_path / "out").exists()
            return function(*given, **named)

        monkeypatch.setattr(owner, name, wrapped)

    for name in ("prepare", "read", "draw", "write", "attack", "report"):
        noted(kind_class(case), name)
    for name in ("reserve", "settle", "note_publication"):
        noted(Ledger, name)
    noted(folder_store, "publish_folder")
    noted(protocol, "publish_folder")
    run_plan(plan)
    middle = ["read", "draw", "write", "attack", "report"]
    paid = ["prepare", "reserve", *middle, "settle", "publish_folder"]
    assert steps == (paid if case in PAID.values() else ["prepare", *middle, "note_publication", "publish_folder"])


@each(ALL)
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, InputError])
def test_a_crash_before_the_draw_gives_back(
    tmp_path: Path, case: Case, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)
    before = account(tmp_path)[1]
    stopped = fail_with(error) if error is not InputError else _refuse
    monkeypatch.setattr(kind_class(case), "read", stopped)
    with pytest.raises(error):
        run_plan(plan)
    assert account(tmp_path) == (["reserve", "cancel"] if case in PAID.values() else [], before)
    assert no_trace(tmp_path)


def _refuse(*_: Any, **__: Any) -> Any:
    raise InputError("not what the plan says", "計画と異なります")


@each(PAID)
@pytest.mark.parametrize("step", ["draw", "write", "attack", "report"])
def test_a_crash_after_the_draw_stays_charged(
    tmp_path: Path, case: Case, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)
    before = account(tmp_path)[1]

    def stopped(*_: Any, **__: Any) -> Any:
        SecureEntropy().next_word()  # as if noise was drawn, whatever the kind
        raise KeyboardInterrupt

    monkeypatch.setattr(kind_class(case), step, stopped)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan)
    kinds, left = account(tmp_path)
    assert kinds == ["reserve"]
    assert left != before
    assert no_trace(tmp_path)


@each(PAID)
def test_a_signal_while_it_prepares_to_draw_gives_back(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)
    before = account(tmp_path)[1]
    monkeypatch.setattr(kind_class(case), "draw", fail_with(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan)
    assert account(tmp_path) == (["reserve", "cancel"], before)


@each(PAID)
def test_a_settled_folder_is_found_again_at_no_cost(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    first = run_plan(plan)
    again = run_plan(plan)
    assert again.is_repeated
    assert again.document == json.loads(json.dumps(first.document))
    assert account(tmp_path)[0] == ["reserve", "settle"]
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="--again"):
        run_plan(plan)
    assert not run_plan(plan, again=True).is_repeated
    assert account(tmp_path)[0] == ["reserve", "settle"] * 2


@each(PAID)
@pytest.mark.parametrize("moment", ["settle", "publish_folder"])
def test_what_was_complete_is_shown_by_the_next_run(
    tmp_path: Path, case: Case, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the process was killed just before the ledger settled, or just before the rename."""
    plan = case.build(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Ledger if moment == "settle" else folder_store, moment, fail_with(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_plan(plan)
    assert not (tmp_path / "out").exists()
    assert run_plan(plan).is_repeated
    assert account(tmp_path)[0] == ["reserve", "settle"]
    checks = verify_folder(tmp_path / "out", str(tmp_path / "budget.db"))
    assert "failed" not in {check.outcome for check in checks}
    assert not list(tmp_path.glob(".*partial*"))


@each(NOTED)
def test_what_was_not_paid_for_and_not_shown_is_cleared(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "note_publication", fail_with(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_plan(plan)
    assert no_trace(tmp_path)
    assert account(tmp_path)[0] == []
    run_plan(plan)
    with pytest.raises(OutputError, match="exists"):
        run_plan(plan)


@each(ALL)
def test_a_folder_that_was_changed_is_found(tmp_path: Path, case: Case) -> None:
    made = run_plan(case.build(tmp_path))
    pages = [path.name for path in made.folder.glob("*.html") if not path.name.startswith("confidential")]
    for name in [entry["name"] for entry in made.document["files"]] + pages:
        path = made.folder / name
        whole = path.read_bytes()
        for changed in (whole[:-1], whole + b" ", whole[:5] + b"0" + whole[5:]):
            path.write_bytes(changed)
            assert "failed" in {check.outcome for check in verify_folder(made.folder)}, name
        path.write_bytes(whole)
    (made.folder / "more.txt").write_text("more")
    assert "failed" in {check.outcome for check in verify_folder(made.folder)}
    (made.folder / "more.txt").unlink()
    assert "failed" not in {check.outcome for check in verify_folder(made.folder)}


@each(PAID)
def test_a_document_that_was_changed_is_not_what_the_ledger_settled(tmp_path: Path, case: Case) -> None:
    made = run_plan(case.build(tmp_path))
    path = made.folder / DOCUMENT
    path.write_text(path.read_text(encoding="utf-8").replace('"title": "', '"title": "Not '), encoding="utf-8")
    checks = {check.name: check.outcome for check in verify_folder(made.folder, str(tmp_path / "budget.db"))}
    assert checks["ledger"] == "failed"
    with pytest.raises(LedgerError, match="changed"):
        run_plan(tmp_path / "plan.toml")


@each(PAID)
def test_nothing_is_read_beyond_the_budget(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = case.build(tmp_path)
    with open_ledger(tmp_path / "budget.db") as ledger:
        kind = find_kind_of_plan(plan).load()
        price = kind.header(kind.read_plan(plan)).price
        assert price is not None
        left = ledger.dataset("town").remaining
        assert left is not None
        ledger.reserve("town", left, unit=price.unit, fingerprint="f" * 64)
    monkeypatch.setattr(kind_class(case), "read", fail_with(AssertionError))
    with pytest.raises(BudgetExceededError):
        run_plan(plan)
    assert no_trace(tmp_path)


def _run_in_a_process(plan: Path) -> None:
    registry.register_kind(REGISTRATION)
    run_plan(plan)


@pytest.mark.slow
@each(PAID)
def test_a_plan_that_is_started_twice_is_charged_once(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    processes = [start(_run_in_a_process, plan) for _ in range(2)]
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    assert account(tmp_path)[0] == ["reserve", "settle"]


@each(NOTED)
def test_what_the_ledger_knows_is_attacked_too(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = case.build(tmp_path)
    seen: list[list[Path]] = []
    original = kind_class(case).attack

    def attack(self: Any, plan: Any, draft: Any, folder: Path, earlier: Any, run: Any) -> Attacked:
        seen.append(list(earlier))
        return original(self, plan, draft, folder, earlier, run)

    monkeypatch.setattr(kind_class(case), "attack", attack)
    run_plan(plan, folder=tmp_path / "before")
    made = run_plan(plan)
    assert seen == [[], [tmp_path / "before"]]
    assert "earlier" in [report.attack for report in made.attacks]


@each(NOTED)
def test_attacked_again_if_something_was_published_meanwhile(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)
    seen: list[list[Path]] = []
    original = kind_class(case).attack

    def attack(self: Any, read: Any, draft: Any, folder: Path, earlier: Any, run: Any) -> Attacked:
        seen.append(list(earlier))
        if len(seen) == 1:
            run_plan(plan, folder=tmp_path / "meanwhile")
        return original(self, read, draft, folder, earlier, run)

    monkeypatch.setattr(kind_class(case), "attack", attack)
    run_plan(plan)
    assert seen == [[], [], [tmp_path / "meanwhile"]]
    assert account(tmp_path)[0] == ["publish", "publish"]
    assert "failed" not in {check.outcome for check in verify_folder(tmp_path / "out")}


@each(NOTED)
def test_a_folder_that_came_meanwhile_leaves_no_false_note(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run to the same place is shown first: what could not be shown is not noted either."""
    plan = case.build(tmp_path)
    turns: list[int] = []
    original = kind_class(case).attack

    def attack(self: Any, read: Any, draft: Any, folder: Path, earlier: Any, run: Any) -> Attacked:
        turns.append(1)
        if len(turns) == 1:
            run_plan(plan)
        return original(self, read, draft, folder, earlier, run)

    monkeypatch.setattr(kind_class(case), "attack", attack)
    with pytest.raises(OutputError, match="exists already"):
        run_plan(plan)
    assert account(tmp_path)[0] == ["publish"]
    assert [path.name for path in tmp_path.glob(".*")] == []
    checks = verify_folder(tmp_path / "out", str(tmp_path / "budget.db"))
    assert {check.name: check.outcome for check in checks}["ledger"] == "passed"


@each(ALL)
def test_the_place_is_held_from_the_note_until_it_is_shown(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)
    seen: list[str] = []

    def held(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def wrapped(*given: Any, **named: Any) -> Any:
            handle = os.open(tmp_path / ".out.lock", os.O_RDWR)
            assert is_held(handle)
            os.close(handle)
            seen.append(name)
            return function(*given, **named)

        monkeypatch.setattr(owner, name, wrapped)

    held(Ledger, "note_publication")
    held(folder_store, "publish_folder")
    held(protocol, "publish_folder")
    run_plan(plan)
    assert seen == (["publish_folder"] if case in PAID.values() else ["note_publication", "publish_folder"])
    assert not (tmp_path / ".out.lock").exists()


@each(NOTED)
def test_the_ledger_is_asked_for_its_note(tmp_path: Path, case: Case) -> None:
    location, plan = str(tmp_path / "budget.db"), case.build(tmp_path)

    def told(folder: Path, place: str | None) -> tuple[str, str]:
        found = [check for check in verify_folder(folder, place) if check.name == "ledger"]
        return (found[0].outcome, found[0].english) if found else ("", "")

    made = run_plan(plan)
    assert told(made.folder, location) == ("passed", "noted as entry 2")
    assert told(made.folder, None)[0] in ("", "skipped")
    report = made.folder / "release.json"
    whole = report.read_bytes()
    report.write_bytes(whole + b"\n")
    assert told(made.folder, location) == ("failed", "the ledger notes another release.json of this folder, as entry 2")
    report.write_bytes(whole)
    made.folder.rename(tmp_path / "elsewhere")
    assert told(tmp_path / "elsewhere", location)[0] == "passed"
    with open_ledger(tmp_path / "other.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=3), unit=Unit())
    outcome, english = told(tmp_path / "elsewhere", str(tmp_path / "other.db"))
    assert (outcome, "does not note" in english) == ("skipped", True)


@each(ALL)
@pytest.mark.parametrize("key", ["versions", "page_format"])
def test_unlisted_files_are_found_whatever_made_the_folder(tmp_path: Path, case: Case, key: str) -> None:
    made = run_plan(case.build(tmp_path))
    path = made.folder / DOCUMENT
    document = json.loads(path.read_text(encoding="utf-8"))
    if key not in document:
        pytest.skip("only folders of counts state the form of their page")
    document[key] = {"sudare": "0.0.1"} if key == "versions" else "another"
    path.write_text(json.dumps(document), encoding="utf-8")

    def page() -> str:
        return {check.name: check.outcome for check in verify_folder(made.folder)}["page"]

    assert page() == "skipped"
    (made.folder / "more.txt").write_text("more")
    assert page() == "failed"


def test_names_and_formats_are_taken_once() -> None:
    from dataclasses import replace

    registry.register_kind(REGISTRATION)
    with pytest.raises(ValueError, match="taken"):
        registry.register_kind(replace(REGISTRATION, name="counts"))
    with pytest.raises(ValueError, match="taken"):
        registry.register_kind(replace(REGISTRATION, name="other"))


def test_registrations_say_what_their_kinds_say() -> None:
    for known in registry.registered_kinds():
        kind = known.load()
        assert (kind.name, kind.report_format) == (known.name, known.report_format)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "count"\n', 'must be one of "series", "subtrees", "counts", "records", "tables"'),
        ("kind = 3\n", "must be one of"),
        ('title = "x"\n', "nothing tells what is published"),
    ],
)
def test_plans_of_no_kind(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(PlanError, match=said):
        run_plan(tmp_path / "plan.toml")


def test_folders_of_no_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither"):
        verify_folder(tmp_path)
    (tmp_path / "report.json").write_text('{"format": "other/1"}')
    with pytest.raises(InputError, match="other/1"):
        verify_folder(tmp_path)
    with pytest.raises(InputError, match="missing"):
        verify_folder(tmp_path / "nowhere")


@each(PAID)
def test_a_ledger_that_is_handed_in_must_be_the_plans(tmp_path: Path, case: Case) -> None:
    plan_file = case.build(tmp_path)
    kind = find_kind_of_plan(plan_file).load()
    plan = kind.read_plan(plan_file)
    with open_ledger(tmp_path / "other.db", create=True) as other:
        other.add_dataset("town", Budget(epsilon=3), unit=Unit())
        with pytest.raises(ParameterError, match="ledger that the plan names"):
            protocol.carry_out(kind, plan, ledger=other)
        assert other.head()[0] == 1
    assert no_trace(tmp_path)
    with open_ledger(str(tmp_path / "." / "budget.db")) as own:
        assert not protocol.carry_out(kind, plan, ledger=own).is_repeated
    assert account(tmp_path)[0] == ["reserve", "settle"]


@each(PAID)
@pytest.mark.parametrize("spoiled", ["folder", "link", "held"])
def test_nobody_keeps_what_is_paid_for_from_being_shown(
    tmp_path: Path, case: Case, spoiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MAX_HOLD_SECONDS", 0.1)
    plan, lock, victim = case.build(tmp_path), tmp_path / ".out.lock", tmp_path / "victim"
    handle = None
    if spoiled == "folder":
        lock.mkdir()
    elif spoiled == "link":
        lock.symlink_to(victim)
    else:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR)
        assert not is_held(handle)
    made = run_plan(plan)
    assert made.folder.is_dir()
    assert not victim.exists()
    assert account(tmp_path)[0] == ["reserve", "settle"]
    if handle is not None:
        os.close(handle)


@each(PAID)
def test_a_stray_document_does_not_hide_what_was_settled(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    made = run_plan(plan)
    (made.folder / DOCUMENT).rename(made.folder / REPORT)
    (made.folder / DOCUMENT).write_text('{"format": "stray"}')
    assert run_plan(plan).is_repeated
    assert account(tmp_path)[0] == ["reserve", "settle"]
