"""What the command that protects tables says in English."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "panel.tables": "Tables, the classical way",
    "protect.help": "Carry out a plan for a table: hide, round or perturb unsafe cells.\n\n"
    "Linked tables are protected as one. What would be published is attacked first, and not written if an attack succeeds. "
    "This is not differential privacy.",
    "protect.examples": "sudare protect plan.toml --out protected\nsudare protect plan.toml --check",
    "protect.file": "The plan: what is read, which cells are unsafe, and what is done to them.",
    "protect.out": "The folder for the table and the report; must not exist. By default what the plan says.",
    "protect.check": "Only check the plan and show what it would do. No data is read.",
    "protect.even_if_broken": "Publish even if an attack on the result succeeds; the report says so.",
}

SPOKEN: Mapping[str, str] = {
    "stage.tables.read": "Reading the table",
    "stage.tables.protect": "Protecting cells",
    "stage.tables.write": "Writing the table",
    "stage.tables.attack": "Attacking the result",
    "protect.method": "method",
    "protect.table": "table",
    "protect.rule": "rule",
    "protect.earlier": "earlier",
    "protect.checked": "The plan is sound. No data was read.",
    "protect.done": "Done. Files whose names begin with 'confidential' are yours alone: publish the others.",
    "protect.was_broken": "An attack broke this table. It was published because you said --even-if-broken.",
    "protect.lost": "The ledger knows of a table in '{folder}' that is not there any more, or was changed: it was not attacked.",
    "protect.left_out": "The ledger knows of a table in '{folder}' that cannot be compared with this one: it was not attacked.",
    "check.report": "report",
    "check.tables": "published table",
    "check.confidential": "confidential files",
    "check.certificate": "proof that hidden cells are safe",
}
