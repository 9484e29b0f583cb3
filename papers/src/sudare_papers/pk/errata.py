"""What is wrong, or left unsaid, in the paper about Pk-anonymity by bounded noise."""

from __future__ import annotations

from sudare.bilingual import Words
from sudare_papers.erratum import Erratum

__all__ = ["ERRATA"]

PK_TESTS, BINS_TESTS = "tests/unit/collect/estimation/test_pk.py::", "tests/unit/collect/transitions/test_bins.py::"

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "Pk",
        Words("section 1", "1節"),
        Words(
            "Pk-anonymity: nobody's data can be told with a probability of 1/k or more.",
            "Pk-匿名性：ある人のデータを 1/k 以上の確率で当てることができない。",
        ),
        Words(
            "With a probability above 1/k. Exactly 1/k can be reached: reports that say nothing have rate 1, so k is the "
            "number of records, and a blind guess is right with probability 1/k.",
            "正しくは「1/k を超える確率で」です。ちょうど 1/k にはなり得ます。何も伝えない報告では匿名率が 1、k "
            "がレコード数となり、"
            "当て推量でも確率 1/k で当たります。",
        ),
        PK_TESTS + "test_one_over_k_itself_can_be_reached",
    ),
    Erratum(
        "Pk",
        Words("theorem 3.1", "定理 3.1"),
        Words(
            "Laplace noise of variance sigma² gives k = 1 + (|R| - 1) exp(-2 sup |u - v| / sigma).",
            "分散 sigma² の Laplace ノイズは k = 1 + (|R| - 1) exp(-2 sup |u - v| / sigma) を与える。",
        ),
        Words(
            "Sigma is the scale, and the variance is 2 sigma², as corollary 5.1 says. With variance sigma² the scale is "
            "sigma / sqrt(2) and the exponent larger by sqrt(2): the formula would promise a k that is not reached.",
            "sigma は尺度で、分散は系 5.1 のとおり 2 sigma² です。分散が sigma² なら尺度は sigma / sqrt(2)、指数は "
            "sqrt(2) 倍となり、"
            "式の k は実際より大きくなってしまいます。",
        ),
        PK_TESTS + "test_theorem_3_1_means_the_scale_not_the_variance",
    ),
    Erratum(
        "Pk",
        Words("lemma 5.1, equation (1)", "補題 5.1、式 (1)"),
        Words(
            "Bounded noise has the density f'_v(v') = f(v') / alpha_v on [a, b].",
            "有界ノイズの確率密度関数は [a, b] 上の f'_v(v') = f(v') / alpha_v である。",
        ),
        Words(
            "The noise lies in [a - v, b - v]; there f / alpha_v adds up to 1, on [a, b] it does not. The report v' = v + noise "
            "has the density f(v' - v) / alpha_v on [a, b], and so theorem 5.1 uses the lemma.",
            "ノイズの範囲は [a - v, b - v] で、f / alpha_v の積分が 1 になるのはそこです（[a, b] 上では 1 になりません）。"
            "[a, b] 上にあるのは加算後の値で、その密度は f(v' - v) / alpha_v です。定理 5.1 でもこの形で使われています。",
        ),
        PK_TESTS + "test_lemma_5_1_speaks_of_the_noise",
    ),
    Erratum(
        "Pk",
        Words("proof of lemma 5.1", "補題 5.1 の証明"),
        Words(
            "The i-th redraw adds (1 - alpha_v)^(i-1) f(v'); Pr[X_0 = v'] = f(v).",
            "i 回目のやり直しで (1 - alpha_v)^(i-1) f(v') が加わる。Pr[X_0 = v'] = f(v)。",
        ),
        Words(
            "It adds (1 - alpha_v)^i f(v'), because the i draws before it have all failed; Pr[X_0 = v'] = f(v'). "
            "With the printed "
            "exponent the limit would be f(v') + f(v') / alpha_v. The series in the line below is right.",
            "加わるのは (1 - alpha_v)^i f(v') です（それ以前の i 回がすべて範囲を外れたため）。また Pr[X_0 = v'] = f(v') です。"
            "印刷どおりの指数では極限が f(v') + f(v') / alpha_v になります。その次の行の級数は正しい式です。",
        ),
        PK_TESTS + "test_exponents_in_the_proof_of_lemma_5_1",
    ),
    Erratum(
        "Pk",
        Words("theorem 5.1, condition 1", "定理 5.1 の条件 1"),
        Words("f is symmetric: f(x) = -f(-x).", "f は線対称、すなわち f(x) = -f(-x)。"),
        Words(
            "f(x) = f(-x). A density with f(x) = -f(-x) would be 0 everywhere, and without symmetry equation (2) fails.",
            "正しくは f(x) = f(-x) です。f(x) = -f(-x) を満たす確率密度はありません。また、対称でない f では式 (2) "
            "は成り立ちません。",
        ),
        PK_TESTS + "test_theorem_5_1_means_an_even_density",
    ),
    Erratum(
        "Pk",
        Words("theorem 5.1, condition 3 and first step of the proof", "定理 5.1 の条件 3 と証明の最初の段階"),
        Words(
            "Since f is continuous except at finitely many points, the essential infimum is a minimum.",
            "f が有限個の点を除いて連続であることから、ess inf は min に直せる。",
        ),
        Words(
            "Not if f jumps at 0 or at b - a, because an essential infimum does not see single points. Uniform noise on (-1, 1), "
            "with f(1) = 0 and b - a = 1, has rate 1; equation (2) says 0. It is enough that f is continuous at 0 "
            "and at b - a, as "
            "Laplace and normal densities are.",
            "f が 0 または b - a で不連続な場合は直せません（ess inf は1点での値によらないため）。例えば (-1, 1) "
            "上の一様ノイズで "
            "f(1) = 0、b - a = 1 とすると匿名率は 1 ですが、式 (2) は 0 になります。f が 0 と b - a "
            "で連続なら十分で、Laplace 分布と"
            "正規分布はこれを満たします。",
        ),
        PK_TESTS + "test_theorem_5_1_needs_continuity_at_both_ends",
    ),
    Erratum(
        "Pk",
        Words("proof of theorem 5.1, the smallest density", "定理 5.1 の証明、最小値"),
        Words(
            "max A_{v,v'} = min f'_v(v' - v) = f(c - v) / alpha_v.",
            "max A_{v,v'} = min f'_v(v' - v) = f(c - v) / alpha_v。",
        ),
        Words("The max on the left is a min.", "左辺の max は min の誤りです。"),
        PK_TESTS + "test_minimum_in_the_proof_of_theorem_5_1",
    ),
    Erratum(
        "Pk",
        Words("section 5.3, first paragraph", "5.3節 第1段落"),
        Words(
            "1 / alpha_v draws are expected, many where alpha_v is large.",
            "反復回数の期待値は 1 / alpha_v であり、alpha_v が大きい場合に反復回数が大きくなる。",
        ),
        Words("Many where alpha_v is small.", "反復回数が大きくなるのは alpha_v が小さい場合です。"),
        PK_TESTS + "test_redraws_are_many_where_alpha_is_small",
    ),
    Erratum(
        "Pk",
        Words("section 5.3, alpha_v", "5.3節の alpha_v"),
        Words(
            "alpha_v is the integral over [a, b] of f(x) / (2 sigma) exp(|x - v| / sigma).",
            "alpha_v は [a, b] 上の f(x) / (2 sigma) exp(|x - v| / sigma) の積分。",
        ),
        Words(
            "Of 1 / (2 sigma) exp(-|x - v| / sigma). The closed form in the next line is right.",
            "被積分関数は 1 / (2 sigma) exp(-|x - v| / sigma) です。次の行の閉じた式は正しい式です。",
        ),
        PK_TESTS + "test_alpha_of_section_5_3",
    ),
    Erratum(
        "Pk",
        Words("section 5.3, the method and its example", "5.3節の手順と具体例"),
        Words(
            "F_v is defined on [a - v, b - v] and the report is v + F_v^-1(X). For Laplace noise F_v^-1(x) = sigma log(...) + v.",
            "F_v の定義域は [a - v, b - v] で、v + F_v^-1(X) を出力する。Laplace 分布では F_v^-1(x) = sigma log(...) + v。",
        ),
        Words(
            "The F_v of the example is defined on [a, b], and its inverse is the report itself: adding v once more "
            "leads out of the "
            "range. (The integrand of F_v is f / alpha_v, not f_v / alpha_v.)",
            "具体例の F_v は [a, b] 上の関数で、その逆関数の値が出力そのものです。さらに v を加えると値域を外れます"
            "（F_v の被積分関数は f_v / alpha_v ではなく f / alpha_v です）。",
        ),
        PK_TESTS + "test_inverse_of_section_5_3_gives_the_report_itself",
    ),
    Erratum(
        "Pk",
        Words("equations (6), (13) and (14)", "式 (6)、(13)、(14)"),
        Words(
            "A is 1 / (d - c) times the integral over I of Pr[Delta(v) in I' | V = v] Pr[V = v].",
            "A は、I 上の Pr[Delta(v) in I' | V = v] Pr[V = v] の積分の 1 / (d - c) 倍。",
        ),
        Words(
            "It is a mean over I, so that Pr[V = v] must be divided by its own mean over I; as printed a row adds up "
            "to the density of "
            "the values, not to 1. For values spread evenly R = 1 in (15) to (26). If R = 1 is put into each J, then "
            "(13) is right only "
            "where all J hold equal shares of the values of I; otherwise each J counts by its share.",
            "これは I 上の平均なので、Pr[V = v] は I 上のその平均で割る必要があります。印刷どおりでは行の和が 1 "
            "ではなく、値の密度になります。"
            "値が一様なら式 (15)～(26) で R = 1 です。各 J で R = 1 とする場合、式 (13) は I 内のどの J "
            "も同じ割合の値を含むときに限り正しく、"
            "一般には各 J をその割合で重み付けします。",
        ),
        BINS_TESTS + "test_equations_6_and_14_are_means",
    ),
    Erratum(
        "Pk",
        Words("equation (19)", "式 (19)"),
        Words("exp(a / sigma) (z - beta) (a - beta').", "exp(a / sigma) (z - beta) (a - beta')。"),
        Words("exp(a / sigma) (z - beta) (z - beta').", "正しくは exp(a / sigma) (z - beta) (z - beta') です。"),
        BINS_TESTS + "test_denominator_of_equation_19",
    ),
    Erratum(
        "Pk",
        Words("equation (21)", "式 (21)"),
        Words("From z = exp(g / sigma) to exp(h / sigma).", "積分範囲は exp(g / sigma) から exp(h / sigma)。"),
        Words(
            "With z = exp(-v / sigma), from exp(-g / sigma) to exp(-h / sigma).",
            "z = exp(-v / sigma) と置いたので、exp(-g / sigma) から exp(-h / sigma) です。",
        ),
        BINS_TESTS + "test_limits_of_equation_21",
    ),
    Erratum(
        "Pk",
        Words("equation (25)", "式 (25)"),
        Words("From z = exp(g / sigma) to exp(h / sigma).", "積分範囲は exp(g / sigma) から exp(h / sigma)。"),
        Words(
            "As in (21): from exp(-g / sigma) to exp(-h / sigma).",
            "式 (21) と同様に、exp(-g / sigma) から exp(-h / sigma) です。",
        ),
        BINS_TESTS + "test_limits_of_equation_25",
    ),
    Erratum(
        "Pk",
        Words("equation (26)", "式 (26)"),
        Words(
            "\"In the same way\": -R sigma (exp(-d' / sigma) - exp(-c' / sigma)) / ((gamma - gamma') exp(-b / sigma)) [...].",
            "「同様にして解く」：-R sigma (exp(-d' / sigma) - exp(-c' / sigma)) / ((gamma - gamma') exp(-b / sigma)) [...]。",
        ),
        Words(
            "Not in the same way: here z is exp(+v / sigma), which is not said, and to which the printed limits "
            "belong. The minus in "
            "front is one too many; with it all these probabilities are negative.",
            "同様ではなく、ここでの z は exp(+v / sigma) です（明記されていませんが、印刷された積分範囲はこれに対応します）。"
            "先頭のマイナスは余分で、付けたままでは確率がすべて負になります。",
        ),
        BINS_TESTS + "test_sign_and_variable_of_equation_26",
    ),
    Erratum(
        "Pk",
        Words("section 6, last paragraph", "6節 最終段落"),
        Words(
            "Compute (16) by (23), (25), (26), (27), (28), and (15) from it.",
            "式 (23), (25), (26), (27), (28) を用いて式 (16) を計算し、さらにそれを用いて式 (15) を計算する。",
        ),
        Words(
            "Each number is two too high: (14) by (21), (23) to (25) and (26), and (13) from it. With this and the "
            "corrections above the "
            "matrix agrees with quadrature in every entry.",
            "式番号がそれぞれ 2 だけ大きくなっています。式 (21)、(23)～(25)、(26) を用いて式 (14) を計算し、"
            "それを用いて式 (13) を"
            "計算します。以上の訂正により、行列の全要素が数値積分と一致します。",
        ),
        BINS_TESTS + "test_every_entry_against_scipy",
    ),
)
