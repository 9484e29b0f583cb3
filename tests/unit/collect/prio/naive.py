"""The slow and obvious twin of Prio3: Python's whole numbers, lists, and the textbook formulas.

Polynomials are interpolated by Lagrange's formula and evaluated by Horner's rule; nothing is transformed, batched or
precomputed. It follows the draft's notions, not the package's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FIELD64 = 2**32 * 4294967295 + 1
FIELD128 = 2**66 * 4611686018427387897 + 1
DRAFT = 18

ROTATIONS = {
    (x, y): r
    for y, row in enumerate(
        [[0, 1, 62, 28, 27], [36, 44, 6, 55, 20], [3, 10, 43, 25, 39], [41, 45, 15, 21, 8], [18, 2, 61, 56, 14]]
    )
    for x, r in enumerate(row)
}
WORD = 2**64 - 1


def _constants() -> list[int]:
    """The 24 round constants of Keccak, from its linear feedback shift register."""
    register, found = 1, []
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << (2**j - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        found.append(constant)
    return found


CONSTANTS = _constants()


def _turn(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) & WORD if by else word


def keccak(state: list[int]) -> list[int]:
    """Keccak-p[1600, 12]: the last 12 rounds."""
    a = {(x, y): state[x + 5 * y] for x in range(5) for y in range(5)}
    for constant in CONSTANTS[-12:]:
        columns = [a[x, 0] ^ a[x, 1] ^ a[x, 2] ^ a[x, 3] ^ a[x, 4] for x in range(5)]
        a = {(x, y): a[x, y] ^ columns[(x - 1) % 5] ^ _turn(columns[(x + 1) % 5], 1) for x, y in a}
        b = {(y, (2 * x + 3 * y) % 5): _turn(a[x, y], ROTATIONS[x, y]) for x, y in a}
        a = {(x, y): b[x, y] ^ (~b[(x + 1) % 5, y] & WORD & b[(x + 2) % 5, y]) for x, y in b}
        a[0, 0] ^= constant
    return [a[x, y] for y in range(5) for x in range(5)]


def turboshake128(message: bytes, domain: int, length: int) -> bytes:
    padded = bytearray(message + bytes([domain]))
    padded += bytes(-len(padded) % 168)
    padded[-1] ^= 0x80
    state = [0] * 25
    for start in range(0, len(padded), 168):
        for i in range(21):
            state[i] ^= int.from_bytes(padded[start + 8 * i : start + 8 * i + 8], "little")
        state = keccak(state)
    out = b""
    while len(out) < length:
        out += b"".join(word.to_bytes(8, "little") for word in state[:21])
        state = keccak(state)
    return out[:length]


def stream(seed: bytes, dst: bytes, binder: bytes, length: int) -> bytes:
    head = len(dst).to_bytes(2, "little") + dst + bytes([len(seed)])
    return turboshake128(head + seed + binder, 1, length)


def expand(modulus: int, seed: bytes, dst: bytes, binder: bytes, length: int) -> list[int]:
    size = (modulus.bit_length() + 7) // 8
    raw = stream(seed, dst, binder, size * (length + 8))
    numbers = [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]
    return [n for n in numbers if n < modulus][:length]


def root_of_unity(modulus: int, order: int) -> int:
    return pow(7, (modulus - 1) // order, modulus)


def interpolate_at(modulus: int, nodes: Sequence[int], values: Sequence[int], at: int) -> int:
    """Lagrange's formula, term by term."""
    total = 0
    for k, node in enumerate(nodes):
        above, below = 1, 1
        for j, other in enumerate(nodes):
            if j != k:
                above = above * (at - other) % modulus
                below = below * (node - other) % modulus
        total += values[k] * above * pow(below, -1, modulus)
    return total % modulus


def power_of_two(at_least: int) -> int:
    return 1 << (at_least - 1).bit_length()


def polynomial(modulus: int, coefficients: Sequence[int], x: int) -> int:
    total = 0
    for coefficient in reversed(coefficients):
        total = (total * x + coefficient) % modulus
    return total


@dataclass
class Gadget:
    """One kind of non-linear gate, how often it is called, and what went into it."""

    modulus: int
    kind: str
    arity: int
    degree: int
    calls: int
    coefficients: tuple[int, ...] = ()

    def evaluate(self, x: Sequence[int]) -> int:
        if self.kind == "polynomial":
            return polynomial(self.modulus, self.coefficients, x[0])
        return sum(x[2 * i] * x[2 * i + 1] for i in range(self.arity // 2)) % self.modulus

    @property
    def size(self) -> int:
        return power_of_two(self.calls + 1)

    @property
    def values(self) -> int:
        return self.degree * (self.size - 1) + 1


class Circuit:
    """What is proved: the subclasses say how a measurement becomes numbers, and which expressions must be zero."""

    modulus = FIELD128
    gadget: Gadget
    measurement_length: int
    joint_length = 0
    outputs = 1

    def encode(self, measurement: Any) -> list[int]:
        raise NotImplementedError

    def truncate(self, encoded: list[int]) -> list[int]:
        return encoded

    def decode(self, total: list[int]) -> Any:
        return total

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        raise NotImplementedError


def weights_of(largest: int) -> list[int]:
    bits = largest.bit_length()
    return [2**i for i in range(bits - 1)] + [largest - (2 ** (bits - 1) - 1)]


def encode_number(value: int, largest: int) -> list[int]:
    weights = weights_of(largest)
    ones = 2 ** (len(weights) - 1) - 1
    last = int(value > ones)
    rest = value - last * weights[-1]
    return [(rest >> i) & 1 for i in range(len(weights) - 1)] + [last]


def decode_number(bits: Sequence[int], largest: int) -> int:
    return sum(w * b for w, b in zip(weights_of(largest), bits, strict=True))


class Count(Circuit):
    modulus = FIELD64
    measurement_length = 1

    def __init__(self) -> None:
        self.gadget = Gadget(self.modulus, "products", 2, 2, 1)

    def encode(self, measurement: int) -> list[int]:
        return [measurement]

    def decode(self, total: list[int]) -> int:
        return total[0]

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        return [call([x[0], x[0]]) - x[0]]


class HigherDegree(Circuit):
    modulus = FIELD64
    measurement_length = 1

    def __init__(self) -> None:
        self.gadget = Gadget(self.modulus, "polynomial", 1, 3, 1, (0, 2, -3, 1))

    def encode(self, measurement: int) -> list[int]:
        return [measurement]

    def decode(self, total: list[int]) -> int:
        return total[0]

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        return [call([x[0]])]


class Sum(Circuit):
    modulus = FIELD64

    def __init__(self, max_measurement: int) -> None:
        self.largest = max_measurement
        self.measurement_length = self.outputs = max_measurement.bit_length()
        self.gadget = Gadget(self.modulus, "polynomial", 1, 2, self.measurement_length, (0, -1, 1))

    def encode(self, measurement: int) -> list[int]:
        return encode_number(measurement, self.largest)

    def truncate(self, encoded: list[int]) -> list[int]:
        return [decode_number(encoded, self.largest)]

    def decode(self, total: list[int]) -> int:
        return total[0]

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        return [call([bit]) for bit in x]


class Bits(Circuit):
    """Every number is 0 or 1: shared by the circuits that check many at once, in chunks."""

    def __init__(self, length: int, chunk_length: int) -> None:
        self.measurement_length = length
        self.chunk = chunk_length
        self.joint_length = -(-length // chunk_length)
        self.gadget = Gadget(self.modulus, "products", 2 * chunk_length, 2, self.joint_length)

    def check_bits(self, x: list[int], joint: list[int], shares: int, call: Any) -> int:
        share_of_one = pow(shares, -1, self.modulus)
        total = 0
        for chunk in range(self.gadget.calls):
            wires: list[int] = []
            r = joint[chunk]
            for j in range(self.chunk):
                at = chunk * self.chunk + j
                value = x[at] if at < len(x) else 0
                wires += [pow(r, j + 1, self.modulus) * value % self.modulus, (value - share_of_one) % self.modulus]
            total += call(wires)
        return total


class Histogram(Bits):
    outputs = 2

    def encode(self, measurement: int) -> list[int]:
        return [int(i == measurement) for i in range(self.measurement_length)]

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        return [self.check_bits(x, joint, shares, call), sum(x) - pow(shares, -1, self.modulus)]


class SumVec(Bits):
    def __init__(self, length: int, max_measurement: int, chunk_length: int, modulus: int = FIELD128) -> None:
        self.modulus = modulus
        self.largest = max_measurement
        self.bits = max_measurement.bit_length()
        super().__init__(length * self.bits, chunk_length)

    def encode(self, measurement: list[int]) -> list[int]:
        return [bit for value in measurement for bit in encode_number(value, self.largest)]

    def truncate(self, encoded: list[int]) -> list[int]:
        starts = range(0, len(encoded), self.bits)
        return [decode_number(encoded[i : i + self.bits], self.largest) for i in starts]

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        return [self.check_bits(x, joint, shares, call)]


class MultihotCountVec(Bits):
    outputs = 2

    def __init__(self, length: int, max_weight: int, chunk_length: int) -> None:
        self.length, self.largest = length, max_weight
        super().__init__(length + max_weight.bit_length(), chunk_length)

    def encode(self, measurement: list[bool]) -> list[int]:
        return [int(b) for b in measurement] + encode_number(sum(measurement), self.largest)

    def truncate(self, encoded: list[int]) -> list[int]:
        return encoded[: self.length]

    def evaluate(self, x: list[int], joint: list[int], shares: int, call: Any) -> list[int]:
        weight = decode_number(x[self.length :], self.largest)
        return [self.check_bits(x, joint, shares, call), sum(x[: self.length]) - weight]


class Prio3:
    """The whole of Prio3, one report at a time."""

    def __init__(self, circuit: Circuit, identifier: int, shares: int, proofs: int = 1) -> None:
        self.circuit, self.identifier, self.shares, self.proofs = circuit, identifier, shares, proofs
        self.modulus = circuit.modulus
        self.size = 8 if self.modulus == FIELD64 else 16
        gadget = circuit.gadget
        self.proof_length = gadget.arity + gadget.values
        self.query_length = 1 + (circuit.outputs if circuit.outputs > 1 else 0)

    def tag(self, usage: int, ctx: bytes) -> bytes:
        return bytes([DRAFT, 0]) + self.identifier.to_bytes(4, "big") + usage.to_bytes(2, "big") + ctx

    def pack(self, numbers: Sequence[int]) -> bytes:
        return b"".join((n % self.modulus).to_bytes(self.size, "little") for n in numbers)

    def unpack(self, data: bytes) -> list[int]:
        return [int.from_bytes(data[i : i + self.size], "little") for i in range(0, len(data), self.size)]

    def prove(self, encoded: list[int], prove_rand: list[int], joint: list[int]) -> list[int]:
        gadget = self.circuit.gadget
        calls: list[list[int]] = []

        def call(wires: list[int]) -> int:
            calls.append(wires)
            return gadget.evaluate(wires)

        self.circuit.evaluate(encoded, joint, 1, call)
        coarse = root_of_unity(self.modulus, gadget.size)
        nodes = [pow(coarse, k, self.modulus) for k in range(gadget.size)]
        fine = root_of_unity(self.modulus, power_of_two(gadget.values))
        values = []
        for k in range(gadget.values):
            at = pow(fine, k, self.modulus)
            wires = []
            for j in range(gadget.arity):
                on_wire = [prove_rand[j]] + [c[j] for c in calls] + [0] * (gadget.size - 1 - len(calls))
                wires.append(interpolate_at(self.modulus, nodes, on_wire, at))
            values.append(gadget.evaluate(wires))
        return prove_rand[: gadget.arity] + values

    def query(self, x: list[int], proof: list[int], query_rand: list[int], joint: list[int]) -> list[int]:
        gadget = self.circuit.gadget
        seeds, values = proof[: gadget.arity], proof[gadget.arity :]
        step = power_of_two(gadget.values) // gadget.size
        calls: list[list[int]] = []

        def call(wires: list[int]) -> int:
            calls.append(wires)
            return values[len(calls) * step]

        outputs = self.circuit.evaluate(x, joint, self.shares, call)
        v = sum(r * o for r, o in zip(query_rand, outputs, strict=False)) if len(outputs) > 1 else outputs[0]
        t = query_rand[-1]
        coarse = root_of_unity(self.modulus, gadget.size)
        nodes = [pow(coarse, k, self.modulus) for k in range(gadget.size)]
        found = [v % self.modulus]
        for j in range(gadget.arity):
            on_wire = [seeds[j]] + [c[j] for c in calls] + [0] * (gadget.size - 1 - len(calls))
            found.append(interpolate_at(self.modulus, nodes, on_wire, t))
        fine = root_of_unity(self.modulus, power_of_two(gadget.values))
        fine_nodes = [pow(fine, k, self.modulus) for k in range(gadget.values)]
        return [*found, interpolate_at(self.modulus, fine_nodes, values, t)]

    def decide(self, verifier: list[int]) -> bool:
        return verifier[0] == 0 and self.circuit.gadget.evaluate(verifier[1:-1]) % self.modulus == verifier[-1]

    def joint_rands(self, ctx: bytes, seed: bytes) -> list[int]:
        length = self.circuit.joint_length * self.proofs
        return expand(self.modulus, seed, self.tag(3, ctx), bytes([self.proofs]), length)

    def part(self, ctx: bytes, aggregator: int, blind: bytes, nonce: bytes, share: list[int]) -> bytes:
        return stream(blind, self.tag(7, ctx), bytes([aggregator]) + nonce + self.pack(share), 32)

    def helper_share(self, ctx: bytes, aggregator: int, seed: bytes) -> tuple[list[int], list[int]]:
        length = self.circuit.measurement_length
        x = expand(self.modulus, seed, self.tag(1, ctx), bytes([aggregator]), length)
        binder = bytes([self.proofs, aggregator])
        return x, expand(self.modulus, seed, self.tag(2, ctx), binder, self.proof_length * self.proofs)

    def shard(self, ctx: bytes, measurement: Any, nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        return self.shard_encoded(ctx, self.circuit.encode(measurement), nonce, rand)

    def shard_encoded(self, ctx: bytes, encoded: list[int], nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        seeds = [rand[i : i + 32] for i in range(0, len(rand), 32)]
        prove_seed = seeds.pop()
        jointly = self.circuit.joint_length > 0
        leader_blind = seeds.pop() if jointly else b""
        helpers = [(seeds[i], seeds[i + 1]) for i in range(0, len(seeds), 2)] if jointly else [(s, b"") for s in seeds]
        leader = list(encoded)
        expanded = [self.helper_share(ctx, i + 1, seed) for i, (seed, _) in enumerate(helpers)]
        for x, _ in expanded:
            leader = [(a - b) % self.modulus for a, b in zip(leader, x, strict=True)]
        parts: list[bytes] = []
        joint: list[int] = []
        if jointly:
            parts = [self.part(ctx, 0, leader_blind, nonce, leader)]
            parts += [
                self.part(ctx, i + 1, blind, nonce, x)
                for i, ((_, blind), (x, _)) in enumerate(zip(helpers, expanded, strict=True))
            ]
            joint = self.joint_rands(ctx, stream(bytes(32), self.tag(6, ctx), b"".join(parts), 32))
        arity = self.circuit.gadget.arity
        prove_rand = expand(self.modulus, prove_seed, self.tag(4, ctx), bytes([self.proofs]), arity * self.proofs)
        proofs: list[int] = []
        for i in range(self.proofs):
            own = joint[i * self.circuit.joint_length : (i + 1) * self.circuit.joint_length]
            proofs += self.prove(encoded, prove_rand[i * arity : (i + 1) * arity], own)
        for _, proof in expanded:
            proofs = [(a - b) % self.modulus for a, b in zip(proofs, proof, strict=True)]
        first = self.pack(leader) + self.pack(proofs) + leader_blind
        return b"".join(parts), [first] + [seed + blind for seed, blind in helpers]

    def verify_init(
        self, key: bytes, ctx: bytes, aggregator: int, nonce: bytes, public_share: bytes, share: bytes
    ) -> tuple[bytes, bytes, bytes]:
        """The verifier share, the output share, and the joint randomness this aggregator believes in."""
        length, jointly = self.circuit.measurement_length, self.circuit.joint_length > 0
        blind = share[-32:] if jointly else b""
        if aggregator == 0:
            numbers = self.unpack(share[: len(share) - len(blind)])
            x, proofs = numbers[:length], numbers[length:]
        else:
            x, proofs = self.helper_share(ctx, aggregator, share[:32])
        query = expand(
            self.modulus, key, self.tag(5, ctx), bytes([self.proofs]) + nonce, self.query_length * self.proofs
        )
        joint: list[int] = []
        part = seed = b""
        if jointly:
            part = self.part(ctx, aggregator, blind, nonce, x)
            corrected = public_share[: 32 * aggregator] + part + public_share[32 * aggregator + 32 :]
            seed = stream(bytes(32), self.tag(6, ctx), corrected, 32)
            joint = self.joint_rands(ctx, seed)
        verifiers: list[int] = []
        for i in range(self.proofs):
            verifiers += self.query(
                x,
                proofs[i * self.proof_length : (i + 1) * self.proof_length],
                query[i * self.query_length : (i + 1) * self.query_length],
                joint[i * self.circuit.joint_length : (i + 1) * self.circuit.joint_length],
            )
        return self.pack(verifiers) + part, self.pack(self.circuit.truncate(x)), seed

    def combine(self, ctx: bytes, shares: Sequence[bytes]) -> bytes | None:
        """The verifier message, or None for a report that must be rejected."""
        each = (self.circuit.gadget.arity + 2) * self.proofs
        numbers = [self.unpack(share[: each * self.size]) for share in shares]
        total = [sum(column) % self.modulus for column in zip(*numbers, strict=True)]
        one = each // self.proofs
        if not all(self.decide(total[i : i + one]) for i in range(0, each, one)):
            return None
        if self.circuit.joint_length == 0:
            return b""
        return stream(bytes(32), self.tag(6, ctx), b"".join(share[each * self.size :] for share in shares), 32)
