"""The texts of the page, in English and Japanese, one module for each part of it."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words
from sudare.web.words.common import COMMON
from sudare.web.words.drafts import DRAFTS
from sudare.web.words.guide import GUIDE
from sudare.web.words.help import HELP
from sudare.web.words.journeys import JOURNEYS
from sudare.web.words.maps import MAPS
from sudare.web.words.plans import PLANS
from sudare.web.words.queries import QUERIES
from sudare.web.words.records import RECORDS
from sudare.web.words.releases import RELEASES
from sudare.web.words.series import SERIES
from sudare.web.words.tables import TABLES

__all__ = ["TEXTS"]

PARTS = (COMMON, DRAFTS, GUIDE, HELP, JOURNEYS, MAPS, PLANS, QUERIES, RECORDS, RELEASES, SERIES, TABLES)
TEXTS: Mapping[str, Words] = {name: words for part in PARTS for name, words in part.items()}
