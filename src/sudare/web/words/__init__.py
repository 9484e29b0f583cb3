"""The texts of the page, in English and Japanese, one module for each part of it."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words
from sudare.web.words.common import COMMON
from sudare.web.words.drafts import DRAFTS
from sudare.web.words.maps import MAPS
from sudare.web.words.plans import PLANS
from sudare.web.words.releases import RELEASES

__all__ = ["TEXTS"]

TEXTS: Mapping[str, Words] = {**COMMON, **DRAFTS, **MAPS, **PLANS, **RELEASES}
