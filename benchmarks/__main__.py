"""``python -m benchmarks NAME [--json]``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence

from benchmarks import (
    accuracy,
    collect,
    disclosure,
    microdata,
    noise,
    page,
    series,
    spark,
    sql,
    start,
    tables,
    workflow,
)

BENCHMARKS: dict[str, tuple[Callable[[], dict[str, float]], dict[str, str]]] = {
    "accuracy": (accuracy.run, accuracy.TARGETS),
    "collect": (collect.run, collect.TARGETS),
    "disclosure": (disclosure.run, disclosure.TARGETS),
    "microdata": (microdata.run, microdata.TARGETS),
    "noise": (noise.run, noise.TARGETS),
    "page": (page.run, page.TARGETS),
    "series": (series.run, series.TARGETS),
    "spark": (spark.run, spark.TARGETS),
    "sql": (sql.run, sql.TARGETS),
    "start": (start.run, start.TARGETS),
    "tables": (tables.run, tables.TARGETS),
    "workflow": (workflow.run, workflow.TARGETS),
}

PARTS = accuracy.PARTS | series.PARTS
"""Of the longer ones, what can be run by itself."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks asked for and print their numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=[*BENCHMARKS, *PARTS, "all"], help="which benchmark to run")
    parser.add_argument("--json", action="store_true", help="print one flat JSON object and nothing else")
    chosen = parser.parse_args(arguments)
    for name in BENCHMARKS if chosen.name == "all" else [chosen.name]:
        run, targets = (BENCHMARKS | PARTS)[name]
        numbers = run()
        if chosen.json:
            print(json.dumps(numbers))
            continue
        print(name)
        for key, value in numbers.items():
            print(f"  {key:28} {value:12.4g}  {targets.get(key, '')}")


if __name__ == "__main__":
    main()
