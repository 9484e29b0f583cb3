"""Carrying out the steps of a plan on records in memory, and what is to be said of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import ceil
from typing import cast

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.microaggregation import microaggregate
from sudare.microdata.perturb.noisy_values import add_noise_to_numbers
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.perturb.pram import randomize_values
from sudare.microdata.perturb.sampled_k_anonymity import PROTECTS as SAMPLED_PROTECTS
from sudare.microdata.perturb.sampled_k_anonymity import choose_levels, sampled_groups
from sudare.microdata.perturb.sampling import sample_by_coins, sample_of_size, sample_of_strata
from sudare.microdata.perturb.swapping import swap_randomly, swap_ranks, swap_risky
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.search.anonymizing import Anonymized, anonymize
from sudare.microdata.search.pinned_levels import pinned_columns, pinned_hierarchies, with_pins
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.privacy.sampled_measurements import SampledGroupsMeasurement, changed_records
from sudare.releases.kinds.records.measuring import rest_of_population
from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of
from sudare.releases.kinds.records.planning.plan_file import PeoplePlan
from sudare.releases.kinds.records.planning.step_plan import (
    Anonymize,
    Microaggregate,
    Noise,
    Pram,
    SampledGroups,
    SampleStep,
    Step,
    Swap,
    Synthesize,
)

__all__ = [
    "CLASSES_KEEP",
    "CLASSES_PROTECT",
    "Done",
    "build_hierarchies",
    "pinned_levels",
    "run_private_step",
    "run_step",
    "without_local_claim",
]

CLASSES_PROTECT = Words(
    "Whoever knows somebody's quasi-identifiers finds a class of records that look alike, never one record, as "
    "long as nothing "
    "but these columns is known. The models of a sensitive column limit what the class itself gives away. Columns "
    "that are not "
    "quasi-identifiers are published as they are, several releases of the same people can be put together, and knowledge "
    "from elsewhere may exclude some of a class. k-anonymity and its family are not differential privacy.",
    "準識別子を知っている人がたどり着けるのは、同じ値をもつ記録の組までで、一件の記録には届きません"
    "（ほかの列を知られていない限り）。機微な列の条件は、組そのものから分かることを抑えます。"
    "準識別子でない列はそのまま公開され、"
    "同じ人々についての複数の公開は突き合わせることができ、外部の知識によって組の一部が除かれることもあります。"
    "k-匿名性とその仲間は差分プライバシーではありません。",
)
STARRED_PROTECT = Words(
    CLASSES_PROTECT.english
    + " Suppressed records are published with stars in place of their quasi-identifiers, and with all "
    "their other columns: whoever is in no other class is known to be one of them. They are a class of their own, for which the "
    "models hold as well, and which gives away what its records have in common.",
    CLASSES_PROTECT.japanese + "抑制した記録は、準識別子を伏せ、ほかの列はそのまま公開されます。ほかの組にいない人は、"
    "そのどれかであると分かります。"
    "伏せた記録も一つの組であり、同じ条件を満たしますが、組に共通することは分かります。",
)
CLASSES_KEEP = Words(
    "Every value, made coarser where a level says so; the other columns of the records that are kept.",
    "各値（段階に応じて粗くしたもの）と、残した記録のほかの列。",
)
NOT_LOCAL = Words(
    "Values were changed at random, so that a value that is known does not lead to the record for certain. It is not local "
    "differential privacy of a person's own value, because an earlier step looked at this column: what stands in it may be made "
    "of several people's values, or other columns may depend on it. It is no differential privacy of the table either.",
    "値を確率的に変えたため、知られた値から確実に記録にたどり着くことはできません。ただし、先の手順がこの列を使っており、"
    "値が複数の人の値からできていたり、ほかの列がこの列に依存していたりするため、本人の値についての局所差分プライバシーではありません。"
    "表の差分プライバシーでもありません。",
)
SAMPLED_KEEP = Words(
    "Combinations of values that many share, each in proportion to the sample; rare ones are gone, uncounted.",
    "多くの人に共通する値の組み合わせ（標本の割合で）。まれなものは、数えずに除かれています。",
)
SYNTHETIC_PROTECTS = Words(
    "Differential privacy of every person: the rows were drawn from a model of noisy counts, and tell hardly more about a "
    "person than if that person had never been there, whatever else is known. A row may be equal to a real "
    "person's by chance. It is the noise that protects, not that the rows are synthetic.",
    "各人についての差分プライバシーです。行はノイズを加えた集計のモデルから引かれ、ほかに何を知っていても、"
    "その人がいなかった場合とほとんど同じことしか分かりません。偶然、実在の人と同じ行ができることはあります。"
    "守っているのはノイズであり、合成であること自体ではありません。",
)
SYNTHETIC_KEEP = Words(
    "About the counts of each column and of the columns that the model ties together; all other relations are lost.",
    "各列の件数と、モデルが結びつけた列の組の件数を、おおよそ保ちます。そのほかの関係は失われます。",
)


@dataclass(frozen=True, eq=False)
class Done:
    """A step that was carried out.

    Attributes:
        method: as the plan calls it.
        name: which variant, in a word.
        records: the result.
        protects: what it protects from, and what it does not.
        keeps: what stays.
        outcome: of a method that perturbs.
        anonymized: of models of classes.
        hierarchies: that were used.
        tables: that synthetic people were drawn from: the columns that belong together.
        levels: how coarse columns are, where the method has a budget.
    """

    method: str
    name: str
    records: Records
    protects: Words
    keeps: Words
    outcome: Outcome | None = None
    anonymized: Anonymized | None = None
    hierarchies: Mapping[str, Generalization] | None = None
    tables: tuple[tuple[str, ...], ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)


def run_step(plan: PeoplePlan, method: str, step: Step, records: Records, population: Records | None) -> Done:
    """One step that costs no budget.

    Raises:
        InputError: if the data does not fit; names the column and the row.
    """
    if isinstance(step, Anonymize):
        return _anonymize(plan, step, records, population)
    outcome = _perturb(plan, step, records)
    return Done(method, outcome.method, outcome.records, outcome.protects, outcome.keeps, outcome)


def without_local_claim(done: Done) -> Done:
    """The step without the local differential privacy that its method states for values that are a person's own."""
    outcome = done.outcome
    if outcome is None or (outcome.local_epsilon is None and outcome.local_rho is None):
        return done
    told = replace(outcome, protects=NOT_LOCAL, local_epsilon=None, local_rho=None)
    return replace(done, protects=NOT_LOCAL, outcome=told)


def _perturb(plan: PeoplePlan, step: Step, records: Records) -> Outcome:
    if isinstance(step, SampleStep):
        if step.by is not None:
            return sample_of_strata(records, step.by, step.rate or 0)
        return sample_of_size(records, step.rows) if step.rows is not None else sample_by_coins(records, step.rate or 0)
    if isinstance(step, Swap):
        if step.share is not None:
            return swap_randomly(records, step.columns, share=step.share, within=step.within)
        if step.k is not None:
            return swap_risky(records, step.columns, plan.quasi_identifiers, k=step.k, within=step.within)
        return swap_ranks(records, step.columns[0], distance=step.distance or 0)
    if isinstance(step, Pram):
        return randomize_values(records, step.column, step.matrix, invariant=step.invariant)
    if isinstance(step, Microaggregate):
        is_single = step.kind == "univariate"
        return microaggregate(records, step.columns, k=step.k, method="univariate" if is_single else "multivariate")
    noise = cast("Noise", step)
    return add_noise_to_numbers(
        records,
        noise.column,
        epsilon=noise.epsilon,
        scale=noise.scale,
        sigma=noise.sigma,
        bounds=noise.bounds,
        decimals=noise.decimals,
    )


def _anonymize(plan: PeoplePlan, step: Anonymize, records: Records, population: Records | None) -> Done:
    hierarchies = build_hierarchies(plan, records, population)
    pins = pinned_levels(plan, hierarchies)
    others = None if population is None else rest_of_population(records, population, list(hierarchies))
    made = anonymize(
        records.with_columns(*pinned_columns(records, hierarchies, pins)),
        pinned_hierarchies(hierarchies, pins),
        step.models,
        sensitive=[name for name, column in plan.columns.items() if column.role == "sensitive"],
        suppression=step.suppression,
        metric=step.metric,
        method=step.search,
        time_limit=step.seconds,
        suppressed=step.suppressed,
        others=None if others is None else others.with_columns(*pinned_columns(others, hierarchies, pins)),
    )
    if made.search is not None:
        made = replace(made, search=with_pins(made.search, pins))
    name = "local-recoding" if step.search == "local" else "global-recoding"
    protects = STARRED_PROTECT if step.suppressed == "starred" and not made.kept.all() else CLASSES_PROTECT
    return Done("anonymize", name, made.records, protects, CLASSES_KEEP, anonymized=made, hierarchies=hierarchies)


def pinned_levels(plan: PeoplePlan, hierarchies: Mapping[str, Generalization]) -> dict[str, int]:
    """The levels of quasi-identifiers that the plan decides.

    Raises:
        InputError: if a hierarchy turns out to have no such level.
    """
    pins = {name: level for name in hierarchies if (level := plan.columns[name].level) is not None}
    for name, level in pins.items():
        if level > hierarchies[name].height:
            raise InputError(
                f"The plan asks for level {level} of the column {name!r}, which its hierarchy has not for these values.",
                f"計画は列 {name!r} の段階 {level} を指定していますが、この値の階層にはその段階がありません。",
            )
    return pins


def build_hierarchies(
    plan: PeoplePlan, records: Records, population: Records | None = None
) -> dict[str, Generalization]:
    """The hierarchies of the quasi-identifiers, for the values that there are.

    Raises:
        InputError: if a value is none that its rule takes; names the column and the row.
    """
    built = {}
    for name in plan.quasi_identifiers:
        rule, column = plan.columns[name].rule, records.column(name)
        if rule is None:
            continue
        built[name] = hierarchy_of(column, rule.build)
        if population is not None and rule.kind not in ("hierarchy", "groups"):
            both = dict.fromkeys([*column.labels, *population.column(name).labels])
            hierarchy_of(population.column(name), rule.build)
            built[name] = rule.build(CodedColumn.of(name, both))
    return built


def run_private_step(plan: PeoplePlan, step: Step, records: Records) -> tuple[Done, ReleaseEvent]:
    """The step of a plan with a budget: differential privacy of the table.

    Everything is checked before anything is drawn; nothing is raised afterwards.

    Raises:
        InputError: if the data does not fit the plan; names the column and the row.
    """
    charging = plan.charging
    unit, budget = (charging.unit, charging.budget) if charging is not None else (Unit(), None)
    if budget is None:
        raise AssertionError("a private step without a budget")
    if isinstance(step, SampledGroups):
        return _sample_groups(plan, step, records, budget, unit)
    from sudare.microdata.synthetic import synthesize

    wanted = cast("Synthesize", step)
    made, event = synthesize(
        records,
        {name: plan.columns[name].bins or list(plan.columns[name].values or ()) for name in plan.published},
        budget,
        "aim" if wanted.method == "aim" else "mst",
        rows=wanted.rows,
        workload=wanted.workload,
        missing=[name for name in plan.published if plan.columns[name].missing is not None],
        unit=unit,
        rounds=wanted.rounds,
    )
    done = Done(wanted.method, wanted.method, made.records, SYNTHETIC_PROTECTS, SYNTHETIC_KEEP, tables=made.tables)
    return done, event


def _values_alone(column: CodedColumn) -> Generalization:
    """The values of a column, and nothing coarser."""
    return Generalization.of_paths(
        column.name, [(label,) for label in dict.fromkeys(text or "" for text in column.labels or ("",))]
    )


def _sample_groups(
    plan: PeoplePlan, step: SampledGroups, records: Records, budget: Budget, unit: Unit
) -> tuple[Done, ReleaseEvent]:
    """Sampled k-anonymity; where the plan says so, a part of epsilon pays for choosing the levels before."""
    # Heights and labels are the plan's: nobody's value says how others, or missing values, are called.
    hierarchies = {
        name: hierarchy_of(records.column(name), column.rule.build_to(step.levels[name]))
        for name, column in plan.columns.items()
        if column.rule is not None and column.role != "identifier"
    }
    for_choosing, for_records = step.parts(budget)
    levels = dict(step.levels)
    chosen: ReleaseEvent | None = None
    if for_choosing is not None:
        measurement = SampledGroupsMeasurement.for_budget(for_records, rate=step.rate, records=changed_records(unit))
        # Columns without a hierarchy form groups too, by their values.
        all_hierarchies = {name: hierarchies.get(name) or _values_alone(records.column(name)) for name in step.levels}
        candidates = [dict(zip(step.choices, those, strict=True)) for those in product(*step.choices.values())]
        levels, chosen = choose_levels(
            records,
            all_hierarchies,
            for_choosing,
            threshold=ceil(measurement.k / measurement.rate),
            candidates=candidates,
            unit=unit,
        )
    published, event = sampled_groups(records, levels, hierarchies, for_records, rate=step.rate, unit=unit)
    if chosen is not None:
        both = (*chosen.measurements, *event.measurements)
        event = ReleaseEvent(event.mechanism, unit, budget, both, event.entropy)
    done = Done(
        "sampled-k-anonymity",
        "sampled-groups",
        published,
        SAMPLED_PROTECTS,
        SAMPLED_KEEP,
        hierarchies=hierarchies,
        levels=levels,
    )
    return done, event
