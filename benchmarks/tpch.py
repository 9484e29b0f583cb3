"""TPC-H for the benchmark of private SQL: generated data, five queries as they are published, and what is known of the tables."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb

from benchmarks.measuring import ROOT, environment_with

GENERATOR = ("tpchgen-cli", "4.0.0")
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")

QUERIES = {
    "q1": """
        SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price,
            SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
            SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty,
            AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order
        FROM lineitem
        WHERE l_shipdate <= DATE '1998-09-02'
        GROUP BY l_returnflag, l_linestatus
        ORDER BY l_returnflag, l_linestatus""",
    "q5": """
        SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
        FROM customer, orders, lineitem, supplier, nation, region
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
            AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'
            AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
        GROUP BY n_name
        ORDER BY revenue DESC""",
    "q6": """
        SELECT SUM(l_extendedprice * l_discount) AS revenue
        FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
            AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24""",
    "q14": """
        SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
            / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue
        FROM lineitem, part
        WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'""",
    "q19": """
        SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue
        FROM lineitem, part
        WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
                AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5
                AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
            OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
                AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10
                AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
            OR (p_partkey = l_partkey AND p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
                AND l_quantity >= 20 AND l_quantity <= 30 AND p_size BETWEEN 1 AND 15
                AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')""",
}

METADATA = """
[unit]
name = "customer"

[tables.customer]
unit = "c_custkey"
key = ["c_custkey"]
max_rows = 1
[tables.customer.columns]
c_custkey = { type = "integer", nullable = false }
c_nationkey = { type = "integer", nullable = false }

[tables.orders]
unit = "o_custkey"
key = ["o_orderkey"]
max_rows = 60
[tables.orders.columns]
o_orderkey = { type = "integer", nullable = false }
o_custkey = { type = "integer", nullable = false }
o_orderdate = { type = "date", bounds = [1992-01-01, 1998-12-31], nullable = false }

[tables.lineitem]
unit = "l_orderkey -> orders.o_orderkey"
max_rows = 300
[tables.lineitem.columns]
l_orderkey = { type = "integer", nullable = false }
l_partkey = { type = "integer", nullable = false }
l_suppkey = { type = "integer", nullable = false }
l_quantity = { type = "decimal(15,2)", bounds = [0, 50], nullable = false }
l_extendedprice = { type = "decimal(15,2)", bounds = [0, 105000], nullable = false }
l_discount = { type = "decimal(15,2)", bounds = [0, 0.1], nullable = false }
l_tax = { type = "decimal(15,2)", bounds = [0, 0.1], nullable = false }
l_returnflag = { type = "text", values = ["A", "N", "R"], nullable = false }
l_linestatus = { type = "text", values = ["F", "O"], nullable = false }
l_shipdate = { type = "date", bounds = [1992-01-01, 1998-12-31], nullable = false }
l_shipmode = { type = "text", nullable = false }
l_shipinstruct = { type = "text", nullable = false }

[tables.part]
public = true
key = ["p_partkey"]
[tables.part.columns]
p_partkey = { type = "integer", nullable = false }
p_type = { type = "text", nullable = false }
p_brand = { type = "text", nullable = false }
p_container = { type = "text", nullable = false }
p_size = { type = "integer", nullable = false }

[tables.supplier]
public = true
key = ["s_suppkey"]
[tables.supplier.columns]
s_suppkey = { type = "integer", nullable = false }
s_nationkey = { type = "integer", nullable = false }

[tables.nation]
public = true
key = ["n_nationkey"]
[tables.nation.columns]
n_nationkey = { type = "integer", nullable = false }
n_name = { type = "text", nullable = false }
n_regionkey = { type = "integer", nullable = false }

[tables.region]
public = true
key = ["r_regionkey"]
[tables.region.columns]
r_regionkey = { type = "integer", nullable = false }
r_name = { type = "text", nullable = false }
"""


def tpch_database(scale: int) -> Path:
    """A DuckDB file with TPC-H at a scale factor, made on first use in ``.bench``."""
    folder = ROOT / ".bench" / "tpch"
    file = folder / f"sf{scale}.duckdb"
    if file.exists():
        return file
    generator = Path(environment_with(*GENERATOR)).parent / "tpchgen-cli"
    parts = folder / f"sf{scale}"
    command = [str(generator), "parquet", "-s", str(scale), "--output-dir", str(parts)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    unfinished = file.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    with duckdb.connect(str(unfinished)) as database:
        for table in TABLES:
            database.execute(f"CREATE TABLE {table} AS FROM read_parquet(?)", [str(parts / f"{table}.parquet")])
            (parts / f"{table}.parquet").unlink()
    unfinished.rename(file)
    return file
