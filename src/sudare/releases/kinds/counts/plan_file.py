"""The plan of a release: a TOML file that says what is published, about whom, at what cost and where to.

Everything in it is public or the office's own decision; reading it looks at no data and spends nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from sudare.bilingual import Words
from sudare.domain import Domain, Mesh, MeshList
from sudare.errors import ParameterError, PlanError, SudareError, words_of_error
from sudare.io import Source
from sudare.io.engine import MEMORY
from sudare.releases.data.domains import ATTRIBUTE_KEYS, describe_domain, read_domain_sections
from sudare.releases.data.public_files import require_other_files, require_public
from sudare.releases.data.sources import TABLE_KEYS, plain_value, read_source_section, source_facts
from sudare.releases.header import (
    HEADER_KEYS,
    OUTPUT_KEYS,
    UNIT_KEYS,
    PricedPlan,
    read_header,
)
from sudare.releases.kinds.counts.method_settings import require_settings, require_usable
from sudare.releases.kinds.counts.plan_workload import read_own_workload, read_workload_key, workload_facts
from sudare.releases.old_keys import read_plan_values
from sudare.sections import Section
from sudare.tables import Plan, plan_table
from sudare.tables.mechanism import PlannedCall
from sudare.tables.planning.request import read_request
from sudare.tables.planning.workload import Workload
from sudare.tables.registry import AUTO, find_mechanism, mechanism_names

__all__ = [
    "OUTPUT_FORMATS",
    "Reference",
    "ReleasePlan",
    "read_plan",
]

Result = TypeVar("Result")

KEYS = (*HEADER_KEYS, "source", "domain", "method", "reference", "reading", "prediction")
PEOPLE_KEYS = (*TABLE_KEYS, "opt_outs_removed")
REFERENCE_KEYS = ("name", "public", *TABLE_KEYS)
METHOD_KEYS = ("name", "workload", "public_total")
WRITTEN_KEYS = (*OUTPUT_KEYS, "count", "measurements")
READING_KEYS = ("memory",)
PREDICTION_KEYS = ("people",)
"""What each section may have. Whatever else stands in [method] is a setting of the mechanism."""

OUTPUT_FORMATS = ("parquet", "csv", "arrow", "geoparquet", "geotiff")


@dataclass(frozen=True)
class Reference:
    """A table that is public already, as the author of the plan declares.

    Attributes:
        name: what the report calls it.
        source: where it is.
    """

    name: str
    source: Source


@dataclass(frozen=True, kw_only=True)
class ReleasePlan(PricedPlan):
    """What a plan file says.

    Attributes:
        source: the data.
        domain: the cells, which are public.
        method: ``"auto"`` or the name of a mechanism.
        workload: which areas matter, for ``"auto"``.
        public_total: whether the total is published exactly.
        settings: of the mechanism.
        reference: a public table that makes the result more accurate.
        count: what the column of published counts is called.
        measurements: whether the noisy measurements are published too.
        memory: how much memory reading may take.
        opt_outs_removed: whether people who opted out are not in the data any more.
        says_rows: whether the plan states that rows are people, or counts.
        people: about how many people the table will have, where that is public; for predictions alone.
    """

    source: Source
    domain: Domain
    method: str
    workload: Workload
    public_total: bool
    settings: Mapping[str, Any]
    reference: Reference | None
    count: str
    measurements: bool
    memory: str
    opt_outs_removed: bool
    says_rows: bool
    people: int | None

    @cached_property
    def predicted(self) -> Plan | None:
        """What ``"auto"`` chooses; None where a mechanism is named. Made when first asked for: reading a plan plans nothing.

        Raises:
            PlanError: if no plan can be made of what the file says; the message names the key.
        """
        if self.method != AUTO:
            return None
        with _said_of(Section({}, "method", self.file.name, METHOD_KEYS)):
            predicted = _ask(plan_table, self)
        return predicted if self.people is None else predicted.for_people(self.people)

    def fingerprint(self, reference_hash: str = "", last_opt_out: int = 0) -> str:
        """The same for plans that ask for the same table, from the same files, at the same cost, in the same folder."""
        facts = {
            "folder": str(self.folder),
            "paths": list(self.source.paths),
            "last_opt_out": last_opt_out if self.source.person is not None else 0,
            "reference": reference_hash,
            "domain": describe_domain(self.domain),
            "unit": self.unit.to_dict(),
            "budget": self.budget.to_dict(),
            "source": source_facts(self.source),
            "method": self.method,
            "workload": workload_facts(self.workload),
            "public_total": self.public_total,
            "settings": {key: str(value) for key, value in sorted(self.settings.items())},
            "measurements": self.measurements,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def read_plan(path: str | Path, folder: str | Path | None = None) -> ReleasePlan:
    """Read a plan file. Relative paths in it are meant from where it is.

    Args:
        path: the plan.
        folder: where the release goes, in place of what the plan says.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names the key.

    Example:
        >>> from sudare.releases.kinds.counts import read_plan
        >>> read_plan("nowhere.toml")
        Traceback (most recent call last):
        ...
        sudare.errors.PlanError: There is no plan 'nowhere.toml'. `sudare init` writes one to start from.
    """
    file = Path(path)
    top = Section(read_plan_values(file, "counts"), "", file.name, KEYS)
    base = file.resolve().parent
    method = top.section("method", METHOD_KEYS)
    public_total = method.flag("public_total", False)
    output = top.section("output", WRITTEN_KEYS)
    header = read_header(
        top,
        file,
        "counts",
        folder=None if folder is None else Path(folder).resolve(),
        by_default="release",
        formats=OUTPUT_FORMATS,
        output=output,
        is_priced=True,
        adjacency="replace" if public_total else "add-remove",
    )
    source_section = top.section("source", PEOPLE_KEYS)
    is_stated = source_section.has("rows")
    opt_outs_removed = source_section.flag("opt_outs_removed", False)
    source = read_source_section(source_section, base)
    domain = read_domain_sections(top.sections("domain", ATTRIBUTE_KEYS), base, source)
    name = method.choice("name", (AUTO, *mechanism_names()), AUTO)
    mechanism = find_mechanism(name)
    own: dict[str, object] = {}
    if mechanism is not None and mechanism.workloads and method.has("workload"):
        own["workload"] = read_own_workload(method, mechanism.workloads)
    workload = None if own else read_workload_key(method, domain)
    settings = {key: plain_value(value) for key, value in method.rest().items()} | own
    reference = None
    if top.has("reference"):
        reference = _read_reference(top.section("reference", REFERENCE_KEYS), base, source)
    count = _read_count(output, domain, header.formats)
    measurements = output.flag("measurements", False)
    output.finish()
    reading = top.section("reading", READING_KEYS)
    memory = reading.text("memory", "1GB")
    if not MEMORY.fullmatch(memory):
        reading.refuse("memory", 'must be a size such as "500MB" or "4GB"', 'は "500MB" や "4GB" のような大きさです')
    reading.finish()
    people = _read_people(top.section("prediction", PREDICTION_KEYS))
    top.finish()
    plan = ReleasePlan(
        header=header,
        source=source,
        domain=domain,
        method=name,
        workload=workload,
        public_total=public_total,
        settings=MappingProxyType(settings),
        reference=reference,
        count=count,
        measurements=measurements,
        memory=memory,
        opt_outs_removed=opt_outs_removed,
        says_rows=is_stated,
        people=people,
    )
    if public_total:
        _require_fixed_total(method, Section({}, "unit", file.name, UNIT_KEYS), plan)
    if mechanism is None:
        _require_planned(method, settings)
        with _said_of(method):
            _ask(read_request, plan)
        return plan
    call = PlannedCall(
        domain=domain,
        budget=plan.budget,
        unit=plan.unit,
        settings=settings,
        public_total=public_total,
        has_reference=reference is not None,
    )
    require_settings(method, mechanism, call, workload)
    require_usable(method, mechanism, call)
    return plan


def _read_reference(section: Section, base: Path, protected: Source) -> Reference:
    name = section.text("name")
    require_public(section, Words("this table", "この表"))
    source = read_source_section(section, base)
    require_other_files(section, "path" if source.paths else "query", source, protected)
    return Reference(name, source)


def _read_count(output: Section, domain: Domain, formats: tuple[str, ...]) -> str:
    """What the column of counts is called; refuses formats that do not hold such a table."""
    is_map = any(isinstance(attribute, (Mesh, MeshList)) for attribute in domain.attributes)
    is_only_map = is_map and len(domain.attributes) == 1
    if ("geotiff" in formats and not is_only_map) or ("geoparquet" in formats and not is_map):
        output.refuse(
            "formats",
            "may have geotiff only for a single mesh attribute, and geoparquet only with a mesh attribute",
            "の geotiff はメッシュ属性だけの表、geoparquet はメッシュ属性を含む表でのみ使えます",
        )
    count = output.text("count", "population" if is_map else "count")
    if count in {attribute.name for attribute in domain.attributes}:
        output.refuse("count", "is the name of an attribute already", "は属性の名前と重複しています")
    return count


def _read_people(section: Section) -> int | None:
    people = section.whole("people") if section.has("people") else None
    section.finish()
    if people is not None and not 1 <= people <= 2**40:
        section.refuse("people", "must be a whole number from 1 to 2**40", "は 1 から 2**40 までの整数です")
    return people


def _require_planned(section: Section, settings: Mapping[str, Any]) -> None:
    """Refuse settings where the plan decides."""
    unknown = sorted(set(settings) - {"noise", "conversion"})
    if unknown:
        section.refuse(
            unknown[0],
            'is not a key here; where the plan decides (name = "auto"), only workload, public_total, noise and conversion are',
            'は使えません。name = "auto" では workload, public_total, noise, conversion のみです',
        )


def _ask(plan_or_read: Callable[..., Result], plan: ReleasePlan) -> Result:
    """What `plan_table`, or one that takes the same, makes of what a plan asks for."""
    return plan_or_read(
        plan.domain,
        plan.budget,
        unit=plan.unit,
        workload=plan.workload,
        public_total=plan.public_total,
        with_reference=plan.reference is not None,
        **plan.settings,
    )


@contextmanager
def _said_of(section: Section) -> Iterator[None]:
    """Turn an error about a parameter into one about a key of the plan."""
    try:
        yield
    except ParameterError as error:
        section.refuse_parameter(error.parameter, error)
    except SudareError as error:
        raise PlanError(words_of_error(error)) from None


def _require_fixed_total(method: Section, unit: Section, plan: ReleasePlan) -> None:
    """A public total is an invariant only if nobody who is replaced by another can change it."""
    if plan.unit.adjacency != "replace":
        unit.refuse(
            "adjacency",
            'must be "replace" where the total is public: adding a person would change it',
            'は合計を公開する場合 "replace" です（人を加えると合計が変わるため）',
        )
    if plan.source.where or plan.source.outside != "refuse" or plan.unit.rows > 1:
        method.refuse(
            "public_total",
            'is possible only where everybody is counted exactly once: without where, without outside = "leave out", and '
            "with one row a person. Else the exact total tells whether one person is in",
            'は全員がちょうど1回数えられる場合だけ使えます（where と outside = "leave out" なし、1人1行）。'
            "そうでなければ、正確な合計から個人の有無が分かってしまいます",
        )
