"""The messages where no table can be published; never how many records there are."""

from __future__ import annotations

from sudare.bilingual import Words
from sudare.errors import GuaranteeError, InputError

__all__ = ["all_suppressed", "broken", "nothing_found", "too_few"]


def broken() -> GuaranteeError:
    """The output does not satisfy its models: a mistake of ours, and nothing may be given out."""
    return GuaranteeError(
        Words(
            "The output was looked at once more and does not satisfy its models; it is not given out.",
            "出力を再度確認したところ、約束した条件を満たさないため、出力しません。",
        )
    )


def too_few(needed: int) -> InputError:
    """There are fewer records than one class needs."""
    return InputError(
        f"The models ask for at least {needed} records in each class, and the table has fewer. Ask for less, or take more data.",
        f"条件は各クラスに {needed} 件以上を求めていますが、表の件数はそれより少ないです。条件を緩めるか、データを"
        "増やしてください。",
    )


def nothing_found(is_certain: bool, *, starred: bool = False) -> InputError:
    """No choice of levels can be published."""
    if is_certain and starred:
        return InputError(
            "No choice of levels satisfies the models both for the records that are kept and for the starred ones, which are a "
            "class as well. Leave suppressed records out, add coarser levels, or ask for less.",
            "残すレコードと、伏せたレコード (これも一つのクラスです) の両方で条件を満たす段階の組がありません。秘匿したレコードを"
            "除くか、階層に粗い段階を加えるか、条件を緩めてください。",
        )
    if is_certain:
        return InputError(
            "No choice of levels satisfies the models, not even the coarsest. Allow more suppression, add coarser levels, or ask "
            "for less.",
            "最も粗い値にしても条件を満たせません。秘匿できる割合を増やすか、階層に粗い段階を加えるか、条件を緩めてください。",
        )
    return InputError(
        "No choice of levels that satisfies the models was found in the time given. Give more time, allow more suppression, or "
        "ask for less.",
        "制限時間内に条件を満たす段階の組が見つかりませんでした。時間を延ばすか、秘匿できる割合を増やすか、条件を緩めてください。",
    )


def all_suppressed() -> InputError:
    """The result would be empty."""
    return InputError(
        "Every record would be suppressed: nothing is left to publish. Allow less suppression, add coarser levels, or ask for "
        "less.",
        "すべてのレコードが秘匿され、公開できるものが残りません。秘匿できる割合を減らすか、階層に粗い段階を加えるか、条件を緩めてください。",
    )
