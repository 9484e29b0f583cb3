"""The browser of this machine gets the token from a private file, and its command line shows none."""

from __future__ import annotations

import re
import stat
import threading
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from sudare.storage.private_files import OPEN_TO_OTHERS, files_open_to_others
from sudare.web import handover
from sudare.web.guard import Keys

ADDRESS = "http://127.0.0.1:8123/?token={key}"


class Opened:
    """Stands for a browser: keeps what it was started with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started = threading.Event()
        self.command = ""
        monkeypatch.setattr(webbrowser, "open", self.open)

    def open(self, command: str) -> bool:
        self.command = command
        self.started.set()
        return True

    @property
    def file(self) -> Path:
        assert self.started.wait(30)
        return Path(unquote(urlsplit(self.command).path))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    return Opened(monkeypatch)


def test_the_token_is_in_a_private_file_until_it_is_used(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "人口 #1"
    folder.mkdir()
    keys = Keys()
    with handover.hand_over(ADDRESS.format(key=keys.token), folder, keys):
        file = opened.file
        assert keys.token not in opened.command
        assert file.parent == folder
        assert not stat.S_IMODE(file.stat().st_mode) & OPEN_TO_OTHERS
        (address,) = set(re.findall(r"http://[^\"]+", file.read_text(encoding="utf-8")))
        assert address == ADDRESS.format(key=keys.token)
        assert keys.take(keys.token)
    assert list(folder.iterdir()) == []


def test_nothing_is_left_when_the_page_ends_first(opened: Opened, tmp_path: Path) -> None:
    with handover.hand_over(ADDRESS.format(key="x"), tmp_path, Keys()):
        assert opened.file.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_keeps_nothing_private_is_left_alone(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = files_open_to_others
    monkeypatch.setattr(
        handover, "files_open_to_others", lambda file: [file] if file.parent == tmp_path else made(file)
    )
    with handover.hand_over(ADDRESS.format(key="x"), tmp_path, Keys()):
        assert opened.file.parent != tmp_path
        assert opened.file.exists()
        assert list(tmp_path.iterdir()) == []
    assert not opened.file.exists()


def test_where_no_file_stays_private_no_browser_is_started(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "files_open_to_others", lambda file: [file])
    with handover.hand_over(ADDRESS.format(key="x"), tmp_path, Keys()):
        assert not opened.started.wait(0.2)
    assert list(tmp_path.iterdir()) == []
