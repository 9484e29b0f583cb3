"""A small made-up shop: what is known of it, its data, and data that breaks every promise."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from sudare.sql.metadata.file import parse_metadata
from sudare.sql.metadata.model import Metadata

__all__ = ["MARKER", "METADATA", "NOTES", "ROWS_METADATA", "TOML", "shop", "shop_with_violations", "write_tables"]

MARKER = "SECRET7319"
"""Stands in text columns of private tables; no message may show it."""

NOTES = "会員 メモ"
"""A table whose names need quotes."""

CITIES = ["Kyoto", "Nara", "Osaka", "Sapporo", "Tokyo", "大津"]
STATUSES = ["new", "paid", "returned", "sent"]
CHANNELS = ["app", "fax", "phone", "shop", "web"]
DEVICES = ["desktop", "phone", "tablet"]
CATEGORIES = ["books", "food", "games", "tools"]
REGIONS = ["east", "north", "south", "west"]
GRADES = ["A", "B", "C"]
FIRST_DAY, LAST_DAY = date(2024, 1, 1), date(2025, 12, 31)

TOML = """
version = "2026-11"

[unit]
name = "customer"
max_groups = 3

[tables.customers]
unit = "customer_id"
key = ["customer_id"]
max_rows = 1
[tables.customers.columns]
customer_id = { type = "integer", nullable = false }
city = { type = "text", values = ["Kyoto", "Nara", "Osaka", "Sapporo", "Tokyo", "大津"], nullable = false }
birth_year = { type = "integer", bounds = [1930, 2010], nullable = false }
balance = { type = "decimal(12,2)", bounds = [-1000, 20000], nullable = false }
is_member = { type = "boolean", nullable = false }
joined = { type = "date", bounds = [2010-01-01, 2025-12-31], nullable = false }
nickname = { type = "text" }

[tables.orders]
unit = "customer_id"
key = ["order_id"]
max_rows = 30
[tables.orders.columns]
order_id = { type = "integer", nullable = false }
customer_id = { type = "integer", nullable = false }
order_date = { type = "date", bounds = [2024-01-01, 2025-12-31], nullable = false }
amount = { type = "decimal(12,2)", bounds = [0, 5000], nullable = false }
status = { type = "text", values = ["new", "paid", "returned", "sent"], nullable = false }
channel = { type = "text", nullable = false }
shop_id = { type = "integer", values = { from = "shops.shop_id" }, nullable = false }

[tables.items]
unit = "order_id -> orders.order_id"
key = ["order_id", "item_no"]
max_rows = 120
[tables.items.columns]
order_id = { type = "integer", nullable = false }
item_no = { type = "integer", bounds = [1, 9], nullable = false }
product_id = { type = "integer", values = { from = "products.product_id" }, nullable = false }
quantity = { type = "integer", bounds = [1, 20], nullable = false }
price = { type = "decimal(10,2)", bounds = [0, 1000], nullable = false }
weight = { type = "float", bounds = [0, 50], step = 0.01, nullable = false }
discount = { type = "decimal(4,2)", bounds = [0, 0.5] }

[tables.parcels]
unit = "order_id -> orders.order_id"
key = ["parcel_id"]
max_rows = 40
[tables.parcels.columns]
parcel_id = { type = "integer", nullable = false }
order_id = { type = "integer", nullable = false }
carrier = { type = "text", values = ["post", "truck"], nullable = false }
cost = { type = "decimal(8,2)", bounds = [0, 100], nullable = false }

[tables.scans]
unit = "parcel_id -> parcels.parcel_id"
max_rows = 160
[tables.scans.columns]
parcel_id = { type = "integer", nullable = false }
place = { type = "text", nullable = false }
hours = { type = "integer", bounds = [0, 200], nullable = false }

[tables.visits]
unit = "customer_id"
max_rows = 40
[tables.visits.columns]
customer_id = { type = "integer", nullable = false }
started = { type = "timestamp", bounds = [2024-01-01T00:00:00, 2026-01-01T00:00:00], nullable = false }
minutes = { type = "integer", bounds = [0, 240] }
device = { type = "text", values = ["desktop", "phone", "tablet"] }
page = { type = "text", nullable = false }

[tables.clicks]
unit = "customer_id"
[tables.clicks.columns]
customer_id = { type = "integer", nullable = false }
button = { type = "text", values = ["buy", "help", "top"], nullable = false }
seconds = { type = "integer", bounds = [0, 60], nullable = false }
link = { type = "text", nullable = false }

[tables.referrals]
unit = "referrer"
max_rows = 4
[tables.referrals.columns]
referrer = { type = "integer", nullable = false }
code = { type = "text", max_frequency = 12, nullable = false }
bonus = { type = "integer", bounds = [0, 100], nullable = false }

[tables.coupons]
unit = "holder"
max_rows = 3
[tables.coupons.columns]
holder = { type = "integer", nullable = false }
code = { type = "text", max_frequency = 9, nullable = false }
worth = { type = "decimal(6,2)", bounds = [0, 50], nullable = false }

[tables.surveys]
unit = "person"
max_rows = 1
[tables.surveys.columns]
person = { type = "integer", nullable = false }
grade = { type = "text", values = ["A", "B", "C"] }
score = { type = "integer", bounds = [0, 10], nullable = false }
height = { type = "float", bounds = [0, 3], step = 0.001, nullable = false }
words = { type = "text" }

[tables."会員 メモ"]
unit = "顧客"
max_rows = 3
[tables."会員 メモ".columns]
"顧客" = { type = "integer", nullable = false }
"点数" = { type = "integer", bounds = [0, 100], nullable = false }
"分類 名" = { type = "text", values = ["甲", "乙", "丙"], nullable = false }

[tables.Loans]
unit = "CustomerId"
max_rows = 2
[tables.Loans.columns]
CustomerId = { type = "integer", nullable = false }
Amount = { type = "decimal(10,2)", bounds = [0, 9000], nullable = false }
Kind = { type = "text", values = ["Car", "House"], nullable = false }

[tables.products]
public = true
key = ["product_id"]
[tables.products.columns]
product_id = { type = "integer", nullable = false }
category = { type = "text", nullable = false }
name = { type = "text", nullable = false }
list_price = { type = "decimal(10,2)", bounds = [0, 1000], nullable = false }

[tables.tags]
public = true
key = ["product_id", "tag"]
[tables.tags.columns]
product_id = { type = "integer", max_frequency = 3, nullable = false }
tag = { type = "text", nullable = false }

[tables.shops]
public = true
key = ["shop_id"]
[tables.shops.columns]
shop_id = { type = "integer", nullable = false }
region = { type = "text", nullable = false }
opened = { type = "date", nullable = false }

[tables.calendar]
public = true
key = ["day"]
[tables.calendar.columns]
day = { type = "date", nullable = false }
weekday = { type = "text", nullable = false }
is_holiday = { type = "boolean", nullable = false }
month_no = { type = "integer", bounds = [1, 12], nullable = false }
"""

METADATA: Metadata = parse_metadata(TOML, "shop.toml")

ROWS_METADATA: Metadata = parse_metadata(
    """
[unit]
name = "answer"

[tables.surveys]
unit = "row"
[tables.surveys.columns]
person = { type = "integer", nullable = false }
grade = { type = "text", values = ["A", "B", "C"] }
score = { type = "integer", bounds = [0, 10], nullable = false }
height = { type = "float", bounds = [0, 3], step = 0.001, nullable = false }
words = { type = "text" }
""",
    "rows.toml",
)
"""The same surveys, where each row is protected by itself."""

CUSTOMERS, ORDERS, PRODUCTS, SHOPS = 300, 2000, 40, 12


def shop() -> dict[str, pa.Table]:
    """Data in which every promise of the metadata holds, so that no limit binds; always the same."""
    rng = np.random.default_rng(20261116)
    tables = _public_tables(rng)
    customers = np.arange(1, CUSTOMERS + 1)
    days = (LAST_DAY - FIRST_DAY).days + 1
    tables["customers"] = pa.table(
        {
            "customer_id": _integers(customers),
            "city": pa.array([CITIES[i] for i in rng.integers(0, len(CITIES), CUSTOMERS)]),
            "birth_year": _integers(rng.integers(1940, 2006, CUSTOMERS)),
            "balance": _decimals(rng.integers(-90_000, 1_900_000, CUSTOMERS), 12, 2),
            "is_member": pa.array(rng.random(CUSTOMERS) < 0.4),
            "joined": pa.array([date(2012, 1, 1) + timedelta(days=int(n)) for n in rng.integers(0, 5000, CUSTOMERS)]),
            "nickname": pa.array([None if n % 5 == 0 else f"{MARKER} {n % 17} さん" for n in range(CUSTOMERS)]),
        }
    )
    owners = rng.integers(1, CUSTOMERS - 9, ORDERS)  # the last ten have no orders
    tables["orders"] = pa.table(
        {
            "order_id": _integers(np.arange(1000, 1000 + ORDERS)),
            "customer_id": _integers(owners),
            "order_date": pa.array([FIRST_DAY + timedelta(days=int(n)) for n in rng.integers(0, days, ORDERS)]),
            "amount": _decimals(rng.integers(100, 490_000, ORDERS), 12, 2),
            "status": pa.array([STATUSES[i] for i in rng.integers(0, 4, ORDERS)]),
            "channel": pa.array([CHANNELS[i] for i in rng.choice(5, ORDERS, p=[0.3, 0.02, 0.1, 0.2, 0.38])]),
            "shop_id": _integers(rng.integers(1, SHOPS + 1, ORDERS)),
        }
    )
    tables["items"] = _items(rng)
    tables |= _parcels(rng)
    tables |= _visits(rng)
    tables |= _codes(rng)
    return tables


def shop_with_violations() -> dict[str, pa.Table]:
    """The same shop with rows that the metadata does not allow: all of them must be left out or clipped."""
    tables = shop()
    day = date(2024, 6, 1)
    columns = ["order_id", "customer_id", "order_date", "amount", "status", "channel", "shop_id"]
    wrong: list[tuple[Any, ...]] = [
        (9001, None, day, Decimal("10.00"), "paid", MARKER, 1),  # nobody's
        (9002, 5, day, Decimal("999999.99"), "paid", MARKER, 1),  # above the bounds
        (9003, 6, day, Decimal("-999999.99"), "unknown " + MARKER, MARKER, 99),  # below; keys that are not listed
        (9004, 7, date(1900, 1, 1), Decimal("1.00"), "new", MARKER, 1),
        (9005, 8, day, Decimal("1.00"), "new", MARKER, 1),
        (9005, 9, day, Decimal("1.00"), "new", MARKER, 1),  # a key that stands twice
        *((10_000 + n, 300, day, Decimal("77.00"), "sent", "fax", 2) for n in range(31)),  # one order too many
    ]
    tables["orders"] = _with_rows(tables["orders"], columns, wrong)
    extra: list[tuple[Any, ...]] = [
        (None, 1, 1, 1, Decimal("1.00"), 1.0, None),
        (777_777, 1, 1, 1, Decimal("1.00"), 1.0, None),  # leads nowhere
        (9005, 1, 1, 1, Decimal("1.00"), 1.0, None),  # leads to two
        (9001, 1, 1, 1, Decimal("1.00"), 1.0, None),  # leads to nobody
        (1000, 9, 1, 10**9, Decimal("99999.99"), float("nan"), Decimal("9.99")),
        (1001, 9, 1, -(10**9), Decimal("-99999.99"), float("inf"), Decimal("-9.99")),
        (1002, 9, 1, 1, Decimal("1.00"), float("-inf"), None),
        *((1003, n, 1, 1, Decimal("1.00"), 1.0, None) for n in range(10, 140)),  # too many rows of one customer
    ]
    names = ["order_id", "item_no", "product_id", "quantity", "price", "weight", "discount"]
    tables["items"] = _with_rows(tables["items"], names, extra)
    joined = date(1970, 1, 1)
    tables["customers"] = _with_rows(
        tables["customers"],
        ["customer_id", "city", "birth_year", "balance", "is_member", "joined", "nickname"],
        [
            (None, "Nara", 1980, Decimal(0), False, joined, MARKER),
            (1, "Nara", 1980, Decimal(0), False, joined, MARKER),  # stands twice
            (901, MARKER, 99_999, Decimal("9999999.99"), None, joined, MARKER),
        ],
    )
    moment = datetime(2024, 5, 5, 5, 5)
    tables["visits"] = _with_rows(
        tables["visits"],
        ["customer_id", "started", "minutes", "device", "page"],
        [
            (None, moment, 3, "phone", MARKER),
            (11, datetime(1800, 1, 1), -(10**6), MARKER, MARKER),
            *((12, moment, 240, "phone", MARKER) for _ in range(50)),
        ],
    )
    return tables


def write_tables(tables: dict[str, pa.Table], folder: Path) -> Path:
    """One Parquet file for each table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    return folder


def _public_tables(rng: np.random.Generator) -> dict[str, pa.Table]:
    days = [FIRST_DAY + timedelta(days=n) for n in range((LAST_DAY - FIRST_DAY).days + 1)]
    numbers = np.arange(1, PRODUCTS + 1)
    tagged = sorted({(int(n), f"tag{i}") for n in numbers for i in rng.choice(5, int(rng.integers(0, 4)), False)})
    return {
        "products": pa.table(
            {
                "product_id": _integers(numbers),
                "category": pa.array([CATEGORIES[i % 4] for i in numbers]),
                "name": pa.array([f"product {i}" for i in numbers]),
                "list_price": _decimals(rng.integers(100, 99_000, PRODUCTS), 10, 2),
            }
        ),
        "tags": pa.table(
            {"product_id": _integers([n for n, _ in tagged]), "tag": pa.array([tag for _, tag in tagged])}
        ),
        "shops": pa.table(
            {
                "shop_id": _integers(np.arange(1, SHOPS + 1)),
                "region": pa.array([REGIONS[i % 4] for i in range(SHOPS)]),
                "opened": pa.array([date(2000 + i, 1 + i % 12, 1) for i in range(SHOPS)]),
            }
        ),
        "calendar": pa.table(
            {
                "day": pa.array(days),
                "weekday": pa.array([("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[day.weekday()] for day in days]),
                "is_holiday": pa.array([day.weekday() >= 5 for day in days]),
                "month_no": _integers([day.month for day in days]),
            }
        ),
    }


def _items(rng: np.random.Generator) -> pa.Table:
    pairs = [(1000 + i, n + 1) for i in range(ORDERS) for n in range(int(rng.integers(0, 6)))]
    count = len(pairs)
    discounts = rng.integers(0, 51, count)
    return pa.table(
        {
            "order_id": _integers([order for order, _ in pairs]),
            "item_no": _integers([number for _, number in pairs]),
            "product_id": _integers(rng.integers(1, PRODUCTS + 1, count)),
            "quantity": _integers(rng.integers(1, 11, count)),
            "price": _decimals(rng.integers(50, 99_000, count), 10, 2),
            "weight": pa.array(rng.integers(1, 4900, count) / 100.0),
            "discount": pa.array(
                [None if n % 3 == 0 else Decimal(int(n)).scaleb(-2) for n in discounts], pa.decimal128(4, 2)
            ),
        }
    )


def _parcels(rng: np.random.Generator) -> dict[str, pa.Table]:
    orders = rng.choice(np.arange(1000, 1000 + ORDERS), 800, replace=False)
    parcels = np.arange(1, 801)
    scanned = rng.choice(parcels, 1500)
    return {
        "parcels": pa.table(
            {
                "parcel_id": _integers(parcels),
                "order_id": _integers(orders),
                "carrier": pa.array([("post", "truck")[i] for i in rng.integers(0, 2, 800)]),
                "cost": _decimals(rng.integers(100, 9_900, 800), 8, 2),
            }
        ),
        "scans": pa.table(
            {
                "parcel_id": _integers(scanned),
                "place": pa.array([f"{MARKER} depot {n}" for n in rng.integers(0, 5, 1500)]),
                "hours": _integers(rng.integers(0, 150, 1500)),
            }
        ),
    }


def _visits(rng: np.random.Generator) -> dict[str, pa.Table]:
    count = 1500
    moments = [datetime(2024, 1, 1) + timedelta(minutes=int(n)) for n in rng.integers(0, 1_000_000, count)]
    minutes = rng.integers(0, 240, count)
    devices = rng.integers(0, 4, count)
    return {
        "visits": pa.table(
            {
                "customer_id": _integers(rng.integers(1, CUSTOMERS + 1, count)),
                "started": pa.array(moments, pa.timestamp("us")),
                "minutes": pa.array([None if n % 7 == 0 else int(n) for n in minutes], pa.int64()),
                "device": pa.array([None if n == 3 else DEVICES[n] for n in devices]),
                "page": pa.array([f"/{MARKER}/{n}" for n in rng.integers(0, 6, count)]),
            }
        ),
        "clicks": pa.table(
            {
                "customer_id": _integers(rng.integers(1, CUSTOMERS + 1, count)),
                "button": pa.array([("buy", "help", "top")[n] for n in rng.integers(0, 3, count)]),
                "seconds": _integers(rng.integers(0, 60, count)),
                "link": pa.array([f"{MARKER} {n}" for n in rng.integers(0, 4, count)]),
            }
        ),
    }


def _codes(rng: np.random.Generator) -> dict[str, pa.Table]:
    return {
        "referrals": pa.table(
            {
                "referrer": _integers([1 + n % 250 for n in range(400)]),
                "code": pa.array([f"c{n % 60}" for n in range(400)]),
                "bonus": _integers(rng.integers(0, 101, 400)),
            }
        ),
        "coupons": pa.table(
            {
                "holder": _integers([1 + n % 200 for n in range(350)]),
                "code": pa.array([f"c{n % 55}" for n in range(350)]),
                "worth": _decimals(rng.integers(0, 5_000, 350), 6, 2),
            }
        ),
        "surveys": pa.table(
            {
                "person": _integers(range(1, 251)),
                "grade": pa.array([None if n == 3 else GRADES[n] for n in rng.integers(0, 4, 250)]),
                "score": _integers(rng.integers(0, 11, 250)),
                "height": pa.array(rng.integers(500, 2_500, 250) / 1000.0),
                "words": pa.array([f"{MARKER} {n % 9}" for n in range(250)]),
            }
        ),
        "Loans": pa.table(
            {
                "CustomerId": _integers([1 + n % 180 for n in range(300)]),
                "Amount": _decimals(rng.integers(0, 800_000, 300), 10, 2),
                "Kind": pa.array([("Car", "House")[n] for n in rng.integers(0, 2, 300)]),
            }
        ),
        NOTES: pa.table(
            {
                "顧客": _integers([1 + n % 150 for n in range(400)]),
                "点数": _integers(rng.integers(0, 101, 400)),
                "分類 名": pa.array([("甲", "乙", "丙")[n] for n in rng.integers(0, 3, 400)]),
            }
        ),
    }


def _integers(values: Any) -> pa.Array:
    return pa.array([int(value) for value in values], pa.int64())


def _decimals(values: Any, digits: int, scale: int) -> pa.Array:
    return pa.array([Decimal(int(value)).scaleb(-scale) for value in values], pa.decimal128(digits, scale))


def _with_rows(table: pa.Table, columns: list[str], rows: list[tuple[Any, ...]]) -> pa.Table:
    listed = list(zip(*rows, strict=True))
    arrays = [pa.array(values, table.schema.field(name).type) for name, values in zip(columns, listed, strict=True)]
    return pa.concat_tables([table, pa.table(dict(zip(columns, arrays, strict=True)), schema=table.schema)])
