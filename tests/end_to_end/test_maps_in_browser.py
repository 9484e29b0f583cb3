"""Maps of the page in a real browser: both painters agree, everything works by keyboard, and nothing breaks the policy."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sudare.web.handover import leading_page
from tests.browser import BROWSERS
from tests.page_walks import serve_folder
from tests.unit.web.maps.areas_release import CODES, NAMES, write_list
from tests.unit.web.maps.areas_release import make_release as make_release_of_areas
from tests.unit.web.maps.small_release import make_release, true_counts

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SOFTWARE = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
SECONDS = 60

PAINT_BOTH = """async () => {
  const load = (name) => import(`/static/map/${name}.js`);
  const [{ Cells }, { View }, { WebglPainter }, { CanvasPainter }, shading] =
    await Promise.all(["cells", "view", "webgl", "canvas", "shading"].map(load));
  const about = JSON.parse(document.getElementById("map").dataset.about);
  const read = async (address, options) => new Cells(await (await fetch(address, options)).arrayBuffer());
  const released = await read("/map/cells?folder=release");
  const truth = await read("/map/truth", { method: "POST", body: new URLSearchParams({ folder: "release", holder: "yes" }) });
  const view = new View(about);
  view.resize(320, 240);
  const [ground, pictures] = ["#fdfeff", {}];
  for (const [zoom, dark] of [[5.5, false], [0.4, true], [27, false]]) {
    view.fit();
    view.zoom = zoom;
    for (const [first, second] of [[0, 1], [2, 3]]) {
      for (const logarithmic of [true, false]) {
        const paint = (mode) => shading.paintOf(mode, mode === 3 ? 50 : released.most(view.level), logarithmic, 12);
        const bytes = [WebglPainter, CanvasPainter].map((Painter) => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 240 });
          const painter = Painter.make(canvas, about);
          painter.setPalette(shading.paletteBytes(about.palettes, about.steps, dark, ground));
          painter.setCells(0, released);
          painter.setCells(1, truth);
          painter.paint({ ...view.frame(1), width: 320, height: 240, split: 150, first: paint(first), second: paint(second) });
          const copy = Object.assign(document.createElement("canvas"), { width: 320, height: 240 }).getContext("2d");
          copy.drawImage(canvas, 0, 0);
          return copy.getImageData(0, 0, 320, 240).data;
        });
        let [painted, apart, far] = [0, 0, 0];
        for (let at = 0; at < bytes[0].length; at += 4) {
          const differences = [0, 1, 2, 3].map((part) => Math.abs(bytes[0][at + part] - bytes[1][at + part]));
          painted += bytes[0][at] < 0xfd;
          apart += Math.max(...differences) > 0;
          far += Math.max(...differences) > 12;
        }
        pictures[`${zoom} ${first} ${logarithmic} ${view.level}`] = { painted, apart, far };
      }
    }
  }
  return pictures;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser found: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=list(SOFTWARE))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    make_release(folder)
    (folder / "areas").mkdir()
    make_release_of_areas(folder / "areas")
    write_list(folder / "areas" / "meshes.csv")
    return folder


@pytest.fixture(scope="module")
def site(browser: Any, town: Path) -> Iterator[tuple[str, Any]]:
    """Where the page is, in a process of its own, and the session that its token was exchanged for."""
    with serve_folder(town) as address:
        context, file = browser.new_context(), town / "opened.html"
        opened = context.new_page()
        # As the browser of this machine is handed the address: from a file, which is another place than the page.
        file.write_text(leading_page(address), encoding="utf-8")
        opened.goto(file.as_uri())
        opened.wait_for_url(f"{address.split('/?')[0]}/")
        opened.wait_for_selector("h1")
        assert opened.locator("header nav").is_visible(), "the session is there at once"
        session = context.storage_state()
        context.close()
        yield address.split("/?")[0], session


DESK, PHONE = (1280, "light", "en", "&painter=webgl"), (390, "dark", "ja", "")
DESK_FIRST = [pytest.param(DESK, id="desk"), pytest.param(PHONE, id="phone", marks=pytest.mark.deep)]
"""Of what depends on neither width nor colours nor language."""


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def page(request: pytest.FixtureRequest, browser: Any, site: tuple[str, Any]) -> Iterator[Page]:
    """A page whose console stays silent; on the phone the painter is the one that it chooses itself."""
    width, scheme, language, painter = request.param
    size = {"width": width, "height": 900}
    address, session = site
    context = browser.new_context(viewport=size, color_scheme=scheme, locale=language, storage_state=session)
    opened, complaints = context.new_page(), []
    opened.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(f"{address}/release?folder=release{painter}")
    opened.wait_for_selector("#map[data-level]")
    # WebGL2 that is rendered in software is slower than a canvas, and painted with where it is asked for.
    assert opened.get_attribute("#map", "data-painter") == ("webgl" if painter else "canvas")
    yield opened
    context.close()
    # Software rendering makes Chromium tell that pictures are read back slowly.
    assert [text for text in complaints if "GPU stall" not in text] == []


def until(page: Page, is_so: str, *values: str) -> None:
    """Wait for something; `wait_for_function` would need a policy that lets texts become script."""
    deadline = time.monotonic() + SECONDS
    while not page.evaluate(is_so, list(values)):
        assert time.monotonic() < deadline, is_so
        page.wait_for_timeout(50)


OVERLAID = "[...document.querySelectorAll('#map-view canvas')].findLast((canvas) => !canvas.hidden).toDataURL()"
CHOSEN = "document.getElementById('map-chosen').textContent"


@pytest.mark.parametrize("page", DESK_FIRST, indirect=True)
def test_both_painters_agree(page: Page) -> None:
    pictures = page.evaluate(PAINT_BOTH)
    assert len(pictures) == 12
    assert len({name.split()[-1] for name in pictures}) > 1, "several sizes of squares"
    for name, found in pictures.items():
        assert found["painted"] > 20, name
        assert found["far"] == 0, (name, found)
        assert found["apart"] <= 0.01 * found["painted"], (name, found)


def test_the_map_by_keyboard(page: Page) -> None:
    page.focus("#map-view")
    for key in ("+", "+", "ArrowUp", "Control+ArrowLeft"):
        page.keyboard.press(key)
    until(page, "() => document.getElementById('map-said').textContent.length > 0")
    assert "95" in page.inner_text("#map-said")
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp"):
        page.keyboard.press(key)
    until(page, f"() => /4.*95/.test({CHOSEN})")
    page.keyboard.press("Escape")
    until(page, f"() => !/\\d/.test({CHOSEN})")


@pytest.mark.parametrize("page", DESK_FIRST, indirect=True)
def test_everybody_is_in_the_whole_area(page: Page, town: Path) -> None:
    from sudare.releases.kinds.counts import read_published_table

    box = page.locator("#map-view").bounding_box()
    assert box is not None
    page.click("#map-whole")
    page.click("#map-select")
    page.locator("#map-view").scroll_into_view_if_needed()
    box = page.locator("#map-view").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 70, box["y"] + box["height"] - 3, steps=4)
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
    page.mouse.up()
    total = f"{read_published_table(town / 'release').total:,}"
    until(page, f"([total]) => {CHOSEN}.includes(total)", total)


def test_true_counts_are_asked_for_and_marked(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert page.is_hidden("#map-mark")
    page.select_option("#map-second", "truth")
    page.wait_for_selector("#map-ask", state="visible")
    assert not [url for url in asked if "truth" in url], "nothing is read before the holder says so"
    page.click("#map-ask button")
    page.wait_for_selector("#map-mark", state="visible")
    assert [url for url in asked if url.endswith("/map/truth")]
    before = page.evaluate(OVERLAID)
    page.select_option("#map-first", "truth")
    page.select_option("#map-second", "")
    page.wait_for_timeout(400)
    after = page.evaluate(OVERLAID)
    assert len(after) > len(before), "the watermark is over the whole map now"
    caption = page.locator("#map-table caption").text_content() or ""
    assert "公表不可" in caption
    largest = f"{int(true_counts().to_dense().sum(axis=0).max()):,}"
    until(page, "([largest]) => document.querySelector('#map-table td').textContent === largest", largest)
    page.select_option("#map-first", "released")
    page.wait_for_selector("#map-mark", state="hidden")


def test_the_swipe_moves_by_keys_and_a_category_is_chosen(page: Page) -> None:
    page.select_option("#map-second", "error")
    page.focus("#map-swipe")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#map-swipe") == "51"
    first = page.locator("#map-table tbody tr").first
    before = first.text_content()
    page.select_option("select[name=slice-0]", "1")
    until(page, "([before]) => document.querySelector('#map-table tbody tr').textContent !== before", before or "")
    page.uncheck("#map-logarithmic")
    page.wait_for_timeout(300)
    assert page.locator("#map-legend-second").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_areas_are_coloured_named_and_chosen(browser: Any, site: tuple[str, Any], town: Path) -> None:
    from sudare.releases.kinds.counts import read_published_table

    address, session = site
    context = browser.new_context(storage_state=session, locale="ja")
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    counts = read_published_table(town / "areas" / "release").to_dense().sum(axis=1)
    named = {f"{name} ({code})": f"{count:,}" for name, code, count in zip(NAMES, CODES, counts.tolist(), strict=True)}
    for painter in ("webgl", "canvas"):
        page.goto(f"{address}/release?folder=areas/release&painter={painter}")
        page.wait_for_selector("#map[data-level]")
        rows = page.locator("#map-table tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        )
        assert {name: count for name, count, _ in rows} == named
        assert all(interval for *_, interval in rows)
        page.focus("#map-view")
        page.keyboard.press("Shift+ArrowUp")
        until(page, f"() => {CHOSEN}.includes('{NAMES[2]}')")
        assert named[f"{NAMES[2]} ({CODES[2]})"] in page.inner_text("#map-chosen")
    context.close()
    assert complaints == []
