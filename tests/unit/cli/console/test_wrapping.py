"""Lines of Japanese in a terminal begin with no mark that ends something."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sudare.cli.console.wrapping import NEVER_FIRST, NEVER_LAST, divide_japanese, wrap_japanese_properly

SENTENCE = "予算は使われていません。計画「plan.toml」を直し、もう一度（同じ台帳で）実行してください。"


def lines_of(text: str, breaks: list[int]) -> list[str]:
    ends = [*breaks, len(text)]
    return [text[start:end] for start, end in zip([0, *breaks], ends, strict=True)]


@pytest.mark.parametrize("width", range(16, 60))
def test_no_line_begins_with_a_mark_that_ends_something(width: int) -> None:
    lines = lines_of(SENTENCE, divide_japanese(SENTENCE, width))
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    assert not [line for line in lines[1:] if line[0] in NEVER_FIRST]
    assert not [line for line in lines[:-1] if line[-1] in NEVER_LAST]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_what_a_console_prints(width: int) -> None:
    wrap_japanese_properly()
    wrap_japanese_properly()
    shown = StringIO()
    Console(file=shown, width=width).print(Text(SENTENCE))
    lines = shown.getvalue().splitlines()
    assert "".join(lines) == SENTENCE
    assert not [line for line in lines if line[0] in "。、」）"]


def test_without_the_rules_a_line_would_begin_with_a_full_stop() -> None:
    text = "予算は使われていません。"
    assert text[divide_japanese(text, 22)[0]] != "。"
    assert cell_len(text[:-1]) == 22, "rich would break just before the full stop"


@given(st.text(alphabet="あ漢。、「」（）ab -.", max_size=60), st.integers(2, 30))
def test_nothing_is_lost_and_every_line_fits(text: str, width: int) -> None:
    breaks = divide_japanese(text, width)
    assert breaks == sorted(set(breaks))
    assert "".join(lines_of(text, breaks)) == text
    assert all(cell_len(line.rstrip(" ")) <= width for line in lines_of(text, breaks))
