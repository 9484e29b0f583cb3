"""Known answers: replays the published test vectors of the VDAF draft, step by step.

A vector file states a task, the random bytes, every message that must come out, and for each step whether it must
succeed. A file behaves if every step does what the file says: the files named ``bad`` have a step that must be refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sudare.collect.prio.refusals import ReportRefusedError
from sudare.collect.prio.vdaf.fields import FIELD128
from sudare.collect.prio.vdaf.prio3 import Prio3
from sudare.collect.prio.vdaf.reports import VerifyState
from sudare.collect.prio.vdaf.variants import (
    Prio3Count,
    Prio3HigherDegree,
    Prio3Histogram,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
    Prio3SumVecWithMultiproof,
)
from sudare.collect.prio.vdaf.xof import FIXED_KEY_AES128, HMAC_SHA256_AES128, TURBOSHAKE128, Xof
from sudare.errors import InputError

__all__ = ["KnownAnswers", "check_known_answers"]

PARAMETERS: tuple[tuple[str, Callable[..., Prio3], tuple[str, ...]], ...] = (
    ("Prio3Count", Prio3Count, ()),
    ("Prio3Sum", Prio3Sum, ("max_measurement",)),
    ("Prio3SumVec", Prio3SumVec, ("length", "max_measurement", "chunk_length")),
    ("Prio3SumVecWithMultiproof", Prio3SumVecWithMultiproof, ("length", "max_measurement", "chunk_length")),
    ("Prio3Histogram", Prio3Histogram, ("length", "chunk_length")),
    ("Prio3MultihotCountVec", Prio3MultihotCountVec, ("length", "max_weight", "chunk_length")),
    ("Prio3HigherDegree", Prio3HigherDegree, ()),
)
FUNCTIONS: tuple[tuple[str, Xof], ...] = (
    ("XofTurboShake128", TURBOSHAKE128),
    ("XofFixedKeyAes128", FIXED_KEY_AES128),
    ("XofHmacSha256Aes128", HMAC_SHA256_AES128),
)


@dataclass(frozen=True)
class KnownAnswers:
    """How the published vectors behaved.

    Attributes:
        passed: Prio3 files in which every step gave the published answer.
        rejected: Prio3 files whose bad report was refused at the step that must refuse it.
        functions: files of extendable output functions that gave the published answer.
        wrong: names of files that did not behave.
    """

    passed: int
    rejected: int
    functions: int
    wrong: tuple[str, ...]


def check_known_answers(folder: str | Path) -> KnownAnswers:
    """Replay every vector of Prio3 and of its extendable output functions below a folder.

    Args:
        folder: holds the vectors as JSON, at any depth.

    Raises:
        InputError: if there is no vector of Prio3 below it.
    """
    passed = rejected = functions = 0
    wrong: list[str] = []
    for path in sorted(Path(folder).rglob("*.json")):
        variant = next((row for row in PARAMETERS if path.stem.split("_")[0] == row[0]), None)
        function = next((row[1] for row in FUNCTIONS if path.stem == row[0]), None)
        if variant is None and function is None:
            continue
        vector = json.loads(path.read_text("utf-8"))
        if function is not None:
            behaved = _check_function(function, vector)
            functions += behaved
        else:
            assert variant is not None  # noqa: S101
            prio = variant[1](**{name: vector[name] for name in (*variant[2], "shares")})
            behaved = _Replay(prio, vector).behaves()
            if all(step["success"] for step in vector["operations"]):
                passed += behaved
            else:
                rejected += behaved
        if not behaved:
            wrong.append(path.stem)
    if not passed + rejected and not wrong:
        raise InputError(
            f"There is no test vector of Prio3 below {folder}. It needs the folder test_vec of the VDAF draft.",
            f"{folder} の下に Prio3 のテストベクトルがありません。VDAF ドラフトの test_vec フォルダが必要です。",
        )
    return KnownAnswers(passed, rejected, functions, tuple(wrong))


class _Replay:
    """One file, with what its steps leave for later ones."""

    def __init__(self, prio: Prio3, vector: dict[str, Any]) -> None:
        self.prio = prio
        self.vector = vector
        self.ctx = bytes.fromhex(vector["ctx"])
        self.states: dict[tuple[int, int], VerifyState] = {}
        self.outputs: dict[tuple[int, int], bytes] = {}

    def behaves(self) -> bool:
        """Whether every step succeeds or is refused as the file says, with the published messages."""
        for step in self.vector["operations"]:
            try:
                as_published = self._take(step)
            except ReportRefusedError:
                if step["success"]:
                    return False
                continue
            if not step["success"] or not as_published:
                return False
        return True

    def _take(self, step: dict[str, Any]) -> bool:
        operation = step["operation"]
        if operation == "aggregate":
            which = step["aggregator_id"]
            shares = [self.outputs[report, which] for report in range(len(self.vector["reports"]))]
            return bool(self.prio.aggregate(shares).hex() == self.vector["agg_shares"][which])
        if operation == "unshard":
            shares = [bytes.fromhex(share) for share in self.vector["agg_shares"]]
            return bool(self.prio.unshard(shares, len(self.vector["reports"])) == self.vector["agg_result"])
        number = step["report_index"]
        report = self.vector["reports"][number]
        if operation == "shard":
            return self._shard(report)
        if operation == "verify_init":
            return self._verify_init(number, report, step["aggregator_id"])
        if operation == "verifier_shares_to_message":
            shares = [bytes.fromhex(share) for share in report["verifier_shares"][0]]
            message = self.prio.verifier_shares_to_message(self.ctx, shares)
            return bool(message.hex() == report["verifier_messages"][0])
        return self._verify_next(number, report, step["aggregator_id"])

    def _shard(self, report: dict[str, Any]) -> bool:
        nonce, rand = (_row(report[name]) for name in ("nonce", "rand"))
        encoded = self.prio.circuit.encode([report["measurement"]])
        made = self.prio.shard_encoded(encoded, self.ctx, nonce, rand)[0]
        inputs = [share.hex() for share in made.input_shares]
        return bool(made.public_share.hex() == report["public_share"] and inputs == report["input_shares"])

    def _verify_init(self, number: int, report: dict[str, Any], which: int) -> bool:
        nonce, public, share = (
            bytes.fromhex(text) for text in (report["nonce"], report["public_share"], report["input_shares"][which])
        )
        key = bytes.fromhex(self.vector["verify_key"])
        self.states[number, which], told = self.prio.verify_init(key, self.ctx, which, nonce, public, share)
        return bool(told.hex() == report["verifier_shares"][0][which])

    def _verify_next(self, number: int, report: dict[str, Any], which: int) -> bool:
        message = bytes.fromhex(report["verifier_messages"][0])
        output = self.outputs[number, which] = self.prio.verify_next(self.ctx, self.states[number, which], message)
        return bool(output.hex() == report["out_shares"][which])


def _check_function(function: Xof, vector: dict[str, Any]) -> bool:
    seeds, binders, tag = _row(vector["seed"]), _row(vector["binder"]), bytes.fromhex(vector["dst"])
    seed = function.derive(seeds, tag, binders).tobytes().hex()
    numbers = FIELD128.encode(function.expand(FIELD128, seeds, tag, binders, vector["length"])).tobytes().hex()
    return bool(seed == vector["derived_seed"] and numbers == vector["expanded_vec_field128"])


def _row(text: str) -> Any:
    return np.frombuffer(bytes.fromhex(text), dtype=np.uint8)[None]
