"""Whatever the text, the answer is a tree or a refusal, and soon."""

# ruff: noqa: S608 (queries put together from parts are what is tested)

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sudare.errors import QueryRefusedError
from sudare.sql.frontend.options import BOUNDS_PER_GROUP
from sudare.sql.frontend.parsing import DIALECTS, Parsed, parse_query
from tests.unit.sql.refused_statements import REFUSED_STATEMENTS

_WORDS = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET WITH AS UNION ALL EXCEPT INTERSECT JOIN LEFT ON USING CASE WHEN THEN"
    " ELSE END NOT AND OR IN EXISTS BETWEEN LIKE IS NULL DISTINCT OVER PARTITION FILTER CAST EXTRACT INTERVAL DATE DAY YEAR"
    " count sum avg percentile_cont struct array int decimal t u a b x ( ) ( ) ( ) [ ] { } , , , . ; * + - / % = < > <> => :: :"
    " || -> ? $1 @ 1 2.5 1e-6 .5 'x' '' \"q\" ` -- /* */ /*+ {{ }} {% %} # ~ ! ^ & | \\ \n \t INTO FOR UPDATE TABLESAMPLE LATERAL"
    " UNNEST RECURSIVE QUALIFY VALUES PIVOT DIFFERENTIAL_PRIVACY OPTIONS epsilon delta privacy_unit_column"
    " contribution_bounds_per_group DELETE INSERT DROP 表 é \u200b \u202e \x00 ； ’"
)
WORDS = _WORDS.split(" ")

EXAMPLES = 40

soup = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
query_soup = st.lists(st.sampled_from(WORDS), max_size=40).map(lambda words: "SELECT " + " ".join(words) + " FROM t")
brackets = st.lists(
    st.sampled_from(["(", "f(", "int(", "[", "array[", "{", "CASE WHEN ", "(SELECT ", "NOT ", "-", "struct<a "]),
    max_size=40,
)
nested = brackets.map(lambda parts: "SELECT " + "".join(parts) + "1" + ")" * len(parts))
generous = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def _read(text: str, dialect: str) -> Parsed | None:
    began = time.process_time()
    parsed, refused = None, None
    try:
        parsed = parse_query(text, dialect)
    except QueryRefusedError as error:
        refused = error
    assert time.process_time() - began < 3
    if refused is not None:
        assert refused.reason
        assert refused.japanese != refused.english
        assert (refused.line is None) == (refused.column is None)
        if refused.line is not None and refused.column is not None:
            lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            assert 1 <= refused.line <= len(lines)
            assert 1 <= refused.column <= len(lines[refused.line - 1]) + 1
    return parsed


@pytest.mark.parametrize("dialect", DIALECTS)
@given(text=soup | query_soup | nested | st.text(max_size=80))
@generous
def test_any_text_is_read_or_refused(text: str, dialect: str) -> None:
    parsed = _read(text, dialect)
    if parsed is not None:
        assert isinstance(parsed.tree, exp.Select | exp.SetOperation)
        assert not any(isinstance(node, exp.Command | exp.DML | exp.Window | exp.Into) for node in parsed.tree.walk())


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@generous
def test_damaged_statements_are_read_or_refused(data: st.DataObject, dialect: str) -> None:
    text = data.draw(st.sampled_from([text for text, *_ in REFUSED_STATEMENTS if len(text) < 200]))
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    _read(text[:start] + data.draw(st.sampled_from(WORDS)) + text[stop:], dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(value=st.text(st.characters(exclude_categories=["C"]), max_size=20))
@generous
def test_a_text_in_quotes_comes_back_as_it_was(value: str, dialect: str) -> None:
    in_spark = value.replace("\\", "\\\\").replace("'", "\\'")
    quoted = in_spark if dialect == "spark" else value.replace("'", "''")
    parsed = _read(f"SELECT a FROM t WHERE b = '{quoted}'", dialect)
    assert parsed is not None
    literal = parsed.tree.find(exp.Literal)
    assert literal is not None
    assert literal.this == value
    again = _read(parsed.tree.sql(dialect), dialect)
    assert again is not None
    assert again.tree == parsed.tree


@pytest.mark.parametrize("dialect", DIALECTS)
@given(
    comment=st.text(st.characters(exclude_categories=["C"], exclude_characters="*/+#\u2028\u2029"), max_size=20),
    low=st.integers(-1000, 0),
    high=st.decimals(0, 1000, places=3),
)
@generous
def test_comments_change_nothing(comment: str, low: int, high: object, dialect: str) -> None:
    start = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ( epsilon = 1 ) "
    plain = start + "sum( a , contribution_bounds_per_group => ( {} , {} ) ) FROM t"
    plain = plain.format(low, high)
    with_comments = plain.replace(" ", f" /* {comment} */ ")
    left, right = _read(plain, dialect), _read(with_comments, dialect)
    assert left is not None
    assert right is not None
    assert left.options == right.options
    assert left.tree.sql(dialect) == right.tree.sql(dialect)
    assert [node.meta[BOUNDS_PER_GROUP] for node in right.tree.find_all(exp.Sum)] == [(low, high)]
