"""Loads what commands load, and runs nothing: processes that are forked from one that imported this begin at once."""

from __future__ import annotations

import gc
import importlib
import pkgutil

import sudare

OTHERS = (
    "cryptography.hazmat.primitives.ciphers.aead",
    "duckdb",
    "jinja2",
    "matplotlib.figure",
    "pyarrow.csv",
    "pyarrow.parquet",
    "rich.progress",
    "rich.table",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
)

for name in OTHERS:
    importlib.import_module(name)
for module in pkgutil.walk_packages(sudare.__path__, "sudare."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
gc.freeze()  # what is loaded stays: nobody need look through it again
