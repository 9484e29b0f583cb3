"""Tables protected by statistical disclosure control, from a plan to a folder with the table and a report.

- `read_table_plan`: what a plan says, checked without looking at any data.
- `run_table_plan`: reads, judges, protects, attacks what it wrote, and shows it if it held.
- `attack_folder`: the attacks on a folder, as a public reader or as its holder.
- `verify_protected`: checks a folder and its proof, without a solver.

Below: `planning` (parts of a plan), `sources` (what is read), `methods` (what each method does, one object each: the place to
begin), `published_table` and `published_meshes` (what everybody gets), `confidential` (what only the holder gets), `attacking`
(what a reader can work out), `document` and `page` (the report).
"""

from sudare.releases.kinds.tables.attacking.folder_attacks import attack_folder
from sudare.releases.kinds.tables.attacking.knowledge import read_report
from sudare.releases.kinds.tables.planning.plan_file import TablePlan, read_table_plan
from sudare.releases.kinds.tables.running import ProtectedFolder, run_table_plan
from sudare.releases.kinds.tables.verification import verify_protected

__all__ = [
    "ProtectedFolder",
    "TablePlan",
    "attack_folder",
    "read_report",
    "read_table_plan",
    "run_table_plan",
    "verify_protected",
]
