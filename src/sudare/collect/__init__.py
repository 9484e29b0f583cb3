"""Protection while collecting: people randomize their own answers, and estimates are made from the reports.

Everything follows from one object: the `Transition`, which holds the exact probability of each report for each true value.

Names are loaded on first use, so that `sudare.collect.device.client`, which runs on people's devices, needs the standard
library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.collect.device.client import Client as Client
    from sudare.collect.device.client import report_line as report_line
    from sudare.collect.device.memory import Memory as Memory
    from sudare.collect.estimation.aggregator import Aggregator as Aggregator
    from sudare.collect.estimation.crosstab import CrossTab as CrossTab
    from sudare.collect.estimation.crosstab import invert as invert
    from sudare.collect.estimation.crosstab import iterative_bayes as iterative_bayes
    from sudare.collect.estimation.crosstab import maximum_likelihood as maximum_likelihood
    from sudare.collect.estimation.estimates import Estimate as Estimate
    from sudare.collect.estimation.pk import noise_for_k as noise_for_k
    from sudare.collect.estimation.pk import pk_of as pk_of
    from sudare.collect.estimation.pk import randomize_table as randomize_table
    from sudare.collect.estimation.records import RandomizedAttribute as RandomizedAttribute
    from sudare.collect.estimation.records import count_reports as count_reports
    from sudare.collect.estimation.regression import RegressionFit as RegressionFit
    from sudare.collect.estimation.regression import linear_regression_of_answer as linear_regression_of_answer
    from sudare.collect.estimation.regression import linear_regression_on_answer as linear_regression_on_answer
    from sudare.collect.estimation.regression import logistic_regression as logistic_regression
    from sudare.collect.questionnaires.answers import randomize_answers as randomize_answers
    from sudare.collect.questionnaires.questionnaire import Questionnaire as Questionnaire
    from sudare.collect.questionnaires.questionnaire import read_questionnaire as read_questionnaire
    from sudare.collect.questionnaires.reports import read_lines as read_lines
    from sudare.collect.questionnaires.reports import read_randomizer as read_randomizer
    from sudare.collect.questionnaires.reports import read_reports as read_reports
    from sudare.collect.questionnaires.reports import specification as specification
    from sudare.collect.questionnaires.reports import write_reports as write_reports
    from sudare.collect.randomizers.categories import CategoryRandomizer as CategoryRandomizer
    from sudare.collect.randomizers.categories import KaryResponse as KaryResponse
    from sudare.collect.randomizers.categories import MatrixResponse as MatrixResponse
    from sudare.collect.randomizers.categories import Retention as Retention
    from sudare.collect.randomizers.categories import binary_response as binary_response
    from sudare.collect.randomizers.categories import warner as warner
    from sudare.collect.randomizers.hashing import LocalHashing as LocalHashing
    from sudare.collect.randomizers.means import MeanEstimate as MeanEstimate
    from sudare.collect.randomizers.means import OneBit as OneBit
    from sudare.collect.randomizers.means import Piecewise as Piecewise
    from sudare.collect.randomizers.noisy_numbers import BoundedNoise as BoundedNoise
    from sudare.collect.randomizers.noisy_numbers import UnboundedNoise as UnboundedNoise
    from sudare.collect.randomizers.planning import CollectionPlan as CollectionPlan
    from sudare.collect.randomizers.planning import MeanPlan as MeanPlan
    from sudare.collect.randomizers.planning import plan_collection as plan_collection
    from sudare.collect.randomizers.planning import plan_mean as plan_mean
    from sudare.collect.randomizers.randomizer import Randomizer as Randomizer
    from sudare.collect.randomizers.unary import UnaryResponse as UnaryResponse
    from sudare.collect.rappor.association import Association as Association
    from sudare.collect.rappor.association import Collected as Collected
    from sudare.collect.rappor.association import associate as associate
    from sudare.collect.rappor.bloom import bloom_bits as bloom_bits
    from sudare.collect.rappor.bloom import keyed_permanent_response as keyed_permanent_response
    from sudare.collect.rappor.design import BitCounts as BitCounts
    from sudare.collect.rappor.design import count_bits as count_bits
    from sudare.collect.rappor.memory import PermanentMemory as PermanentMemory
    from sudare.collect.rappor.rappor import Rappor as Rappor
    from sudare.collect.rappor.rappor_decode import Decoded as Decoded
    from sudare.collect.rappor.rappor_decode import decode as decode
    from sudare.collect.transitions.bins import grouped as grouped
    from sudare.collect.transitions.bins import laplace_bins as laplace_bins
    from sudare.collect.transitions.bins import normal_bins as normal_bins
    from sudare.collect.transitions.grids import Grid as Grid
    from sudare.collect.transitions.transition import DenseTransition as DenseTransition
    from sudare.collect.transitions.transition import Transition as Transition
    from sudare.collect.transitions.transition import UniformTransition as UniformTransition

_HOMES = {
    "Aggregator": "estimation.aggregator",
    "Association": "rappor.association",
    "BitCounts": "rappor.design",
    "BoundedNoise": "randomizers.noisy_numbers",
    "CategoryRandomizer": "randomizers.categories",
    "Client": "device.client",
    "Collected": "rappor.association",
    "CollectionPlan": "randomizers.planning",
    "CrossTab": "estimation.crosstab",
    "Decoded": "rappor.rappor_decode",
    "DenseTransition": "transitions.transition",
    "Estimate": "estimation.estimates",
    "Grid": "transitions.grids",
    "KaryResponse": "randomizers.categories",
    "LocalHashing": "randomizers.hashing",
    "MatrixResponse": "randomizers.categories",
    "MeanEstimate": "randomizers.means",
    "MeanPlan": "randomizers.planning",
    "Memory": "device.memory",
    "OneBit": "randomizers.means",
    "PermanentMemory": "rappor.memory",
    "Piecewise": "randomizers.means",
    "Questionnaire": "questionnaires.questionnaire",
    "RandomizedAttribute": "estimation.records",
    "Randomizer": "randomizers.randomizer",
    "Rappor": "rappor.rappor",
    "RegressionFit": "estimation.regression",
    "Retention": "randomizers.categories",
    "Transition": "transitions.transition",
    "UnaryResponse": "randomizers.unary",
    "UnboundedNoise": "randomizers.noisy_numbers",
    "UniformTransition": "transitions.transition",
    "associate": "rappor.association",
    "binary_response": "randomizers.categories",
    "bloom_bits": "rappor.bloom",
    "count_bits": "rappor.design",
    "count_reports": "estimation.records",
    "decode": "rappor.rappor_decode",
    "grouped": "transitions.bins",
    "invert": "estimation.crosstab",
    "iterative_bayes": "estimation.crosstab",
    "keyed_permanent_response": "rappor.bloom",
    "laplace_bins": "transitions.bins",
    "linear_regression_of_answer": "estimation.regression",
    "linear_regression_on_answer": "estimation.regression",
    "logistic_regression": "estimation.regression",
    "maximum_likelihood": "estimation.crosstab",
    "noise_for_k": "estimation.pk",
    "normal_bins": "transitions.bins",
    "pk_of": "estimation.pk",
    "plan_collection": "randomizers.planning",
    "plan_mean": "randomizers.planning",
    "randomize_answers": "questionnaires.answers",
    "randomize_table": "estimation.pk",
    "read_lines": "questionnaires.reports",
    "read_questionnaire": "questionnaires.questionnaire",
    "read_randomizer": "questionnaires.reports",
    "read_reports": "questionnaires.reports",
    "report_line": "device.client",
    "specification": "questionnaires.reports",
    "warner": "randomizers.categories",
    "write_reports": "questionnaires.reports",
}
"""In which module each name is."""

__all__ = sorted(_HOMES)

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
