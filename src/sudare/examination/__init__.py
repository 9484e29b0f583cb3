"""Which attacks apply to a publication, and what they find.

Read `examining`, which finds out what a folder is (`subjects`) and runs what applies; `views` are tables as an attacker reads
them, from releases (`private_tables`), protected tables (`protected_tables`) or a description (`described_tables`), and
`together` attacks them. `people` is about records, `known_releases` about what a ledger knows, `page` shows what was found.
"""

from sudare.examination.examining import examine
from sudare.examination.findings import Examination, NotApplied
from sudare.examination.page import render_examination
from sudare.examination.subjects import ChangedFolderError, Subject, open_subject

__all__ = [
    "ChangedFolderError",
    "Examination",
    "NotApplied",
    "Subject",
    "examine",
    "open_subject",
    "render_examination",
]
