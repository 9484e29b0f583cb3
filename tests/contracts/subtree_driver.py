"""A driver that is to be killed: finishes the release that the one before it was killed in, then begins another.

As a script: ``python -m tests.contracts.subtree_driver FOLDER NUMBER``. Keys are fresh ones, as in any release.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from sudare.releases.subtrees.job import release_subtrees
from tests.contracts.subtree_runs import frame_of, people, plan_in, started


def main(folder: Path, number: int) -> None:
    """Release twice, saying when each begins and ends."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    home = folder / f"spark-{number}"
    home.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(home)
    session = started(home, "local[2]")
    session.sparkContext.setLogLevel("OFF")
    counts = frame_of(session, people()).repartition(4)
    for trial in (number - 1, number):
        if trial >= 0:
            place = folder / f"trial-{trial}"
            place.mkdir(exist_ok=True)
            print(f"begin {trial}", flush=True)
            release_subtrees(plan_in(place), counts)
            print(f"end {trial}", flush=True)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
