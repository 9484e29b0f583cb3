"""A task: what is collected, by whom, and with which keys. All parties agree on it in one public file.

`create_task` writes a folder for each party. The leader's and the helper's have the verify key, which no client and no
collector may have; each of the three has a private key of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sudare.bilingual import Words
from sudare.collect.prio.responses import RandomizedResponse
from sudare.collect.prio.services.sealing import new_key_pair, public_key_of
from sudare.collect.prio.vdaf.prio3 import VERIFY_KEY_SIZE, Prio3
from sudare.collect.prio.vdaf.variants import Prio3Count, Prio3Histogram, Prio3MultihotCountVec, Prio3Sum, Prio3SumVec
from sudare.errors import Described, InputError, OutputError, ParameterError, PlanError
from sudare.parameters import Rational, exact_fraction, exact_integer
from sudare.storage.guarded_json import parse_json
from sudare.system.regular_files import read_regular_file

__all__ = ["HELPER", "LEADER", "AggregatorKeys", "CollectorKeys", "Task", "TaskMeasurement", "create_task"]

LEADER, HELPER, COLLECTOR = "leader", "helper", "collector"
VERSION = 1
KEY_SIZE = 32
TASK_FILE, VERIFY_FILE, PRIVATE_FILE, TOKEN_FILE = "task.json", "verify.key", "private.key", "token.key"
VARIANTS: dict[str, tuple[type[Prio3], tuple[str, ...]]] = {
    "count": (Prio3Count, ()),
    "sum": (Prio3Sum, ("max_measurement",)),
    "sumvec": (Prio3SumVec, ("length", "max_measurement", "chunk_length")),
    "histogram": (Prio3Histogram, ("length", "chunk_length")),
    "multihot": (Prio3MultihotCountVec, ("length", "max_weight", "chunk_length")),
}


@dataclass(frozen=True)
class TaskMeasurement:
    """What every report is about.

    Args:
        variant: ``"count"``, ``"sum"``, ``"sumvec"``, ``"histogram"`` or ``"multihot"``.
        length: how many values or numbers there are (``sumvec``, ``histogram``, ``multihot``).
        max_measurement: the largest number (``sum``, ``sumvec``).
        max_weight: the most values one report may name (``multihot``).
        chunk_length: see `sudare.collect.prio.Prio3Histogram`; left out, the best one.

    Example:
        >>> TaskMeasurement("histogram", length=10).prio().circuit.output_length
        10
    """

    variant: str
    length: int | None = None
    max_measurement: int | None = None
    max_weight: int | None = None
    chunk_length: int | None = None

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ParameterError(
                "variant",
                "TaskMeasurement",
                Words(f"one of {', '.join(VARIANTS)}", f"{', '.join(VARIANTS)} のいずれか"),
                self.variant,
            )
        wanted = VARIANTS[self.variant][1]
        for name in ("length", "max_measurement", "max_weight", "chunk_length"):
            given = getattr(self, name) is not None
            if given != (name in wanted) and name != "chunk_length":
                word = "given" if name in wanted else "left out"
                raise ParameterError(name, "TaskMeasurement", f"{word} for {self.variant!r}", getattr(self, name))
        if self.chunk_length is not None and "chunk_length" not in wanted:
            raise ParameterError(
                "chunk_length",
                "TaskMeasurement",
                Words(f"left out for {self.variant!r}", f"{self.variant!r} では省略"),
                self.chunk_length,
            )
        self.prio()

    def prio(self) -> Prio3:
        """Prio3 for it, between two aggregators."""
        kind, names = VARIANTS[self.variant]
        return kind(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Task:
    """What all parties agree on.

    Attributes:
        identifier: 32 random bytes.
        measured: what every report is about.
        minimum_batch: how many reports a batch must have before anything of it is given out.
        leader_url: where the leader listens, such as ``http://127.0.0.1:8001``.
        helper_url: where the helper listens.
        leader_key: the leader's public key.
        helper_key: the helper's public key.
        collector_key: the collector's public key.
        token_digest: SHA-256 of the collector's token.
        keep: the probability with which clients keep their value, or None for no randomized response.
    """

    identifier: bytes
    measured: TaskMeasurement
    minimum_batch: int
    leader_url: str
    helper_url: str
    leader_key: bytes
    helper_key: bytes
    collector_key: bytes
    token_digest: bytes
    keep: Fraction | None = None

    def __post_init__(self) -> None:
        exact_integer(
            self.minimum_batch,
            "minimum_batch",
            "Task",
            Words("a whole number from 1 to 2**40", "1 以上 2**40 以下の整数"),
            smallest=1,
            largest=2**40,
        )
        for name in ("leader_url", "helper_url"):
            read_address(getattr(self, name), name)
        for name in ("identifier", "leader_key", "helper_key", "collector_key", "token_digest"):
            value = getattr(self, name)
            if not isinstance(value, bytes) or len(value) != KEY_SIZE:
                raise ParameterError(name, "Task", Words("32 bytes", "32 バイト"), type(value).__name__)
        if len({self.leader_key, self.helper_key, self.collector_key}) < 3 or self.leader_url == self.helper_url:
            requirement = Words(
                "different from the leader's and the collector's: one party with both shares would see every value",
                "leader とも collector とも異なる値（両方のシェアをもつ当事者にはすべての値が見えるため）",
            )
            raise ParameterError("helper_key", "Task", requirement, Described("the same"))
        if self.keep is not None:
            _ = self.response

    @property
    def response(self) -> RandomizedResponse | None:
        """What clients do to their value before anything else."""
        if self.keep is None:
            return None
        if self.measured.variant not in ("count", "histogram"):
            raise ParameterError(
                "keep",
                "Task",
                Words("left out for all but 'count' and 'histogram'", "'count' と 'histogram' 以外では省略"),
                self.keep,
            )
        return RandomizedResponse(self.measured.length or 2, self.keep)

    @cached_property
    def prio(self) -> Prio3:
        """Prio3 for this task."""
        return self.measured.prio()

    @cached_property
    def digest(self) -> bytes:
        """Names the task with all its settings: parties that differ in any of them do not understand each other."""
        return hashlib.sha256(self.to_json().encode()).digest()

    @property
    def ctx(self) -> bytes:
        """The application context of Prio3."""
        return b"sudare prio 1 " + self.digest

    def key_of(self, role: str) -> bytes:
        """An aggregator's public key."""
        return self.leader_key if role == LEADER else self.helper_key

    def to_json(self) -> str:
        """As canonical JSON."""
        measured = {name: value for name, value in vars(self.measured).items() if value is not None}
        content = {
            "format": "sudare prio task",
            "version": VERSION,
            "identifier": self.identifier.hex(),
            "measured": measured,
            "minimum_batch": self.minimum_batch,
            "leader_url": self.leader_url,
            "helper_url": self.helper_url,
            "leader_key": self.leader_key.hex(),
            "helper_key": self.helper_key.hex(),
            "collector_key": self.collector_key.hex(),
            "token_digest": self.token_digest.hex(),
            "keep": None if self.keep is None else f"{self.keep.numerator}/{self.keep.denominator}",
        }
        return json.dumps(content, sort_keys=True, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Task:
        """From JSON, read strictly.

        Raises:
            InputError: if it is not a task that this version can read.
        """
        try:
            content = parse_json(text, lenient=True)
            if content.pop("format") != "sudare prio task" or content.pop("version") != VERSION:
                raise ValueError
            measured = TaskMeasurement(**content.pop("measured"))
            keep = content.pop("keep")
            binary = ("identifier", "leader_key", "helper_key", "collector_key", "token_digest")
            octets: dict[str, Any] = {name: bytes.fromhex(content.pop(name)) for name in binary}
            return Task(measured=measured, keep=None if keep is None else _read_fraction(keep), **octets, **content)
        except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError) as problem:
            reason = f" ({problem})" if isinstance(problem, ParameterError) else ""
            raise InputError(
                f"This is not a task file that this version of sudare can read{reason}. Use the task.json that the "
                "task's keys were made with, unchanged.",
                f"この版の sudare で読めるタスクファイルではありません{reason}。"
                "鍵と一緒に作られた task.json をそのまま使ってください。",
            ) from None

    @staticmethod
    def read(path: str | Path) -> Task:
        """From a file."""
        return Task.from_json(_read_text(Path(path)))


@dataclass(frozen=True, repr=False)
class AggregatorKeys:
    """An aggregator's secrets."""

    private: bytes
    verify: bytes

    @staticmethod
    def read(folder: str | Path, task: Task, role: str) -> AggregatorKeys:
        """From the folder that `create_task` wrote for the role.

        Raises:
            InputError: if a key is missing, damaged, or not the one of this task and role.
        """
        private, verify = (_read_key(Path(folder) / name) for name in (PRIVATE_FILE, VERIFY_FILE))
        if public_key_of(private) != task.key_of(role):
            raise InputError(
                f"The private key in {folder} is not that of this task's {role}. Start each aggregator with its own folder.",
                f"{folder} の秘密鍵はこのタスクの {role} のものではありません。各集計者は自分のフォルダで起動してください。",
            )
        return AggregatorKeys(private, verify)

    def link_key(self) -> bytes:
        """Authenticates the leader and the helper to each other."""
        return hmac.digest(self.verify, b"sudare prio link 1", "sha256")


@dataclass(frozen=True, repr=False)
class CollectorKeys:
    """The collector's secrets."""

    private: bytes
    token: bytes

    @staticmethod
    def read(folder: str | Path, task: Task) -> CollectorKeys:
        """From the folder that `create_task` wrote for the collector.

        Raises:
            InputError: if a key is missing, damaged, or not the one of this task.
        """
        private, token = (_read_key(Path(folder) / name) for name in (PRIVATE_FILE, TOKEN_FILE))
        if public_key_of(private) != task.collector_key:
            raise InputError(
                f"The private key in {folder} is not that of this task's collector.",
                f"{folder} の秘密鍵はこのタスクの収集者のものではありません。",
            )
        return CollectorKeys(private, token)


def create_task(
    folder: str | Path,
    measured: TaskMeasurement,
    *,
    leader_url: str,
    helper_url: str,
    minimum_batch: int = 100,
    keep: Rational | None = None,
) -> Task:
    """Draw all keys of a new task and write a folder for each party.

    Args:
        folder: gets ``task.json`` (public, for everybody, clients included) and the folders ``leader``, ``helper`` and
            ``collector``, which are secret. Give each to its party alone, and keep none of them together.
        measured: what every report is about.
        leader_url: where the leader will listen.
        helper_url: where the helper will listen.
        minimum_batch: how many reports a batch must have.
        keep: the probability with which clients keep their value; left out, there is no randomized response.

    Raises:
        OutputError: if the folder exists already and is not empty, or cannot be written.
        ParameterError: if a setting is not allowed.
    """
    target = Path(folder)
    pairs = {role: new_key_pair() for role in (LEADER, HELPER, COLLECTOR)}
    token, verify = secrets.token_bytes(KEY_SIZE), secrets.token_bytes(VERIFY_KEY_SIZE)
    requirement = Words("a probability above 0 and below 1", "0 より大きく 1 より小さい確率")
    task = Task(
        identifier=secrets.token_bytes(KEY_SIZE),
        measured=measured,
        minimum_batch=minimum_batch,
        leader_url=leader_url,
        helper_url=helper_url,
        leader_key=pairs[LEADER][1],
        helper_key=pairs[HELPER][1],
        collector_key=pairs[COLLECTOR][1],
        token_digest=hashlib.sha256(token).digest(),
        keep=None if keep is None else exact_fraction(keep, "keep", "create_task", requirement),
    )
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise OutputError(
                f"The folder {folder} is not empty. Keys are never overwritten: choose a new folder.",
                f"フォルダ {folder} は空ではありません。鍵は上書きされません。新しいフォルダを指定してください。",
            )
        for role in (LEADER, HELPER):
            _write_keys(target / role, {PRIVATE_FILE: pairs[role][0], VERIFY_FILE: verify})
        _write_keys(target / COLLECTOR, {PRIVATE_FILE: pairs[COLLECTOR][0], TOKEN_FILE: token})
        (target / TASK_FILE).write_text(task.to_json(), "utf-8")
    except OSError as problem:
        raise OutputError(
            f"The keys cannot be written to {folder}: {problem.strerror}.",
            f"鍵を {folder} に書き込めません（{problem.strerror}）。",
        ) from None
    return task


def _read_fraction(text: Any) -> Fraction:
    """As `Task.to_json` writes it; a text with an exponent could take for ever."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,60}(/[1-9][0-9]{0,60})?", text):
        raise ValueError
    return Fraction(text)


def read_address(url: Any, parameter: str) -> tuple[bool, str, int]:
    """Whether an address is encrypted, its host and its port.

    Raises:
        PlanError: if it is not ``http://host:port`` or ``https://host:port``.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.path in ("", "/") and not parts.query
    except (ValueError, AttributeError, TypeError):
        good = False
    if not good:
        raise PlanError(
            f"The address {url!r} ({parameter}) must be of the form http://host:port or https://host:port.",
            f"アドレス {url!r}（{parameter}）は http://ホスト:ポート または https://ホスト:ポート の形で指定してください。",
        )
    return parts.scheme == "https", str(parts.hostname), port


def _write_keys(folder: Path, keys: dict[str, bytes]) -> None:
    folder.mkdir(mode=0o700)
    for name, key in keys.items():
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")


def _read_text(path: Path) -> str:
    try:
        return read_regular_file(path).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"The file {path} cannot be read. It is made together with a task's other files, by keygen.",
            f"ファイル {path} を読めません。タスクのほかのファイルと一緒に keygen で作られます。",
        ) from None


def _read_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(_read_text(path))
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        key = b""
    if len(key) != KEY_SIZE:
        raise InputError(
            f"The key file {path} is damaged: it must have 64 hexadecimal digits.",
            f"鍵ファイル {path} が壊れています。64 桁の 16 進数でなければなりません。",
        )
    return key
