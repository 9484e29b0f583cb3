"""What the steps of Prio3 hand to each other, one report at a time or as rows of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudare.collect.prio.vdaf.fields import Mask, Octets

__all__ = ["Report", "Reports", "Verification", "VerifyState"]


@dataclass(frozen=True)
class Report:
    """What a client makes of one measurement.

    Attributes:
        nonce: 16 random bytes that name the report.
        public_share: what every aggregator gets.
        input_shares: what each aggregator gets for itself; two of them together give the measurement away.
    """

    nonce: bytes
    public_share: bytes
    input_shares: tuple[bytes, ...]


@dataclass(frozen=True)
class Reports:
    """A batch of reports as rows of bytes."""

    nonces: Octets
    public_shares: Octets
    input_shares: tuple[Octets, ...]

    def __len__(self) -> int:
        return int(self.nonces.shape[0])

    def __getitem__(self, row: int) -> Report:
        return Report(
            self.nonces[row].tobytes(),
            self.public_shares[row].tobytes(),
            tuple(share[row].tobytes() for share in self.input_shares),
        )


@dataclass(frozen=True)
class VerifyState:
    """What an aggregator keeps between the two steps of a verification: never sent anywhere.

    Attributes:
        output_share: its share of what will be added up.
        joint_seed: the common randomness as it knows it.
        consistent: whether the public share states this aggregator's own part of the joint randomness as it is.
    """

    output_share: bytes
    joint_seed: bytes
    consistent: bool = True


@dataclass(frozen=True)
class Verification:
    """What an aggregator found in a batch, before it heard of the others.

    Attributes:
        verifier_shares: what it tells the others, a row for each report.
        output_shares: its shares of what will be added up.
        joint_seeds: the common randomness as it knows it.
        readable: which reports were well formed; the rows of the others mean nothing.
        consistent: whose public share states this aggregator's own part of the joint randomness as it is. Where it does
            not, the others compute with other randomness, and will not accept the report.
    """

    verifier_shares: Octets
    output_shares: Octets
    joint_seeds: Octets
    readable: Mask
    consistent: Mask
