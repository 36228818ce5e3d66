"""The unknown names of a bench's file: Python stops at the first, and otf names all of them at once."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from otf.values.raised import meant_name

MOST: Final = 10
GIVEN: Final = {*dir(builtins), "__file__", "__builtins__"}  # the other names of a module are those of `builtins`


def further(path: Path, error: Exception) -> str:
    """Return the other unknown names of a file, each in a line to append to the error about the first; "" if none.

    Only names that the file binds nowhere count, and names that otf itself does not have: both are certain.
    """
    if not isinstance(error, NameError | ImportError):
        return ""
    with suppress(OSError, SyntaxError, ValueError):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {each: line for line, each in sorted({*_unbound(tree), *_unimported(tree)}, reverse=True)}
        # what a wrong import should have brought is no further mistake
        wrong = tuple(f"did you mean {_quoted(each)}?" for _, each in _unimported(tree))
        other = {each for each in found if _quoted(each) != _quoted(str(error)) and not each.endswith(wrong)}
        told = sorted((found[each], each) for each in other)
        return "".join(f"\n  line {line}: {each}" for line, each in told[:MOST])
    return ""


def _quoted(says: str) -> str:
    return "".join(says.split("'")[1:2])


def _unbound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    bound = {name for node in ast.walk(tree) for name in _bound(node)} | GIVEN
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in bound and "*" not in bound:
            yield node.lineno, _hinted(f"name '{node.id}' is not defined", meant_name(node.id, bound))


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case _:
            # PEP 695: the parameters of types, in Python 3.12 and newer
            yield from (each.name for each in getattr(node, "type_params", ()))


def _unimported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that the file imports from otf, and otf does not have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "otf" and not node.level:
            with suppress(ImportError):
                import_module(node.module or "")
            module = sys.modules.get(node.module or "")
            names = [*dir(module), *getattr(module, "__all__", ())]
            for each in node.names if module is not None else ():
                if each.name not in {*names, "*"} and not _is_module(f"{node.module}.{each.name}"):
                    says = f"cannot import name '{each.name}' from '{node.module}'"
                    yield node.lineno, _hinted(says, meant_name(each.name, names))


def _is_module(name: str) -> bool:
    with suppress(ImportError):
        import_module(name)
    return name in sys.modules


def _hinted(says: str, hint: str) -> str:
    return f"{says}; {hint}" if hint else says
