"""The key of a release while it is being made: a file for its owner alone, wrapped by the ledger's secret.

Neither the file nor the ledger is enough to draw the noise again. A driver that is killed finds the key by both. Once the
release is settled, or can never be, the file is overwritten and removed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.noise.addressed import NoiseKey
from sudare.releases.subtrees.confidential_folder import destroy_file, write_private_file
from sudare.storage.hashes import keyed_digest

__all__ = ["WrappedKey"]

LOST = Words(
    "Noise may have been drawn for this release, and its key '{path}' is gone or was changed. Bring the file back. "
    "Otherwise the budget stays spent, and the release cannot be finished.",
    "この公表のノイズは既に生成された可能性がありますが、鍵「{path}」が見つからないか変更されています。"
    "ファイルを戻してください。戻せない場合、予算は使用済みのままで、この公表は完了できません。",
)


class WrappedKey:
    """Where the key of one release is kept.

    Args:
        folder: beside the ledger.
        secret: of the data set, from the ledger.
        fingerprint: of the release.
    """

    def __init__(self, folder: Path, secret: bytes, fingerprint: str) -> None:
        self.path = folder / f"{fingerprint[:32]}.key"
        self._wrapping = bytes.fromhex(keyed_digest(secret, "wrapping key of a release", [fingerprint.encode()]))

    def open(self, *, may_be_new: bool) -> NoiseKey:
        """The key; a fresh one, kept before it is used, if there is none.

        Args:
            may_be_new: whether nothing was bound to a key yet.

        Raises:
            LedgerError: if there must be a key, and it is not there.
        """
        from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

        try:
            return NoiseKey(aes_key_unwrap(self._wrapping, self.path.read_bytes()))
        except (FileNotFoundError, InvalidUnwrap, ValueError):
            if not may_be_new:
                raise LedgerError(LOST.format(path=self.path)) from None
        key = NoiseKey.fresh()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private_file(self.path, aes_key_wrap(self._wrapping, key.material()))
        return key

    def destroy(self) -> None:
        """Overwrite and remove the file; twice does no harm. A file system or a disk may keep copies."""
        destroy_file(self.path)
        with suppress(OSError):
            self.path.parent.rmdir()
