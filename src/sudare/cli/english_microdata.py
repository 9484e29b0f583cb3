"""What the commands that protect records say in English."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "anonymize.help": "Carry out a plan for a table of people, and write records and report.\n\n"
    "Coarser values and suppression until k-anonymity and its family hold; swapping, PRAM, microaggregation, "
    "noise. k-anonymity is "
    "not differential privacy; sampled k-anonymity is, costs budget, and asks before it is spent.",
    "anonymize.examples": "sudare anonymize plan.toml --out protected\nsudare anonymize plan.toml --check",
    "anonymize.file": "The plan: which columns there are, and what is done to them.",
    "anonymize.out": "The folder for people.csv and the report; must not exist. By default what the plan says.",
    "anonymize.check": "Only check the plan and show what it would do. No record is read, nothing is spent.",
    "anonymize.yes": "Don't ask before budget is spent; needed where there is no terminal.",
    "anonymize.again": "Draw, and spend, once more even if the very same result was made before.",
    "anonymize.even_if_broken": "Publish even if an attack on the result succeeds; the report says so.",
    "sample.help": "Draw some records of a file fairly, or carry out a plan that does.\n\n"
    "Records are published as they are: a sample alone protects little. With a plan for sampled-k-anonymity it is "
    "differential privacy.",
    "sample.examples": "sudare sample people.csv --rate 1/10 --out sample.csv\n"
    "sudare sample people.parquet --rows 500 --by region --out sample.parquet\n"
    "sudare sample plan.toml --out protected",
    "sample.file": "A file of people, or a plan that ends in .toml.",
    "sample.out": "The new file, .csv or .parquet; with a plan, the folder.",
    "sample.rate": "The share to draw, such as 1/10 or 0.05: each record by a coin of its own.",
    "sample.rows": "How many records to draw; with --by, of each value of the column.",
    "sample.by": "Draw from each value of this column by itself.",
    "sample.check": "Only check the plan. No record is read, nothing is spent.",
    "sample.yes": "Don't ask before budget is spent; needed where there is no terminal.",
    "sample.again": "With a plan: draw, and spend, once more.",
    "sample.even_if_broken": "With a plan: publish even if an attack on the result succeeds.",
    "synthesize.help": "Draw rows of nobody, from records with a budget or from a released table.\n\n"
    "From records by MST or AIM: about the same tables, differentially private. From a release: rows that agree with its "
    "table exactly, at no further cost.",
    "synthesize.examples": "sudare synthesize plan.toml --out synthetic\n"
    "sudare synthesize --from-table release --out people.parquet",
    "synthesize.file": "The plan, with method mst or aim.",
    "synthesize.out": "The folder, which must not exist; with --from-table the file, .csv or .parquet.",
    "synthesize.from_table": "A release folder, or the table in it, to draw people from instead.",
    "synthesize.points": "With --from-table: add a point inside each person's mesh.",
    "synthesize.check": "Only check the plan and show what it would cost. No record is read.",
    "synthesize.yes": "Don't ask before budget is spent; needed where there is no terminal.",
    "synthesize.again": "Draw, and spend, once more even if the very same result was made before.",
    "risk.help": "Measure how easily somebody is found in a table of people.\n\n"
    "For whoever holds the data: what it shows is computed from the records and is not for publication.",
    "risk.examples": "sudare risk people.csv --quasi-identifiers age,sex,zip\n"
    "sudare risk people.csv -q age,sex --sensitive illness --json",
    "risk.file": "A file of people: CSV, Parquet or Arrow.",
    "risk.quasi_identifiers": "Columns that others may know of a person, separated by commas.",
    "risk.sensitive": "Columns that nobody should learn, separated by commas.",
    "risk.population": "A file of everybody with the same columns, for the risk of a journalist.",
    "risk.threshold": "The chance of re-identification from which a record is at risk.",
    "hierarchy.help": "Check or draft hierarchies: which coarser values stand for a column's values.",
    "hierarchy.examples": "sudare hierarchy check zip.csv\n"
    "sudare hierarchy build people.csv age --intervals 5,10 --whole --out age.csv",
    "hierarchy.check.help": "Check a hierarchy file: one line for each value, with its group on every level.",
    "hierarchy.check.examples": "sudare hierarchy check zip.csv\n"
    "sudare hierarchy check zip.csv --data people.csv --column zip",
    "hierarchy.check.file": "The hierarchy: fields separated by semicolons, commas, tabs or bars, as ARX writes them.",
    "hierarchy.check.data": "A file of people, of whose values each must be in the hierarchy.",
    "hierarchy.check.column": "Which column of the data it is for.",
    "hierarchy.build.help": "Draft a hierarchy file for the values of a column, to be looked at and edited.",
    "hierarchy.build.examples": "sudare hierarchy build people.csv age --intervals 5,10 --whole --out age.csv\n"
    "sudare hierarchy build people.csv born --dates month,year --out born.csv\n"
    "sudare hierarchy build people.csv zip --mask --out zip.csv",
    "hierarchy.build.file": "A file of people.",
    "hierarchy.build.column": "The column.",
    "hierarchy.build.out": "The hierarchy file to write.",
    "hierarchy.build.intervals": "Numbers in intervals of these widths, each a multiple of the one before.",
    "hierarchy.build.whole": "Numbers are whole: write 20-24 in place of [20, 25).",
    "hierarchy.build.lowest": "All numbers below it are one group.",
    "hierarchy.build.highest": "All numbers from it on are one group.",
    "hierarchy.build.dates": "Days in some of month,quarter,year,decade.",
    "hierarchy.build.mesh": "Mesh codes of this level, such as 1/2, in coarser meshes.",
    "hierarchy.build.mask": "Texts of one length with one letter more masked on each level.",
    "hierarchy.build.flat": "Each value as it is, or not at all.",
    "hierarchy.build.missing": "What missing values are called on coarser levels. Left out: they are refused.",
}

SPOKEN: Mapping[str, str] = {
    "stage.load": "Reading people",
    "stage.protect": "Protecting records",
    "stage.save": "Writing records",
    "stage.measure": "Measuring risks",
    "stage.attack": "Attacking the result",
    "check.published": "published records",
    "check.models": "promised models",
    "check.groups": "smallest group",
    "check.attacks": "attacks",
    "people.methods": "method",
    "people.published": "published",
    "people.left_out": "left out",
    "people.model": "model",
    "people.checked": "The plan is sound. No record was read and nothing was spent.",
    "people.not_private": "Done. This is not differential privacy: the report says what it protects. Keep the "
    "report where the "
    "data is, and give away the file of people alone.",
    "people.use_synthesize": "The plan's method is {method}: use `sudare synthesize`.",
    "people.use_anonymize": "The plan's method is {method}: use `sudare anonymize`, or `sudare synthesize` for mst and aim.",
    "people.sample_plan": "A plan says itself how to sample: leave --rate, --rows and --by out.",
    "people.broken_plan": "--even-if-broken goes with a plan: a sample without one is not attacked.",
    "people.even_if_broken": "An attack broke this table. It was published because you said --even-if-broken.",
    "people.no_out": "Say where to write it, with --out.",
    "people.rate_or_rows": "Give --rate or --rows, and not both.",
    "people.no_share": "'{text}' is no share from 0 to 1, such as 1/10 or 0.05.",
    "people.no_number": "'{text}' is no number.",
    "people.plan_or_table": "Give a plan, or --from-table with a release, and not both.",
    "people.points": "--points goes with --from-table alone.",
    "people.sampled": "Wrote the sample to {out}.",
    "people.drawn": "Drew {rows} rows of nobody, which agree exactly with {release}. This cost no budget.",
    "people.no_columns": "Name at least one column with --quasi-identifiers.",
    "people.both_roles": "The column '{column}' cannot be both a quasi-identifier and sensitive.",
    "people.data_and_column": "Give --data and --column together.",
    "people.one_rule": "Give exactly one of {rules}.",
    "people.risk_confidential": "These figures were computed from the records. They are for whoever holds them, "
    "not for publication.",
    "people.records": "records",
    "people.classes": "classes that look alike",
    "people.k": "smallest class (k)",
    "people.unique": "alone in their class",
    "people.prosecutor": "prosecutor, highest chance",
    "people.at_risk": "chance above {threshold}",
    "people.marketer": "marketer, guessed right",
    "people.journalist": "journalist, highest chance",
    "people.sensitive": "What classes give away",
    "people.table_column": "column",
    "people.table_l": "values (l)",
    "people.table_entropy": "entropy l",
    "people.table_t": "distance (t)",
    "people.table_alpha": "largest share",
    "people.hierarchy_sound": "{file} is a hierarchy.",
    "people.hierarchy_made": "Wrote {out}.",
    "people.hierarchy_values": "It lists the values that the data holds. Look at it, and add values that may come.",
    "people.level": "level",
    "people.groups": "groups",
    "people.labels": "such as",
}
