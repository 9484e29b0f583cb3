"""What the attacks on a table of people say, in English and Japanese. Numbers of records, never a value."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.attacks.verdicts import AttackOutcome, Verdict
from sudare.bilingual import Words
from sudare.releases.kinds.records.attacking.linking import MAX_FOUND, LinkageResult

__all__ = [
    "ATTACKS",
    "COARSER",
    "DIVERSE",
    "KEPT",
    "MODEL_REMEDY",
    "NAME_QUASI",
    "NOTHING_SHARED",
    "NOT_KEPT",
    "NO_ORIGINAL",
    "NO_QUASI",
    "SEARCHED",
    "alone",
    "attributes_summary",
    "changed",
    "exactly",
    "homogeneous",
    "in_classes",
    "matched",
    "models_summary",
    "nearest",
    "small_groups",
    "verdict",
]

ATTACKS = {
    "models": Words("Promises counted from the file", "約束の再確認"),
    "uniqueness": Words("Who is alone", "一意なレコード"),
    "linkage": Words("Linking people with records", "人とレコードの対応づけ"),
    "outside": Words("Linking another file", "外部ファイルとの対応づけ"),
    "attributes": Words("Learning sensitive values", "機微な値の推定"),
    "earlier": Words("Together with earlier records", "以前のレコードとの組み合わせ"),
}
KEPT = Words("Every class of the written file keeps it.", "書き出したファイルのすべての組が満たしています。")
NOT_KEPT = Words(
    "The written file does not keep it: at least one class breaks the promise.",
    "書き出したファイルは満たしていません。少なくとも一つの組が条件に反しています。",
)
SEARCHED = Words(
    "It compares with more than the file, and was checked while searching.",
    "ファイル以外との比較を要するため、探索時に確認しています。",
)
MODEL_REMEDY = Words("Do not give the file away; make it anew.", "このファイルを渡さず、作り直してください。")
COARSER = Words(
    'Make the quasi-identifiers coarser until nobody is alone (method = "anonymize" as the last step), or publish a table or '
    "synthetic people with a budget.",
    '準識別子を粗くして一意なレコードをなくすか（最後の手順に method = "anonymize"）、'
    "予算を使う表または合成データに替えてください。",
)
DIVERSE = Words(
    'Add a model of the column, such as { name = "l-diversity", l = 2 }.',
    '列に対する条件（例: { name = "l-diversity", l = 2 }）を加えてください。',
)
NO_QUASI = Words(
    "No published column is called a quasi-identifier, so there was nothing to look for people by.",
    "準識別子とされた公開列がないため、人を探す攻撃は行えませんでした。",
)
NAME_QUASI = Words(
    'Give columns that others may know role = "quasi-identifier".',
    'ほかの人が知りうる列の role を "quasi-identifier" にしてください。',
)
NO_ORIGINAL = Words(
    "Some records are alone; without the records as they were, nobody can say who is found rightly.",
    "一意なレコードがありますが、元のレコードがないため、正しく見つかる人の数は分かりません。",
)
NOTHING_SHARED = Words(
    "The other file shares no quasi-identifier in a form that can be compared.",
    "外部ファイルには、比較できる形の準識別子がありません。",
)


def verdict(attack: str, target: str, outcome: AttackOutcome, number: float, sentence: Words, remedy: Words) -> Verdict:
    """A verdict; positional, because there are many."""
    return Verdict(attack, target, outcome, float(number), sentence, remedy)


def small_groups(number: int, k: int) -> Words:
    """Groups that should have k records."""
    return Words(
        f"Groups of fewer than k = {k} records are in the written file, with {number:,} records.",
        f"書き出したファイルに k = {k} 件未満の組があり、{number:,} 件のレコードが含まれます。",
    )


def models_summary(broken: int, number: int) -> Words:
    """What became of all promises."""
    if broken:
        return Words(
            f"{broken} of {number} promises are not kept by the written file.",
            f"{number} 個の約束のうち {broken} 個が、書き出したファイルで満たされていません。",
        )
    return Words(
        "The written file keeps every promise that can be counted from it.",
        "書き出したファイルから確認できる約束は、すべて満たされています。",
    )


ALONE = Words(
    "{number:,} of {people:,} records are alone with their quasi-identifiers.",
    "{people:,} 件のうち {number:,} 件は準識別子の組がほかと重なりません。",
)
ALONE_WITH_FEW = Words(
    "{number:,} of {people:,} records are alone with their quasi-identifiers (already with some of them: {few}).",
    "{people:,} 件のうち {number:,} 件は準識別子の組がほかと重なりません（一部の準識別子だけでも: {few}）。",
)
WITH_FEW = Words("{number:,} with {size}", "{size} 個で {number:,} 件")


def alone(number: int, people: int, with_few: Mapping[int, int]) -> Words:
    """Records that are alone with their quasi-identifiers."""
    if not number:
        return Words("No record is alone with its quasi-identifiers.", "準識別子の組が一意なレコードはありません。")
    few = [WITH_FEW.format(number=count, size=size) for size, count in with_few.items()]
    if not few:
        return ALONE.format(number=number, people=people)
    return ALONE_WITH_FEW.format(number=number, people=people, few=few)


def in_classes(smallest: int, share: float) -> Words:
    """Linking where every record looks like others."""
    return Words(
        f"Nobody can be linked for certain: each record looks like at least {smallest - 1:,} others. Whoever guesses "
        f"among those that look alike is right in {share:.1%} of cases.",
        f"確実に対応づけられる人はいません。どのレコードにも、同じに見えるレコードがほかに {smallest - 1:,} 件以上あります。"
        f"その中から当て推量した場合に正しいのは {share:.1%} です。",
    )


def exactly(found: LinkageResult) -> Words:
    """Links of people and records that agree exactly, and alone."""
    if found.right is None:
        return Words(
            f"{found.sure:,} of {found.tried:,} records agree with exactly one person, who agrees with no other record; whether "
            "they are the right ones is not known.",
            f"{found.tried:,} 件のうち {found.sure:,} 件が、ただ一人と互いに一意に一致します（正しいかどうかは不明です）。",
        )
    return _judged(
        found,
        f"Whoever knows the quasi-identifiers finds {found.right:,} of {found.tried:,} people "
        f"({_share(found.right, found.tried)}) surely and rightly: {found.sure:,} agree exactly with one record alone.",
        f"準識別子を知る人は、{found.tried:,} 人のうち {found.right:,} 人（{_share(found.right, found.tried)}）"
        f"のレコードを確実かつ正しく見つけます（一件だけと完全に一致: {found.sure:,} 人）。",
    )


def nearest(found: LinkageResult) -> Words:
    """Links with the nearest record, of some people."""
    right = found.right or 0
    return _judged(
        found,
        f"Of {found.tried:,} people who were tried, {right:,} ({_share(right, found.tried)}) are found by the nearest record, "
        f"where one alone is nearest ({found.sure:,} times).",
        f"試した {found.tried:,} 人のうち {right:,} 人（{_share(right, found.tried)}）は、最も近いレコードから正しく見つかります"
        f"（最も近いレコードが一件だけ: {found.sure:,} 人）。",
    )


def _judged(found: LinkageResult, english: str, japanese: str) -> Words:
    """A sentence on links, and why they are too many where they are."""
    if not found.is_broken:
        return Words(english, japanese)
    return Words(
        f"{english} That is more than {MAX_FOUND:.0%}, and such links are more often right than wrong.",
        f"{japanese}{MAX_FOUND:.0%} を超え、正しい対応が誤りより多くなっています。",
    )


def matched(found: LinkageResult) -> Words:
    """Links with a file of others."""
    return Words(
        f"{found.sure:,} of {found.tried:,} records agree with exactly one person of the other file, and with nobody else. "
        "Whether they are right depends on who else is in neither file.",
        f"{found.tried:,} 件のうち {found.sure:,} 件が、外部ファイルのただ一人と互いに一意に一致します。"
        f"正しいかどうかは、どちらにもいない人によります。",
    )


def homogeneous(people: int, everybody: int, column: str) -> Words:
    """Records in classes that share one value."""
    if not people:
        return Words(f"No class gives a value of '{column}' away.", f"「{column}」の値が定まる組はありません。")
    return Words(
        f"{people:,} of {everybody:,} records are in classes in which everybody has the same value of '{column}': whoever finds "
        "the class knows it.",
        f"{everybody:,} 件のうち {people:,} 件は、全員の「{column}」が同じ組にあります。組が分かれば値も分かります。",
    )


def changed(people: int, column: str) -> Words:
    """The same, of values that were changed."""
    return Words(
        f"{people:,} records are in classes that share a value of '{column}'. Values of this column were changed, so it is true "
        "for some of them only: the step says for how many.",
        f"{people:,} 件は全員の「{column}」が同じ組にあります。この列の値は変えてあるため、本当の値なのは一部です"
        f"（割合は手順の説明にあります）。",
    )


def attributes_summary(people: int, columns: int) -> Words:
    """All sensitive columns."""
    if not people:
        return Words("No class gives a sensitive value away.", "機微な値が定まる組はありません。")
    if columns == 1:
        return Words(
            f"{people:,} records are in classes that give their sensitive value away.",
            f"{people:,} 件のレコードは、機微な値が定まる組にあります。",
        )
    return Words(
        f"Classes give {people:,} sensitive values away, over {columns} columns.",
        f"{columns} 個の列で、あわせて {people:,} 個の機微な値が組から定まります。",
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "0 %"
