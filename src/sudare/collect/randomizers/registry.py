"""All randomizers: which there are, by what name a specification or a questionnaire calls each, and where its class is.

A class is loaded when one of its names turns up: a program that needs categories does not load the noise of numbers. A new
randomizer is a class (`sudare.collect.randomizers.randomizer.Randomizer`) and one `RegisteredRandomizer`; nothing else knows it
by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from sudare.collect.randomizers.randomizer import Randomizer

__all__ = [
    "RegisteredRandomizer",
    "find_kind",
    "find_method",
    "question_methods",
    "register_randomizer",
    "registered_randomizers",
]


@dataclass(frozen=True, kw_only=True)
class RegisteredRandomizer:
    """What is known of a randomizer before it is loaded.

    Attributes:
        kind: its name in specifications.
        module: that has its class.
        name: of the class.
        methods: its names in questionnaires, each with keys of its own: see `Randomizer.question_keys`.
    """

    kind: str
    module: str
    name: str
    methods: tuple[str, ...]

    def load(self) -> type[Randomizer]:
        """The class."""
        found: type[Randomizer] = getattr(import_module(self.module), self.name)
        return found


def _own(kind: str, module: str, name: str, *methods: str) -> RegisteredRandomizer:
    return RegisteredRandomizer(kind=kind, module=f"sudare.collect.{module}", name=name, methods=methods or (kind,))


_REGISTERED: dict[str, RegisteredRandomizer] = {
    one.kind: one
    for one in (
        _own("retention", "randomizers.categories", "Retention", "warner", "retention"),
        _own("kary-response", "randomizers.categories", "KaryResponse", "binary-response", "kary-response"),
        _own("matrix-response", "randomizers.categories", "MatrixResponse"),
        _own("unary-response", "randomizers.unary", "UnaryResponse"),
        _own("local-hashing", "randomizers.hashing", "LocalHashing"),
        _own("bounded-noise", "randomizers.noisy_numbers", "BoundedNoise"),
        _own("unbounded-noise", "randomizers.noisy_numbers", "UnboundedNoise"),
        _own("one-bit", "randomizers.means", "OneBit"),
        _own("piecewise", "randomizers.means", "Piecewise"),
        _own("rappor", "rappor.rappor", "Rappor"),
    )
}


def registered_randomizers() -> tuple[RegisteredRandomizer, ...]:
    """All randomizers, in the order in which they are shown."""
    return tuple(_REGISTERED.values())


def register_randomizer(registration: RegisteredRandomizer) -> None:
    """Make a randomizer known. Repeating it changes nothing.

    Raises:
        ValueError: if another one has its kind, or one of its methods.
    """
    for known in _REGISTERED.values():
        is_taken = known.kind == registration.kind or set(known.methods) & set(registration.methods)
        if is_taken and known != registration:
            raise ValueError(f"the kind or a method of {registration.kind!r} is taken by {known.kind!r}")
    _REGISTERED[registration.kind] = registration


def find_kind(kind: object) -> type[Randomizer] | None:
    """The randomizer that specifications call so; None if there is none."""
    found = _REGISTERED.get(kind) if isinstance(kind, str) else None
    return None if found is None else found.load()


def question_methods() -> tuple[str, ...]:
    """All names that a questionnaire may give to a method."""
    return tuple(method for one in _REGISTERED.values() for method in one.methods)


def find_method(method: str) -> type[Randomizer]:
    """The randomizer that questionnaires call so.

    Raises:
        KeyError: if there is none.
    """
    for one in _REGISTERED.values():
        if method in one.methods:
            return one.load()
    raise KeyError(method)
