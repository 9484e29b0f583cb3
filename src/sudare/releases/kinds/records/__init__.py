"""Tables of people, from a plan to a folder with the protected records and a report.

- `read_people_plan`: what a plan says, checked without looking at any data.
- `run_people_plan`: reads, protects, measures and writes; charges a ledger where the method is differential privacy.
- `attack_folder`: what cheap attacks find in such a folder; run before it is shown.
- `verify_people`: whether a folder is what its report says.
- `measure_risks`: how easily somebody is found in a table; for its holder.

Below: `hierarchy_plan`, `model_plan`, `column_plan`, `step_order` (parts of a plan), `running` (what records add to the order of
`sudare.releases.protocol`), `sources`, `steps` (one module for each method) and `large_running` (files larger than memory),
`charging` (who is counted where there is a price), `measuring` (what the report tells), `published_records`, `attacking`,
`linking` and `earlier_records` (what is refused), `document` and `page` (the report).
"""

from sudare.releases.kinds.records.attacking.folder_attacks import attack_folder
from sudare.releases.kinds.records.measuring import Risks, measure_risks
from sudare.releases.kinds.records.planning.plan_file import PeoplePlan, read_people_plan
from sudare.releases.kinds.records.running import ProtectedPeople, run_people_plan
from sudare.releases.kinds.records.verification import verify_people

__all__ = [
    "PeoplePlan",
    "ProtectedPeople",
    "Risks",
    "attack_folder",
    "measure_risks",
    "read_people_plan",
    "run_people_plan",
    "verify_people",
]
