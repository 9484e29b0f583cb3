"""What the command that attacks publications says in English."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "attack.help": "Attack a release, protected records, tables or a program; tell what was found.\n\n"
    "Runs every attack that applies. What it shows speaks of protected people and is not for publication. "
    "Exit code 7 if something is broken, or if the folder is not as it was made.",
    "attack.examples": "sudare attack release --ledger budget.db --dataset census\n"
    "sudare attack protected --with last-year --out attacks.html\n"
    "sudare attack people --outside voters.csv --by age,sex\n"
    "sudare attack tables.toml --json\n"
    "sudare attack --program 'noise {input} {output}' --on a.csv --beside b.csv",
    "attack.folder": "A release, protected records, a protected table; or a .toml file that describes tables.",
    "attack.data": "The people behind it, for whoever holds them.",
    "attack.population": "Other people like them, who are not in the data.",
    "attack.by_chance": "A fair coin decided for each person of --data and --population who is in the data.",
    "attack.outside": "A file of people that an attacker may have, to be looked for among records.",
    "attack.by": "The columns by which to look for them. By default the quasi-identifiers.",
    "attack.others": "Another publication about the same people, to be attacked together. May be repeated.",
    "attack.ledger": "A ledger that knows what else was published about the data set.",
    "attack.dataset": "The name of the data set in the ledger.",
    "attack.threshold": "Counts from 1 to below it are too small to be known. By default what the tables say, or 3.",
    "attack.program": "A program to run many times, with {input} and {output} in place of its files.",
    "attack.on": "A table for the program to read.",
    "attack.beside": "Its neighbour: one person added, removed or changed.",
    "attack.runs": "How often the program is run on each of the two.",
    "attack.claim": "The epsilon that the program claims.",
    "attack.delta": "The delta that the program claims.",
    "attack.error_probability": "How likely the verdict on a program may be wrong.",
    "attack.seconds": "How long to search for people (by default 60), or to run the program (3600).",
    "attack.out": "Also write what was found, as .html or .json; readable by its owner only.",
}

SPOKEN: Mapping[str, str] = {
    "stage.attack_open": "Checking the folder",
    "stage.attack_reconstruction": "Looking for the people behind the tables",
    "stage.attack_differencing": "Subtracting published counts",
    "stage.attack_averaging": "Averaging noisy counts",
    "stage.attack_membership": "Asking who is in the data",
    "stage.attack_interval": "Bounding hidden cells",
    "stage.attack_linkage": "Linking records with people",
    "stage.attack_outside": "Looking for known people among the records",
    "stage.attack_runs": "Running the program",
    "attack.one": "Name a folder to attack, or a program with --program; not both.",
    "attack.suffix": "'{out}' must end in .html or .json.",
    "attack.ledger_and_dataset": "--ledger and --dataset belong together.",
    "attack.chance_alone": "--by-chance goes with --data and --population.",
    "attack.by_alone": "--by goes with --outside.",
    "attack.two_inputs": "A program needs two neighbouring inputs: --on and --beside.",
    "attack.program_alone": "A program is attacked by itself: leave the options for folders out.",
    "attack.needs_program": "--on, --beside and --claim go with --program.",
    "attack.command": "The program must be a command in which {input} and {output} stand for its two files.",
    "attack.failures": "{number} runs of the program ended without a table.",
    "attack.what": "what it is",
    "attack.numbers": "({broken} broken, {undecided} undecided, {held} held)",
    "attack.more": "  ... and {number} more; --json or --out has all.",
    "attack.remedy": "What would stop it: {remedy}",
    "attack.remarks": "To be known besides",
    "attack.not_applied": "Attacks that did not apply",
    "attack.broken": "{sentence}.",
    "attack.ended": "{sentence}. ",
    "attack.wrote": "Wrote {out}. Keep it where the data is kept.",
}
