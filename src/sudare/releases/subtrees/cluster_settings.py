"""What a cluster must protect before it gets subkeys: who takes part, what goes over the network, what goes to disks."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Iterator
from typing import Any

from sudare.engines.spark_engine import SparkEngine
from sudare.errors import DatabaseError
from sudare.version import __version__

__all__ = ["REQUIRED", "find_executor_faults", "missing_settings", "require_protected", "use_this_python"]

REQUIRED: dict[str, tuple[str, ...]] = {
    "spark.authenticate": ("spark.authenticate",),
    "spark.network.crypto.enabled": ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled"),
    "spark.io.encryption.enabled": ("spark.io.encryption.enabled",),
}
"""What must be set to true, and by which settings; one of them is enough."""


def is_one_process(session: Any) -> bool:
    """Whether nothing goes over a network."""
    master = str(session.conf.get("spark.master", ""))
    return master.startswith("local") and not master.startswith("local-cluster")


def use_this_python(session: Any) -> None:
    """Have tasks of a Spark on this machine run in the same Python, unless the environment names another."""
    if is_one_process(session) and "PYSPARK_PYTHON" not in os.environ and hasattr(session, "_jsparkSession"):
        session.sparkContext.pythonExec = sys.executable


def missing_settings(session: Any) -> tuple[str, ...]:
    """Which of the required settings a session lacks; none of a Spark that is one process."""
    if is_one_process(session):
        return ()
    return tuple(
        name
        for name, ways in REQUIRED.items()
        if not any(str(session.conf.get(way, "false")).lower() == "true" for way in ways)
    )


def require_protected(session: Any, accepted: Collection[str] = ()) -> None:
    """Refuse a cluster that lacks a setting, unless the setting is accepted by its name.

    Args:
        session: of Spark.
        accepted: settings that the caller does without, knowing that counts then travel or lie unprotected.

    Raises:
        DatabaseError: with the name of each missing setting.
    """
    missing = [name for name in missing_settings(session) if name not in accepted]
    if missing:
        names = ", ".join(missing)
        raise DatabaseError(
            f"This cluster does not set {names}. Its executors get true counts and the keys of their noise: set it to true, or "
            "name it in accept_missing if something else protects them.",
            f"このクラスターでは {names} が設定されていません。エグゼキューターには真の度数とノイズの鍵が渡ります。true に"
            "設定するか、別の方法で保護している場合は accept_missing に名前を指定してください。",
        )


def find_executor_faults(address: str) -> tuple[tuple[str, ...], str]:
    """Open a session, and have an executor do what drawing needs.

    Args:
        address: of the Spark.

    Returns:
        The settings that it lacks; and the version of sudare that its executors have, empty if they have none of use.

    Raises:
        DatabaseError: if it cannot be reached.
    """
    with SparkEngine.at(address, for_counting=True) as engine:
        missing = engine.use(missing_settings)
        engine.use(use_this_python)
        try:
            found = engine.use(_version_of_executors)
        except DatabaseError:
            found = ""
    return missing, found if found == __version__ else ""


def _version_of_executors(session: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of versions of pandas, which is not used here
        return str(session.range(1).mapInArrow(_tell_version, "version string").toArrow()["version"][0].as_py())


def _tell_version(batches: Iterator[Any]) -> Iterator[Any]:
    """On an executor, which loads all that drawing needs."""
    import pyarrow as pa

    from sudare.releases.subtrees import tasks
    from sudare.version import __version__ as version

    for _ in batches:
        yield pa.RecordBatch.from_arrays([pa.array([version if tasks.PARTS else ""])], names=["version"])
