"""What it means that people in the data can be told from others: compared with what a budget allows any test.

A release is one run of its mechanism. That its people can be told from others may be because they are different people, and
says nothing against its budget. Two kinds of evidence do: noise that was drawn many times, once for each cell; and people whom
fair coins put into the data or not, so that nothing but the release can tell which they were.
"""

from __future__ import annotations

from sudare.attacks.records.membership import MembershipTest, Rate
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.privacy import Budget, best_power, rho_to_epsilon
from sudare.releases.page_numbers import percent_rounded_up

__all__ = ["judge_draws", "judge_membership"]

TARGET = "people in the data"
SMALL_DELTA = 1e-9
"""At which a rho is read as an epsilon."""

REMEDY_OF_CLAIM = Words(
    "Do not publish: the noise is smaller than the document says. Find out how the table was made.",
    "公表しないでください。ノイズが記載より小さい疑いがあります。作成過程を確認してください。",
)
REMEDY_OF_DOUBT = Words(
    "To decide it, let fair coins choose who is in the data, publish as usual, and give those left out as --population with "
    "--by-chance.",
    "確かめるには、データに含める人を公平なコインで決めて通常どおり公表し、除いた人々を --population と --by-chance で"
    "与えてください。",
)


def judge_draws(found: Rate, alarms: Rate, budget: Budget, how: Words) -> AttackReport:
    """Judge a test that was made of many draws of noise, one for each person: more than the budget allows refutes it.

    Args:
        found: the share of people that it finds.
        alarms: the share of people who are not there that it would find.
        budget: of the release.
        how: how the test works.
    """
    allowed = float(best_power(budget, min(1.0, alarms.high)))
    outcome = AttackOutcome.BROKEN if found.low > allowed else AttackOutcome.HELD
    sentence = _sentence(how, found, alarms, budget)
    return AttackReport.of(
        "membership", sentence, [Verdict("membership", TARGET, outcome, found.value, sentence, REMEDY_OF_CLAIM)]
    )


def judge_membership(test: MembershipTest, budget: Budget, how: Words) -> AttackReport:
    """Judge a test on people in the data and others.

    If fair coins decided who is who, a bound of epsilon above the budget's refutes the budget. If not, people who are told
    from others better than the budget would allow for alike people are undecided: they may be different people.

    Args:
        test: as it came out.
        budget: of the release.
        how: how the test works.
    """
    found, alarms = test.true_positives, test.false_positives
    sentence = _sentence(how, found, alarms, budget)
    allowed = float(best_power(budget, min(1.0, alarms.high)))
    outcome, remedy = AttackOutcome.HELD, REMEDY_OF_CLAIM
    if test.random_inclusion:
        bound = test.empirical_epsilon
        sentence = Words(
            f"{sentence.english} Coins decided who is in, and show that epsilon is at least {bound:.3g}.",
            f"{sentence.japanese}含まれるかどうかはコインで決められており、ε は少なくとも {bound:.3g} です。",
        )
        if bound > _epsilon(budget):
            outcome = AttackOutcome.BROKEN
    elif found.low > allowed:
        outcome, remedy = AttackOutcome.UNDECIDED, REMEDY_OF_DOUBT
        sentence = Words(
            f"{sentence.english} That is more: the others may be different people, or the noise is smaller than stated.",
            f"{sentence.japanese}これは上限を超えています。他の人々の性質が異なるか、ノイズが記載より小さい可能性があります。",
        )
    return AttackReport.of(
        "membership", sentence, [Verdict("membership", TARGET, outcome, found.value, sentence, remedy)]
    )


def _sentence(how: Words, found: Rate, alarms: Rate, budget: Budget) -> Words:
    allowed = float(best_power(budget, alarms.value))
    return Words(
        f"{how.english} {found.value:.1%} of the people in the data are found at {alarms.value:.1%} false alarms; "
        f"{budget} allows {percent_rounded_up(allowed)}.",
        f"{how.japanese}誤検出率 {alarms.value:.1%} で、データに含まれる人の {found.value:.1%} が見つかります。"
        f"{budget} のもとでの上限は {percent_rounded_up(allowed)} です。",
    )


def _epsilon(budget: Budget) -> float:
    """The epsilon of a budget; a small delta changes nothing that some thousand guesses could show."""
    if budget.currency == "rho":
        return float(rho_to_epsilon(budget.rho, SMALL_DELTA))
    return float(budget.epsilon)
