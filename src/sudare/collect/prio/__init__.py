"""ENPA: statistics of people by two aggregators, neither of which ever sees a value (Prio3 of the VDAF draft).

A reading map:

- `sudare.collect.prio.prio3`, `sudare.collect.prio.variants`: the protocol, and what it measures; ``prio.md`` beside it
  says what holds and what does not.
- `sudare.collect.prio.circuits`, `sudare.collect.prio.proofs`: what a valid report is, and how that is proved on shares.
- `sudare.collect.prio.fields`, `sudare.collect.prio.xof`: arithmetic and randomness, over `sudare.kernels`.
- `sudare.collect.prio.task`, `sudare.collect.prio.parties`, `sudare.collect.prio.limits`, `sudare.collect.prio.service`:
  keys, clients and collector, what a client allows, and the two aggregators as processes.
- `sudare.collect.prio.aggregators`, `sudare.collect.prio.leader`: what the two do with reports;
  `sudare.collect.prio.connections`: places that slow clients cannot hold.
- `sudare.collect.prio.known_answers`: replays the draft's published vectors.
"""

from sudare.collect.prio.known_answers import KnownAnswers, check_known_answers
from sudare.collect.prio.parties import CollectedBatch, collect_batch, make_report, send_report
from sudare.collect.prio.prio3 import Prio3
from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.reports import Report, Reports, Verification, VerifyState
from sudare.collect.prio.responses import Estimate, RandomizedResponse
from sudare.collect.prio.service import AggregatorService, serve_aggregator
from sudare.collect.prio.task import AggregatorKeys, CollectorKeys, Measured, Task, create_task
from sudare.collect.prio.variants import (
    Prio3Count,
    Prio3Histogram,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
    Prio3SumVecWithMultiproof,
)

__all__ = [
    "AggregatorError",
    "AggregatorKeys",
    "AggregatorService",
    "CollectedBatch",
    "CollectorKeys",
    "Estimate",
    "KnownAnswers",
    "Measured",
    "Prio3",
    "Prio3Count",
    "Prio3Histogram",
    "Prio3MultihotCountVec",
    "Prio3Sum",
    "Prio3SumVec",
    "Prio3SumVecWithMultiproof",
    "RandomizedResponse",
    "Report",
    "ReportRefusedError",
    "Reports",
    "Task",
    "Verification",
    "VerifyState",
    "check_known_answers",
    "collect_batch",
    "create_task",
    "make_report",
    "send_report",
    "serve_aggregator",
]
