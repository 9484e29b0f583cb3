"""What the survey's examples gave, in one place for page and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.settings import Settings
from sudare_papers.survey.runs import (
    PEOPLE,
    RAPPOR,
    TEXTS,
    YES_PEOPLE,
    audited,
    steps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

__all__ = ["DIFFERS", "EXAMPLES", "TEXT_BOUND", "Measured"]

TEXT_BOUND = exp(float(RAPPOR.permanent_epsilon())) / (exp(float(RAPPOR.permanent_epsilon())) + TEXTS - 1)
"""No attacker who has TEXTS equally likely texts before them is right more often, whatever the number of reports."""

EXAMPLES: tuple[tuple[str, str, Words], ...] = (
    (
        "coin truth",
        "4(5), n. 38",
        Words("two coins: P(yes | yes)", "コイン2回のランダム化応答：Pr[はい|はい]"),
    ),
    ("coin ratio", "4(5), n. 38", Words("two coins: largest ratio", "同：確率の比の最大値")),
    ("coin epsilon", "4(5)", Words("two coins: epsilon = ln 3", "同：epsilon = ln 3")),
    *(
        (
            f"mean {n}",
            "4(4)",
            Words(f"sensitivity of the mean of {n} numbers in [0, 1]", f"[0, 1] の {n} 個の平均値の大域敏感度"),
        )
        for n in (2, 3, 4, 5)
    ),
    *(
        (
            f"largest {n}",
            "4(4)",
            Words(f"sensitivity of the largest of {n} numbers in [0, 1]", f"[0, 1] の {n} 個の最大値の大域敏感度"),
        )
        for n in (2, 5)
    ),
    *(
        (
            f"clipped {s}",
            "5(3)",
            Words(
                f"sensitivity of a sum clipped to 0 ... 100, s = {s}", f"0～100 に刈り込んだ合計の大域敏感度（s = {s}）"
            ),
        )
        for s in (1, 2, 3)
    ),
    (
        "clipped, others",
        "5(3)",
        Words("the same, s = 1, with four clipped rows of others", "同（s = 1、他人の4行が刈り込まれる場合）"),
    ),
    (
        "clipped, lower limit",
        "5(3)",
        Words("the same, 20 ... 100, a value changes", "同（20～100、値が変わる場合）"),
    ),
    (
        "clipped, leaving",
        "5(3)",
        Words("the same, 20 ... 100, a person leaves", "同（20～100、本人が抜ける場合）"),
    ),
    (
        "laplace loss",
        "4(4)",
        Words("Laplace noise GS / epsilon: largest loss", "ラプラス・メカニズム：損失（対数比）の最大値"),
    ),
    (
        "composition",
        "4(3)",
        Words("0.1 + 0.2 + 0.5 by the ledger's arithmetic", "直列合成 0.1 + 0.2 + 0.5（台帳の計算）"),
    ),
    ("composition, tried", "4(3)", Words("the same, all outputs tried", "同（出力を総当たり）")),
    ("composition, delta", "4(3)", Words("four times delta = 1e-6", "delta = 1e-6 を4回")),
    ("levels", "5(1)", Words("three levels with a third of epsilon = 1 each", "3階層に epsilon = 1 の3分の1ずつ")),
    ("group", "4(2)", Words("a group of 3, epsilon = 0.5 each", "3人の集団（1人あたり epsilon = 0.5）")),
    ("group, tried", "4(2)", Words("the same, all outputs tried", "同（出力を総当たり）")),
    (
        "processed",
        "4(2)",
        Words("post-processing: largest ratio after any of 256 functions", "事後処理：256通りの写像の後の比の最大値"),
    ),
    ("processed, above", "4(2)", Words("the same: functions that raise it", "同：比を大きくする写像の数")),
    (
        "median, global",
        "4(4)",
        Words("largest local sensitivity of the median = the global one", "中央値の局所敏感度の最大値 = 大域敏感度"),
    ),
)

DIFFERS = "clipped, leaving"


@dataclass(frozen=True)
class Measured:
    """The results of all steps, put together.

    Attributes:
        settings: of the run.
        results: by the names of the steps.
    """

    settings: Settings
    results: Mapping[str, Any]

    def of(self, title: str) -> list[Any]:
        """The results of all blocks of one kind."""
        return [self.results[step.name] for step in steps(self.settings) if step.name.startswith(title)]

    def examples(self) -> Mapping[str, list[float]]:
        """The paper's value and ours."""
        found: Mapping[str, list[float]] = self.results["exact examples"]
        return found

    def deviations(self) -> Numbers:
        """Measured standard deviations of Laplace noise, by sensitivity."""
        blocks = self.of("noise,")
        sizes = [len(block["shares"]) for block in blocks]
        return np.asarray(np.sqrt(np.average([block["squares"] for block in blocks], axis=0, weights=sizes)))

    def yes_share(self) -> tuple[float, float]:
        """The estimated share of people who would say yes, and the exact standard error of this mean."""
        shares = np.concatenate([block["shares"] for block in self.of("noise,")])
        return float(shares.mean()), sqrt(0.75 * 0.25 / 0.5**2 / YES_PEOPLE / shares.size)

    @cached_property
    def epsilons(self) -> tuple[float, float]:
        """What outputs prove: noise by local sensitivity, and by the global one."""
        blocks = self.of("neighbours,")
        return audited([block["local"] for block in blocks]), audited([block["global"] for block in blocks])

    def maps(self, epsilon: str) -> Numbers:
        """A row for each repeat, as `cut_maps` has them."""
        return np.asarray([row for block in self.of("cut off at 0,") for row in block[epsilon]])

    def ranges(self, bits: int, way: str) -> tuple[float, float]:
        """Mean squared error of sums over ranges, and its standard error."""
        values = np.concatenate([block[way] for block in self.of(f"ranges of 2^{bits} cells,")])
        return float(values.mean()), float(values.std() / sqrt(values.size))

    def attack(self, way: str) -> Numbers:
        """A row for each number of reports: shares of bits, permanent bits, filters and texts that are found out."""
        people = PEOPLE * self.settings.repeats
        counts = np.sum([block[way] for block in self.of("RAPPOR,")], axis=0)
        return np.asarray(counts / people / np.array([RAPPOR.bits, RAPPOR.bits, 1, 1]))
