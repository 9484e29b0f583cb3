"""What a cluster must protect before it gets subkeys: who takes part, what goes over the network, what goes to disks."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import Any

from sudare.errors import DatabaseError

__all__ = ["REQUIRED", "missing_settings", "require_protected", "use_this_python"]

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
