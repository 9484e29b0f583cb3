"""The document of a published folder as it was read. Anybody may have written it: nothing in it is believed unchecked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.privacy import ReleaseEvent
from sudare.version import __version__

__all__ = ["StatedDocument"]


@dataclass(frozen=True, eq=False)
class StatedDocument:
    """What the document of a folder states.

    Its methods read what every kind of document has, and raise LookupError, TypeError or ValueError where it is not there.

    Attributes:
        path: of its file.
        values: what the file says.
    """

    path: Path
    values: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder that it describes."""
        return self.path.parent

    @property
    def name(self) -> str:
        """Of its file."""
        return self.path.name

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def get(self, key: str) -> Any:
        """What it states under a key; None if it states nothing."""
        return self.values.get(key)

    def file_named(self, entry: Mapping[str, Any]) -> Path:
        """The file of the folder that an entry of its list names, wherever the name leads."""
        return self.folder / Path(entry["name"]).name

    def listed_files(self) -> list[Path]:
        """The files of the folder that it lists."""
        return [self.file_named(entry) for entry in self["files"]]

    def event(self) -> ReleaseEvent:
        """The event that it states.

        Raises:
            SudareError: if its noise costs more than it states.
        """
        return ReleaseEvent.from_json(json.dumps(self["event"]))

    def is_of_this_version(self) -> bool:
        """Whether this version of sudare made it."""
        return self.made_by() == __version__

    def made_by(self) -> str:
        """The version of sudare that made it, as the document states it."""
        versions = self.get("versions")
        return str(versions.get("sudare")) if isinstance(versions, dict) else "None"
