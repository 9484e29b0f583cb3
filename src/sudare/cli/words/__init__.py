"""Every word that the command shows, in English and Japanese, by key.

The help of the parameter ``folder`` of the command ``verify`` is the text ``verify.folder``; what a command says while it
works has a key of its own, such as ``release.repeated``. Each module holds the words of a group of commands.
"""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words
from sudare.cli.words import (
    attacks,
    collecting,
    common,
    comparison,
    disclosure,
    doctor,
    ledger,
    microdata,
    pseudonyms,
    querying,
    releasing,
    series,
)

__all__ = ["MESSAGES", "MODULES"]

MODULES = (
    attacks,
    collecting,
    common,
    comparison,
    disclosure,
    doctor,
    ledger,
    microdata,
    pseudonyms,
    querying,
    releasing,
    series,
)
"""Of which each has ``HELP`` and ``SPOKEN``."""

MESSAGES: Mapping[str, Words] = {
    key: words for module in MODULES for texts in (module.HELP, module.SPOKEN) for key, words in texts.items()
}
