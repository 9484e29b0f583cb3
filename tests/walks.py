"""Which modules a command walks through, from a trace of its calls: ``python -m tests.walks run plan.toml``.

Prints one JSON object: the modules of sudare in the order in which a function of theirs is first called, those that were loaded,
how often a ledger was opened, and what was called while a plan was read. Importing a module is no step; calling into it is.
"""

from __future__ import annotations

import json
import sys
import threading
from types import FrameType

__all__ = ["main"]

OPENS = ("sudare.ledger.sqlite_store", "sudare.ledger.postgres_store")
READS_A_PLAN = ("read_plan", "read_people_plan", "read_table_plan")


class Trace:
    """What was called, in order."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.while_reading: set[str] = set()
        self.openings = 0
        self._known: set[str] = set()
        self._depth_of_reading = 0
        self._own = threading.local()  # a thread may import while another one works

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event not in ("call", "return") or not isinstance(name, str) or not name.startswith("sudare."):
            return
        code, change = frame.f_code.co_name, 1 if event == "call" else -1
        imports = getattr(self._own, "imports", 0)
        if code == "<module>":
            self._own.imports = imports + change
        if imports:
            return
        is_reading = code in READS_A_PLAN and name.endswith("plan_file")
        if event == "return":
            self._depth_of_reading -= is_reading
            return
        self._depth_of_reading += is_reading
        self.openings += name in OPENS and code == "__init__"
        if self._depth_of_reading:
            self.while_reading.add(name)
        if name not in self._known:
            self._known.add(name)
            self.steps.append(name)


def main(arguments: list[str]) -> int:
    """Run a command and print its walk as the last line."""
    from sudare.cli import main as run

    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        code = run(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    loaded = sorted(name for name in sys.modules if name.startswith("sudare."))
    walk = {
        "steps": trace.steps,
        "loaded": loaded,
        "openings": trace.openings,
        "while_reading": sorted(trace.while_reading),
    }
    print(json.dumps(walk))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
