"""Which sections of the guides use a public name: in their code, by what the page imports, or in their text.

Only the object itself counts, not a word that is spelt like it: the `start` of a system is no timer.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple

from sources import Place, file_of, place

IN_TITLE, IN_TEXT, IN_CODE = 8, 2, 1  # what a use weighs
_HEADING = re.compile(r'<h[1-3] id="([^"]+)"[^>]*>(.*?)(?:<a class="headerlink".*?)?</h[1-3]>', re.DOTALL)
_BLOCK = re.compile(r'class="language-(pycon|python) highlight">.*?<code>(.*?)</code>', re.DOTALL)
_INLINE = re.compile(r"(?<!</span>)<code>([^<\n]+)</code>")
_NAMED = re.compile(r"(?<![\w.\"'/-])(?:(?P<module>[\w.]+)\.)?(?P<name>[A-Za-z_]\w*)(?:(?P<called>\()|(?![\w=/-]))")
_TAG = re.compile(r"<[^>]+>")


class Section(NamedTuple):
    """A section of a guide: its address, its title, if it is not the top of the page, and how it uses each name."""

    anchor: str
    title: str
    uses: Counter[Place]


class Code(NamedTuple):
    """What a page imports from otf, and what it defines itself."""

    imported: Mapping[str, Place | str]
    own: frozenset[str]

    def named(self, module: str, name: str) -> Place | None:
        """Return the definition that a name, perhaps of a module, has on this page."""
        if not module:
            found = self.imported.get(name)
            return found if isinstance(found, Place) else None
        top, _, inner = module.partition(".")
        home = self.imported.get(top, top)
        return place(f"{home}.{inner}".strip("."), name) if isinstance(home, str) else None


def sections(html: str, known: Mapping[str, set[Place]]) -> Iterator[Section]:
    """Yield the sections of a page; `known` has the definitions of the public names of each spelling."""
    parts = _HEADING.split(html)
    code = _code([tree for text in parts for tree in _trees(text)])
    for at in range(1, len(parts), 3):
        anchor, title, text = parts[at : at + 3]
        uses = Counter(found for tree in _trees(text) for found in _used(tree, code))
        for weight, where in ((IN_TITLE, title), (IN_TEXT, text)):
            meant = {found for each in _INLINE.findall(where) for found in _meant(unescape(each), code, known)}
            uses.update(dict.fromkeys(meant, weight))
        yield Section(f"#{anchor}" * (at > 1), " ".join(unescape(_TAG.sub("", title)).split()) * (at > 1), uses)


def _trees(html: str) -> Iterator[ast.Module]:
    for kind, code in _BLOCK.findall(html):
        text = unescape(_TAG.sub("", code))
        examples = doctest.DocTestParser().get_examples(text) if kind == "pycon" else ()
        for each in [one.source for one in examples] if examples else [text]:
            try:
                yield ast.parse(each)
            except SyntaxError:
                continue  # a part of a file


def _code(trees: list[ast.Module]) -> Code:
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {name: found for node in nodes for name, found in _imports(node)}
    defined = {each.name for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    return Code(imported, frozenset(defined))


def _imports(node: ast.AST) -> Iterator[tuple[str, Place | str]]:
    if isinstance(node, ast.Import):
        yield from ((each.asname or "otf", each.name if each.asname else "otf") for each in node.names)
    elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "otf":
        for each in node.names:
            module = f"{node.module}.{each.name}"
            found = place(node.module or "", each.name) or (module if file_of(module) else None)
            if found:
                yield each.asname or each.name, found


def _used(tree: ast.Module, code: Code) -> Iterator[Place]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(name):
                found = code.named("", name)
            case ast.Attribute():
                found = code.named(ast.unparse(node.value), node.attr)
            case ast.ImportFrom():
                yield from (each for _, each in _imports(node) if isinstance(each, Place))
                continue
            case _:
                continue
        if found:
            yield found


def _meant(text: str, code: Code, known: Mapping[str, set[Place]]) -> Iterator[Place]:
    """Yield what a piece of code in a text names: a word without brackets, `_` or a capital needs an import."""
    for said in _NAMED.finditer(text):
        module, name, only = said["module"] or "", said["name"], known.get(said["name"], set())
        whole = said[0] == text
        if (found := code.named(module, name)) and (said["called"] or whole):
            yield found
        elif len(only) == 1 and not module and name not in code.own:
            yield from only if said["called"] or (whole and ("_" in name or name[0].isupper())) else ()
