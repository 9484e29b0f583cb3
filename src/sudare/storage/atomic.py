"""Files that appear whole or not at all: written beside their place, brought to the disk, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sudare.errors import OutputError
from sudare.storage.durable import sync_file, sync_folder
from sudare.system.reasons import reason_of

__all__ = ["atomically", "unique_text"]


@contextmanager
def atomically(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """Give a temporary path beside the target to write to; on leaving, it takes the target's name.

    An error inside leaves no file behind, and a file that was there before as it was.

    Args:
        path: where the file shall appear.
        replace: whether it may take the place of an existing file.

    Raises:
        OutputError: if the target exists, its folder does not or cannot be written, or the disk is full.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.io import atomically
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with atomically(Path(folder) / "table.csv") as temporary:
        ...         _ = temporary.write_text("KEY_CODE,population")
        ...     [file.name for file in Path(folder).iterdir()]
        ['table.csv']
    """
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise OutputError(
            f"{str(target)!r} is a folder; name a file in it.",
            f"{str(target)!r} はフォルダです。その中のファイル名を指定してください。",
        )
    if target.exists() and not replace:
        raise _exists(target)
    if not folder.is_dir():
        raise OutputError(
            f"There is no folder {str(folder)!r}. Make it first, or write somewhere else.",
            f"フォルダ {str(folder)!r} がありません。先に作るか、別の場所を指定してください。",
        )
    # The suffix stays, because writers choose the format by it.
    temporary = folder / f".{unique_text()}.part{target.suffix}"
    try:
        # Made here, so that a folder that cannot be written is noticed before anything is computed.
        temporary.touch(mode=0o666, exist_ok=False)
        yield temporary
        sync_file(temporary)
        if replace:
            os.replace(temporary, target)  # noqa: PTH105
        else:
            # A link, unlike a rename, never takes the place of a file that appeared meanwhile.
            try:
                os.link(temporary, target)
            except FileExistsError:
                raise _exists(target) from None
            except OSError:
                os.replace(temporary, target)  # noqa: PTH105
        sync_folder(folder)
    except OSError as failure:
        raise _cannot_write(folder, failure) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def unique_text() -> str:
    """Sixteen letters and digits for a name that no other file has."""
    return secrets.token_hex(8)


def _exists(target: Path) -> OutputError:
    return OutputError(
        f"{str(target)!r} exists already. Choose another name, or move it away.",
        f"{str(target)!r} は既にあります。別の名前にするか、移動してください。",
    )


def _cannot_write(folder: Path, failure: OSError) -> OutputError:
    reason = reason_of(failure)
    return OutputError(
        f"Nothing could be written to the folder {str(folder)!r} ({reason.english}). Free space on the disk, or choose a folder "
        f"that you may write to.",
        f"フォルダ {str(folder)!r} に書き込めません（{reason.japanese}）。"
        "ディスクの空きを作るか、書き込めるフォルダを選んでください。",
    )
