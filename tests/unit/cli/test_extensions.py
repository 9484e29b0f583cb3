"""Commands from other distributions: found by entry point or by name, loaded only when typed, told how to get when missing."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from sudare.bilingual import Words
from sudare.cli import extensions
from sudare.cli.app import build_app
from sudare.cli.console import messages
from sudare.cli.console.messages import Catalogue, add_messages
from sudare.cli.extensions import GROUP, HOMES, Extension, is_installed, is_typed, load_extension
from tests.unit.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[3]
OTHER = """
from typing import Annotated
import typer
from sudare.bilingual import Words
from sudare.cli.extensions import Extension
from sudare.cli.console.speaking import Speaker

def other(speaker: Speaker, number: Annotated[int, typer.Argument()]) -> None:
    speaker.say("reproduce.other", number=number)

OTHER = Extension(
    function=other,
    messages={
        "reproduce.other": Words("other {number}", "別 {number}"),
        "reproduce.number": Words("A number.", "数。"),
    },
)
"""


@pytest.fixture
def without_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if sudare-papers were not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sudare_papers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sudare_papers", None)


def declare(folder: Path, monkeypatch: pytest.MonkeyPatch, points: str) -> None:
    """A distribution with entry points, as an installer leaves it."""
    home = folder / "other-1.0.dist-info"
    home.mkdir()
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (home / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")
    monkeypatch.syspath_prepend(folder)


@pytest.fixture
def own_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds is gone after it."""
    monkeypatch.setattr(messages, "_ADDED", {})


def test_the_distribution_declares_what_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"][GROUP] == {name: home.place for name, home in HOMES.items()}
    assert {home.distribution for home in HOMES.values()} == {project["name"]}
    assert all((ROOT / home.folder / "pyproject.toml").is_file() for home in HOMES.values())


def test_without_an_entry_point_the_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert is_installed("reproduce")
    assert load_extension("reproduce").function.__module__ == "sudare_papers.command"


@pytest.mark.usefixtures("own_messages")
def test_the_entry_point_comes_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_papers.py").write_text(OTHER, encoding="utf-8")
    declare(tmp_path, monkeypatch, "reproduce = other_papers:OTHER")
    shown = run("reproduce", "31")
    assert (shown.code, shown.err) == (0, "other 31\n")
    assert run("reproduce", "31", "--lang", "ja").err == "別 31\n"


def test_an_entry_point_that_leads_nowhere_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(tmp_path, monkeypatch, "reproduce = gone_papers.command:REPRODUCE")
    assert load_extension("reproduce").function.__module__ == "sudare_papers.command"


def test_other_packages_add_no_commands(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_papers.py").write_text("raise SystemExit('loaded')", encoding="utf-8")
    declare(tmp_path, monkeypatch, "polish = other_papers:OTHER\nrelease = other_papers:OTHER")
    assert "polish" not in run("--help").out
    assert run("polish").code == 2
    assert run("release", "--help").code == 0


@pytest.mark.usefixtures("without_papers")
@pytest.mark.parametrize("behind", [(), ("zcdp",), ("zcdp", "--quick", "--repeats", "3"), ("--out", "x", "all")])
def test_a_missing_command_says_how_to_get_it(run: Run, behind: tuple[str, ...]) -> None:
    assert not is_installed("reproduce")
    shown = run("reproduce", *behind)
    assert (shown.code, shown.out) == (2, "")
    assert "part of sudare-papers, which is not installed" in " ".join(shown.err.split())
    assert "pip install ./papers" in " ".join(shown.err.split())
    told = run("reproduce", *behind, "--json").error
    assert (told["kind"], told["exit_code"]) == ("package", 2)
    assert "pip install ./papers" in told["english"]
    assert "インストールされていません" in told["japanese"]
    assert "pip install ./papers" in told["japanese"]


@pytest.mark.usefixtures("without_papers")
@pytest.mark.parametrize(("language", "note"), [("en", "Not installed: needs sudare-papers"), ("ja", "未インストール")])
def test_a_missing_command_is_listed(run: Run, language: str, note: str) -> None:
    for arguments in (("--help",), ("reproduce", "--help")):
        shown = run(*arguments, "--lang", language)
        assert shown.code == 0
        assert "reproduce" in shown.out
        assert note in " ".join(shown.out.replace("│", " ").split())


def test_an_installed_command_is_listed_without_a_note(run: Run) -> None:
    listed = run("--help").out
    assert "reproduce" in listed
    assert "installed" not in listed


def test_it_is_loaded_only_when_it_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> Extension:
        loaded.append(name)
        return load_extension(name)

    monkeypatch.setattr(extensions, "load_extension", load)
    build_app("en", ["mesh", "bounds", "5339"])
    build_app("en", [])
    assert not loaded
    build_app("en", ["--lang", "en", "reproduce", "zcdp"])
    build_app("en")
    assert loaded == ["reproduce", "reproduce"]


@pytest.mark.parametrize("variable", ["COMP_WORDS", "_TYPER_COMPLETE_ARGS"])
def test_a_shell_that_completes_it_gets_it(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_typed("reproduce", [])
    monkeypatch.setenv(variable, "sudare reproduce zc")
    assert is_typed("reproduce", [])


@pytest.mark.usefixtures("own_messages")
def test_messages_stay_in_their_own_place() -> None:
    before = Catalogue("en")("reproduce.help")
    add_messages("reproduce", {"reproduce.help": Words.same("other"), "reproduce.more": Words("more", "続き")})
    assert Catalogue("en")("reproduce.help") == before
    assert Catalogue("en")("reproduce.more") == "more"
    assert Catalogue("ja")("reproduce.more") == "続き"
    with pytest.raises(ValueError, match="begin with its name"):
        add_messages("reproduce", {"label.error": Words.same("other")})
