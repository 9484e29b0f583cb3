"""Where modules and names went: an import of an old one names the new one.

Nothing here is listed by ``dir()``. Modules answer with an error that names the new module, because their contents may have been
divided; names of packages go on working, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sudare.border.notices import warn_user
from sudare.moved_names import MOVED_NAMES

__all__ = ["MOVED_MODULES", "MOVED_TO_PAPERS", "RENAMED", "moved_module", "old_names", "renamed"]

RENAMED: dict[str, dict[str, str]] = {
    "sudare": {"ToldError": "UserError"},
    "sudare.attacks": {"Count": "PublishedCount", "Outcome": "AttackOutcome"},
    "sudare.collect.prio": {"Estimate": "ResponseEstimate", "Measured": "TaskMeasurement"},
    "sudare.comparison": {"Measured": "MeasuredValue"},
    "sudare.disclosure": {
        "Metadata": "ArgusMetadata",
        "read_hierarchy": "read_argus_hierarchy",
        "read_metadata": "read_argus_metadata",
    },
    "sudare.errors": {"ToldError": "UserError"},
    "sudare.evaluate": {"evaluate": "measure_errors"},
    "sudare.microdata.pseudonyms": {"Answer": "PersonAnswer"},
}
"""For each package, its old names and what they are called now."""

MOVED_MODULES: dict[str, dict[str, str]] = {
    "sudare": {
        "disclosure_release": "releases.kinds.tables",
        "microdata_release": "releases.kinds.records",
        "release": "releases.kinds.counts",
    },
    "sudare.attacks": {
        "audit_conditions": "audits.audit_conditions",
        "averaging": "audits.averaging",
        "cell_system": "tables.cell_system",
        "differencing": "tables.differencing",
        "distances": "records.distances",
        "echelon": "tables.echelon",
        "empirical_epsilon": "audits.empirical_epsilon",
        "interval": "tables.interval",
        "laws": "audits.laws",
        "linkage": "records.linkage",
        "membership": "records.membership",
        "narrowing": "tables.narrowing",
        "programs": "audits.programs",
        "published_statistics": "tables.published_statistics",
        "reconstruction": "tables.reconstruction",
        "small_parts": "tables.small_parts",
        "solver": "tables.solver",
        "solver_process": "tables.solver_process",
        "uniqueness": "records.uniqueness",
    },
    "sudare.cli": {
        "attacking": "commands.attacking",
        "budgets": "console.budgets",
        "checking": "commands.checking",
        "collect_planning": "collection.collect_planning",
        "collecting": "collection.collecting",
        "comparing": "protection.comparing",
        "doctor": "commands.doctor",
        "english": "words",
        "english_attacks": "words.attacks",
        "english_comparison": "words.comparison",
        "english_disclosure": "words.disclosure",
        "english_microdata": "words.microdata",
        "english_pseudonyms": "words.pseudonyms",
        "failures": "console.failures",
        "helping": "console.helping",
        "japanese": "words",
        "japanese_attacks": "words.attacks",
        "japanese_comparison": "words.comparison",
        "japanese_disclosure": "words.disclosure",
        "japanese_microdata": "words.microdata",
        "japanese_pseudonyms": "words.pseudonyms",
        "ledgers": "commands.ledgers",
        "mapping": "commands.mapping",
        "meshes": "commands.meshes",
        "messages": "console.messages",
        "microdata": "protection.microdata",
        "people_tools": "protection.people_tools",
        "planning": "commands.planning",
        "prio": "collection.prio",
        "progress": "console.progress",
        "protecting": "protection.protecting",
        "pseudonyms": "protection.pseudonyms",
        "releasing": "commands.releasing",
        "reporting": "commands.reporting",
        "showing": "console.showing",
        "speaking": "console.speaking",
        "spoken": "console.spoken",
        "sql": "sql.commands",
        "sql_shell": "sql.shell",
        "sql_showing": "sql.showing",
        "starting": "commands.starting",
        "templates": "console.templates",
    },
    "sudare.cli.commands": {
        "comparing": "sudare.cli.protection.comparing",
        "microdata": "sudare.cli.protection.microdata",
        "people_tools": "sudare.cli.protection.people_tools",
        "protecting": "sudare.cli.protection.protecting",
        "pseudonyms": "sudare.cli.protection.pseudonyms",
    },
    "sudare.collect": {
        "aggregator": "estimation.aggregator",
        "answers": "questionnaires.answers",
        "bins": "transitions.bins",
        "bloom": "rappor.bloom",
        "categories": "randomizers.categories",
        "client": "device.client",
        "crosstab": "estimation.crosstab",
        "crosstab_intervals": "estimation.crosstab_intervals",
        "device_numbers": "device.numbers",
        "device_rules": "device.rules",
        "durable": "device.durable",
        "estimates": "estimation.estimates",
        "forms": "questionnaires.report_forms",
        "grids": "transitions.grids",
        "hashing": "randomizers.hashing",
        "interior_point": "estimation.interior_point",
        "kronecker": "transitions.kronecker",
        "lattice_transition": "transitions.lattice_transition",
        "likelihood": "estimation.likelihood",
        "mean_transitions": "transitions.mean_transitions",
        "means": "randomizers.means",
        "memory": "device.memory",
        "noisy_numbers": "randomizers.noisy_numbers",
        "pk": "estimation.pk",
        "planning": "randomizers.planning",
        "questionnaire": "questionnaires.questionnaire",
        "randomizer": "randomizers.randomizer",
        "rappor": "rappor.rappor",
        "rappor_association": "rappor.association",
        "rappor_decode": "rappor.rappor_decode",
        "rappor_design": "rappor.design",
        "rappor_filters": "rappor.filters",
        "rappor_memory": "rappor.memory",
        "real_transition": "transitions.real_transition",
        "records": "estimation.records",
        "regression": "estimation.regression",
        "reports": "questionnaires.reports",
        "rounding": "transitions.rounding",
        "supports": "randomizers.supports",
        "transition": "transitions.transition",
        "unary": "randomizers.unary",
    },
    "sudare.collect.prio": {
        "aggregators": "services.aggregators",
        "circuits": "vdaf.circuits",
        "connections": "services.connections",
        "fields": "vdaf.fields",
        "gadgets": "vdaf.gadgets",
        "known_answers": "vdaf.known_answers",
        "leader": "services.leader",
        "messages": "services.messages",
        "parties": "services.parties",
        "prio3": "vdaf.prio3",
        "proofs": "vdaf.proofs",
        "reports": "vdaf.reports",
        "sealing": "services.sealing",
        "service": "services.service",
        "store": "services.store",
        "transport": "services.transport",
        "variants": "vdaf.variants",
        "xof": "vdaf.xof",
    },
    "sudare.comparison": {
        "document": "reporting.document",
        "labelling": "reporting.labelling",
        "page": "reporting.page",
        "page_words": "reporting.page_words",
        "picture": "reporting.picture",
        "words": "reporting.words",
    },
    "sudare.disclosure": {
        "audit": "suppression.audit",
        "certificate": "suppression.certificate",
        "exact": "suppression.exact",
        "heuristic": "suppression.heuristic",
        "hidden_sums": "suppression.hidden_sums",
        "linear": "suppression.linear",
        "problem": "suppression.problem",
        "secondary": "suppression.secondary",
        "singletons": "suppression.singletons",
        "tau_argus": "argus.files",
        "tau_argus_metadata": "argus.metadata",
    },
    "sudare.domain": {
        "reading": "arguments",
    },
    "sudare.examination": {
        "together": "linked_tables",
    },
    "sudare.io": {
        "atomic": "sudare.storage.atomic",
        "arrow_files": "formats.arrow_files",
        "estat": "formats.estat",
        "geoparquet": "formats.geoparquet",
        "geotiff": "formats.geotiff",
        "reading": "loading",
        "text_files": "formats.text_files",
    },
    "sudare.kernels": {
        "bits": "collection.bits",
        "bounded": "collection.bounded",
        "dense_levels": "tables.dense_levels",
        "distances": "records.distances",
        "fields": "collection.fields",
        "grouping": "records.grouping",
        "haar": "tables.haar",
        "halvings": "tables.halvings",
        "hashing": "collection.hashing",
        "judging": "tables.judging",
        "keccak": "collection.keccak",
        "keyed_hashing": "records.keyed_hashing",
        "lattices": "records.lattices",
        "layouts": "tables.layouts",
        "margins": "tables.margins",
        "microaggregation": "records.microaggregation",
        "mondrian": "records.mondrian",
        "priors": "tables.priors",
        "rappor": "collection.rappor",
        "responses": "collection.responses",
        "settlements": "tables.settlements",
        "simplex": "tables.simplex",
        "sorting": "tables.sorting",
        "splits": "tables.splits",
        "surroundings": "tables.surroundings",
        "transport": "tables.transport",
        "trees": "tables.trees",
    },
    "sudare.microdata": {
        "anonymizing": "search.anonymizing",
        "checking": "search.checking",
        "exact_draws": "perturb.exact_draws",
        "heuristic": "search.heuristic",
        "hierarchy": "hierarchies.hierarchy",
        "hierarchy_builders": "hierarchies.builders",
        "hierarchy_files": "hierarchies.files",
        "hierarchy_numbers": "hierarchies.numbers",
        "hierarchy_rules": "hierarchies.rules",
        "large": "search.large",
        "large_counts": "search.large_counts",
        "large_views": "search.large_views",
        "lattice": "search.lattice",
        "metrics": "search.metrics",
        "microaggregation": "perturb.microaggregation",
        "mondrian": "search.mondrian",
        "noisy_values": "perturb.noisy_values",
        "number_columns": "perturb.number_columns",
        "outcomes": "perturb.outcomes",
        "pinned_levels": "search.pinned_levels",
        "pram": "perturb.pram",
        "sampled_k_anonymity": "perturb.sampled_k_anonymity",
        "sampling": "perturb.sampling",
        "swapping": "perturb.swapping",
    },
    "sudare.microdata.models": {
        "model_words": "sudare.microdata.models",
    },
    "sudare.microdata.pseudonyms": {
        "agreement": "registers.agreement",
        "answers": "registers.answers",
        "contents": "registers.contents",
        "forms": "notation",
        "held": "registers.contents",
        "log": "registers.log",
        "register": "registers.register",
        "rights": "registers.rights",
    },
    "sudare.privacy": {
        "reading": "interpretation",
    },
    "sudare.microdata.synthetic": {
        "synthesize": "synthesizing",
    },
    "sudare.refine": {
        "classes": "learning.classes",
        "lasso": "shrinkage",
        "occupancy": "learning.occupancy",
        "priors": "learning.priors",
        "reading": "arguments",
        "settlements": "learning.settlements",
        "trust": "learning.trust",
    },
    "sudare.releases.kinds.records": {
        "model_record": "sudare.microdata.models.registry",
    },
    "sudare.releases.kinds.records.planning": {
        "private_step_plan": "sudare.releases.kinds.records.steps.registry",
        "step_plan": "sudare.releases.kinds.records.steps.registry",
    },
    "sudare.releases.kinds.tables": {
        "method_words": "methods",
        "protecting": "methods.cell_method",
    },
    "sudare.sql": {
        "aggregates": "measures.aggregates",
        "allocating": "measures.allocating",
        "answering": "execution.answering",
        "answers_store": "execution.answers_store",
        "arithmetic": "expressions.arithmetic",
        "bigquery_clause": "frontend.bigquery_clause",
        "capping": "relations.capping",
        "casts": "expressions.casts",
        "charging": "execution.charging",
        "choices": "expressions.choices",
        "column_rules": "metadata.column_rules",
        "conditions": "expressions.conditions",
        "connection": "execution.connection",
        "copies": "frontend.copies",
        "cursors": "execution.cursors",
        "dates": "expressions.dates",
        "dbapi": "execution.dbapi",
        "describing": "metadata.describing",
        "elastic": "relations.elastic",
        "explaining": "execution.explaining",
        "expressions": "expressions.expressions",
        "facts": "expressions.facts",
        "filtering": "relations.filtering",
        "forms": "expressions.safe_expression",
        "formulas": "expressions.formulas",
        "functions": "expressions.functions",
        "harmless": "expressions.post_processing",
        "inner_aggregates": "relations.inner_aggregates",
        "intervals": "expressions.intervals",
        "joining": "relations.joining",
        "keys": "relations.keys",
        "local": "execution.local",
        "measures": "measures.measures",
        "measuring": "measures.measuring",
        "metadata": "metadata.model",
        "metadata_file": "metadata.file",
        "metadata_rules": "metadata.rules",
        "metadata_writing": "metadata.writing",
        "naming": "frontend.naming",
        "options": "frontend.options",
        "outputs": "measures.outputs",
        "parameters_in_sql": "frontend.parameters",
        "parsing": "frontend.parsing",
        "places": "frontend.positions",
        "planned_size": "frontend.planned_size",
        "planning": "measures.planning",
        "pricing": "execution.pricing",
        "promises": "metadata.promises",
        "public_keys": "relations.public_keys",
        "quantiles": "measures.quantiles",
        "reading": "relations.interpretation",
        "refusals": "frontend.refusals",
        "relations": "relations.relations",
        "rules": "expressions.rules",
        "sparse": "measures.sparse",
        "statement_shape": "frontend.statement_shape",
        "table_changes": "metadata.table_changes",
        "text_checks": "frontend.text_checks",
        "texts": "expressions.texts",
        "trees": "frontend.trees",
        "truncation": "relations.truncation",
        "unit_sums": "relations.unit_sums",
        "unknown": "frontend.unknown_parts",
    },
    "sudare.system": {
        "sqlite_faults": "sudare.storage.sqlite_faults",
    },
    "sudare.tables": {
        "above_threshold": "mechanisms.above_threshold",
        "areas": "planning.areas",
        "bisection": "mechanisms.bisection",
        "dense_tree": "trees.dense_tree",
        "descent": "trees.descent",
        "detail": "mechanisms.detail",
        "error_factors": "planning.error_factors",
        "flat": "mechanisms.flat",
        "lazy_learning": "trees.lazy_learning",
        "lazy_reference": "trees.lazy_reference",
        "map_planning": "planning.map_planning",
        "nn_wavelet": "mechanisms.nn_wavelet",
        "plan": "planning.plan",
        "plan_words": "planning.plan_words",
        "planning": "planning.planner",
        "predicted_error": "planning.predicted_error",
        "prediction": "planning.prediction",
        "privelet": "mechanisms.privelet",
        "pruning": "mechanisms.pruning",
        "publish": "publishing",
        "reading": "arguments",
        "short_axes": "trees.short_axes",
        "splitting": "trees.splitting",
        "surroundings": "trees.surroundings",
        "thin_levels": "trees.thin_levels",
        "topdown": "mechanisms.topdown",
        "topdown_reading": "mechanisms.topdown_arguments",
        "unaligned": "planning.unaligned",
        "visited_level": "trees.visited_level",
        "weight_search": "planning.weight_search",
        "wide_tree": "mechanisms.wide_tree",
        "workload": "planning.workload",
    },
    "sudare.tables.histograms": {
        "histogram": "mechanism",
    },
    "sudare.tables.recovery": {
        "reading": "arguments",
    },
}
"""For each package, its old modules and where each is now: after the package's name, or, beginning with ``sudare.``, whole."""

MOVED_TO_PAPERS = {
    "sudare.cli.reproducing": "sudare_papers.command",
    "sudare.domain.experiments": "sudare_papers.pruning.orders",
    "sudare.kernels.paper_trees": "sudare_papers.kernels.paper_trees",
    "sudare.reproduce": "sudare_papers",
    "sudare.sql.elastic_queries": "sudare_papers.elastic.queries",
}
"""What is in sudare-papers now, a distribution of its own: ``pip install ./papers`` in the folder of sudare's source."""


def renamed(package: str, name: str) -> Any:
    """What a package's old name stands for now; None if it never had one. A warning says what to write instead.

    Args:
        package: the package that is asked.
        name: the name that it does not have.
    """
    home, new = MOVED_NAMES.get(package, {}).get(name), RENAMED.get(package, {}).get(name)
    if home is not None:
        message = f"'{package}.{name}' is '{home}.{new or name}' now."
    elif new is not None:
        message = f"'{package}.{name}' is called {new!r} now."
    else:
        return None
    warn_user(message, DeprecationWarning)
    return getattr(import_module(home or package), new or name)


def old_names(package: str) -> Callable[[str], Any]:
    """What the ``__getattr__`` of a module is some of whose names have changed.

    Args:
        package: its name.
    """

    def look_up(name: str) -> Any:
        if (value := renamed(package, name)) is not None:
            return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return look_up


def moved_module(name: str) -> str | None:
    """Where a module is now; None if it was never moved.

    Args:
        name: where it was.
    """
    if name in MOVED_TO_PAPERS:
        return MOVED_TO_PAPERS[name]
    package, _, module = name.rpartition(".")
    new = MOVED_MODULES.get(package, {}).get(module)
    return new if new is None or new.startswith("sudare.") else f"{package}.{new}"
