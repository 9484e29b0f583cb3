"""From a plan to a release: predicted accuracy, the charge, the published files, and a report that others can check.

A reading map: `plan_file` (what a plan says), `running` (what counts add to the order of `sudare.releases.protocol`),
`document` (``release.json``), `page` (``release.html``), `verification`. Names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.releases.kinds.counts.page import render_page
    from sudare.releases.kinds.counts.plan_file import ReleasePlan, read_plan
    from sudare.releases.kinds.counts.running import Release, read_release_source, run_release
    from sudare.releases.kinds.counts.verification import read_document, read_published_table, verify_release
    from sudare.releases.verification import Check

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

__getattr__, __dir__ = loaded_on_use(
    "sudare.releases.kinds.counts",
    {
        "Check": "sudare.releases.verification",
        "Release": "running",
        "ReleasePlan": "plan_file",
        "read_document": "verification",
        "read_plan": "plan_file",
        "read_published_table": "verification",
        "read_release_source": "running",
        "render_page": "page",
        "run_release": "running",
        "verify_release": "verification",
    },
)
