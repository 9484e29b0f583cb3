"""Steps: the same results however they are run, nothing computed twice, nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import OutputError
from sudare_papers.experiments import EXPERIMENTS
from sudare_papers.settings import Settings
from sudare_papers.steps import Results, Step, run_steps

ROOT = Path(__file__).parents[3]


def square(settings: Settings, number: int, folder: str) -> dict[str, Any]:
    """A result, and a trace of having been computed."""
    with (Path(folder) / "computed").open("a") as file:
        file.write(f"{number}\n")
    return {"value": number**2, "seed": settings.seed, "process": os.getpid()}


def fail_at_three(settings: Settings, number: int) -> int:
    if number == 3:
        raise RuntimeError("three")
    return number


def slowly(settings: Settings, number: int, folder: str) -> int:
    square(settings, number, folder)
    time.sleep(0.2)
    return number


def computed(folder: Path) -> list[int]:
    trace = folder / "computed"
    return sorted(int(line) for line in trace.read_text().split()) if trace.exists() else []


def values(results: dict[str, Any]) -> dict[str, Any]:
    return {name: result["value"] for name, result in results.items()}


def run(steps: list[Step], settings: Settings, folder: Path, told: list[tuple[int, int, str]] | None = None) -> Any:
    def tell(done: int, all_of_them: int, name: str) -> None:
        if told is not None:
            told.append((done, all_of_them, name))

    return run_steps(steps, settings, Results(folder / "new" / "steps.jsonl"), "data", tell)


def squares(folder: Path, count: int = 4, **more: Any) -> list[Step]:
    return [Step(f"square of {i}", square, (i, str(folder)), **more) for i in range(count)]


@pytest.mark.parametrize("processes", [1, 2])
def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path, processes: int) -> None:
    told: list[tuple[int, int, str]] = []
    results = run(squares(tmp_path), Settings(processes=processes), tmp_path, told)
    assert values(results) == {f"square of {i}": i**2 for i in range(4)}
    assert [done for done, _, _ in told] == [1, 2, 3, 4]
    assert {count for _, count, _ in told} == {4}
    others = {result["process"] for result in results.values()} - {os.getpid()}
    assert bool(others) == (processes == 2)


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    settings = Settings(processes=1)
    run(squares(tmp_path, 2), settings, tmp_path)
    told: list[tuple[int, int, str]] = []
    results = run(squares(tmp_path, 4), settings, tmp_path, told)
    assert computed(tmp_path) == [0, 1, 2, 3]
    assert told[0] == (2, 4, "")
    assert values(results) == {f"square of {i}": i**2 for i in range(4)}


def test_what_a_result_depends_on_is_asked_for_again(tmp_path: Path) -> None:
    settings = Settings(processes=1)
    run(squares(tmp_path, 1), settings, tmp_path)
    for other in (
        replace(settings, seed=1),
        replace(settings, repeats=7),
        replace(settings, is_quick=True),
        replace(settings, data="."),
    ):
        run(squares(tmp_path, 1), other, tmp_path)
    run_steps(squares(tmp_path, 1), settings, Results(tmp_path / "new" / "steps.jsonl"), "other data", lambda *_: None)
    assert computed(tmp_path) == [0] * 6
    run(squares(tmp_path, 1), replace(settings, processes=2), tmp_path)
    assert computed(tmp_path) == [0] * 6, "the number of processes changes no result"


def test_a_line_that_was_cut_off_is_computed_again(tmp_path: Path) -> None:
    settings, file = Settings(processes=1), tmp_path / "new" / "steps.jsonl"
    run(squares(tmp_path, 2), settings, tmp_path)
    file.write_bytes(file.read_bytes()[:-20])
    assert values(run(squares(tmp_path, 3), settings, tmp_path))["square of 1"] == 1
    assert computed(tmp_path) == [0, 1, 1, 2]
    assert sum(1 for line in file.read_text().splitlines() if _is_whole(line)) == 3


def _is_whole(line: str) -> bool:
    try:
        return "result" in json.loads(line)
    except ValueError:
        return False


def test_timed_steps_run_alone_and_last(tmp_path: Path) -> None:
    steps = [*squares(tmp_path, 1, is_timed=True), *(Step(f"other {i}", square, (i, str(tmp_path))) for i in (7, 8))]
    results = run(steps, Settings(processes=2), tmp_path)
    assert results["square of 0"]["process"] == os.getpid()
    assert results["other 7"]["process"] != os.getpid()
    assert (tmp_path / "computed").read_text().split()[-1] == "0"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failure_keeps_what_was_found_before(tmp_path: Path, processes: int) -> None:
    steps = [Step(f"step {i}", fail_at_three, (i,)) for i in range(4)]
    with pytest.raises(RuntimeError, match="three"):
        run(steps, Settings(processes=processes), tmp_path)
    assert len((tmp_path / "new" / "steps.jsonl").read_text().splitlines()) >= 1


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        run(squares(tmp_path, 1), Settings(processes=1), tmp_path)


SCRIPT = """
import sys
from pathlib import Path
from sudare_papers.settings import Settings
from sudare_papers.steps import Results, Step, run_steps
from tests.unit.papers.test_steps import slowly

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    steps = [Step(str(i), slowly, (i, str(folder))) for i in range(12)]
    done = run_steps(steps, Settings(processes=int(sys.argv[2])), Results(folder / "steps.jsonl"), "", lambda *_: None)
    print(sorted(done.values()))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "processes"),
    [
        pytest.param(signal.SIGKILL, "2", id="killed-2"),
        pytest.param(signal.SIGINT, "1", id="interrupted-1", marks=pytest.mark.deep),
        pytest.param(signal.SIGKILL, "1", id="killed-1", marks=pytest.mark.deep),
        pytest.param(signal.SIGINT, "2", id="interrupted-2", marks=pytest.mark.deep),
    ],
)
def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path, end: signal.Signals, processes: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path), processes]
    places = (ROOT, ROOT / "src", ROOT / "papers" / "src")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    started = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    file = tmp_path / "steps.jsonl"
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text().count("\n") >= 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    started.send_signal(end)
    assert started.wait(timeout=60) != 0
    kept = {json.loads(line)["step"] for line in file.read_text().splitlines() if _is_whole(line)}
    assert 2 <= len(kept) < 12
    time.sleep(1.5)  # steps at hand may still end in processes that were left alone
    before = len(computed(tmp_path))
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert again.stdout.strip() == str(list(range(12)))
    assert len(computed(tmp_path)) - before == 12 - len(kept)


def test_results_from_when_the_papers_were_a_part_of_sudare_are_found() -> None:
    """The fingerprints of then, as that code computed them."""
    settings = Settings(repeats=7, is_quick=True)
    first = {name: each.steps(settings)[0].fingerprint(settings, "d")[:16] for name, each in EXPERIMENTS.items()}
    assert first == {
        "zcdp": "75584ee877e9ec0e",
        "power": "3298b38534c4200a",
        "pruning": "908ed99f109311d0",
        "neg-l2": "fcc231be7dae14dc",
        "pk": "de5a10e693adfc8f",
        "survey": "f4a2a0fad1035c9b",
    }
