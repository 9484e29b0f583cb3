"""Protection inside the data set: generalized, sampled, perturbed or synthetic records of people, and pseudonyms.

Names are loaded on first use: some need compiled kernels, and synthetic data an optional package. Pseudonyms and people's
rights are in `sudare.microdata.pseudonyms`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.microdata.hierarchies.builders import date_hierarchy as date_hierarchy
    from sudare.microdata.hierarchies.builders import flat_hierarchy as flat_hierarchy
    from sudare.microdata.hierarchies.builders import grouped_hierarchy as grouped_hierarchy
    from sudare.microdata.hierarchies.builders import interval_hierarchy as interval_hierarchy
    from sudare.microdata.hierarchies.builders import masked_hierarchy as masked_hierarchy
    from sudare.microdata.hierarchies.builders import mesh_hierarchy as mesh_hierarchy
    from sudare.microdata.hierarchies.builders import meshes_within as meshes_within
    from sudare.microdata.hierarchies.files import read_hierarchy as read_hierarchy
    from sudare.microdata.hierarchies.files import write_hierarchy as write_hierarchy
    from sudare.microdata.hierarchies.hierarchy import Generalization as Generalization
    from sudare.microdata.models import AlphaAnonymity as AlphaAnonymity
    from sudare.microdata.models import BetaLikeness as BetaLikeness
    from sudare.microdata.models import Closeness as Closeness
    from sudare.microdata.models import DeltaDisclosure as DeltaDisclosure
    from sudare.microdata.models import DistinctDiversity as DistinctDiversity
    from sudare.microdata.models import EntropyDiversity as EntropyDiversity
    from sudare.microdata.models import Game as Game
    from sudare.microdata.models import KAnonymity as KAnonymity
    from sudare.microdata.models import KMap as KMap
    from sudare.microdata.models import Measured as Measured
    from sudare.microdata.models import Model as Model
    from sudare.microdata.models import PopulationUniqueness as PopulationUniqueness
    from sudare.microdata.models import Presence as Presence
    from sudare.microdata.models import RecursiveDiversity as RecursiveDiversity
    from sudare.microdata.models import SensitiveModel as SensitiveModel
    from sudare.microdata.models import estimated_k_map as estimated_k_map
    from sudare.microdata.models import measure as measure
    from sudare.microdata.models import no_attack as no_attack
    from sudare.microdata.perturb.microaggregation import microaggregate as microaggregate
    from sudare.microdata.perturb.noisy_values import add_noise_to_numbers as add_noise_to_numbers
    from sudare.microdata.perturb.outcomes import Outcome as Outcome
    from sudare.microdata.perturb.pram import TransitionMatrix as TransitionMatrix
    from sudare.microdata.perturb.pram import randomize_values as randomize_values
    from sudare.microdata.perturb.sampled_k_anonymity import choose_levels as choose_levels
    from sudare.microdata.perturb.sampled_k_anonymity import sampled_groups as sampled_groups
    from sudare.microdata.perturb.sampling import sample_by_coins as sample_by_coins
    from sudare.microdata.perturb.sampling import sample_of_size as sample_of_size
    from sudare.microdata.perturb.sampling import sample_of_strata as sample_of_strata
    from sudare.microdata.perturb.swapping import swap_randomly as swap_randomly
    from sudare.microdata.perturb.swapping import swap_ranks as swap_ranks
    from sudare.microdata.perturb.swapping import swap_risky as swap_risky
    from sudare.microdata.records import CodedColumn as CodedColumn
    from sudare.microdata.records import Records as Records
    from sudare.microdata.records import read_people as read_people
    from sudare.microdata.records import write_people as write_people
    from sudare.microdata.risk import attribute_risks as attribute_risks
    from sudare.microdata.risk import individual_risk as individual_risk
    from sudare.microdata.risk import journalist_risk as journalist_risk
    from sudare.microdata.risk import marketer_risk as marketer_risk
    from sudare.microdata.risk import matching_frequencies as matching_frequencies
    from sudare.microdata.risk import prosecutor_risk as prosecutor_risk
    from sudare.microdata.risk import sample_uniqueness as sample_uniqueness
    from sudare.microdata.search.anonymizing import Anonymized as Anonymized
    from sudare.microdata.search.anonymizing import anonymize as anonymize
    from sudare.microdata.search.anonymizing import satisfies as satisfies
    from sudare.microdata.search.large import AnonymizedFile as AnonymizedFile
    from sudare.microdata.search.large import anonymize_file as anonymize_file
    from sudare.microdata.search.metrics import Metric as Metric
    from sudare.microdata.search.mondrian import Recoding as Recoding
    from sudare.microdata.search.mondrian import recode_locally as recode_locally
    from sudare.microdata.synthetic import MeasuredMarginal as MeasuredMarginal
    from sudare.microdata.synthetic import PublicColumn as PublicColumn
    from sudare.microdata.synthetic import Synthetic as Synthetic
    from sudare.microdata.synthetic import people_of_table as people_of_table
    from sudare.microdata.synthetic import synthesize as synthesize
    from sudare.microdata.synthetic import write_people_of_table as write_people_of_table
    from sudare.microdata.uniqueness import population_uniqueness as population_uniqueness
    from sudare.microdata.utility import Utility as Utility
    from sudare.microdata.utility import measure_utility as measure_utility

_HOMES = {
    "AlphaAnonymity": "models",
    "Anonymized": "search.anonymizing",
    "AnonymizedFile": "search.large",
    "BetaLikeness": "models",
    "Closeness": "models",
    "CodedColumn": "records",
    "DeltaDisclosure": "models",
    "DistinctDiversity": "models",
    "EntropyDiversity": "models",
    "Game": "models",
    "Generalization": "hierarchies.hierarchy",
    "KAnonymity": "models",
    "KMap": "models",
    "Measured": "models",
    "MeasuredMarginal": "synthetic",
    "Metric": "search.metrics",
    "Model": "models",
    "PopulationUniqueness": "models",
    "Outcome": "perturb.outcomes",
    "Presence": "models",
    "PublicColumn": "synthetic",
    "Recoding": "search.mondrian",
    "Records": "records",
    "RecursiveDiversity": "models",
    "SensitiveModel": "models",
    "Synthetic": "synthetic",
    "TransitionMatrix": "perturb.pram",
    "Utility": "utility",
    "add_noise_to_numbers": "perturb.noisy_values",
    "anonymize": "search.anonymizing",
    "anonymize_file": "search.large",
    "attribute_risks": "risk",
    "choose_levels": "perturb.sampled_k_anonymity",
    "date_hierarchy": "hierarchies.builders",
    "estimated_k_map": "models",
    "flat_hierarchy": "hierarchies.builders",
    "grouped_hierarchy": "hierarchies.builders",
    "individual_risk": "risk",
    "interval_hierarchy": "hierarchies.builders",
    "journalist_risk": "risk",
    "marketer_risk": "risk",
    "masked_hierarchy": "hierarchies.builders",
    "matching_frequencies": "risk",
    "measure": "models",
    "no_attack": "models",
    "measure_utility": "utility",
    "mesh_hierarchy": "hierarchies.builders",
    "meshes_within": "hierarchies.builders",
    "microaggregate": "perturb.microaggregation",
    "people_of_table": "synthetic",
    "population_uniqueness": "uniqueness",
    "prosecutor_risk": "risk",
    "randomize_values": "perturb.pram",
    "read_hierarchy": "hierarchies.files",
    "read_people": "records",
    "recode_locally": "search.mondrian",
    "sample_by_coins": "perturb.sampling",
    "sample_of_size": "perturb.sampling",
    "sample_of_strata": "perturb.sampling",
    "sample_uniqueness": "risk",
    "sampled_groups": "perturb.sampled_k_anonymity",
    "satisfies": "search.anonymizing",
    "swap_randomly": "perturb.swapping",
    "swap_ranks": "perturb.swapping",
    "swap_risky": "perturb.swapping",
    "synthesize": "synthetic",
    "write_hierarchy": "hierarchies.files",
    "write_people": "records",
    "write_people_of_table": "synthetic",
}
"""In which module each name is."""

__all__ = sorted(_HOMES)

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
