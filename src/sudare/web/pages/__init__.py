"""One module for each part of the page: what it shows, and what its forms do."""

from __future__ import annotations

__all__: list[str] = []
