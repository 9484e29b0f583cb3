"""Regression where an answer was randomized.

- `logistic_regression`: the answer (two values or more) depends on covariates; only its randomized version is seen. Maximum
  likelihood, with the transition inside the likelihood.
- `linear_regression_of_answer`: the share of an answer, or the mean score of the answers, as a linear function of covariates.
  Each report counts as its unbiased score, then least squares.
- `linear_regression_on_answer`: the answer is a covariate, and something else that was not randomized depends on it. Moments
  with the inverse matrix.

Here people are a sample, and the coefficients are those of the law they come from: standard errors include that chance as well.

Proof: ``regression.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.collect.transitions.transition import Transition
from sudare.distributions import normal_quantile
from sudare.domain.arguments import read_array
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import Rational, read_chance, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Places = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["RegressionFit", "linear_regression_of_answer", "linear_regression_on_answer", "logistic_regression"]

MAX_STEPS = 200
MAX_HALVINGS = 40
WORST_CONDITION = 1e12


@dataclass(frozen=True, eq=False)
class RegressionFit(ShownRows):
    """Coefficients and how sure they are.

    Attributes:
        names: of the coefficients.
        coefficients: estimated.
        covariance: estimated covariance matrix of them.
        log_likelihood: of the reports, where the method has one.
    """

    names: tuple[str, ...]
    coefficients: Values
    covariance: Values
    log_likelihood: float | None = None

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each coefficient: estimate, standard error and 95 % interval."""
        low, high = self.intervals()
        return {
            "coefficient": self.names,
            "estimate": self.coefficients,
            "standard_error": self.standard_errors,
            "low": low,
            "high": high,
        }

    @property
    def standard_errors(self) -> Values:
        """Of the coefficients."""
        return np.sqrt(np.diag(self.covariance))

    def intervals(self, level: Rational = 0.95) -> tuple[Values, Values]:
        """Lower and upper ends that hold a coefficient with this probability, each by itself, for many people."""
        chance = read_chance(level, "level", "RegressionFit.intervals")
        reach = normal_quantile(0.5 + chance / 2) * self.standard_errors
        return self.coefficients - reach, self.coefficients + reach

    def to_text(self, most_rows: int = 40) -> str:
        """A row for each coefficient: its name, estimate and standard error.

        Args:
            most_rows: further ones are left out.
        """
        rows = [("", "estimate", "standard error")]
        for name, value, error in zip(self.names, self.coefficients, self.standard_errors, strict=True):
            rows.append((name, f"{value:.4g}", f"{error:.2g}"))
        rows = rows[: most_rows + 1]
        widths = [max(len(row[place]) for row in rows) for place in range(3)]
        return "\n".join(f"{a.ljust(widths[0])}  {b.rjust(widths[1])}  {c.rjust(widths[2])}" for a, b, c in rows)


def logistic_regression(
    covariates: ArrayLike,
    reports: ArrayLike,
    transition: Transition,
    *,
    names: Sequence[str] | None = None,
    constant: bool = True,
) -> RegressionFit:
    """How the odds of a true answer depend on covariates, from randomized answers.

    The log odds of each value against value 0 are linear in the covariates. For two values this is logistic regression.

    Args:
        covariates: a row for each person, not randomized.
        reports: the place of each person's report, from 0 on.
        transition: how answers were randomized.
        names: of the covariates.
        constant: whether to add a constant.

    Raises:
        GuaranteeError: if reports and covariates do not determine the coefficients, or no maximum was found.

    Example:
        >>> import numpy as np
        >>> from sudare.collect import UniformTransition, logistic_regression
        >>> age = np.repeat([0.0, 1.0], 4000)
        >>> told = np.r_[np.zeros(2500), np.ones(1500), np.zeros(1500), np.ones(2500)].astype(int)
        >>> fit = logistic_regression(age[:, None], told, UniformTransition(2, 3, 1))
        >>> fit.coefficients.round(3).tolist()  # true shares 1/4 and 3/4: log odds -log 3 and log 3
        [-1.099, 2.197]
    """
    function = "logistic_regression"
    design, labels = _read_design(covariates, names, constant, function)
    told = _read_reports(reports, transition, len(design), function)
    matrix = transition.probabilities()
    likelihoods = np.ascontiguousarray(matrix[:, told].T)
    width, others = design.shape[1], transition.values - 1
    beta = np.zeros((width, others))
    value, gradient, hessian = _logistic_terms(design, likelihoods, beta)
    for _ in range(MAX_STEPS):
        step = _rising_step(hessian, gradient).reshape(width, others)
        for halvings in range(MAX_HALVINGS):
            tried = beta + step * 0.5**halvings
            terms = _logistic_terms(design, likelihoods, tried)
            if terms[0] >= value:
                break
        else:
            break
        change = terms[0] - value
        beta, (value, gradient, hessian) = tried, terms
        if change <= 1e-12 * (1 + abs(value)) and np.abs(step).max() < 1e-6 * (1 + np.abs(beta).max()):
            break
    else:
        raise GuaranteeError(
            Words(
                "The likelihood has no maximum: some covariates tell the answers apart completely.",
                "尤度に最大値がありません。共変量によって回答が完全に分かれています。",
            )
        )
    named = labels if others == 1 else tuple(f"{name}: value {v + 1}" for name in labels for v in range(others))
    return RegressionFit(named, beta.ravel(), _inverse_information(-hessian), value)


def _logistic_terms(design: Values, likelihoods: Values, beta: Values) -> tuple[float, Values, Values]:
    """The log-likelihood with its gradient and its matrix of second derivatives, in the coefficients row by row."""
    scores = np.concatenate([np.zeros((len(design), 1)), design @ beta], axis=1)
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=1, keepdims=True)
    joint = weights * likelihoods
    told = joint.sum(axis=1)
    posterior = joint / told[:, None]
    prior, after = weights[:, 1:], posterior[:, 1:]
    gradient = design.T @ (after - prior)
    # The second derivative is the covariance of the true value given the report, minus that before the report.
    width, others = design.shape[1], prior.shape[1]
    hessian = np.empty((width, others, width, others))
    for u in range(others):
        for v in range(u + 1):
            both = prior[:, u] * prior[:, v] - after[:, u] * after[:, v]
            if u == v:
                both = both + after[:, u] - prior[:, u]
            block = (design * both[:, None]).T @ design
            hessian[:, u, :, v] = block
            hessian[:, v, :, u] = block
    size = width * others
    return float(np.log(told).sum()), gradient.ravel(), hessian.reshape(size, size)


def _rising_step(hessian: Values, gradient: Values) -> Values:
    """Newton's step, with negative curvature turned round so that it always rises."""
    values, vectors = np.linalg.eigh(-hessian)
    size = np.maximum(np.abs(values), 1e-9 * max(float(np.abs(values).max()), 1e-300))
    return np.asarray(vectors @ ((vectors.T @ gradient) / size))


def _inverse_information(information: Values) -> Values:
    values = np.linalg.eigvalsh(information)
    if values[0] <= 0 or values[0] * WORST_CONDITION < values[-1]:
        raise GuaranteeError(
            Words(
                "The reports do not determine the coefficients: too few people, or covariates that repeat others.",
                "報告から係数が定まりません。人数が少なすぎるか、共変量に重複があります。",
            )
        )
    return np.asarray(np.linalg.inv(information))


def linear_regression_of_answer(
    covariates: ArrayLike,
    reports: ArrayLike,
    transition: Transition,
    scores: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    constant: bool = True,
) -> RegressionFit:
    """How the mean score of the true answers depends linearly on covariates.

    With score 1 for one value and 0 for the others, this is the linear probability model.

    Args:
        covariates: a row for each person, not randomized.
        reports: the place of each person's report, from 0 on.
        transition: how answers were randomized.
        scores: what each value counts.
        names: of the covariates.
        constant: whether to add a constant.

    Raises:
        GuaranteeError: if the matrix has no inverse, or covariates repeat others.

    Example:
        >>> import numpy as np
        >>> from sudare.collect import UniformTransition, linear_regression_of_answer
        >>> age = np.repeat([0.0, 1.0], 4000)
        >>> told = np.r_[np.zeros(2500), np.ones(1500), np.zeros(1500), np.ones(2500)].astype(int)
        >>> linear_regression_of_answer(age[:, None], told, UniformTransition(2, 3, 1), [0, 1]).coefficients.round(3).tolist()
        [0.25, 0.5]
    """
    function = "linear_regression_of_answer"
    design, labels = _read_design(covariates, names, constant, function)
    told = _read_reports(reports, transition, len(design), function)
    counted = _read_scores(scores, transition.values, function)
    response = (_inverse_rows(transition) @ counted)[told]
    gram = _inverse_information(design.T @ design)
    coefficients = gram @ (design.T @ response)
    residuals = response - design @ coefficients
    meat = (design * residuals[:, None] ** 2).T @ design
    freedom = len(design) / max(len(design) - design.shape[1], 1)
    return RegressionFit(labels, coefficients, freedom * gram @ meat @ gram)


def linear_regression_on_answer(
    response: ArrayLike,
    reports: ArrayLike,
    transition: Transition,
    covariates: ArrayLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> RegressionFit:
    """How something that was not randomized depends on a randomized answer, and on other covariates.

    The model has a mean for each value of the answer, and a slope for each covariate.

    Args:
        response: a number for each person, not randomized.
        reports: the place of each person's report of the answer, from 0 on. Given the true answer, it depends on nothing else.
        transition: how answers were randomized.
        covariates: a row for each person, not randomized; centre them if the means are to be read.
        labels: of the answer's values.
        names: of the covariates.

    Raises:
        GuaranteeError: if the matrix has no inverse, or the reports do not determine the coefficients.

    Example:
        >>> import numpy as np
        >>> from sudare.collect import UniformTransition, linear_regression_on_answer
        >>> told, income = np.repeat([0, 1], 4), np.array([1.0, 1, 1, 5, 5, 5, 5, 1])
        >>> linear_regression_on_answer(income, told, UniformTransition(2, 3, 1)).coefficients.tolist()
        [1.0, 5.0]
    """
    function = "linear_regression_on_answer"
    outcome = read_array(response, "response", function, "numbers, one for each person").astype(np.float64)
    others = np.zeros((outcome.size, 0)) if covariates is None else covariates
    extra, extra_names = _read_design(others, names, False, function, may_be_empty=True)
    if outcome.ndim != 1 or len(outcome) != len(extra) or not np.isfinite(outcome).all():
        raise ParameterError("response", function, "finite numbers, one for each person", Described("others"))
    told = _read_reports(reports, transition, len(outcome), function)
    indicators = _inverse_rows(transition)[told]
    people, values, width = len(outcome), transition.values, extra.shape[1]
    design = np.concatenate([indicators, extra], axis=1)
    # E[indicators | true answer] is the true indicator, whose products with itself are the indicator again.
    moments = design.T @ design
    moments[:values, :values] = np.diag(indicators.sum(axis=0))
    if np.linalg.cond(moments) > WORST_CONDITION:
        raise GuaranteeError(
            Words(
                "The reports do not determine the coefficients: a value that nobody seems to have, or repeats.",
                "報告から係数が定まりません。該当者がいないとみられる値があるか、重複があります。",
            )
        )
    inverse = np.linalg.inv(moments)
    coefficients = inverse @ (design.T @ outcome)
    means, slopes = coefficients[:values], coefficients[values:]
    terms = np.empty((people, values + width))
    terms[:, :values] = indicators * (outcome[:, None] - means - (extra @ slopes)[:, None])
    terms[:, values:] = extra * (outcome - indicators @ means - extra @ slopes)[:, None]
    covariance = inverse @ (terms.T @ terms) @ inverse.T
    named = tuple(labels) if labels is not None else tuple(f"value {value}" for value in range(values))
    if len(named) != values:
        raise ParameterError("labels", function, f"{values} labels", Described(f"{len(named)}"))
    return RegressionFit((*named, *extra_names), np.asarray(coefficients), np.asarray(covariance))


def _inverse_rows(transition: Transition) -> Values:
    """For each report, the unbiased indicator of each value."""
    return np.asarray(transition.solve(np.eye(transition.reports)))


def _read_scores(scores: ArrayLike, values: int, function: str) -> Values:
    counted = read_array(scores, "scores", function, "numbers").astype(np.float64)
    if counted.shape != (values,) or not np.isfinite(counted).all():
        raise ParameterError("scores", function, f"{values} finite numbers, one for each value", Described("others"))
    return counted


def _read_design(
    covariates: ArrayLike, names: Sequence[str] | None, constant: bool, function: str, may_be_empty: bool = False
) -> tuple[Values, tuple[str, ...]]:
    requirement = "finite numbers, a row for each person and a column for each covariate"
    array = read_array(covariates, "covariates", function, requirement)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isfinite(array).all() or not len(array):
        raise ParameterError("covariates", function, requirement, Described(f"an array of shape {array.shape}"))
    if array.shape[1] + constant < 1 and not may_be_empty:
        raise ParameterError("covariates", function, "one at least, or a constant", Described("none"))
    labels = tuple(names) if names is not None else tuple(f"covariate {place}" for place in range(array.shape[1]))
    if len(labels) != array.shape[1]:
        raise ParameterError("names", function, f"{array.shape[1]} names", Described(f"{len(labels)}"))
    design = array.astype(np.float64)
    if constant:
        return np.concatenate([np.ones((len(design), 1)), design], axis=1), ("constant", *labels)
    return design, labels


def _read_reports(reports: ArrayLike, transition: Transition, people: int, function: str) -> Places:
    if not isinstance(transition, Transition):
        raise ParameterError("transition", function, "a Transition", shown(transition))
    requirement = f"whole numbers from 0 to {transition.reports - 1}, one for each person"
    told = read_array(reports, "reports", function, requirement)
    if told.shape != (people,) or told.dtype.kind not in "iu":
        raise ParameterError("reports", function, requirement, Described(f"an array of shape {told.shape}"))
    if told.min() < 0 or told.max() >= transition.reports:
        raise ParameterError("reports", function, requirement, Described("others"))
    return told.astype(np.int64)
