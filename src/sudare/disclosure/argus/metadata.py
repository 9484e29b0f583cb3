"""Metadata of tau-ARGUS: hierarchies (.hrc) and descriptions of variables (.rda).

Codes are compared without the blanks around them, which only fill fixed columns. Paths in the metadata often name folders
of another computer: the file of the same name beside the metadata is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath

from sudare.disclosure.status import CellStatus
from sudare.disclosure.structure import CodeTree, Dimension
from sudare.errors import InputError
from sudare.system.regular_files import read_regular_file

__all__ = ["ArgusMetadata", "Variable", "dimension_of", "read_argus_hierarchy", "read_argus_metadata", "read_lines"]

TOTAL = "Total"
KINDS = {
    "RECODEABLE", "NUMERIC", "WEIGHT", "HOLDING", "REQUEST", "FREQUENCY", "SHADOW", "COST", "COSTVAR", "MAXSCORE",
    "STATUS", "LOWERPL", "UPPERPL", "RECORDKEY",
}  # fmt: skip
"""What a variable can be for; other marks, such as distances, are for methods that are not offered here."""


@dataclass(frozen=True)
class Variable:
    """One variable of a metadata file.

    Attributes:
        name: of the variable.
        start: first column in a fixed-width file, from 0; None in files with separators.
        length: columns in a fixed-width file.
        missing: codes for missing values.
        kinds: what it is for, such as ``{"RECODEABLE"}`` or ``{"NUMERIC", "SHADOW"}``.
        decimals: digits after the point.
        total: the code of the total.
        hierarchy: path of the .hrc file as written; None without.
        lead: what marks the levels in that file.
        levels: digits of the code that make up each level, for codes that carry their hierarchy; empty without.
        requests: the codes that ask for protection.
    """

    name: str
    start: int | None = None
    length: int | None = None
    missing: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    decimals: int = 0
    total: str = TOTAL
    hierarchy: str | None = None
    lead: str = "@"
    levels: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArgusMetadata:
    """A metadata file.

    Attributes:
        folder: where it lies; files that it names are looked for there.
        variables: in the order of the file.
        separator: between the fields of a line; None for fixed columns.
        words: what the status column says for safe, unsafe and protected cells, each with its `CellStatus`.
    """

    folder: Path
    variables: tuple[Variable, ...]
    separator: str | None
    words: tuple[tuple[str, CellStatus], ...]

    def variable(self, name: str) -> Variable:
        """The variable of a name; upper and lower case are the same."""
        for one in self.variables:
            if one.name.lower() == name.lower():
                return one
        known = ", ".join(one.name for one in self.variables)
        raise InputError(
            f"The metadata has no variable '{name}'. It has: {known}.",
            f"メタデータに変数「{name}」がありません。あるのは {known} です。",
        )

    def of_kind(self, kind: str) -> Variable | None:
        """The first variable of a kind; None without."""
        return next((one for one in self.variables if kind in one.kinds), None)


def read_argus_hierarchy(
    path: str | Path, name: str, *, lead: str = "@", total: str = TOTAL, repeated: bool = False
) -> Dimension:
    r"""Read a .hrc file: one code on a line, with as many marks before it as it is deep below the first level.

    Args:
        path: of the file.
        name: of the dimension.
        lead: the mark.
        total: the code of the total, which the file leaves out.
        repeated: allow a code with parts that stands twice, as tau-ARGUS does; the second one becomes ``"code (2)"``.

    Raises:
        InputError: if a level is skipped, or a code stands twice.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "region.hrc").write_text("north\n@n1\n@n2\nsouth\n")
        ...     read_argus_hierarchy(Path(folder, "region.hrc"), "region").parents
        (-1, 0, 1, 1, 0)
    """
    if not lead:
        raise InputError(
            f"The mark of the levels in '{Path(path).name}' is empty. Give one character or more, such as '@'.",
            f"'{Path(path).name}' の階層を示す記号が空です。'@' など一文字以上を指定してください。",
        )
    codes, parents, above = [total], [-1], [0]
    times, lines = {total: 1}, {total: 0}
    for number, line in enumerate(read_lines(path), start=1):
        text = line.strip()
        if not text:
            continue
        depth = 0
        while text.startswith(lead):
            text, depth = text[len(lead) :], depth + 1
        code = text.strip()
        if depth >= len(above):
            raise InputError(
                f"Line {number} of '{Path(path).name}' skips a level: '{line.strip()}' is {depth} deep, and the line "
                f"before it allows at most {len(above) - 1}. Add the code between them.",
                f"'{Path(path).name}' の {number} 行目「{line.strip()}」は階層を飛ばしています（深さ {depth}、"
                f"この行で許されるのは {len(above) - 1} まで）。間のコードを加えてください。",
            )
        if not code:
            raise InputError(
                f"Line {number} of '{Path(path).name}' has no code.",
                f"'{Path(path).name}' の {number} 行目にコードがありません。",
            )
        times[code] = times.get(code, 0) + 1
        if repeated and times[code] > 1:
            code = f"{code} ({times[code]})"
        if code in lines:
            raise _second_place(path, code, number, lines[code])
        lines[code] = number
        codes.append(code)
        parents.append(above[depth])
        above[depth + 1 :] = [len(codes) - 1]
    return Dimension(name, tuple(codes), tuple(parents))


def _second_place(path: str | Path, code: str, number: int, first: int) -> InputError:
    """A code stands in two lines, or is the total's, which has no line."""
    if first:
        return InputError(
            f"Line {number} of '{Path(path).name}': the code '{code}' stands twice, here and in line {first}. "
            "Give each code one line.",
            f"'{Path(path).name}' の {number} 行目: コード「{code}」が二度あります（最初は {first} 行目）。"
            "各コードは一行だけに書いてください。",
        )
    return InputError(
        f"Line {number} of '{Path(path).name}': '{code}' is the code of the total, which the file leaves out. "
        "Remove the line, or give the total another code.",
        f"'{Path(path).name}' の {number} 行目: 「{code}」は総数のコードです。ファイルには書きません。"
        "行を除くか、総数に別のコードを付けてください。",
    )


def read_argus_metadata(path: str | Path) -> ArgusMetadata:
    r"""Read a .rda file: variables, one on a line, each followed by its marks.

    Args:
        path: of the file.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.rda").write_text("act 1 2 99\n  <RECODEABLE>\nsales 3 8\n  <NUMERIC> <DECIMALS> 2\n")
        ...     [(one.name, one.start, one.length, one.decimals) for one in read_argus_metadata(Path(folder, "a.rda")).variables]
        [('act', 0, 2, 0), ('sales', 2, 8, 2)]
    """
    variables: list[Variable] = []
    separator: str | None = None
    words = {
        CellStatus.SAFE: "S",
        CellStatus.UNSAFE_MANUAL: "U",
        CellStatus.PROTECTED: "P",
        CellStatus.EMPTY: "E",
    }
    for number, line in enumerate(read_lines(path), start=1):
        marks = re.findall(r"<([A-Za-z]+)>([^<]*)", line)
        if not line.strip():
            continue
        if not line.lstrip().startswith("<"):
            variables.append(_variable(line.split("<", 1)[0], separator is not None, path, number))
        for mark, rest in marks:
            kind, fields = mark.upper(), _fields(rest)
            if kind == "SEPARATOR":
                separator = (fields or [","])[0]
                if len(separator) != 1 or separator in '"\r\n':
                    raise InputError(
                        f"Line {number} of '{Path(path).name}': the separator must be one character, and not a quote.",
                        f"'{Path(path).name}' の {number} 行目: 区切り文字は引用符以外の一文字にしてください。",
                    )
            elif kind in ("SAFE", "UNSAFE", "PROTECT") and fields:
                word = {"SAFE": CellStatus.SAFE, "UNSAFE": CellStatus.UNSAFE_MANUAL, "PROTECT": CellStatus.PROTECTED}[
                    kind
                ]
                words[word] = fields[0]
            elif variables:
                variables[-1] = _marked(variables[-1], kind, fields, path, number)
    if not variables:
        raise InputError(
            f"'{Path(path).name}' holds no variables. A metadata file names one on each line that does not start with '<'.",
            f"'{Path(path).name}' に変数がありません。'<' で始まらない行に変数名を書いてください。",
        )
    ordered = tuple((word, status) for status, word in words.items())
    return ArgusMetadata(Path(path).parent, tuple(variables), separator, ordered)


def dimension_of(metadata: ArgusMetadata, name: str, codes: Iterable[str], *, repeated: bool = False) -> Dimension:
    """The tree of a variable: its hierarchy, or else every code of the data; then the missing codes.

    Args:
        metadata: that describes the variable.
        name: of the variable.
        codes: the codes that the data holds.
        repeated: see `read_argus_hierarchy`.

    Raises:
        InputError: the data holds a code that the hierarchy does not have; tau-ARGUS refuses it, too.
    """
    variable = metadata.variable(name)
    if "RECODEABLE" not in variable.kinds:
        raise InputError(
            f"The variable '{name}' is not marked <RECODEABLE>, so that it cannot span a table.",
            f"変数「{name}」に <RECODEABLE> がないため、表の軸にできません。",
        )
    held = sorted({code.strip() for code in codes} - {variable.total})
    found = [code for code in held if code not in variable.missing]
    if variable.hierarchy is not None:
        path = _file_beside(metadata.folder, variable.hierarchy)
        tree = read_argus_hierarchy(path, variable.name, lead=variable.lead, total=variable.total, repeated=repeated)
    elif variable.levels:
        tree = _tree_of_digits(variable, found)
    else:
        tree = Dimension.flat(variable.name, found, variable.total)
    for code in found:
        if variable.hierarchy is not None and code not in tree.position:
            raise InputError(
                f"The data holds the code '{code}' of '{variable.name}', which its hierarchy '{path.name}' does not have. Add it "
                "there, or mark it as missing in the metadata.",
                f"データにある「{variable.name}」のコード「{code}」が階層 '{path.name}' にありません。"
                "階層に加えるか、メタデータで欠測コードにしてください。",
            )
    return tree.extended((*found, *variable.missing))


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, in UTF-8 or else in the usual encoding of Windows."""
    try:
        raw = read_regular_file(path)
    except FileNotFoundError:
        name = Path(path).name
        raise InputError(f"There is no file '{name}'.", f"ファイル '{name}' がありません。") from None
    except OSError:
        name = Path(path).name
        raise InputError(f"The file '{name}' cannot be read.", f"ファイル '{name}' を読めません。") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    return text.splitlines()


def _fields(text: str) -> list[str]:
    """Words separated by blanks; quotes hold a word together."""
    return [plain or quoted for quoted, plain in re.findall(r'"([^"]*)"|([^\s"]+)', text)]


def _variable(line: str, separated: bool, path: str | Path, number: int) -> Variable:
    """The name, the columns in a fixed-width file or the width of a separated one, and the missing codes."""
    fields = _fields(line)
    if not fields or not fields[0]:
        raise InputError(
            f"Line {number} of '{Path(path).name}' has no name of a variable.",
            f"'{Path(path).name}' の {number} 行目に変数名がありません。",
        )
    plain = re.match(r"\s*\S+((?:\s+\d+)*)", line)
    places = [int(field) for field in plain.group(1).split()] if plain else []
    if separated:
        return Variable(fields[0], missing=_codes(fields[2:] if places else fields[1:]))
    if not places:
        return Variable(fields[0], missing=_codes(fields[1:]))
    if len(places) < 2 or min(places[:2]) < 1:
        raise InputError(
            f"Line {number} of '{Path(path).name}': a variable needs its first column and its length, both 1 or more.",
            f"'{Path(path).name}' の {number} 行目: 変数には 1 以上の開始桁と長さが必要です。",
        )
    return Variable(fields[0], places[0] - 1, places[1], _codes(fields[3:]))


def _codes(fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(field.strip() for field in fields if field.strip())


def _marked(variable: Variable, kind: str, fields: list[str], path: str | Path, number: int) -> Variable:
    """A variable with one more mark."""
    if kind in KINDS:
        variable = replace(variable, kinds=variable.kinds | {kind})
    if kind == "REQUEST":
        return replace(variable, requests=tuple(fields))
    if not fields:
        return variable
    if kind in ("DECIMALS", "HIERLEVELS") and not all(re.fullmatch("[0-9]{1,3}", field) for field in fields):
        raise InputError(
            f"Line {number} of '{Path(path).name}': <{kind}> needs whole numbers.",
            f"'{Path(path).name}' の {number} 行目: <{kind}> には整数が必要です。",
        )
    if kind == "DECIMALS":
        return replace(variable, decimals=int(fields[0]))
    if kind == "TOTCODE":
        return replace(variable, total=fields[0])
    if kind == "HIERCODELIST":
        return replace(variable, hierarchy=fields[0])
    if kind == "HIERLEADSTRING":
        return replace(variable, lead=fields[0])
    if kind == "HIERLEVELS":
        return replace(variable, levels=tuple(int(field) for field in fields))
    return variable


def _file_beside(folder: Path, written: str) -> Path:
    """The file that a path means: as written, or one of the same name in the folder, whatever the case of its letters."""
    name = PureWindowsPath(written).name
    if (folder / name).is_file():
        return folder / name
    if folder.is_dir():
        for found in sorted(folder.iterdir()):
            if found.name.lower() == name.lower():
                return found
    raise InputError(
        f"The hierarchy file '{name}' is not beside the metadata. Put it into the same folder.",
        f"階層ファイル '{name}' がメタデータと同じフォルダにありません。同じフォルダに置いてください。",
    )


def _tree_of_digits(variable: Variable, codes: Sequence[str]) -> Dimension:
    """A tree whose nodes are the first digits of the codes."""
    widths = [sum(variable.levels[: place + 1]) for place, digits in enumerate(variable.levels) if digits > 0]
    tree: CodeTree = {}
    for code in codes:
        branch = tree
        for width in widths:
            branch = branch.setdefault(code[:width], {})
            if len(code) <= width:
                break
    return Dimension.of_tree(variable.name, tree, variable.total)
