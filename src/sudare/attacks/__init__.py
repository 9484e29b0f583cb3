"""Attacks that check what the rest of the package promises, and what others publish.

- `empirical_epsilon`: how large epsilon must at least be, judged by the outputs alone; `programs`: of any program.
- `reconstruction`: the people behind published tables (`published_statistics`).
- `interval`: hidden cells of suppressed tables, bounded by the published ones (`narrowing`, and linear programs).
- `differencing`: combinations of published cells that are counts of few people (`cell_system`, `echelon`, `small_parts`).
- `linkage`: people of an outside file found in a released one, by nearness (`distances`).
- `uniqueness`: who is alone, and with how few values.
- `averaging`: noise that wears off when answers are repeated (`laws` of noise).
- `membership`: who is in the data at all.

Each returns its findings with a ``report()`` of `verdicts`: for each person or cell an outcome, a plain sentence in two
languages, a number, and what would stop the attack. An attack that was not finished, or could not have worked with what it had,
is undecided, never held. Names are loaded on first use.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
