"""Lists that are public whoever is in the data, and the names of columns that usually hold their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sudare.bilingual import Words
from sudare.domain.prefectures import PREFECTURES

__all__ = ["AGES", "FIVE_YEARS", "PUBLIC_LISTS", "PublicList"]

AGES = (0, 15, 65, 120)
FIVE_YEARS = (*range(0, 101, 5), 120)
"""Edges of age groups: the three that labour statistics have, and groups of five years as censuses have them."""


@dataclass(frozen=True, kw_only=True)
class PublicList:
    """A list of labels that anybody could write down.

    Attributes:
        title: what it is, for people.
        labels: in their order.
    """

    title: Words
    labels: tuple[str, ...]


PUBLIC_LISTS: Mapping[str, PublicList] = {
    "sex-en": PublicList(title=Words("Sex: female, male", "性別: female, male"), labels=("female", "male")),
    "sex-fm": PublicList(title=Words("Sex: F, M", "性別: F, M"), labels=("F", "M")),
    "sex-ja": PublicList(title=Words("Sex: 男, 女", "性別: 男、女"), labels=("男", "女")),
    "sex-ja-long": PublicList(title=Words("Sex: 男性, 女性", "性別: 男性、女性"), labels=("男性", "女性")),
    "sex-number": PublicList(title=Words("Sex: 1, 2", "性別: 1、2"), labels=("1", "2")),
    "prefectures-ja": PublicList(
        title=Words("47 prefectures, Japanese names", "47都道府県（日本語名）"),
        labels=tuple(japanese for _, japanese in PREFECTURES.values()),
    ),
    "prefectures-en": PublicList(
        title=Words("47 prefectures, English names", "47都道府県（英語名）"),
        labels=tuple(english for english, _ in PREFECTURES.values()),
    ),
    "prefectures-number": PublicList(
        title=Words("47 prefectures, numbers 1 to 47", "47都道府県（番号 1〜47）"),
        labels=tuple(str(number) for number in PREFECTURES),
    ),
    "yes-no": PublicList(title=Words("true, false", "true、false"), labels=("true", "false")),
}
