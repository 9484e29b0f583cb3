"""The version, in its only place: the distribution, the command and every document of a release take it from here."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.2.0"
