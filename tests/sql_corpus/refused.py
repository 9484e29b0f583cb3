"""Queries that are refused, as data: each with its reason. What the parser refuses already is in `refused_statements`."""
# ruff: noqa: E501, S608 (queries stand on one line, and are put together from parts that stand here)

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["REFUSED", "Refused"]

ALL = ("duckdb", "postgres", "spark")
DUCKDB, POSTGRES = ("duckdb",), ("postgres",)


@dataclass(frozen=True)
class Refused:
    """A query that is refused.

    Attributes:
        sql: written the same way in every dialect.
        reason: of the refusal.
        about: why.
        dialects: in which it is refused.
        placed: whether the refusal is about a part of the query, so that it has a line and a column.
        stage: when it is refused: while it is planned, when a budget without delta is divided, or when it is answered.
    """

    sql: str
    reason: str
    about: str
    dialects: tuple[str, ...] = ALL
    placed: bool = True
    stage: Literal["plan", "allocate", "answer"] = "plan"


_ROWS = [
    Refused("SELECT * FROM customers", "rows", "all rows"),
    Refused("SELECT city FROM customers", "rows", "a column of all rows"),
    Refused("SELECT DISTINCT city FROM customers", "rows", "DISTINCT rows"),
    Refused("SELECT city, balance FROM customers WHERE customer_id = 7", "rows", "one row"),
    Refused("SELECT nickname FROM customers LIMIT 1", "rows", "the first row"),
    Refused("WITH a AS (SELECT city FROM customers) SELECT city FROM a", "rows", "rows of a CTE"),
    Refused("SELECT x.amount FROM (SELECT amount FROM orders) AS x", "rows", "rows of a subquery"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders UNION ALL SELECT customer_id AS n FROM orders", "rows", "rows beside a result"
    ),
    Refused("SELECT c.city FROM customers c JOIN orders o ON c.customer_id = o.customer_id", "rows", "rows of a join"),
    Refused("SELECT amount * 2 AS x FROM orders ORDER BY x", "rows", "a calculation on rows"),
    Refused(
        "SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id",
        "groups-are-units",
        "a group for each unit",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders GROUP BY customer_id", "groups-are-units", "the unit grouped by, not shown"
    ),
    Refused(
        "SELECT order_id, SUM(price) AS s FROM items GROUP BY order_id", "groups-are-units", "a group for each link"
    ),
    Refused(
        "SELECT order_id, MAX(amount) AS s FROM orders GROUP BY order_id",
        "groups-are-units",
        "a key that others link to",
    ),
    Refused(
        "SELECT c.customer_id, c.city, COUNT(*) AS n FROM customers c JOIN orders o ON c.customer_id = o.customer_id "
        "GROUP BY c.customer_id, c.city",
        "groups-are-units",
        "the unit beside another key",
    ),
    Refused(
        "SELECT x.u, COUNT(*) AS n FROM (SELECT customer_id AS u FROM orders) AS x GROUP BY x.u",
        "groups-are-units",
        "renamed",
    ),
    Refused(
        "SELECT city, balance, COUNT(*) AS n FROM customers GROUP BY city",
        "not-grouped",
        "a column that is not grouped by",
    ),
    Refused("SELECT city, COUNT(*) AS n FROM customers", "not-grouped", "a column beside an aggregate"),
    Refused("SELECT COUNT(*) AS n FROM customers GROUP BY city ORDER BY balance", "not-grouped", "ORDER BY rows"),
    Refused(
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city HAVING balance > 3", "not-grouped", "HAVING of rows"
    ),
    Refused(
        "SELECT AVG(p.m) AS a FROM (SELECT customer_id, amount AS m FROM orders GROUP BY customer_id) AS p",
        "not-grouped",
        "a column that is not grouped by, inside",
    ),
]

_JOINS = [
    Refused("SELECT COUNT(*) AS n FROM customers, orders", "cross-join", "every pair"),
    Refused("SELECT COUNT(*) AS n FROM customers CROSS JOIN orders", "cross-join", "CROSS JOIN"),
    Refused("SELECT COUNT(*) AS n FROM customers CROSS JOIN shops", "cross-join", "CROSS JOIN with a public table"),
    Refused("SELECT COUNT(*) AS n FROM customers c JOIN orders o ON TRUE", "cross-join", "ON TRUE"),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c JOIN orders o ON c.customer_id < o.customer_id",
        "cross-join",
        "an inequality",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c JOIN orders o ON c.customer_id = o.customer_id OR o.amount > 5",
        "cross-join",
        "OR",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN calendar c ON o.order_date >= c.day",
        "cross-join",
        "an inequality, public",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN calendar c ON EXTRACT(MONTH FROM o.order_date) = c.month_no",
        "cross-join",
        "an equality of an expression",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c LEFT JOIN orders o ON o.amount > 3 WHERE c.customer_id = o.customer_id",
        "cross-join",
        "the equality of a LEFT JOIN only in WHERE",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c JOIN orders o ON c.customer_id = o.shop_id",
        "two-units",
        "not the same unit",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c JOIN orders o ON c.customer_id = o.order_id", "two-units", "unit and key"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders a JOIN orders b ON a.channel = b.channel", "two-units", "no max_frequency"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders a JOIN orders b ON a.order_date = b.order_date", "two-units", "equal dates"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN visits v ON o.shop_id = v.minutes", "two-units", "two private tables"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM referrals r LEFT JOIN coupons k ON r.code = k.code",
        "two-units",
        "a general LEFT JOIN",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM referrals a JOIN referrals b ON a.code = b.code JOIN coupons k ON k.code = b.code",
        "two-units",
        "a general join of three",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c JOIN (SELECT MIN(customer_id) AS m FROM orders GROUP BY shop_id) AS x "
        "ON c.customer_id = x.m",
        "two-units",
        "a unit that others decide about",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN shops s ON o.status = s.region",
        "fan-out",
        "not the public table's key",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN calendar c ON o.shop_id = c.month_no", "fan-out", "any number of days"
    ),
    Refused("SELECT COUNT(*) AS n FROM customers c JOIN tags t ON c.nickname = t.tag", "fan-out", "a part of a key"),
    Refused(
        "SELECT COUNT(*) AS n FROM shops s LEFT JOIN orders o ON s.shop_id = o.shop_id",
        "outer-join",
        "public on the left",
    ),
    Refused(
        "SELECT s.region, COUNT(o.order_id) AS n FROM shops s LEFT JOIN orders o ON s.shop_id = o.shop_id GROUP BY s.region",
        "outer-join",
        "public on the left, grouped",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o RIGHT JOIN customers c ON c.customer_id = o.customer_id",
        "join-kind",
        "RIGHT",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o FULL JOIN customers c ON c.customer_id = o.customer_id", "join-kind", "FULL"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o FULL OUTER JOIN visits v ON v.customer_id = o.customer_id",
        "join-kind",
        "FULL OUTER",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c SEMI JOIN orders o ON c.customer_id = o.customer_id",
        "join-kind",
        "SEMI",
        dialects=DUCKDB,
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c ANTI JOIN orders o ON c.customer_id = o.customer_id",
        "join-kind",
        "ANTI",
        dialects=DUCKDB,
    ),
    Refused("SELECT COUNT(*) AS n FROM customers NATURAL JOIN orders", "join-method", "NATURAL"),
]

_SUBQUERIES = [
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE balance > (SELECT AVG(balance) FROM customers)",
        "private-subquery",
        "scalar",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE balance = (SELECT MAX(balance) FROM customers)",
        "private-subquery",
        "MAX",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE city IN (SELECT channel FROM orders)",
        "private-subquery",
        "IN, not the unit",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE birth_year IN (SELECT minutes FROM visits)",
        "private-subquery",
        "IN numbers",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT shop_id FROM orders)",
        "private-subquery",
        "IN, another column",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT MAX(customer_id) FROM orders)",
        "private-subquery",
        "IN a unit that others decide about",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT MIN(customer_id) FROM orders GROUP BY shop_id)",
        "private-subquery",
        "IN units that others decide about",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE amount > "
        "(SELECT AVG(amount) FROM orders))",
        "private-subquery",
        "a private number inside",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE EXISTS (SELECT 1 FROM orders)", "private-subquery", "EXISTS, any row"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.amount > c.balance)",
        "private-subquery",
        "EXISTS, not on the unit",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS "
        "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id OR o.amount > 4990)",
        "private-subquery",
        "EXISTS with OR",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS "
        "(SELECT 1 FROM orders o WHERE NOT o.customer_id = c.customer_id)",
        "private-subquery",
        "EXISTS with NOT",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM shops s WHERE EXISTS (SELECT 1 FROM orders o WHERE o.shop_id = s.shop_id)",
        "private-subquery",
        "public rows that private ones decide about",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM products WHERE product_id IN (SELECT product_id FROM items)",
        "private-subquery",
        "public rows, IN private ones",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS "
        "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id GROUP BY o.status HAVING COUNT(*) > 3)",
        "private-subquery",
        "EXISTS with groups",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE shop_id = (SELECT shop_id FROM shops LIMIT 1)",
        "order-inside",
        "LIMIT inside",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM items i WHERE price > (SELECT MAX(list_price) FROM products p WHERE p.product_id = i.product_id)",
        "unknown-column",
        "a scalar that depends on the row",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE amount > ALL (SELECT list_price FROM products)",
        "private-subquery",
        "ALL",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE amount > ANY (SELECT list_price FROM products)",
        "private-subquery",
        "ANY",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT customer_id, status FROM orders)",
        "one-column",
        "two columns",
    ),
    Refused(
        "SELECT COUNT(*) FILTER (WHERE customer_id IN (SELECT customer_id FROM orders)) AS n FROM customers",
        "subquery-here",
        "a query inside FILTER",
    ),
    Refused(
        "SELECT SUM(CASE WHEN customer_id IN (SELECT customer_id FROM orders) THEN 1 ELSE 0 END) AS n FROM customers",
        "subquery-here",
        "a query inside an aggregate",
    ),
    Refused(
        "SELECT COUNT(*) AS n, (SELECT COUNT(*) FROM orders) AS k FROM customers",
        "subquery-here",
        "a query as a column",
    ),
    Refused(
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city HAVING COUNT(*) > (SELECT COUNT(*) FROM orders)",
        "subquery-here",
        "a query in HAVING",
    ),
    Refused(
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city ORDER BY (SELECT COUNT(*) FROM orders)",
        "subquery-here",
        "a query in ORDER BY",
    ),
    Refused(
        "WITH r AS (SELECT COUNT(*) AS n FROM customers) SELECT n FROM r WHERE n > (SELECT amount FROM orders LIMIT 1)",
        "subquery-here",
        "rows in a condition on results",
    ),
    Refused(
        "WITH r AS (SELECT COUNT(*) AS n FROM customers) SELECT n FROM r WHERE n IN (SELECT shop_id FROM shops)",
        "subquery-here",
        "public rows in a condition on results",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders GROUP BY (SELECT MAX(amount) FROM orders)",
        "subquery-here",
        "a query as a key",
    ),
]

_SHAPES = [
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT amount FROM orders ORDER BY amount LIMIT 5) AS x",
        "order-inside",
        "LIMIT inside",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT amount FROM orders ORDER BY amount) AS x", "order-inside", "ORDER BY inside"
    ),
    Refused("SELECT COUNT(*) AS n FROM (SELECT amount FROM orders OFFSET 5) AS x", "order-inside", "OFFSET inside"),
    Refused(
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT customer_id FROM orders LIMIT 3)",
        "order-inside",
        "LIMIT in a condition",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS "
        "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id LIMIT 1 OFFSET 9)",
        "order-inside",
        "OFFSET in EXISTS",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT customer_id FROM orders INTERSECT SELECT customer_id FROM visits) AS x",
        "set-operation",
        "INTERSECT inside",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT customer_id FROM orders EXCEPT SELECT customer_id FROM visits) AS x",
        "set-operation",
        "EXCEPT inside",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders EXCEPT SELECT COUNT(*) AS n FROM visits", "set-operation", "EXCEPT of results"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders INTERSECT SELECT COUNT(*) AS n FROM visits", "set-operation", "INTERSECT"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT amount FROM orders UNION ALL SELECT amount, status FROM orders) AS x",
        "union-columns",
        "different numbers of columns",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT amount AS a FROM orders UNION ALL SELECT status AS a FROM orders) AS x",
        "union-columns",
        "different types",
    ),
    Refused("SELECT 1 AS x", "no-table", "no FROM"),
    Refused("SELECT COUNT(*) AS n", "no-table", "an aggregate over nothing"),
    Refused(
        "WITH orders AS (SELECT 1 AS a FROM shops) SELECT COUNT(*) AS n FROM orders",
        "name-of-a-table",
        "a table's name",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN visits o ON o.customer_id = o.customer_id",
        "unclear-names",
        "one alias twice",
        placed=False,
    ),
    Refused("SELECT ROW_NUMBER() OVER (ORDER BY amount) AS r FROM orders", "window-function", "a window"),
    Refused(
        "SELECT SUM(amount) OVER (PARTITION BY status) AS s FROM orders",
        "window-function",
        "a window over an aggregate",
    ),
    Refused("SELECT status, COUNT(*) AS n FROM orders GROUP BY ROLLUP (status)", "grouping-sets", "ROLLUP"),
    Refused(
        "SELECT status, COUNT(*) AS n FROM orders GROUP BY GROUPING SETS ((status), ())",
        "grouping-sets",
        "GROUPING SETS",
    ),
    Refused(
        "SELECT status, COUNT(*) AS n FROM orders GROUP BY ALL",
        "group-by-all",
        "GROUP BY ALL",
        dialects=("duckdb", "spark"),
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders LIMIT (SELECT COUNT(*) FROM visits)",
        "subquery-here",
        "a query in LIMIT",
        dialects=("duckdb", "postgres"),
    ),
]

_NAMES = [
    Refused("SELECT COUNT(*) AS n FROM employees", "unknown-table", "a table that is not described"),
    Refused("SELECT COUNT(*) AS n FROM information_schema.tables", "unknown-table", "the catalogue"),
    Refused("SELECT COUNT(*) AS n FROM pg_catalog.pg_user", "unknown-table", "the catalogue of PostgreSQL"),
    Refused("SELECT COUNT(*) AS n FROM other.orders", "unknown-table", "another schema"),
    Refused("SELECT COUNT(*) AS n FROM order", "unknown-table", "a word of SQL"),
    Refused("SELECT COUNT(*) AS n FROM sudare_left_out_1", "unknown-table", "a list of our own"),
    Refused("SELECT SUM(salary) AS s FROM orders", "unknown-column", "a column that is not described"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE o.amount > 3", "unknown-column", "an alias that is not there"),
    Refused("SELECT COUNT(*) AS n FROM orders o WHERE o.city = 'Nara'", "unknown-column", "a column of another table"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders o JOIN customers c ON o.customer_id = c.customer_id WHERE customer_id = 3",
        "unclear-names",
        "a column of two tables",
    ),
    Refused("SELECT city, COUNT(*) AS n FROM customers GROUP BY town", "unknown-column", "an unknown key"),
    Refused(
        "SELECT SUM(x.price) AS s FROM (SELECT quantity FROM items) AS x",
        "unknown-column",
        "a column that is not handed out",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE FROBNICATE(channel) = 'x'", "unknown-function", "an unknown function"
    ),
    Refused("SELECT SUM(HASH(channel)) AS n FROM orders", "unknown-function", "HASH"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE MD5(channel) = 'x'", "unknown-function", "MD5"),
]

_EXPRESSIONS = [
    Refused("SELECT SUM(customer_id) AS s FROM orders", "no-bounds", "a number without bounds"),
    Refused("SELECT AVG(shop_id) AS s FROM orders", "no-bounds", "a mean without bounds"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE order_id + 1 > 5", "no-bounds", "arithmetic without bounds"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE order_id % 2 = 0", "no-bounds", "a remainder without bounds"),
    Refused("SELECT SUM(LENGTH(nickname)) AS s FROM customers", "no-bounds", "the length of any text"),
    Refused(
        "SELECT SUM(s.k) AS x FROM (SELECT shop_id, COUNT(*) AS k FROM orders GROUP BY shop_id) AS s",
        "no-bounds",
        "a sum of counts over units",
    ),
    Refused(
        "WITH r AS (SELECT status, SUM(amount) AS s FROM orders GROUP BY status) SELECT AVG(s) AS a FROM r",
        "no-bounds",
        "an aggregate of sums over units",
    ),
    Refused("SELECT SUM(status) AS s FROM orders", "not-a-number", "a sum of text"),
    Refused("SELECT SUM(amount > 3) AS s FROM orders", "not-a-number", "a sum of conditions"),
    Refused("SELECT MAX(city) AS m FROM customers", "not-a-number", "the largest text"),
    Refused("SELECT SUM(status + 1) AS s FROM orders", "not-a-number", "text plus a number"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE amount", "not-a-condition", "a number as a condition"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE 'x'", "not-a-condition", "text as a condition"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE amount AND status = 'paid'", "not-a-condition", "a number before AND"
    ),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE status = 1", "mixed-kinds", "text and a number"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE amount = 'x'", "mixed-kinds", "a number and text"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE amount IN (1, 'x')", "mixed-kinds", "a list of both"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE order_date > 3", "mixed-kinds", "a date and a number"),
    Refused("SELECT SUM(CASE WHEN amount > 3 THEN 1 ELSE 'x' END) AS s FROM orders", "mixed-kinds", "a CASE of both"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE status IN (SELECT shop_id FROM shops)", "mixed-kinds", "IN another type"
    ),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE order_date > 'yesterday'", "not-a-date", "not a date"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE EXTRACT(YEAR FROM amount) = 3", "not-a-date", "the year of a number"
    ),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE UPPER(amount) = 'X'", "not-a-text", "capitals of a number"),
    Refused(
        "SELECT SUM(CAST(channel AS INTEGER)) AS s FROM orders",
        "cast-can-fail",
        "a cast that can fail",
        dialects=POSTGRES,
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE CAST(channel AS DATE) > DATE '2024-01-01'",
        "cast-can-fail",
        "a cast to a date",
        dialects=POSTGRES,
    ),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE channel LIKE status", "not-a-constant", "a pattern from the data"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE RANDOM() < 0.5",
        "not-deterministic",
        "chance",
        dialects=("duckdb", "postgres"),
    ),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE RAND() < 0.5", "not-deterministic", "chance", dialects=("spark",)),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE order_date < CURRENT_DATE", "not-deterministic", "today"),
    Refused("SELECT COUNT(*) AS n FROM visits WHERE started < NOW()", "not-deterministic", "now"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE PG_SLEEP(10) IS NULL", "side-effect", "waiting"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE READ_TEXT('x') = 'y'", "side-effect", "reading a file"),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE ERROR(channel) IS NULL", "side-effect", "raising an error with data"
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE REGEXP_LIKE(channel, '(a+)+')",
        "regular-expression",
        "a regular expression",
    ),
    Refused(
        "SELECT COUNT(*) AS n FROM orders WHERE channel COLLATE nocase = 'x'",
        "unknown-operator",
        "COLLATE",
        dialects=DUCKDB,
    ),
    Refused("SELECT SUM([1, 2]) AS s FROM orders", "unsupported-type", "a list", dialects=DUCKDB),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE (amount, status) = (1, 'x')", "unsupported-type", "rows compared"),
    Refused("SELECT SUM(amount / 0) AS s FROM orders", "division-by-zero", "division by 0"),
    Refused(
        "SELECT SUM(amount * amount * amount * amount * amount * amount) AS s FROM orders",
        "too-wide",
        "too many digits",
    ),
    Refused("SELECT SUM(EXP(amount)) AS s FROM orders", "too-wide", "too large"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE amount = NULL", "compared-with-null", "= NULL"),
    Refused("SELECT COUNT(*) AS n FROM orders WHERE COUNT(*) > 3", "aggregate-here", "an aggregate in WHERE"),
    Refused("SELECT SUM(COUNT(*)) AS s FROM orders", "aggregate-here", "an aggregate of an aggregate"),
    Refused(
        "SELECT status, COUNT(*) AS n FROM orders GROUP BY status, COUNT(*)", "aggregate-here", "an aggregate as a key"
    ),
]

_AGGREGATES = [
    *(
        Refused(f"SELECT {call} AS x FROM orders", "aggregate", f"{call} is not offered", dialects=dialects)
        for call, dialects in (
            ("STRING_AGG(channel, ',')", ("duckdb", "postgres")),
            ("ARRAY_AGG(amount)", ALL),
            ("ANY_VALUE(channel)", ALL),
            ("FIRST(channel)", ("duckdb", "spark")),
            ("BOOL_AND(amount > 3)", ALL),
            ("CORR(amount, amount)", ALL),
            ("MODE(status)", ("duckdb", "spark")),
            ("APPROX_COUNT_DISTINCT(customer_id)", ("duckdb", "spark")),
            ("ARG_MAX(channel, amount)", DUCKDB),
            ("SKEWNESS(amount)", ("duckdb", "spark")),
            ("MAX(amount, 3)", DUCKDB),
        )
    ),
    Refused("SELECT SUM(DISTINCT amount) AS s FROM orders", "distinct-sum", "SUM DISTINCT"),
    Refused("SELECT AVG(DISTINCT amount) AS s FROM orders", "distinct-sum", "AVG DISTINCT"),
    Refused(
        "SELECT COUNT(DISTINCT status, channel) AS n FROM orders",
        "distinct-columns",
        "two columns",
        dialects=("duckdb", "spark"),
    ),
    Refused("SELECT VAR_POP(DISTINCT amount) AS s FROM orders", "distinct-sum", "VAR DISTINCT"),
    Refused("SELECT QUANTILE_CONT(amount, 2) AS q FROM orders", "quantile-share", "a share above 1", dialects=DUCKDB),
    Refused(
        "SELECT QUANTILE_CONT(amount, [0.1, 0.9]) AS q FROM orders", "quantile-share", "two shares", dialects=DUCKDB
    ),
    Refused(
        "SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY amount) AS q FROM orders",
        "quantile-share",
        "a share above 1",
    ),
    Refused(
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY status) AS q FROM orders",
        "not-a-number",
        "the median of text",
    ),
    Refused(
        "SELECT AVG(m) AS a FROM (SELECT customer_id, MEDIAN(amount) AS m FROM orders GROUP BY customer_id) AS p",
        "aggregate-inside",
        "a median of each person",
        dialects=("duckdb", "spark"),
    ),
    Refused(
        "SELECT AVG(m) AS a FROM (SELECT customer_id, STDDEV(amount) AS m FROM orders GROUP BY customer_id) AS p",
        "aggregate-inside",
        "a deviation of each person",
    ),
    Refused(
        "SELECT AVG(m) AS a FROM (SELECT customer_id, SUM(DISTINCT amount) AS m FROM orders GROUP BY customer_id) AS p",
        "aggregate-inside",
        "SUM DISTINCT of each person",
    ),
    Refused("SELECT MD5(CAST(COUNT(*) AS VARCHAR)) AS x FROM orders", "post-processing", "a function of results"),
    Refused("SELECT REPEAT('x', COUNT(*)) AS x FROM orders", "post-processing", "text as long as a result"),
    Refused(
        "SELECT READ_TEXT('/etc/passwd') AS x, COUNT(*) AS n FROM orders",
        "post-processing",
        "reading a file with results",
    ),
    Refused("SELECT COUNT(*) AS n FROM clicks", "no-contribution-bounds", "a count without max_rows", placed=False),
    Refused("SELECT SUM(seconds) AS s FROM clicks", "no-contribution-bounds", "a sum without max_rows", placed=False),
    Refused(
        "SELECT button, COUNT(*) AS n FROM clicks GROUP BY button",
        "no-contribution-bounds",
        "groups without max_rows",
        placed=False,
    ),
    Refused("SELECT MAX(seconds) AS m FROM clicks", "no-max-rows", "a maximum without max_rows"),
    Refused("SELECT COUNT(DISTINCT link) AS n FROM clicks", "no-max-rows", "distinct values without max_rows"),
    Refused(
        "SELECT COUNT(*) AS n FROM (SELECT button, COUNT(*) AS k FROM clicks GROUP BY button) AS x",
        "no-max-rows",
        "groups over units without max_rows",
    ),
    Refused(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, privacy_unit_column = city) COUNT(*) AS n FROM customers",
        "privacy-unit",
        "another unit than the metadata's",
        placed=False,
    ),
    Refused(
        "SELECT SUM(r.bonus, contribution_bounds_per_group => (0, 10)) AS s FROM referrals r JOIN coupons k ON r.code = k.code",
        "contribution-bounds",
        "bounds of a unit where rows belong to two",
    ),
]

_KEYS = [
    Refused(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 10, max_groups_contributed = 4) status, COUNT(DISTINCT channel) AS x "
        "FROM orders GROUP BY status",
        "distinct-for-units",
        "distinct values where a unit's groups are limited",
    ),
]

_LATER = [
    Refused(
        "SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel",
        "unknown-keys",
        "unknown keys without delta",
        placed=False,
        stage="allocate",
    ),
    Refused(
        "SELECT nickname FROM customers GROUP BY nickname",
        "unknown-keys",
        "unknown keys alone",
        placed=False,
        stage="allocate",
    ),
    Refused(
        "SELECT UPPER(city) AS c, COUNT(*) AS n FROM customers GROUP BY 1",
        "unknown-keys",
        "a calculated key",
        placed=False,
        stage="allocate",
    ),
    Refused(
        "SELECT c.day, o.shop_id, o.status, i.product_id, COUNT(*) AS n FROM orders o JOIN items i ON o.order_id = i.order_id "
        "JOIN calendar c ON o.order_date = c.day GROUP BY c.day, o.shop_id, o.status, i.product_id",
        "too-many-groups",
        "more than 2**20 public groups",
        placed=False,
        stage="answer",
    ),
]

REFUSED: list[Refused] = [
    *_ROWS,
    *_JOINS,
    *_SUBQUERIES,
    *_SHAPES,
    *_NAMES,
    *_EXPRESSIONS,
    *_AGGREGATES,
    *_KEYS,
    *_LATER,
]
