"""The plan of a release that a cluster draws: a TOML file like that of a table of counts, with what executors need."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Words
from sudare.domain import Domain
from sudare.errors import GuaranteeError, ParameterError, PlanError, words_of_error
from sudare.io import Source
from sudare.io.source import SPARK
from sudare.releases.data.domains import ATTRIBUTE_KEYS, read_domain_sections
from sudare.releases.data.sources import TABLE_KEYS, plain_value, read_source_section, source_facts
from sudare.releases.header import HEADER_KEYS, OUTPUT_KEYS, PricedPlan, read_header
from sudare.releases.old_keys import read_plan_values
from sudare.releases.subtrees.cluster_settings import REQUIRED
from sudare.releases.subtrees.plan import PEOPLE_PER_SUBTREE, SubtreePlan
from sudare.sections import Section

__all__ = ["SubtreesPlan", "read_subtrees_plan"]

KEYS = (*HEADER_KEYS, "source", "domain", "method", "executors")
PEOPLE_KEYS = (*TABLE_KEYS, "opt_outs_removed")
METHOD_KEYS = ("name", "noise", "bits", "weights", "layout")
EXECUTOR_KEYS = ("people_per_subtree", "accept_missing")
WRITTEN_KEYS = (*OUTPUT_KEYS, "count")
METHOD = "wide-tree"
ON_SPARK = Words(
    'must be "spark" here: the counts stay on a cluster', 'はここでは "spark" です（度数はクラスターに置かれます）'
)


@dataclass(frozen=True, kw_only=True)
class SubtreesPlan(PricedPlan):
    """What a plan file says.

    Attributes:
        source: the data.
        domain: the cells.
        job: what is released.
        opt_outs_removed: whether people who opted out are not in the data any more.
        accept_missing: names of settings that the cluster may lack.
    """

    source: Source
    domain: Domain
    job: SubtreePlan
    opt_outs_removed: bool
    accept_missing: tuple[str, ...]


def read_subtrees_plan(path: str | Path, folder: str | Path | None = None) -> SubtreesPlan:
    """Read a plan file. Relative paths in it are meant from where it is.

    Args:
        path: the plan.
        folder: where the release goes, in place of what the plan says.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names the key.
    """
    file = Path(path)
    top = Section(read_plan_values(file, "subtrees"), "", file.name, KEYS)
    base = file.resolve().parent
    output = top.section("output", WRITTEN_KEYS)
    header = read_header(
        top,
        file,
        "subtrees",
        folder=None if folder is None else Path(folder).resolve(),
        by_default="release",
        formats=("parquet",),
        output=output,
        is_priced=True,
    )
    count = output.text("count", "count")
    output.finish()
    section = top.section("source", PEOPLE_KEYS)
    opt_outs_removed = section.flag("opt_outs_removed", False)
    source = read_source_section(section, base)
    if source.format != SPARK:
        section.refuse("format", ON_SPARK.english, ON_SPARK.japanese)
    domain = read_domain_sections(top.sections("domain", ATTRIBUTE_KEYS), base, source)
    method = top.section("method", METHOD_KEYS)
    method.choice("name", (METHOD,), METHOD)
    settings = {key: plain_value(value) for key, value in method.rest().items()}
    executors = top.section("executors", EXECUTOR_KEYS)
    people = executors.whole("people_per_subtree") if executors.has("people_per_subtree") else PEOPLE_PER_SUBTREE
    accepted = tuple(executors.items("accept_missing", ()))
    if not set(accepted) <= set(REQUIRED):
        listed = ", ".join(REQUIRED)
        executors.refuse("accept_missing", f"may name {listed}", f"に指定できるのは {listed} です")
    if not 1 <= people <= 2**40:
        executors.refuse(
            "people_per_subtree", "must be a whole number from 1 to 2**40", "は 1 から 2**40 までの整数です"
        )
    executors.finish()
    top.finish()
    if header.price is None or header.ledger is None:
        raise TypeError("a plan of this kind without a price")
    facts = source_facts(source) | {"paths": list(source.paths), "folder": str(header.folder)}
    job = SubtreePlan(
        title=header.title,
        publisher=header.publisher,
        description=header.description,
        source=json.dumps(facts, sort_keys=True, default=str),
        domain=domain,
        budget=header.price.budget,
        unit=header.price.unit,
        dataset=header.ledger.dataset,
        ledger=header.ledger.location,
        folder=header.folder,
        people_per_subtree=people,
        count=count,
        file=file,
        **settings,
    )
    try:
        job.event()
    except ParameterError as error:
        method.refuse_parameter(error.parameter, error)
    except GuaranteeError as error:
        raise PlanError(words_of_error(error)) from None
    return SubtreesPlan(
        header=header, source=source, domain=domain, job=job, opt_outs_removed=opt_outs_removed, accept_missing=accepted
    )
