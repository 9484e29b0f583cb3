"""How a browser of this machine gets the address of the page: from a file that only its owner may read.

A browser is started with what it should open on its command line, and every user of a machine may read the list of processes. So
the command line names a private file; the token stands in it. The file is gone when the token was used.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.storage.private_files import PRIVATE_MODE, files_open_to_others

if TYPE_CHECKING:
    from sudare.web.guard import Keys

__all__ = ["hand_over", "leading_page"]

SECONDS = 60.0
"""How long a browser may take to read the file."""

OFTEN = 0.1
PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>sudare</title>
<p><a href="{address}">sudare</a></p>
"""


def leading_page(address: str) -> str:
    """A page that leads to an address at once, or by its link."""
    return PAGE.format(address=escape(address))


@contextmanager
def hand_over(address: str, folder: Path, keys: Keys) -> Iterator[None]:
    """Have the browser of this machine open an address, while the page is served.

    Args:
        address: with the token.
        folder: of the page; the file is made in it, as some browsers may not read hidden or temporary folders.
        keys: that say whether the token was used.
    """
    ended = threading.Event()
    worker = threading.Thread(
        target=_hand_over, args=(address, folder, keys, ended), name="sudare-browser", daemon=True
    )
    worker.start()
    try:
        yield
    finally:
        ended.set()
        worker.join(10 * OFTEN)


def _hand_over(address: str, folder: Path, keys: Keys, ended: threading.Event) -> None:
    with suppress(OSError), tempfile.TemporaryDirectory(prefix="sudare-") as other:
        file = _private_file(address, (folder, Path(other)))
        try:
            with suppress(webbrowser.Error):
                webbrowser.open(file.resolve().as_uri())
            waited = 0.0
            while not keys.is_used and waited < SECONDS and not ended.wait(OFTEN):
                waited += OFTEN
        finally:
            file.unlink(missing_ok=True)


def _private_file(address: str, folders: tuple[Path, Path]) -> Path:
    """The file, in the first folder that keeps it from others.

    Raises:
        OSError: if none does. Whoever started the page still has its printed address.
    """
    for folder in folders:
        file = folder / f"sudare-open-{secrets.token_hex(4)}.html"
        try:
            number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_MODE)
        except OSError:
            continue
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            if os.name == "nt" or not files_open_to_others(file):
                stream.write(leading_page(address))
                return file
        file.unlink()
    raise PermissionError(folders[0])
