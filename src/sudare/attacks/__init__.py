"""Attacks that check what the rest of the package promises.

- `empirical_epsilon`: how large epsilon must at least be, judged by the outputs alone.
"""

from sudare.attacks.empirical_epsilon import EpsilonAudit, audit_epsilon

__all__ = ["EpsilonAudit", "audit_epsilon"]
