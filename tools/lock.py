"""Write constraints.txt: the exact versions that the tests were last run with."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HEADER = """\
# The versions that the test suite was last run with. `make lock` writes this file from the current .venv.
"""


def main() -> None:
    """Freeze the environment, without what this repository itself has."""
    # An environment that uv made has no pip.
    program = [sys.executable, "-m", "pip"] if find_spec("pip") else ["uv", "pip"]
    where = [] if find_spec("pip") else ["--python", sys.executable]
    command = [*program, "freeze", *where, "--exclude-editable", "--exclude", "sudare", "--exclude", "sudare-papers"]
    frozen = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    root = Path(__file__).resolve().parent.parent
    (root / "constraints.txt").write_text(HEADER + frozen, encoding="utf-8")


if __name__ == "__main__":
    main()
