"""What the ledger settles of a folder that was complete when its process ended."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sudare.releases.folder_store import completed_folder


def test_what_was_sealed_is_settled_and_nothing_that_took_its_place(tmp_path: Path) -> None:
    """Whoever can write in the folder may change the document after its seal was checked; the ledger must not vouch for it."""
    folder, sealed = tmp_path / ".out.partial-1", b'{"title": "as it was sealed"}'
    folder.mkdir()
    (folder / "release.json").write_bytes(b'{"title": "forged"}')
    anything: Any = None
    completed = completed_folder(folder, tmp_path / "out", sealed, anything, anything)
    assert completed.found_by["document_sha256"] == hashlib.sha256(sealed).hexdigest()
