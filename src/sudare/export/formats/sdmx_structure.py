"""The structure message of SDMX-ML 2.1: code lists, concepts, the data structure and its data flow.

Identifiers of SDMX are plain letters and digits. A name or a code that is none gets one (``D1``, ``C3``), and keeps its own words
as its name, in both languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from sudare.bilingual import Words
from sudare.export import export_words as texts
from sudare.export.description import PublicationHead, PublishedCube, SpanningDimension

__all__ = [
    "AGENCY",
    "ATTRIBUTES",
    "CONF_STATUS",
    "VERSION",
    "SdmxNames",
    "attribute_text",
    "head_lines",
    "names_for",
    "structure_lines",
]

AGENCY, VERSION = "SUDARE", "1.0"
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may have."""

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
CODE = re.compile(r"[A-Za-z0-9_@$-]{1,100}")
ATTRIBUTES: dict[str, Words] = {
    "TITLE": texts.LABELS["title"],
    "PUBLISHER": texts.LABELS["publisher"],
    "COMMENT_DSET": texts.LABELS["note"],
    "PRIVACY_BUDGET": texts.LABELS["budget"],
    "STD_ERROR": texts.RMSE,
    "STD_ERROR_LOW": texts.LOW,
    "STD_ERROR_HIGH": texts.HIGH,
}
"""Of the whole data set."""

CONF_STATUS = "CONF_STATUS"
RESERVED = {*ATTRIBUTES, CONF_STATUS, "OBS_VALUE", "TIME_PERIOD", "DATASET", "OBS"}
NAMESPACES = (
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message" '
    'xmlns:str="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure" '
    'xmlns:com="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"'
)


@dataclass(frozen=True)
class SdmxNames:
    """The identifiers of a table.

    Attributes:
        structure: of the data structure.
        dimensions: one for each dimension.
        codes: those of each dimension.
        has_status: whether cells have a status of confidentiality.
    """

    structure: str
    dimensions: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    has_status: bool


def names_for(cube: PublishedCube) -> SdmxNames:
    """The identifiers of a table."""
    taken: set[str] = set(RESERVED)
    dimensions = []
    for number, dimension in enumerate(cube.dimensions, start=1):
        name = dimension.name.upper()
        fits = IDENTIFIER.fullmatch(name) is not None and name not in taken
        dimensions.append(name if fits else f"D{number}")
        taken.add(dimensions[-1])
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", cube.head.name).strip("_").upper()[:40]
    structure = plain if IDENTIFIER.fullmatch(plain) else f"T_{plain}".strip("_")
    codes = tuple(_codes(one) for one in cube.dimensions)
    return SdmxNames(structure, tuple(dimensions), codes, bool(cube.hidden.any()))


def _codes(dimension: SpanningDimension) -> tuple[str, ...]:
    if all(CODE.fullmatch(code) for code in dimension.codes):
        return dimension.codes
    return tuple(f"C{number}" for number in range(1, len(dimension) + 1))


def attribute_text(text: str) -> str:
    """A text as the value of an attribute, in its quotation marks; line ends and tabs are kept."""
    return quoteattr(ILLEGAL.sub("", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _element_text(text: str) -> str:
    return escape(ILLEGAL.sub("", text), {"\r": "&#13;"})


def _named(words: Words, language: str) -> Iterator[str]:
    for one in (language, "en" if language == "ja" else "ja"):
        yield f'<com:Name xml:lang="{one}">{_element_text(words.explain(one)) or "-"}</com:Name>'


def head_lines(head: PublicationHead, names: SdmxNames, message: str) -> Iterator[str]:
    """The beginning of a header, as far as all messages have it.

    Args:
        head: of the publication.
        names: its identifiers.
        message: of the message's own identifier.
    """
    yield f"<mes:ID>{names.structure}_{message}</mes:ID>"
    yield "<mes:Test>false</mes:Test>"
    yield f"<mes:Prepared>{_element_text(head.created)}</mes:Prepared>"
    yield f'<mes:Sender id="{AGENCY}">'
    yield from _named(Words.same(head.publisher), head.language)
    yield "</mes:Sender>"


def structure_lines(cube: PublishedCube, names: SdmxNames) -> Iterator[str]:
    """The whole message, line by line."""
    language = cube.head.language
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<mes:Structure {NAMESPACES}>"
    yield "<mes:Header>"
    yield from head_lines(cube.head, names, "STRUCTURE")
    yield "</mes:Header>"
    yield "<mes:Structures>"
    title = Words.same(cube.head.title)
    yield "<str:Dataflows>"
    yield f'<str:Dataflow id="DF_{names.structure}" {_maintained()}>'
    yield from _named(title, language)
    yield f"<str:Structure>{_reference('datastructure', 'DataStructure', 'DSD_' + names.structure)}</str:Structure>"
    yield "</str:Dataflow></str:Dataflows>"
    yield "<str:Codelists>"
    for name, codes, dimension in zip(names.dimensions, names.codes, cube.dimensions, strict=True):
        yield from _code_list(f"CL_{name}", codes, dimension, language)
    if names.has_status:
        yield from _status_list(language)
    yield "</str:Codelists>"
    yield from _concepts(cube, names)
    yield from _data_structure(title, names, cube.decimals, language)
    yield "</mes:Structures></mes:Structure>"


def _maintained() -> str:
    return f'agencyID="{AGENCY}" version="{VERSION}"'


def _reference(package: str, kind: str, name: str) -> str:
    return f'<Ref package="{package}" agencyID="{AGENCY}" id="{name}" version="{VERSION}" class="{kind}"/>'


def _code_list(name: str, codes: Sequence[str], dimension: SpanningDimension, language: str) -> Iterator[str]:
    yield f'<str:Codelist id="{name}" {_maintained()}>'
    yield from _named(Words.same(dimension.name), language)
    parents = dimension.parents or (-1,) * len(codes)
    for code, label, parent in zip(codes, dimension.labels, parents, strict=True):
        yield f'<str:Code id="{code}">'
        yield from _named(Words.same(label), language)
        if parent >= 0:
            yield f'<str:Parent><Ref id="{codes[parent]}"/></str:Parent>'
        yield "</str:Code>"
    yield "</str:Codelist>"


def _status_list(language: str) -> Iterator[str]:
    yield f'<str:Codelist id="CL_{CONF_STATUS}" {_maintained()}>'
    yield from _named(texts.STATUS, language)
    for code, words in (("F", texts.SHOWN), ("C", texts.HIDDEN)):
        yield f'<str:Code id="{code}">'
        yield from _named(words, language)
        yield "</str:Code>"
    yield "</str:Codelist>"


def _concepts(cube: PublishedCube, names: SdmxNames) -> Iterator[str]:
    language = cube.head.language
    yield f'<str:Concepts><str:ConceptScheme id="CS_{names.structure}" {_maintained()}>'
    yield from _named(Words.same(cube.head.title), language)
    listed: list[tuple[str, Words]] = [
        *((name, Words.same(one.name)) for name, one in zip(names.dimensions, cube.dimensions, strict=True)),
        ("OBS_VALUE", Words.same(cube.value_name)),
        *ATTRIBUTES.items(),
    ]
    if names.has_status:
        listed.append((CONF_STATUS, texts.STATUS))
    for name, words in listed:
        yield f'<str:Concept id="{name}">'
        yield from _named(words, language)
        yield "</str:Concept>"
    yield "</str:ConceptScheme></str:Concepts>"


def _data_structure(title: Words, names: SdmxNames, decimals: int, language: str) -> Iterator[str]:
    yield f'<str:DataStructures><str:DataStructure id="DSD_{names.structure}" {_maintained()}>'
    yield from _named(title, language)
    yield '<str:DataStructureComponents><str:DimensionList id="DimensionDescriptor">'
    for position, name in enumerate(names.dimensions, start=1):
        yield f'<str:Dimension id="{name}" position="{position}">{_concept_of(name, names)}'
        yield f"<str:LocalRepresentation><str:Enumeration>{_reference('codelist', 'Codelist', 'CL_' + name)}"
        yield "</str:Enumeration></str:LocalRepresentation></str:Dimension>"
    yield '</str:DimensionList><str:AttributeList id="AttributeDescriptor">'
    for name in ATTRIBUTES:
        yield f'<str:Attribute id="{name}" assignmentStatus="Conditional">{_concept_of(name, names)}'
        yield '<str:LocalRepresentation><str:TextFormat textType="String"/></str:LocalRepresentation>'
        yield "<str:AttributeRelationship><str:None/></str:AttributeRelationship></str:Attribute>"
    if names.has_status:
        yield f'<str:Attribute id="{CONF_STATUS}" assignmentStatus="Conditional">{_concept_of(CONF_STATUS, names)}'
        yield f"<str:LocalRepresentation><str:Enumeration>{_reference('codelist', 'Codelist', 'CL_' + CONF_STATUS)}"
        yield "</str:Enumeration></str:LocalRepresentation><str:AttributeRelationship>"
        yield '<str:PrimaryMeasure><Ref id="OBS_VALUE"/></str:PrimaryMeasure></str:AttributeRelationship></str:Attribute>'
    yield '</str:AttributeList><str:MeasureList id="MeasureDescriptor">'
    kind = "Long" if decimals == 0 else "Decimal"
    yield f'<str:PrimaryMeasure id="OBS_VALUE">{_concept_of("OBS_VALUE", names)}'
    yield f'<str:LocalRepresentation><str:TextFormat textType="{kind}"/></str:LocalRepresentation></str:PrimaryMeasure>'
    yield "</str:MeasureList></str:DataStructureComponents></str:DataStructure></str:DataStructures>"


def _concept_of(name: str, names: SdmxNames) -> str:
    return (
        f'<str:ConceptIdentity><Ref agencyID="{AGENCY}" class="Concept" id="{name}" maintainableParentID="CS_{names.structure}" '
        f'maintainableParentVersion="{VERSION}" package="conceptscheme"/></str:ConceptIdentity>'
    )
