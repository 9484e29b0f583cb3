"""A PostgreSQL ledger that cannot be used. What works is tried in ``tests/contracts/test_ledger_stores.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from sudare.errors import LedgerError, MissingPackageError
from sudare.ledger import open_ledger


def test_psycopg_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPackageError, match=r"sudare\[postgres\]") as refusal:
        open_ledger("postgresql://localhost/ledger")
    assert "psycopg が必要" in refusal.value.japanese


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_nobody_answers_and_no_password_is_shown(tmp_path: Path, scheme: str) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(LedgerError, match="cannot be reached") as refusal:
        open_ledger(f"{scheme}://keeper:hunter%402@/ledger?host={tmp_path}")
    words = refusal.value.english + refusal.value.japanese
    assert "hunter" not in words
    assert re.search("[ぁ-ん]", refusal.value.japanese)


def test_host_and_port_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    monkeypatch.delenv("PGPORT", raising=False)
    with pytest.raises(LedgerError) as refusal:
        open_ledger("postgresql://keeper:hunter2@127.0.0.1:1/budgets")
    assert "The server of the ledger, 127.0.0.1:1/budgets, cannot be reached" in refusal.value.english
    assert "台帳のサーバー 127.0.0.1:1/budgets に接続できません" in refusal.value.japanese


def test_an_address_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(LedgerError, match="cannot be read") as refusal:
        open_ledger("postgresql://keeper:hunter2@[half?nonsense=1")
    assert "hunter" not in refusal.value.english + refusal.value.japanese
