"""Pseudonyms of many identifiers at once, for one recipient, one kind of identifier and one epoch.

Two methods. A keyed hash needs nothing but the key: the same identifier has the same pseudonym in every file, and collisions are
bounded by the length. A random table keeps what it drew in a `Mapping`: no collisions at any length.

What both protect, and what they do not: ``pseudonyms.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.microdata.pseudonyms.hashing import HASHES, KeyedHash
from sudare.microdata.pseudonyms.identifiers import (
    canonical_texts,
    first_missing,
    missing_identifier,
    read_normalizations,
)
from sudare.microdata.pseudonyms.keys import SecretKey, read_name
from sudare.microdata.pseudonyms.mapping import Mapping, Scope
from sudare.microdata.pseudonyms.notation import EVERYBODY, TextForm
from sudare.noise import uniform_below
from sudare.parameters import exact_integer, shown

__all__ = ["METHODS", "Design", "Pseudonymizer"]

METHODS = ("keyed", "table")
VALUES_A_PERSON = 10_000
"""So many values of the column ``per`` a person is taken to have at most, where lengths are weighed."""

MISSING = ("refuse", "keep")


@dataclass(frozen=True)
class Design:
    """All that decides which pseudonym somebody gets, besides the key. Nothing in it is secret.

    Attributes:
        recipient: who gets the pseudonyms; two recipients cannot compare theirs.
        kind: of identifier, such as ``"patient"``; the same number of another kind is another person.
        epoch: of the key.
        method: ``"keyed"`` or ``"table"``.
        hash: ``"blake2b"`` or ``"hmac-sha256"``, for the keyed method.
        form: how pseudonyms are written; 32 hexadecimal digits are enough for 8 * 10**14 of them.
        normalize: what is done to identifiers before.
        several: how many pseudonyms each person has, of which each row takes one at random; 1 for one.
        per: the column whose values give a person different pseudonyms, such as a visit; None for none. For the length of
            keyed pseudonyms a person is taken to have up to 10,000 values; state more people where there may be more.
    """

    recipient: str
    kind: str
    epoch: int
    method: str = "keyed"
    hash: str = "blake2b"
    form: TextForm = TextForm("hex", 32)  # noqa: RUF009 - it is frozen
    normalize: tuple[str, ...] = ()
    several: int = 1
    per: str | None = None

    def __post_init__(self) -> None:
        """Check every field."""
        read_name(self.recipient, "recipient", "pseudonymize")
        read_name(self.kind, "kind", "pseudonymize")
        exact_integer(self.epoch, "epoch", "pseudonymize", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
        for name, value, allowed in (("method", self.method, METHODS), ("hash", self.hash, HASHES)):
            if value not in allowed:
                raise ParameterError(
                    name,
                    "pseudonymize",
                    Words(f"one of {', '.join(allowed)}", f"{', '.join(allowed)} のいずれか"),
                    shown(value),
                )
        read_normalizations(self.normalize)
        requirement = Words("a whole number from 1 to 10,000", "1 以上 10,000 以下の整数")
        exact_integer(self.several, "several", "pseudonymize", requirement, smallest=1, largest=10_000)
        if self.several > 1 and self.per is not None:
            raise ParameterError(
                "several",
                "pseudonymize",
                Words("1 where a column is named by per", "per を指定するときは 1"),
                self.several,
            )

    @property
    def most_a_person(self) -> int:
        """How many pseudonyms a person is taken to have at most."""
        return self.several if self.per is None else VALUES_A_PERSON

    @property
    def scope(self) -> Scope:
        """Where its pseudonyms stand in a mapping."""
        return Scope(self.recipient, self.kind, self.epoch, self.several > 1 or self.per is not None)

    def to_dict(self) -> dict[str, object]:
        """As it stands in the register."""
        return {**vars(self), "form": self.form.name, "length": self.form.length, "normalize": list(self.normalize)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Design:
        """Back from `to_dict`."""
        rest = {name: value for name, value in values.items() if name not in ("form", "length", "normalize")}
        return cls(**rest, form=TextForm(values["form"], values["length"]), normalize=tuple(values["normalize"]))


class Pseudonymizer:
    """Replaces identifiers by pseudonyms.

    Args:
        key: the secret key.
        design: whom for and how; see `Design`.
        mapping: the random table, for the method ``"table"``.
        people: how many people there may be; keyed pseudonyms must be so long that the chance of any collision among all
            pseudonyms of all of them (`Design.most_a_person` each) is below 1e-9.
        missing: ``"refuse"`` missing identifiers, or ``"keep"`` them missing.
        threads: how many to use; all processors if left out.

    Raises:
        ParameterError: if the pseudonyms are too short for that many people, or a mapping is missing or not needed.
        InputError: if the key does not have the epoch any more.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.pseudonyms import Design, Pseudonymizer, new_key
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     key = new_key(Path(folder) / "study.key")
        >>> hospital = Pseudonymizer(key, Design("university", "patient", key.epoch))
        >>> insurer = Pseudonymizer(key, Design("insurer", "patient", key.epoch))
        >>> texts = hospital.pseudonyms(["17", "18", "17"]).to_pylist()
        >>> texts[0] == texts[2] != texts[1], len(texts[0]), texts[0] in insurer.pseudonyms(["17", "18"]).to_pylist()
        (True, 32, False)
    """

    def __init__(
        self,
        key: SecretKey,
        design: Design,
        *,
        mapping: Mapping | None = None,
        people: int = EVERYBODY,
        missing: str = "refuse",
        threads: int | None = None,
    ) -> None:
        if missing not in MISSING:
            raise ParameterError(
                "missing",
                "Pseudonymizer",
                Words(f"one of {', '.join(MISSING)}", f"{', '.join(MISSING)} のいずれか"),
                shown(missing),
            )
        if (mapping is not None) != (design.method == "table"):
            requirement = Words(
                "a Mapping for the method 'table', and left out for the other",
                "方法 'table' では対応表、ほかの方法では省略",
            )
            raise ParameterError("mapping", "Pseudonymizer", requirement, shown(mapping))
        self.design, self._mapping, self._missing = design, mapping, missing
        if design.method == "keyed":
            design.form.require_room(people * design.most_a_person)
        use = (
            "pseudonyms",
            design.recipient,
            design.kind,
            "several" if design.scope.is_indexed else "one",
            design.hash,
        )
        # The table needs no subkey of the epoch, but is refused an epoch that was destroyed all the same.
        self._hash = KeyedHash(key.subkey_of_epoch(design.epoch, *use), design.hash, threads)

    def pseudonyms(self, values: Any, per: Any = None, *, column: str = "values") -> Any:
        """The pseudonym of each identifier, as an Arrow array of texts.

        Args:
            values: texts or whole numbers: an Arrow or NumPy array, or a sequence.
            per: as many texts or numbers, where the design names a column: each gives another pseudonym.
            column: what to call the values in an error.

        Raises:
            InputError: if an identifier is missing and such are refused, or is neither text nor whole number.
        """
        texts = self.identifiers(values, column=column)
        if self._missing == "refuse" and texts.null_count:
            raise missing_identifier(column, None, int(first_missing(texts) or 0) + 1)
        return self.of_identifiers(texts, per)

    def identifiers(self, values: Any, *, column: str = "values") -> Any:
        """The canonical texts of identifiers."""
        return canonical_texts(values, self.design.normalize, column=column)

    def of_identifiers(self, texts: Any, per: Any = None, *, choice: int | None = None) -> Any:
        """The pseudonyms of canonical texts; of several the one of a number, or a random one each."""
        if (per is None) != (self.design.per is None):
            raise ParameterError(
                "per", "pseudonyms", "given if and only if the design names a column for it", shown(per)
            )
        indexes = None
        if self.design.per is not None:
            indexes = _index_texts(per, self.design.per, len(texts))
        elif self.design.several > 1:
            places = uniform_below(self.design.several, len(texts))
            indexes = _numbers(places if choice is None else np.full(len(texts), choice, dtype=np.uint64))
        messages = texts if indexes is None else _indexed(texts, indexes)
        if self._mapping is None:
            return self._hash.texts(messages, self.design.form)
        return self._from_table(messages)

    def _from_table(self, messages: Any) -> Any:
        import pyarrow as pa

        if self._mapping is None:
            raise ParameterError("mapping", "Pseudonymizer", "a Mapping", None)
        coded = messages.dictionary_encode()
        found = self._mapping.pseudonyms(self.design.scope, coded.dictionary.to_pylist(), self.design.form)
        return pa.array(found, pa.string()).take(coded.indices)

    def all_of(self, person: str, per: Any = None) -> list[str]:
        """Every pseudonym that a person may have, for the given values of the column ``per`` if the design names one.

        From a table only those that were given already.

        Args:
            person: the canonical text, as `identifiers` gives it.
            per: values of that column.
        """
        import pyarrow as pa

        texts = pa.array([person], pa.large_string())
        if self.design.per is not None:
            indexes = _index_texts(per, self.design.per, len(per))
        else:
            indexes = _numbers(np.arange(self.design.several, dtype=np.uint64))
        repeated = texts.take(np.zeros(len(indexes), dtype=np.int64))
        messages = _indexed(repeated, indexes) if self.design.scope.is_indexed else repeated
        if self._mapping is None:
            return [str(text) for text in self._hash.texts(messages, self.design.form).to_pylist()]
        found = self._mapping.known(self.design.scope, messages.to_pylist())
        return [text for text in found if text is not None]


def _numbers(places: Any) -> Any:
    import pyarrow as pa

    return pa.array(places).cast(pa.large_string())


def _index_texts(per: Any, column: str, rows: int) -> Any:
    import pyarrow.compute as pc

    indexes = canonical_texts(per, (), column=column)
    if len(indexes) != rows:
        raise ParameterError("per", "pseudonyms", "as long as the identifiers", len(indexes))
    # An empty field is a value like any other here: those rows of a person share a pseudonym.
    return pc.fill_null(indexes, "")


def _indexed(texts: Any, indexes: Any) -> Any:
    """Identifier and index as one message that no other pair gives: the index's length, the index, the identifier."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.cast(pc.binary_length(indexes), pa.large_string())
    colon, nothing = (pa.scalar(text, pa.large_string()) for text in (":", ""))
    return pc.binary_join_element_wise(lengths, colon, indexes, texts, nothing)


def require_table(design: Design, mapping: object) -> None:
    """Refuse a table method without a table, in the words of the command."""
    if design.method == "table" and mapping is None:
        raise InputError(
            "The method 'table' needs a mapping: make one with `sudare pseudonymize new-mapping` and give it by --mapping.",
            "方法 'table' には対応表が必要です。`sudare pseudonymize new-mapping` で作り、--mapping で指定してください。",
        )
