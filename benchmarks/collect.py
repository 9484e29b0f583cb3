"""Speed of protection while collecting: against a public package a report at a time, and against NumPy for the same arrays."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.measuring import best_seconds, environment_with, in_new_process
from sudare.collect.estimation.crosstab import iterative_bayes
from sudare.collect.prio import Prio3Histogram, check_known_answers
from sudare.collect.randomizers.categories import KaryResponse, Retention
from sudare.collect.randomizers.unary import UnaryResponse
from sudare.collect.rappor.design import CandidateTexts, count_bits, weights_and_rates
from sudare.collect.rappor.rappor import Rappor
from sudare.collect.rappor.rappor_decode import decode
from sudare.collect.transitions.bins import laplace_bins

PEOPLE, VALUES, EPSILON = 10_000_000, 16, 1
PEER_REPORTS = 20_000
TABLE, RECORDS = (200, 50, 20), 1_000_000
RAPPOR_PEOPLE, CANDIDATES = 1_000_000, 1000
PRIO_REPORTS = 10_000

TARGETS = {
    "krr_vs_pureldp": "at least 100 (pure-ldp's time a report / ours, k-ary response, randomize and estimate)",
    "oue_vs_pureldp": "at least 100 (the same for optimized unary encoding)",
    "krr_vs_numpy": "at most 5 (randomize + estimate 10^7 reports / numpy integers + bincount)",
    "oue_seconds": "randomize + estimate 10^7 reports of 16 values",
    "rappor_decode_seconds": "seconds (10^6 reports x 1,000 candidates, from reports to texts)",
    "sklearn_lasso_seconds": "scikit-learn's Lasso alone, on the same matrix, the same penalty",
    "rappor_lasso_vs_sklearn": "our whole decoding / scikit-learn's Lasso alone",
    "crosstab_seconds": "below 10 (200 x 50 x 20 cells from 10^6 records, iterative Bayes to its tolerance)",
    "prio3_shard_ms": "at most 4.8 (a report, Histogram(100), batch of 10^4)",
    "prio3_verify_ms": "at most 2.8 (a report, both aggregators)",
    "vdaf_passed": "17 (vectors of Prio3 that must pass, and do)",
    "vdaf_rejected": "8 (vectors that must be rejected, and are)",
    "vdaf_wrong": "0",
}

PURE_LDP = ("pure-ldp", "1.2.0", "scikit-learn", "statsmodels", "matplotlib", "xxhash", "bitarray", "setuptools<81")
PEER_CODE = f"""
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
from pure_ldp.frequency_oracles import DEClient, DEServer, UEClient, UEServer
values = np.random.default_rng(1).integers(1, {VALUES} + 1, size={PEER_REPORTS}).tolist()
best = []
for client, server in (
    (DEClient({EPSILON}, {VALUES}), DEServer({EPSILON}, {VALUES})),
    (UEClient({EPSILON}, {VALUES}, use_oue=True), UEServer({EPSILON}, {VALUES}, use_oue=True)),
):
    start = time.perf_counter()
    for value in values:
        server.aggregate(client.privatise(value))
    for value in range(1, {VALUES} + 1):
        server.estimate(value, suppress_warnings=True)
    best.append((time.perf_counter() - start) / {PEER_REPORTS})
print(*best)
"""

LASSO_CODE = """
import json, sys, time
import numpy as np
from scipy.sparse import csc_matrix
from sklearn.linear_model import Lasso
told = np.load(sys.argv[1] if len(sys.argv) > 1 else "{file}")
matrix = csc_matrix((told["data"], told["indices"], told["indptr"]), shape=tuple(told["shape"]))
start = time.perf_counter()
Lasso(alpha=float(told["alpha"]), positive=True, fit_intercept=False, max_iter=10_000).fit(matrix, told["rates"])
print(time.perf_counter() - start)
"""


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    truth = np.random.default_rng(1).integers(0, VALUES, size=PEOPLE)
    kary, unary = KaryResponse(range(VALUES), EPSILON), UnaryResponse(range(VALUES), EPSILON)
    generator = np.random.default_rng(2)
    seconds = best_seconds(
        {
            "krr": lambda: kary.estimate(kary.randomize(truth)),
            "oue": lambda: unary.estimate(unary.randomize(truth)),
            "numpy": lambda: np.bincount(generator.integers(0, VALUES, size=PEOPLE), minlength=VALUES),
        },
        rounds=3,
    )
    pure_krr, pure_oue = map(float, in_new_process(PEER_CODE, environment_with(*PURE_LDP)).split())
    answers = check_known_answers(data_folder("vdaf_test_vectors"))
    return {
        "krr_vs_pureldp": pure_krr / (seconds["krr"] / PEOPLE),
        "oue_vs_pureldp": pure_oue / (seconds["oue"] / PEOPLE),
        "krr_vs_numpy": seconds["krr"] / seconds["numpy"],
        "oue_seconds": seconds["oue"],
        **_rappor(),
        "crosstab_seconds": _crosstab(),
        **_prio(),
        "vdaf_passed": answers.passed,
        "vdaf_rejected": answers.rejected,
        "vdaf_wrong": len(answers.wrong),
    }


def _rappor() -> dict[str, float]:
    """Texts by Zipf's law, decoded; and scikit-learn's Lasso on the same weighted matrix."""
    import tempfile
    from pathlib import Path

    from scipy.sparse import csc_matrix, diags

    rappor = Rappor(bits=128, hashes=2, cohorts=64, f=0.25, p=0.5, q=0.75)
    names = [f"text {number}" for number in range(CANDIDATES)]
    shares = 1 / np.arange(1, CANDIDATES + 1)
    people = np.random.default_rng(1).choice(names, size=RAPPOR_PEOPLE, p=shares / shares.sum())
    reports = rappor.randomize(people)
    start = time.perf_counter()
    decode(rappor, reports, names)
    ours = time.perf_counter() - start
    candidates = CandidateTexts.from_texts(rappor, names)
    weights, rates = weights_and_rates(count_bits(rappor, reports))
    roots = np.sqrt(np.asarray(weights).ravel())
    scaled = csc_matrix(diags(roots) @ csc_matrix(candidates.matrix()))
    right = roots * np.asarray(rates).ravel()
    alpha = 0.001 * float(np.abs(scaled.T @ right).max()) / right.size
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.npz"
        np.savez(
            file,
            data=scaled.data,
            indices=scaled.indices,
            indptr=scaled.indptr,
            shape=scaled.shape,
            rates=right,
            alpha=alpha,
        )
        theirs = float(in_new_process(LASSO_CODE.replace("{file}", str(file)), environment_with(*PURE_LDP)))
    return {
        "rappor_decode_seconds": ours,
        "sklearn_lasso_seconds": theirs,
        "rappor_lasso_vs_sklearn": ours / theirs,
    }


def _crosstab() -> float:
    generator = np.random.default_rng(1)
    truth = generator.dirichlet(np.full(int(np.prod(TABLE)), 0.1)).reshape(TABLE)
    transitions = [
        laplace_bins(np.linspace(0, 1, TABLE[0] + 1), 0.2),
        Retention(range(TABLE[1]), 0.5).transition(),
        KaryResponse(range(TABLE[2]), 2).transition(),
    ]
    expected = truth
    for axis, transition in enumerate(transitions):
        expected = np.moveaxis(transition.forward(np.moveaxis(expected, axis, -1)), -1, axis)
    counts = generator.multinomial(RECORDS, (expected / expected.sum()).ravel()).reshape(TABLE)
    start = time.perf_counter()
    iterative_bayes(counts, transitions)
    return time.perf_counter() - start


def _prio() -> dict[str, float]:
    prio = Prio3Histogram(length=100)
    values, context, key = [number % 100 for number in range(PRIO_REPORTS)], b"benchmark", bytes(32)
    prio.shard_many(values[:10], context)
    shard, reports = _timed(lambda: prio.shard_many(values, context))

    def verify() -> int:
        looks = [
            prio.verify_init_many(key, context, role, reports.nonces, reports.public_shares, reports.input_shares[role])
            for role in (0, 1)
        ]
        messages, accepted = prio.verifier_shares_to_message_many(context, [look.verifier_shares for look in looks])
        return int(
            (accepted & prio.verify_next_many(looks[0], messages) & prio.verify_next_many(looks[1], messages)).sum()
        )

    verified, count = _timed(verify)
    if count != PRIO_REPORTS:
        raise SystemExit("Prio3 refused valid reports.")
    return {"prio3_shard_ms": 1000 * shard / PRIO_REPORTS, "prio3_verify_ms": 1000 * verified / PRIO_REPORTS}


def _timed(job: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result
