"""Finds every text in English and Japanese in the package's sources: pairs that stand side by side, and texts without a twin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

__all__ = ["Pair", "english_sentences", "faults_of", "has_texts", "lonely_texts", "module_of", "pairs_in"]

JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
BLANK = "\0"
OF_ONE_LANGUAGE = re.compile(r"_(ja|en|english|japanese)$")
LANGUAGES = {"english", "japanese", "en", "ja"}
CODE = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|「[^」]*」"  # what is quoted
    r"|\{[^}]*\}|\[[^\]]*\]|\0"  # blanks and sections of plans
    r"|https?://\S+|--[\w-]+(?:[ =][\w./-]+)?"  # addresses and options
    r"|\w+(?:,\w+)+"  # lists of keys
)
ENGLISH_WORD = r"(?<![\w.=/<>*-])[A-Za-z][a-z']*[a-z](?![\w.=/()<>*-])"
SENTENCE = re.compile(rf"(?:{ENGLISH_WORD}[ ,]+){{2,}}{ENGLISH_WORD}")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two texts side by side, the second in Japanese.

    Attributes:
        line: of the second.
        english: the first, with a mark in place of each value that is put in.
        japanese: the second, likewise.
        english_values: names of what is put into the first.
        japanese_values: names of what is put into the second.
        nodes: every part of both in the syntax tree.
    """

    line: int
    english: str
    japanese: str
    english_values: frozenset[str]
    japanese_values: frozenset[str]
    nodes: frozenset[int]


def pairs_in(tree: ast.Module) -> Iterator[Pair]:
    """All pairs of a module: arguments of a call, or items of a list, that follow each other."""
    for node in ast.walk(tree):
        items = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
        is_words = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Words"
        for first, second in pairwise(items):
            english, japanese = _text(first), _text(second)
            if english is None or japanese is None:
                continue
            if is_words or (JAPANESE.search(japanese[0]) and not JAPANESE.search(english[0])):
                yield Pair(
                    line=second.lineno,
                    english=english[0],
                    japanese=japanese[0],
                    english_values=_names(english[1]),
                    japanese_values=_names(japanese[1]),
                    nodes=frozenset(id(part) for text in (first, second) for part in ast.walk(text)),
                )


def lonely_texts(tree: ast.Module) -> list[tuple[int, str]]:
    """Japanese texts that stand beside no English one: their lines, and what they say. Docstrings may hold any language."""
    nodes = list(ast.walk(tree))
    found = [
        node
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and JAPANESE.search(node.value)
    ]
    if not found:
        return []
    paired = {node for pair in pairs_in(tree) for node in pair.nodes}
    paired |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [(node.lineno, str(node.value)) for node in found if id(node) not in paired]


def faults_of(pair: Pair) -> list[str]:
    """What is wrong with a pair; nothing if both say the same."""
    faults = []
    if bool(pair.english.strip()) != bool(pair.japanese.strip()):
        faults.append("one of them is empty")
    if pair.english_values != pair.japanese_values:
        faults.append(f"other values: {sorted(pair.english_values ^ pair.japanese_values)}")
    if sentences := english_sentences(pair.japanese):
        faults.append(f"English in Japanese: {sentences}")
    return faults


def english_sentences(japanese: str) -> list[str]:
    """Three or more English words in a row in a Japanese text, beyond code, keys and names."""
    return SENTENCE.findall(CODE.sub(BLANK, japanese))


def has_texts(path: Path) -> bool:
    """Whether a source file can hold a pair or a Japanese text: it has a Japanese letter, one by its number, or words."""
    text = path.read_text(encoding="utf-8")
    return bool(JAPANESE.search(text)) or "\\u" in text or "\\N" in text or "Words" in text


def module_of(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _text(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """The letters of a text with a mark for each value, and the values; None if it is no text."""
    if isinstance(node, ast.Constant):
        return (node.value, []) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        values = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        letters = [str(part.value) if isinstance(part, ast.Constant) else BLANK for part in node.values]
        return "".join(letters), values
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        if left is None and right is None:
            return None
        left, right = left or (BLANK, [node.left]), right or (BLANK, [node.right])
        return left[0] + right[0], left[1] + right[1]
    return None


def _names(values: list[ast.expr]) -> frozenset[str]:
    """Names in expressions, without those of languages, of constants and of methods, which may differ between languages."""
    called = {id(node.func) for value in values for node in ast.walk(value) if isinstance(node, ast.Call)}
    found = set()
    for value in values:
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and not node.id.isupper():
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and id(node) not in called:
                found.add(node.attr)
    return frozenset(OF_ONE_LANGUAGE.sub("", name) for name in found if name not in LANGUAGES)
