"""Queries that are answered, as data: in DuckDB's spelling, with what each of them exercises.

Where an answer is defined otherwise than the database defines it, ``plain`` is the query whose result it must equal:

- Quantiles, the minimum and the maximum are the value of nearest rank, so they are compared with PERCENTILE_DISC. Where the
  grid is coarser than the column (more than 2**20 points), they may differ by ``tolerance``, which is the step of the grid.
- Queries in BigQuery's spelling are compared with the same query without the clause, with bounds that do not bind.
"""
# ruff: noqa: E501, S608 (queries stand on one line, and are put together from parts that stand here)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["ACCEPTED", "Accepted"]

ALL = ("duckdb", "postgres", "spark")


@dataclass(frozen=True)
class Accepted:
    """A query that is answered.

    Attributes:
        name: of the entry.
        sql: in DuckDB's spelling.
        about: what it exercises.
        keys: how many of the first columns tell rows apart.
        delta: whether its groups are not public, so that the budget needs a delta.
        plain: the query whose result it equals; None: itself.
        tolerance: how far a number may be off, for quantiles on a coarse grid.
        dialects: in which it is asked.
        ordered: whether the order of the rows is the same too.
        public: whether no private table is behind it.
        free: whether nothing is measured, so that it costs nothing.
        verbatim: whether it is written the same way in every dialect.
        by_row: whether it is asked where each row is a unit of its own.
    """

    name: str
    sql: str
    about: str
    keys: int = 0
    delta: bool = False
    plain: str | None = None
    tolerance: float = 0.0
    dialects: tuple[str, ...] = ALL
    ordered: bool = False
    public: bool = False
    free: bool = False
    verbatim: bool = False
    by_row: bool = False


def _aggregates() -> Iterator[Accepted]:
    """Every aggregate, over one table."""
    yield Accepted("count-star", "SELECT COUNT(*) AS n FROM customers", "COUNT(*)")
    yield Accepted("count-column", "SELECT COUNT(nickname) AS n FROM customers", "COUNT of a column with NULLs")
    yield Accepted("count-not-null", "SELECT COUNT(city) AS n FROM customers", "COUNT of a column without NULLs")
    yield Accepted("count-constant", "SELECT COUNT(1) AS n FROM orders", "COUNT of a constant")
    yield Accepted("count-minutes", "SELECT COUNT(minutes) AS n, COUNT(*) AS m FROM visits", "two counts")
    yield Accepted("count-distinct-unit", "SELECT COUNT(DISTINCT customer_id) AS n FROM orders", "distinct units")
    yield Accepted("count-distinct-link", "SELECT COUNT(DISTINCT order_id) AS n FROM items", "distinct keys of a link")
    yield Accepted("count-distinct-text", "SELECT COUNT(DISTINCT channel) AS n FROM orders", "distinct text")
    yield Accepted("count-distinct-date", "SELECT COUNT(DISTINCT order_date) AS n FROM orders", "distinct dates")
    yield Accepted("count-distinct-number", "SELECT COUNT(DISTINCT quantity) AS n FROM items", "distinct numbers")
    yield Accepted("count-distinct-nullable", "SELECT COUNT(DISTINCT discount) AS n FROM items", "NULL is not a value")
    yield Accepted(
        "count-distinct-expression", "SELECT COUNT(DISTINCT UPPER(channel)) AS n FROM orders", "distinct expressions"
    )
    yield Accepted("sum-decimal", "SELECT SUM(amount) AS s FROM orders", "SUM of decimals")
    yield Accepted("sum-integer", "SELECT SUM(quantity) AS s FROM items", "SUM of integers")
    yield Accepted("sum-negative", "SELECT SUM(balance) AS s FROM customers", "SUM with bounds around 0")
    yield Accepted("sum-nullable", "SELECT SUM(discount) AS s FROM items", "SUM passes over NULL")
    yield Accepted("sum-float", "SELECT SUM(weight) AS s FROM items", "SUM of floats on a grid")
    yield Accepted("sum-float-milli", "SELECT SUM(height) AS s FROM surveys", "SUM of floats, step 0.001")
    yield Accepted("sum-one", "SELECT SUM(1) AS s FROM orders", "SUM of a constant")
    yield Accepted("avg-decimal", "SELECT AVG(amount) AS a FROM orders", "AVG of decimals")
    yield Accepted("avg-integer", "SELECT AVG(birth_year) AS a FROM customers", "AVG of integers")
    yield Accepted("avg-nullable", "SELECT AVG(minutes) AS a FROM visits", "AVG passes over NULL")
    yield Accepted("avg-float", "SELECT AVG(weight) AS a FROM items", "AVG of floats")
    yield Accepted("avg-and-sum", "SELECT AVG(amount) AS a, SUM(amount) AS s, COUNT(*) AS n FROM orders", "shared sums")
    for name in ("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV"):
        low = name.lower().replace("_", "-")
        yield Accepted(f"{low}-decimal", f"SELECT {name}(amount) AS v FROM orders", f"{name} of decimals")
        yield Accepted(f"{low}-integer", f"SELECT {name}(quantity) AS v FROM items", f"{name} of integers")
    yield Accepted("var-nullable", "SELECT VAR_POP(minutes) AS v FROM visits", "variance passes over NULL")
    yield Accepted("var-float", "SELECT VAR_SAMP(weight) AS v FROM items", "variance of floats")
    yield Accepted("stddev-nullable", "SELECT STDDEV_SAMP(discount) AS v FROM items", "deviation passes over NULL")
    for name in ("COVAR_POP", "COVAR_SAMP"):
        low = name.lower().replace("_", "-")
        yield Accepted(f"{low}", f"SELECT {name}(quantity, price) AS c FROM items", f"{name} of two columns")
        yield Accepted(f"{low}-nullable", f"SELECT {name}(price, discount) AS c FROM items", f"{name} with NULLs")
    yield Accepted("covar-floats", "SELECT COVAR_POP(weight, quantity) AS c FROM items", "covariance with a float")
    everything = "COUNT(*) AS n, SUM(price) AS s, AVG(price) AS a, VAR_POP(price) AS v, STDDEV_SAMP(price) AS d"
    yield Accepted("all-at-once", f"SELECT {everything} FROM items", "five aggregates in one query")
    yield Accepted("same-twice", "SELECT COUNT(*) AS a, COUNT(*) AS b, COUNT(*) + 1 AS c FROM orders", "one measure")
    yield Accepted(
        "count-if", "SELECT COUNT_IF(amount > 1000) AS n FROM orders", "COUNT_IF", dialects=("duckdb", "spark")
    )


def _quantiles() -> Iterator[Accepted]:
    """Minimum, maximum, median and quantiles: nearest rank."""

    def disc(share: str, column: str, table: str, rest: str = "") -> str:
        return f"SELECT PERCENTILE_DISC({share}) WITHIN GROUP (ORDER BY {column}) AS q FROM {table}{rest}"

    yield Accepted("min-integer", "SELECT MIN(quantity) AS q FROM items", "MIN")
    yield Accepted("max-integer", "SELECT MAX(quantity) AS q FROM items", "MAX")
    yield Accepted("min-decimal", "SELECT MIN(price) AS q FROM items", "MIN of decimals")
    yield Accepted("max-decimal", "SELECT MAX(price) AS q FROM items", "MAX of decimals")
    yield Accepted("max-coarse", "SELECT MAX(balance) AS q FROM customers", "MAX on a coarser grid", tolerance=0.1)
    yield Accepted("min-negative", "SELECT MIN(balance) AS q FROM customers", "MIN below 0", tolerance=0.1)
    yield Accepted("min-nullable", "SELECT MIN(discount) AS q FROM items", "MIN passes over NULL")
    yield Accepted("max-float", "SELECT MAX(weight) AS q FROM items", "MAX of floats")
    yield Accepted(
        "median-integer", "SELECT MEDIAN(quantity) AS q FROM items", "MEDIAN", plain=disc("0.5", "quantity", "items")
    )
    yield Accepted(
        "median-decimal",
        "SELECT MEDIAN(amount) AS q FROM orders",
        "MEDIAN of decimals",
        plain=disc("0.5", "amount", "orders"),
    )
    yield Accepted(
        "median-float",
        "SELECT MEDIAN(weight) AS q FROM items",
        "MEDIAN of floats",
        plain=disc("0.5", "weight", "items"),
        tolerance=1e-9,
    )
    yield Accepted(
        "median-nullable",
        "SELECT MEDIAN(minutes) AS q FROM visits",
        "MEDIAN passes over NULL",
        plain=disc("0.5", "minutes", "visits"),
    )
    for share in ("0", "0.1", "0.25", "0.75", "0.9", "0.999", "1"):
        yield Accepted(
            f"percentile-disc-{share}", disc(share, "price", "items"), f"PERCENTILE_DISC({share}) of decimals"
        )
    yield Accepted(
        "percentile-cont",
        "SELECT PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY amount) AS q FROM orders",
        "PERCENTILE_CONT is of nearest rank too",
        plain=disc("0.3", "amount", "orders"),
    )
    yield Accepted(
        "percentile-descending",
        "SELECT PERCENTILE_DISC(0.2) WITHIN GROUP (ORDER BY quantity DESC) AS q FROM items",
        "the order turned round",
        plain=disc("0.8", "quantity", "items"),
    )
    yield Accepted(
        "quantile-cont",
        "SELECT QUANTILE_CONT(birth_year, 0.4) AS q FROM customers",
        "DuckDB's spelling",
        plain=disc("0.4", "birth_year", "customers"),
        dialects=("duckdb",),
    )
    yield Accepted(
        "quantile-disc",
        "SELECT QUANTILE_DISC(birth_year, 0.4) AS q FROM customers",
        "DuckDB's spelling",
        plain=disc("0.4", "birth_year", "customers"),
        dialects=("duckdb",),
    )
    yield Accepted(
        "median-grouped",
        "SELECT city, MEDIAN(birth_year) AS q FROM customers GROUP BY city",
        "medians of groups",
        keys=1,
        plain="SELECT city, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY birth_year) AS q FROM customers GROUP BY city",
    )
    yield Accepted(
        "min-max-grouped",
        "SELECT status, MIN(amount) AS a, MAX(amount) AS b, COUNT(*) AS n FROM orders GROUP BY status",
        "MIN and MAX beside COUNT",
        keys=1,
    )
    yield Accepted(
        "median-unknown",
        "SELECT channel, COUNT(*) AS n, MAX(amount) AS q FROM orders GROUP BY channel",
        "quantiles of unknown groups",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "median-expression",
        "SELECT MEDIAN(quantity * 2) AS q FROM items",
        "quantile of an expression",
        plain="SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY quantity * 2) AS q FROM items",
    )
    yield Accepted(
        "median-filter",
        "SELECT MAX(price) FILTER (WHERE quantity > 5) AS q FROM items",
        "quantile with FILTER",
    )
    yield Accepted(
        "median-joined",
        "SELECT p.category, MEDIAN(i.price) AS q FROM items i JOIN products p ON i.product_id = p.product_id GROUP BY 1",
        "quantile over a join",
        keys=1,
        plain="SELECT p.category, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY i.price) AS q FROM items i "
        "JOIN products p ON i.product_id = p.product_id GROUP BY 1",
    )
    yield Accepted(
        "quantile-of-nothing",
        "SELECT MEDIAN(price) AS q FROM items WHERE quantity > 15",
        "no rows: NULL",
        plain=disc("0.5", "price", "items", " WHERE quantity > 15"),
    )


def _expressions() -> Iterator[Accepted]:
    """Expressions inside aggregates, and FILTER."""
    for name, value, table in (
        ("product", "quantity * price", "items"),
        ("discounted", "price * (1 - COALESCE(discount, 0))", "items"),
        ("difference", "balance - 100", "customers"),
        ("age", "2024 - birth_year", "customers"),
        ("absolute", "ABS(balance)", "customers"),
        ("sign", "SIGN(balance)", "customers"),
        ("rounded", "ROUND(price, 1)", "items"),
        ("floor", "FLOOR(price)", "items"),
        ("ceiling", "CEIL(price)", "items"),
        ("remainder", "quantity % 3", "items"),
        ("case", "CASE WHEN quantity > 5 THEN price ELSE 0 END", "items"),
        ("case-no-else", "CASE WHEN quantity > 5 THEN price END", "items"),
        ("case-value", "CASE status WHEN 'paid' THEN 1 WHEN 'sent' THEN 2 ELSE 0 END", "orders"),
        ("case-many", "CASE WHEN amount < 100 THEN 1 WHEN amount < 1000 THEN 2 ELSE 3 END", "orders"),
        ("coalesce", "COALESCE(minutes, 0)", "visits"),
        ("nullif", "NULLIF(quantity, 1)", "items"),
        ("greatest", "GREATEST(quantity, 3)", "items"),
        ("least", "LEAST(price, 500)", "items"),
        ("year", "EXTRACT(YEAR FROM order_date)", "orders"),
        ("hour", "EXTRACT(HOUR FROM started)", "visits"),
        ("member", "CASE WHEN is_member THEN 1 ELSE 0 END", "customers"),
        ("cast", "CAST(quantity AS DECIMAL(10, 2))", "items"),
        ("negative", "-quantity", "items"),
        ("cents", "amount * 100", "orders"),
    ):
        yield Accepted(f"sum-of-{name}", f"SELECT SUM({value}) AS s FROM {table}", f"SUM of {value}")
    for name, value, table in (
        ("half", "quantity / 2", "items"),
        ("ratio", "price / quantity", "items"),
        ("root", "SQRT(price)", "items"),
        ("double", "CAST(price AS DOUBLE) * 2", "items"),
        ("weights", "weight * 2", "items"),
    ):
        yield Accepted(
            f"avg-of-{name}", f"SELECT AVG({value}) AS a FROM {table}", f"AVG of {value}, on a grid", tolerance=1e-6
        )
    yield Accepted("sum-if", "SELECT SUM(CASE WHEN status = 'paid' THEN amount ELSE 0 END) AS s FROM orders", "SUM IF")
    yield Accepted("filter-count", "SELECT COUNT(*) FILTER (WHERE amount > 1000) AS n FROM orders", "COUNT with FILTER")
    yield Accepted(
        "filter-sum", "SELECT SUM(amount) FILTER (WHERE status = 'paid') AS s FROM orders", "SUM with FILTER"
    )
    yield Accepted("filter-avg", "SELECT AVG(price) FILTER (WHERE quantity >= 5) AS a FROM items", "AVG with FILTER")
    yield Accepted("filter-var", "SELECT VAR_POP(price) FILTER (WHERE quantity < 5) AS v FROM items", "VAR with FILTER")
    yield Accepted(
        "filter-distinct",
        "SELECT COUNT(DISTINCT customer_id) FILTER (WHERE amount > 4000) AS n FROM orders",
        "distinct units with FILTER",
    )
    yield Accepted(
        "filters-grouped",
        "SELECT status, COUNT(*) FILTER (WHERE amount < 500) AS a, COUNT(*) FILTER (WHERE amount >= 500) AS b FROM orders "
        "GROUP BY status",
        "several FILTERs",
        keys=1,
    )


def _conditions() -> Iterator[Accepted]:
    """WHERE of all kinds."""
    for name, table, condition in (
        ("equal", "orders", "status = 'paid'"),
        ("not-equal", "orders", "status <> 'paid'"),
        ("less", "orders", "amount < 250.5"),
        ("between", "orders", "amount BETWEEN 100 AND 200"),
        ("not-between", "items", "quantity NOT BETWEEN 3 AND 7"),
        ("in", "customers", "city IN ('Nara', '大津')"),
        ("not-in", "customers", "city NOT IN ('Nara', 'Tokyo')"),
        ("in-numbers", "items", "product_id IN (1, 2, 3)"),
        ("like", "customers", "city LIKE 'K%'"),
        ("not-like", "customers", "city NOT LIKE '%o'"),
        ("like-one", "orders", "channel LIKE '_eb'"),
        ("is-null", "items", "discount IS NULL"),
        ("is-not-null", "items", "discount IS NOT NULL"),
        ("null-comparison", "items", "discount > 0.2"),
        ("not-null-comparison", "items", "NOT (discount > 0.2)"),
        ("and-or", "orders", "(status = 'paid' OR status = 'sent') AND amount > 100 AND NOT shop_id = 3"),
        ("boolean", "customers", "is_member"),
        ("not-boolean", "customers", "NOT is_member"),
        ("is-true", "customers", "is_member IS TRUE"),
        ("date", "orders", "order_date >= DATE '2024-07-01' AND order_date < DATE '2025-01-01'"),
        ("date-interval", "orders", "order_date < DATE '2025-01-01' - INTERVAL '3' MONTH"),
        ("timestamp", "visits", "started >= TIMESTAMP '2024-06-01 12:30:00'"),
        ("extract", "orders", "EXTRACT(MONTH FROM order_date) = 12"),
        ("arithmetic", "items", "quantity * price > 1000"),
        ("columns", "items", "quantity > item_no"),
        ("upper", "orders", "UPPER(channel) = 'WEB'"),
        ("substring", "customers", "SUBSTRING(city, 1, 1) = 'K'"),
        ("concatenated", "orders", "status || '-' || channel = 'paid-web'"),
        ("distinct-from", "items", "discount IS DISTINCT FROM 0.25"),
        ("case", "orders", "CASE WHEN status = 'paid' THEN amount > 100 ELSE amount > 1000 END"),
        ("coalesce", "items", "COALESCE(discount, 0) < 0.1"),
        ("unicode", "customers", "nickname LIKE '%さん'"),
        ("nobody", "orders", "amount > 4999.99"),
        ("true", "orders", "TRUE"),
        ("constant", "orders", "1 = 1"),
    ):
        yield Accepted(f"where-{name}", f"SELECT COUNT(*) AS n FROM {table} WHERE {condition}", f"WHERE {condition}")
    yield Accepted(
        "in-unit",
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT customer_id FROM orders)",
        "IN the unit",
    )
    yield Accepted(
        "not-in-unit",
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE amount > 4000)",
        "NOT IN the unit",
    )
    yield Accepted(
        "in-unit-filtered",
        "SELECT SUM(amount) AS s FROM orders WHERE customer_id IN (SELECT customer_id FROM customers WHERE city = 'Nara')",
        "IN the unit with a condition",
    )
    yield Accepted(
        "in-link",
        "SELECT SUM(price) AS s FROM items WHERE order_id IN (SELECT order_id FROM orders WHERE status = 'paid')",
        "IN along a foreign key",
    )
    yield Accepted(
        "in-unit-grouped",
        "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN "
        "(SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) >= 8)",
        "IN units chosen by their own counts",
    )
    yield Accepted(
        "exists",
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)",
        "EXISTS on the unit",
    )
    yield Accepted(
        "exists-filtered",
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS "
        "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.amount > 4500 AND o.status = 'sent')",
        "EXISTS with conditions",
    )
    yield Accepted(
        "not-exists",
        "SELECT COUNT(*) AS n FROM customers c WHERE NOT EXISTS "
        "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)",
        "NOT EXISTS on the unit",
    )
    yield Accepted(
        "exists-compared",
        "SELECT COUNT(*) AS n FROM orders o WHERE EXISTS "
        "(SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id AND c.balance > o.amount)",
        "EXISTS that compares both rows",
    )
    yield Accepted(
        "exists-public",
        "SELECT COUNT(*) AS n FROM orders o WHERE EXISTS "
        "(SELECT 1 FROM shops s WHERE s.shop_id = o.shop_id AND s.region = 'east')",
        "EXISTS in a public table",
    )
    yield Accepted(
        "in-public",
        "SELECT COUNT(*) AS n FROM orders WHERE shop_id IN (SELECT shop_id FROM shops WHERE region = 'west')",
        "IN a public table",
    )
    yield Accepted(
        "not-in-public",
        "SELECT COUNT(*) AS n FROM items WHERE product_id NOT IN (SELECT product_id FROM tags WHERE tag = 'tag1')",
        "NOT IN a public table",
    )
    yield Accepted(
        "public-scalar",
        "SELECT COUNT(*) AS n FROM items WHERE price > (SELECT AVG(list_price) FROM products)",
        "a number from a public table",
    )
    yield Accepted(
        "public-scalar-max",
        "SELECT COUNT(*) AS n FROM orders WHERE order_date > (SELECT MAX(opened) FROM shops)",
        "a date from a public table",
    )


def _groups() -> Iterator[Accepted]:
    """GROUP BY of all kinds, HAVING, ORDER BY, LIMIT, DISTINCT."""
    yield Accepted("group-listed", "SELECT city, COUNT(*) AS n FROM customers GROUP BY city", "listed keys", keys=1)
    yield Accepted(
        "group-listed-null", "SELECT device, COUNT(*) AS n FROM visits GROUP BY device", "listed keys and NULL", keys=1
    )
    yield Accepted(
        "group-boolean",
        "SELECT is_member, AVG(balance) AS a FROM customers GROUP BY is_member",
        "true and false",
        keys=1,
    )
    yield Accepted(
        "group-from-public",
        "SELECT shop_id, COUNT(*) AS n FROM orders GROUP BY shop_id",
        "values of a public table",
        keys=1,
    )
    yield Accepted(
        "group-public-key",
        "SELECT s.region, COUNT(*) AS n FROM orders o JOIN shops s ON o.shop_id = s.shop_id GROUP BY s.region",
        "a column of a public table",
        keys=1,
    )
    yield Accepted(
        "group-two", "SELECT status, shop_id, SUM(amount) AS s FROM orders GROUP BY status, shop_id", "two keys", keys=2
    )
    yield Accepted(
        "group-unknown",
        "SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel",
        "unknown keys",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "group-unknown-null",
        "SELECT nickname, COUNT(*) AS n FROM customers GROUP BY nickname",
        "unknown keys and NULL",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "group-mixed",
        "SELECT channel, status, AVG(amount) AS a FROM orders GROUP BY channel, status",
        "unknown and listed keys",
        keys=2,
        delta=True,
    )
    yield Accepted(
        "group-date",
        "SELECT order_date, COUNT(*) AS n FROM orders GROUP BY order_date",
        "dates that are not listed",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "group-year", "SELECT EXTRACT(YEAR FROM order_date) AS y, COUNT(*) AS n FROM orders GROUP BY 1", "years", keys=1
    )
    yield Accepted(
        "group-month",
        "SELECT EXTRACT(YEAR FROM order_date) AS y, EXTRACT(MONTH FROM order_date) AS m, SUM(amount) AS s FROM orders "
        "GROUP BY EXTRACT(YEAR FROM order_date), EXTRACT(MONTH FROM order_date)",
        "years and months",
        keys=2,
    )
    yield Accepted(
        "group-trunc",
        "SELECT DATE_TRUNC('month', order_date) AS m, COUNT(*) AS n FROM orders GROUP BY 1",
        "DATE_TRUNC",
        keys=1,
    )
    yield Accepted(
        "group-hour", "SELECT EXTRACT(HOUR FROM started) AS h, COUNT(*) AS n FROM visits GROUP BY 1", "hours", keys=1
    )
    yield Accepted(
        "group-case",
        "SELECT CASE WHEN amount < 1000 THEN 'small' WHEN amount < 3000 THEN 'middle' ELSE 'large' END AS size, COUNT(*) AS n "
        "FROM orders GROUP BY 1",
        "CASE as a key",
        keys=1,
    )
    yield Accepted(
        "group-condition",
        "SELECT amount > 1000 AS big, COUNT(*) AS n FROM orders GROUP BY amount > 1000",
        "a condition as a key",
        keys=1,
    )
    yield Accepted(
        "group-upper",
        "SELECT UPPER(channel) AS c, COUNT(*) AS n FROM orders GROUP BY UPPER(channel)",
        "a function of an unknown key",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "group-alias", "SELECT status AS state, COUNT(*) AS n FROM orders GROUP BY state", "GROUP BY an alias", keys=1
    )
    yield Accepted(
        "group-number",
        "SELECT status, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1",
        "by position",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "group-units",
        "SELECT city, COUNT(DISTINCT customer_id) AS n FROM customers GROUP BY city",
        "units of groups",
        keys=1,
    )
    yield Accepted(
        "group-units-many",
        "SELECT status, COUNT(DISTINCT customer_id) AS n FROM orders GROUP BY status",
        "units that are in several groups",
        keys=1,
    )
    yield Accepted(
        "group-all-aggregates",
        "SELECT status, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a, VAR_SAMP(amount) AS v, STDDEV_POP(amount) AS d "
        "FROM orders GROUP BY status",
        "sums and means of groups",
        keys=1,
    )
    yield Accepted(
        "group-covar",
        "SELECT product_id, COVAR_POP(quantity, price) AS c FROM items GROUP BY product_id",
        "covariances of groups",
        keys=1,
    )
    yield Accepted(
        "group-empty",
        "SELECT city, COUNT(*) AS n FROM customers WHERE city = 'Nara' GROUP BY city",
        "groups that nobody is in",
        keys=1,
    )
    yield Accepted(
        "group-not-shown",
        "SELECT COUNT(*) AS n FROM customers GROUP BY city ORDER BY n",
        "a key that is not selected",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "having", "SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING COUNT(*) > 495", "HAVING", keys=1
    )
    yield Accepted(
        "having-other",
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city HAVING AVG(balance) > 9000",
        "HAVING on another aggregate",
        keys=1,
    )
    yield Accepted(
        "having-key",
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city HAVING city <> 'Nara' AND COUNT(*) > 1",
        "HAVING on a key",
        keys=1,
    )
    yield Accepted(
        "having-alone", "SELECT SUM(amount) AS s FROM orders HAVING COUNT(*) > 10", "HAVING without GROUP BY"
    )
    yield Accepted(
        "order",
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city ORDER BY n DESC, city",
        "ORDER BY an aggregate",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "order-expression",
        "SELECT status, SUM(amount) AS s FROM orders GROUP BY status ORDER BY SUM(amount) / COUNT(*)",
        "ORDER BY a calculation",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "order-key",
        "SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY status DESC",
        "ORDER BY a key",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "limit",
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city ORDER BY city LIMIT 3",
        "LIMIT",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "offset",
        "SELECT city, COUNT(*) AS n FROM customers GROUP BY city ORDER BY city LIMIT 2 OFFSET 1",
        "OFFSET",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "distinct-keys",
        "SELECT DISTINCT status FROM orders GROUP BY status",
        "DISTINCT of listed keys",
        keys=1,
        free=True,
    )
    yield Accepted(
        "distinct-results",
        "SELECT DISTINCT COUNT(*) > 0 AS any FROM orders GROUP BY status",
        "DISTINCT of results",
        keys=1,
    )
    yield Accepted(
        "keys-only", "SELECT channel FROM orders GROUP BY channel", "which unknown keys there are", keys=1, delta=True
    )
    yield Accepted(
        "group-nobody",
        "SELECT city, COUNT(*) AS n, SUM(balance) AS s FROM customers WHERE balance > 30000 GROUP BY city",
        "all groups empty",
        keys=1,
    )


def _results() -> Iterator[Accepted]:
    """Arithmetic on results."""
    for name, value in (
        ("ratio", "SUM(amount) / COUNT(*)"),
        ("percent", "100.0 * SUM(CASE WHEN status = 'paid' THEN amount ELSE 0 END) / SUM(amount)"),
        ("round", "ROUND(AVG(amount), 2)"),
        ("sum-of-sums", "SUM(amount) + SUM(amount * 2)"),
        ("coalesce", "COALESCE(SUM(amount), 0)"),
        ("case", "CASE WHEN COUNT(*) > 100 THEN 'many' ELSE 'few' END"),
        ("cast", "CAST(COUNT(*) AS DOUBLE)"),
        ("negative", "-SUM(amount)"),
        ("root", "SQRT(COUNT(*))"),
        ("nullif", "SUM(amount) / NULLIF(COUNT(*) - COUNT(*), 0)"),
        ("concat", "'n = ' || CAST(COUNT(*) AS VARCHAR)"),
        ("greatest", "GREATEST(COUNT(*), 0)"),
        ("constant", "42"),
        ("whole-division", "COUNT(*) // 7"),
        ("modulo", "COUNT(*) % 7"),
    ):
        extra = ", COUNT(*) AS n" if name == "constant" else ""
        dialects = ALL if name != "whole-division" else ("duckdb",)
        yield Accepted(
            f"result-{name}", f"SELECT {value} AS x{extra} FROM orders", f"calculating {value}", dialects=dialects
        )
    yield Accepted(
        "result-key",
        "SELECT UPPER(status) AS s, COUNT(*) * 2 AS n FROM orders GROUP BY status",
        "a function of a key",
        keys=1,
    )


def _inside() -> Iterator[Accepted]:
    """CTEs, subqueries in FROM, aggregates for each person."""
    yield Accepted(
        "cte", "WITH p AS (SELECT amount FROM orders WHERE status = 'paid') SELECT SUM(amount) AS s FROM p", "CTE"
    )
    yield Accepted(
        "cte-chain",
        "WITH a AS (SELECT customer_id, amount FROM orders WHERE amount > 100), b AS (SELECT * FROM a WHERE amount < 1000), "
        "c AS (SELECT customer_id, amount * 2 AS twice FROM b) SELECT COUNT(*) AS n, SUM(twice) AS s FROM c",
        "three CTEs in a chain",
    )
    yield Accepted(
        "cte-twice",
        "WITH p AS (SELECT customer_id, amount FROM orders WHERE status = 'paid') "
        "SELECT COUNT(*) AS n FROM p AS a JOIN p AS b ON a.customer_id = b.customer_id",
        "a CTE used twice",
    )
    yield Accepted(
        "cte-unused",
        "WITH u AS (SELECT city FROM customers) SELECT COUNT(*) AS n FROM orders",
        "a CTE that nobody uses",
    )
    yield Accepted(
        "cte-renamed", "WITH p AS (SELECT amount AS money FROM orders) SELECT MAX(money) AS m FROM p", "renamed columns"
    )
    yield Accepted(
        "cte-star",
        "WITH p AS (SELECT * FROM customers) SELECT city, COUNT(*) AS n FROM p GROUP BY city",
        "star",
        keys=1,
    )
    yield Accepted(
        "from-subquery", "SELECT AVG(x.amount) AS a FROM (SELECT amount FROM orders WHERE amount > 10) AS x", "FROM"
    )
    yield Accepted(
        "from-nested",
        "SELECT COUNT(*) AS n FROM (SELECT customer_id FROM (SELECT customer_id, amount FROM orders) AS a WHERE amount > 50) AS b",
        "subqueries in subqueries",
    )
    yield Accepted(
        "from-distinct",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT customer_id, status FROM orders) AS d",
        "DISTINCT inside",
    )
    yield Accepted(
        "from-distinct-key",
        "SELECT status, COUNT(*) AS n FROM (SELECT DISTINCT customer_id, status FROM orders) AS d GROUP BY status",
        "DISTINCT inside, grouped",
        keys=1,
    )
    for name, value in (
        ("avg", "AVG(n)"),
        ("sum", "SUM(n)"),
        ("max", "MAX(n)"),
        ("var", "VAR_POP(n)"),
        ("count", "COUNT(*)"),
    ):
        yield Accepted(
            f"per-person-count-{name}",
            f"SELECT {value} AS x FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS p",
            f"{value} of the number of orders of each person",
        )
    yield Accepted(
        "per-person-median",
        "SELECT MEDIAN(n) AS q FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS p",
        "median of per-person counts",
        plain="SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY n) AS q "
        "FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS p",
    )
    yield Accepted(
        "per-person-sum",
        "SELECT AVG(total) AS a, SUM(total) AS s FROM "
        "(SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id) AS p",
        "mean of per-person sums",
    )
    yield Accepted(
        "per-person-avg",
        "SELECT AVG(mean) AS a FROM (SELECT customer_id, AVG(amount) AS mean FROM orders GROUP BY customer_id) AS p",
        "mean of per-person means",
        tolerance=1e-5,
    )
    yield Accepted(
        "per-person-max",
        "SELECT AVG(most) AS a FROM (SELECT customer_id, MAX(amount) AS most FROM orders GROUP BY customer_id) AS p",
        "mean of per-person maxima",
    )
    yield Accepted(
        "per-person-last",
        "SELECT COUNT(*) AS n FROM (SELECT customer_id, MAX(order_date) AS last FROM orders GROUP BY customer_id) AS p "
        "WHERE last >= DATE '2025-10-01'",
        "a date of each person",
    )
    yield Accepted(
        "per-person-distinct",
        "SELECT AVG(k) AS a FROM (SELECT customer_id, COUNT(DISTINCT shop_id) AS k FROM orders GROUP BY customer_id) AS p",
        "mean of per-person distinct counts",
    )
    yield Accepted(
        "per-person-having",
        "SELECT COUNT(*) AS n FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > 6) AS p",
        "HAVING for each person",
    )
    yield Accepted(
        "per-person-filter",
        "SELECT SUM(k) AS s FROM (SELECT customer_id, COUNT(*) FILTER (WHERE status = 'paid') AS k FROM orders "
        "GROUP BY customer_id) AS p",
        "FILTER for each person",
    )
    yield Accepted(
        "per-person-case",
        "SELECT COUNT(*) AS n, SUM(CASE WHEN n_orders > 5 THEN 1 ELSE 0 END) AS busy FROM "
        "(SELECT customer_id, COUNT(*) AS n_orders FROM orders GROUP BY customer_id) AS p",
        "CASE over per-person counts",
    )
    yield Accepted(
        "per-person-histogram",
        "SELECT n_orders, COUNT(*) AS people FROM (SELECT customer_id, COUNT(*) AS n_orders FROM orders GROUP BY customer_id) AS p "
        "GROUP BY n_orders",
        "how many have how many",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "per-person-city",
        "SELECT c.city, AVG(p.n) AS a FROM customers c JOIN (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS p "
        "ON c.customer_id = p.customer_id GROUP BY c.city",
        "per-person counts by city",
        keys=1,
    )
    yield Accepted(
        "per-person-status",
        "SELECT status, AVG(total) AS a FROM (SELECT customer_id, status, SUM(amount) AS total FROM orders "
        "GROUP BY customer_id, status) AS p GROUP BY status",
        "per-person sums by status",
        keys=1,
    )
    yield Accepted(
        "per-order",
        "SELECT AVG(total) AS a FROM (SELECT order_id, SUM(quantity * price) AS total FROM items GROUP BY order_id) AS o",
        "mean of per-order sums",
    )
    yield Accepted(
        "per-order-count",
        "SELECT k, COUNT(*) AS n FROM (SELECT order_id, COUNT(*) AS k FROM items GROUP BY order_id) AS o GROUP BY k",
        "how many orders have how many items",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "two-levels",
        "WITH o AS (SELECT customer_id, status, COUNT(*) AS n FROM orders GROUP BY customer_id, status), "
        "p AS (SELECT customer_id, SUM(n) AS total, COUNT(*) AS kinds FROM o GROUP BY customer_id) "
        "SELECT AVG(total) AS a, AVG(kinds) AS k FROM p",
        "aggregates of aggregates of each person",
    )
    yield Accepted(
        "over-units-inside",
        "SELECT COUNT(*) AS n FROM (SELECT shop_id, COUNT(*) AS k FROM orders GROUP BY shop_id) AS s WHERE k > 150",
        "groups over units inside",
    )
    yield Accepted(
        "union-all",
        "SELECT COUNT(*) AS n, SUM(v) AS s FROM (SELECT amount AS v FROM orders UNION ALL SELECT price AS v FROM items) AS u",
        "UNION ALL inside",
    )
    yield Accepted(
        "union-all-kinds",
        "SELECT kind, COUNT(*) AS n FROM (SELECT 'order' AS kind, customer_id FROM orders UNION ALL "
        "SELECT 'visit' AS kind, customer_id FROM visits) AS u GROUP BY kind",
        "UNION ALL with constants as keys",
        keys=1,
    )
    yield Accepted(
        "union-units",
        "SELECT COUNT(DISTINCT customer_id) AS n FROM (SELECT customer_id FROM orders UNION ALL SELECT customer_id FROM visits) AS u",
        "units of two tables",
    )
    yield Accepted(
        "union-distinct",
        "SELECT COUNT(*) AS n FROM (SELECT customer_id FROM orders UNION SELECT customer_id FROM visits) AS u",
        "UNION without ALL",
    )


def _joins() -> Iterator[Accepted]:
    """Joins with public tables, on the unit, along foreign keys, and general ones."""
    public = "items i JOIN products p ON i.product_id = p.product_id"
    yield Accepted("join-public", f"SELECT SUM(i.quantity * p.list_price) AS s FROM {public}", "a public table")
    yield Accepted(
        "join-public-group",
        f"SELECT p.category, AVG(i.price) AS a FROM {public} GROUP BY p.category",
        "public keys",
        keys=1,
    )
    yield Accepted(
        "join-public-using",
        "SELECT COUNT(*) AS n FROM items JOIN products USING (product_id) WHERE category = 'food'",
        "USING",
    )
    yield Accepted(
        "join-public-where",
        "SELECT COUNT(*) AS n FROM items i, products p WHERE i.product_id = p.product_id AND p.category = 'games'",
        "a join written in WHERE",
    )
    yield Accepted(
        "join-public-left",
        "SELECT COUNT(*) AS n, COUNT(c.day) AS m FROM orders o LEFT JOIN calendar c ON o.order_date = c.day AND c.is_holiday",
        "LEFT JOIN with a public table",
    )
    yield Accepted(
        "join-public-first",
        "SELECT COUNT(*) AS n FROM shops s JOIN orders o ON s.shop_id = o.shop_id WHERE s.region = 'east'",
        "the public table first",
    )
    yield Accepted(
        "join-public-date",
        "SELECT c.weekday, COUNT(*) AS n FROM orders o JOIN calendar c ON o.order_date = c.day GROUP BY c.weekday",
        "on dates",
        keys=1,
    )
    yield Accepted(
        "join-public-two",
        "SELECT s.region, c.is_holiday, SUM(o.amount) AS a FROM orders o JOIN shops s ON o.shop_id = s.shop_id "
        "JOIN calendar c ON o.order_date = c.day GROUP BY s.region, c.is_holiday",
        "two public tables",
        keys=2,
    )
    yield Accepted(
        "join-public-fan-out",
        "SELECT t.tag, COUNT(*) AS n FROM items i JOIN tags t ON i.product_id = t.product_id GROUP BY t.tag",
        "several public rows for each",
        keys=1,
    )
    yield Accepted(
        "join-public-subquery",
        "SELECT COUNT(*) AS n FROM items i JOIN (SELECT category, product_id FROM products WHERE list_price > 500) AS p "
        "ON i.product_id = p.product_id",
        "a query over a public table",
    )
    yield Accepted(
        "join-public-grouped",
        "SELECT SUM(i.price - p.mean) AS s FROM items i JOIN (SELECT product_id, MAX(list_price) AS mean FROM products "
        "GROUP BY product_id) AS p ON i.product_id = p.product_id",
        "groups of a public table",
    )
    own = "customers c JOIN orders o ON c.customer_id = o.customer_id"
    yield Accepted("join-unit", f"SELECT SUM(o.amount) AS s FROM {own} WHERE c.city = 'Osaka'", "on the unit")
    yield Accepted("join-unit-group", f"SELECT c.city, COUNT(*) AS n FROM {own} GROUP BY c.city", "on the unit", keys=1)
    yield Accepted(
        "join-unit-two-keys",
        f"SELECT c.city, o.status, AVG(o.amount) AS a FROM {own} GROUP BY c.city, o.status",
        "keys of both tables",
        keys=2,
    )
    yield Accepted(
        "join-unit-left",
        "SELECT COUNT(*) AS n, COUNT(o.order_id) AS m, COUNT(DISTINCT c.customer_id) AS k FROM customers c "
        "LEFT JOIN orders o ON c.customer_id = o.customer_id",
        "LEFT JOIN on the unit",
    )
    yield Accepted(
        "join-unit-left-nobody",
        "SELECT COUNT(*) AS n FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id WHERE o.order_id IS NULL",
        "those without",
    )
    yield Accepted(
        "join-unit-condition",
        "SELECT COUNT(*) AS n FROM customers c JOIN visits v ON c.customer_id = v.customer_id AND v.device = 'phone' "
        "AND v.started >= TIMESTAMP '2025-01-01 00:00:00'",
        "conditions in ON",
    )
    yield Accepted(
        "join-unit-using", "SELECT COUNT(*) AS n FROM customers JOIN orders USING (customer_id)", "USING the unit"
    )
    yield Accepted(
        "join-unit-third",
        "SELECT COUNT(*) AS n FROM orders o JOIN visits v ON o.customer_id = v.customer_id WHERE o.status = 'new'",
        "many to many on the unit",
    )
    yield Accepted(
        "join-renamed-unit",
        "SELECT c.city, SUM(r.bonus) AS s FROM customers c JOIN referrals r ON c.customer_id = r.referrer GROUP BY c.city",
        "a unit by another name",
        keys=1,
    )
    yield Accepted(
        "join-self",
        "SELECT COUNT(*) AS n FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.order_date < b.order_date",
        "a table with itself on the unit",
    )
    yield Accepted(
        "join-self-key",
        "SELECT COUNT(*) AS n FROM orders a JOIN orders b ON a.order_id = b.order_id",
        "on its own key",
    )
    linked = "orders o JOIN items i ON o.order_id = i.order_id"
    yield Accepted("join-link", f"SELECT SUM(i.price) AS s FROM {linked} WHERE o.status = 'paid'", "down a foreign key")
    yield Accepted(
        "join-link-up",
        "SELECT COUNT(*) AS n FROM items i JOIN orders o ON i.order_id = o.order_id WHERE o.amount > 500",
        "up a foreign key",
    )
    yield Accepted(
        "join-link-group", f"SELECT o.status, SUM(i.quantity) AS s FROM {linked} GROUP BY o.status", "keys", keys=1
    )
    yield Accepted(
        "join-link-left",
        "SELECT COUNT(*) AS n, COUNT(i.item_no) AS m FROM orders o LEFT JOIN items i ON o.order_id = i.order_id",
        "LEFT JOIN down a foreign key",
    )
    yield Accepted(
        "join-link-left-up",
        "SELECT COUNT(*) AS n, SUM(o.amount) AS s FROM items i LEFT JOIN orders o ON i.order_id = o.order_id",
        "LEFT JOIN up a foreign key",
    )
    yield Accepted(
        "join-link-units", f"SELECT COUNT(DISTINCT o.customer_id) AS n FROM {linked} WHERE i.quantity = 10", "units"
    )
    chain = f"{own} JOIN items i ON o.order_id = i.order_id"
    yield Accepted(
        "join-chain", f"SELECT SUM(i.price * i.quantity) AS s FROM {chain} WHERE c.is_member", "a chain of three"
    )
    yield Accepted(
        "join-chain-group",
        f"SELECT c.city, COUNT(*) AS n, AVG(i.price) AS a FROM {chain} GROUP BY c.city",
        "grouped",
        keys=1,
    )
    yield Accepted(
        "join-chain-public",
        f"SELECT c.city, p.category, SUM(i.quantity) AS s FROM {chain} JOIN products p ON i.product_id = p.product_id "
        "GROUP BY c.city, p.category",
        "a chain of three and a public table",
        keys=2,
    )
    yield Accepted(
        "join-chain-comma",
        "SELECT COUNT(*) AS n FROM items i, orders o, customers c WHERE c.customer_id = o.customer_id "
        "AND i.order_id = o.order_id AND c.city = 'Kyoto'",
        "a chain written in WHERE",
    )
    yield Accepted(
        "join-long-chain",
        "SELECT o.status, SUM(s.hours) AS h FROM orders o JOIN parcels p ON o.order_id = p.order_id "
        "JOIN scans s ON p.parcel_id = s.parcel_id GROUP BY o.status",
        "two foreign keys",
        keys=1,
    )
    yield Accepted("two-links", "SELECT AVG(hours) AS h, COUNT(*) AS n FROM scans", "a table two links from the unit")
    yield Accepted(
        "join-siblings",
        "SELECT COUNT(*) AS n FROM items i JOIN parcels p ON i.order_id = p.order_id WHERE p.carrier = 'post'",
        "two tables that link to the same",
    )
    yield Accepted(
        "join-per-person",
        "WITH a AS (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id), "
        "b AS (SELECT customer_id, COUNT(*) AS k FROM visits GROUP BY customer_id) "
        "SELECT COVAR_POP(a.n, b.k) AS c, AVG(a.n + b.k) AS m FROM a JOIN b ON a.customer_id = b.customer_id",
        "two per-person queries joined",
    )
    yield Accepted(
        "join-general",
        "SELECT COUNT(*) AS n FROM referrals r JOIN coupons k ON r.code = k.code",
        "a general join with max_frequency",
    )
    yield Accepted(
        "join-general-sum",
        "SELECT SUM(r.bonus) AS s, SUM(k.worth) AS w FROM referrals r JOIN coupons k ON r.code = k.code WHERE r.bonus > 50",
        "sums over a general join",
    )
    yield Accepted(
        "join-general-self",
        "SELECT COUNT(*) AS n FROM referrals a JOIN referrals b ON a.code = b.code",
        "a general join with itself",
    )
    yield Accepted(
        "join-general-group",
        "SELECT r.code, COUNT(*) AS n FROM referrals r JOIN coupons k ON r.code = k.code GROUP BY r.code",
        "unknown keys of a general join",
        keys=1,
        delta=True,
    )


def _bigquery() -> Iterator[Accepted]:
    """BigQuery's spelling, with bounds that do not bind."""
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 10{more}, privacy_unit_column = {unit})"

    def query(rest: str, unit: str = "customer_id", more: str = "") -> str:
        return f"SELECT {clause.format(unit=unit, more=more)} {rest}"

    bounds = "contribution_bounds_per_group => ({}, {})"
    yield Accepted(
        "bigquery-count",
        query("COUNT(*) AS n FROM customers"),
        "the clause alone",
        plain="SELECT COUNT(*) AS n FROM customers",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-bounds",
        query(f"SUM(amount, {bounds.format(0, 100000)}) AS s FROM orders"),
        "bounds of a unit's sum",
        plain="SELECT SUM(amount) AS s FROM orders",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-count-bounds",
        query(f"COUNT(*, {bounds.format(0, 50)}) AS n FROM orders"),
        "bounds of a unit's count",
        plain="SELECT COUNT(*) AS n FROM orders",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-avg-bounds",
        query(f"AVG(amount, {bounds.format(0, 5000)}) AS a FROM orders"),
        "bounds of a mean",
        plain="SELECT AVG(amount) AS a FROM orders",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-groups",
        query(
            f"status, SUM(amount, {bounds.format(0, 100000)}) AS s FROM orders GROUP BY status",
            more=", max_groups_contributed = 4",
        ),
        "groups of a unit",
        plain="SELECT status, SUM(amount) AS s FROM orders GROUP BY status",
        keys=1,
        verbatim=True,
    )
    yield Accepted(
        "bigquery-unknown",
        query(
            f"channel, COUNT(*, {bounds.format(0, 40)}) AS n FROM orders GROUP BY channel",
            more=", delta = 1e-6, max_groups_contributed = 5",
        ),
        "unknown keys",
        plain="SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel",
        keys=1,
        delta=True,
        verbatim=True,
    )
    yield Accepted(
        "bigquery-no-max-rows",
        query(f"SUM(seconds, {bounds.format(0, 5000)}) AS s FROM clicks"),
        "a table without max_rows",
        plain="SELECT SUM(seconds) AS s FROM clicks",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-no-max-rows-groups",
        query(
            f"button, COUNT(*, {bounds.format(0, 100)}) AS n, SUM(seconds, {bounds.format(0, 6000)}) AS s FROM clicks GROUP BY button",
            more=", max_groups_contributed = 3",
        ),
        "groups of a table without max_rows",
        plain="SELECT button, COUNT(*) AS n, SUM(seconds) AS s FROM clicks GROUP BY button",
        keys=1,
        verbatim=True,
    )
    yield Accepted(
        "bigquery-units",
        query("COUNT(DISTINCT customer_id) AS n FROM clicks"),
        "units of a table without max_rows",
        plain="SELECT COUNT(DISTINCT customer_id) AS n FROM clicks",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-link",
        query(
            f"SUM(quantity, {bounds.format(0, 5000)}) AS s FROM items JOIN products ON items.product_id = products.product_id "
            "WHERE products.category = 'food'",
        ),
        "the unit along a foreign key",
        plain="SELECT SUM(quantity) AS s FROM items JOIN products ON items.product_id = products.product_id "
        "WHERE products.category = 'food'",
        verbatim=True,
    )
    yield Accepted(
        "bounds-alone",
        f"SELECT SUM(amount, {bounds.format(0, 100000)}) AS s FROM orders",
        "bounds without the clause",
        plain="SELECT SUM(amount) AS s FROM orders",
        verbatim=True,
    )
    yield Accepted(
        "bigquery-having",
        query("city, COUNT(*) AS n FROM customers GROUP BY city HAVING COUNT(*) > 40 ORDER BY n DESC"),
        "with HAVING",
        plain="SELECT city, COUNT(*) AS n FROM customers GROUP BY city HAVING COUNT(*) > 40 ORDER BY n DESC",
        keys=1,
        verbatim=True,
    )
    yield Accepted(
        "no-max-rows-units",
        "SELECT COUNT(DISTINCT customer_id) AS n FROM clicks",
        "units without max_rows",
    )


def _above() -> Iterator[Accepted]:
    """SELECTs over results, and several measured queries."""
    by_city = "SELECT city, COUNT(*) AS n, AVG(balance) AS b FROM customers GROUP BY city"
    yield Accepted(
        "above-cte", f"WITH r AS ({by_city}) SELECT city, n * 2 AS twice FROM r", "SELECT over a result", keys=1
    )
    yield Accepted(
        "above-where",
        f"WITH r AS ({by_city}) SELECT city, n FROM r WHERE n > 45 ORDER BY city",
        "WHERE on results",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "above-subquery",
        f"SELECT r.city, r.b FROM ({by_city}) AS r ORDER BY r.b DESC LIMIT 2",
        "FROM",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "above-two",
        "WITH a AS (SELECT COUNT(*) AS n FROM customers), b AS (SELECT SUM(amount) AS s FROM orders) "
        "SELECT s / n AS each FROM a CROSS JOIN b",
        "two measured queries, divided",
    )
    yield Accepted(
        "above-joined",
        "WITH a AS (SELECT city, COUNT(*) AS people FROM customers GROUP BY city), "
        "b AS (SELECT c.city, SUM(o.amount) AS s FROM customers c JOIN orders o ON c.customer_id = o.customer_id GROUP BY c.city) "
        "SELECT a.city, b.s / a.people AS each FROM a JOIN b ON a.city = b.city ORDER BY a.city",
        "two measured queries, joined",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "above-left",
        "WITH a AS (SELECT status, COUNT(*) AS n FROM orders GROUP BY status), "
        "b AS (SELECT status, COUNT(*) AS k FROM orders WHERE amount > 4000 GROUP BY status) "
        "SELECT a.status, a.n, b.k FROM a LEFT JOIN b ON a.status = b.status",
        "LEFT JOIN of results",
        keys=1,
    )
    yield Accepted(
        "above-union",
        "SELECT 'customers' AS what, COUNT(*) AS n FROM customers UNION ALL SELECT 'orders' AS what, COUNT(*) AS n FROM orders",
        "UNION ALL of results",
        keys=1,
    )
    yield Accepted(
        "above-union-order",
        "SELECT 'customers' AS what, COUNT(*) AS n FROM customers UNION ALL SELECT 'orders' AS what, COUNT(*) AS n FROM orders "
        "ORDER BY n DESC",
        "UNION ALL of results in order",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "above-same-twice",
        f"WITH r AS ({by_city}) SELECT a.city, a.n + b.n AS x FROM r AS a JOIN r AS b ON a.city = b.city",
        "a result used twice",
        keys=1,
    )
    yield Accepted(
        "above-nested",
        f"SELECT x.city FROM (SELECT y.city, y.n FROM ({by_city}) AS y WHERE y.n > 40) AS x ORDER BY x.city",
        "SELECTs over SELECTs over results",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "above-distinct",
        "SELECT DISTINCT r.big FROM (SELECT status, COUNT(*) > 1 AS big FROM orders GROUP BY status) AS r",
        "DISTINCT over results",
        keys=1,
    )
    yield Accepted(
        "above-unknown",
        "WITH r AS (SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel) SELECT channel, n FROM r WHERE n > 100",
        "a SELECT over unknown keys",
        keys=1,
        delta=True,
    )


def _names() -> Iterator[Accepted]:
    """Unicode, quotes, letters of both cases."""
    yield Accepted("unicode-count", 'SELECT COUNT(*) AS "件数" FROM "会員 メモ"', "names that need quotes")
    yield Accepted(
        "unicode-group",
        'SELECT "分類 名", SUM("点数") AS "合計" FROM "会員 メモ" GROUP BY "分類 名"',
        "quoted columns",
        keys=1,
    )
    yield Accepted(
        "unicode-join",
        'SELECT c.city, AVG("メモ"."点数") AS a FROM customers c JOIN "会員 メモ" AS "メモ" ON c.customer_id = "メモ"."顧客" '
        "GROUP BY c.city",
        "a quoted alias in a join",
        keys=1,
    )
    yield Accepted("quoted", 'SELECT COUNT("nickname") AS "a b" FROM "customers"', "quotes where none are needed")
    yield Accepted("quote-in-name", 'SELECT COUNT(*) AS "say ""hi""" FROM customers', "a quote in a name")
    yield Accepted(
        "upper-case",
        "SELECT COUNT(*) AS n FROM Customers WHERE City = 'Nara'",
        "letters of both cases",
        dialects=("duckdb", "postgres"),
    )
    yield Accepted(
        "capitals",
        'SELECT "Kind", SUM("Amount") AS "Total" FROM "Loans" GROUP BY "Kind"',
        "names with capitals",
        keys=1,
    )
    yield Accepted(
        "capitals-plain",
        "SELECT Kind, COUNT(*) AS n FROM Loans GROUP BY Kind",
        "names with capitals, not quoted",
        keys=1,
        dialects=("duckdb", "spark"),
    )
    yield Accepted(
        "capitals-join",
        'SELECT c.city, AVG(l."Amount") AS a FROM customers c JOIN "Loans" l ON c.customer_id = l."CustomerId" GROUP BY c.city',
        "capitals in a join",
        keys=1,
    )
    yield Accepted(
        "literal-quotes", "SELECT COUNT(*) AS n FROM orders WHERE channel = 'it-s; DROP TABLE orders; --'", "literals"
    )
    yield Accepted(
        "star-count",
        "SELECT COUNT(*) AS n FROM (SELECT * FROM orders) AS o JOIN (SELECT * FROM customers) AS c "
        "ON o.customer_id = c.customer_id",
        "stars inside",
    )
    yield Accepted("lower-case", "select count(*) as n from orders where status = 'new'", "lower case")
    yield Accepted("comments", "SELECT COUNT(*) AS n -- all\nFROM orders /* of them */", "comments", verbatim=True)


def _public() -> Iterator[Accepted]:
    """Queries over public tables only: exact and free."""
    yield Accepted("public-count", "SELECT COUNT(*) AS n FROM products", "COUNT", public=True)
    yield Accepted(
        "public-group",
        "SELECT category, COUNT(*) AS n, AVG(list_price) AS a FROM products GROUP BY category",
        "groups",
        keys=1,
        public=True,
    )
    yield Accepted(
        "public-join",
        "SELECT p.category, COUNT(*) AS n FROM products p JOIN tags t ON p.product_id = t.product_id GROUP BY p.category",
        "a join",
        keys=1,
        public=True,
    )
    yield Accepted("public-distinct", "SELECT COUNT(DISTINCT region) AS n FROM shops", "COUNT DISTINCT", public=True)
    yield Accepted("public-max", "SELECT MAX(list_price) AS m FROM products", "MAX", public=True)
    yield Accepted(
        "public-where", "SELECT COUNT(*) AS n FROM calendar WHERE is_holiday AND month_no = 5", "WHERE", public=True
    )
    yield Accepted(
        "public-and-private",
        "WITH a AS (SELECT COUNT(*) AS n FROM orders), b AS (SELECT COUNT(*) AS k FROM calendar) SELECT n / k AS x FROM a "
        "CROSS JOIN b",
        "a private result and a public one",
    )


def _by_row() -> Iterator[Accepted]:
    """Where each row is a unit of its own."""
    yield Accepted("row-count", "SELECT COUNT(*) AS n FROM surveys", "COUNT", by_row=True)
    yield Accepted(
        "row-group", "SELECT grade, AVG(score) AS a FROM surveys GROUP BY grade", "groups", keys=1, by_row=True
    )
    yield Accepted("row-sum", "SELECT SUM(height) AS s, VAR_POP(score) AS v FROM surveys", "sums", by_row=True)
    yield Accepted("row-distinct", "SELECT COUNT(DISTINCT score) AS n FROM surveys", "distinct values", by_row=True)
    yield Accepted(
        "row-unknown",
        "SELECT words, COUNT(*) AS n FROM surveys GROUP BY words",
        "unknown keys",
        keys=1,
        delta=True,
        by_row=True,
    )


def _corners() -> Iterator[Accepted]:
    """What is easily got wrong."""
    yield Accepted("max-date", "SELECT MAX(order_date) AS q FROM orders", "MAX of dates")
    yield Accepted(
        "min-date-group", "SELECT status, MIN(order_date) AS q FROM orders GROUP BY status", "MIN of dates", keys=1
    )
    yield Accepted(
        "units-filter-no-max-rows",
        "SELECT COUNT(DISTINCT customer_id) FILTER (WHERE seconds > 55) AS n FROM clicks",
        "FILTER where units are counted one by one",
    )
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 10, max_groups_contributed = 4)"
    for name, value in (
        ("avg", "AVG(amount)"),
        ("var", "VAR_POP(amount)"),
        ("filter", "COUNT(*) FILTER (WHERE amount > 2000)"),
        ("max", "MAX(amount)"),
        ("units", "COUNT(DISTINCT customer_id)"),
        ("units-filter", "COUNT(DISTINCT customer_id) FILTER (WHERE amount > 4000)"),
    ):
        yield Accepted(
            f"bigquery-groups-{name}",
            f"SELECT {clause} status, {value} AS x FROM orders GROUP BY status",
            f"{value} where a unit's groups are limited",
            keys=1,
            verbatim=True,
            plain=f"SELECT status, {value} AS x FROM orders GROUP BY status",
        )
    yield Accepted(
        "left-null-group",
        "SELECT o.status, COUNT(*) AS n FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id GROUP BY o.status",
        "a listed key that LEFT JOIN leaves empty",
        keys=1,
    )
    yield Accepted(
        "left-null-public",
        "SELECT c.weekday, COUNT(*) AS n FROM orders o LEFT JOIN calendar c ON o.order_date = c.day AND c.is_holiday "
        "GROUP BY c.weekday",
        "a public key that LEFT JOIN leaves empty",
        keys=1,
    )
    yield Accepted(
        "left-sums",
        "SELECT c.city, SUM(o.amount) AS s, AVG(o.amount) AS a, COUNT(o.order_id) AS n FROM customers c "
        "LEFT JOIN orders o ON c.customer_id = o.customer_id GROUP BY c.city",
        "sums over a LEFT JOIN",
        keys=1,
    )
    yield Accepted(
        "left-where",
        "SELECT COUNT(*) AS n FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id WHERE o.amount IS NULL "
        "OR o.amount > 4900",
        "a condition on the empty side",
    )
    yield Accepted(
        "units-of-groups-joined",
        "SELECT p.category, COUNT(DISTINCT o.customer_id) AS n FROM orders o JOIN items i ON o.order_id = i.order_id "
        "JOIN products p ON i.product_id = p.product_id GROUP BY p.category",
        "units of public groups",
        keys=1,
    )
    yield Accepted(
        "alias-like-key",
        "SELECT UPPER(status) AS status, COUNT(*) AS n FROM orders GROUP BY status",
        "GROUP BY means the column",
        keys=1,
    )
    yield Accepted(
        "alias-like-sum",
        "SELECT status, SUM(amount) AS amount FROM orders GROUP BY status ORDER BY amount DESC",
        "ORDER BY means the result",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "having-alias",
        "SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING n > 495",
        "HAVING an alias",
        keys=1,
        dialects=("duckdb", "spark"),
    )
    yield Accepted(
        "order-nulls",
        "SELECT device, COUNT(*) AS n FROM visits GROUP BY device ORDER BY device NULLS FIRST",
        "NULLS FIRST",
        keys=1,
        ordered=True,
    )
    yield Accepted(
        "order-nulls-default",
        "SELECT device, COUNT(*) AS n FROM visits GROUP BY device ORDER BY device",
        "where NULLs come",
        keys=1,
        ordered=True,
        verbatim=True,
    )
    yield Accepted(
        "order-nulls-descending",
        "SELECT device, COUNT(*) AS n FROM visits GROUP BY device ORDER BY device DESC",
        "where NULLs come, the other way",
        keys=1,
        ordered=True,
        verbatim=True,
    )
    yield Accepted(
        "exists-aggregate",
        "SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT MAX(o.amount) FROM orders o WHERE o.customer_id = c.customer_id)",
        "an aggregate without groups always gives a row",
    )
    yield Accepted(
        "with-inside",
        "SELECT SUM(x.v) AS s FROM (WITH a AS (SELECT amount AS v FROM orders) SELECT v FROM a WHERE v > 9) AS x",
        "WITH inside a subquery",
    )
    yield Accepted(
        "with-shadowed",
        "WITH a AS (SELECT amount FROM orders) SELECT COUNT(*) AS n FROM (WITH b AS (SELECT amount FROM a WHERE amount > 2500) "
        "SELECT amount FROM b) AS x",
        "a CTE inside that uses one outside",
    )
    yield Accepted(
        "pg-quotient",
        "SELECT SUM(quantity / 2) AS s FROM items",
        "PostgreSQL divides integers to integers",
        dialects=("postgres",),
        verbatim=True,
    )
    yield Accepted(
        "pg-result-quotient",
        "SELECT COUNT(*) / 7 AS x FROM items",
        "so does it with counts",
        dialects=("postgres",),
        verbatim=True,
    )
    yield Accepted(
        "pg-result-mean",
        "SELECT SUM(quantity) / COUNT(*) AS x FROM items",
        "a sum of BIGINT is NUMERIC there",
        dialects=("postgres",),
        verbatim=True,
    )
    for name, value, table in (
        ("whole", "CAST(price AS INTEGER)", "items"),
        ("whole-negative", "CAST(balance AS BIGINT)", "customers"),
        ("floor-negative", "FLOOR(balance)", "customers"),
        ("remainder-negative", "(quantity - 5) % 3", "items"),
        ("days", "DATE_DIFF('day', joined, DATE '2026-01-01')", "customers"),
        ("long", "price * quantity * (1 - COALESCE(discount, 0)) * 1.1", "items"),
        ("member-balance", "CASE WHEN is_member THEN balance END", "customers"),
        ("text-length", "LENGTH(SUBSTRING(channel, 1, 3))", "orders"),
    ):
        yield Accepted(f"sum-of-{name}", f"SELECT SUM({value}) AS s FROM {table}", f"SUM of {value}")
    yield Accepted(
        "share", "SELECT AVG(CASE WHEN status = 'paid' THEN 1.0 ELSE 0 END) AS a FROM orders", "a share as a mean"
    )
    yield Accepted(
        "group-dow",
        "SELECT EXTRACT(DOW FROM order_date) AS d, COUNT(*) AS n FROM orders GROUP BY 1",
        "weekdays",
        keys=1,
        verbatim=True,
        dialects=("duckdb", "postgres"),
    )
    for unit in ("year", "quarter", "week"):
        yield Accepted(
            f"group-trunc-{unit}",
            f"SELECT DATE_TRUNC('{unit}', order_date) AS d, COUNT(*) AS n FROM orders GROUP BY 1",
            f"DATE_TRUNC('{unit}')",
            keys=1,
        )
    yield Accepted(
        "group-day", "SELECT DATE_TRUNC('day', started) AS d, COUNT(*) AS n FROM visits GROUP BY 1", "days", keys=1
    )
    yield Accepted(
        "group-nullable-condition",
        "SELECT minutes > 100 AS long, COUNT(*) AS n FROM visits GROUP BY minutes > 100",
        "true, false and NULL",
        keys=1,
    )
    yield Accepted(
        "group-coalesce",
        "SELECT COALESCE(device, 'none') AS d, COUNT(*) AS n FROM visits GROUP BY COALESCE(device, 'none')",
        "COALESCE as a key",
        keys=1,
    )
    yield Accepted(
        "group-concat",
        "SELECT status || '/' || channel AS k, COUNT(*) AS n FROM orders GROUP BY status || '/' || channel",
        "a concatenated key",
        keys=1,
        delta=True,
    )
    yield Accepted(
        "where-in-null", "SELECT COUNT(*) AS n FROM visits WHERE device IN ('phone', NULL)", "NULL in a list"
    )
    yield Accepted(
        "where-date-plus",
        "SELECT COUNT(*) AS n FROM orders WHERE order_date + INTERVAL '7' DAY > DATE '2025-06-01'",
        "a date plus days",
    )
    yield Accepted(
        "unknown-two",
        "SELECT channel, shop_id, SUM(amount) AS s, AVG(amount) AS a FROM orders GROUP BY channel, shop_id",
        "unknown keys beside public ones",
        keys=2,
        delta=True,
    )
    yield Accepted(
        "distinct-inside-over-units",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT channel FROM orders) AS d",
        "DISTINCT over units",
    )
    yield Accepted(
        "union-public",
        "SELECT COUNT(*) AS n FROM (SELECT shop_id FROM orders UNION ALL SELECT shop_id FROM shops) AS u",
        "private and public rows together",
    )
    yield Accepted(
        "column-aliases", "SELECT SUM(x.a) AS s FROM (SELECT amount FROM orders) AS x (a)", "names behind an alias"
    )
    yield Accepted(
        "names-like-ours",
        "WITH t1 AS (SELECT COUNT(*) AS m0 FROM customers), t0 AS (SELECT COUNT(*) AS m1 FROM orders) "
        "SELECT m0, m1 FROM t0 CROSS JOIN t1",
        "names that the rewritten query uses too",
    )
    yield Accepted(
        "aliases-like-ours",
        "SELECT t0.k0, COUNT(*) AS m0 FROM (SELECT status AS k0, customer_id AS owner FROM orders) AS t0 GROUP BY t0.k0",
        "aliases that the rewritten query uses too",
        keys=1,
    )
    yield Accepted(
        "count-of-result",
        "WITH r AS (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) SELECT COUNT(*) AS k FROM r",
        "COUNT over groups",
    )


_PARTS = (
    _aggregates,
    _quantiles,
    _expressions,
    _conditions,
    _groups,
    _results,
    _inside,
    _joins,
    _bigquery,
    _above,
    _names,
    _public,
    _by_row,
    _corners,
)

ACCEPTED: list[Accepted] = [entry for part in _PARTS for entry in part()]
