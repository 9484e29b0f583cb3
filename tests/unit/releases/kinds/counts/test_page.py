"""The page: self-contained, bilingual, loud where it must be, and silent about the truth."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from string import Formatter
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

import sudare
from sudare.domain import Bins, Category, CountTable, Domain, SignedTable
from sudare.domain.sparse_table import SparseTable
from sudare.errors import ParameterError
from sudare.examples import invent_country
from sudare.releases.kinds.counts.page import render_page
from sudare.releases.kinds.counts.page_words import TEXTS, of_mechanism
from sudare.tables import Published
from sudare.tables.registry import mechanism_names
from tests.unit.releases.kinds.counts.sample import document_of

VOID = {"meta", "input", "img", "br", "link", "hr"}
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


class Reader(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def truth() -> CountTable:
    return invent_country(128, people=50_000)


@pytest.fixture(scope="module")
def published(truth: CountTable) -> Published:
    return sudare.publish(truth, sudare.Budget(epsilon=1))


@pytest.fixture(scope="module")
def page(published: Published) -> str:
    return render_page(document_of(published), published.table)


def test_is_one_file_that_loads_nothing(page: str) -> None:
    reader = Reader(page)
    for tag, attributes in reader.tags:
        assert tag not in ("script", "link", "iframe", "object", "embed", "base")
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href", "srcset", "action", "xlink:href"):
                assert value is not None
                assert value.startswith(("data:image/png;base64,", "#"))
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_links_and_labels_have_their_aims(page: str) -> None:
    tags = Reader(page).tags
    names = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(names) == len(set(names))
    for _, attributes in tags:
        for aim in (attributes.get("for"), (attributes.get("href") or "").lstrip("#") or None):
            assert aim is None or aim in names


def test_headings_go_down_one_step_at_a_time_and_pictures_have_words(page: str) -> None:
    tags = Reader(page).tags
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for tag, attributes in tags:
        if tag == "img":
            assert attributes["alt"]
            assert JAPANESE.search(attributes["alt"])
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or attributes.get("aria-label")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_starts_with_the_language_asked_for_and_holds_both(published: Published, language: str) -> None:
    page = render_page(document_of(published), published.table, language=language)
    reader = Reader(page)
    assert reader.tags[0] == ("html", {"lang": language})
    chosen = [a["id"] for tag, a in reader.tags if tag == "input" and "checked" in a]
    assert chosen == [f"show-{language}"]
    assert "The promise" in reader.text
    assert "プライバシーの約束" in reader.text


def test_tells_the_published_numbers(published: Published, page: str) -> None:
    text = Reader(page).text
    assert f"{published.table.total:,}" in text
    assert f"{published.table.keys.size:,}" in text
    assert "ε = 1" in text
    assert "13.6 %" in text
    for error in document_of(published)["accuracy"]["errors"]:
        assert f"{error['rmse']:.1f}" in text or f"{error['rmse']:,.0f}" in text
    assert published.plan is not None
    for level in published.plan.levels:
        assert f"{100 * level.share:.1f} %" in text
    for shown in (
        "table.parquet",
        "3f" * 32,
        "census-2020",
        "9c" * 32,
        "77" * 32,
        "sudare verify FOLDER",
        "2.4.0",
        "ε = 4",
    ):
        assert shown in text
    assert "16 November 2026, 03:00 UTC" in text
    assert "2026年11月16日 03:00（UTC）" in text


def test_says_nothing_of_the_truth(truth: CountTable, published: Published, page: str) -> None:
    assert f"{truth.total:,}" not in page or truth.total == published.table.total
    assert page.count("<img") == 1
    assert "CONFIDENTIAL" not in page
    assert "NOT PRIVATE" not in page
    assert "measured-dot" not in page[page.index("</style>") :]
    # Another truth with the same publication gives the very same page.
    assert render_page(document_of(published), published.table) == page


def test_a_page_with_the_truth_is_marked_confidential(truth: CountTable, published: Published) -> None:
    page = render_page(document_of(published), published.table, truth=truth)
    text = Reader(page).text
    assert "CONFIDENTIAL – contains true data, do not publish / 機密" in text
    assert "機密" in page[: page.index("</title>")]
    assert page.count("<img") == 2
    measured = sudare_error(truth, published.table)
    assert f"{measured:.1f}" in text
    assert "measured-dot" in page[page.index("</style>") :]


def sudare_error(truth: CountTable, table: SparseTable) -> float:
    """Over the cells where people live."""
    return float(np.sqrt(np.mean((truth.to_dense() - table.to_dense())[truth.to_dense() > 0] ** 2.0)))


def test_the_document_alone_can_mark_a_page_confidential(published: Published) -> None:
    assert "CONFIDENTIAL" in render_page(document_of(published, confidential=True), published.table)


def test_research_noise_is_announced_loudly(truth: CountTable) -> None:
    research = sudare.publish(truth, sudare.Budget(epsilon=1), entropy=sudare.ResearchEntropy(1))
    text = Reader(render_page(document_of(research), research.table)).text
    assert "NOT PRIVATE" in text
    assert "プライバシー保護なし" in text
    assert "cryptographic" not in text


def test_exact_quantities_are_announced_loudly(truth: CountTable, published: Published) -> None:
    exact = sudare.publish(truth, sudare.Budget(epsilon=1), public_total=True)
    text = Reader(render_page(document_of(exact), exact.table)).text
    assert "NOT PROTECTED: published exactly, without noise: the total." in text
    assert "そのまま公表しています: 合計" in text
    assert "might be counted anywhere else" in text
    assert "NOT PROTECTED" not in render_page(document_of(published), published.table)


def test_what_others_typed_is_escaped(published: Published) -> None:
    nasty = "<script>alert('x')</script> & \"\" {{ 7 * 7 }} {0}"
    document = document_of(
        published,
        title=nasty,
        publisher=nasty,
        description=nasty,
        reference={"name": nasty, "sha256": nasty},
        files=[{"name": nasty, "bytes": 1, "sha256": nasty}],
        ledger=dict.fromkeys(("location", "dataset", "entry", "hash", "remaining"), nasty),
        versions={nasty: nasty},
        deployment={nasty: {nasty: [nasty]}},
        created=nasty,
    )
    document["event"] = {**document["event"], "mechanism": nasty, "invariants": [nasty]}
    document["plan"] = {**document["plan"], "reasons": [nasty]}
    page = render_page(document, published.table)
    assert "<script" not in page
    assert "7 * 7" in page
    assert Reader(page).text.count("alert('x')") > 15


def test_column_names_are_escaped_too() -> None:
    domain = Domain((Category("<b>sex</b>", ("<i>f</i>", "m")),))
    published = sudare.publish(CountTable.from_dense(np.array([40, 50]), domain), sudare.Budget(epsilon=1), "laplace")
    page = render_page(document_of(published), published.table)
    assert "<b>" not in page
    assert "<i>" not in page
    assert "<i>f</i>" in Reader(page).text


def test_tables_without_a_map_have_bars_for_each_attribute() -> None:
    domain = Domain((Category("sex", ("female", "male")), Bins("age", (0, 1, 15, 65, 120))))
    table = CountTable.from_dense(np.array([[5, 0, 70, 10], [4, 30, 60, 9]]), domain)
    published = sudare.publish(table, sudare.Budget(epsilon=1), "laplace")
    page = render_page(document_of(published, plan=None), published.table)
    text = Reader(page).text
    dense = published.to_dense()
    assert "<img" not in page
    for label, people in (("female", dense[0].sum()), ("male", dense[1].sum()), ("15–64", dense[:, 2].sum())):
        assert f"{label} {people:,} " in text
    assert "discrete Laplace noise" in text
    assert "each age" in text
    assert "sexごと" in text
    assert "There is no prediction" in Reader(render_page(document_of(published, accuracy=None), published.table)).text


def test_many_values_are_grouped_and_nobody_is_lost() -> None:
    table = CountTable.from_dense(np.arange(1000))
    page = render_page(document_of(sudare.publish(table, sudare.Budget(epsilon=1), "laplace")), table)
    rows = re.findall(r'<th scope="row">(\d+ – \d+)</th>.*?<td class="number">([\d,]+)</td>', page)
    assert len(rows) == 24
    assert rows[0] == ("0 – 41", f"{sum(range(42)):,}")
    assert sum(int(people.replace(",", "")) for _, people in rows) == table.total


@pytest.mark.parametrize("shape", [(16, 16), (5,), (2, 3, 4), (1 << 31, 1 << 31), (1 << 40,)])
def test_any_shape_and_nobody_at_all(published: Published, shape: tuple[int, ...]) -> None:
    domain = Domain.of_shape(shape)
    for keys, counts in (([], []), ([domain.cells - 1], [7])):
        table = CountTable.from_cells(domain, np.array(keys, dtype=np.uint64), np.array(counts, dtype=np.int64))
        reader = Reader(render_page(document_of(published), table))
        assert f"Published total 公表した合計 {table.total}" in reader.text


def test_optional_parts_may_be_missing(published: Published) -> None:
    whole = document_of(published)
    for name in whole:
        if name != "event":
            Reader(render_page(document_of(published, **{name: ...}), published.table))
            Reader(render_page(document_of(published, **{name: None}), published.table))
    Reader(render_page({"event": whole["event"]}, published.table))


@pytest.mark.parametrize(
    "budget",
    [sudare.Budget(epsilon=0.1), sudare.Budget(epsilon=1, delta=1e-9), sudare.Budget(rho=0.1)],
)
def test_every_currency_is_named(truth: CountTable, budget: sudare.Budget) -> None:
    published = sudare.publish(truth, budget)
    text = Reader(render_page(document_of(published), published.table)).text
    expected = {"epsilon": "ε = 0.1", "epsilon-delta": "ε = 1, δ = 10⁻⁹", "rho": "ρ = 0.1"}[budget.currency]
    assert expected in text


def test_a_bound_is_never_rounded_down(published: Published) -> None:
    text = Reader(
        render_page(document_of(published, promise={"false_alarm": 0.05, "best_power": 0.13501}), published.table)
    ).text
    assert "13.6 %" in text
    assert "13.5 %" not in text


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"language": "fr"}, "language"),
        ({"language": None}, "language"),
        ({"release": {}}, "release"),
        ({"release": "text"}, "release"),
        ({"table": np.ones(3)}, "table"),
        ({"truth": np.ones(3)}, "truth"),
        ({"truth": CountTable.from_dense(np.ones((2, 2), dtype=np.int64))}, "truth"),
    ],
)
def test_refuses_wrong_arguments(published: Published, changed: dict[str, Any], wrong: str) -> None:
    arguments: dict[str, Any] = {"release": document_of(published), "table": published.table, **changed}
    with pytest.raises(ParameterError, match=f"'{wrong}' parameter of render_page"):
        render_page(arguments.pop("release"), arguments.pop("table"), **arguments)


def test_all_texts_are_in_both_languages_with_the_same_values() -> None:
    for name, words in TEXTS.items():
        english, japanese = (
            {field for _, field, _, _ in Formatter().parse(text) if field} for text in (words.english, words.japanese)
        )
        assert english == japanese, name
        assert JAPANESE.search(words.japanese) or name == "made_with", name
        assert not JAPANESE.search(words.english), name


def test_what_the_planner_says_is_translated(published: Published) -> None:
    plan = published.plan
    assert plan is not None
    said = [*plan.reasons, *(level.words for level in plan.levels), *(other.words for other in plan.alternatives)]
    said += [of_mechanism(name) for name in mechanism_names()]
    for words in said:
        assert JAPANESE.search(words.japanese), words
        assert "**" not in words.english


def test_a_document_without_words_is_shown_in_english(published: Published) -> None:
    """As earlier versions wrote it: sentences alone."""
    release = document_of(published)
    plan = release["plan"]
    old = [{name: value for name, value in each.items() if name != "words"} for each in plan["levels"]]
    others = [{name: value for name, value in each.items() if name != "words"} for each in plan["alternatives"]]
    earlier = {**plan, "levels": old, "alternatives": others}
    del earlier["reasons_in_words"]
    for language in ("en", "ja"):
        page = render_page({**release, "plan": earlier}, published.table, language=language)
        assert str(escape(plan["reasons"][0])) in page
        assert plan["levels"][-1]["name"] in page
        assert plan["alternatives"][0]["settings"] in page
        assert "分割ビット数" not in page


def test_a_page_takes_its_words_from_the_document(published: Published) -> None:
    release = document_of(published)
    release["plan"]["reasons_in_words"][0] = {"en": "because <so>", "ja": "なぜなら"}
    page = render_page(release, published.table)
    assert "because &lt;so&gt;" in page
    assert "なぜなら" in page


def luminance(colour: str) -> float:
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    digits = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_have_enough_contrast_to_be_read(page: str, theme: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", page, flags=re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", blocks[theme]))
    pairs = [(text, ground) for text in ("ink", "quiet", "accent", "true") for ground in ("paper", "ground")]
    pairs += [(text, f"{text}-ground") for text in ("good", "warning", "danger")]
    for text, ground in pairs:
        low, high = sorted((luminance(colours[text]), luminance(colours[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def test_a_signed_table_is_shown_as_such() -> None:
    """Negative margins have bars of their own to the left of 0, in both languages it is said what to do with them."""
    domain = Domain((Category("ward", ("a", "b", "c")),))
    signed = SignedTable.from_dense([-50, 100, 0], domain)
    event = sudare.tables.laplace(np.ones(3, dtype=int), sudare.Budget(epsilon=1)).event
    page = render_page({"title": "Wards", "event": json.loads(event.to_json())}, signed)
    reader = Reader(page)
    bars = [tag for tag in reader.tags if tag[0] == "rect" and tag[1].get("class") in ("fill", "below")]
    drawn = [(one["class"], one["x"], one["width"]) for _, one in bars if "x" in one]
    assert drawn == [("below", "0.00", "33.33"), ("fill", "33.33", "66.67"), ("fill", "33.33", "0.00")]
    text = " ".join(reader.texts)
    assert "Cells below 0" in text
    assert "負のセル" in text
    assert "-50" in text
    counted = render_page(
        {"title": "Wards", "event": json.loads(event.to_json())}, CountTable.from_dense([5, 100, 0], domain)
    )
    assert "Cells below 0" not in counted
    assert "shades-below" not in counted
