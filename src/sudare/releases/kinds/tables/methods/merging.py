"""Merged meshes: the attributes of meshes with few people are counted in a neighbour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.disclosure.merging import MergedMeshes, merge_meshes, write_estat
from sudare.errors import InputError
from sudare.releases.kinds.tables.attacking.mesh_attacks import attack_meshes
from sudare.releases.kinds.tables.confidential_document import ConfidentialDocument, DataHash
from sudare.releases.kinds.tables.document import document_of_meshes
from sudare.releases.kinds.tables.methods.method import DisclosureMethod, MethodWords, TableDraft
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.planning.input_plan import MeshInput
from sudare.releases.kinds.tables.planning.protection_plan import whole_within
from sudare.releases.kinds.tables.published_meshes import mesh_text, read_published_meshes
from sudare.releases.kinds.tables.sources import Meshes, hash_of_input, read_meshes
from sudare.releases.verification import UnsoundError
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["MERGING", "MergeMeshes"]

ESTAT = "table-estat.csv"
WORDS = MethodWords(
    name=Words("Merged meshes", "メッシュの合算"),
    protects=Words(
        "The attributes of meshes with fewer than {minimum} people are counted in a neighbour, so that published attributes "
        "always stand for at least {minimum} people.",
        "人口 {minimum} 人未満のメッシュの属性は近くのメッシュに合算しており、"
        "公表される属性は常に {minimum} 人以上についてのものです。",
    ),
    keeps=Words(
        "The population of every mesh, and every total over merged meshes.",
        "各メッシュの人口と、合算したメッシュ全体の合計。",
    ),
    limits=Words(
        "Not covered: what a large share of the people in a mesh have in common, and tables with other merged meshes.",
        "対象外: メッシュの大半の人に共通すること、合算の仕方が異なる別の表。",
    ),
)
ATTACKS = {
    "merging": Words("People behind the published attributes", "公表した属性の人数を調べる"),
    "differencing": Words("Differences with meshes published before", "以前に公表したメッシュとの差を取る"),
}


@dataclass(frozen=True)
class MergeMeshes:
    """Count the attributes of meshes with few people in a neighbour.

    Attributes:
        minimum: people that published attributes must stand for.
    """

    minimum: int


class _MeshMerging(DisclosureMethod[MergeMeshes, Meshes, MergedMeshes]):
    """Meshes of which some are counted in others."""

    name = "merge-meshes"
    keys = ("minimum",)
    words = WORDS
    attack_words = ATTACKS
    is_of_meshes = True
    shows_true_values = True
    formats = ("e-stat",)

    def read_settings(self, section: Section, base: Path) -> MergeMeshes:
        return MergeMeshes(whole_within(section, "minimum", 2, 10**6))

    def read_data(self, plan: TablePlan) -> Meshes:
        return read_meshes(_meshes_of(plan))

    def protect(self, plan: TablePlan, settings: MergeMeshes, data: Meshes) -> MergedMeshes:
        source = _meshes_of(plan)
        people = {source.population: data.population}
        try:
            return merge_meshes(data.codes, source.level, people, data.values, settings.minimum)
        except InputError as error:
            raise InputError(f"{source.path.name}: {error.english}", f"{source.path.name}: {error.japanese}") from None

    def public_settings(self, plan: TablePlan, settings: MergeMeshes, result: MergedMeshes) -> MergeMeshes:
        return settings

    def write(self, plan: TablePlan, settings: MergeMeshes, result: MergedMeshes, folder: Path) -> TableDraft:
        files = [folder / "table.csv"]
        files[0].write_text(mesh_text(result), encoding="utf-8", newline="")
        if "e-stat" in plan.formats:
            files.append(folder / ESTAT)
            write_estat(files[-1], result)
        confidential = ConfidentialDocument(input=DataHash(sha256=hash_of_input(plan)))
        told = self.public_settings(plan, settings, result)
        document = document_of_meshes(plan, self.words_for(settings), told, result, files, _meshes_of(plan).level)
        return TableDraft(document=document, confidential=confidential)

    def attack(self, folder: Path, document: Mapping[str, Any], earlier: Sequence[Path]) -> tuple[AttackReport, ...]:
        return attack_meshes(folder, document, earlier)

    def check_published(self, folder: Path, document: Mapping[str, Any]) -> tuple[str, str]:
        meshes = read_published_meshes(folder, document)
        least = whole_number(document["settings"]["minimum"])
        if any(0 < people < least for _, people in meshes.groups().values()):
            raise UnsoundError("attributes of too few people are shown", "人数の少ない属性が公表されています")
        return "all attributes stand for enough people", "すべての属性が下限以上の人数についてのものです"


def _meshes_of(plan: TablePlan) -> MeshInput:
    if not isinstance(plan.source, MeshInput):
        raise TypeError("a plan for other tables")
    return plan.source


MERGING = _MeshMerging()
