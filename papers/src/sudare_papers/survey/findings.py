"""Which of the survey's sentences hold, each with its margin."""

from __future__ import annotations

from math import log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare_papers.report import Finding
from sudare_papers.survey.results import DIFFERS, EXAMPLES, TEXT_BOUND, Measured
from sudare_papers.survey.runs import (
    EXACT_ONLY,
    LAPLACE_EPSILON,
    MAP_EPSILONS,
    PEOPLE,
    RAPPOR,
    SENSITIVITIES,
    SIZES,
    YES_SHARE,
    discrete_deviation,
    range_variances,
    range_weight,
    report_counts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

__all__ = ["findings"]

WAYS = (0, 3)
"""Where the totals of flat noise, and of Privelet, begin in a row of the maps."""


def findings(found: Measured) -> tuple[Finding, ...]:
    """All of them."""
    return (*_exact_findings(found), *_noise_findings(found), *_range_findings(found), *_attack_findings(found))


def _exact_findings(found: Measured) -> tuple[Finding, ...]:
    examples = found.examples()
    same = [key for key, _, _ in EXAMPLES if abs(examples[key][0] - examples[key][1]) <= 1e-12]
    formula, leaving = examples[DIFFERS]
    local = [examples[name][1] for name in EXACT_ONLY]
    by_local, by_global = found.epsilons
    return (
        Finding(
            Words(
                "all exact examples of the paper come out as it says, within 1e-12: coins, sensitivities, Laplace "
                "noise, composition, groups, post-processing",
                "厳密に確かめた論文の例（コイン、敏感度、ラプラス・ノイズ、直列合成、集団、事後処理）はすべて論文の"
                "とおりです（許容 1e-12）",
            ),
            {key for key, _, _ in EXAMPLES} - set(same) <= {DIFFERS},
            f"{len(same)} / {len(EXAMPLES) - 1}",
        ),
        Finding(
            Words(
                "sudare: (u - l) s does not cover a person who leaves, unless one limit is 0",
                "sudare：片方の限界が 0 でない限り、(u - l) s では本人が抜ける場合を覆えません",
            ),
            leaving > formula,
            f"{leaving:g} > {formula:g}",
        ),
        Finding(
            Words(
                "noise by the local sensitivity is not private: two neighbours have local sensitivity 0 and above "
                "0, so the loss is infinite; outputs prove at least 5 where 1 was claimed, and at most 1 (but "
                "above 0.8) with noise by the global sensitivity",
                "局所敏感度によるノイズでは守れません。隣接する2つのデータベースの局所敏感度が 0 と正なので、損失は"
                "無限大です（epsilon = 1 とうたっても、出力から 5 以上と証明できます。大域敏感度によるノイズでは "
                "0.8～1 です）",
            ),
            local[0] == 0 < local[1] and by_local >= 5 and 0.8 <= by_global <= 1,
            f"{by_local:.2f}, {by_global:.2f}",
        ),
    )


def _noise_findings(found: Measured) -> tuple[Finding, ...]:
    share, error = found.yes_share()
    paper = np.sqrt(2) * np.array(SENSITIVITIES) / float(LAPLACE_EPSILON)
    apart = float(np.abs(found.deviations() / paper - 1).max())
    facts = found.results["size of the map"]
    maps = {epsilon: found.maps(epsilon) for epsilon in MAP_EPSILONS}
    lowest = min(float((rows[:, way + 1] - rows[:, way]).min()) for rows in maps.values() for way in WAYS)
    ratios = [float((rows[:, 1] - rows[:, 0]).mean()) / facts[f"bias {epsilon}"] for epsilon, rows in maps.items()]
    apart_totals = max(
        abs(float(rows[:, place].mean()) - facts["people"]) / (deviation / sqrt(len(rows)))
        for epsilon, rows in maps.items()
        for way, deviation in zip(WAYS, _deviations_of_totals(facts["cells"], float(epsilon)), strict=True)
        for place in (way, way + 2)
    )
    lost = min(1 - float(rows[:, 6].mean()) / facts["empty"] for rows in maps.values())
    return (
        Finding(
            Words(
                "from randomized answers the true share of yes is estimated without bias (within 4 standard errors)",
                "ランダム化された回答から、真の「はい」の割合を偏りなく推定できます（標準誤差の4倍以内）",
            ),
            abs(share - YES_SHARE) <= 4 * error,
            f"{share:.4f} ± {error:.4f}, {YES_SHARE}",
        ),
        Finding(
            Words(
                "the standard deviation of Laplace noise is in proportion to the sensitivity: sqrt(2) GS / epsilon "
                "within 2 %",
                "ラプラス・ノイズの標準偏差は敏感度に比例します（sqrt(2) GS / epsilon から 2 % 以内）",
            ),
            apart <= 0.02,
            f"{apart:.2%}",
        ),
        Finding(
            Words(
                "cutting off at 0 biases a map upwards, with flat noise and with Privelet: in every repeat, and for "
                "flat noise by "
                "the exact mean within 2 %",
                "負値をゼロにすると、単純なノイズでも Privelet でも地図に正のバイアスが生じます（すべての反復で正、単"
                "純なノイズでは"
                "厳密な期待値から 2 % 以内）",
            ),
            lowest > 0 and all(abs(ratio - 1) <= 0.02 for ratio in ratios),
            ", ".join(f"{ratio:.4f}" for ratio in ratios),
        ),
        Finding(
            Words(
                "signed tables, and tables refined to counts that keep sums, have the right total on average, with "
                "flat noise and "
                "with Privelet (within 4 standard errors)",
                "符号付きの表と、合計を保って非負化した表では、単純なノイズでも Privelet でも合計が平均的に正しくなり"
                "ます（標準誤差の4倍"
                "以内）",
            ),
            apart_totals <= 4,
            f"{apart_totals:.1f}",
        ),
        Finding(
            Words(
                "Privelet loses the emptiness of a map: at least nine tenths of the empty cells for every epsilon",
                "Privelet は地図の疎性を失わせます（どの epsilon でも空のセルの9割以上）",
            ),
            lost >= 0.9,
            f"{lost:.0%}",
        ),
    )


def _deviations_of_totals(cells: float, epsilon: float) -> tuple[float, float]:
    """Of the sum of flat noise on a square map, and of Privelet's noisy total, of which one person changes all levels."""
    levels = (log2(cells) / 2 + 1) ** 2
    return sqrt(cells) * discrete_deviation(1 / epsilon), discrete_deviation(levels / epsilon)


def _range_findings(found: Measured) -> tuple[Finding, ...]:
    sizes = np.array(SIZES)
    exact = np.array([range_variances(found.settings, bits) for bits in SIZES])
    flat, wavelet = (np.array([found.ranges(bits, way) for bits in SIZES]) for way in ("flat", "privelet"))
    slope = float(np.polyfit(sizes, np.log2(flat[:, 0]), 1)[0])
    cubes = wavelet[:, 0] / sizes**3
    apart = max(float(np.abs((x[:, 0] - exact[:, place]) / x[:, 1]).max()) for place, x in enumerate((flat, wavelet)))
    gain = float(flat[-1, 0] / wavelet[-1, 0])
    bits = SIZES[0]
    cells = 1 << bits
    bound = max(range_weight(start, stop, bits) for start in range(cells) for stop in range(start + 1, cells + 1))
    return (
        Finding(
            Words(
                f"the variance of sums of flat noise grows like n from 2^{SIZES[0]} to 2^{SIZES[-1]} cells (slope "
                "1, within 0.1)",
                f"単純なノイズの区間和の分散は、2^{SIZES[0]}～2^{SIZES[-1]} セルで n に比例します（傾き 1、許容 0.1）",
            ),
            abs(slope - 1) <= 0.1,
            f"{slope:.3f}",
        ),
        Finding(
            Words(
                "that of Privelet grows like (log2 n)^3: their ratio changes by a factor of 2 at most",
                "Privelet では (log2 n)^3 に従って増えます（その比の変化は2倍以内）",
            ),
            float(cubes.max() / cubes.min()) <= 2,
            f"{cubes.max() / cubes.min():.2f}",
        ),
        Finding(
            Words(
                "measured variances are the expected ones within 4.5 standard errors, for all sizes",
                "測定した分散は、すべての大きさで期待される値と一致します（標準誤差の4.5倍以内）",
            ),
            apart <= 4.5,
            f"{apart:.1f}",
        ),
        Finding(
            Words(
                f"no range of 64 cells has more than the bound 1 + log2(n) / 2 = {1 + log2(cells) / 2:g} "
                "coefficients' worth of variance (all ranges, exact)",
                f"64 セルのどの区間でも、分散は係数の分散の 1 + log2(n) / 2 = {1 + log2(cells) / 2:g} 倍以下です（全"
                "区間、厳密）",
            ),
            bound <= 1 + log2(cells) / 2,
            f"{bound:.3f}",
        ),
        Finding(
            Words(
                "Privelet is more accurate than flat noise for large tables: 4 times or more in variance at 2^"
                f"{SIZES[-1]} cells",
                f"大きな表では Privelet の方が正確です（2^{SIZES[-1]} セルで分散が4分の1以下）",
            ),
            gain >= 4,
            f"{gain:.1f}",
        ),
    )


def _attack_findings(found: Measured) -> tuple[Finding, ...]:
    fresh, kept = found.attack("fresh")[-1], found.attack("kept")[-1]
    people = PEOPLE * found.settings.repeats
    limit = 1 - float(RAPPOR.f) / 2
    error = sqrt(limit * (1 - limit) / (people * RAPPOR.bits))
    most = f"{report_counts(found.settings)[-1]:,}"
    texts = float(found.attack("kept")[:, 3].max())
    return (
        Finding(
            Words(
                f"without the permanent response, {most} reports of a person give away at least 99.9 % of the bits "
                "and 99 % of the texts",
                f"恒久的な応答がなければ、1人の報告 {most} 件で 99.9 % 以上のビットと 99 % 以上の文字列が判明します",
            ),
            fresh[0] >= 0.999 and fresh[3] >= 0.99,
            f"{fresh[0]:.2%}, {fresh[3]:.1%}",
        ),
        Finding(
            Words(
                "with it the attacker learns the permanent bits (at least 99.9 % of them), and so 1 - f/2 = 75 % "
                "of the filter's, within 4 standard errors",
                "恒久的な応答があれば、攻撃者にわかるのは恒久ビット（99.9 % 以上）までで、元のビットの正解率は 1 - "
                "f/2 = 75 % です（標準誤差の4倍以内）",
            ),
            kept[1] >= 0.999 and abs(kept[0] - limit) <= 4 * error,
            f"{kept[1]:.2%}, {kept[0]:.2%} ± {error:.2%}",
        ),
        Finding(
            Words(
                "with it the attacker cannot be sure of B: they have the whole filter of at most 1 % of the people",
                "恒久的な応答があれば、攻撃者は B を確定できません（全ビットが判明する人は 1 % 以下）",
            ),
            kept[2] <= 0.01,
            f"{kept[2]:.2%}",
        ),
        Finding(
            Words(
                f"and they guess no more texts than the epsilon of the permanent response allows, {TEXT_BOUND:.0%}, "
                "whatever the number of reports",
                f"報告数によらず、文字列の正解率は恒久的な応答の epsilon が許す {TEXT_BOUND:.0%} を超えません",
            ),
            texts <= TEXT_BOUND,
            f"{texts:.1%}",
        ),
    )
