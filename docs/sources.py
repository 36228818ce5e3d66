"""Where a public name is defined: read from the imports of its package, for functions, values and aliases alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
SOURCES = ("otf", "adapters", "models")
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Place(NamedTuple):
    """A definition: its file in the repository, its name there, and the words with which its line begins."""

    file: str
    name: str
    begin: str

    @property
    def link(self) -> str:
        """Return the address of the definition in the site, from a page of the reference."""
        return f"../{self.file}.txt#:~:text={quote(self.begin).replace('-', '%2D')}"


def file_of(module: str) -> str:
    """Return the file of a module, or nothing if there is none."""
    path = re.sub(r"^otf/(?=adapters|models)", "", module.replace(".", "/"))
    return next((each for each in (f"{path}/__init__.py", f"{path}.py") if (ROOT / each).is_file()), "")


@cache
def place(module: str, name: str) -> Place | None:
    """Return where a name of a module is defined: in its file, or where it imports the name from."""
    file = file_of(module)
    for node in _statements(file):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                if name == (each.asname or each.name) and (found := place(node.module or "", each.name)):
                    return found
        elif name in _defined(node):
            line = (ROOT / file).read_text(encoding="utf-8").splitlines()[node.lineno - 1]
            begin = re.match(rf"(?:(?:async )?def |class )?(?:\w+, )*{name}\b(?:: \w+| =)?", line)
            return Place(file, name, begin[0] if begin else name)
    return None


@cache
def definitions(file: str) -> dict[str, Definition]:
    """Return the functions and classes of a file."""
    return {each.name: each for each in _statements(file) if isinstance(each, Definition)}


@cache
def _statements(file: str) -> list[ast.stmt]:
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body if file else []
    return [*_flat(body)]


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for each in body:
        yield each
        yield from _flat(each.body) if isinstance(each, ast.If) else ()


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        case ast.AnnAssign(ast.Name(name)):
            return [name]
        case _:
            return []
