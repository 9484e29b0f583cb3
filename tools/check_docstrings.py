"""Hold docstrings to signatures: parameters are described, once and under their names, and exceptions that are named exist.

Ruff asks for a description of every parameter where a section ``Args:`` is there (D417). It does not see names that the
signature does not have, attributes of classes, or exceptions that nobody defined. Give it folders or files; it prints what is
wrong, and fails.

    python tools/check_docstrings.py src papers/src
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SECTION = re.compile(r"^(\w[\w ]*):$")
ITEM = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \([^)]*\))?:(?: |$)")
SECTIONS = ("Args", "Attributes", "Raises")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def sections_of(docstring: str) -> dict[str, list[str]]:
    """The names that each section of a docstring lists, in order."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in docstring.expandtabs().splitlines():
        if line and not line.startswith(" "):
            heading = SECTION.match(line)
            name = heading.group(1) if heading else ""
            current = found.setdefault(name, []) if name in SECTIONS else None
        elif current is not None and line.startswith("    ") and not line.startswith("     "):
            item = ITEM.match(line.strip())
            if item:
                current.extend(name.strip().lstrip("*") for name in item.group(1).split(","))
    return found


def parameters_of(node: Function, *, is_method: bool) -> list[str]:
    """The names of a function's parameters, without self and cls."""
    arguments = node.args
    listed = [*arguments.posonlyargs, *arguments.args]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    names = [each.arg for each in (listed[1:] if is_method and not is_static else listed)]
    names += [each.arg for each in (arguments.vararg, *arguments.kwonlyargs, arguments.kwarg) if each is not None]
    return names


def fields_of(node: ast.ClassDef) -> list[str]:
    """The names of a class's annotated fields and properties, which its docstring may describe."""
    found = [
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    found += [
        each.targets[0].id
        for each in node.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    ]
    found += [each.name for each in node.body if isinstance(each, Function)]
    for method in (each for each in node.body if isinstance(each, Function)):
        for part in ast.walk(method):
            targets = (
                part.targets
                if isinstance(part, ast.Assign)
                else [part.target]
                if isinstance(part, ast.AnnAssign)
                else []
            )
            for target in targets:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name) and name.value.id == "self":
                        found.append(name.attr)
    return found


def exceptions_in(trees: list[ast.Module]) -> set[str]:
    """Every exception that Python or these modules define or import."""
    known = {name for name in dir(builtins) if name.endswith(("Error", "Exception", "Interrupt", "Exit", "Iteration"))}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                known.update((each.asname or each.name).rpartition(".")[2] for each in node.names)
    return known


def faults_of_function(node: Function, known: set[str], *, is_method: bool) -> Iterator[str]:
    """What is wrong with the docstring of a function."""
    said = sections_of(ast.get_docstring(node) or "")
    listed, has = said.get("Args"), parameters_of(node, is_method=is_method)
    if listed is not None:
        yield from (f"'{name}' is described and is no parameter" for name in listed if name not in has)
        yield from (
            f"'{name}' is described twice" for name in sorted({name for name in listed if listed.count(name) > 1})
        )
        yield from (f"the parameter '{name}' is not described" for name in has if name not in listed)
    yield from (f"Raises names '{name}', which does not exist" for name in said.get("Raises", ()) if name not in known)


def faults_of_class(node: ast.ClassDef, known: set[str]) -> Iterator[str]:
    """What is wrong with the docstring of a class: Args are those of its making, Attributes are there."""
    said = sections_of(ast.get_docstring(node) or "")
    making = next((each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None)
    fields = fields_of(node)
    has = parameters_of(making, is_method=True) if making is not None else fields
    if not node.bases or making is not None:  # else some come from above
        yield from (f"'{name}' is described and is no parameter" for name in said.get("Args", ()) if name not in has)
        known_fields = {*fields, *has}
        yield from (
            f"'{name}' is described and is no attribute"
            for name in said.get("Attributes", ())
            if name not in known_fields
        )
    if making is not None and "Args" in said:
        yield from (f"the parameter '{name}' is not described" for name in has if name not in said["Args"])
    yield from (f"Raises names '{name}', which does not exist" for name in said.get("Raises", ()) if name not in known)


def faults(files: list[Path]) -> list[str]:
    """Everything that is wrong in some files, a line for each."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    known = exceptions_in(list(trees.values()))
    found = []
    for file, tree in trees.items():
        inside = {id(each) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body}
        for node in ast.walk(tree):
            if isinstance(node, Function):
                told = faults_of_function(node, known, is_method=id(node) in inside)
            elif isinstance(node, ast.ClassDef):
                told = faults_of_class(node, known)
            else:
                continue
            found += [f"{file}:{node.lineno}: {node.name}: {fault}" for fault in told]
    return found


def main(places: list[str]) -> int:
    """Check files, and all Python files of folders; 1 if anything is wrong."""
    paths = [Path(place) for place in places] or [Path("src"), Path("papers/src")]
    files = sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py")))
    found = faults(files)
    print("\n".join(found) or f"{len(files)} files: docstrings and signatures agree.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
