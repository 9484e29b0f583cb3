"""Write constraints.txt: the exact versions that the tests were last run with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEADER = """\
# The versions that the test suite was last run with. `make lock` writes this file from the current .venv.
"""


def main() -> None:
    """Freeze the environment, without what this repository itself has."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "freeze",
        "--exclude-editable",
        "--exclude",
        "sudare",
        "--exclude",
        "sudare-papers",
    ]
    frozen = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    root = Path(__file__).resolve().parent.parent
    (root / "constraints.txt").write_text(HEADER + frozen, encoding="utf-8")


if __name__ == "__main__":
    main()
