"""Private SQL on an unmodified database.

A query goes through these modules: `parsing` and `naming` (what is asked), `planning` (what is measured, with the sensitivity of
each measure and its reason), `allocating` (which noise), `charging` (who pays, before anything is read), `answering` (the
database counts, noise is added outside), `cursors` (what is handed out).

This package is also a DB-API 2.0 module. Names are loaded on first use.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
