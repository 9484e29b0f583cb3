"""What the command that compares methods says in English."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "compare.help": "Protect the same people in many ways, and compare use and risk.\n\n"
    "Suppression, k-anonymity, swapping, cell keys, private tables and synthetic people: what a reader loses and what an "
    "attacker gains, as a table, a picture and a page. Uses the truth and draws noise from a seed: for research, or for whoever "
    "holds the data. Nothing is spent.",
    "compare.examples": "sudare compare --quick --out comparison\nsudare compare plan.toml --out comparison",
    "compare.file": "The plan: people, columns and methods. Left out with --quick.",
    "compare.out": "The folder for figures, pictures and page; must not exist. By default what the plan says, or comparison.",
    "compare.quick": "Compare on an invented town, without any file: seconds instead of minutes.",
    "compare.repeats": "How often each method is run. By default what the plan says, or 8; up to 6 with --quick.",
}

SPOKEN: Mapping[str, str] = {
    "stage.compare": "Protecting and attacking",
    "compare.plan_or_quick": "Give a plan, or --quick for an invented town; not both.",
    "compare.table": "In percent: what a reader loses, and what an attacker gains",
    "compare.method": "method",
    "compare.setting": "setting",
    "compare.read": "Misplaced: people counted in the wrong place. Told apart: 50 is guessing. Gain: how much more often a "
    "sensitive value is guessed of people in the data. Standard errors and more are on the page.",
    "compare.truth": "Measured by the truth, with noise from a seed: for research, or for whoever holds the data.",
}
