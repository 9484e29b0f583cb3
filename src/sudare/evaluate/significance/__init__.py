"""Is it real? Tests on published tables, with the chance of a false alarm under the noise that the release states.

Noise with a known law is an honest measuring error: anyone who has the published numbers and the event of the release can say how
often chance alone makes a difference as large as the one at hand. These tests look at **published numbers only**; they cost no
budget, and anybody may run them.

- `areas_differ`: two areas of one release, or of two.
- `area_changed`: one area in two releases.
- `find_hot_spots`: somewhere on a map there is more than expected, with one chance of a false alarm for the whole map.
- `power_curve`, `smallest_detectable`: how large a difference must be to be found, under epsilon and under zCDP.

**Exact** are tests of noisy counts as they were drawn (`NoisyCount.of_flat`, `of_area`, `of_values`: flat tables, and the
measurements of a release). Refined tables, such as those of a tree, have errors of no known law: with a stated standard error
(`NoisyCount.of_refined`) the tests are **approximate**, and say so.

Formulas: ``significance.md`` beside this file.
"""

from sudare.evaluate.significance.comparing import CountComparison, area_changed, areas_differ
from sudare.evaluate.significance.hot_spots import HotSpot, HotSpots, find_hot_spots
from sudare.evaluate.significance.laws import law_of_noise
from sudare.evaluate.significance.noisy_counts import NoisyCount, dense_values
from sudare.evaluate.significance.power import (
    flat_noise,
    halves_noise,
    node_noise,
    power_curve,
    smallest_detectable,
)
from sudare.evaluate.significance.sums import LawOfSum, Term

__all__ = [
    "CountComparison",
    "HotSpot",
    "HotSpots",
    "LawOfSum",
    "NoisyCount",
    "Term",
    "area_changed",
    "areas_differ",
    "dense_values",
    "find_hot_spots",
    "flat_noise",
    "halves_noise",
    "law_of_noise",
    "node_noise",
    "power_curve",
    "smallest_detectable",
]
