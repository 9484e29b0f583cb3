"""What is wrong, or left unsaid, in the papers: what they print, what holds, and the derivation or test that shows it."""

from __future__ import annotations

from sudare.bilingual import Words
from sudare_papers.erratum import Erratum
from sudare_papers.pk import errata as pk_errata

__all__ = ["ERRATA", "page"]


OF_TABLES: tuple[Erratum, ...] = (
    Erratum(
        "zCDP",
        Words("section 3.3", "3.3節"),
        Words(
            "At delta = 1e-6, rho from 1e-2 to 1e-1 means epsilon from about 0.24 to 2.45.",
            "delta = 1e-6 のとき rho を 1e-2 から 1e-1 とすると、epsilon は約 0.24 から 2.45 になる。",
        ),
        Words(
            "By its own Table 1 and equation (13), 0.24 belongs to rho = 1e-3: 0.001 + 2 sqrt(0.001 ln 1e6) = "
            "0.236. For rho = 1e-2 it is "
            "0.01 + 2 sqrt(0.01 ln 1e6) = 0.753.",
            "論文自身の表1と式 (13) によれば、0.24 は rho = 1e-3 の値です（0.001 + 2 sqrt(0.001 ln 1e6) = "
            "0.236）。rho = 1e-2 では "
            "0.01 + 2 sqrt(0.01 ln 1e6) = 0.753 です。",
        ),
        "tests/unit/papers/test_zcdp.py::test_the_erratum_of_section_3_3",
    ),
    Erratum(
        "zCDP",
        Words("sections 2.1 and 4.2", "2.1節、4.2節"),
        Words(
            "Under zCDP the privacy loss accumulates in proportion to a square root.",
            "zCDP ではプライバシー損失の累積が平方根に比例する。",
        ),
        Words(
            "Rho adds up linearly: its own equation (8) divides rho by the number of levels. It is the epsilon at "
            "a fixed delta that grows like "
            "the square root of the number of looks, because epsilon = rho + 2 sqrt(rho ln(1 / delta)).",
            "rho は線形に加算されます（論文の式 (8) も rho を段数で割っています）。平方根に比例して増えるのは、"
            "delta を固定したときの epsilon です"
            "（epsilon = rho + 2 sqrt(rho ln(1 / delta)) であるため）。",
        ),
        "tests/unit/papers/test_errata.py::test_rho_adds_up_and_epsilon_grows_like_its_root",
    ),
    Erratum(
        "Pruning",
        Words("Tables 2 and 3, Kanto, random order", "表2・表3、関東・ランダム方式"),
        Words(
            "Time saved: -28.2 % in Table 2, -28.8 % in Table 3.",
            "時間短縮率が、表2では -28.2 %、表3では -28.8 %。",
        ),
        Words(
            "Table 2 contradicts itself: its ratio of 128.8 % means -28.8 %. From its times, 14.9 ms and 11.6 ms, "
            "the value is -28.4 %; "
            "rounded times allow from -27.5 to -29.4 %.",
            "表2は内部で矛盾しています。処理時間比率 128.8 % なら -28.8 % です。時間（14.9 ms と 11.6 "
            "ms）から計算すると -28.4 % で、"
            "時間の丸めを考えると -27.5 ～ -29.4 % の範囲です。",
        ),
        "tests/unit/papers/test_errata.py::test_kanto_in_random_order",
    ),
    Erratum(
        "Pruning",
        Words("section 5.1", "5.1節"),
        Words("Differential privacy with epsilon = 0.1.", "差分プライバシーのパラメータは epsilon = 0.1。"),
        Words(
            "0.1 is the parameter of each level: with Lap(1 / (2^h epsilon)) on the coefficients of level h, one "
            "person changes the total and one "
            "difference of each of H levels, and each of these H + 1 changes costs 0.1. In all this is 1.9 for "
            "Hokkaido (H = 18) and 1.7 for "
            "the other areas (H = 16).",
            "0.1 は各階層のパラメータです。階層 h の係数に Lap(1 / (2^h epsilon)) を加えると、"
            "1人の変化は総和と各階層の差分1つずつに及び、"
            "H + 1 個の変化がそれぞれ 0.1 を要します。合計は北海道（H = 18）で 1.9、他のエリア（H = 16）で 1.7 "
            "です。",
        ),
        "tests/unit/papers/test_errata.py::test_what_a_parameter_of_each_level_costs_in_all",
    ),
    Erratum(
        "Neg-l2",
        Words("equation (14)", "式 (14)"),
        Words(
            "The penalised problem is the projection of z / gamma with gamma = 1 - n lambda, for lambda < 1 / n.",
            "lambda < 1 / n のとき、正則化問題は gamma = 1 - n lambda とした z / gamma の射影に等しい。",
        ),
        Words(
            "That belongs to the loss divided by n of its reference [6]. From equation (11) as printed, ||z - "
            "b||² - lambda ||b||² = "
            "(1 - lambda) ||b - z / (1 - lambda)||² + constant: gamma = 1 - lambda, for lambda < 1.",
            "これは文献 [6] の、n で割った損失に対する式です。式 (11) からは ||z - b||² - lambda ||b||² = (1 - "
            "lambda) ||b - z / (1 - lambda)||² + 定数 "
            "となるため、gamma = 1 - lambda（lambda < 1）です。",
        ),
        "tests/unit/papers/test_errata.py::test_gamma_is_one_minus_lambda",
    ),
    Erratum(
        "Neg-l2",
        Words("section 2.3", "2.3節"),
        Words(
            "The simplex constraint cannot be made part of a convex problem such as Lasso.",
            "Lasso のような凸最適化の枠組みでは、単体制約を直接組み込むことは不可能である。",
        ),
        Words(
            "It can: the simplex is convex. But on it ||b||_1 is the constant c, so the penalty changes nothing, "
            "and Lasso with the constraint is the "
            "projection on the simplex.",
            "可能です（単体は凸集合です）。ただし単体上では ||b||_1 は定数 c なので正則化は効果がなく、制約付き "
            "Lasso は単体への射影に一致します。",
        ),
        "tests/unit/papers/test_errata.py::test_lasso_on_the_simplex_is_the_projection",
    ),
    Erratum(
        "Neg-l2",
        Words("sections 2.2 and 2.4, left unsaid", "2.2節・2.4節（言及なし）"),
        Words(
            "Laplace noise of scale 1 / epsilon on each cell, and the exact total c.",
            "各セルに尺度 1 / epsilon の Laplace ノイズを加え、正確な総数 c を用いる。",
        ),
        Words(
            "Whoever publishes the exact total can promise nothing about a person being added or removed, only "
            "about one being replaced. Replacing "
            "moves one person from a cell to another: the l1 sensitivity is 2, and noise of scale 1 / epsilon "
            "costs 2 epsilon.",
            "正確な総数を公表する場合、人の追加・削除については何も保証できず、置き換えのみを保証できます。"
            "置き換えでは1人が別のセルに移るため l1 感度は 2 となり、"
            "尺度 1 / epsilon のノイズは 2 epsilon を要します。",
        ),
        "tests/unit/papers/test_errata.py::test_what_an_exact_total_costs",
    ),
)

OF_SURVEY: tuple[Erratum, ...] = (
    Erratum(
        "Survey",
        Words("section on Privelet", "プライブレット法の節"),
        Words(
            "For a count V, the variance is O(V / epsilon²) by the direct way and O((log2 V)³ / epsilon²) by Privelet.",
            "集計値 V に対して、ノイズの分散は直接的な方法では O(V / epsilon²)、プライブレット法では O((log2 "
            "V)³ / epsilon²)。",
        ),
        Words(
            "V is the number of cells, not a count: the noise does not depend on the counts at all. The sum over "
            "a range of m cells with noise of "
            "variance 2 / epsilon² each has the variance 2 m / epsilon²; Privelet's is at most 2 (H + 1)² (1 + "
            "H / 2) / epsilon² with H = log2 of the "
            "number of cells.",
            "V は集計値ではなくセルの数です（ノイズは集計値に依存しません）。セルごとの分散が 2 / epsilon² "
            "のとき、m セルの範囲の和の分散は 2 m / epsilon² です。"
            "プライブレット法では、セル数の対数を H として 2 (H + 1)² (1 + H / 2) / epsilon² 以下です。",
        ),
        "tests/unit/papers/test_errata.py::test_the_noise_of_privelet_depends_on_cells_not_on_counts",
    ),
    Erratum(
        "Survey",
        Words("section on CHORUS", "CHORUS の節"),
        Words(
            "The sensitivity of a clipped sum is (u - l) s, s being the most records that clipping leaves out.",
            "刈込み付き合計の大域敏感度は (u - l) s であり、s は刈込みにより除外されるレコード数の上限である。",
        ),
        Words(
            "Clipping leaves no record out; s (stability) is how many rows one person can change. And (u - l) s "
            "is right for replacing a person's "
            "rows; for adding or removing them it is max(|u|, |l|) s, which is the same only if one limit is 0, "
            "as in the paper's example: with limits "
            "20 and 100 a person who leaves changes the sum by up to 100, not 80.",
            "刈込みで除外されるレコードはありません。s（安定性）は1人が変えうる行数です。また (u - l) s "
            "は行の置き換えに対する値で、追加・削除に対しては "
            "max(|u|, |l|) s です。両者が一致するのは、論文の例のように一方の限界が 0 の場合だけです。限界が 20 "
            "と 100 なら、1人が抜けると合計は最大 100 変わります（80 ではありません）。",
        ),
        "tests/unit/papers/test_errata.py::test_who_leaves_a_clipped_sum_takes_the_larger_limit",
    ),
)

ERRATA = (*OF_TABLES, *pk_errata.ERRATA, *OF_SURVEY)
"""Those of the papers about tables, of the one about Pk-anonymity, and of the survey."""


def page(language: str) -> str:
    """The list as a section of Markdown."""
    title = Words("## Errata of the papers", "## 論文の正誤").explain(language)
    printed, holds, shown = Words("Printed", "論文"), Words("Holds", "正"), Words("Shown by", "確認")
    colon = Words(":", "：").explain(language)
    blocks = [title]
    for erratum in ERRATA:
        lines = [
            f"**{erratum.paper}, {erratum.place.explain(language)}**",
            "",
            f"- {printed.explain(language)}{colon} {erratum.printed.explain(language)}",
            f"- {holds.explain(language)}{colon} {erratum.holds.explain(language)}",
            f"- {shown.explain(language)}{colon} `{erratum.test}`",
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"
