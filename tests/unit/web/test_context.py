"""The way back from a problem: to the page of ours that somebody came from, and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.web.asking import HOST, Asking


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        (f"http://{HOST}/tables/new?file=a.csv", "/tables/new?file=a.csv"),
        (f"http://{HOST}/draft?file=nothing.csv", "/"),
        (f"http://{HOST}//elsewhere.example/", "/"),
        (f"http://{HOST}/%22onclick=1", "/%22onclick=1"),
        ("http://elsewhere.example/tables", "/"),
        (f"https://{HOST}/tables", "/"),
        ("http://[", "/"),
        ("", "/"),
    ],
)
def test_a_problem_leads_back_to_a_page_of_ours(tmp_path: Path, referer: str, back: str) -> None:
    answer = Asking(tmp_path).get("/draft?file=nothing.csv", referer=referer)
    assert answer.status == 400
    assert f'id="back" href="{back}"' in answer.text
