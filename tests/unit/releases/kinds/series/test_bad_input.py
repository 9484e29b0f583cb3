"""What bad input gets: a clear refusal by public facts alone, nothing published twice, nothing charged twice, nothing lost."""

from __future__ import annotations

import errno
import io
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sudare import Unit
from sudare.bilingual import Words
from sudare.errors import InputError, LedgerError, OutputError, PlanError, UserError
from sudare.ledger import open_ledger
from sudare.ledger.records import TickRefusedError
from sudare.privacy import ProtectedTime
from sudare.releases.kinds.series import claims, state_files
from sudare.releases.kinds.series.running import TICKS as KIND
from sudare.series.mechanism import SeriesWindow
from tests.unit.releases.kinds.series.crowds import (
    KEY,
    PEOPLE,
    PLAN,
    build_series,
    cells_at,
    entries_of,
    file_of,
    published,
    put_back,
    run,
    state_of,
    write_rows,
)


@dataclass(frozen=True)
class TwoTicks:
    """A day of which two ticks are published, and copies of its files.

    Attributes:
        folder: of the day.
        copies: of the whole folder after each tick.
        another: private files of a day of other people.
    """

    folder: Path
    copies: tuple[Path, Path]
    another: Path

    def restore(self) -> Path:
        """Everything as it was after the second tick, in its place."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.copies[1], self.folder, symlinks=True)
        return self.folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TwoTicks:
    folder, other, copies = (tmp_path_factory.mktemp(name) for name in ("day", "other", "copies"))
    build_series(folder, key=KEY)
    for tick in (0, 1):
        run(folder, tick)
        shutil.copytree(folder, copies / str(tick), symlinks=True)
    build_series(other)
    write_rows(other, 0, np.arange(PEOPLE)[::-1] + 1)
    run(other, 0)
    return TwoTicks(folder, (copies / "0", copies / "1"), state_of(other))


@pytest.fixture
def two_ticks(made: TwoTicks) -> Path:
    """A day of which two ticks are published; what a test does to it is undone."""
    return made.restore()


EVENTS = PLAN.replace('"person-day"', '"event"')
EVENT = Unit("person", time=ProtectedTime("event"))


def entries(folder: Path) -> list[str]:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return entries_of(ledger)


def refused(
    error: type[UserError] | tuple[type[UserError], ...], folder: Path, tick: int, day: int = 16, *, match: str = "."
) -> str:
    """A refusal in both languages, after which nothing is published or charged that was not before."""
    before, noted = published(folder, day), entries(folder)
    with pytest.raises(error, match=match) as refusal:
        run(folder, tick, day)
    assert any(ord(letter) > 0x3000 for letter in refusal.value.japanese)
    assert published(folder, day) == before
    assert [kind for kind in entries(folder)[len(noted) :] if kind not in ("reserve", "miss-ticks")] == []
    return refusal.value.english


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in state_of(folder).iterdir()}


def measured(folder: Path, tick: int, level: int = -1) -> Any:
    place = folder / f"out/date=2026-11-16/time={tick * 6:02}00/measurements.npz"
    with np.load(io.BytesIO(place.read_bytes())) as found:
        return found[found.files[level]].astype(np.int64)


def test_ticks_go_upward_and_each_is_published_once(tmp_path: Path) -> None:
    build_series(tmp_path)
    run(tmp_path, 0)
    run(tmp_path, 2)
    before = entries(tmp_path)
    assert before == ["reserve", "begin-tick", "settle-tick", "miss-ticks", "begin-tick", "settle-tick"]
    for tick in (0, 2, 0):
        assert run(tmp_path, tick).is_repeated
    refused(TickRefusedError, tmp_path, 1, match="missing for good")
    assert entries(tmp_path) == before
    assert (tmp_path / "out/latest").resolve().name == "time=1200"


CHANGES: dict[str, tuple[str, str]] = {
    "moves": ("moves = 2", "moves = 3"),
    "domain": ("length = 16", "length = 32"),
    "budget": ("rho = 0.5", "rho = 0.4"),
    "length": ('window = "1 day"', 'window = "12 hours"'),
    "beginning": ("start = 2026-11-16\n", "start = 2026-11-15T12:00:00\n"),
    "place": ('folder = "out"', 'folder = "elsewhere/out"'),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_plan_that_is_changed_in_a_window_is_refused_and_harms_nothing(two_ticks: Path, changed: str) -> None:
    """Not even where the new plan's windows begin at other times: the state and the key of the old one are left alone."""
    plan, before, noted = two_ticks / "plan.toml", kept(two_ticks), entries(two_ticks)
    old, new = CHANGES[changed]
    text = plan.read_text(encoding="utf-8")
    assert old in text
    plan.write_text(text.replace(old, new), encoding="utf-8")
    said = refused(InputError, two_ticks, 2, match="has changed")
    assert "2026-11-17 00:00" in said
    assert (kept(two_ticks), entries(two_ticks)) == (before, noted)
    plan.write_text(text, encoding="utf-8")
    assert not run(two_ticks, 2).is_repeated
    plan.write_text(text.replace("moves = 2", "moves = 3"), encoding="utf-8")
    run(two_ticks, 0, 17)
    assert not state_of(two_ticks).exists(), "after the window the changed plan closes it"
    with open_ledger(two_ticks / "budget.db") as ledger:
        assert [window.is_closed for window in ledger.windows.of("crowds")] == [True, False]
        assert ledger.verify() == []


def test_two_plans_with_one_private_folder_never_share_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one begins while the first one, at its first tick, has no state but the key."""
    build_series(tmp_path)
    plan = tmp_path / "plan.toml"
    text = plan.read_text(encoding="utf-8")
    other = text.replace('folder = "out"', 'folder = "other"').replace("moves = 2", 'moves = 2\nstate = "out-state"')
    original, refusals = SeriesWindow.draw, []

    def drawing(window: SeriesWindow, bound: str | None = None) -> Any:
        monkeypatch.setattr(SeriesWindow, "draw", original)
        plan.write_text(other, encoding="utf-8")
        with pytest.raises(InputError, match="has changed") as refusal:
            run(tmp_path, 0)
        refusals.append(refusal.value)
        return original(window, bound)

    monkeypatch.setattr(SeriesWindow, "draw", drawing)
    run(tmp_path, 0)
    assert len(refusals) == 1
    assert not (tmp_path / "other").exists()


def test_numbers_that_would_differ_within_a_window_are_refused(tmp_path: Path) -> None:
    """As after an update, or on another machine: the sensitivity was found for one set of coefficients."""
    build_series(tmp_path)
    run(tmp_path, 0)
    path = state_of(tmp_path) / claims.CLAIM
    claim = claims.read_claim(state_of(tmp_path))
    assert claim is not None
    path.write_text(path.read_text(encoding="utf-8").replace(claim.design, "0" * 64), encoding="utf-8")
    refused(InputError, tmp_path, 1, match="other numbers")
    path.write_text("{}", encoding="utf-8")
    refused(LedgerError, tmp_path, 1, match="damaged")


@pytest.fixture(scope="module")
def undisturbed(made: TwoTicks) -> dict[int, tuple[bytes, ...]]:
    folder = made.restore()
    run(folder, 2)
    return published(folder)


@pytest.mark.parametrize(
    "name",
    [
        *("", "key", "paths-000001.npz", "counts-000001.npz", "tick-000001.json"),
        *("changes-000000.npz", "people-000000.parquet"),
    ],
)
def test_lost_state_is_told_and_can_be_brought_back(
    two_ticks: Path, name: str, undisturbed: dict[int, tuple[bytes, ...]]
) -> None:
    shutil.copytree(state_of(two_ticks), two_ticks / "copy")
    place = state_of(two_ticks) / name
    if name:
        place.unlink()
    else:
        shutil.rmtree(place)
    refused(LedgerError, two_ticks, 2, match=r"Bring the folder back")
    refused(LedgerError, two_ticks, 2, match=r"Bring the folder back")
    assert not place.exists(), "nothing is made in place of what is lost"
    shutil.copytree(two_ticks / "copy", state_of(two_ticks), dirs_exist_ok=True)
    run(two_ticks, 2)
    assert published(two_ticks) == undisturbed


SWAPPED = {
    "paths-000001.npz": "paths-000000.npz",
    "counts-000001.npz": "counts-000000.npz",
    "changes-000001.npz": "changes-000000.npz",
    "changes-000000.npz": "changes-000001.npz",
    "people-000000.parquet": "another/people-000000.parquet",
}
"""Files of a window, and others that might be brought back in their places."""


@pytest.mark.parametrize("name", SWAPPED)
def test_a_file_in_the_place_of_another_is_noticed(made: TwoTicks, name: str) -> None:
    """Whoever's moves were given back could move more often than the noise is made for; whoever entered twice counts twice."""
    folder = made.restore()
    state, other = state_of(folder), SWAPPED[name]
    earlier = made.another if other.startswith("another/") else made.copies["1" in other] / state.relative_to(folder)
    shutil.copy(earlier / Path(other).name, state / name)
    before = published(folder)
    for _ in range(2):
        with pytest.raises(LedgerError, match="Bring the folder back") as refusal:
            run(folder, 2)
        assert "フォルダを戻してください" in refusal.value.japanese
    assert published(folder) == before
    shutil.copy(made.copies[1] / state.relative_to(folder) / name, state / name)
    assert not run(folder, 2).is_repeated


@pytest.mark.parametrize("what", ["ledger", "state", "both"])
def test_old_copies_are_noticed(made: TwoTicks, what: str) -> None:
    folder = made.restore()
    if what != "state":
        put_back(made.copies[0] / "budget.db", folder / "budget.db")
    if what != "ledger":
        put_back(made.copies[0] / state_of(folder).relative_to(folder), state_of(folder))
    said = {"ledger": "old copy", "state": "Bring the folder back", "both": "old copies"}
    refused(LedgerError, folder, 2, match=said[what])
    if what == "both":
        refused(OutputError, folder, 1, match="exists already")


def test_copies_that_nobody_can_notice_reveal_no_difference(tmp_path: Path) -> None:
    """Ledger, state and place are put back, and one person's row is another one: the noise is another one too."""
    for name, cells in (("first", cells_at(0)), ("second", np.append((cells_at(0)[0] + 1) % 16, cells_at(0)[1:]))):
        build_series(tmp_path / name, key=KEY)
        write_rows(tmp_path / name, 0, cells=cells)
        run(tmp_path / name, 0)
    build_series(tmp_path / "same", key=KEY)
    run(tmp_path / "same", 0)
    assert published(tmp_path / "same") == published(tmp_path / "first")
    difference = measured(tmp_path / "second", 0) - measured(tmp_path / "first", 0)
    assert np.count_nonzero(difference) > 8, (
        "a key on two inputs would leave two places that differ, by their counts alone"
    )


def test_other_input_leaves_a_tick_missing_and_an_opt_out_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_series(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(SeriesWindow, "draw", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, 0)
        with open_ledger(tmp_path / "budget.db") as ledger:
            ledger.opt_out("crowds", "7")
    assert not run(tmp_path, 0).is_repeated
    with monkeypatch.context() as patched:
        patched.setattr(SeriesWindow, "draw", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, 1)
    write_rows(tmp_path, 1, cells=cells_at(3))
    refused(TickRefusedError, tmp_path, 1, match="another input")
    write_rows(tmp_path, 1)
    refused(TickRefusedError, tmp_path, 1, match="missing for good")
    run(tmp_path, 2)
    with np.load(state_of(tmp_path) / "paths-000002.npz") as paths:
        assert paths["cells"][7] < -1, "whoever opted out is counted no more"


def test_a_clock_that_jumps_closes_what_it_leaves_behind(tmp_path: Path) -> None:
    build_series(tmp_path)
    run(tmp_path, 0)
    run(tmp_path, 1, 17)
    refused(TickRefusedError, tmp_path, 1, match="closed")
    assert run(tmp_path, 0).is_repeated
    assert not run(tmp_path, 2, 17).is_repeated
    assert not state_of(tmp_path).exists()
    assert entries(tmp_path).count("reserve") == 2


def lacking(path: Path) -> None:
    pa.parquet.write_table(pa.table({"person": np.arange(3)}), path)


@pytest.mark.parametrize(
    "spoil",
    [Path.unlink, lambda path: path.write_bytes(b"PAR1 and no more"), lacking],
    ids=["missing", "damaged", "without a column"],
)
def test_data_that_is_not_there_can_come_later(tmp_path: Path, spoil: Callable[[Path], Any]) -> None:
    build_series(tmp_path)
    run(tmp_path, 0)
    spoil(file_of(tmp_path, 1))
    refused(InputError, tmp_path, 1)
    write_rows(tmp_path, 1)
    assert not run(tmp_path, 1).is_repeated
    assert "miss-ticks" not in entries(tmp_path)


PERSONS, CELLS = list(range(PEOPLE)), cells_at(0).tolist()
BAD_ROWS: dict[str, tuple[list[Any], list[Any]]] = {
    "no person": ([None, None], [3, 4]),
    "no place": ([900, 901], [None, None]),
    "a place that is none": ([900, 901], [16, -5]),
    "absurd places": ([900, 901], [2**62, -(2**62)]),
}


@pytest.mark.parametrize("text", [PLAN, EVENTS], ids=["persons", "events"])
@pytest.mark.parametrize("bad", BAD_ROWS)
def test_rows_that_cannot_be_counted_decide_nothing(tmp_path: Path, bad: str, text: str) -> None:
    """Not whether the tick appears, and nothing in it: under one key, it is the tick without these rows."""
    for name, (persons, cells) in {"with": BAD_ROWS[bad], "without": ([], [])}.items():
        folder = tmp_path / name
        unit = {"unit": EVENT} if text == EVENTS else {}
        build_series(folder, text, key=KEY, **unit)  # type: ignore[arg-type]
        write_rows(
            folder, 0, pa.array([*PERSONS, *persons], type=pa.int64()), pa.array([*CELLS, *cells], type=pa.int64())
        )
        run(folder, 0)
    assert published(tmp_path / "with") == published(tmp_path / "without")


def test_texts_among_numbers_decide_nothing(tmp_path: Path) -> None:
    text = PLAN.replace("{time}.parquet", "{time}.csv")
    for name, more in (("with", 'x1,abc\n901,\n902,1e99\n903\n904,1,1\n905,"2\n'), ("without", "")):
        build_series(tmp_path / name, text, key=KEY)
        for tick in (0, 1):
            rows = "".join(f"{person:03},{cell}\n" for person, cell in enumerate(cells_at(tick)))
            file = file_of(tmp_path / name, tick).with_suffix(".csv")
            file.write_text("person,cell\n" + rows + (more if tick else ""), encoding="utf-8")
            run(tmp_path / name, tick)
    assert published(tmp_path / "with") == published(tmp_path / "without")


def test_one_cell_of_several_is_chosen_by_the_person_alone(tmp_path: Path) -> None:
    """The same cell whoever else is in the data, in whatever order, and whether persons are numbers or texts."""
    chosen = []
    secret = b"s" * 32
    for name, persons, cells in (
        ("alone", [7, 7, 7], [3, 9, 12]),
        ("in company", [7, 5, 7, 5, 7, 1], [12, 1, 9, 2, 3, 0]),
        ("as texts", ["7", "5", "7", "7", "x"], [9, 1, 12, 3, 0]),
    ):
        build_series(tmp_path / name)
        write_rows(tmp_path / name, 0, persons, cells)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("sudare.ledger.ledger.Ledger.secret", lambda *_: secret)
            run(tmp_path / name, 0)
        people = pa.parquet.read_table(state_of(tmp_path / name) / "people-000000.parquet").to_pylist()
        number = next(row["number"] for row in people if str(row["p"]) == "7")
        with np.load(state_of(tmp_path / name) / "paths-000000.npz") as paths:
            chosen.append(int(paths["cells"][number]))
    assert len(set(chosen)) == 1


def test_late_rows_and_whoever_opted_out_are_no_events(tmp_path: Path) -> None:
    timed = EVENTS.replace('person = "person"', 'person = "person"\ntime = "at"')
    start, late = np.datetime64("2026-11-16T01:00"), np.datetime64("2026-11-15T23:59")
    for name, persons, times in (
        ("with", [1, 2, 3, 4], [start, start, late, start]),
        ("without", [1, 2], [start, start]),
    ):
        build_series(tmp_path / name, timed, key=KEY, unit=EVENT)
        with open_ledger(tmp_path / name / "budget.db") as ledger:
            ledger.opt_out("crowds", "4")
        write_rows(tmp_path / name, 0, persons, [5] * len(persons), at=np.array(times, dtype="datetime64[s]"))
        run(tmp_path / name, 0)
    assert published(tmp_path / "with") == published(tmp_path / "without")


def test_counts_without_persons_are_for_events_alone(tmp_path: Path) -> None:
    text = PLAN.replace('person = "person"', 'rows = "counts"\ncount = "people"')
    with pytest.raises(PlanError, match="nobody can tell which rows are theirs") as refusal:
        build_series(tmp_path, text)
    assert isinstance(refusal.value.words, Words) if hasattr(refusal.value, "words") else refusal.value.japanese
    folder = tmp_path / "events"
    build_series(folder, text.replace('"person-day"', '"event"'), unit=EVENT)
    write_rows(folder, 0, np.arange(3), np.arange(3), people=np.array([2**60, 5, 2**60]))
    run(folder, 0)
    assert abs(int(measured(folder, 0, 0)[0]) - (2**61 + 5)) < 1000, "sums of counts are whole numbers"


def test_lines_of_counts_that_are_none_decide_nothing(tmp_path: Path) -> None:
    text = EVENTS.replace('person = "person"', 'rows = "counts"\ncount = "people"').replace(".parquet", ".csv")
    for name, more in (("with", "3,-1\n,4\n99,1\n5,x\n6\n"), ("without", "")):
        build_series(tmp_path / name, text, key=KEY, unit=EVENT)
        file_of(tmp_path / name, 0).with_suffix(".csv").write_text("cell,people\n0,7\n1,9\n" + more, encoding="utf-8")
        made = run(tmp_path / name, 0)
        assert made.draft is not None
        assert made.draft.left_out == more.count("\n"), "told to the operator"
        said = (made.folder / "release.json").read_text(encoding="utf-8")
        assert "left_out" not in said, "and to nobody else"
    assert published(tmp_path / "with") == published(tmp_path / "without")


PLACES = {
    "the claim": (claims, "sync_file", 1),
    "the key": (state_files, "sync_file", 1),
    "an array": (state_files, "sync_file", 3),
    "the manifest": (state_files, "sync_file", 6),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_full_disk_loses_nothing(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    build_series(tmp_path)
    owner, name, turn = PLACES[place]
    original, calls = getattr(owner, name), [0]

    def full(path: Path) -> None:
        calls[0] += 1
        if calls[0] == turn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(path)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, full)
        refused_once = pytest.raises(OutputError, match="cannot be written")
        with refused_once as refusal:
            run(tmp_path, 0)
        assert "書き込めません" in refusal.value.japanese
    assert published(tmp_path) == {}
    assert calls[0] == turn
    assert not run(tmp_path, 0).is_repeated
    assert entries(tmp_path) == ["reserve", "begin-tick", "settle-tick"]
    assert KIND.fault_of(tmp_path / "out/date=2026-11-16/time=0000") is None
