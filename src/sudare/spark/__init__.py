"""Counting on Spark: it does deterministic whole-number work, and noise is drawn here.

Rows per person are bounded, people who opted out are left out, points become cells, and cells are counted by Spark; cells and
their counts come back in Arrow batches. Spark is handed no key of any noise, so that no retry of a task can draw twice. Why the
result is that of DuckDB: spark.md beside this.

- `counting`: `count_on_spark`. `frames`: the same counts where not even cells fit one machine.
- `expressions`: columns as Spark's SQL.
- `sources`: tables, paths, queries and frames. `pins`: which state of the data was read.
"""

from sudare.spark.counting import SparkCounts, count_on_spark
from sudare.spark.pins import InputPin

__all__ = ["InputPin", "SparkCounts", "count_on_spark"]
