from sudare.releases.protocol import Released as Released
from sudare.releases.registry import run_plan as run_plan
from sudare.releases.registry import verify_folder as verify_folder
from sudare.releases.verification import Check as Check

__all__: list[str]
