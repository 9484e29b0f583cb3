"""Loads what commands load, kernels too: processes that are forked from one that imported this begin at once."""

from __future__ import annotations

import gc
import importlib
import pkgutil
from fractions import Fraction

import sudare
from sudare.kernels.warming import prepare_all

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
    "typer._adapters",
)

for name in OTHERS:
    importlib.import_module(name)
for module in pkgutil.walk_packages(sudare.__path__, "sudare."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for windows in (1, 7, 30, 365):  # what reports of series tell; each process that is forked would find it anew
    sudare.privacy.best_power(sudare.Budget(rho=Fraction(windows, 2)), 0.05)
prepare_all()
gc.freeze()  # what is loaded stays: nobody need look through it again
