"""Fully linear proofs: a proof of a circuit that is checked on additive shares.

Proof: ``collect/prio/prio.md`` (completeness, soundness, zero knowledge).

The inputs of the gadget's calls, wire by wire, are the values of polynomials at the powers 1, 2, ... of a root of unity
of order P; at the power 0 each has a random value, the *wire seed*. The gadget of these polynomials is again a polynomial,
of degree at most d (P - 1), and the proof states its values at the first d (P - 1) + 1 powers of a root of unity of order
n >= d (P - 1) + 1. A verifier reads the gadget's outputs off these values, and compares gadget and polynomial at one
random point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.collect.prio.vdaf.circuits import Circuit

if TYPE_CHECKING:
    from sudare.collect.prio.vdaf.fields import Elements, Mask

__all__ = ["ProofSystem"]


class ProofSystem:
    """Prove, query and decide for one circuit, on batches (the first axis counts reports)."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.field = circuit.field
        gadget = circuit.gadget
        self._points = _power_of_two(gadget.calls + 1)
        self._values = gadget.degree * (self._points - 1) + 1
        self._fine_points = _power_of_two(self._values)
        self._step = self._fine_points // self._points
        self._fine = self.field.roots(self._fine_points)
        self._coarse_weights = self.field.multiply(
            self._fine[:: self._step], self.field.elements([pow(self._points, -1, self.field.modulus)])[0]
        )
        self._fine_weights = self._barycentric_weights()
        self._one = self.field.elements([1])[0]

    @property
    def prove_length(self) -> int:
        """Random elements that a proof takes."""
        return self.circuit.gadget.arity

    @property
    def proof_length(self) -> int:
        """Elements of a proof."""
        return self.circuit.gadget.arity + self._values

    @property
    def query_length(self) -> int:
        """Random elements that a verifier takes: one for each of several checks, and the point."""
        return 1 + (self.circuit.checks if self.circuit.checks > 1 else 0)

    @property
    def verifier_length(self) -> int:
        """Elements of what a verifier tells."""
        return self.circuit.gadget.arity + 2

    def prove(self, encoded: Elements, prove_rand: Elements, joint: Elements) -> Elements:
        """Proofs that encoded measurements are valid."""
        table = self._wire_table(prove_rand, self.circuit.wires(encoded, joint, 1))
        finer = self.field.zeros(*table.shape[:2], self._fine_points)
        finer[:, :, : self._points] = self.field.interpolate_on_roots(table)
        on_wires = self.field.evaluate_on_roots(finer)[:, :, : self._values]
        values = self.circuit.gadget.evaluate(on_wires.swapaxes(1, 2))
        return np.concatenate([prove_rand, values], axis=1)

    def query(
        self, encoded: Elements, proof: Elements, query_rand: Elements, joint: Elements, shares: int
    ) -> tuple[Elements, Mask]:
        """What a verifier tells of its shares, and for which reports it may: not where its point is a root of unity.

        At such a point it would tell the gadget's inputs. It happens with probability n / p, below 2**-50.
        """
        gadget, field = self.circuit.gadget, self.field
        values = proof[:, gadget.arity :]
        outputs = values[:, self._step : self._step * (gadget.calls + 1) : self._step]
        checks = self.circuit.evaluate(encoded, outputs, shares)
        verdict = field.dot(checks, query_rand[:, : self.circuit.checks]) if self.circuit.checks > 1 else checks[:, 0]
        coarse, fine, safe = self._lagrange(query_rand[:, -1])
        table = self._wire_table(proof[:, : gadget.arity], self.circuit.wires(encoded, joint, shares), padded=False)
        on_wires = field.dot(table, coarse[:, None, : gadget.calls + 1])
        told = np.concatenate([verdict[:, None], on_wires, field.dot(values, fine)[:, None]], axis=1)
        return told, safe

    def decide(self, verifiers: Elements) -> Mask:
        """Whether the sums of all verifiers' shares show valid measurements."""
        gadget = self.circuit.gadget.evaluate(verifiers[:, 1:-1])
        return np.asarray((verifiers[:, 0] == 0).all(axis=-1) & (gadget == verifiers[:, -1]).all(axis=-1))

    def _wire_table(self, seeds: Elements, wires: Elements, *, padded: bool = True) -> Elements:
        """For each wire its seed, its input in every call, and zeros up to the number of points."""
        reports, calls, arity = wires.shape[:3]
        table = self.field.zeros(reports, arity, self._points if padded else calls + 1)
        table[:, :, 0] = seeds
        table[:, :, 1 : calls + 1] = wires.swapaxes(1, 2)
        return table

    def _lagrange(self, points: Elements) -> tuple[Elements, Elements, Mask]:
        """Lagrange's polynomials at each point, over the coarse nodes and over those of the proof's values."""
        field = self.field
        differences = field.subtract(points[:, None], self._fine)
        inverses = field.invert(differences)
        safe = np.asarray((differences != 0).any(axis=-1).all(axis=-1))
        power = points
        for _ in range(self._points.bit_length() - 1):
            power = field.multiply(power, power)
        coarse = field.multiply(
            field.multiply(inverses[:, :: self._step], self._coarse_weights),
            field.subtract(power, self._one)[:, None],
        )
        for _ in range(self._step.bit_length() - 1):
            power = field.multiply(power, power)
        product = field.subtract(power, self._one)
        for unused in range(self._values, self._fine_points):
            product = field.multiply(product, inverses[:, unused])
        fine = field.multiply(field.multiply(inverses[:, : self._values], self._fine_weights), product[:, None])
        return coarse, fine, safe

    def _barycentric_weights(self) -> Elements:
        """1 / the product of x[k] - x[j] over the other nodes of the proof's values.

        Over all nodes but x[k] itself the product is the derivative of x**n - 1, n / x[k]; the unused ones are divided out.
        """
        field = self.field
        used, unused = self._fine[: self._values], self._fine[self._values :]
        weights = field.multiply(used, field.elements([pow(self._fine_points, -1, field.modulus)])[0])
        for node in unused:
            weights = field.multiply(weights, field.subtract(used, node))
        return weights


def _power_of_two(at_least: int) -> int:
    return 1 << (at_least - 1).bit_length()
