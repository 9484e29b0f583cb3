"""A release document made by hand from what a mechanism returned, to try the page on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sudare import CountTable
from sudare.accuracy import Accuracy, predict_accuracy
from sudare.privacy import best_power
from sudare.tables import Published

__all__ = ["document_of"]


_predicted: dict[int, tuple[Published, Accuracy]] = {}


def _accuracy_of(published: Published) -> Accuracy:
    """Predicted once for what is published, however many documents are made of it."""
    if id(published) not in _predicted:
        _predicted[id(published)] = published, _predict(published)
    return _predicted[id(published)][1]


def _predict(published: Published) -> Accuracy:
    table, event = published.table, published.event
    method: Any = published.plan or event.mechanism
    settings: dict[str, Any] = {"unit": event.unit, "public_total": bool(event.invariants)}
    if isinstance(table, CountTable):
        return predict_accuracy(table.domain, event.cost, method, stand_in=table, runs=2, **settings)
    return predict_accuracy(table.domain, event.cost, method, **settings)


def document_of(published: Published, /, **changed: Any) -> dict[str, Any]:
    """The document of a published table; named fields are replaced, or left out where they are ``...``."""
    event, table, plan = published.event, published.table, published.plan
    document: dict[str, Any] = {
        "format": "sudare-release/1",
        "title": "Population by 500 m grid square, invented country 2020",
        "publisher": "Statistics Office of an Invented Country",
        "description": "Usual residents on 1 October 2020.",
        "created": "2026-11-16T03:00:00Z",
        "deployment": {
            "dp_flavor": {"name": "Pure DP", "unprotected_quantities": list(event.invariants)},
            "privacy_loss": {"privacy_unit": event.unit.who, "privacy_parameters": event.cost.to_dict()},
            "accounting": {
                "post_processing": "Whole numbers that are not negative, from the noisy measurements alone."
            },
        },
        "event": json.loads(event.to_json()),
        "promise": {"false_alarm": 0.05, "best_power": best_power(event.cost, 0.05)},
        "plan": None
        if plan is None
        else {
            "mechanism": plan.mechanism,
            "noise": plan.noise,
            "settings": {"bits": list(plan.settings.get("bits", []))},
            "levels": [level.to_dict() for level in plan.levels],
            "errors": [asdict(error) for error in plan.errors],
            "alternatives": [alternative.to_dict() for alternative in plan.alternatives],
            "reasons": [str(reason) for reason in plan.reasons],
            "reasons_in_words": [reason.to_dict() for reason in plan.reasons],
        },
        "accuracy": _accuracy_of(published).to_dict(),
        "domain": {"shape": list(table.domain.shape), "cells": table.domain.cells},
        "published": {"total": table.total, "non_empty_cells": int(table.keys.size)},
        "reference": None,
        "files": [
            {"name": "table.parquet", "bytes": 2_345_678, "sha256": "3f" * 32},
            {"name": "table.csv", "bytes": 8_765, "sha256": "a1" * 32},
        ],
        "ledger": {
            "location": "budget.db",
            "dataset": "census-2020",
            "entry": 3,
            "hash": "9c" * 32,
            "remaining": "epsilon = 4",
        },
        "input": {"keyed_hash": "77" * 32, "note": "HMAC-SHA256"},
        "versions": {"sudare": "0.1.0", "python": "3.11.9", "numpy": "2.4.0"},
        "confidential": False,
    }
    document.update(changed)
    return {name: value for name, value in document.items() if value is not ...}
