"""A key with its register, and room for files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sudare.microdata.pseudonyms import Register, SecretKey, make_register, new_key, register_beside


@dataclass(frozen=True)
class Office:
    """Folders of somebody who holds records."""

    folder: Path
    key: SecretKey
    register: Register

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8", newline="")
        return path


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    for name in ("keys", "out", "tables"):
        (tmp_path / name).mkdir()
    key = new_key(tmp_path / "keys" / "study.key")
    make_register(register_beside(key.path), key)
    with Register(register_beside(key.path), key) as register:
        yield Office(tmp_path, key, register)


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> SecretKey:
    return new_key(tmp_path_factory.mktemp("keys") / "study.key")
