"""What every method of disclosure control keeps, a new one included: from its keys in a plan to a verified folder."""

from __future__ import annotations

import ast
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sudare
from sudare.attacks.verdicts import AttackOutcome
from sudare.bilingual import Words, blanks_of
from sudare.disclosure.merging import MergedMeshes
from sudare.errors import InputError, PlanError
from sudare.examination import examine
from sudare.releases.documents import document_values
from sudare.releases.kinds.tables import attack_folder, read_report, read_table_plan, verify_protected
from sudare.releases.kinds.tables.attacking.knowledge import knowledge_of
from sudare.releases.kinds.tables.confidential import CONFIDENTIAL, CONFIDENTIAL_PAGE, read_confidential
from sudare.releases.kinds.tables.methods import registry
from sudare.releases.kinds.tables.methods.cell_method import CellMethod, Protected
from sudare.releases.kinds.tables.methods.method import DisclosureMethod
from sudare.releases.kinds.tables.planning.plan_file import FORMATS
from sudare.releases.kinds.tables.planning.protection_plan import protection_keys
from sudare.releases.kinds.tables.published_table import read_published_tables
from sudare.releases.kinds.tables.running import ProtectedFolder, run_table_plan
from tests.contracts.last_digit_method import REGISTRATION
from tests.unit.releases.kinds.tables.firms import COUNTS, WHOLE, build_firms, write_key

PACKAGE = Path(sudare.__file__).parent
ROOM = PACKAGE / "releases/kinds/tables/methods"

MESHES = """title = "Meshes"
[source]
rows = "meshes"
path = "meshes.csv"
mesh = "code"
level = "1/2"
population = "people"
values = ["men"]
"""
MESH_ROWS = "code,people,men\n533946111,84,40\n533946112,3,2\n533946113,30,11\n533946114,8,8\n"


@dataclass(frozen=True)
class Case:
    """One plan of a method.

    Attributes:
        name: of the method.
        plan: without its section ``[protection]``.
        settings: the further lines of that section.
        holds: whether no attack breaks what it publishes; None if that depends on a secret.
    """

    name: str
    plan: str
    settings: str = ""
    holds: bool | None = True

    @property
    def text(self) -> str:
        """The whole plan."""
        return f'{self.plan}\n[protection]\nmethod = "{self.name}"\n{self.settings}'

    @property
    def method(self) -> DisclosureMethod[Any, Any, Any]:
        """The object."""
        return registry.method_named(self.name)

    def build(self, folder: Path, more: str = "") -> Path:
        """Write the data and the plan."""
        (folder / "meshes.csv").write_text(MESH_ROWS, encoding="utf-8")
        if not (folder / "secret.key").exists():
            write_key(folder / "secret.key")
        return build_firms(folder, self.text + more)

    def run(self, folder: Path, more: str = "", out: str = "out") -> ProtectedFolder:
        """From the plan's file to the folder."""
        return run_table_plan(read_table_plan(self.build(folder, more), folder / out), even_if_broken=not self.holds)


AMOUNTS = WHOLE[: WHOLE.index("\n[protection]")]
CASES = {
    case.name: case
    for case in (
        Case("suppress", AMOUNTS),
        Case("round", COUNTS, "base = 10\n"),
        Case("cell-key", COUNTS, 'key_file = "secret.key"\nidentifier = "firm"\n', holds=None),
        Case("merge-meshes", MESHES, "minimum = 10\n"),
        Case("none", COUNTS, holds=False),
        Case(REGISTRATION[0], COUNTS, "digits = 1\n"),
    )
}
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
OF_CELLS = pytest.mark.parametrize(
    "case", [pytest.param(case, id=name) for name, case in CASES.items() if case.plan != MESHES]
)


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a new method takes."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register_method(*REGISTRATION)


class TestRegistry:
    """Which methods there are."""

    def test_every_method_is_held_to_this_contract(self) -> None:
        assert set(CASES) == set(registry.method_names())

    @EVERY
    def test_a_method_is_found_by_its_name(self, case: Case) -> None:
        assert case.method.name == case.name
        assert registry.method_of_document({"method": case.name}) is case.method
        assert isinstance(case.method, CellMethod) != case.method.is_of_meshes
        assert (case.method in registry.registered_cell_methods()) != case.method.is_of_meshes

    def test_a_name_is_taken_once(self) -> None:
        registry.register_method(*REGISTRATION)
        with pytest.raises(ValueError, match="is taken by tests"):
            registry.register_method(REGISTRATION[0], "elsewhere", "FULL_TENS")

    @pytest.mark.parametrize("document", [{}, {"method": "magic\x1b"}, {"method": ["round"]}, {"method": None}])
    def test_other_names_are_refused(self, document: dict[str, Any]) -> None:
        with pytest.raises(InputError) as told:
            registry.method_of_document(document)
        assert told.value.english != told.value.japanese
        assert "\x1b" not in told.value.english

    def test_a_method_for_meshes_is_none_for_cells(self) -> None:
        with pytest.raises(InputError, match="about meshes"):
            registry.cell_method_of_document({"method": "merge-meshes"})
        with pytest.raises(TypeError, match="for meshes"):
            registry.cell_method_named("merge-meshes")


class TestPlan:
    """Keys, and what goes together."""

    @EVERY
    def test_a_plan_names_the_method_and_its_settings(self, tmp_path: Path, case: Case) -> None:
        plan = read_table_plan(case.build(tmp_path))
        assert plan.method == case.name
        again = read_table_plan(case.build(tmp_path))
        assert type(plan.protection) is type(again.protection)

    @EVERY
    def test_keys_of_others_are_refused_with_their_owner(self, tmp_path: Path, case: Case) -> None:
        assert set(case.method.keys) < set(protection_keys())
        assert len(set(case.method.keys)) == len(case.method.keys)
        for key in set(protection_keys()) - {"method", *case.method.keys}:
            with pytest.raises(PlanError) as told:
                read_table_plan(case.build(tmp_path, f"{key} = 1\n"))
            owners = [one.name for one in registry.registered_methods() if key in one.keys]
            assert owners
            for text in (told.value.english, told.value.japanese):
                assert all(f'"{owner}"' in text for owner in owners)
                assert key in text

    @EVERY
    def test_a_misspelled_key_is_refused(self, tmp_path: Path, case: Case) -> None:
        with pytest.raises(PlanError, match="has no key 'basse'"):
            read_table_plan(case.build(tmp_path, "basse = 1\n"))

    @EVERY
    def test_formats_are_those_that_it_can_write(self, tmp_path: Path, case: Case) -> None:
        assert set(case.method.formats) <= set(FORMATS) - {"csv"}
        for one in FORMATS:
            plan = case.build(tmp_path, f'[output]\nformats = ["{one}"]\n')
            if one in ("csv", *case.method.formats):
                assert one in read_table_plan(plan).formats
            else:
                with pytest.raises(PlanError, match=one):
                    read_table_plan(plan)

    @EVERY
    def test_meshes_go_with_methods_for_meshes(self, tmp_path: Path, case: Case) -> None:
        other = Case(case.name, COUNTS if case.method.is_of_meshes else MESHES, case.settings)
        with pytest.raises(PlanError, match='"merge-meshes" if and only if'):
            read_table_plan(other.build(tmp_path))


class TestWords:
    """What readers are told."""

    @EVERY
    def test_words_are_whole_in_both_languages(self, case: Case) -> None:
        words: dict[str, Words] = {**vars(case.method.words), **case.method.attack_words}
        assert {"name", "protects", "keeps", "limits"} < set(words)
        for one in words.values():
            assert one.en.strip()
            assert one.ja.strip()
            assert one.en != one.ja
            assert blanks_of(one.en) == blanks_of(one.ja)

    @EVERY
    def test_blanks_are_filled_with_public_settings(self, tmp_path: Path, case: Case) -> None:
        made = case.run(tmp_path)
        words = case.method.words_for(read_table_plan(tmp_path / "plan.toml").protection)
        for name in ("protects", "keeps", "limits"):
            given: Words = getattr(words, name)
            assert blanks_of(given.en) <= set(made.document["settings"])
            filled = given.format(**made.document["settings"])
            assert made.document[name] == {"english": filled.english, "japanese": filled.japanese}
        page = (tmp_path / "out/release.html").read_text(encoding="utf-8")
        assert case.method.words.name.english in page
        assert case.method.words.name.japanese in page


class TestFolder:
    """From the plan's file to a folder that was attacked and verified."""

    @EVERY
    def test_a_plan_goes_to_a_verified_folder(self, tmp_path: Path, case: Case) -> None:
        made = case.run(tmp_path)
        assert made.document["method"] == case.name
        checks = verify_protected(tmp_path / "out")
        assert [check for check in checks if check.outcome == "failed"] == []
        assert {"tables", "page", "confidential"} <= {check.name for check in checks if check.outcome == "passed"}
        further = case.method.further_checks(tmp_path / "out", made.document)
        assert {check.name for check in further} <= {check.name for check in checks}

    @EVERY
    def test_files_of_the_holder_are_named_and_private(self, tmp_path: Path, case: Case) -> None:
        made = case.run(tmp_path)
        listed = {one["name"] for one in made.document["files"]} | {"release.json", "release.html"}
        kept = {one.name for one in (tmp_path / "out").iterdir()} - listed
        assert kept <= {CONFIDENTIAL, CONFIDENTIAL_PAGE, *case.method.confidential_names}
        assert all(name.startswith("confidential") for name in kept)
        assert all((tmp_path / "out" / name).stat().st_mode & 0o077 == 0 for name in kept)

    @EVERY
    def test_a_changed_table_is_noticed(self, tmp_path: Path, case: Case) -> None:
        case.run(tmp_path)
        table = tmp_path / "out/table.csv"
        rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
        table.write_text("".join([*rows[:-1], "x\n"]), encoding="utf-8")
        failed = {check.name for check in verify_protected(tmp_path / "out") if check.outcome == "failed"}
        assert {"file table.csv", "tables"} <= failed

    @EVERY
    def test_a_report_of_another_method_is_noticed(self, tmp_path: Path, case: Case) -> None:
        case.run(tmp_path)
        report = tmp_path / "out/release.json"
        document = json.loads(report.read_text(encoding="utf-8"))
        report.write_text(json.dumps({**document, "method": "magic"}), encoding="utf-8")
        failed = {check.name for check in verify_protected(tmp_path / "out") if check.outcome == "failed"}
        assert {"tables", "page"} <= failed
        with pytest.raises(InputError, match="does not know: magic"):
            attack_folder(tmp_path / "out", read_report(tmp_path / "out"))

    @EVERY
    def test_the_same_plan_gives_the_same_tables(self, tmp_path: Path, case: Case) -> None:
        one, other = case.run(tmp_path), case.run(tmp_path, out="again")
        assert (one.folder / "table.csv").read_bytes() == (other.folder / "table.csv").read_bytes()
        assert one.document["settings"] == other.document["settings"]


class TestRecord:
    """The public settings, as they come back from the report."""

    @EVERY
    def test_settings_go_through_json(self, tmp_path: Path, case: Case) -> None:
        made = case.run(tmp_path)
        assert read_report(tmp_path / "out")["settings"] == made.document["settings"]
        plan = read_table_plan(tmp_path / "plan.toml")
        data = case.method.read_data(plan)
        result: Protected | MergedMeshes = case.method.protect(plan, plan.protection, data)
        public = case.method.public_settings(plan, plan.protection, result)
        assert document_values(public) == made.document["settings"]

    @OF_CELLS
    def test_the_truth_lies_within_what_a_reader_knows(self, tmp_path: Path, case: Case) -> None:
        case.run(tmp_path)
        document = read_report(tmp_path / "out")
        published = read_published_tables(tmp_path / "out", document)
        holder = read_confidential(tmp_path / "out", published)
        assert holder is not None
        known = knowledge_of(published.in_units(holder.decimals), document)
        assert (known.low <= holder.values).all()
        assert (holder.values <= known.high).all()
        shown = ~published.hidden
        same = (published.in_units(holder.decimals).values == holder.values)[shown].all()
        assert same == case.method.shows_true_values
        assert (known.low == known.high)[shown].all() == case.method.shows_true_values

    @EVERY
    def test_settings_that_are_none_are_refused(self, tmp_path: Path, case: Case) -> None:
        made = case.run(tmp_path)
        needs_settings = case.method.is_of_meshes or not case.method.shows_true_values
        wrong_ones: list[object] = [{}, [], dict.fromkeys(made.document["settings"], "x")]
        for settings in wrong_ones:
            wrong = {**made.document, "settings": settings}
            if needs_settings:
                with pytest.raises(InputError):
                    attack_folder(tmp_path / "out", wrong)
            else:  # what is shown is the truth, whatever the settings
                assert attack_folder(tmp_path / "out", wrong)


class TestAttacks:
    """What a reader can work out, alone and with what was published before."""

    @EVERY
    def test_attacks_are_run_and_named(self, tmp_path: Path, case: Case) -> None:
        made = case.run(tmp_path)
        assert made.attacks
        assert {one.attack for one in made.attacks} <= set(case.method.attack_words)
        held = all(one.outcome is not AttackOutcome.BROKEN for one in made.attacks)
        assert case.holds in (None, held)
        assert made.document["even_if_broken"] != held
        again = attack_folder(tmp_path / "out", read_report(tmp_path / "out"))
        assert [(one.attack, one.outcome) for one in again] == [(one.attack, one.outcome) for one in made.attacks]

    @EVERY
    def test_every_attack_with_words_can_apply(self, tmp_path: Path, case: Case) -> None:
        case.run(tmp_path)
        made = case.run(tmp_path, '[earlier]\nfolders = ["out"]\n', out="again")
        assert {one.attack for one in made.attacks} == set(case.method.attack_words)
        assert [check for check in verify_protected(tmp_path / "again") if check.outcome == "failed"] == []

    @EVERY
    def test_a_public_reader_attacks_without_the_holders_files(self, tmp_path: Path, case: Case) -> None:
        case.run(tmp_path)
        public = tmp_path / "public"
        shutil.copytree(tmp_path / "out", public)
        for one in public.glob("confidential*"):
            one.unlink()
        assert [check for check in verify_protected(public) if check.outcome == "failed"] == []
        assert attack_folder(public, read_report(public))
        assert examine(public).reports

    def test_the_toy_is_read_with_the_bounds_that_it_states(self, tmp_path: Path) -> None:
        CASES["full-tens"].run(tmp_path)
        document = read_report(tmp_path / "out")
        published = read_published_tables(tmp_path / "out", document)
        known = knowledge_of(published, document)
        assert (known.low == published.values).all()
        assert (known.high == published.values + 9).all()


class TestTwoFiles:
    """Nobody outside the room asks which method it is, so that nobody has to know of a new one."""

    OUTSIDE = sorted(
        path
        for folder in ("releases/kinds/tables", "examination", "cli/commands")
        for path in (PACKAGE / folder).rglob("*.py")
        if ROOM not in path.parents
    )

    @staticmethod
    def names_in(tree: ast.Module) -> list[object]:
        """Names of methods that stand in a program, but for words that people read."""
        told = {
            part
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Words"
            for part in ast.walk(node)
        }
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in told]
        return [node.value for node in found if node.value in tuple(CASES)]

    @staticmethod
    def imports_in(tree: ast.Module) -> list[str]:
        """Modules of the room that are imported, but for what is common to all methods."""
        common = {"method", "cell_method", "registry"}
        found = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        found += [one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names]
        return [name for name in found if ".tables.methods." in name and name.rpartition(".")[2] not in common]

    @pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(PACKAGE).as_posix())
    def test_no_other_module_knows_a_method(self, path: Path) -> None:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert self.names_in(tree) == []
        assert self.imports_in(tree) == []

    def test_no_page_asks_which_method_it_is(self) -> None:
        pages = list((PACKAGE / "releases").rglob("*.jinja"))
        assert pages
        assert not [page.name for page in pages if "report.method" in page.read_text(encoding="utf-8")]

    def test_one_that_does_is_found(self) -> None:
        assert self.names_in(ast.parse('if plan.method == "round": pass')) == ["round"]
        assert self.names_in(ast.parse('Words("none", "なし")')) == []
        assert self.imports_in(ast.parse("from sudare.releases.kinds.tables.methods.rounding import Round"))

    def test_the_toy_is_one_module_and_one_line(self) -> None:
        tests = Path(__file__).parent
        knowing = [path.name for path in tests.glob("*.py") if "full-tens" in path.read_text(encoding="utf-8")]
        assert sorted(knowing) == ["last_digit_method.py", Path(__file__).name]
