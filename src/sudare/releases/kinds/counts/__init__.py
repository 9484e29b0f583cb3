"""From a plan to a release: predicted accuracy, the charge, the published files, and a report that others can check.

A reading map: `plan_file` (what a plan says), `running` (what counts add to the order of `sudare.releases.protocol`),
`document` (``release.json``), `page` (``release.html``), `verification`. Names are loaded on first use.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
