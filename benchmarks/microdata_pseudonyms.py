"""Speed of pseudonyms: identifiers to pseudonyms against the keyed hash alone, called once for each of the same values.

The hash alone is `hashlib.blake2b` with a key and a digest of 32 bytes, in a plain loop over the values as bytes. The compiled
hash alone is the same function compiled, in one thread, into an array of digests: what is left beside it is reading
identifiers, writing texts, and a second core.
"""

from __future__ import annotations

import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import best_seconds
from sudare.microdata.pseudonyms import Design, Pseudonymizer, new_key
from sudare.microdata.pseudonyms.hashing import KeyedHash
from sudare.microdata.pseudonyms.identifiers import canonical_texts

ROWS = 10_000_000
LOOPED = 1_000_000
"""Values of which the plain loop is timed; its time is in proportion to them."""

TARGETS = {
    "pseudonymize_vs_hash": "at most 3 (10^7 identifiers to pseudonyms / hashlib's keyed BLAKE2b alone over the same bytes)",
    "pseudonymize_vs_compiled_hash": "the same / the compiled hash alone, one thread",
    "pseudonymize_seconds": "10^7 identifiers to pseudonyms",
}


def run(rows: int = ROWS) -> dict[str, float]:
    """All numbers of this benchmark.

    Args:
        rows: how many identifiers.
    """
    import pyarrow as pa

    identifiers = pa.array(np.random.default_rng(1).integers(10**9, 10**10, size=rows)).cast(pa.string())
    looped = [text.encode() for text in identifiers[: min(rows, LOOPED)].to_pylist()]
    subkey = bytes(range(32))
    compiled, texts = KeyedHash(subkey, threads=1), canonical_texts(identifiers)
    with tempfile.TemporaryDirectory() as folder:
        maker = Pseudonymizer(key := new_key(Path(folder) / "study.key"), Design("recipient", "person", key.epoch))
    maker.pseudonyms(identifiers[:1000])

    def alone() -> Any:
        for value in looped:
            blake2b(value, key=subkey, digest_size=32).digest()

    best = best_seconds(
        {"ours": lambda: maker.pseudonyms(identifiers), "hash": alone, "compiled": lambda: compiled.digests(texts)},
        rounds=3,
    )
    hash_seconds = best["hash"] * rows / len(looped)
    return {
        "pseudonymize_vs_hash": best["ours"] / hash_seconds,
        "pseudonymize_vs_compiled_hash": best["ours"] / best["compiled"],
        "pseudonymize_seconds": best["ours"],
    }
