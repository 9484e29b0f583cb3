"""Models of privacy within a table of people: conditions on classes of records that look alike.

`sizes` counts records, `diversity`, `closeness` and `likeness` look at a sensitive column, `unique_people` at the population
behind the table; `game` turns money into a model, `measuring` tells what a table satisfies. None of them is differential privacy.
What every model answers is described in `model`, what those add that plans and reports name in `planned_model`; all of these
stand in `registry`.
"""

from sudare.microdata.models.closeness import Closeness
from sudare.microdata.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sudare.microdata.models.game import Game, no_attack
from sudare.microdata.models.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from sudare.microdata.models.measuring import Measured, measure
from sudare.microdata.models.model import Model, SensitiveModel
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel
from sudare.microdata.models.registry import register_model, registered_models
from sudare.microdata.models.sizes import KAnonymity, KMap, Presence, estimated_k_map
from sudare.microdata.models.unique_people import PopulationUniqueness

__all__ = [
    "AlphaAnonymity",
    "BetaLikeness",
    "Closeness",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "Game",
    "KAnonymity",
    "KMap",
    "Measured",
    "Model",
    "ModelColumns",
    "PlannedModel",
    "PopulationUniqueness",
    "Presence",
    "RecursiveDiversity",
    "SensitiveModel",
    "estimated_k_map",
    "measure",
    "no_attack",
    "register_model",
    "registered_models",
]
