"""A small release of subtrees on Spark, for tests in this process and, as a script, with faults in a process of its own."""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from sudare import Budget, CountTable, Unit
from sudare.errors import DatabaseError
from sudare.ledger import open_ledger
from sudare.noise.addressed import NoiseKey
from sudare.releases.subtrees import counting, tasks
from sudare.releases.subtrees.cluster_settings import REQUIRED
from sudare.releases.subtrees.confidential_folder import TaskOrder, read_order
from sudare.releases.subtrees.job import release_subtrees
from sudare.releases.subtrees.plan import SubtreePlan
from sudare.tables.addressed.refining import Subtree
from sudare.tables.addressed.tree import Anchor

KEY = bytes(range(1, 33))
"""In place of fresh bytes of the operating system, so that releases can be compared."""

SHAPE = (48, 40)
PEOPLE = Unit("person")


def people() -> CountTable:
    """Nobody lives in the eastern half, so that noise alone decides in some subtrees."""
    random = np.random.default_rng(1)
    counts = random.poisson(0.3, SHAPE) * random.integers(0, 50, SHAPE)
    counts[:, SHAPE[1] // 2 :] = 0
    return CountTable.from_dense(counts)


def frame_of(session: Any, table: CountTable) -> Any:
    import pyarrow as pa

    columns = {"key": table.keys.astype(np.int64), "count": table.counts}
    return session.createDataFrame(pa.table(columns))


def plan_in(folder: Path, **changes: Any) -> SubtreePlan:
    """A plan with a ledger in a folder; the ledger is made if there is none."""
    ledger = folder / "ledger.db"
    if not ledger.exists():
        with open_ledger(ledger, create=True) as opened:
            opened.add_dataset("people", Budget(epsilon=3), unit=PEOPLE)
    given: dict[str, Any] = {
        "title": "a map",
        "source": "version 1",
        "domain": people().domain,
        "budget": Budget(epsilon=1),
        "dataset": "people",
        "ledger": ledger,
        "folder": folder / "released",
        "unit": PEOPLE,
        "people_per_subtree": 4000,
    }
    return SubtreePlan(**given | changes)


def digest_of_folder(folder: Path) -> str:
    """Of all published cells: the document also says when it was made."""
    found = sha256()
    for file in sorted(folder.glob("cells-*.parquet")):
        if file.is_file():
            found.update(file.name.encode() + b"\0" + sha256(file.read_bytes()).digest())
    return found.hexdigest()


def use_known_key() -> None:
    NoiseKey.fresh = classmethod(lambda cls: NoiseKey(KEY))  # type: ignore[method-assign, assignment]


Task = Callable[[Any], Any]
_java = ExitStack()


def dying(draw: Task, share: float, deaths: str, kills_executor: str) -> Task:
    """A task of which a share of the attempts ends its process once the part is written; one may take its executor along."""

    dies: dict[int, bool] = {}

    def attempt(table: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.taskAttemptId()
        dies.setdefault(number, secrets.randbelow(1000) < 1000 * share)
        drawn = draw(table)
        if kills_executor and not Path(kills_executor).exists():
            Path(kills_executor).touch()
            (Path(deaths) / secrets.token_hex(8)).touch()
            about_daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
            os.kill(int(about_daemon.rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        if dies[number]:
            (Path(deaths) / secrets.token_hex(8)).touch()
            os._exit(1)
        return drawn

    return attempt


def redrawing(tree: Any, folder: str) -> Task:
    """The control: every attempt has noise of its own."""

    def draw(table: Any) -> Any:
        def with_fresh_key(path: Path, level: int, prefix: int) -> TaskOrder:
            order = read_order(path, level, prefix)
            anchor = Anchor(level, prefix, NoiseKey(os.urandom(32)))
            return TaskOrder(Subtree(anchor, order.subtree.refined), order.digests)

        setattr(tasks, "read_order", with_fresh_key)  # noqa: B010
        return usual_task(tree, folder)(table)

    return draw


def telling_the_key(tree: Any, folder: str) -> Task:
    """The other control: a task carries the key in its closure, and leaves it among its results."""
    key, draw = KEY, usual_task(tree, folder)

    def tell(table: Any) -> Any:
        drawn = draw(table)
        names = drawn.column("name").to_pylist()
        Path(tempfile.gettempdir(), f"left-{os.getpid()}.log").write_bytes(b"task with key " + key.hex().encode())
        return drawn if names else table

    return tell


usual_task = tasks.drawing_subtrees


def started(folder: Path, master: str) -> Any:
    """A Spark whose every file lies in a folder, not compressed, so that it can be searched."""
    from pyspark.sql import SparkSession

    from sudare.engines.java import java_for_spark

    (folder / "events").mkdir(parents=True, exist_ok=True)
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder}",
        "spark.executor.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder}",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.shuffle.compress": "false",
        "spark.shuffle.spill.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.speculation": "true",
        "spark.speculation.interval": "20ms",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.minTaskRuntime": "1ms",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.excludeOnFailure.enabled": "false",
    }
    if master.startswith("local-cluster"):
        settings["spark.executor.memory"] = f"{master.rstrip(']').rsplit(',', 1)[1]}m"
    builder: Any = SparkSession.builder.master(master).appName("faults")
    for name, value in settings.items():
        builder = builder.config(name, value)
    _java.enter_context(
        java_for_spark()
    )  # to the end of the process: an executor that was killed is started again by it
    return builder.getOrCreate()


def places_with(folder: Path, keys: list[bytes]) -> list[str]:
    """Files in which a key stands, as bytes, in hexadecimal digits or in base64, besides those that are there for it."""
    needles = [form for key in keys for form in (key, key.hex().encode(), base64.b64encode(key)[:-2])]
    found = []
    for file in sorted(folder.rglob("*")):
        is_meant = file.parent.name in {"keys", ".sudare-keys"}
        if file.is_file() and not is_meant:
            content = file.read_bytes()
            if any(needle in content for needle in needles):
                found.append(file.relative_to(folder).as_posix())
    return found


def main(folder: Path, master: str, mode: str, runs: int) -> None:
    """Release again and again with faults; what was published each time, as one line of JSON."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    session = started(folder, master)
    session.sparkContext.setLogLevel("OFF")
    use_known_key()
    share = 0.3 if mode in {"faults", "redraw"} else 0.0
    found: list[Any] = []
    for run in range(runs):
        place = folder / f"run-{run}"
        (place / "deaths").mkdir(parents=True)
        tasks_of: dict[str, Any] = {"redraw": redrawing, "planted": telling_the_key}
        task: Any = tasks_of.get(mode, usual_task)
        executor = str(place / "killed") if master.startswith("local-cluster") and mode == "faults" else ""
        drawing: Any = lambda tree, path: dying(task(tree, path), share, str(place / "deaths"), executor)  # noqa: B023, E731
        setattr(counting, "drawing_subtrees", drawing)  # noqa: B010
        left: list[str] = []

        def look(stage: str, done: float | None) -> None:
            if stage == "draw" and done == 0.9:  # the keys are there still
                orders = [json.loads(file.read_bytes()) for file in place.rglob("keys/*")]  # noqa: B023
                keys = [KEY, *(bytes.fromhex(order["key"]) for order in orders)]
                left.extend(places_with(folder, keys))  # noqa: B023

        plan, attempts = plan_in(place), 0
        while not plan.folder.exists():
            attempts += 1
            try:
                release_subtrees(
                    plan,
                    frame_of(session, people()).repartition(4),
                    progress=look,
                    accept_missing=tuple(REQUIRED),
                )
            except DatabaseError:
                assert attempts < 10
        parts = sorted(file.name for file in plan.folder.iterdir() if file.suffix == ".parquet")
        found.append({"digest": digest_of_folder(plan.folder), "parts": len(parts), "attempts": attempts, "left": left})
        found[-1]["deaths"] = len(list((place / "deaths").iterdir()))
        print(json.dumps(found[-1]), flush=True)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
