"""Protection while collecting: people randomize their own answers, and estimates are made from the reports.

Everything follows from one object: the `Transition`, which holds the exact probability of each report for each true value.

Names are loaded on first use, so that `sudare.collect.client`, which runs on people's devices, needs the standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.collect.aggregator import Aggregator as Aggregator
    from sudare.collect.answers import randomize_answers as randomize_answers
    from sudare.collect.bins import grouped as grouped
    from sudare.collect.bins import laplace_bins as laplace_bins
    from sudare.collect.bins import normal_bins as normal_bins
    from sudare.collect.categories import CategoryRandomizer as CategoryRandomizer
    from sudare.collect.categories import KaryResponse as KaryResponse
    from sudare.collect.categories import MatrixResponse as MatrixResponse
    from sudare.collect.categories import Retention as Retention
    from sudare.collect.categories import binary_response as binary_response
    from sudare.collect.categories import warner as warner
    from sudare.collect.client import Client as Client
    from sudare.collect.crosstab import CrossTab as CrossTab
    from sudare.collect.crosstab import invert as invert
    from sudare.collect.crosstab import iterative_bayes as iterative_bayes
    from sudare.collect.crosstab import maximum_likelihood as maximum_likelihood
    from sudare.collect.estimates import Estimate as Estimate
    from sudare.collect.grids import Grid as Grid
    from sudare.collect.hashing import LocalHashing as LocalHashing
    from sudare.collect.means import MeanEstimate as MeanEstimate
    from sudare.collect.means import OneBit as OneBit
    from sudare.collect.means import Piecewise as Piecewise
    from sudare.collect.memory import Memory as Memory
    from sudare.collect.noisy_numbers import BoundedNoise as BoundedNoise
    from sudare.collect.noisy_numbers import UnboundedNoise as UnboundedNoise
    from sudare.collect.pk import noise_for_k as noise_for_k
    from sudare.collect.pk import pk_of as pk_of
    from sudare.collect.pk import randomize_table as randomize_table
    from sudare.collect.questionnaire import Questionnaire as Questionnaire
    from sudare.collect.questionnaire import read_questionnaire as read_questionnaire
    from sudare.collect.randomizer import Randomizer as Randomizer
    from sudare.collect.rappor import Rappor as Rappor
    from sudare.collect.records import RandomizedAttribute as RandomizedAttribute
    from sudare.collect.records import count_reports as count_reports
    from sudare.collect.reports import read_randomizer as read_randomizer
    from sudare.collect.reports import read_reports as read_reports
    from sudare.collect.reports import specification as specification
    from sudare.collect.reports import write_reports as write_reports
    from sudare.collect.transition import DenseTransition as DenseTransition
    from sudare.collect.transition import Transition as Transition
    from sudare.collect.transition import UniformTransition as UniformTransition
    from sudare.collect.unary import UnaryResponse as UnaryResponse

_HOMES = {
    "Aggregator": "aggregator",
    "BoundedNoise": "noisy_numbers",
    "CategoryRandomizer": "categories",
    "Client": "client",
    "CrossTab": "crosstab",
    "DenseTransition": "transition",
    "Estimate": "estimates",
    "Grid": "grids",
    "KaryResponse": "categories",
    "LocalHashing": "hashing",
    "MatrixResponse": "categories",
    "MeanEstimate": "means",
    "Memory": "memory",
    "OneBit": "means",
    "Piecewise": "means",
    "Questionnaire": "questionnaire",
    "RandomizedAttribute": "records",
    "Randomizer": "randomizer",
    "Rappor": "rappor",
    "Retention": "categories",
    "Transition": "transition",
    "UnaryResponse": "unary",
    "UnboundedNoise": "noisy_numbers",
    "UniformTransition": "transition",
    "binary_response": "categories",
    "count_reports": "records",
    "grouped": "bins",
    "invert": "crosstab",
    "iterative_bayes": "crosstab",
    "laplace_bins": "bins",
    "maximum_likelihood": "crosstab",
    "noise_for_k": "pk",
    "normal_bins": "bins",
    "pk_of": "pk",
    "randomize_answers": "answers",
    "randomize_table": "pk",
    "read_questionnaire": "questionnaire",
    "read_randomizer": "reports",
    "read_reports": "reports",
    "specification": "reports",
    "warner": "categories",
    "write_reports": "reports",
}
"""In which module each name is."""

__all__ = sorted(_HOMES)

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
