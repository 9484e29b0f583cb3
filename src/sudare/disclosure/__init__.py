"""Statistical disclosure control of tables: rules that find unsafe cells, cells hidden to protect them, rounding, cell keys.

Everything works on two values: a `TableSystem` holds the cells of one or several linked tables and every sum among them, a
`CellTable` their exact values and largest contributors. The `rules` find the cells that must not be published, the rest of the
package protects them. Same input, same output, on every run.

- `structure`, `cell_table`, `linking`: cells and sums, from records or as finished tables, linked where they share cells.
- `rules`, `status`: unsafe cells and how uncertain they must stay.
- `secondary`, `problem`, `singletons`: which further cells to hide; `certificate` and `audit`: proof and intervals.
- `rounding`, `cell_key`, `merging`: other ways than hiding.
- `tau_argus`, `tau_argus_metadata`: files of tau-ARGUS.

Names are loaded on first use.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
