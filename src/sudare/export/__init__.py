"""Published releases in the formats that other offices read.

- `description`: a published table, or published records, as every format needs them; `folders`: made from a release folder.
- `format`: what a format is; `registry`: all of them by name; `exporting`: one call that writes any of them.
- `lake_rows`, `committing`: the rows of a release, and one call that commits them to a table of a lakehouse.
- `formats`: the formats themselves.
- `dense`, `sentences`, `export_words`: all cells in order; what is said of a release; the words.

An exported file is made from published files alone: no ledger is opened, and no true data is read.
"""

from sudare.export.committing import commit_release
from sudare.export.exporting import Exported, export_release
from sudare.export.format import Committed
from sudare.export.registry import export_format_named, export_format_names, lake_format_named, lake_format_names

__all__ = [
    "Committed",
    "Exported",
    "commit_release",
    "export_format_named",
    "export_format_names",
    "export_release",
    "lake_format_named",
    "lake_format_names",
]
