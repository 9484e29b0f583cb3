"""Saying what is wrong with a part that no rule knows.

The table of rules decides what is allowed; the lists here only choose the sentence.
"""

from __future__ import annotations

import difflib
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.rules import RULES
from sudare.sql.frontend.refusals import name_of, refuse

__all__ = ["refuse_unknown"]

NOT_DETERMINISTIC = frozenset(
    {
        "clock_timestamp",
        "current_date",
        "current_time",
        "current_timestamp",
        "currentdate",
        "currentdatetime",
        "currenttime",
        "currenttimestamp",
        "gen_random_uuid",
        "get_current_time",
        "get_current_timestamp",
        "localtime",
        "localtimestamp",
        "monotonically_increasing_id",
        "now",
        "rand",
        "randn",
        "random",
        "setseed",
        "shuffle",
        "statement_timestamp",
        "timeofday",
        "today",
        "transaction_timestamp",
        "txid_current",
        "uuid",
        "uuidv4",
        "uuidv7",
    }
)
SIDE_EFFECTS = frozenset(
    {
        "current_setting",
        "currval",
        "dblink",
        "error",
        "getenv",
        "getvariable",
        "glob",
        "java_method",
        "lastval",
        "lo_export",
        "lo_import",
        "nextval",
        "parquet_scan",
        "pg_advisory_lock",
        "pg_cancel_backend",
        "pg_ls_dir",
        "pg_read_file",
        "pg_sleep",
        "pg_terminate_backend",
        "query",
        "query_table",
        "query_to_xml",
        "raise_error",
        "read_blob",
        "read_csv",
        "read_csv_auto",
        "read_json",
        "read_json_auto",
        "read_parquet",
        "read_text",
        "reflect",
        "set_config",
        "setval",
        "write_log",
    }
)
CONTAINERS = (
    exp.Array,
    exp.Struct,
    exp.Map,
    exp.Bracket,
    exp.Lambda,
    exp.JSONExtract,
    exp.JSONExtractScalar,
    exp.Dot,
    exp.Tuple,
    exp.List,
    exp.ByteString,
    exp.HexString,
    exp.BitString,
    exp.RawString,
    exp.National,
)
PATTERNS = (exp.RegexpLike, exp.RegexpILike, exp.SimilarTo, exp.Glob)


def refuse_unknown(node: exp.Expr) -> NoReturn:
    """Refuse a part that no rule knows.

    Raises:
        QueryRefusedError: always, with the reason that tells most.
    """
    name = _name(node)
    if isinstance(node, exp.Window | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        refuse(
            node,
            "window-function",
            "Window functions are not offered: they show single rows. Use GROUP BY.",
            "窓関数は一つ一つの行を示すため使えません。GROUP BY を使ってください。",
        )
    if isinstance(node, exp.Query | exp.Exists | exp.Any | exp.All) or type(node) is exp.Subquery:
        refuse(
            node,
            "subquery-here",
            "A subquery cannot stand here. Join it in FROM instead.",
            "副問い合わせはここに書けません。代わりに FROM で結合してください。",
        )
    if name in NOT_DETERMINISTIC:
        refuse(
            node,
            "not-deterministic",
            f"{name_of(node)} is different each time. Write the value out, such as DATE '2024-01-31'.",
            f"{name_of(node)} は毎回異なる値になります。DATE '2024-01-31' のように値をそのまま書いてください。",
        )
    if name in SIDE_EFFECTS:
        refuse(
            node,
            "side-effect",
            f"{name_of(node)} does more than calculate. Only functions of the row's own values are allowed.",
            f"{name_of(node)} は計算以外のことを行います。行の値だけから決まる関数を使ってください。",
        )
    if isinstance(node, exp.AggFunc | exp.Filter):
        refuse(
            node,
            "aggregate-here",
            "An aggregate cannot stand here. Aggregates stand alone in SELECT, HAVING and ORDER BY, not inside each other.",
            "集計関数はここに書けません。SELECT、HAVING、ORDER BY に書き、入れ子にはできません。",
        )
    if isinstance(node, CONTAINERS):
        refuse(
            node,
            "unsupported-type",
            "Arrays, structs, JSON, bytes and lists are not offered. Numbers, text, dates and conditions are.",
            "配列、構造体、JSON、バイト列などは使えません。数、文字列、日付、条件が使えます。",
        )
    if isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
        refuse(
            node,
            "parameter",
            "Parameters are not offered: the query must say everything itself. Write the value out.",
            "パラメータは使えません。値をそのまま書いてください。",
        )
    if isinstance(node, PATTERNS):
        refuse(
            node,
            "regular-expression",
            "Regular expressions are not offered: some take forever on some data. Use LIKE.",
            "正規表現は、データによって終わらなくなることがあるため使えません。LIKE を使ってください。",
        )
    if isinstance(node, exp.Collate | exp.AtTimeZone):
        refuse(
            node,
            "unknown-operator",
            "COLLATE and AT TIME ZONE are not offered.",
            "COLLATE と AT TIME ZONE は使えません。",
        )
    if isinstance(node, exp.Star):
        refuse(
            node,
            "star-here",
            "A star cannot stand here. Name the column.",
            "ここに * は書けません。列の名前を書いてください。",
        )
    if not name:
        refuse(node, "unknown-operator", "This operator is not known here.", "この演算子はここでは使えません。")
    near = difflib.get_close_matches(name, _known_names(), n=1, cutoff=0.6)
    hint, hint_ja = (f" Did you mean {near[0].upper()}?", f"{near[0].upper()} のことですか。") if near else ("", "")
    refuse(
        node,
        "unknown-function",
        f"The function {name_of(node)} is not known here.{hint}",
        f"関数 {name_of(node)} は使えません。{hint_ja}",
    )


def _name(node: exp.Expr) -> str:
    """The name of a function in lower case; empty for what is not a function."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()[:100]
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _known_names() -> list[str]:
    names = [name.lower() for known in RULES if issubclass(known, exp.Func) for name in known.sql_names()]
    return sorted({*names, "date_part", "power", "round", "concat"})
