from __future__ import annotations

import os
from pathlib import Path

import pytest

from sudare.storage.guarded_json import parse_json, read_json


def test_a_document_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": [1, 2.5, -3, null, "é"]}', encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"a": [1, 2.5, -3, None, "é"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[-Infinity]",
        "1e999",
        "9" * 301,
        "9" * 10_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '"\\ud800"',
        b"\xff\xfe\xfa",
    ],
)
def test_anything_else_is_one_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in ("pipe", "missing", "."):
        with pytest.raises(OSError, match=place.replace(".", "direct")):
            read_json(tmp_path / place)
