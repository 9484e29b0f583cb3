"""Where a database server is, as it may be said in any error: host, port and database, never who asks or with what."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import zip_longest

__all__ = ["server_address"]

DEFAULT_PORT = "5432"
LOCAL_SOCKET = "localhost"
"""What a server of this machine is called where the address names none."""


def server_address(parts: Mapping[str, object]) -> str:
    """Host and port of a PostgreSQL server, or of several, with the database; empty if they may be pieces of a password.

    A password with ``@``, ``/`` or ``?`` that was typed as it is makes libpq take pieces of it for host, port or database:
    nothing is shown where a port is no number, or an ``@`` is left anywhere.

    Args:
        parts: of the address, as ``psycopg.conninfo.conninfo_to_dict`` gives them. What they do not say is taken from the
            environment, as libpq does; user and password are not looked at.

    Example:
        >>> server_address({"host": "db.example", "port": "5433", "dbname": "census", "password": "secret"})
        'db.example:5433/census'
    """
    hosts = _listed(parts.get("host") or parts.get("hostaddr") or os.environ.get("PGHOST") or LOCAL_SOCKET)
    ports = _listed(parts.get("port") or os.environ.get("PGPORT") or DEFAULT_PORT)
    database = str(parts.get("dbname") or os.environ.get("PGDATABASE") or "")
    if any(port and not port.isdecimal() for port in ports) or "@" in "".join([*hosts, database]):
        return ""
    places = [f"{host}:{port or ports[-1]}" for host, port in zip_longest(hosts, ports[: len(hosts)], fillvalue="")]
    return ",".join(places) + (f"/{database}" if database else "")


def _listed(said: object) -> list[str]:
    return [part.strip() for part in str(said).split(",")]
