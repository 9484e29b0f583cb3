"""Queries that are read, and statements that are refused with their reason and place."""

# ruff: noqa: S608 (queries put together from parts are what is tested)

from __future__ import annotations

import contextlib
import logging
import time
import unicodedata

import pytest
from sqlglot import exp

from sudare.errors import ParameterError, QueryRefusedError
from sudare.sql.frontend import parsing
from sudare.sql.frontend.parsing import DIALECTS, Parsed, parse_query
from sudare.sql.frontend.refusals import place_of
from sudare.sql.frontend.text_checks import MAX_TEXT_LENGTH
from tests.unit.sql.refused_statements import REFUSED_STATEMENTS

ACCEPTED = [
    "SELECT count(*) FROM t",
    "select count(*) from t;",
    "  SELECT 1 FROM t ; ; -- the end\n",
    "(SELECT a FROM t)",
    "((SELECT a FROM t))",
    "SELECT a FROM t UNION ALL SELECT a FROM u",
    "(SELECT a FROM t) EXCEPT (SELECT a FROM u) ORDER BY a LIMIT 3",
    "WITH x AS (SELECT a FROM t), y AS (SELECT a FROM x) SELECT count(*) FROM y",
    "SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) > 3 ORDER BY n DESC LIMIT 5 OFFSET 2",
    "SELECT count(*) FROM t JOIN u ON t.a = u.a LEFT JOIN v USING (b) CROSS JOIN w",
    "SELECT count(*) FROM s.t AS x, (SELECT a FROM u) AS y WHERE x.a = y.a",
    "SELECT sum(CASE WHEN a > 1 THEN b ELSE 0 END) FILTER (WHERE c = 'x') FROM t",
    "SELECT count(DISTINCT a), median(b) FROM t WHERE d BETWEEN 1 AND 2 AND e IN (1, 2) AND f LIKE 'a%'",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t",
    "SELECT count(*) FROM t WHERE a IN (SELECT a FROM u) AND EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "SELECT count(*) FROM t WHERE d < DATE '2026-01-01' - INTERVAL '1' DAY",
    "SELECT extract(YEAR FROM d), count(*) FROM t GROUP BY 1",
    "SELECT DISTINCT a FROM t",
    "SELECT a % 2, CASE WHEN a THEN 1 END % 2, year % 2, (a) % 2, f(a) % 2 FROM t",
    "SELECT count(*) -- it's \"quoted\n FROM t /* don't /* nest */ ; DROP */ WHERE a = '--'",
    "SELECT 都道府県, count(*) FROM 国勢調査 GROUP BY 都道府県",
    "SELECT count(*) FROM t WHERE a = '全角；（）“”\u3000\u200d'",
    "SELECT count(*) /* 注釈；\u3000（全角） */ FROM t",
    "SELECT größe, naïve_1 FROM t",
]


def _refusal(text: str, dialect: str) -> QueryRefusedError:
    with pytest.raises(QueryRefusedError) as caught:
        parse_query(text, dialect)
    return caught.value


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", ACCEPTED)
def test_queries_are_read(text: str, dialect: str) -> None:
    parsed = parse_query(text, dialect)
    assert isinstance(parsed.tree, exp.Select | exp.SetOperation)
    assert (parsed.text, parsed.dialect, parsed.options.is_private) == (text, dialect, False)
    assert parsed.tree.parent is None
    assert not any(node.comments for node in parsed.tree.walk())
    again = parse_query(parsed.tree.sql(dialect), dialect)
    assert again.tree.sql(dialect) == parsed.tree.sql(dialect)


def test_the_corpus_is_large_and_names_each_reason_well() -> None:
    assert len(REFUSED_STATEMENTS) >= 200
    assert all(reason == reason.lower() and " " not in reason for _, _, reason, _, _ in REFUSED_STATEMENTS)
    assert len({text for text, _, _, _, _ in REFUSED_STATEMENTS}) == len(REFUSED_STATEMENTS)


@pytest.mark.parametrize(
    ("text", "dialects", "reason", "line", "column"), REFUSED_STATEMENTS, ids=range(len(REFUSED_STATEMENTS))
)
def test_statements_are_refused(
    text: str, dialects: tuple[str, ...], reason: str, line: int | None, column: int | None
) -> None:
    for dialect in dialects:
        error = _refusal(text, dialect)
        assert (error.reason, error.line, error.column) == (reason, line, column), dialect
        assert error.japanese != error.english
        assert any(unicodedata.name(letter, "").startswith(("CJK", "HIRAGANA")) for letter in error.japanese)
        assert "\x1b" not in error.english + error.japanese
        assert error.english.endswith((".", ")")), error.english


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "secret", ["a" * 300, "SELECT '" + "s3cret" * 60, "SELECT a b " + "x" * 200, "SELEC" + "T" * 90]
)
def test_little_of_the_query_is_echoed(secret: str, dialect: str) -> None:
    error = _refusal(secret, dialect)
    for size in range(61, len(secret)):
        assert secret[:size] not in str(error)
        assert secret[-size:] not in str(error)


def test_from_first_is_duckdb_alone() -> None:
    assert parse_query("FROM t SELECT count(*)", "duckdb").tree.sql() == "SELECT COUNT(*) FROM t"
    assert parse_query("FROM t", "duckdb").tree.sql() == "SELECT * FROM t"
    assert _refusal("FROM t SELECT count(*)", "spark").reason == "not-a-select"


def test_a_remainder_is_no_parameter() -> None:
    parse_query('SELECT "by" % 2, a[:2] FROM t', "duckdb")


def test_names_in_quotes_may_have_any_visible_letter() -> None:
    tree = parse_query('SELECT "売上（円）", "a b", "ｶﾅ" FROM "人口　総数"', "postgres").tree
    assert [node.name for node in tree.find_all(exp.Column)] == ["売上（円）", "a b", "ｶﾅ"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_literals_and_names_cannot_break_out(dialect: str) -> None:
    quote = "`" if dialect == "spark" else '"'
    name = f"{quote}a; DROP TABLE t --{quote}"
    escaped = "\\'" if dialect == "spark" else "''"
    text = f"SELECT {name} FROM t WHERE b = 'x{escaped}; DROP TABLE t; --'"
    tree = parse_query(text, dialect).tree
    again = parse_query(tree.sql(dialect), dialect).tree
    assert again == tree
    assert [node.this for node in again.find_all(exp.Literal)] == ["x'; DROP TABLE t; --"]


def test_limits_hold_just_so() -> None:
    parse_query("SELECT " + "(" * 24 + "1" + ")" * 24 + " FROM t", "duckdb")
    parse_query("SELECT a FROM t WHERE a IN (" + ", ".join(["1"] * 4_000) + ")", "duckdb")
    parse_query("SELECT a" + " + 1" * 110 + " FROM t", "duckdb")
    parse_query("SELECT a FROM t --" + " " * (MAX_TEXT_LENGTH - len("SELECT a FROM t --")), "duckdb")
    assert _refusal("x" * (MAX_TEXT_LENGTH + 1), "duckdb").reason == "too-long"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 24 + "a" + ")" * 24 + " FROM t",
        "SELECT " + "coalesce(" * 24 + "a" + ", 1)" * 24 + " FROM t",
        "SELECT " + "CASE WHEN a THEN " * 24 + "1" + " END" * 24 + " FROM t",
        "SELECT a FROM t WHERE " + " OR ".join(["a = 1"] * 110),
        "SELECT a" + " + 1" * 110 + " FROM t",
        "SELECT 1 FROM " + "(SELECT a FROM " * 24 + "t" + ") AS x" * 24,
        " UNION ALL ".join(["SELECT a FROM t"] * 60),
    ],
)
def test_what_is_accepted_can_be_written_and_copied(text: str, dialect: str) -> None:
    tree = parse_query(text, dialect).tree
    assert parse_query(tree.copy().sql(dialect), dialect).tree.sql(dialect) == tree.sql(dialect)


OF_HOSTILE_QUERIES = {
    *(
        "too-deep",
        "too-long",
        "too-complex",
        "malformed",
        "not-a-select",
        "too-many-tables",
        "nested-join",
        "no-condition",
    )
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 30_000,
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT " + "CASE " * 6_000,
        "SELECT " + "NOT " * 15_000 + "a",
        "SELECT " + "- " * 15_000 + "a",
        "SELECT a" + "[1]" * 6_000,
        "SELECT " + "int(" * 23 + "1" + ")" * 23,
        "SELECT " + "array[" * 23 + "1" + "]" * 23,
        "SELECT " + "struct(int(" * 11 + "1" + "))" * 11,
        "SELECT CAST(a AS " + "ARRAY<" * 5_000 + "INT" + ">" * 5_000 + ") FROM t",
        "SELECT 1 FROM t" + " JOIN t" * 3_000 + " ON a = b" * 3_000,
        "SELECT 1 FROM t" + " JOIN t" * 300,
        "/*" * 30_000,
        "'" * 30_001,
        "\n" * 50_000 + "x",
    ],
    ids=range(15),
)
def test_hostile_queries_end_soon(text: str, dialect: str) -> None:
    began = time.process_time()
    error = _refusal(text, dialect)
    assert time.process_time() - began < 3
    assert error.reason in OF_HOSTILE_QUERIES


def test_lines_and_columns_hold_for_every_kind_of_line_break() -> None:
    for end in ("\n", "\r\n", "\r"):
        error = _refusal(f"SELECT a,{end}{end}  sum(b) OVER (){end}FROM t", "duckdb")
        assert (error.line, error.column) == (3, 3)
        error = _refusal(f"SELECT a{end}FROM t{end} FOR UPDATE", "duckdb")
        assert (error.line, error.column) == (3, 2)


def test_places_of_nodes_are_those_of_the_text() -> None:
    tree = parse_query("SELECT a,\n  count(*) AS n\nFROM t", "spark").tree
    count = tree.find(exp.Count)
    assert count is not None
    assert place_of(count) == (2, 3)


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in (
            "WITH x AS (EXPLAIN SELECT 1) SELECT 1 FROM x",
            "EXPLAIN SELECT 1",
            "(SHOW TABLES)",
            "SELECT a FROM t",
        ):
            for dialect in DIALECTS:
                with contextlib.suppress(QueryRefusedError):
                    parse_query(text, dialect)
    assert not caplog.records
    logging.getLogger("sqlglot").warning("said elsewhere")
    assert [record.message for record in caplog.records] == ["said elsewhere"]


def test_wrong_arguments() -> None:
    with pytest.raises(ParameterError, match="dialect"):
        parse_query("SELECT 1", "oracle")
    with pytest.raises(ParameterError, match="text"):
        parse_query(b"SELECT 1", "duckdb")  # type: ignore[arg-type]


def test_parsed_is_a_value() -> None:
    parsed = parse_query("SELECT a FROM t", "duckdb")
    assert parsed == Parsed(parsed.text, parsed.tree.copy(), parsed.options, "duckdb")


class TestCompiledParser:
    """A compiled sqlglot has a parser that cannot be stopped: what would take it long is refused before."""

    @pytest.fixture(autouse=True)
    def compiled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "_bounded_parser", lambda _: None)

    @pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
    def test_queries_are_read(self, dialect: str) -> None:
        text = "SELECT CAST(a AS DECIMAL(10, 2)) AS x, COUNT(*) AS n FROM t WHERE (a + 1) * 2 < 7 GROUP BY 1"
        assert parse_query(text, dialect).tree.named_selects == ["x", "n"]

    @pytest.mark.parametrize("word", ["struct", "decimal", "map"])
    def test_types_inside_each_other_are_refused_at_once(self, word: str) -> None:
        text = f"SELECT {f'{word}(' * 20}a{')' * 20} FROM t"
        with pytest.raises(QueryRefusedError) as refused:
            parse_query(text, "duckdb")
        assert refused.value.reason in ("too-complex", "too-deep")
