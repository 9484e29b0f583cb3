"""Objects that hold something open: they are closed at the end of a ``with`` block, whatever ended it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

__all__ = ["Closeable"]


class Closeable:
    """Something that is open until it is closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close it."""
