"""How large `otf/` is: `python -m benchmarks.size [FOLDER]`, where FOLDER is a checkout (default: this one).

It counts the Python files below `otf/`, without links: `otf/adapters` and `otf/models` are other folders. It imports
nothing of them, so that a checkout of any time is counted by the same rules. A statement is what Python's grammar calls
one, docstrings left out; a public name is a name without an underscore at the top level of a module, and a documented
one stands in an `__all__`.
"""

from __future__ import annotations

import ast
import tomllib
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Size:
    """What was counted in a part of a tree."""

    lines: int = 0
    statements: int = 0
    files: int = 0
    functions: int = 0
    public: int = 0
    documented: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


def sources(root: Path) -> Iterator[Path]:
    """Yield the Python files below a folder, in order; links are not followed."""
    for path in sorted(root.iterdir()):
        if path.is_symlink() or path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from sources(path)
        elif path.suffix == ".py":
            yield path


def size_of(text: str) -> Size:
    """Return the size of one module, given its text."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    names = set(_names(tree))
    return Size(
        lines=len(text.splitlines()),
        statements=sum(isinstance(node, ast.stmt) for node in nodes) - sum(map(_documented, nodes)),
        files=1,
        functions=sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes),
        public=sum(not name.startswith("_") for name in names),
        documented=_exported(tree),
    )


def _documented(node: ast.AST) -> bool:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
        return False
    first = node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


def _exported(tree: ast.Module) -> int:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List() | ast.Tuple() as names):
                return len(names.elts)
            case _:
                pass
    return 0


def measure(root: Path) -> dict[str, Size]:
    """Return the size of each package in `root`/otf; modules beside them count as `(modules)`."""
    package = root / "otf"
    found: defaultdict[str, Size] = defaultdict(Size)
    for path in sources(package):
        inside = path.relative_to(package).parts
        found[inside[0] if len(inside) > 1 else "(modules)"] += size_of(path.read_text(encoding="utf-8"))
    return dict(found)


def engine(root: Path) -> Size:
    """Return the size of the engine: of the modules that a contract in pyproject.toml keeps free of tools."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    kept = [each["source_modules"] for each in settings["contracts"] if each["id"] == "engine"]
    places = [root.joinpath(*module.split(".")) for module in (kept or [[]])[0] if module != "otf.adapters"]
    found = [file for place in places for file in (sources(place) if place.is_dir() else [place.with_suffix(".py")])]
    return sum((size_of(file.read_text(encoding="utf-8")) for file in found), Size())


def table(sizes: dict[str, Size]) -> str:
    """Return the sizes as a table, the sum last."""
    rows = [("", *(field.name for field in fields(Size)))]
    rows += [(name, *(f"{number:,}" for number in astuple(size))) for name, size in sizes.items()]
    rows += [("otf/", *(f"{number:,}" for number in astuple(sum(sizes.values(), Size()))))]
    return "\n".join(f"{name:<14}" + "".join(f"{number:>12}" for number in numbers) for name, *numbers in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for a checkout."""
    parser = ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=HERE, help="a checkout (default: this one)")
    root = parser.parse_args(arguments).root
    print(table(measure(root)))
    print(f"of these, the engine has {engine(root).lines:,} lines in {engine(root).files} files")


if __name__ == "__main__":
    main()
