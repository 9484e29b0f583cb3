"""The release event: the one record in which a mechanism and an accountant meet.

A mechanism returns its result together with a `ReleaseEvent`; an accountant or a ledger reads nothing else. The rules
for this format:

- a field or a kind is never removed, and its meaning never changes;
- new fields are optional, with a default that means what their absence meant;
- an unknown version, kind or field is refused, never skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from sudare.bilingual import Words
from sudare.errors import EventError, ParameterError
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.measurements import KINDS as NOISE_KINDS
from sudare.privacy.measurements import Measurement, read_measurement
from sudare.privacy.sampled_measurements import SampledGroupsMeasurement
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    EntropyName = Literal["secure", "research"]

__all__ = ["EVENT_VERSION", "ReleaseEvent"]

EVENT_VERSION = 1
KINDS = (*NOISE_KINDS, SampledGroupsMeasurement, SeriesMeasurement)
"""All kinds of measurements there are; an event takes no others, and no subclasses."""

_EXPECTED = {
    "mechanism": Words("the name of a mechanism", "メカニズムの名前"),
    "unit": Words.same("Unit"),
    "cost": Words.same("Budget"),
    "measurements": Words("a tuple of measurements, at least one", "1 個以上の測定の組"),
    "entropy": Words("'secure' or 'research'", "'secure' または 'research'"),
    "conversion": Words("'simple' or 'optimal'", "'simple' または 'optimal'"),
    "invariants": Words("a tuple of names", "名前の組"),
    "version": Words.same(EVENT_VERSION),
}
_FIELDS = {"version", "mechanism", "unit", "cost", "measurements", "entropy", "conversion", "invariants"}


@dataclass(frozen=True)
class ReleaseEvent:
    """What was released, about whom, and what it cost.

    The stated cost must cover what the measurements imply; an event that claims less cannot be made.

    Args:
        mechanism: name of the mechanism, such as ``"wide-tree"``.
        unit: who is protected.
        cost: what is to be charged.
        measurements: the noisy looks at the data, composed one after the other.
        entropy: ``"secure"``, or ``"research"`` for a result that is **not private**.
        conversion: how rho was turned into (epsilon, delta), where it was.
        invariants: quantities that were published exactly and are not protected.

    Raises:
        EventError: if a field is of the wrong kind, or the measurements cost more than stated.

    Example:
        >>> from sudare import Budget, ReleaseEvent, Unit
        >>> from sudare.privacy import LaplaceMeasurement, sensitivity_of_counts
        >>> unit, budget = Unit("person"), Budget(epsilon=0.5)
        >>> noise = LaplaceMeasurement.for_budget(budget, sensitivity_of_counts(unit))
        >>> event = ReleaseEvent("laplace", unit, budget, (noise,), "secure")
        >>> ReleaseEvent.from_json(event.to_json()) == event
        True
    """

    mechanism: str
    unit: Unit
    cost: Budget
    measurements: tuple[Measurement, ...]
    entropy: EntropyName
    conversion: Conversion = "optimal"
    invariants: tuple[str, ...] = ()
    version: int = EVENT_VERSION

    def __post_init__(self) -> None:
        # Exact types: a generator could be read only once, a list be changed later, a subclass state another cost.
        checks = {
            "mechanism": type(self.mechanism) is str and bool(self.mechanism),
            "unit": type(self.unit) is Unit,
            "cost": type(self.cost) is Budget,
            "measurements": _is_tuple_of(self.measurements, *KINDS) and bool(self.measurements),
            "entropy": type(self.entropy) is str and self.entropy in ("secure", "research"),
            "conversion": type(self.conversion) is str and self.conversion in ("simple", "optimal"),
            "invariants": _is_tuple_of(self.invariants, str),
            "version": type(self.version) is int and self.version == EVENT_VERSION,
        }
        for name, is_right in checks.items():
            if not is_right:
                raise EventError(
                    Words(
                        f"The {name!r} of a release event must be {_EXPECTED[name]}. "
                        f"Got {shown(getattr(self, name))!r:.80} instead.",
                        f"公表イベントの {name!r} が不正です（{_EXPECTED[name].japanese}、"
                        f"記載: {shown(getattr(self, name))!r:.80}）。",
                    )
                )
        if self.invariants and self.unit.adjacency != "replace":
            raise EventError(
                Words(
                    "Exact invariants change under add-remove adjacency; the unit must have adjacency='replace'.",
                    "正確に公表する量は1人の追加・削除で変わります。保護の単位は adjacency='replace' でなければなりません。",
                )
            )
        for measurement in self.measurements:
            if not measurement.covers_counts(self.unit):
                raise EventError(
                    Words(
                        f"A {measurement.kind} measurement of {self.mechanism!r} was made for a smaller sensitivity than that "
                        f"of counts about {self.unit}.",
                        f"{self.mechanism!r} の {measurement.kind} の測定は、"
                        f"{self.unit} の度数の感度より小さい感度を前提としています。",
                    )
                )
        self._require_cost_covers_measurements()

    def _require_cost_covers_measurements(self) -> None:
        delta = sum((m.delta for m in self.measurements), Fraction(0))
        stated_delta = Fraction(0) if self.cost.currency == "rho" else self.cost.delta
        if delta > stated_delta or not self._covers(stated_delta - delta):
            raise EventError(
                Words(
                    f"The measurements of {self.mechanism!r} cost more than the stated {self.cost}.",
                    f"{self.mechanism!r} の測定の費用が、記載された {self.cost} を超えています。",
                )
            )

    def _covers(self, delta: Fraction) -> bool:
        """Whether the stated cost is enough, where so much of its delta is left for turning rho into epsilon.

        All in rho, or all in epsilon, or what has an epsilon in epsilon and the rest in rho.
        """
        rho = sum((m.rho for m in self.measurements), Fraction(0))
        if self.cost.currency == "rho":
            return rho <= self.cost.rho
        epsilon = sum((m.epsilon for m in self.measurements if m.epsilon is not None), Fraction(0))
        rest = sum((m.rho for m in self.measurements if m.epsilon is None), Fraction(0))
        if rest == 0 and epsilon <= self.cost.epsilon:
            return True
        if delta == 0:
            return False
        left = self.cost.epsilon - epsilon
        return rho <= self._rho_of(self.cost.epsilon, delta) or (left > 0 and rest <= self._rho_of(left, delta))

    def _rho_of(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """The rho that an epsilon and a delta allow; 0 where they are too small to tell."""
        try:
            return epsilon_to_rho(epsilon, delta, self.conversion)
        except ParameterError:
            return Fraction(0)

    @property
    def is_private(self) -> bool:
        """Whether the result carries the guarantee at all: research entropy does not."""
        return self.entropy == "secure"

    def to_json(self) -> str:
        """One line of JSON, the same for equal events."""
        values: dict[str, object] = {
            "version": self.version,
            "mechanism": self.mechanism,
            "unit": self.unit.to_dict(),
            "cost": self.cost.to_dict(),
            "measurements": [measurement.to_dict() for measurement in self.measurements],
            "entropy": self.entropy,
            "conversion": self.conversion,
            "invariants": list(self.invariants),
        }
        return json.dumps(values, sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ReleaseEvent:
        """Read what `to_json` wrote.

        Raises:
            EventError: if the text is not JSON, or anything in it is missing, unknown or of another version.
        """
        if not isinstance(text, str):
            raise EventError(
                Words(
                    f"A release event must be JSON text. Got an object of type {type(text).__name__}.",
                    f"公表イベントは JSON の文字列です（指定: {type(text).__name__} 型の値）。",
                )
            )
        try:
            values = json.loads(text, object_pairs_hook=_object_without_repeats)
        except (ValueError, RecursionError) as error:
            raise EventError(
                Words(f"A release event must be JSON: {error}.", "公表イベントが JSON ではありません。")
            ) from error
        if not isinstance(values, dict):
            raise EventError(
                Words("A release event must be a JSON object.", "公表イベントは JSON のオブジェクトです。")
            )
        version = values.get("version")
        if type(version) is not int or version != EVENT_VERSION:
            raise EventError(
                Words(
                    f"This sudare reads release events of version {EVENT_VERSION}. Got version {version!r}.",
                    f"この sudare が扱う公表イベントの版は {EVENT_VERSION} です（記載: {version!r}）。",
                )
            )
        if set(values) != _FIELDS:
            raise EventError(
                Words(
                    f"A release event must have the fields {sorted(_FIELDS)}. "
                    f"Missing: {sorted(_FIELDS - set(values))}; unknown: {sorted(set(values) - _FIELDS)}.",
                    f"公表イベントの項目は {sorted(_FIELDS)} です（不足: {sorted(_FIELDS - set(values))}、"
                    f"不明: {sorted(set(values) - _FIELDS)}）。",
                )
            )
        for name, kind in {"unit": dict, "cost": dict, "measurements": list, "invariants": list}.items():
            if not isinstance(values[name], kind):
                raise EventError(
                    Words(
                        f"The {name!r} of a release event must be a JSON {kind.__name__}.",
                        f"公表イベントの {name!r} は JSON の {kind.__name__} です。",
                    )
                )
        if not all(isinstance(item, dict) for item in values["measurements"]):
            raise EventError(
                Words(
                    "Each measurement of a release event must be a JSON object.",
                    "公表イベントの各測定は JSON のオブジェクトです。",
                )
            )
        return cls(
            mechanism=values["mechanism"],
            unit=Unit.from_dict(values["unit"]),
            cost=Budget.from_dict(values["cost"]),
            measurements=tuple(read_measurement(item, KINDS) for item in values["measurements"]),
            entropy=values["entropy"],
            conversion=values["conversion"],
            invariants=tuple(values["invariants"]),
        )


def _is_tuple_of(items: object, *kinds: type) -> bool:
    return type(items) is tuple and all(type(item) in kinds for item in items)


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return values
