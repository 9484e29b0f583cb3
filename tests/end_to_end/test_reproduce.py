"""The whole of ``sudare reproduce all --quick``, as its user runs it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_census = pytest.mark.skipif(not (DATA / "japan_mesh500m_2020").exists(), reason="the census is not here")


def reproduce(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "SUDARE_DATA"} | {"LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "sudare", "reproduce", *options, "--out", str(folder)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=600, check=False
    )


def test_one_quick_and_again(tmp_path: Path) -> None:
    done = reproduce(tmp_path, "zcdp", "--quick", "--repeats", "2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["is_real"] is False
    assert {f["experiment"] for f in told["findings"]} == {"zcdp"}
    assert [f["holds"] for f in told["findings"] if f["sentence"] == "Table 1 is the same to the digit"] == [True]
    folder = tmp_path / "reproduction" / "zcdp"
    assert "INVENTED" in (folder / "page.md").read_text(encoding="utf-8")
    assert list(folder.glob("*.csv"))
    steps = (folder / "steps.jsonl").read_bytes()
    assert reproduce(tmp_path, "zcdp", "--quick", "--repeats", "2", "--json").returncode == 0
    assert (folder / "steps.jsonl").read_bytes() == steps, "nothing was computed twice"


@pytest.mark.deep
def test_all_quick(tmp_path: Path) -> None:
    """On the invented country, which is everywhere."""
    done = reproduce(tmp_path, "all", "--quick", "--repeats", "2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["is_real"] is False
    held = {(finding["experiment"], finding["sentence"]): finding["holds"] for finding in told["findings"]}
    assert held["zcdp", "Table 1 is the same to the digit"]
    assert sum(held.values()) >= 0.6 * len(held), "some may fail by chance with two repeats"
    page = (tmp_path / "REPRODUCTION.md").read_text(encoding="utf-8")
    assert "INVENTED" in page
    for line in page.splitlines():
        if line.startswith("![]("):
            picture = tmp_path / line[4:-1]
            assert picture.read_bytes().startswith(b"\x89PNG")
    for experiment in ("zcdp", "power", "pruning", "neg-l2", "pk", "survey"):
        files = list((tmp_path / "reproduction" / experiment).glob("*.csv"))
        assert files
        for file in files:
            with file.open(encoding="utf-8") as lines:
                assert len(list(csv.reader(lines))) > 1


@pytest.mark.deep
@needs_census
def test_on_the_census_and_again(tmp_path: Path) -> None:
    data = ["--data", str(DATA)]
    first = reproduce(tmp_path, "zcdp", "--quick", "--json", *data)
    assert json.loads(first.stdout)["is_real"] is True
    assert "INVENTED" not in (tmp_path / "reproduction" / "zcdp" / "page.md").read_text(encoding="utf-8")
    again = reproduce(tmp_path, "zcdp", "--quick", "--json", *data)
    steps = (tmp_path / "reproduction" / "zcdp" / "steps.jsonl").read_text().splitlines()
    assert again.returncode == 0
    assert len({json.loads(line)["step"] for line in steps}) == len(steps), "nothing was computed twice"
