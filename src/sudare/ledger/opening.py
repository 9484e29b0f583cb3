"""Opening a ledger, or making a new one."""

from __future__ import annotations

import secrets
from pathlib import Path

from sudare.errors import LedgerError
from sudare.ledger import checks
from sudare.ledger.entries import Entry
from sudare.ledger.ledger import Ledger
from sudare.ledger.stores import SCHEMA_VERSION, LedgerStore, open_store
from sudare.parameters import read_flag

__all__ = ["note_publication", "open_ledger"]


def open_ledger(location: str | Path, *, create: bool = False) -> Ledger:
    """Open a ledger of privacy budgets.

    Args:
        location: the path of an SQLite file, or the address of a PostgreSQL database, ``postgresql://...``.
        create: make the ledger if there is none.

    Raises:
        LedgerError: if there is no ledger, or it cannot be used.
        MissingPackageError: if it is in PostgreSQL and psycopg is not installed.

    Example:
        >>> import tempfile
        >>> from sudare import Budget, Unit
        >>> from sudare.ledger import open_ledger
        >>> folder = tempfile.TemporaryDirectory()
        >>> with open_ledger(folder.name + "/budget.db", create=True) as ledger:
        ...     census = ledger.add_dataset("census-2020", Budget(epsilon=1), unit=Unit("person"))
        ...     reservation = ledger.reserve("census-2020", Budget(epsilon=0.3), unit=Unit("person"), fingerprint="0" * 64)
        ...     ledger.dataset("census-2020").remaining
        Budget(epsilon=0.7)
        >>> folder.cleanup()
    """
    read_flag(create, "create", "open_ledger")
    store = open_store(location, create=create)
    try:
        if create:
            with store.transaction(write=True):
                if not store.is_ledger():
                    store.make_tables()
                    identity = secrets.token_hex(32)
                    store.execute(
                        "INSERT INTO sudare_ledger (version, identity) VALUES (?, ?)", (SCHEMA_VERSION, identity)
                    )
        with store.transaction(write=False):
            if not store.is_ledger():
                raise store.not_a_ledger()
            _require_known_version(store)
    except BaseException:
        store.close()
        raise
    return Ledger(store, location)


def note_publication(
    location: str | Path, dataset: str, *, document_sha256: str, report_format: str, folder: str | Path, title: str = ""
) -> Entry:
    """Note in a ledger what was published about a data set without differential privacy; see `Ledger.note_publication`.

    Args:
        location: of the ledger, as in `open_ledger`.
        dataset: which data set.
        document_sha256: hash of the report beside what was published.
        report_format: of that report, such as ``"sudare-protected-table/1"``.
        folder: where it was published, or will be in a moment.
        title: for people.

    Raises:
        LedgerError: if the ledger cannot be used, or does not know the data set.

    Example:
        >>> import tempfile
        >>> from sudare import Budget, Unit
        >>> from sudare.ledger import note_publication, open_ledger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open_ledger(folder + "/budget.db", create=True) as ledger:
        ...         _ = ledger.add_dataset("survey", Budget(epsilon=1), unit=Unit("person"))
        ...     entry = note_publication(
        ...         folder + "/budget.db", "survey", document_sha256="0" * 64,
        ...         report_format="sudare-protected-table/1", folder="tables/2025",
        ...     )
        ...     with open_ledger(folder + "/budget.db") as ledger:
        ...         ledger.dataset("survey").publications
        1
    """
    with open_ledger(location) as ledger:
        return ledger.note_publication(
            dataset,
            document_sha256=document_sha256,
            report_format=report_format,
            folder=str(Path(folder).resolve()),
            title=title,
        )


def _require_known_version(store: LedgerStore) -> None:
    versions = store.fetch("SELECT version FROM sudare_ledger")
    if versions != [(SCHEMA_VERSION,)]:
        version = versions[0][0] if len(versions) == 1 and type(versions[0][0]) is int else None
        if version is not None and version > SCHEMA_VERSION:
            raise LedgerError(
                f"The ledger was made by a newer sudare (its version is {version}, this sudare knows {SCHEMA_VERSION}); "
                f"install the newest sudare.",
                f"台帳は新しい版の sudare で作られています（台帳の版は {version}、扱えるのは {SCHEMA_VERSION} です）。"
                f"最新の sudare をインストールしてください。",
            )
        raise checks.damaged()
