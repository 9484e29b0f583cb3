"""What others proposed for streams of counts, from their papers: to run beside sudare's own series on the same people.

- `baseline`: what all of them are. `registry`: all of them, by name.
- `uniform`, `sample`: the two that every other one has to beat.
- `budget_distribution`, `budget_absorption`: publish again when enough has changed (BD and BA).
- `pegasus`: noise, groups of ticks at which little changes, and the median of each group.
- `honaker_tree`: sums of changes over 1, 2, 4, ... ticks, each estimated from those below it.

They are here to compare with: `sudare.series` publishes better, and no release uses them. How budgets of papers that state a pure
epsilon become rho, and why each one costs what it says: ``baselines.md`` beside this file.
"""

from sudare.series.baselines.baseline import StreamBaseline, StreamSetting
from sudare.series.baselines.registry import BASELINES, baseline_for

__all__ = ["BASELINES", "StreamBaseline", "StreamSetting", "baseline_for"]
