"""How many runs an audit needs: enough that a broken twin is caught almost surely, and no more.

An audit that holds a claim proves something only if it would have caught a mechanism that spends more. So the number of runs
is that of its broken twin: the least with which the twin's bound lies above the claim with probability `POWER`, when the
bound is wrong with probability `ERROR`. Audits draw the same noise in every run of the tests, so that none fails by chance.
"""

from __future__ import annotations

import math

from scipy.stats import beta, binom

__all__ = ["POWER", "runs_to_refute"]

POWER = 0.999
ERROR = 1e-6
"""What `audit_epsilon` takes by default."""


def runs_to_refute(claimed: float, spent: float, *, power: float = POWER) -> int:
    """The least runs, to the next fifty, with which a Laplace mechanism that spends more than it claims is caught.

    The set that tells two neighbours apart best, the outputs on one's side of the middle, has probabilities 1 / (1 + exp(-spent))
    and 1 / (1 + exp(spent)); half of the runs find it, the other half judge.
    """
    p, q = 1 / (1 + math.exp(-spent)), 1 / (1 + math.exp(spent))
    runs = 100
    while _bound_missed_rarely(runs - runs // 2, p, q, (1 - power) / 2) <= claimed:
        runs += 50
    return runs


def _bound_missed_rarely(judged: int, p: float, q: float, chance: float) -> float:
    """A bound that the audit's is below with twice this chance at most (Clopper-Pearson limits, as the audit's)."""
    few, many = binom.ppf(chance, judged, p), binom.ppf(1 - chance, judged, q)
    low = beta.ppf(ERROR / 4, few, judged - few + 1)
    high = beta.ppf(1 - ERROR / 4, many + 1, judged - many) if many < judged else 1.0
    return float(math.log(low / high)) if low > 0 else 0.0
