"""What every method of disclosure control provides; nobody outside this room asks which method it is.

A method is one object without state. What a plan says of it are its settings, a value of the method's own making; what everybody
may know of them stands in ``release.json`` and is what attackers and verifiers go by.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sudare.bilingual import Words

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from sudare.attacks.verdicts import AttackReport
    from sudare.releases.kinds.tables.confidential_document import ConfidentialDocument
    from sudare.releases.kinds.tables.document import TablesDocument
    from sudare.releases.kinds.tables.planning.input_plan import Input
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan
    from sudare.releases.verification import Check
    from sudare.sections import Section

__all__ = ["DisclosureMethod", "MethodWords", "TableDraft"]

SettingsT = TypeVar("SettingsT")
DataT = TypeVar("DataT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class MethodWords:
    """What a method is called and what it does, in plain words for readers of a report.

    Blanks of all but the name are filled with the public settings.

    Attributes:
        name: what people call it.
        protects: what it protects.
        keeps: what stays as it is.
        limits: what it does not do.
    """

    name: Words
    protects: Words
    keeps: Words
    limits: Words


@dataclass(frozen=True, kw_only=True, eq=False)
class TableDraft:
    """Tables that are written, and their description.

    Attributes:
        document: what ``release.json`` says, without the attacks.
        confidential: what only the holder gets, without the attacks.
    """

    document: TablesDocument
    confidential: ConfidentialDocument


class DisclosureMethod(ABC, Generic[SettingsT, DataT, ResultT]):
    """A method, in the order in which it is used: its plan, its data, its folder, its readers.

    Attributes:
        name: in plans, as ``method = "..."``, and in reports.
        keys: what the section ``[protection]`` may say besides its name.
        words: what it does.
        attack_words: every attack that may apply, by name, and what it does.
        is_of_meshes: whether it protects meshes; otherwise tables of cells.
        shows_true_values: whether values are published as they are or not at all; otherwise they are changed.
        formats: that it can be written in besides CSV.
        confidential_names: files that it keeps for the holder besides those that every folder has.
    """

    name: str
    keys: tuple[str, ...] = ()
    words: MethodWords
    attack_words: Mapping[str, Words]
    is_of_meshes: bool = False
    shows_true_values: bool = False
    formats: tuple[str, ...] = ()
    confidential_names: tuple[str, ...] = ()

    @abstractmethod
    def read_settings(self, section: Section, base: Path) -> SettingsT:
        """Read the keys of ``[protection]``. No data is looked at.

        Args:
            section: of the plan.
            base: the folder that files are meant from.

        Raises:
            PlanError: if it says what cannot be.
        """

    def require_source(self, source: Input, section: Section) -> None:
        """Refuse a source that the method cannot protect; nothing to say against any by default.

        Args:
            source: what the plan reads.
            section: ``[protection]``, to refuse with.

        Raises:
            PlanError: if the two do not go together.
        """

    def prepare(self, settings: SettingsT) -> None:
        """Notice what is missing before anything is read; nothing by default.

        Raises:
            InputError: if a file that the settings name is not there.
        """

    @abstractmethod
    def read_data(self, plan: TablePlan) -> DataT:
        """Read the data, and judge it by the rules of the plan.

        Raises:
            InputError: if it is not what the plan says.
        """

    @abstractmethod
    def protect(self, plan: TablePlan, settings: SettingsT, data: DataT) -> ResultT:
        """Decide what is shown.

        Raises:
            InputError: if protection is impossible.
        """

    @abstractmethod
    def public_settings(self, plan: TablePlan, settings: SettingsT, result: ResultT) -> DataclassInstance:
        """What everybody may know of the settings, as a frozen dataclass whose fields go through JSON.

        An attacker is supposed to know them.
        """

    def words_for(self, settings: SettingsT) -> MethodWords:
        """What it does with these settings; the same for all by default."""
        return self.words

    @abstractmethod
    def write(self, plan: TablePlan, settings: SettingsT, result: ResultT, folder: Path) -> TableDraft:
        """Write what everybody gets and what the holder gets besides, and return its description."""

    @abstractmethod
    def attack(self, folder: Path, document: Mapping[str, Any], earlier: Sequence[Path]) -> tuple[AttackReport, ...]:
        """Attack a folder from its public files; see `sudare.releases.kinds.tables.attacking.folder_attacks.attack_folder`."""

    @abstractmethod
    def check_published(self, folder: Path, document: Mapping[str, Any]) -> tuple[str, str]:
        """Check that the published files are whole and keep what the method promises.

        Returns:
            What was found, in English and Japanese.

        Raises:
            UnsoundError: if they do not.
            InputError: if they are not what the report describes.
        """

    def further_checks(self, folder: Path, document: Mapping[str, Any]) -> tuple[Check, ...]:
        """What else a verifier can check, such as a proof; nothing by default."""
        return ()
