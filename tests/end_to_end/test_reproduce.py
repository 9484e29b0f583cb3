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


@pytest.mark.parametrize(
    "data", [pytest.param(["--data", str(DATA)], marks=needs_census, id="census"), pytest.param([], id="invented")]
)
def test_all_quick(tmp_path: Path, data: list[str]) -> None:
    done = reproduce(tmp_path, "all", "--quick", "--json", *data)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["is_real"] == bool(data)
    held = {(finding["experiment"], finding["sentence"]): finding["holds"] for finding in told["findings"]}
    assert held["zcdp", "Table 1 is the same to the digit"]
    assert sum(held.values()) >= 0.6 * len(held), "some may fail by chance with four repeats"
    page = (tmp_path / "REPRODUCTION.md").read_text(encoding="utf-8")
    assert ("INVENTED" in page) == (not data)
    for line in page.splitlines():
        if line.startswith("![]("):
            picture = tmp_path / line[4:-1]
            assert picture.read_bytes().startswith(b"\x89PNG")
    for experiment in ("zcdp", "pruning", "neg-l2", "pk", "survey"):
        files = list((tmp_path / "reproduction" / experiment).glob("*.csv"))
        assert files
        for file in files:
            with file.open(encoding="utf-8") as lines:
                assert len(list(csv.reader(lines))) > 1
    again = reproduce(tmp_path, "zcdp", "--quick", "--json", *data)
    steps = (tmp_path / "reproduction" / "zcdp" / "steps.jsonl").read_text().splitlines()
    assert again.returncode == 0
    assert len({json.loads(line)["step"] for line in steps}) == len(steps), "nothing was computed twice"
