"""Which sentences about Pk-anonymity and reconstruction hold, each with its margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.pk.runs import (
    BASES,
    BAYES,
    BINS,
    COMPARED_BINS,
    EVEN,
    HELD_OUT,
    K_PEOPLE,
    LIMIT,
    RANDOM_PART,
    RAW,
    SUMMED,
    Errors,
    looks,
    tables,
)
from sudare_papers.report import Finding
from sudare_papers.settings import Settings

__all__ = ["BASE_WORDS", "DESIGN_WORDS", "epsilon_of_k", "findings", "fits_of", "ks_of", "over", "people_of_sizes"]

DESIGN_WORDS = {
    "bounded": Words("bounded", "有界"),
    "beyond": Words("unbounded, bins beyond the range", "非有界（値域外にも区間）"),
    "clipped": Words("unbounded, clipped into the end bins", "非有界（両端の区間に算入）"),
}
BASE_WORDS = {
    "laplace": Words("Laplace", "Laplace"), "normal": Words("normal", "正規"), "cauchy": Words("Cauchy", "Cauchy"),
}  # fmt: skip
MAX_K = 1000
"""Up to which findings about k go: beyond it 100,000 people are hardly told apart from evenly spread ones."""


def fits_of(results: Mapping[str, Any]) -> list[tuple[str, str, list[float]]]:
    """How well each way to draw bounded noise fits its density."""
    both = [(base, method) for base in BASES for method in ("inverse", "rejection")]
    return [(base, method, row) for base, method in both for row in results[f"samplers, {base}, {method}"]]


def findings(settings: Settings, results: Mapping[str, Any], errors: Errors) -> tuple[Finding, ...]:
    """All of them."""
    return (
        *_check_findings(results),
        *_estimate_findings(settings, errors),
        *_noise_findings(settings, results, errors),
    )


def _check_findings(results: Mapping[str, Any]) -> tuple[Finding, ...]:
    rates = results["rates"]
    apart = max(max(abs(value / row[2] - 1) for value in row[3:5] if value is not None) for row in rates)
    noises = [row for row in rates if row[5] is not None]
    worst = min(row[4] / row[5] for row in noises)
    laplace = max(abs(row[4] / row[5] - 1) for row in noises if row[0] == "laplace")
    fits = fits_of(results)
    least, control = min(row[1] for _, _, row in fits), max(row[2] for _, _, row in fits)
    matrices = [row for base in BASES for bins in BINS for row in results[f"bin matrices, {base}, {bins} bins"]]
    relative, sums = max(row[1] for row in matrices), max(row[3] for row in matrices)
    return (
        Finding(
            Words(
                "theorem 5.1, corollaries 5.1 and 5.2, and the rate of retention-replacement: formula, sudare and "
                "brute force agree within "
                "a relative 1e-12",
                "定理 5.1、系 5.1・5.2、維持-置換の匿名率は、式・sudare・総当たりで一致します（相対差 1e-12 以内）",
            ),
            apart <= 1e-12,
            f"{apart:.1e}",
        ),
        Finding(
            Words(
                "theorem 5.2: bounded noise never has a lower rate than its base (within 1e-12), and bounded Laplace "
                "noise has the same",
                "定理 5.2：有界ノイズの匿名率は基礎ノイズを下回らず（許容 1e-12）、Laplace では等しくなります",
            ),
            worst >= 1 - 1e-12 and laplace <= 1e-12,
            f"{worst - 1:.1e}, {laplace:.1e}",
        ),
        Finding(
            Words(
                f"both samplers follow the density: the smallest of {len(fits)} p-values is at least 0.001 / {len(fits)}",
                f"2つの生成法はともに密度に従います（{len(fits)} 個の p 値の最小が 0.001 / {len(fits)} 以上）",
            ),
            least >= 0.001 / len(fits),
            f"{least:.3f}",
        ),
        Finding(
            Words(
                "noise clipped to the range, the control, is found out each time (p-value below 1e-9)",
                "対照の、端に丸めたノイズは毎回見破られます（p 値 1e-9 未満）",
            ),
            control < 1e-9,
            f"{control:.1e}",
        ),
        Finding(
            Words(
                "every entry of the matrices between bins agrees with quadrature within a relative 1e-9, and rows "
                "add up to 1 within 1e-12",
                "遷移確率行列のすべての要素が数値積分と相対差 1e-9 以内で一致し、行の和は 1（許容 1e-12）です",
            ),
            relative <= 1e-9 and sums <= 1e-12,
            f"{relative:.1e}, {sums:.1e}",
        ),
    )


def _estimate_findings(settings: Settings, errors: Errors) -> tuple[Finding, ...]:
    sizes = people_of_sizes(settings)
    slopes = _slopes(errors, sizes)
    slope = float(np.mean(slopes))
    every = sorted({key[:5] for key in errors.one})
    gains = {
        look: _best_known(errors.rmse(*look, BAYES), errors.rmse(*look, RAW), errors.rmse(*look, EVEN))
        for look in every
    }
    better = {base: [gain < 1 for look, gain in gains.items() if look[0] == base] for base in BASES}
    many = [
        gain
        for (base, design, people, k, _), gain in gains.items()
        if base == "laplace" and design == "bounded" and people >= K_PEOPLE and k <= MAX_K
    ]
    limit = [
        over(errors.rmse(*look, LIMIT), errors.rmse(*look, BAYES)) or np.nan for look in every if look[4] > BINS[0]
    ]
    adult = {
        table: _best_known(*(errors.table_rmse(*table, name) for name in (BAYES, RAW, EVEN))) for table in tables()
    }
    summed = [
        over(
            errors.rmse("laplace", "bounded", sizes[-1], 0, bins, SUMMED),
            errors.rmse("laplace", "bounded", sizes[-1], 0, bins, HELD_OUT),
        )
        or np.nan
        for bins in BINS[:2]
    ]
    return (
        Finding(
            Words(
                "the random error of the inverse matrix falls like n^(-1/2): the mean slope over all bins and "
                "bounds, Laplace noise, is "
                "-0.5 within 0.05",
                "逆行列による推定のランダムな誤差は n^(-1/2) に比例して減ります（Laplace、全区間数・範囲の平均の傾"
                "きが -0.5、許容 0.05）",
            ),
            abs(slope + 0.5) <= 0.05,
            f"{slope:.3f}; {min(slopes):.2f} – {max(slopes):.2f}",
        ),
        Finding(
            Words(
                "reconstruction (iterative Bayes, stopped early) has a smaller error than both the reports as they "
                "are and equal shares, in "
                "every setting with one attribute",
                "再構築（ベイズ反復、早めに終了）の誤差は、1属性のどの設定でも、ランダム化したままの表と"
                "一様分布の両方より小さくなります",
            ),
            all(all(each) for each in better.values()),
            ", ".join(f"{BASE_WORDS[base].english}: {sum(each)} / {len(each)}" for base, each in better.items()),
        ),
        Finding(
            Words(
                f"with bounded Laplace noise, from {K_PEOPLE:,} people on and up to k = {MAX_K:,}, it has at "
                f"most half the error of the "
                "better of these, for all numbers of bins",
                f"有界 Laplace ノイズで {K_PEOPLE:,} 人以上、k が {MAX_K:,} 以下なら、どの区間数でも両者の小"
                f"さいほうの半分以下です",
            ),
            max(many) <= 0.5,
            f"{max(many):.2f}",
        ),
        Finding(
            Words(
                "the iterative Bayes method has to be stopped early: in its limit the error is twice as large or "
                "more in at least half of the "
                "settings (10 bins or more; smallest, median and largest ratio)",
                "ベイズ反復法は早めに終える必要があります。極限では、半数以上の設定で誤差が2倍以上になります（10 "
                "区間以上。比の最小・中央・最大）",
            ),
            float(np.median(limit)) >= 2,
            f"{min(limit):.2f} – {float(np.median(limit)):.1f} – {max(limit):.1f}",
        ),
        Finding(
            Words(
                f"few bins are better estimated as sums of 50: at most 0.8 of the error for 5 and 10 bins "
                f"({sizes[-1]:,} people, bounded "
                "Laplace noise)",
                f"少ない区間は 50 区間の推定の合算のほうが正確です（5・10 区間で誤差 0.8 倍以下、{sizes[-1]:,} 人、"
                f"有界 Laplace）",
            ),
            max(summed) <= 0.8,
            ", ".join(f"{x:.2f}" for x in summed),
        ),
        *(
            Finding(
                Words(
                    "a category and a number: reconstruction has at most 0.75 of the error of the better of reports "
                    "as they are and equal "
                    f"shares, for both tables and both k; {BASE_WORDS[base].english} noise",
                    "カテゴリ属性×数値属性：再構築の誤差は、どの表・k でも、ランダム化したままの表と一様分布の小さい"
                    "ほうの 0.75 倍以下です"
                    f"（{BASE_WORDS[base].japanese} ノイズ）",
                ),
                max(gain for table, gain in adult.items() if table[2] == base) <= 0.75,
                ", ".join(
                    f"{attribute}, k {k}: {gain:.2f}" for (attribute, k, of), gain in adult.items() if of == base
                ),
            )
            for base in BASES
        ),
    )


def _noise_findings(settings: Settings, results: Mapping[str, Any], errors: Errors) -> tuple[Finding, ...]:
    ks = [k for k in ks_of(settings) if k <= MAX_K]
    least = results["least errors"]
    gains = {
        bins: [least[f"laplace|bounded|{k}|{bins}"] / least[f"laplace|beyond|{k}|{bins}"] for k in ks_of(settings)]
        for bins in (BINS[0], COMPARED_BINS)
    }
    found = {
        (base, design): [errors.rmse(base, design, K_PEOPLE, k, COMPARED_BINS, BAYES) or np.nan for k in ks]
        for base in BASES
        for design in DESIGN_WORDS
    }
    free = {
        design: [a / b for a, b in zip(found["laplace", design], found["laplace", "bounded"], strict=True)]
        for design in ("beyond", "clipped")
    }
    normal = [a / b for a, b in zip(found["normal", "bounded"], found["laplace", "bounded"], strict=True)]
    return (
        *(
            Finding(
                Words(
                    f"the paper's hope (section 7): bounded Laplace noise allows a smaller least error than "
                    f"unbounded at the same k, by 5 % or "
                    f"more for every k; {bins} bins",
                    f"論文の期待（7節）：同じ k で、有界 Laplace の誤差の下限はどの k でも非有界より 5 % "
                    f"以上小さくなります（{bins} 区間）",
                ),
                max(ratios) <= 0.95,
                ", ".join(f"k {k}: {x:.2f}" for k, x in zip(ks_of(settings), ratios, strict=True)),
            )
            for bins, ratios in gains.items()
        ),
        *(
            Finding(
                Words(
                    "unbounded Laplace noise, whose reconstruction the paper (section 4) expects to be difficult, "
                    "comes within 1.25 times the error "
                    f"of bounded noise for every k up to {MAX_K:,}; "
                    f"{DESIGN_WORDS[design].english.removeprefix('unbounded, ')}",
                    "論文（4節）が再構築は難しいと予想した非有界 Laplace ノイズも、誤差は有界の 1.25 倍以下です"
                    f"（{MAX_K:,} 以下のどの k でも）：{DESIGN_WORDS[design].japanese}",
                ),
                max(ratios) <= 1.25,
                ", ".join(f"k {k}: {x:.2f}" for k, x in zip(ks, ratios, strict=True)),
            )
            for design, ratios in free.items()
        ),
        Finding(
            Words(
                f"at the same k, bounded normal noise has at least 1.5 times the error of bounded Laplace noise, for "
                f"every k up to {MAX_K:,}",
                f"同じ k では、有界正規ノイズの誤差は有界 Laplace の 1.5 倍以上です（{MAX_K:,} 以下のどの k でも）",
            ),
            min(normal) >= 1.5,
            ", ".join(f"k {k}: {x:.1f}" for k, x in zip(ks, normal, strict=True)),
        ),
    )


def _slopes(errors: Errors, sizes: Sequence[int]) -> list[float]:
    """Of the logarithm of the random error by that of the number of people, for Laplace noise."""
    return [
        float(
            np.polyfit(
                np.log(sizes),
                np.log([errors.rmse("laplace", design, n, 0, bins, RANDOM_PART) or np.nan for n in sizes]),
                1,
            )[0]
        )
        for design in DESIGN_WORDS
        for bins in BINS
    ]


def _best_known(error: float | None, *others: float | None) -> float:
    """An error over the smallest of others."""
    return over(error, min(other for other in others if other is not None)) or np.nan


def over(one: float | None, other: float | None) -> float | None:
    """A ratio, where both are known."""
    return None if one is None or other is None else one / other


def epsilon_of_k(people: int, k: int) -> float:
    """What a wanted k means for one attribute and so many people."""
    return log((people - 1) / (k - 1)) / 2


def people_of_sizes(settings: Settings) -> list[int]:
    """The numbers of people of a run."""
    return sorted({look.people for look in looks(settings) if not look.k})


def ks_of(settings: Settings) -> list[int]:
    """The wanted k of a run."""
    return sorted({look.k for look in looks(settings) if look.k and look.people == K_PEOPLE})
