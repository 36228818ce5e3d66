"""Reading the DOT dialect of automata-learning tools: Mealy machines (`a/x` at edges), and Moore machines."""

from __future__ import annotations

import re
from typing import Any, Final

from otf.fronts.labels import Label, bounded, label, outputs, whole, wrong
from otf.fronts.table import Written

_NAME: Final = r'(?:"(?:[^"\\]|\\.)*"|[\w.\-]+)'
_EDGE: Final = re.compile(rf"({_NAME})\s*->\s*({_NAME})\s*(?:\[(.*)\])?$", re.DOTALL)
_NODE: Final = re.compile(rf"({_NAME})\s*(?:\[(.*)\])?$", re.DOTALL)
_LABEL: Final = re.compile(r'\b(?:x?label)\s*=\s*("(?:[^"\\]|\\.)*"|<[^>]*>|[\w./\-]+)')
_START: Final = re.compile(r"_*(?:start|init)\w*$", re.IGNORECASE)
_WORDS: Final = frozenset({"node", "edge", "graph"})


def read_dot(text: str, name: str = "dot") -> Written:
    """Return the spec in the text of a DOT file as AALpy, LearnLib and others write them.

    Edges bear `input/output`. In a Moore machine nodes bear `name|output` and edges inputs alone: then the output is
    that of the state which is reached. The initial state is that to which an edge leads from a node `__start0`, or the
    first one.

    >>> one = read_dot('digraph { __start0 -> s0; s0 -> s1 [label="a/x"]; }')
    >>> one.initial, list(one.step("s0", "a"))
    ('s0', [Transition(state='s1', outputs=('x',), within=None)])
    """
    file = _File(name)
    for line, statement in _statements(bounded(text, name), name):
        file.take(line, statement)
    return file.spec()


class _File:
    def __init__(self, name: str) -> None:
        self.name = name
        self.moore: dict[str, tuple[str, ...]] = {}
        self.edges: list[tuple[str, Label, str]] = []
        self.nodes: dict[str, None] = {}
        self.initial: str | None = None

    def take(self, line: int, statement: str) -> None:
        """Take one statement."""
        if found := _EDGE.match(statement):
            self._edge(line, _bare(found[1]), _bare(found[2]), found[3] or "")
        elif (found := _NODE.match(statement)) and _bare(found[1]) not in _WORDS:
            self._node(_bare(found[1]), found[2] or "")
        elif not found and "=" not in statement:
            raise wrong(self.name, line, f'{statement[:60]!r} is neither a node nor an edge: s0 -> s1 [label="a/x"]')

    def spec(self) -> Written:
        """Return what was read."""
        if self.initial is None and not self.nodes:
            raise wrong(self.name, 1, "there are no states in it")
        rows: list[tuple[Any, Label, Any]] = [
            (source, said._replace(outputs=said.outputs + self.moore.get(target, ())), target)
            for source, said, target in self.edges
        ]
        return whole(rows, self.initial if self.initial is not None else next(iter(self.nodes)), self.name)

    def _node(self, name: str, attributes: str) -> None:
        if _START.match(name) and name.startswith("_"):
            return
        self.nodes.setdefault(name)
        _, bar, said = _label(attributes).strip("{} ").partition("|")
        if bar:
            self.moore[name] = outputs(said)

    def _edge(self, line: int, source: str, target: str, attributes: str) -> None:
        if _START.match(source) and (source.startswith("_") or not _label(attributes)):
            self.initial = target
            return
        said = _label(attributes, raw=True)
        if not said:
            raise wrong(self.name, line, f"the edge {source} -> {target} has no label: the input, or input/output")
        self.nodes.setdefault(source)
        self.nodes.setdefault(target)
        # one arrow may stand for several transitions, a line for each
        self.edges += [(source, label(each), target) for each in re.split(r"\\[lnr]|\n", said) if each]


def _statements(text: str, name: str) -> list[tuple[int, str]]:
    """Return the statements between the braces, each with its line."""
    text = re.sub(
        r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*",
        lambda found: "\n" * found[0].count("\n"),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    opened, closed = text.find("{"), text.rfind("}")
    if opened < 0 or closed < opened or not re.match(r"\s*(?:strict\s+)?(?:di)?graph\b", text):
        raise wrong(name, 1, "a DOT file is: digraph name { … }")
    found: list[tuple[int, str]] = []
    for part in re.finditer(
        r'(?:[^;\n"\[]|"(?:[^"\\]|\\.)*"|\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])+', text[opened + 1 : closed]
    ):
        if part[0].strip():
            lead = len(part[0]) - len(part[0].lstrip())
            found.append((text.count("\n", 0, opened + 1 + part.start() + lead) + 1, part[0].strip()))
    return found


def _label(attributes: str, *, raw: bool = False) -> str:
    found = _LABEL.search(attributes)
    if found is None:
        return ""
    if raw and found[1].startswith('"'):
        return re.sub(r'\\(["\\])', r"\1", found[1][1:-1])
    return _bare(found[1]).strip("<>")


def _bare(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
