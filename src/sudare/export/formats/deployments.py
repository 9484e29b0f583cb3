"""A draft of a record for OpenDP's registry of deployments of differential privacy, as YAML in the registry's own schema.

The schema is that of the repository opendp/deployments-registry-data at commit 057e5d8 (``schemas/deployments-schema.yaml``).
What a plan does not say is left for whoever submits the record: each such line ends in a comment that says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.export.dense import require_cube
from sudare.export.description import PublishedCube
from sudare.export.export_words import NO_DEPLOYMENT

if TYPE_CHECKING:
    from sudare.export.format import Publication

__all__ = ["DEPLOYMENT_RECORD", "ToFillIn"]

VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP")
UNPRINTABLE = re.compile("[\x7f-\x9f\ufeff\u2028\u2029\ufffe\uffff]")
"""Characters that JSON writes as they are, and YAML does not read so."""


@dataclass(frozen=True)
class ToFillIn:
    """A value that the release does not state: a placeholder that the schema accepts, for people to look at.

    Attributes:
        value: the placeholder.
    """

    value: str


READ_BY = Words(
    "a draft of a record for OpenDP's registry of deployments of differential privacy",
    "OpenDP の差分プライバシー導入事例登録簿に出す記録の下書き",
)


@dataclass(frozen=True)
class DeploymentRecord:
    """A record of OpenDP's registry."""

    suffix: str = ".yaml"
    words: Words = READ_BY

    def require_room(self, publication: Publication) -> None:
        """Refuse what has no differential privacy."""
        _require_deployment(publication)

    def write(self, publication: Publication, path: Path) -> None:
        """Write the file."""
        cube = _require_deployment(publication)
        lines = ["# A draft: look through it, and fill in what is marked, before you submit it.", *_yaml(_record(cube))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _require_deployment(publication: Publication) -> PublishedCube:
    if publication.head.deployment is None:
        raise OutputError(NO_DEPLOYMENT)
    return require_cube(publication, Words.same("opendp-registry"))


def _record(cube: PublishedCube) -> dict[str, object]:
    head = cube.head
    stated: Mapping[str, Any] = head.deployment or {}
    product, flavour, loss = stated["product"], stated["dp_flavor"], stated["privacy_loss"]
    model, accounting, made = stated["model"], stated["accounting"], stated["implementation"]
    curators = [str(one) for one in product["data_curators"]]
    exact = [str(one) for one in flavour["unprotected_quantities"]]
    variant = str(flavour["name"])
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", head.name.lower()).strip("-") or "release",
        "deployment": {
            "basic": {
                "name": str(product["name"]),
                "data_curators": [
                    {
                        "data_curator_name": curator if curator else ToFillIn(""),
                        "data_curator_type": ToFillIn("Government"),
                    }
                    for curator in curators or [""]
                ],
                "description": str(product["description"]) or ToFillIn(""),
                "intended_use": ToFillIn(""),
                "data_product_type": str(product["data_product_type"]),
                "data_product_region": "Japan" if cube.mesh is not None else ToFillIn(""),
                "publication_date": str(product["publication_date"]),
            },
            "dp_variant": {
                "variant_name": variant if variant in VARIANTS else "Custom",
                "data_domain": str(flavour["data_domain"]),
                "unprotected_quantities": "; ".join(exact) or "None",
            },
            "privacy_loss": {
                "privacy_unit": str(loss["privacy_unit"]),
                "privacy_unit_details": str(loss["privacy_unit_description"]),
                "privacy_parameters": {key: float(value) for key, value in loss["privacy_parameters"].items()},
            },
            "deployment_model": {
                key: str(model[key]) for key in ("model_name", "release_type", "data_source_type", "access_type")
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": str(made["pre_processing_eda_hyperparameter_tuning"]),
                "mechanisms": str(made["mechanisms"]),
                "composition": str(accounting["composition"]),
                "post_processing": str(accounting["post_processing"]),
                "justification": str(made["justification"]),
                "utility": _utility(cube),
                "additional_information": " ".join(fact.value.english for fact in head.facts if fact.key == "origin"),
            },
            "administrative": {
                "status": "Draft",
                "registry_authors": [curators[0] if curators else ToFillIn("-")],
                "tier": 3,
            },
        },
    }


def _utility(cube: PublishedCube) -> str:
    told = [f"{error.what.english}: {error.rmse:.4g}" for error in cube.head.errors]
    return f"Expected root mean squared errors. {'; '.join(told)}" if told else ""


def _yaml(value: Mapping[str, object], indent: str = "") -> Iterator[str]:
    """Mappings as blocks, texts as JSON writes them: every YAML reader reads them back as they were."""
    for key, one in value.items():
        if isinstance(one, Mapping):
            yield f"{indent}{key}:"
            yield from _yaml(one, indent + "  ")
        elif isinstance(one, Sequence) and not isinstance(one, str):
            yield f"{indent}{key}:"
            for item in one:
                if isinstance(item, Mapping):
                    first, *others = _yaml(item, indent + "    ")
                    yield f"{indent}  - {first.strip()}"
                    yield from others
                else:
                    yield f"{indent}  - {_scalar(item)}"
        else:
            yield f"{indent}{key}: {_scalar(one)}"


def _scalar(value: object) -> str:
    if isinstance(value, ToFillIn):
        return f"{_scalar(value.value)} # not stated in the release: fill it in"
    if isinstance(value, float):
        # YAML reads 1e-06 as a text, and 1.0e-06 as a number.
        text = repr(value)
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if isinstance(value, int):
        return str(value)
    text = json.dumps(str(value), ensure_ascii=False)
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


DEPLOYMENT_RECORD = DeploymentRecord()
