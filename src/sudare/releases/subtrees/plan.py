"""What is released by a cluster: two plans that are equal are the same release."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

from sudare.domain import Domain
from sudare.noise.addressed import NoiseKey
from sudare.parameters import Rational
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.header import LedgerEntryPoint, PlanHeader, ReleasePrice
from sudare.tables.addressed.mechanism import AddressedRelease, plan_addressed_tree
from sudare.tables.arguments import Noise

__all__ = ["PEOPLE_PER_SUBTREE", "SUBTREES_FORMAT", "SubtreePlan"]

SUBTREES_FORMAT = "sudare-subtrees/1"
PEOPLE_PER_SUBTREE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SubtreePlan:
    """What is released; two plans that are equal are the same release.

    Attributes:
        title: of the release.
        source: which data, with its version: a snapshot, a list of files. The same words with other data are refused.
        domain: the cells that there are.
        budget: what may be spent.
        dataset: the account in the ledger.
        ledger: where the ledger is.
        folder: where the release will be.
        unit: who is protected.
        bits: how many halvings make up each level of the tree.
        weights: how the budget is divided.
        layout: name of the order of cells.
        noise: which noise to add.
        people_per_subtree: an executor gets parts in which at most this many people are published.
        publisher: who publishes it.
        description: what it is about.
        count: what it counts, for readers.
        file: of the plan, if it was read from one.
    """

    title: str
    source: str
    domain: Domain
    budget: Budget
    dataset: str
    ledger: Path | str
    folder: Path
    unit: Unit
    bits: tuple[int, ...] | None = None
    weights: tuple[Rational, ...] | None = None
    layout: str | None = None
    noise: Noise = "laplace"
    people_per_subtree: int = PEOPLE_PER_SUBTREE
    publisher: str = ""
    description: str = ""
    count: str = "count"
    file: Path = Path("plan.toml")

    @property
    def header(self) -> PlanHeader:
        """What the order of a release needs to know."""
        return PlanHeader(
            title=self.title,
            publisher=self.publisher,
            description=self.description,
            file=self.file,
            folder=self.folder,
            price=ReleasePrice(budget=self.budget, unit=self.unit),
            ledger=LedgerEntryPoint(str(self.ledger), self.dataset),
        )

    def event(self) -> ReleaseEvent:
        """What will be drawn, and what it costs; no key is needed for it."""
        return replace(self.planned(NoiseKey.for_research(0)).event, entropy="secure")

    def planned(self, key: NoiseKey) -> AddressedRelease:
        """What is drawn, with this key."""
        return plan_addressed_tree(
            self.domain,
            self.budget,
            key,
            bits=self.bits,
            weights=self.weights,
            unit=self.unit,
            layout=self.layout,
            noise=self.noise,
        )

    def fingerprint(self, of: str) -> str:
        """SHA-256 of all that makes the release what it is; the data is no part of it."""
        said = [of, SUBTREES_FORMAT, self.title, self.source, repr(self.domain), self.dataset, self.event().to_json()]
        said += [repr((self.bits, self.weights, self.layout, self.people_per_subtree))]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()
