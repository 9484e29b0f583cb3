"""Prio3: sums over many people, computed by aggregators none of which sees a person's value.

A client splits its encoded measurement, and a proof that it is a valid one, into a random share for each aggregator
(`Prio3.shard`). The aggregators each look at their share alone (`Prio3.verify_init`), tell each other what they found,
and learn only whether the report is valid (`Prio3.verifier_shares_to_message`, `Prio3.verify_next`). Each adds up
the shares of the valid reports (`Prio3.aggregate`); the sum of these aggregates is the result (`Prio3.unshard`).

This is draft-irtf-cfrg-vdaf-18. Every step also works on a batch (`shard_many` and so on): rows of bytes in, rows of
bytes out, hundreds of reports a call.

Proof: ``collect/prio/prio.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.collect.prio.refusals import malformed, rejected
from sudare.collect.prio.vdaf.circuits import Circuit
from sudare.collect.prio.vdaf.proofs import ProofSystem
from sudare.collect.prio.vdaf.reports import Report, Reports, Verification, VerifyState
from sudare.collect.prio.vdaf.xof import TURBOSHAKE128
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource, secure_entropy
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.collect.prio.vdaf.fields import Elements, Mask, Octets

__all__ = ["NONCE_SIZE", "SEED_SIZE", "VERIFY_KEY_SIZE", "Prio3"]

DRAFT = 18
NONCE_SIZE = 16
SEED_SIZE = TURBOSHAKE128.seed_size
VERIFY_KEY_SIZE = SEED_SIZE
BLOCK = 128
"""Reports that are worked on at once: enough to make Python's share small, few enough to stay in the cache."""

MEASUREMENT_SHARE, PROOF_SHARE, JOINT_RANDOMNESS, PROVE_RANDOMNESS, QUERY_RANDOMNESS, JOINT_SEED, JOINT_PART = range(
    1, 8
)


class Prio3:
    """Prio3 for one circuit. Use one of its variants, such as `Prio3Histogram`.

    Attributes:
        circuit: what is measured.
        identifier: the variant's number in the draft.
        shares: how many aggregators there are.
        proofs: how many independent proofs a report has.
    """

    def __init__(self, circuit: Circuit, identifier: int, shares: int = 2, proofs: int = 1) -> None:
        self.circuit = circuit
        self.identifier = identifier
        requirement = "a whole number from 2 to 255"
        self.shares = exact_integer(shares, "shares", type(self).__name__, requirement, smallest=2, largest=255)
        self.proofs = proofs
        self._system = ProofSystem(circuit)
        self._field = circuit.field
        self._jointly = circuit.joint_length > 0

    # Sizes of everything that is sent, in bytes.

    @property
    def random_size(self) -> int:
        """Random bytes that sharding takes."""
        helpers = (self.shares - 1) * (2 if self._jointly else 1)
        return SEED_SIZE * (helpers + (2 if self._jointly else 1))

    @property
    def public_share_size(self) -> int:
        """Bytes of a public share."""
        return SEED_SIZE * self.shares if self._jointly else 0

    def input_share_size(self, aggregator: int) -> int:
        """Bytes of an aggregator's input share."""
        blind = SEED_SIZE if self._jointly else 0
        if self._read_aggregator(aggregator):
            return SEED_SIZE + blind
        numbers = self.circuit.measurement_length + self.proofs * self._system.proof_length
        return numbers * self._field.size + blind

    @property
    def verifier_share_size(self) -> int:
        """Bytes of what an aggregator tells the others about a report."""
        numbers = self.proofs * self._system.verifier_length
        return numbers * self._field.size + (SEED_SIZE if self._jointly else 0)

    @property
    def message_size(self) -> int:
        """Bytes of the message that ends a verification."""
        return SEED_SIZE if self._jointly else 0

    @property
    def output_share_size(self) -> int:
        """Bytes of an output share, and of an aggregate share."""
        return self.circuit.output_length * self._field.size

    # The client.

    def shard(self, measurement: Any, ctx: bytes, entropy: EntropySource | None = None) -> Report:
        """Split one measurement into shares.

        Args:
            measurement: what the variant takes.
            ctx: names the task; client and aggregators must use the same.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if the measurement is not what the variant takes. It is not shown.

        Example:
            >>> from sudare.collect.prio import Prio3Histogram
            >>> report = Prio3Histogram(length=4).shard(2, b"which floor")
            >>> len(report.input_shares)
            2
        """
        return self.shard_many([measurement], ctx, entropy)[0]

    def shard_many(self, measurements: Sequence[Any], ctx: bytes, entropy: EntropySource | None = None) -> Reports:
        """Split measurements into shares, a report each."""
        source = secure_entropy() if entropy is None else entropy
        encoded = self.circuit.encode(measurements)
        count, width = encoded.shape[0], NONCE_SIZE + self.random_size
        raw = source.words(count * width // 8).view(np.uint8).reshape(count, width)
        return self.shard_encoded(encoded, ctx, raw[:, :NONCE_SIZE], raw[:, NONCE_SIZE:])

    def shard_encoded(self, encoded: NDArray[np.uint64], ctx: bytes, nonces: Octets, rand: Octets) -> Reports:
        """Split encoded measurements with given random bytes: for known answers, and for tests of invalid ones."""
        blocks = [
            self._shard_block(self._field.small(encoded[rows]), ctx, nonces[rows], rand[rows])
            for rows in _blocks(encoded.shape[0])
        ]
        if not blocks:
            shares = tuple(_empty(self.input_share_size(i)) for i in range(self.shares))
            return Reports(_empty(NONCE_SIZE), _empty(self.public_share_size), shares)
        public = np.concatenate([block[0] for block in blocks])
        inputs = tuple(np.concatenate([block[1][i] for block in blocks]) for i in range(self.shares))
        return Reports(np.ascontiguousarray(nonces), public, inputs)

    def _shard_block(self, encoded: Elements, ctx: bytes, nonces: Octets, rand: Octets) -> tuple[Octets, list[Octets]]:
        field, step = self._field, (2 if self._jointly else 1)
        seeds = [rand[:, i : i + SEED_SIZE] for i in range(0, rand.shape[1], SEED_SIZE)]
        prove_seed = seeds[-1]
        helper_seeds = seeds[0 : step * (self.shares - 1) : step]
        leader = encoded
        proof_sum = field.zeros(encoded.shape[0], self.proofs * self._system.proof_length)
        helper_shares = []
        for i, seed in enumerate(helper_seeds):
            share, proof = self._expand_helper(ctx, i + 1, seed)
            leader = field.subtract(leader, share)
            proof_sum = field.add(proof_sum, proof)
            helper_shares.append(share)
        leader_octets = field.encode(leader)
        parts: list[Octets] = []
        blinds: list[Octets] = []
        joint = field.zeros(encoded.shape[0], 0)
        if self._jointly:
            blinds = [seeds[-2], *seeds[1 : 2 * (self.shares - 1) : 2]]
            octets = [leader_octets, *(field.encode(share) for share in helper_shares)]
            parts = [self._joint_part(ctx, i, blinds[i], nonces, octets[i]) for i in range(self.shares)]
            joint = self._joint_randomness(ctx, self._joint_seed(ctx, np.concatenate(parts, axis=1)))
        prove_rand = self._expand(
            ctx, PROVE_RANDOMNESS, prove_seed, self._system.prove_length * self.proofs, self._count
        )
        proofs = [
            self._system.prove(encoded, own_rand, own_joint)
            for own_rand, own_joint in zip(self._per_proof(prove_rand), self._per_proof(joint), strict=True)
        ]
        leader_proof = field.encode(field.subtract(np.concatenate(proofs, axis=1), proof_sum))
        inputs = [np.concatenate([leader_octets, leader_proof, *blinds[:1]], axis=1)]
        inputs += [np.concatenate([seed, *blinds[i + 1 : i + 2]], axis=1) for i, seed in enumerate(helper_seeds)]
        public = np.concatenate(parts, axis=1) if parts else np.empty((encoded.shape[0], 0), dtype=np.uint8)
        return public, inputs

    # The aggregators.

    def verify_init(
        self, verify_key: bytes, ctx: bytes, aggregator: int, nonce: bytes, public_share: bytes, input_share: bytes
    ) -> tuple[VerifyState, bytes]:
        """Look at one share of a report: what to keep, and the verifier share to tell the others.

        Args:
            verify_key: 32 secret bytes that the aggregators have in common and no client knows.
            ctx: names the task.
            aggregator: 0 for the leader, 1 and up for the others.
            nonce: of the report.
            public_share: of the report.
            input_share: this aggregator's.

        Raises:
            ReportRefusedError: if something has a wrong length or a number outside the field.
        """
        found = self.verify_init_many(
            verify_key,
            ctx,
            aggregator,
            _row(nonce, NONCE_SIZE, Words("nonce", "ノンス")),
            _row(public_share, self.public_share_size, Words("public share", "公開シェア")),
            _row(input_share, self.input_share_size(aggregator), Words("input share", "入力シェア")),
        )
        if not found.readable[0]:
            raise malformed(Words("input share", "入力シェア"))
        state = VerifyState(found.output_shares[0].tobytes(), found.joint_seeds[0].tobytes(), bool(found.consistent[0]))
        return state, found.verifier_shares[0].tobytes()

    def verify_init_many(
        self, verify_key: bytes, ctx: bytes, aggregator: int, nonces: Octets, public: Octets, inputs: Octets
    ) -> Verification:
        """Look at one aggregator's shares of a batch."""
        if not isinstance(verify_key, bytes) or len(verify_key) != VERIFY_KEY_SIZE:
            raise ParameterError(
                "verify_key", "verify_init", Words("32 bytes", "32 バイト"), Described("something else (not shown)")
            )
        which = self._read_aggregator(aggregator)
        blocks = [
            self._verify_block(verify_key, ctx, which, nonces[rows], public[rows], inputs[rows])
            for rows in _blocks(nonces.shape[0])
        ]
        if not blocks:
            return Verification(
                _empty(self.verifier_share_size),
                _empty(self.output_share_size),
                _empty(self.message_size),
                np.empty(0, dtype=np.bool_),
                np.empty(0, dtype=np.bool_),
            )
        return Verification(
            np.concatenate([block.verifier_shares for block in blocks]),
            np.concatenate([block.output_shares for block in blocks]),
            np.concatenate([block.joint_seeds for block in blocks]),
            np.concatenate([block.readable for block in blocks]),
            np.concatenate([block.consistent for block in blocks]),
        )

    def _verify_block(
        self, verify_key: bytes, ctx: bytes, aggregator: int, nonces: Octets, public: Octets, inputs: Octets
    ) -> Verification:
        field, length, reports = self._field, self.circuit.measurement_length, nonces.shape[0]
        blinds = inputs[:, -SEED_SIZE:] if self._jointly else None
        if aggregator:
            share, proofs = self._expand_helper(ctx, aggregator, inputs[:, :SEED_SIZE])
            readable = np.ones(reports, dtype=np.bool_)
        else:
            numbers, valid = field.decode(inputs[:, : inputs.shape[1] - (SEED_SIZE if self._jointly else 0)])
            share, proofs = numbers[:, :length], numbers[:, length:]
            readable = np.asarray(valid.all(axis=1))
        key = np.broadcast_to(np.frombuffer(verify_key, dtype=np.uint8), (reports, VERIFY_KEY_SIZE))
        query = self._expand(
            ctx, QUERY_RANDOMNESS, key, self._system.query_length * self.proofs, _prefixed(self._count, nonces)
        )
        parts = seeds = np.empty((reports, 0), dtype=np.uint8)
        joint = field.zeros(reports, 0)
        consistent = np.ones(reports, dtype=np.bool_)
        if blinds is not None:
            # The leader's share came as bytes already; encoding again would only undo the decoding.
            octets = inputs[:, : length * field.size] if aggregator == 0 else field.encode(share)
            parts = self._joint_part(ctx, aggregator, blinds, nonces, octets)
            corrected, own = public.copy(), slice(SEED_SIZE * aggregator, SEED_SIZE * (aggregator + 1))
            consistent = np.asarray((public[:, own] == parts).all(axis=1))
            corrected[:, own] = parts
            seeds = self._joint_seed(ctx, corrected)
            joint = self._joint_randomness(ctx, seeds)
        told = []
        for own_proof, own_query, own_joint in zip(
            self._per_proof(proofs), self._per_proof(query), self._per_proof(joint), strict=True
        ):
            verifier, safe = self._system.query(share, own_proof, own_query, own_joint, self.shares)
            told.append(verifier)
            readable &= safe
        verifier_shares = np.concatenate([field.encode(np.concatenate(told, axis=1)), parts], axis=1)
        return Verification(verifier_shares, field.encode(self.circuit.truncate(share)), seeds, readable, consistent)

    def verifier_shares_to_message(self, ctx: bytes, verifier_shares: Sequence[bytes]) -> bytes:
        """Decide on one report from the shares of all aggregators.

        Raises:
            ReportRefusedError: if a share is malformed, or the report is not valid.
        """
        rows = [
            _row(share, self.verifier_share_size, Words("verifier share", "検証シェア")) for share in verifier_shares
        ]
        messages, accepted = self.verifier_shares_to_message_many(ctx, rows)
        if not accepted[0]:
            raise rejected()
        return bytes(messages[0].tobytes())

    def verifier_shares_to_message_many(self, ctx: bytes, verifier_shares: Sequence[Octets]) -> tuple[Octets, Mask]:
        """Decide on a batch: the messages, and which reports are accepted so far."""
        if len(verifier_shares) != self.shares:
            raise ParameterError(
                "verifier_shares", "verifier_shares_to_message", f"{self.shares} shares", len(verifier_shares)
            )
        numbers = self.proofs * self._system.verifier_length * self._field.size
        total, accepted = self._field.decode(np.ascontiguousarray(verifier_shares[0][:, :numbers]))
        accepted = np.asarray(accepted.all(axis=1))
        for share in verifier_shares[1:]:
            more, valid = self._field.decode(np.ascontiguousarray(share[:, :numbers]))
            total = self._field.add(total, more)
            accepted &= valid.all(axis=1)
        for verifier in self._per_proof(total):
            accepted &= self._system.decide(verifier)
        if not self._jointly:
            return np.empty((accepted.size, 0), dtype=np.uint8), accepted
        parts = np.concatenate([share[:, numbers:] for share in verifier_shares], axis=1)
        return self._joint_seed(ctx, parts), accepted

    def verify_next(self, ctx: bytes, state: VerifyState, message: bytes) -> bytes:
        """The output share of one report, once all aggregators agree.

        The draft compares the message with the joint seed. That the public share states this aggregator's own part is
        looked at besides: the others computed with what is stated, so they come to the same end as this one.

        Raises:
            ReportRefusedError: if the message is malformed or not what this aggregator knows, or the public share is not.
        """
        row = _row(message, self.message_size, Words("verifier message", "検証メッセージ"))
        if row.tobytes() != state.joint_seed or not state.consistent:
            raise rejected()
        return state.output_share

    def verify_next_many(self, found: Verification, messages: Octets) -> Mask:
        """Which reports of a batch to accept, given the messages."""
        return np.asarray(found.readable & found.consistent & (messages == found.joint_seeds).all(axis=1))

    def aggregate(self, output_shares: Sequence[bytes] | Octets) -> bytes:
        """Add up output shares, or aggregate shares of parts of a batch.

        Raises:
            ReportRefusedError: if one is malformed.
        """
        if not isinstance(output_shares, np.ndarray):
            rows = [_row(share, self.output_share_size, Words("output share", "出力シェア")) for share in output_shares]
            output_shares = np.concatenate(rows) if rows else _empty(self.output_share_size)
        numbers, valid = self._field.decode(output_shares)
        if not valid.all():
            raise malformed(Words("output share", "出力シェア"))
        return self._field.encode(self._field.total(numbers.swapaxes(0, 1))).tobytes()

    def without(self, aggregate_share: bytes, output_share: bytes) -> bytes:
        """Take one report's output share out of an aggregate share again."""
        rows = [
            _row(share, self.output_share_size, Words("output share", "出力シェア"))
            for share in (aggregate_share, output_share)
        ]
        total, one = (self._field.decode(row)[0] for row in rows)
        return self._field.encode(self._field.subtract(total, one)).tobytes()

    def unshard(self, aggregate_shares: Sequence[bytes], count: int) -> Any:
        """The result, from the aggregate shares of all aggregators.

        Args:
            aggregate_shares: one of each aggregator.
            count: how many reports were added up.

        Raises:
            ReportRefusedError: if a share is malformed.
            ParameterError: if there are too few shares, or so many reports that the sum may have passed the field's end.
        """
        if len(aggregate_shares) != self.shares:
            raise ParameterError("aggregate_shares", "unshard", f"{self.shares} shares", len(aggregate_shares))
        most = (self._field.modulus - 1) // self.circuit.largest
        exact_integer(
            count,
            "count",
            "unshard",
            Words(f"a whole number from 0 to {most}", f"0 以上 {most} 以下の整数"),
            smallest=0,
            largest=most,
        )
        total = np.frombuffer(self.aggregate(aggregate_shares), dtype=np.uint8)
        return self.circuit.decode(self._field.integers(self._field.decode(total)[0]))

    def _read_aggregator(self, aggregator: int) -> int:
        last = self.shares - 1
        requirement = f"a whole number from 0 to {last}"
        return exact_integer(aggregator, "aggregator", "verify_init", requirement, smallest=0, largest=last)

    # What client and aggregators derive alike.

    @property
    def _count(self) -> bytes:
        return bytes([self.proofs])

    def _tag(self, usage: int, ctx: bytes) -> bytes:
        return bytes([DRAFT, 0]) + self.identifier.to_bytes(4, "big") + usage.to_bytes(2, "big") + ctx

    def _expand(self, ctx: bytes, usage: int, seeds: Octets, length: int, binder: bytes | Octets) -> Elements:
        if isinstance(binder, bytes):
            binder = np.broadcast_to(np.frombuffer(binder, dtype=np.uint8), (seeds.shape[0], len(binder)))
        return TURBOSHAKE128.expand(self._field, seeds, self._tag(usage, ctx), binder, length)

    def _expand_helper(self, ctx: bytes, aggregator: int, seeds: Octets) -> tuple[Elements, Elements]:
        which = bytes([aggregator])
        share = self._expand(ctx, MEASUREMENT_SHARE, seeds, self.circuit.measurement_length, which)
        length = self.proofs * self._system.proof_length
        return share, self._expand(ctx, PROOF_SHARE, seeds, length, self._count + which)

    def _joint_part(self, ctx: bytes, aggregator: int, blinds: Octets, nonces: Octets, share: Octets) -> Octets:
        binder = np.concatenate([_prefixed(bytes([aggregator]), nonces), share], axis=1)
        return TURBOSHAKE128.derive(blinds, self._tag(JOINT_PART, ctx), binder)

    def _joint_seed(self, ctx: bytes, parts: Octets) -> Octets:
        zeros = np.zeros((parts.shape[0], SEED_SIZE), dtype=np.uint8)
        return TURBOSHAKE128.derive(zeros, self._tag(JOINT_SEED, ctx), parts)

    def _joint_randomness(self, ctx: bytes, seeds: Octets) -> Elements:
        return self._expand(ctx, JOINT_RANDOMNESS, seeds, self.circuit.joint_length * self.proofs, self._count)

    def _per_proof(self, numbers: Elements) -> list[Elements]:
        each = numbers.shape[1] // self.proofs
        return [numbers[:, i * each : (i + 1) * each] for i in range(self.proofs)]


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def _empty(size: int) -> Octets:
    return np.empty((0, size), dtype=np.uint8)


def _row(data: bytes, size: int, what: Words) -> Octets:
    if not isinstance(data, bytes) or len(data) != size:
        raise malformed(what)
    return np.frombuffer(data, dtype=np.uint8)[None]


def _prefixed(prefix: bytes, rows: Octets) -> Octets:
    head = np.broadcast_to(np.frombuffer(prefix, dtype=np.uint8), (rows.shape[0], len(prefix)))
    return np.concatenate([head, rows], axis=1)
