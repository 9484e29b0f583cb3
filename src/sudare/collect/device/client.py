"""What runs on a person's device: one value in, one report out, and nothing but the standard library.

A device gets the specification that `sudare.collect.questionnaires.reports.specification` wrote. Its ``drawing`` holds whole
numbers only, so that no float decides anything, and the words are those of the operating system. The device can compute by
itself what a report costs, and refuses a specification that costs more than its owner allows.

To teach devices a new rule, add a class to `RULES`; randomizers name the rule in their `drawing`. Any randomizer with a matrix of
whole-number weights needs no new one: ``{"rule": "rows", "weights": ..., "reports": ...}`` serves them all.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sudare.bilingual import Words
from sudare.collect.device.numbers import GridPoints, LineRule, NoiseRule, WindowRule
from sudare.collect.device.rules import (
    WORD_BITS,
    BitsRule,
    CategoryDomain,
    DeviceRule,
    HashRule,
    Labels,
    NextWord,
    Plain,
    RowsRule,
    UniformRule,
)
from sudare.errors import Described, GuaranteeError, InputError, ParameterError
from sudare.parameters import Rational, exact_fraction
from sudare.storage.guarded_json import parse_json

__all__ = ["REPORT_VERSION", "RULES", "Client", "fingerprint_of", "read_specification", "report_line"]

REPORT_VERSION = 1
ADDED = ("drawing", "fingerprint")
"""What a specification for devices has beyond the randomizer itself."""

Value = str | int | float | bool
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

RULES: dict[str, type[DeviceRule]] = {
    "bits": BitsRule,
    "hash": HashRule,
    "line": LineRule,
    "noise": NoiseRule,
    "rows": RowsRule,
    "uniform": UniformRule,
    "window": WindowRule,
}
"""All rules there are, by the name that a drawing gives."""


class Client:
    """Makes reports on a person's device.

    Args:
        specification: what `sudare.collect.questionnaires.reports.specification` wrote, as a dictionary or as JSON.
        epsilon_at_most: the most that a report may cost, if the device's owner sets a limit.
        accept_without_epsilon: whether a drawing without a finite epsilon is taken, such as normal noise without bounds.
        next_word: gives uniform 64-bit words; the operating system's by default. Others are for tests.

    Raises:
        InputError: if the specification is damaged, of another version, or of a kind that devices do not know.
        GuaranteeError: if a report would cost more than the owner allows, or has no finite epsilon.

    Example:
        >>> from sudare.collect import KaryResponse, specification
        >>> from sudare.collect.device.client import Client
        >>> client = Client(specification(KaryResponse(("yes", "no"), 1)), epsilon_at_most=1)
        >>> client.randomize("yes") in ("yes", "no")
        True
    """

    def __init__(
        self,
        specification: Mapping[str, Any] | str,
        *,
        epsilon_at_most: Rational | None = None,
        accept_without_epsilon: bool = False,
        next_word: NextWord | None = None,
    ) -> None:
        told = read_specification(specification)
        drawing = told.get("drawing")
        rule = RULES.get(drawing.get("rule", "")) if isinstance(drawing, Mapping) else None
        if rule is None:
            raise InputError(
                "This specification has no drawing that devices know. Write it with sudare.collect.specification.",
                "この仕様には、端末が使える抽選規則がありません。sudare.collect.specification で書き出してください。",
            )
        try:
            self._domain: CategoryDomain = GridPoints(told["grid"]) if "grid" in told else Labels(list(told["labels"]))
            self._rule = rule(told["drawing"], self._domain)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise InputError(
                "The drawing of this specification is damaged. Write it again with sudare.collect.specification.",
                "この仕様の抽選規則が壊れています。sudare.collect.specification で書き出し直してください。",
            ) from None
        self._fingerprint = fingerprint_of(told)
        self._next_word: NextWord = next_word or _secret_word
        # A drawing by which reports could tell everything is refused, unless the owner says otherwise.
        epsilon = None if accept_without_epsilon and epsilon_at_most is None else self.epsilon()
        if epsilon_at_most is not None and epsilon is not None:
            limit = exact_fraction(
                epsilon_at_most, "epsilon_at_most", "Client", Words("a number above 0", "0 より大きい数")
            )
            if epsilon > limit:
                raise GuaranteeError(
                    Words(
                        f"A report would cost more than an epsilon of {float(limit):g}, which is the limit.",
                        f"1 件の報告の費用が、上限の epsilon = {float(limit):g} を超えます。",
                    )
                )

    def fingerprint(self) -> str:
        """Of the randomizer, as its reports carry it."""
        return self._fingerprint

    @property
    def is_private(self) -> bool:
        """Whether reports are drawn from the operating system's words, and not from a test's."""
        return self._next_word is _secret_word

    def epsilon(self) -> Fraction:
        """What a report costs, computed from the very numbers by which it is drawn; exact, or rounded up.

        Raises:
            GuaranteeError: if some reports rule out some values.
        """
        epsilon = self._rule.epsilon()
        if epsilon is None:
            raise GuaranteeError(
                Words(
                    "Reports can tell values apart without bound, so no epsilon holds.",
                    "報告から値を際限なく見分けられるため、どの epsilon も成り立ちません。",
                )
            )
        return epsilon

    def randomize(self, value: Value) -> Plain:
        """The report for a value, as JSON writes it. Asking again gives away more: see `sudare.collect.device.memory`.

        Raises:
            ParameterError: if the value is not one of the labels, or not a number within the grid.
        """
        place = self._domain.place(value)
        if place is None:
            raise ParameterError("value", "Client.randomize", self._domain.requirement, Described("something else"))
        return self._rule.draw(place, self._next_word)

    def point_of(self, value: Any) -> Plain:
        """What a value means: a label itself, a number as the place of its point of the grid.

        Raises:
            ParameterError: if it is neither.
        """
        place = self._domain.place(value)
        if place is None:
            raise ParameterError("value", "Client.point_of", self._domain.requirement, Described("something else"))
        return self._domain.point(place)

    def report(self, value: Value) -> str:
        """The line to send: version, fingerprint and report."""
        return report_line(self._fingerprint, self.randomize(value))


def report_line(fingerprint: str, report: Plain) -> str:
    """How a single report is sent or kept.

    Args:
        fingerprint: of the randomizer.
        report: of one person.
    """
    return f'{{"sudare":{REPORT_VERSION},"randomizer":"{fingerprint}","report":{_ENCODER.encode(report)}}}'


def fingerprint_of(specification: Mapping[str, Any]) -> str:
    """Sixteen hexadecimal digits that tell a randomizer from others, as `Randomizer.fingerprint` gives them."""
    own = {key: value for key, value in specification.items() if key != "fingerprint"}
    return hashlib.sha256(json.dumps(own, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:16]


def read_specification(specification: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """A specification whose version and fingerprint are right.

    Raises:
        InputError: if it is damaged, or of another version.
    """
    try:
        told = parse_json(specification, lenient=True) if isinstance(specification, str) else specification
    except ValueError:
        told = None
    if not isinstance(told, Mapping) or "kind" not in told:
        raise InputError(
            "This is not the specification of a randomizer: a dictionary, or JSON, with version, kind and parameters.",
            "ランダム化器の仕様ではありません。version・kind・パラメータを持つ辞書または JSON を指定してください。",
        )
    if told.get("version") != REPORT_VERSION:
        raise InputError(
            f"This specification is of another version; version {REPORT_VERSION} is needed. Update sudare on both sides.",
            f"この仕様はバージョンが異なります。バージョン {REPORT_VERSION} が必要です。双方の sudare を揃えてください。",
        )
    try:
        own = fingerprint_of(told)
    except (ValueError, RecursionError):  # numbers of thousands of digits, or a dictionary without end
        own = ""
    if not own or told.get("fingerprint", own) != own:
        raise InputError(
            "This specification was changed: its fingerprint does not fit. Ask for it again.",
            "この仕様は書き換えられています（フィンガープリントが一致しません）。もう一度入手してください。",
        )
    return told


def _secret_word() -> int:
    return secrets.randbits(WORD_BITS)
