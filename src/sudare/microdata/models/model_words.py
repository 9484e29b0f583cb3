"""What each privacy model asks for, in English and Japanese."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = [
    "ALPHA_ANONYMITY",
    "BETA_LIKENESS",
    "CLOSENESS",
    "DELTA_DISCLOSURE",
    "DELTA_PRESENCE",
    "DISTANCES",
    "DISTINCT_DIVERSITY",
    "ENTROPY",
    "ENTROPY_DIVERSITY",
    "ESTIMATED_ENTROPY",
    "KINDS_OF_LIKENESS",
    "K_ANONYMITY",
    "K_MAP",
    "POPULATION_UNIQUENESS",
    "RECURSIVE_DIVERSITY",
]

K_ANONYMITY = Words(
    "{k}-anonymity: at least {k} records share each published combination of quasi-identifiers",
    "{k}-匿名性: 公開される準識別子の組はどれも {k} 件以上のレコードに共通します",
)
K_MAP = Words(
    "{k}-map: at least {k} records of the population share each published combination",
    "{k}-マップ: 公開される準識別子の組はどれも母集団の {k} 件以上に共通します",
)
DELTA_PRESENCE = Words(
    "({low}, {high})-presence: of each class of the population, {low} to {high} of the records are published",
    "({low}, {high})-存在性: 母集団の各クラスのうち公開される割合は {low} 以上 {high} 以下です",
)
ALPHA_ANONYMITY = Words(
    "({alpha}, {k})-anonymity: at least {k} records in each class, and no value of {column} in more than {alpha} of them",
    "({alpha}, {k})-匿名性: 各クラスは {k} 件以上で、{column} のどの値も {alpha} を超えません",
)
BETA_LIKENESS = Words(
    "{kind} {beta}-likeness: no value of {column} is more than {most} times as frequent in a class as in the whole table",
    "{kind} {beta}-類似性: 各クラスで {column} のどの値の割合も表全体の {most} 倍以下です",
)
KINDS_OF_LIKENESS = {False: Words("basic", "基本"), True: Words("enhanced", "拡張")}
DELTA_DISCLOSURE = Words(
    "{delta}-disclosure: the share of each value of {column} in a class is within a factor of exp({delta}) of that in the "
    "whole table",
    "{delta}-開示: 各クラスで {column} の値の割合は表全体の exp({delta}) 倍未満、exp(-{delta}) 倍超です",
)
CLOSENESS = Words(
    "{t}-closeness ({distance}): {column} in each class is at most {t} away from the whole table",
    "{t}-近接性 ({distance}): 各クラスの {column} の分布は表全体から {t} 以内です",
)
DISTANCES = {
    "equal": Words("equal distance", "等距離"),
    "ordered": Words("ordered distance", "順序距離"),
    "hierarchical": Words("hierarchical distance", "階層距離"),
}
DISTINCT_DIVERSITY = Words(
    "distinct {l}-diversity: at least {l} different values of {column} in each class",
    "{l}-多様性 (値の数): 各クラスに {column} の異なる値が {l} 個以上あります",
)
ENTROPY_DIVERSITY = Words(
    "entropy {l}-diversity: the {entropy} of {column} in each class is at least log {l}",
    "エントロピー {l}-多様性: 各クラスの {column} の{entropy}は log {l} 以上です",
)
ENTROPY = Words("entropy", "エントロピー")
ESTIMATED_ENTROPY = Words("entropy, by Grassberger's estimate,", "エントロピー (Grassberger の推定値)")
RECURSIVE_DIVERSITY = Words(
    "recursive ({c}, {l})-diversity: in each class, the most frequent value of {column} is less than {c} times as frequent as "
    "all from the {l}th most frequent on",
    "再帰的 ({c}, {l})-多様性: 各クラスで {column} の最も多い値は、{l} 番目以降に多い値の合計の {c} 倍より少ないです",
)
POPULATION_UNIQUENESS = Words(
    "population uniqueness of at most {limit}: of {people} people, so many are estimated to be unique ({estimator})",
    "母集団一意性 {limit} 以下: {people} 人のうち一意と推定される人の割合が {limit} 以下です ({estimator})",
)
