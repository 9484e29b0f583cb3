"""What processes do that are killed in the middle of it. Each tells in a file what it has done, a line at a time."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.processes import start

__all__ = [
    "ENDED",
    "Doomed",
    "hold_work",
    "publish_days",
    "publish_ticks",
    "race_for_ticks",
    "release_again_and_again",
    "run_and_end",
    "run_command_until_signal",
    "signal_at",
    "spill",
    "write_to_ledger",
]

SECONDS = 60.0
ENDED = 9
"""How a process ends that ends itself."""


class Doomed:
    """A process that is to be killed.

    Args:
        function: of this module, that is given a file to tell its progress in, and arguments.
        told: the file.
        arguments: of the function.
    """

    def __init__(self, function: object, told: Path, *arguments: object) -> None:
        assert callable(function)
        self._told = told
        told.touch()
        self._process = start(function, told, *arguments)

    def wait_for(self, lines: int) -> None:
        """Until it has told of so many things, however slow the machine is."""
        deadline = time.monotonic() + SECONDS
        while self._told.read_bytes().count(b"\n") < lines:
            assert self._process.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.002)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def kill(self) -> list[str]:
        """Kill it at once, and return the whole lines that it told."""
        self._process.kill()
        return self.end()

    def end(self) -> list[str]:
        """Wait until it is over, and return the whole lines that it told."""
        self._process.join(3 * SECONDS)
        self._process.close()
        # A line without an end was not told.
        return [line.rstrip("\n") for line in self._told.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _tell(told: Path, line: str) -> None:
    """At once, so that what is told before the kill is seen after it."""
    with told.open("ab", buffering=0) as stream:
        stream.write(f"{line}\n".encode())


def release_again_and_again(told: Path, folder: Path, first: int, releases: int) -> None:
    """So many releases, each into a folder of its own."""
    from sudare.releases.kinds.counts import read_plan, run_release

    for number in range(first, first + releases):
        plan = folder / f"plan{number}.toml"
        plan.write_text((folder / "plan.toml").read_text().replace('"release"', f'"release{number}"'))
        run_release(read_plan(plan), again=True)
        _tell(told, str(number))


def publish_days(told: Path, folder: Path) -> None:
    """All ticks of the first day of a little series, as a service that is started again would."""
    from tests.unit.releases.kinds.series.crowds import TICKS, run

    _tell(told, "ready")
    for tick in range(TICKS):
        run(folder, tick)
        _tell(told, str(tick))


def run_and_end(where: str, folder: Path, tick: int, day: int) -> None:
    """A tick of a little series, whose process ends at once when a function has returned, such as ``module.function``."""
    from tests.unit.releases.kinds.series.crowds import run

    owner, name = _owner_of(where)
    original = getattr(owner, name)

    def ending(*given: Any, **named: Any) -> None:
        original(*given, **named)
        os._exit(ENDED)

    setattr(owner, name, ending)
    run(folder, tick, day)


def write_to_ledger(told: Path, location: str, name: str) -> None:
    """Reserve, settle, cancel and leave people out, as long as it may."""
    from sudare import Budget, ReleaseEvent, Unit
    from sudare.ledger import open_ledger
    from sudare.privacy import LaplaceMeasurement, sensitivity_of_counts

    unit, cost = Unit("person"), Budget(epsilon=0.0001)
    noise = LaplaceMeasurement.for_budget(cost, sensitivity_of_counts(unit))
    event = ReleaseEvent("laplace", unit, cost, (noise,), "secure")
    with open_ledger(location) as ledger:
        _tell(told, "ready")
        for number in range(1, 100_000):
            reservation = ledger.reserve("census", cost, unit=unit, fingerprint=f"{number:064x}")
            _tell(told, f"reserve {reservation.number}")
            if number % 5:
                _tell(told, f"settle {ledger.settle(reservation, event).number}")
            else:
                _tell(told, f"cancel {ledger.cancel(reservation, 'only a test').number}")
            if number % 7 == 0:
                _tell(told, f"opt-out {ledger.opt_out('census', f'{name} {number}').number}")


def race_for_ticks(told: Path, location: str, number: int) -> None:
    """Begin and settle every tick of the one window, with an input of its own."""
    from sudare.ledger import open_ledger
    from sudare.ledger.records import TickRefusedError
    from tests.unit.ledger.helping import event_of

    with open_ledger(location) as ledger:
        (state,) = ledger.windows.of("crowds")
        event = event_of(state.window.cost, state.unit)
        for tick in range(state.window.ticks):
            try:
                begun = ledger.windows.begin_tick(state.window, tick, f"{tick + 1000:064x}", f"{number:064x}")
                ledger.windows.settle_tick(begun, event)
                _tell(told, f"{tick} published")
            except TickRefusedError as error:
                _tell(
                    told, f"{tick} {'published-before' if error.kind == 'published' else error.kind.replace(' ', '-')}"
                )


def publish_ticks(told: Path, location: str) -> None:
    """Go on with the ticks of the one window where they stand, with the same input whoever does it."""
    from sudare.ledger import open_ledger
    from tests.unit.ledger.helping import event_of

    with open_ledger(location) as ledger:
        (state,) = ledger.windows.of("crowds")
        window, event = state.window, event_of(state.window.cost, state.unit)
        _tell(told, "ready")
        first = state.last_tick + 1 if state.open_tick is None else state.open_tick
        for tick in range(first, window.ticks):
            begun = ledger.windows.begin_tick(window, tick, f"{tick + 1000:064x}", f"{tick:064x}")
            _tell(told, f"begin-tick {begun.number}")
            _tell(told, f"settle-tick {ledger.windows.settle_tick(begun, event, {'tick': str(tick)}).number}")


def signal_at(told: Path, arguments: list[str], where: str, number: int) -> None:
    """A command that gets a signal when it calls a function, such as ``sudare.releases.protocol.describe_charge``.

    Behind the name may stand a moment: ``after`` the function has returned; and ``twice``, so that the signal comes again
    while what the first one left is cleared away.
    """
    import shutil
    import sys

    from sudare.cli import main

    name, _, moment = where.partition(" ")
    owner, function_name = _owner_of(name)
    original = getattr(owner, function_name)

    def signalled(*given: Any, **named: Any) -> Any:
        _tell(told, where)
        if moment == "twice":
            shutil.rmtree = signalled_again  # type: ignore[assignment]
        if moment != "after":
            os.kill(os.getpid(), number)
        result = original(*given, **named)
        if moment == "after":
            os.kill(os.getpid(), number)
        return result

    remove = shutil.rmtree

    def signalled_again(*given: Any, **named: Any) -> None:
        os.kill(os.getpid(), number)
        remove(*given, **named)

    setattr(owner, function_name, signalled)
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - to the end of the process
    code = main(arguments)
    _tell(told, f"exit {code}")


def run_command_until_signal(told: Path, arguments: list[str]) -> None:
    """A command that tells when it begins, and how it ended."""
    import sys

    from sudare.cli import main

    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - to the end of the process
    _tell(told, "begin")
    code = main(arguments)
    _tell(told, f"exit {code}")


def _owner_of(where: str) -> tuple[Any, str]:
    """The module or class that has a function, and the function's name."""
    from importlib import import_module

    owner_name, _, name = where.rpartition(".")
    try:
        return import_module(owner_name), name
    except ModuleNotFoundError:
        above, _, class_name = owner_name.rpartition(".")
        return getattr(import_module(above), class_name), name


def hold_work(told: Path, location: str, fingerprint: str) -> None:
    """Be alone with a release until the end."""
    from sudare.ledger import open_ledger

    with open_ledger(location) as ledger, ledger.alone_with("census", fingerprint, lambda: _tell(told, "waits")):
        _tell(told, "holds")
        time.sleep(SECONDS)


def spill(told: Path, place: Path) -> None:
    """Count with so little memory that identifiers go to the disk, and stay there."""
    import tempfile

    tempfile.tempdir = str(place)
    from sudare.io.engine import open_engine

    with open_engine("64MB", 1) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 'person ' || i AS id, repeat('x', 200) AS more FROM range(600000) t(i)"
        )
        _tell(told, "spilled")
        time.sleep(SECONDS)
