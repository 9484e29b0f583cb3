"""Lines of a plan in which quotes are missing, and what to write there."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sudare.errors import PlanError
from sudare.sections import Section, parse_toml
from sudare.storage.toml_text import find_unquoted, toml_key


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("[dimensions.市区町村]", '[dimensions."市区町村"]'),
        ("[[表.列]]  # 表", '[["表"."列"]]  # 表'),
        ("性別 = 1", '"性別" = 1'),
        ("  5歳 階級=1", '"5歳 階級"=1'),
        ('columns = { 性別 = "sex", age.年齢 = 3 }', 'columns = { "性別" = "sex", age."年齢" = 3 }'),
        ("title = 人口.総数 # 題", 'title = "人口.総数" # 題'),
        ("title = “人口”", 'title = "人口"'),
        ("labels = [男, 女]", 'labels = ["男", "女"]'),
    ],
)
def test_the_line_to_write(line: str, written: str) -> None:
    found = find_unquoted(f"a = 1\n{line}\n")
    assert found is not None
    assert (found.number, found.line, found.others) == (2, written, ())
    tomllib.loads(written)


def test_a_list_over_several_lines() -> None:
    found = find_unquoted("labels = [男,\n  女,\n他]\n")
    assert found is not None
    assert (found.number, found.line, found.others) == (1, 'labels = ["男",', (2, 3))


def test_each_line_that_needs_quotes_is_named() -> None:
    text = 'a = """\n[区.町]\n"""\n[区]\nx = "町"\n町 = 2\n'
    found = find_unquoted(text)
    assert found is not None
    assert (found.number, found.line, found.others) == (4, '["区"]', (6,))


@pytest.mark.parametrize("text", ["a = ", 'a = "区', "[区", "x == 1", 'a = "区" 1'])
def test_other_mistakes_are_none_of_this(text: str) -> None:
    assert find_unquoted(text) is None


def test_what_a_plan_is_told() -> None:
    with pytest.raises(PlanError) as told:
        parse_toml('title = "a"\n[dimensions.市区町村]\n', "plan.toml")
    assert "line 2: Japanese names" in told.value.english
    assert '[dimensions."市区町村"]' in told.value.english
    assert told.value.japanese == (
        'plan.toml の 2 行目: 日本語などの名前や値は引用符で囲んでください。次のように書きます: [dimensions."市区町村"]'
    )


def test_a_section_is_named_as_it_is_written() -> None:
    top = Section({"columns": {"年齢": {"role": 1}}}, "", "plan.toml", ["columns"])
    with pytest.raises(PlanError, match=r'section \[columns."年齢"\] must be text'):
        top.section("columns", ["年齢"]).section("年齢", ["role"]).text("role")


@example('a\n\t"\\')
@given(st.text())
def test_any_name_can_be_written_as_a_key(name: str) -> None:
    assert tomllib.loads(f"{toml_key(name)} = 1") == {name: 1}


@given(st.text(alphabet="区a.=[]{}\"'#\n 1", max_size=30))
def test_any_text_is_looked_at(text: str) -> None:
    find_unquoted(text)
