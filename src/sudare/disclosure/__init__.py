"""Statistical disclosure control of tables: rules that find unsafe cells, cells hidden to protect them, rounding, cell keys.

Everything works on two values: a `TableSystem` holds the cells of one or several linked tables and every sum among them, a
`CellTable` their exact values and largest contributors. The `rules` find the cells that must not be published, the rest of the
package protects them. Same input, same output, on every run.

- `structure`, `cell_table`, `linking`: cells and sums, from records or as finished tables, linked where they share cells.
- `rules`, `status`: unsafe cells and how uncertain they must stay.
- `secondary`, `problem`, `singletons`: which further cells to hide; `certificate` and `audit`: proof and intervals.
- `rounding`, `cell_key`, `merging`: other ways than hiding.
- `tau_argus`, `tau_argus_metadata`: files of tau-ARGUS.

Names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.disclosure.argus.files import read_apriori as read_apriori
    from sudare.disclosure.argus.files import read_records as read_records
    from sudare.disclosure.argus.files import read_table as read_table
    from sudare.disclosure.argus.files import status_lines as status_lines
    from sudare.disclosure.argus.files import table_of_records as table_of_records
    from sudare.disclosure.argus.files import write_status_table as write_status_table
    from sudare.disclosure.argus.metadata import ArgusMetadata as ArgusMetadata
    from sudare.disclosure.argus.metadata import Variable as Variable
    from sudare.disclosure.argus.metadata import dimension_of as dimension_of
    from sudare.disclosure.argus.metadata import read_hierarchy as read_hierarchy
    from sudare.disclosure.argus.metadata import read_metadata as read_metadata
    from sudare.disclosure.cell_key import PerturbationTable as PerturbationTable
    from sudare.disclosure.cell_key import cell_keys as cell_keys
    from sudare.disclosure.cell_key import maximum_entropy_row as maximum_entropy_row
    from sudare.disclosure.cell_key import perturbation_table as perturbation_table
    from sudare.disclosure.cell_key import read_perturbation_table as read_perturbation_table
    from sudare.disclosure.cell_key import record_keys as record_keys
    from sudare.disclosure.cell_table import Contributions as Contributions
    from sudare.disclosure.cell_table import aggregate as aggregate
    from sudare.disclosure.cell_table import scaled as scaled
    from sudare.disclosure.linking import aggregate_linked as aggregate_linked
    from sudare.disclosure.linking import cells_of as cells_of
    from sudare.disclosure.linking import link_tables as link_tables
    from sudare.disclosure.merging import MergedMeshes as MergedMeshes
    from sudare.disclosure.merging import estat_text as estat_text
    from sudare.disclosure.merging import merge_meshes as merge_meshes
    from sudare.disclosure.merging import write_estat as write_estat
    from sudare.disclosure.rounding import RoundedTable as RoundedTable
    from sudare.disclosure.rounding import controlled_rounding as controlled_rounding
    from sudare.disclosure.rules import Dominance as Dominance
    from sudare.disclosure.rules import MinimumFrequency as MinimumFrequency
    from sudare.disclosure.rules import PPercent as PPercent
    from sudare.disclosure.rules import PriorPosterior as PriorPosterior
    from sudare.disclosure.rules import Request as Request
    from sudare.disclosure.rules import Rule as Rule
    from sudare.disclosure.rules import ZeroCells as ZeroCells
    from sudare.disclosure.rules import cells_with_code as cells_with_code
    from sudare.disclosure.rules import primary_cells as primary_cells
    from sudare.disclosure.rules import strictest as strictest
    from sudare.disclosure.status import CellStatus as CellStatus
    from sudare.disclosure.status import PrimaryCells as PrimaryCells
    from sudare.disclosure.structure import CellTable as CellTable
    from sudare.disclosure.structure import Dimension as Dimension
    from sudare.disclosure.structure import Table as Table
    from sudare.disclosure.structure import TableSystem as TableSystem
    from sudare.disclosure.suppression.audit import Audit as Audit
    from sudare.disclosure.suppression.certificate import Certificate as Certificate
    from sudare.disclosure.suppression.certificate import Claim as Claim
    from sudare.disclosure.suppression.certificate import Witness as Witness
    from sudare.disclosure.suppression.problem import Requirement as Requirement
    from sudare.disclosure.suppression.problem import SuppressionProblem as SuppressionProblem
    from sudare.disclosure.suppression.secondary import Suppression as Suppression
    from sudare.disclosure.suppression.secondary import suppress as suppress
    from sudare.disclosure.suppression.singletons import LoneContributors as LoneContributors
    from sudare.disclosure.suppression.singletons import joint_cells as joint_cells
    from sudare.disclosure.suppression.singletons import lone_contributors as lone_contributors
    from sudare.disclosure.suppression.singletons import too_few as too_few

_HOMES = {
    "Audit": "suppression.audit",
    "CellStatus": "status",
    "CellTable": "structure",
    "Certificate": "suppression.certificate",
    "Claim": "suppression.certificate",
    "Contributions": "cell_table",
    "Dimension": "structure",
    "Dominance": "rules",
    "LoneContributors": "suppression.singletons",
    "MergedMeshes": "merging",
    "ArgusMetadata": "argus.metadata",
    "MinimumFrequency": "rules",
    "PPercent": "rules",
    "PerturbationTable": "cell_key",
    "PrimaryCells": "status",
    "PriorPosterior": "rules",
    "Request": "rules",
    "Requirement": "suppression.problem",
    "RoundedTable": "rounding",
    "Rule": "rules",
    "Suppression": "suppression.secondary",
    "SuppressionProblem": "suppression.problem",
    "Table": "structure",
    "TableSystem": "structure",
    "Variable": "argus.metadata",
    "Witness": "suppression.certificate",
    "ZeroCells": "rules",
    "aggregate": "cell_table",
    "aggregate_linked": "linking",
    "cell_keys": "cell_key",
    "cells_of": "linking",
    "cells_with_code": "rules",
    "controlled_rounding": "rounding",
    "dimension_of": "argus.metadata",
    "estat_text": "merging",
    "joint_cells": "suppression.singletons",
    "link_tables": "linking",
    "lone_contributors": "suppression.singletons",
    "maximum_entropy_row": "cell_key",
    "merge_meshes": "merging",
    "perturbation_table": "cell_key",
    "primary_cells": "rules",
    "read_apriori": "argus.files",
    "read_hierarchy": "argus.metadata",
    "read_metadata": "argus.metadata",
    "read_perturbation_table": "cell_key",
    "read_records": "argus.files",
    "read_table": "argus.files",
    "record_keys": "cell_key",
    "scaled": "cell_table",
    "status_lines": "argus.files",
    "strictest": "rules",
    "suppress": "suppression.secondary",
    "table_of_records": "argus.files",
    "too_few": "suppression.singletons",
    "write_estat": "merging",
    "write_status_table": "argus.files",
}
"""In which module each name is."""

__all__ = [
    "ArgusMetadata",
    "Audit",
    "CellStatus",
    "CellTable",
    "Certificate",
    "Claim",
    "Contributions",
    "Dimension",
    "Dominance",
    "LoneContributors",
    "MergedMeshes",
    "MinimumFrequency",
    "PPercent",
    "PerturbationTable",
    "PrimaryCells",
    "PriorPosterior",
    "Request",
    "Requirement",
    "RoundedTable",
    "Rule",
    "Suppression",
    "SuppressionProblem",
    "Table",
    "TableSystem",
    "Variable",
    "Witness",
    "ZeroCells",
    "aggregate",
    "aggregate_linked",
    "cell_keys",
    "cells_of",
    "cells_with_code",
    "controlled_rounding",
    "dimension_of",
    "estat_text",
    "joint_cells",
    "link_tables",
    "lone_contributors",
    "maximum_entropy_row",
    "merge_meshes",
    "perturbation_table",
    "primary_cells",
    "read_apriori",
    "read_hierarchy",
    "read_metadata",
    "read_perturbation_table",
    "read_records",
    "read_table",
    "record_keys",
    "scaled",
    "status_lines",
    "strictest",
    "suppress",
    "table_of_records",
    "too_few",
    "write_estat",
    "write_status_table",
]

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
