"""Whether a Spark can count: a session opens, takes the settings that matter, hashes and counts as it should."""

from __future__ import annotations

from sudare.engines import complaints
from sudare.engines.spark_engine import COUNTING, SETTINGS, SparkEngine
from sudare.io.bounding import FIXED_KEY, SPARK, RowOrder

__all__ = ["find_faults"]

KNOWN_PLACE = 548991282195645996
"""Of the whole number 1 and the text あ under the fixed key."""


def find_faults(address: str) -> tuple[list[str], str]:
    """Open a session, and count a row.

    Args:
        address: of the Spark.

    Returns:
        The settings that it keeps to itself, which matter where analysts write queries; and its version.

    Raises:
        DatabaseError: if it cannot be reached, does not take what counting needs, or gives another hash.
    """
    with SparkEngine.at(address, for_counting=True) as engine:
        rows = "(SELECT CAST(1 AS BIGINT) AS a, 'あ' AS b)"
        placed = RowOrder([("a", "BIGINT"), ("b", "VARCHAR")], FIXED_KEY, SPARK).placed(rows, "place")
        found = engine.fetch(f"SELECT place, count(*) AS n FROM {placed} AS one GROUP BY place")  # noqa: S608
        if found.to_pylist() != [{"place": KNOWN_PLACE, "n": 1}]:
            raise complaints.failed(address)
        kept = engine.use(
            lambda session: [
                name for name, value in SETTINGS.items() if name not in COUNTING and session.conf.get(name, "") != value
            ]
        )
        return kept, engine.use(lambda session: str(session.version))
