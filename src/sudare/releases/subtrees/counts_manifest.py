"""What the noise is bound to: a digest of the counts below every lowest anchor, whatever files they lie in.

The digests are of the counts themselves, sorted, so that they depend neither on partitions nor on the cut. The ledger gets a
keyed hash of all of them before anything is drawn. An executor compares the counts that it is about to add noise to with the
digests, so that no recomputed or changed input ever meets the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.storage.hashes import keyed_digest
from sudare.tables.addressed.tree import AddressedTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["AnchorCounts", "CountsManifest", "digest_of_counts", "digests_of_counts"]


def digest_of_counts(leaves: Keys, counts: Integers) -> str:
    """SHA-256 of sorted leaves and their counts."""
    found = sha256(leaves.size.to_bytes(8, "little"))
    found.update(np.ascontiguousarray(leaves, dtype="<u8").tobytes())
    found.update(np.ascontiguousarray(counts, dtype="<i8").tobytes())
    return found.hexdigest()


def digests_of_counts(tree: AddressedTree, leaves: Keys, counts: Integers) -> dict[int, str]:
    """The digest of each lowest anchor with people, by its prefix.

    Args:
        tree: of the release.
        leaves: ascending.
        counts: at each.
    """
    anchors = tree.anchors_of(leaves, tree.anchored)
    edges = np.flatnonzero(np.diff(anchors, prepend=anchors[:1] ^ np.uint64(1)))
    parts = [slice(first, last) for first, last in pairwise([*edges.tolist(), leaves.size])]
    return {int(anchors[part.start]): digest_of_counts(leaves[part], counts[part]) for part in parts}


@dataclass(frozen=True)
class AnchorCounts:
    """What is below one of the lowest anchors.

    Attributes:
        prefix: of the anchor.
        cells: how many cells with people.
        people: how many.
        digest: of both.
    """

    prefix: int
    cells: int
    people: int
    digest: str


@dataclass(frozen=True)
class CountsManifest:
    """All counts of a release, as they lie in a confidential folder.

    Attributes:
        anchors: from left to right.
        files: names and sizes of the files that hold them.
    """

    anchors: tuple[AnchorCounts, ...]
    files: tuple[tuple[str, int], ...]

    def to_json(self) -> str:
        """As it is kept, confidentially."""
        anchors = [[one.prefix, one.cells, one.people, one.digest] for one in self.anchors]
        return json.dumps({"anchors": anchors, "files": self.files})

    @classmethod
    def from_json(cls, text: str) -> CountsManifest:
        """As it was kept."""
        values = json.loads(text)
        anchors = tuple(AnchorCounts(*one) for one in values["anchors"])
        return cls(anchors, tuple((name, size) for name, size in values["files"]))

    def binding(self, secret: bytes, fingerprint: str) -> str:
        """The keyed hash that stands in the ledger before anything is drawn.

        Args:
            secret: of the data set.
            fingerprint: of the release.
        """
        lines = [f"{one.prefix} {one.cells} {one.people} {one.digest}".encode() for one in self.anchors]
        return keyed_digest(secret, "counts of a release", [fingerprint.encode(), *lines])

    def digests_within(self, first: int, last: int) -> Mapping[str, str]:
        """The digests of anchors from one leaf to another, as a task gets them."""
        return {str(one.prefix): one.digest for one in self.anchors if first <= one.prefix <= last}

    @property
    def prefixes(self) -> Sequence[int]:
        """Of the anchors with people."""
        return [one.prefix for one in self.anchors]
