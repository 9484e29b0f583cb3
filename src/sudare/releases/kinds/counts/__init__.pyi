from sudare.releases.kinds.counts.page import render_page as render_page
from sudare.releases.kinds.counts.plan_file import ReleasePlan as ReleasePlan
from sudare.releases.kinds.counts.plan_file import read_plan as read_plan
from sudare.releases.kinds.counts.running import Release as Release
from sudare.releases.kinds.counts.running import read_release_source as read_release_source
from sudare.releases.kinds.counts.running import run_release as run_release
from sudare.releases.kinds.counts.verification import read_document as read_document
from sudare.releases.kinds.counts.verification import read_published_table as read_published_table
from sudare.releases.kinds.counts.verification import verify_release as verify_release
from sudare.releases.verification import Check as Check

__all__: list[str]
