"""Reading data about people into count tables, and writing published tables.

- `source`: `Source` says where data is and how it is laid out. `reading`: `read_counts`, `read_signed` and `describe_source`.
- `relations`, `columns`, `points`, `counting`: tabular data through DuckDB. `estat`: mesh statistics as e-Stat hands them out.
- `records`: columns as arrays, one row for each person.
- `writing`: `write_table`, `write_measurements`; `geotiff`, `geoparquet`: maps. `atomic`: files that appear whole.
- `complaints`: the messages for a wrong file.
"""

from sudare.io.loading import describe_source, read_counts, read_signed
from sudare.io.records import read_records, write_arrow
from sudare.io.source import FORMATS, Source, SourceInfo
from sudare.io.writing import write_measurements, write_table
from sudare.storage.atomic import atomically

__all__ = [
    "FORMATS",
    "Source",
    "SourceInfo",
    "atomically",
    "describe_source",
    "read_counts",
    "read_records",
    "read_signed",
    "write_arrow",
    "write_measurements",
    "write_table",
]
