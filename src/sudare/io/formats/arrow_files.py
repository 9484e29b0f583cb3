"""Arrow files (IPC, Feather version 2), checked before anybody uses what they hold.

Arrow believes the offsets that a file states. A file with a flipped bit then points into memory that is not its own, and the
process ends where it first looks there, also if a budget is reserved at that moment. So each batch is checked in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sudare.io import complaints

__all__ = ["arrow_schema", "sound_batches"]

KIND = "Arrow"


def arrow_schema(file: str) -> Any:
    """The schema of a file.

    Raises:
        InputError: if it is no Arrow file, or a damaged one.
    """
    schema = _opened(file).schema
    try:
        list(schema.names)
    except UnicodeDecodeError:
        raise complaints.damaged(file, KIND) from None
    return schema


def sound_batches(file: str) -> Iterator[Any]:
    """The batches of a file, one by one, each checked before it is handed out.

    Raises:
        InputError: if one of them is damaged.
    """
    import pyarrow

    reader = _opened(file)
    try:
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            batch.validate(full=True)
            yield batch
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError):
        raise complaints.damaged(file, KIND) from None


def _opened(file: str) -> Any:
    import pyarrow

    try:
        # Not mapped into memory: where a mapped file is cut off meanwhile, or its disk fails, the process is killed.
        return pyarrow.ipc.open_file(pyarrow.OSFile(file))
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError):
        raise complaints.damaged(file, KIND) from None
