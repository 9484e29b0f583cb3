"""The release page in a real browser: nothing sticks out on a phone, both languages are shown, and the picture is not blank."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import sudare
from sudare.domain import Bins, Category, CountTable, Domain
from sudare.examples import invent_country, invent_people
from sudare.releases.kinds.counts.page import render_page
from tests.browser import Browser, open_browser
from tests.unit.releases.kinds.counts.sample import document_of
from tests.unit.releases.kinds.series.crowds import build_crowds

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SECONDS = 60
PHONE, DESK = 390, 1280
LANGUAGES = ("en", "ja")

MEASURE = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" style="border:0;width:{width}px;height:2400px" srcdoc="{page}"></iframe>
<pre id="found"></pre>
<script>
window.addEventListener("load", () => {{
  const inner = document.getElementById("page").contentDocument, root = inner.documentElement;
  const shown = kind => [...inner.querySelectorAll(kind)].filter(e => e.getClientRects().length).length;
  document.getElementById("found").textContent =
    `client=${{root.clientWidth}} scroll=${{root.scrollWidth}} en=${{shown(".en")}} ja=${{shown(".ja")}} ` +
    `maps=${{[...inner.images].filter(i => i.naturalWidth).length}}`;
}});
</script>"""


LOOK = r"""<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" style="border:0;width:{width}px;height:4000px" srcdoc="{page}"></iframe>
<pre id="found"></pre>
<script>
window.addEventListener("load", () => {{
  const inner = document.getElementById("page").contentDocument;
  const kept = /[\d.,]+[\u00a0 ](?:%|m|km|kB|MB|GB)(?![A-Za-z])|[εδρ][\u00a0 ]=[\u00a0 ][\d.,]+|\d[\d.,]*/gu;
  const walker = inner.createTreeWalker(inner.querySelector(".page"), NodeFilter.SHOW_TEXT);
  let numbers = 0, broken = 0;
  for (let node; node = walker.nextNode();) {{
    if (node.parentElement.closest("code, svg") || !node.parentElement.getClientRects().length) continue;
    for (const match of node.data.matchAll(kept)) {{
      const range = inner.createRange();
      range.setStart(node, match.index); range.setEnd(node, match.index + match[0].length);
      numbers += 1; broken += new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1;
    }}
  }}
  const cut = [...inner.querySelectorAll(".digest")].filter(e => {{
    const around = e.closest(".scroll") || inner.documentElement;
    return e.getBoundingClientRect().right > around.getBoundingClientRect().right + 1;
  }}).length;
  const wrong = [...inner.querySelectorAll("#measured .bar")].filter(e => {{
    const [track, fill] = ["track", "fill"].map(name => e.querySelector("." + name).getBoundingClientRect().width);
    return Math.abs(100 * fill / track - parseFloat(e.closest("td").nextElementSibling.textContent)) > 0.2;
  }}).length;
  const bars = inner.querySelectorAll("#measured .bar").length, digests = inner.querySelectorAll(".digest").length;
  document.getElementById("found").textContent =
    `numbers=${{numbers}} broken=${{broken}} digests=${{digests}} cut=${{cut}} bars=${{bars}} wrong=${{wrong}}`;
}});
</script>"""
"""Numbers that a line break tears from their units, hashes that are cut off, and bars that are not as full as they say."""


@pytest.fixture
def browser() -> Browser:
    return open_browser()


@pytest.fixture(scope="module")
def _japanese_font() -> None:
    lister = shutil.which("fc-list")
    if lister is None:
        pytest.skip("fonts cannot be listed: fc-list is not installed")
    fonts = subprocess.run([lister, ":lang=ja", "family"], capture_output=True, timeout=SECONDS, check=False).stdout
    if not fonts.strip():
        pytest.skip("no Japanese font is installed (such as fonts-noto-cjk)")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A map, a confidential page with two maps and all warnings, a table without a map, a day; in both languages."""
    country = invent_country(256, people=200_000)
    secure = sudare.publish(country, sudare.Budget(epsilon=1))
    research = sudare.publish(
        country, sudare.Budget(epsilon=1, delta=1e-9), public_total=True, entropy=sudare.ResearchEntropy(1)
    )
    domain = Domain((Category("sex", ("female", "male")), Bins("age", tuple(range(0, 106, 5)))))
    people = invent_people(invent_country(64, people=5_000))
    flat = sudare.publish(CountTable.from_frame(people, domain), sudare.Budget(epsilon=1), "laplace")
    made = {}
    for language in LANGUAGES:
        made[f"map-{language}"] = render_page(document_of(secure), secure.table, language=language)
        made[f"truth-{language}"] = render_page(
            document_of(research, reference={"name": "census 2015", "sha256": "ab" * 32}),
            research.table,
            language=language,
            truth=country,
        )
        made[f"bars-{language}"] = render_page(document_of(flat), flat.table, language=language)
    crowds = build_crowds(tmp_path_factory.mktemp("crowds"))
    crowds.run(0, 1, 3)
    crowds.close()
    day = (crowds.report / "release.html").read_text(encoding="utf-8")
    made["day-en"] = day
    made["day-ja"] = re.sub(r'(id="show-ja"[^>]*)>', r"\1 checked>", day.replace(" checked>", ">"))
    return made


def shown(browser: Browser, address: str) -> str:
    """What a page has become in a window that is wider than a phone."""
    with browser.page(address, 800, 2600) as page:
        return page.text()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["map", "truth", "bars", "day"])
def test_nothing_sticks_out_on_a_phone(
    browser: Browser, pages: dict[str, str], kind: str, language: str, tmp_path: Path
) -> None:
    page = pages[f"{kind}-{language}"]
    measure = tmp_path / "measure.html"
    measure.write_text(MEASURE.format(width=PHONE, page=html.escape(page, quote=True)), encoding="utf-8")
    found = shown(browser, measure.as_uri())
    numbers = dict(re.findall(r"(client|scroll|en|ja|maps)=(\d+)", found.split('id="found"')[1]))
    assert numbers["client"] == str(PHONE)
    assert numbers["scroll"] == str(PHONE)
    assert int(numbers["maps"]) == {"map": 1, "truth": 2, "bars": 0, "day": 3}[kind]
    other = {"en": "ja", "ja": "en"}[language]
    assert int(numbers[language]) > 30
    assert numbers[other] == "0"


@pytest.mark.usefixtures("_japanese_font")
def test_japanese_is_drawn_with_a_font_of_japan(browser: Browser, pages: dict[str, str], tmp_path: Path) -> None:
    """The same letters have other shapes in fonts of Hong Kong, China, Taiwan and Korea."""
    page = tmp_path / "page.html"
    page.write_text(pages["map-ja"], encoding="utf-8")
    with browser.page(page.as_uri(), DESK, 1600) as opened:
        fonts = opened.fonts("h1, h2, p, dt, dd, th, td, .ja")
    assert sum(fonts.values()) > 500
    assert not [name for name in fonts if name.split()[-1] in ("HK", "SC", "TC", "KR")], fonts


def test_fonts_of_other_countries_would_be_seen(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<meta charset="utf-8"><p style="font-family: Noto Sans CJK HK">直</p>', encoding="utf-8")
    with browser.page(page.as_uri(), DESK, 800) as opened:
        fonts = opened.fonts("p")
    if "Noto Sans CJK HK" not in fonts:
        pytest.skip("no such font is installed")
    assert list(fonts) == ["Noto Sans CJK HK"]


def look_at(browser: Browser, page: str, width: int, folder: Path) -> dict[str, int]:
    measure = folder / "look.html"
    measure.write_text(LOOK.format(width=width, page=html.escape(page, quote=True)), encoding="utf-8")
    with browser.page(measure.as_uri(), 1400, 4200) as opened:
        found = opened.text()
    return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", found.split('id="found"')[1])}


@pytest.mark.usefixtures("_japanese_font")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_numbers_hashes_and_bars(
    browser: Browser, pages: dict[str, str], width: int, language: str, tmp_path: Path
) -> None:
    found = look_at(browser, pages[f"map-{language}"], width, tmp_path)
    assert found["numbers"] > 50
    assert found["broken"] == 0
    assert look_at(browser, pages[f"day-{language}"], width, tmp_path)["broken"] == 0
    assert (found["digests"] > 0, found["cut"]) == (True, 0)
    assert (found["bars"] > 2, found["wrong"]) == (True, 0)


def test_the_look_would_notice(browser: Browser, pages: dict[str, str], tmp_path: Path) -> None:
    spoiled = pages["map-en"].replace("\u00a0", " ").replace("white-space: normal; min-width: 6rem", "")
    spoiled = spoiled.replace("<main>", '<main><p style="width:3.2rem">aaaaaa 12 % aaaaaaa</p>')
    spoiled = re.sub(r'class="fill" width="[0-9.]+"', 'class="fill" width="99"', spoiled)
    found = look_at(browser, spoiled, PHONE, tmp_path)
    assert found["broken"] > 0
    assert found["cut"] > 0
    assert found["wrong"] > 0


def test_the_measurement_would_notice(browser: Browser, pages: dict[str, str], tmp_path: Path) -> None:
    wide = pages["map-en"].replace("<main>", '<main><p style="width:50rem;max-width:none">wide</p>')
    measure = tmp_path / "measure.html"
    measure.write_text(MEASURE.format(width=PHONE, page=html.escape(wide, quote=True)), encoding="utf-8")
    found = shown(browser, measure.as_uri())
    assert int(re.findall(r"scroll=(\d+)", found.split('id="found"')[1])[0]) > PHONE


@pytest.mark.usefixtures("_japanese_font")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_picture_is_not_blank(
    browser: Browser, pages: dict[str, str], width: int, language: str, tmp_path: Path
) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(pages[f"map-{language}"], encoding="utf-8")
    with browser.page(page.as_uri(), width, 2400) as opened:
        opened.picture(picture)
    pixels = imread(picture)[..., :3]
    assert pixels.shape[:2] == (2400, width)
    rounded = (pixels * 15).round().astype(np.int64) @ np.array([256, 16, 1])
    # Text in every part of the page, and the many colours of the map.
    assert all(np.unique(part).size > 5 for part in np.array_split(rounded, 6))
    assert np.unique(rounded).size > 100
