"""Twins get the blocks of their English page and keep their own prose."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.sync_twins import blocks_of, left_out, main, sync

ENGLISH = """# Title

```toml title="plan.toml"
a = 1

b = "```"
```

Then:

- an item

    ```console
    $ sudare plan plan.toml
    ```
"""
JAPANESE = """# 題

```
```

次に、

- 項目

    ```console
    $ sudare plan plan.toml
    ```
"""


def test_blocks_come_with_their_fences() -> None:
    first, second = blocks_of(ENGLISH)
    assert first == '```toml title="plan.toml"\na = 1\n\nb = "```"\n```'
    assert second == "    ```console\n    $ sudare plan plan.toml\n    ```"


def test_only_blocks_change() -> None:
    synced = sync(ENGLISH, JAPANESE)
    assert synced.changed == (1,)
    assert blocks_of(synced.text) == blocks_of(ENGLISH)
    assert synced.text.replace(blocks_of(ENGLISH)[0], "```\n```") == JAPANESE
    assert sync(ENGLISH, synced.text).changed == ()


def test_another_number_of_blocks() -> None:
    with pytest.raises(ValueError, match="1 code blocks, where the English page has 2"):
        sync(ENGLISH, "```\n```\n")


def test_code_in_prose_is_named() -> None:
    assert left_out("Under `[source]`, `path`:\n\n```\n`no`\n```\n", "`[input]` の `path`:") == ["`[source]`"]


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("a.md", ENGLISH), ("a.ja.md", JAPANESE), ("b.md", ENGLISH), ("b.ja.md", "なし\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert (tmp_path / "a.ja.md").read_text(encoding="utf-8") == JAPANESE
    assert main([], tmp_path) == 1
    assert blocks_of((tmp_path / "a.ja.md").read_text(encoding="utf-8")) == blocks_of(ENGLISH)
    told = "a.ja.md: block 1\nb.ja.md: left as it is: 0 code blocks, where the English page has 2\n"
    assert capsys.readouterr().out == told * 2
    (tmp_path / "b.ja.md").unlink()
    assert main(["--check"], tmp_path) == 0
