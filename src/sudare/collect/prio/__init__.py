"""ENPA: statistics of people by two aggregators, neither of which ever sees a value (Prio3 of the VDAF draft).

A reading map:

- `sudare.collect.prio.vdaf.prio3`, `sudare.collect.prio.vdaf.variants`: the protocol, and what it measures; ``prio.md`` beside it
  says what holds and what does not.
- `sudare.collect.prio.vdaf.circuits`, `sudare.collect.prio.vdaf.proofs`: what a valid report is, and how that is proved on
  shares.
- `sudare.collect.prio.vdaf.fields`, `sudare.collect.prio.vdaf.xof`: arithmetic and randomness, over `sudare.kernels`.
- `sudare.collect.prio.task`, `sudare.collect.prio.services.parties`, `sudare.collect.prio.limits`,
  `sudare.collect.prio.services.service`: keys, clients and collector, what a client allows, and the two aggregators as
  processes.
- `sudare.collect.prio.services.aggregators`, `sudare.collect.prio.services.leader`: what the two do with reports;
  `sudare.collect.prio.services.connections`: places that slow clients cannot hold.
- `sudare.collect.prio.vdaf.known_answers`: replays the draft's published vectors.
"""

from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.responses import RandomizedResponse, ResponseEstimate
from sudare.collect.prio.services.parties import CollectedBatch, collect_batch, make_report, send_report
from sudare.collect.prio.services.service import AggregatorService, serve_aggregator
from sudare.collect.prio.task import AggregatorKeys, CollectorKeys, Task, TaskMeasurement, create_task
from sudare.collect.prio.vdaf.known_answers import KnownAnswers, check_known_answers
from sudare.collect.prio.vdaf.prio3 import Prio3
from sudare.collect.prio.vdaf.reports import Report, Reports, Verification, VerifyState
from sudare.collect.prio.vdaf.variants import (
    Prio3Count,
    Prio3Histogram,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
    Prio3SumVecWithMultiproof,
)
from sudare.renamed import old_names

__all__ = [
    "AggregatorError",
    "AggregatorKeys",
    "AggregatorService",
    "CollectedBatch",
    "CollectorKeys",
    "KnownAnswers",
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
    "ResponseEstimate",
    "Task",
    "TaskMeasurement",
    "Verification",
    "VerifyState",
    "check_known_answers",
    "collect_batch",
    "create_task",
    "make_report",
    "send_report",
    "serve_aggregator",
]


__getattr__ = old_names(__name__)
