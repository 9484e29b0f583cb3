"""Who is protected, how much may be spent, and what was spent.

Read in this order: `events` (the record in which mechanisms and accountants meet), `measurements` (what it is made
of, with exact costs), `unit` (who is protected; all sensitivities), `budget` (three currencies, exact arithmetic),
`composition`, `conversion`, `accountants`, `reading`, `delta_advice`.
"""

from sudare.privacy.accountants import Accountant, ApproximateAccountant, PldAccountant, PureAccountant, ZcdpAccountant
from sudare.privacy.budget import Budget
from sudare.privacy.composition import compose, compose_parallel, for_group
from sudare.privacy.conversion import epsilon_to_rho, rho_to_delta, rho_to_epsilon
from sudare.privacy.delta_advice import DeltaAdvice, advise_delta
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.interpretation import best_power, plot_suggested_delta, plot_trade_off, suggest_delta
from sudare.privacy.measurements import (
    GaussianMeasurement,
    KeyReleaseMeasurement,
    LaplaceMeasurement,
    Measurement,
    ResponseMeasurement,
    SelectionMeasurement,
    SmoothMeasurement,
)
from sudare.privacy.sampled_measurements import SampledGroupsMeasurement
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.privacy.unit import ProtectedTime, Sensitivity, Unit, sensitivity_of_counts

__all__ = [
    "Accountant",
    "ApproximateAccountant",
    "Budget",
    "DeltaAdvice",
    "GaussianMeasurement",
    "KeyReleaseMeasurement",
    "LaplaceMeasurement",
    "Measurement",
    "PldAccountant",
    "ProtectedTime",
    "PureAccountant",
    "ReleaseEvent",
    "ResponseMeasurement",
    "SampledGroupsMeasurement",
    "SelectionMeasurement",
    "Sensitivity",
    "SeriesMeasurement",
    "SmoothMeasurement",
    "Unit",
    "ZcdpAccountant",
    "advise_delta",
    "best_power",
    "compose",
    "compose_parallel",
    "epsilon_to_rho",
    "for_group",
    "plot_suggested_delta",
    "plot_trade_off",
    "rho_to_delta",
    "rho_to_epsilon",
    "sensitivity_of_counts",
    "suggest_delta",
]
