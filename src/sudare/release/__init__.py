"""From a plan to a release: predicted accuracy, the charge, the published files, and a report that others can check.

A reading map: `plan_file` (what a plan says), `running` (the order in which a release is made, and why no crash gives anything
away), `document` (``release.json``), `page` (``release.html``), `verification`.
"""

from sudare.release.page import render_page
from sudare.release.plan_file import ReleasePlan, read_plan
from sudare.release.running import Release, read_release_source, run_release
from sudare.release.verification import Check, read_document, read_published_table, verify_release

__all__ = [
    "Check",
    "Release",
    "ReleasePlan",
    "read_document",
    "read_plan",
    "read_published_table",
    "read_release_source",
    "render_page",
    "run_release",
    "verify_release",
]
