"""Published releases in the formats that other offices read.

- `description`: a published table, or published records, as every format needs them; `folders`: made from a release folder.
- `format`: what a format is; `registry`: all of them by name; `exporting`: one call that writes any of them.
- `formats`: the formats themselves.
- `dense`, `sentences`, `export_words`: all cells in order; what is said of a release; the words.

An exported file is made from published files alone: no ledger is opened, and no true data is read.
"""

from sudare.export.exporting import Exported, export_release
from sudare.export.registry import export_format_named, export_format_names

__all__ = ["Exported", "export_format_named", "export_format_names", "export_release"]
