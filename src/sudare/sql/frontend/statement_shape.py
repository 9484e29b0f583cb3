"""Which clauses a query may have, whatever it asks: everything that is not listed here is refused.

Parsers grow, and what they newly understand must not pass unseen. So the parts of a SELECT, a join, a table and a CTE that
later rules look at are listed, and any other part is refused: by its own name if people are likely to try it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sudare.bilingual import Worded, Words
from sudare.sql.frontend.positions import refuse_at
from sudare.sql.frontend.refusals import refuse

__all__ = ["MAX_TREE_DEPTH", "check_shape"]

MAX_TREE_DEPTH = 120
"""Levels of a tree, so that whatever walks it later does not run out of stack."""

_MAX_TABLES = 64
_MAX_CTES = 64
_MAX_COLUMNS = 1_000


@dataclass(frozen=True)
class _Refusal(Worded):
    """Why a clause is refused, and the words it begins with in the text."""

    reason: str
    words: Words
    begins: tuple[str, ...] = ()


_INTO = _Refusal(
    "select-into",
    Words("INTO would write a table. Leave it out.", "INTO は表に書き込みます。削除してください。"),
    ("INTO",),
)
_LOCK = _Refusal(
    "for-update",
    Words(
        "FOR UPDATE and FOR SHARE would lock rows. Leave it out; nothing is changed here.",
        "FOR UPDATE や FOR SHARE は行をロックします。ここでは何も変更しないので、削除してください。",
    ),
    ("FOR UPDATE", "FOR SHARE", "FOR NO", "FOR KEY"),
)
_SAMPLE = _Refusal(
    "sample",
    Words(
        "Samples are not offered: what they leave out changes from run to run. Ask all rows.",
        "標本抽出は使えません。実行のたびに結果が変わるからです。全ての行に問い合わせてください。",
    ),
    ("TABLESAMPLE", "USING SAMPLE", "SAMPLE"),
)
_LATERAL = _Refusal(
    "lateral",
    Words(
        "LATERAL and APPLY are not offered. Write a join with a condition, or a subquery of its own.",
        "LATERAL や APPLY は使えません。条件付きの結合か、独立した副問い合わせにしてください。",
    ),
    ("LATERAL", "CROSS APPLY", "OUTER APPLY"),
)
_UNNEST = _Refusal(
    "unnest",
    Words(
        "Lists cannot be unfolded into rows. Keep them as a table with one row for each entry, and join it.",
        "配列を行に展開することはできません。一行に一要素の表にして、結合してください。",
    ),
    ("UNNEST", "EXPLODE"),
)
_RECURSIVE = _Refusal(
    "recursive-cte",
    Words(
        "Recursive queries are not offered. Write WITH without RECURSIVE.",
        "再帰的な問い合わせは使えません。RECURSIVE のない WITH にしてください。",
    ),
    ("RECURSIVE", "CONNECT BY", "START WITH"),
)
_QUALIFY = _Refusal(
    "qualify",
    Words(
        "QUALIFY filters by a window, and windows are not offered. Use GROUP BY and HAVING.",
        "QUALIFY は窓関数による絞り込みで、窓関数は使えません。GROUP BY と HAVING を使ってください。",
    ),
    ("QUALIFY",),
)
_WINDOW = _Refusal(
    "window-function",
    Words(
        "Windows (OVER) are not offered. Use GROUP BY; running totals and ranks can be computed from the answer.",
        "窓関数 (OVER) は使えません。GROUP BY を使ってください。累計や順位は答えから計算できます。",
    ),
    ("WINDOW",),
)
_HINT = _Refusal(
    "hint",
    Words(
        "Hints to the database are not passed on. Delete it.",
        "データベースへのヒントは渡されません。削除してください。",
    ),
)
_PARAMETER = _Refusal(
    "parameter",
    Words(
        "There are no parameters. Write the value itself: a number, or a text in single quotes.",
        "パラメータは使えません。値そのもの (数、または一重引用符の文字列) を書いてください。",
    ),
    ("@", "@@", ":", "%", "?", "$"),
)
_PIVOT = _Refusal(
    "pivot",
    Words(
        "PIVOT and UNPIVOT are not offered. Use GROUP BY with one column for each key, and turn the answer round.",
        "PIVOT や UNPIVOT は使えません。GROUP BY で集計し、答えの方を並べ替えてください。",
    ),
    ("PIVOT", "UNPIVOT"),
)
_VALUES = _Refusal(
    "values",
    Words(
        "VALUES is not offered. Use a described public table, or IN with a list.",
        "VALUES は使えません。記述された公開の表か、IN の一覧を使ってください。",
    ),
    ("VALUES",),
)
_TABLE_FUNCTION = _Refusal(
    "table-function",
    Words(
        "Functions that give tables, such as read_csv or generate_series, are not offered. Name a described table.",
        "表を返す関数 (read_csv や generate_series など) は使えません。記述された表の名前を書いてください。",
    ),
)
_FILE_TABLE = _Refusal(
    "file-table",
    Words(
        "A file cannot be asked by its name. Name a described table.",
        "ファイル名に直接問い合わせることはできません。記述された表の名前を書いてください。",
    ),
)
_SCRIPT = _Refusal(
    "script",
    Words("TRANSFORM would run a program. Leave it out.", "TRANSFORM はプログラムを実行します。削除してください。"),
    ("TRANSFORM",),
)
_NESTED_JOIN = _Refusal(
    "nested-join",
    Words(
        "Tables cannot stand in brackets of their own. Write joins one after the other, or a subquery with SELECT.",
        "表を括弧で囲むことはできません。結合を順に並べるか、SELECT を使った副問い合わせにしてください。",
    ),
)
_NATURAL = _Refusal(
    "join-method",
    Words(
        "NATURAL, ASOF and POSITIONAL joins are not offered. Write JOIN ... ON or USING with the columns.",
        "NATURAL、ASOF、POSITIONAL の結合は使えません。JOIN ... ON か USING で列を書いてください。",
    ),
    ("NATURAL", "ASOF", "POSITIONAL"),
)
_TIME_TRAVEL = _Refusal(
    "time-travel",
    Words(
        "Former versions of a table cannot be asked. Ask the table as it is.",
        "過去の版の表には問い合わせられません。現在の表に問い合わせてください。",
    ),
    (
        "VERSION AS",
        "TIMESTAMP AS",
        "FOR VERSION",
        "FOR SYSTEM_VERSION",
        "FOR SYSTEM_TIME",
        "FOR TIMESTAMP",
        "AT (",
        "BEFORE (",
    ),
)
_GROUPING_SETS = _Refusal(
    "grouping-sets",
    Words(
        "ROLLUP, CUBE and GROUPING SETS are not offered. Ask one query for each grouping; totals can be summed from the answer.",
        "ROLLUP、CUBE、GROUPING SETS は使えません。集計の単位ごとに問い合わせるか、答えから合計してください。",
    ),
    ("ROLLUP", "CUBE", "GROUPING SETS", "WITH ROLLUP", "WITH CUBE"),
)
_GROUP_BY_ALL = _Refusal(
    "group-by-all",
    Words(
        "GROUP BY ALL leaves open what the groups are. Name the columns.",
        "GROUP BY ALL では何で分けるか明らかでありません。列の名前を書いてください。",
    ),
    ("GROUP BY",),
)
_DISTINCT_ON = _Refusal(
    "distinct-on",
    Words(
        "DISTINCT ON is not offered. Use GROUP BY with an aggregate for each other column.",
        "DISTINCT ON は使えません。GROUP BY と、他の列の集約関数を使ってください。",
    ),
    ("DISTINCT ON",),
)
_SORT = _Refusal(
    "sort-by",
    Words(
        "SORT BY, CLUSTER BY and DISTRIBUTE BY are not offered. Use ORDER BY.",
        "SORT BY、CLUSTER BY、DISTRIBUTE BY は使えません。ORDER BY を使ってください。",
    ),
    ("SORT BY", "CLUSTER BY", "DISTRIBUTE BY"),
)
_DML = _Refusal(
    "dml",
    Words(
        "A part of the query would change data. Only SELECT may be used.",
        "問い合わせの一部がデータを変更します。使えるのは SELECT だけです。",
    ),
    ("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "COPY"),
)
_NOT_A_SELECT = _Refusal(
    "not-a-select",
    Words("A SELECT is needed here.", "ここには SELECT が必要です。"),
    ("DESCRIBE", "SUMMARIZE", "SHOW", "EXPLAIN", "CALL", "PRAGMA", "SET", "EXECUTE"),
)
_UNSUPPORTED = _Refusal(
    "unsupported-clause",
    Words(
        "A clause stands here that is not offered. Use SELECT, FROM, JOIN, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT.",
        "使えない句があります。SELECT、FROM、JOIN、WHERE、GROUP BY、HAVING、ORDER BY、LIMIT を使ってください。",
    ),
)
_NO_COLUMNS = _Refusal(
    "malformed",
    Words("Nothing is selected. Write columns after SELECT.", "SELECT の後に列がありません。"),
    tuple(f"SELECT {word}" for word in ("", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "UNION", ")")),
)

_CLAUSES: Mapping[str, _Refusal] = {
    "into": _INTO,
    "locks": _LOCK,
    "sample": _SAMPLE,
    "laterals": _LATERAL,
    "connect": _RECURSIVE,
    "qualify": _QUALIFY,
    "windows": _WINDOW,
    "hint": _HINT,
    "hints": _HINT,
    "pivots": _PIVOT,
    "joins": _NESTED_JOIN,
    "method": _NATURAL,
    "system_time": _TIME_TRAVEL,
    "version": _TIME_TRAVEL,
    "when": _TIME_TRAVEL,
    "changes": _TIME_TRAVEL,
    "ordinality": _TABLE_FUNCTION,
    "rows_from": _TABLE_FUNCTION,
    "distribute": _SORT,
    "sort": _SORT,
    "cluster": _SORT,
    "grouping_sets": _GROUPING_SETS,
    "rollup": _GROUPING_SETS,
    "cube": _GROUPING_SETS,
    "totals": _GROUPING_SETS,
    "all": _GROUP_BY_ALL,
    "on_distinct": _DISTINCT_ON,
    "recursive": _RECURSIVE,
    "search": _RECURSIVE,
    "cycle": _RECURSIVE,
}

_MODIFIERS = frozenset({"with_", "order", "limit", "offset"})
_ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: _MODIFIERS | {"expressions", "distinct", "from_", "joins", "where", "group", "having"},
    exp.Union: _MODIFIERS | {"this", "expression", "distinct"},
    exp.Intersect: _MODIFIERS | {"this", "expression", "distinct"},
    exp.Except: _MODIFIERS | {"this", "expression", "distinct"},
    exp.Subquery: frozenset({"this", "alias"}),
    exp.Table: frozenset({"this", "alias", "db", "catalog"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.Join: frozenset({"this", "on", "side", "kind", "using", "method"}),
    exp.From: frozenset({"this"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias", "materialized"}),
    exp.Where: frozenset({"this"}),
    exp.Having: frozenset({"this"}),
    exp.Group: frozenset({"expressions"}),
    exp.Order: frozenset({"expressions", "this"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression", "this"}),
    exp.Fetch: frozenset({"direction", "count", "limit_options"}),
    exp.LimitOptions: frozenset({"rows"}),
    exp.Offset: frozenset({"expression", "this"}),
}

_NODES: Sequence[tuple[tuple[type[exp.Expr], ...], _Refusal]] = (
    ((exp.Command, exp.Describe, exp.Summarize, exp.Show, exp.Pragma, exp.Set, exp.Use), _NOT_A_SELECT),
    (
        (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Copy, exp.TruncateTable),
        _DML,
    ),
    ((exp.Placeholder, exp.Parameter, exp.SessionParameter), _PARAMETER),
    ((exp.Window, exp.WindowSpec), _WINDOW),
    ((exp.Hint, exp.JoinHint, exp.WithTableHint), _HINT),
    ((exp.TableSample,), _SAMPLE),
    ((exp.Lateral,), _LATERAL),
    ((exp.Unnest, exp.Explode, exp.Posexplode, exp.Inline), _UNNEST),
    ((exp.Pivot,), _PIVOT),
    ((exp.Values,), _VALUES),
    ((exp.QueryTransform,), _SCRIPT),
    ((exp.MatchRecognize, exp.TableFromRows), _TABLE_FUNCTION),
    ((exp.Rollup, exp.Cube, exp.GroupingSets), _GROUPING_SETS),
    ((exp.Into,), _INTO),
    ((exp.Lock,), _LOCK),
)
_REFUSED_NODES: Mapping[type[exp.Expr], _Refusal] = {kind: refusal for kinds, refusal in _NODES for kind in kinds}


def check_shape(text: str, tokens: Sequence[Token], tree: exp.Expr) -> None:
    """Refuse clauses that later rules do not look at, and queries with too many parts.

    Args:
        text: of the query.
        tokens: of the text; where clauses without names of their own stand.
        tree: all of the query.

    Raises:
        QueryRefusedError: if there is such a clause, or the query is ``too-deep``, ``too-many-tables`` or ``too-wide``.
    """
    counts: dict[type[exp.Expr], int] = {exp.Table: 0, exp.CTE: 0}
    pending: list[tuple[exp.Expr, int]] = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_TREE_DEPTH:
            refuse(
                node,
                "too-deep",
                f"The query has more than {MAX_TREE_DEPTH} levels. Write fewer brackets inside each other, and IN instead of"
                " many ORs.",
                f"問い合わせの入れ子が {MAX_TREE_DEPTH} 段を超えています。括弧の入れ子を減らし、多くの OR は IN にしてください。",
            )
        _check_node(text, tokens, node)
        if type(node) in counts:
            counts[type(node)] += 1
        pending.extend((child, depth + 1) for child in reversed(list(node.iter_expressions())))
    if counts[exp.Table] > _MAX_TABLES or counts[exp.CTE] > _MAX_CTES:
        refuse(
            None,
            "too-many-tables",
            f"The query has more than {_MAX_TABLES} tables or {_MAX_CTES} parts in WITH. Ask for less at once.",
            f"表が {_MAX_TABLES} 個、または WITH の部分が {_MAX_CTES} 個を超えています。分けて問い合わせてください。",
        )


def _check_node(text: str, tokens: Sequence[Token], node: exp.Expr) -> None:
    kind = type(node)
    if (refusal := _REFUSED_NODES.get(kind)) is not None:
        _refuse_clause(text, tokens, node, refusal)
    if (allowed := _ALLOWED.get(kind)) is not None:
        for name, value in node.args.items():
            if name not in allowed and value not in (None, False, [], ""):
                _refuse_clause(text, tokens, node, _CLAUSES.get(name, _UNSUPPORTED))
    if isinstance(node, exp.Select):
        _check_select(text, tokens, node)
    elif isinstance(node, exp.Table):
        _check_table(text, tokens, node)
    elif isinstance(node, exp.Join | exp.From):
        if node.args.get("method"):
            _refuse_clause(text, tokens, node, _NATURAL)
        if not isinstance(node.this, exp.Table | exp.Subquery) and type(node.this) not in _REFUSED_NODES:
            _refuse_clause(text, tokens, node, _TABLE_FUNCTION)
    elif isinstance(node, exp.Subquery | exp.CTE):
        if isinstance(node.this, exp.Table):
            _refuse_clause(text, tokens, node, _NESTED_JOIN)
        if not isinstance(node.this, exp.Query) and type(node.this) not in _REFUSED_NODES:
            _refuse_clause(text, tokens, node, _NOT_A_SELECT)
    elif isinstance(node, exp.With):
        _check_cte_names(node)


def _check_select(text: str, tokens: Sequence[Token], select: exp.Select) -> None:
    if not select.expressions:
        _refuse_clause(text, tokens, select, _NO_COLUMNS)
    if len(select.expressions) > _MAX_COLUMNS:
        refuse(
            select,
            "too-wide",
            f"More than {_MAX_COLUMNS:,} columns are selected. Ask for less at once.",
            f"選択された列が {_MAX_COLUMNS:,} 個を超えています。分けて問い合わせてください。",
        )
    distinct = select.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None:
        _refuse_clause(text, tokens, select, _DISTINCT_ON)


def _check_table(text: str, tokens: Sequence[Token], table: exp.Table) -> None:
    if not isinstance(table.this, exp.Identifier):
        _refuse_clause(text, tokens, table, _TABLE_FUNCTION if isinstance(table.this, exp.Func) else _UNSUPPORTED)
    start = table.this.meta.get("start")
    if start is not None and text[start] == "'":
        _refuse_clause(text, tokens, table, _FILE_TABLE)


def _check_cte_names(clause: exp.With) -> None:
    seen: set[str] = set()
    for cte in clause.expressions:
        name = cte.alias.lower()
        if name in seen:
            refuse(
                cte.args["alias"],
                "duplicate-cte",
                "Two parts of WITH have this name. Give each its own.",
                "WITH の中で同じ名前が二度使われています。別の名前にしてください。",
            )
        seen.add(name)


def _refuse_clause(text: str, tokens: Sequence[Token], node: exp.Expr, refusal: _Refusal) -> NoReturn:
    """Refuse at the words of a clause if they are in the text, or else at the first name inside."""
    for index, token in enumerate(tokens):
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        word = token.text.upper()
        following = tokens[index + 1].text.upper() if index + 1 < len(tokens) else ""
        if word in refusal.begins or f"{word} {following}" in refusal.begins:
            refuse_at(text, token.start, refusal.reason, refusal.english, refusal.japanese)
    refuse(node, refusal.reason, refusal.english, refusal.japanese)
