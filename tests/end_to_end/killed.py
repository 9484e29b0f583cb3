"""What processes do that are killed in the middle of it. Each tells in a file what it has done, a line at a time."""

from __future__ import annotations

import time
from pathlib import Path

from tests.processes import start

__all__ = ["Doomed", "release_again_and_again", "write_to_ledger"]

SECONDS = 60.0


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
    from sudare.release import read_plan, run_release

    for number in range(first, first + releases):
        plan = folder / f"plan{number}.toml"
        plan.write_text((folder / "plan.toml").read_text().replace('"release"', f'"release{number}"'))
        run_release(read_plan(plan), again=True)
        _tell(told, str(number))


def write_to_ledger(told: Path, location: str, name: str) -> None:
    """Reserve, settle, cancel and leave people out, as long as it may."""
    from sudare import Budget, LaplaceMeasurement, ReleaseEvent, Unit, sensitivity_of_counts
    from sudare.ledger import open_ledger

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
