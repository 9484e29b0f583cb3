"""Cheap attacks on a folder of protected tables, as its method has them: `cell_attacks` for cells, `mesh_attacks` for meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sudare.attacks.verdicts import AttackReport
from sudare.releases.kinds.tables.methods.registry import method_of_document

__all__ = ["attack_folder"]


def attack_folder(
    folder: Path, document: Mapping[str, Any], *, earlier: Sequence[Path] = ()
) -> tuple[AttackReport, ...]:
    """Attack the published tables of a folder.

    Args:
        folder: with the tables, and ``confidential.json`` if the caller is the holder; without it, a cell counts as broken only
            if its value is certain.
        document: what its ``release.json`` says.
        earlier: folders of protected tables about the same data that were published before.

    Returns:
        A report of each attack that applies: ``interval`` for every table of cells, those of its method besides, and
        ``earlier`` or ``differencing`` with earlier folders.

    Raises:
        InputError: if a folder is not what it should be, or an earlier table contradicts this one.
    """
    return method_of_document(document).attack(folder, document, earlier)
