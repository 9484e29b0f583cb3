"""Publishing: one order for every kind of release, and what all kinds share.

A reading map: `protocol` (the order, whose steps are the argument), `kind` (what a kind says for itself), `registry` (which kinds
there are, and one call for all), `header` (the head of every plan), `accounts` (the charge), `publications` (what the ledger
knows to have been published), `folder_store` (releases that were made before), `verification` (checks of every folder),
`documents` and `progress`.

The order itself stands in `protocol` and `sudare.ledger.charging` alone: a kind never reserves, settles, seals or shows.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
