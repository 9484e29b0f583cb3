"""Secret keys: made by the operating system, kept in a file of their own, and never used as they are.

A key file holds a root secret, for the register of people and for sealing, and one secret for each epoch of pseudonyms. Every use
has a subkey of its own, by HKDF-SHA-256 (RFC 5869) over a text that names the use without ambiguity: nothing that is made
for one recipient, kind of identifier, epoch or purpose can be compared with what is made for another.

What this protects: ``pseudonyms.md`` beside this file.
"""

from __future__ import annotations

import hmac
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.io import atomically
from sudare.parameters import exact_integer, shown
from sudare.system.locks import FileLock
from sudare.system.reasons import reason_of
from sudare.system.regular_files import read_regular_file

__all__ = ["SecretKey", "destroy_epoch", "expand_key", "new_key", "read_key", "rotate_key"]

SECRET_BYTES = 32
MIN_DISTINCT_BYTES = 12
"""Different bytes in a secret; 32 random ones have 30 on average, and fewer than 12 with a probability below 1e-20."""

HEADER = "sudare secret key, version 1"
SALT = b"sudare pseudonyms 1"
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
LINE = re.compile(r"(root|epoch ([1-9][0-9]{0,5}))(?: = ([0-9a-f]+)| is destroyed)")
CHECKSUM_DIGITS = 16
KINDS_OF_FILES = {
    "mapping": Words("mapping", "対応表"),
    "output": Words("output", "出力"),
    "register": Words("register", "登録簿"),
    "input": Words("input", "入力"),
}


def expand_key(secret: bytes, *purpose: str, length: int = 32) -> bytes:
    """A subkey for one purpose: HKDF-SHA-256, whose info is the parts of the purpose, each with its length before it.

    Args:
        secret: what the subkey is made from.
        purpose: words that say what it is for; ``("a", "b")`` is another purpose than ``("ab",)``.
        length: of the subkey in bytes.

    Example:
        >>> expand_key(bytes(32), "a", "b") == expand_key(bytes(32), "ab")
        False
    """
    encoded = [part.encode("utf-8", "surrogatepass") for part in purpose]
    return hkdf(secret, SALT, b"".join(len(part).to_bytes(4, "big") + part for part in encoded), length)


def hkdf(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """HKDF-SHA-256 of RFC 5869."""
    extracted = hmac.digest(salt, secret, "sha256")
    block, out = b"", b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(extracted, block + info + bytes([number]), "sha256")
        out += block
    return out[:length]


@dataclass(frozen=True)
class SecretKey:
    """The secrets of a key file.

    Attributes:
        root: for the register and for sealing.
        epochs: the secret of each epoch; None where it was destroyed.
        path: the file it was read from.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     key = new_key(Path(folder) / "study.key")
        ...     key.epoch, read_key(key.path).name == key.name, key
        (1, True, SecretKey(...))
    """

    root: bytes = field(repr=False)
    epochs: Mapping[int, bytes | None] = field(repr=False)
    path: Path = field(repr=False)

    def __repr__(self) -> str:
        return "SecretKey(...)"

    @property
    def name(self) -> str:
        """What tells this key from others; it says nothing about the secrets."""
        return expand_key(self.root, "name", length=8).hex()

    @property
    def epoch(self) -> int:
        """The latest epoch."""
        return max(self.epochs)

    def subkey(self, *purpose: str) -> bytes:
        """A subkey of the root, the same in all epochs."""
        return expand_key(self.root, "root", *purpose)

    def subkey_of_epoch(self, epoch: int, *purpose: str) -> bytes:
        """A subkey of one epoch.

        Raises:
            InputError: if there is no such epoch, or its secret was destroyed.
        """
        exact_integer(epoch, "epoch", "SecretKey", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
        secret = self.epochs.get(epoch)
        if secret is None:
            is_gone = epoch in self.epochs
            raise InputError(
                f"The key {self.path.name!r} has no epoch {epoch}"
                + (": its secret was destroyed on request." if is_gone else f"; its latest epoch is {self.epoch}."),
                f"鍵 {self.path.name!r} に世代 {epoch} はありません"
                + ("（依頼により破棄されました）。" if is_gone else f"。最新の世代は {self.epoch} です。"),
            )
        return expand_key(secret, "epoch", *purpose)

    def to_text(self) -> str:
        """The lines of the file."""
        lines = [HEADER, f"name = {self.name}", f"root = {self.root.hex()}"]
        for number, secret in sorted(self.epochs.items()):
            lines.append(f"epoch {number} is destroyed" if secret is None else f"epoch {number} = {secret.hex()}")
        body = "\n".join(lines) + "\n"
        return f"{body}checksum = {_checksum(body)}\n"


def new_key(path: str | Path) -> SecretKey:
    """Make a key file, readable by its owner only, with secrets from the operating system.

    Raises:
        OutputError: if the file exists, or cannot be written.
    """
    key = SecretKey(
        secrets.token_bytes(SECRET_BYTES), MappingProxyType({1: secrets.token_bytes(SECRET_BYTES)}), Path(path)
    )
    _write(key, replace=False)
    return key


def read_key(path: str | Path) -> SecretKey:
    """Read a key file.

    Raises:
        InputError: if it is missing, readable by others, short, damaged or not a key.
    """
    file = Path(path)
    text = _private_text(file)
    body, mark, checksum = text.rpartition("checksum = ")
    lines = body.splitlines()
    if not mark or not lines or lines[0] != HEADER or len(lines) < 4:
        raise _not_a_key(file)
    secrets_of: dict[str, bytes | None] = {}
    for line in lines[2:]:
        found = LINE.fullmatch(line)
        if found is None or found[1] in secrets_of or (found[1] == "root" and found[3] is None):
            raise _not_a_key(file)
        secrets_of[found[1]] = None if found[3] is None else _secret(found[3], file)
    root = secrets_of.pop("root", None)
    if root is None or not secrets_of:
        raise _not_a_key(file)
    epochs = {int(name.split()[1]): secret for name, secret in secrets_of.items()}
    key = SecretKey(root, MappingProxyType(epochs), file)
    is_whole = hmac.compare_digest(checksum.strip(), _checksum(body)) and lines[1] == f"name = {key.name}"
    if not is_whole or sorted(epochs) != list(range(1, len(epochs) + 1)) or epochs[key.epoch] is None:
        raise InputError(
            f"The key {file.name!r} is damaged: its checksum does not fit. Take it from your backup.",
            f"鍵 {file.name!r} は壊れています（検査値が合いません）。控えから復元してください。",
        )
    return key


def rotate_key(key: SecretKey) -> SecretKey:
    """Begin a new epoch: from now on everybody has new pseudonyms; those of older epochs can still be computed.

    Raises:
        OutputError: if the file cannot be written.
    """
    with FileLock(_lock_of(key)):
        # Read again: another process may have begun an epoch since.
        latest = read_key(key.path)
        changed = {**latest.epochs, latest.epoch + 1: secrets.token_bytes(SECRET_BYTES)}
        rotated = SecretKey(latest.root, MappingProxyType(changed), key.path)
        _write(rotated, replace=True)
    return rotated


def destroy_epoch(key: SecretKey, epoch: int) -> SecretKey:
    """Forget the secret of an older epoch: nobody can compute its pseudonyms again, from whatever identifier.

    Copies and backups of the key file, and what a disk keeps of deleted files, are not reached by this.

    Raises:
        ParameterError: if it is the latest epoch.
        InputError: if there is no such epoch.
    """
    with FileLock(_lock_of(key)):
        latest = read_key(key.path)
        last = latest.epoch - 1
        exact_integer(
            epoch,
            "epoch",
            "destroy_epoch",
            Words("an epoch before the latest", "最新より前の世代"),
            smallest=1,
            largest=last,
        )
        rest = SecretKey(latest.root, MappingProxyType({**latest.epochs, epoch: None}), key.path)
        _write(rest, replace=True)
    return rest


def require_apart(key: SecretKey, *others: tuple[str | Path | None, str, str]) -> None:
    """Refuse a key that is the same file as something else, lies beside it, or in a folder that is given away, or below it.

    Args:
        key: the key.
        others: a file or nothing; ``"file"`` if it must not be the key, ``"beside"`` if the key must not lie in its folder
            either, ``"folder"`` if the key must not lie in or below its folder; and what it is, a key of `KINDS_OF_FILES`.
    """
    own = key.path.resolve()
    for path, how, what in others:
        if path is None:
            continue
        other = Path(path).resolve()
        is_same = other == own or (other.exists() and own.exists() and other.samefile(own))
        is_beside = how == "beside" and other.parent == own.parent
        if is_same or is_beside or (how == "folder" and own.is_relative_to(other.parent)):
            named = KINDS_OF_FILES[what]
            raise InputError(
                f"The key {str(key.path)!r} is not kept apart from the {named.english} {str(path)!r}. "
                f"Keep the key in a folder of its own.",
                f"鍵 {str(key.path)!r} と{named.japanese} {str(path)!r} が分けて保管されていません。"
                f"鍵は専用のフォルダに置いてください。",
            )


def _lock_of(key: SecretKey) -> Path:
    return key.path.with_name(key.path.name + ".lock")


def _write(key: SecretKey, *, replace: bool) -> None:
    with atomically(key.path, replace=replace) as temporary:
        temporary.chmod(0o600)  # before a secret is in it
        temporary.write_text(key.to_text(), encoding="ascii")


def _private_text(file: Path) -> str:
    try:
        about = file.stat()
        if not stat.S_ISREG(about.st_mode):
            raise _not_a_key(file)
        if about.st_mode & OPEN_TO_OTHERS:
            raise InputError(
                f"The key {str(file)!r} can be read or changed by other users. Run: chmod 600 {file.name}. If others may "
                f"have read it, make a new key.",
                f"鍵 {str(file)!r} はほかの利用者も読み書きできます。chmod 600 {file.name} を実行してください。"
                "既に読まれた恐れがあれば、新しい鍵を作ってください。",
            )
        return read_regular_file(file).decode("ascii")
    except FileNotFoundError:
        raise InputError(
            f"There is no key at {str(file)!r}. Make one with: sudare pseudonymize new-key {file.name}",
            f"{str(file)!r} に鍵がありません。sudare pseudonymize new-key {file.name} で作れます。",
        ) from None
    except UnicodeDecodeError:
        raise _not_a_key(file) from None
    except OSError as failure:
        reason = reason_of(failure)
        raise InputError(
            f"The key {str(file)!r} cannot be read ({reason.english}).",
            f"鍵 {str(file)!r} を読めません（{reason.japanese}）。",
        ) from None


def _secret(digits: str, file: Path) -> bytes:
    secret = bytes.fromhex(digits) if len(digits) % 2 == 0 else b""
    if len(secret) < SECRET_BYTES or len(set(secret)) < MIN_DISTINCT_BYTES:
        raise InputError(
            f"The key {file.name!r} is too short or not random: each secret must be at least {SECRET_BYTES} bytes from the "
            f"operating system. Make one with: sudare pseudonymize new-key",
            f"鍵 {file.name!r} が短すぎるか、乱数ではありません。"
            f"各秘密は OS の乱数 {SECRET_BYTES} バイト以上でなければなりません。"
            "sudare pseudonymize new-key で作ってください。",
        )
    return secret


def _not_a_key(file: Path) -> InputError:
    return InputError(
        f"The file {file.name!r} is not a key of this program, or is damaged or too short. Make one with: "
        f"sudare pseudonymize new-key",
        f"ファイル {file.name!r} はこのプログラムの鍵ではないか、壊れているか、短すぎます。"
        "sudare pseudonymize new-key で作ってください。",
    )


def _checksum(body: str) -> str:
    return sha256(body.encode("ascii")).hexdigest()[:CHECKSUM_DIGITS]


def read_name(value: object, parameter: str, function: str) -> str:
    """A short text that names a recipient or a kind of identifier."""
    if not isinstance(value, str) or not value.strip() or value != value.strip() or not value.isprintable():
        raise ParameterError(
            parameter,
            function,
            Words("a printable text without spaces around it", "前後に空白のない、表示できる文字列"),
            shown(value),
        )
    return value
