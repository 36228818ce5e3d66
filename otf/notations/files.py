"""Models in files: Aldebaran (`.aut`), which many tools for labelled transition systems write, and DOT.

The label of a transition is `input / output, output`, `?input`, `!output`, or an input alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import unescape
from typing import Any, Final, NamedTuple

from otf.errors import UsageError
from otf.notations.table import Written, table

SILENT: Final = frozenset({"", "-", "nothing", "no output", "epsilon", "ε", "λ"})
INNER: Final = frozenset({"i", "tau", "τ"})
LONGEST: Final = 50_000_000  # characters of a file
ROUNDED: Final = 0.1  # how far the sum of rounded probabilities may be from 1
SPONTANEOUS: Final = "(spontaneous)"


class Label(NamedTuple):
    """The parts of a label: the input (None: spontaneous), and the outputs."""

    input: str | None
    outputs: tuple[str, ...]


def label(text: str) -> Label:
    """Return the input and the outputs that the label of a transition names.

    >>> label("coin / nothing"), label("!beep"), label("go/a,b")
    (Label(input='coin', outputs=()), Label(input=None, outputs=('beep',)), Label(input='go', outputs=('a', 'b')))
    >>> label("ACK(V,V,1) / RST(ZERO,0)")
    Label(input='ACK(V,V,1)', outputs=('RST(ZERO,0)',))
    >>> label("(spontaneous) / beep") == label("!beep")
    True
    """
    *before, after = split(text, "/")
    if before:
        inp = "/".join(before).strip()
        return Label(None if inp == SPONTANEOUS else inp.removeprefix("?"), outputs(after))
    text = text.strip()
    if text.startswith("!"):
        return Label(None, (text[1:],))
    return Label(None, ()) if text in INNER else Label(text.removeprefix("?"), ())


def outputs(text: str) -> tuple[str, ...]:
    """Return the outputs in a text."""
    return tuple(each for part in split(text, ",") if (each := part.strip()) not in SILENT)


def split(text: str, separator: str) -> list[str]:
    """Return the parts of a text; a separator inside parentheses does not count: `SYN(0,1)` is one output."""
    parts, depth = [""], 0
    for each in text:
        depth += (each in "([{") - (each in ")]}")
        if depth < 0:
            break
        if each == separator and not depth:
            parts.append("")
        else:
            parts[-1] += each
    # unmatched parentheses are ordinary characters
    return parts if not depth else text.split(separator)


_CHANCE: Final = re.compile(r"(?:(.*):)?\s*([01]?\.\d+|[01])\s*", re.DOTALL)


def is_probabilistic(edges: list[tuple[str, str, str]]) -> bool:
    """Return whether each of these labels ends with a probability, with the sum 1 for each input in each state.

    A Markov chain has no inputs: its labels are probabilities alone.
    """
    sums = defaultdict[tuple[str, str], float](float)
    for source, text, _ in edges:
        found = _CHANCE.fullmatch(text)
        if found is None:
            return False
        sums[source, split(found[1] or "", "/")[0].strip()] += float(found[2])
    # whole numbers, as in door:1, are names
    return any("." in text for _, text, _ in edges) and all(abs(each - 1) <= ROUNDED for each in sums.values())


def whole(rows: list[tuple[Any, Label, Any]], initial: object, name: str, text: str) -> Written:
    """Return the spec of rows with labels; `text` is its source."""
    moves = [(source, each.input, each.outputs, target) for source, each, target in rows if each.input is not None]
    alone = [(source, each.outputs, target) for source, each, target in rows if each.input is None]
    made = table(moves, initial=initial, spontaneous=alone, name=name)
    object.__setattr__(made, "sources", (text,))
    return made


def wrong(where: str, line: int, what: str) -> UsageError:
    """Return the error for a line of a file."""
    return UsageError(f"{where}, line {line}: {what}")


def bounded(text: str, where: str) -> str:
    """Return the text. Raises UsageError if it is too long."""
    if len(text) > LONGEST:
        raise UsageError(f"{where}: {len(text):,} characters; at most {LONGEST:,} are allowed")
    return text


_HEAD: Final = re.compile(r"\s*des\s*\(\s*(\d{1,12})\s*,\s*(\d{1,12})\s*,\s*(\d{1,12})\s*\)\s*$")
_AUT_EDGE: Final = re.compile(
    r'\s*\(\s*(\d{1,12})\s*,\s*(?:"((?:[^"\\]|\\.)*)"|([^",()][^"]*?))\s*,\s*(\d{1,12})\s*\)\s*$'
)


def read_aut(text: str, name: str = "aut") -> Written:
    r"""Return the spec in the text of an Aldebaran file (`.aut`).

    The inputs and outputs of the spec are strings, and its states are numbers. `name` is the name of the spec, and
    error messages begin with it. `read_aut` raises UsageError with the line of the first error.

    >>> read_aut('des (0, 1, 2)\n(0, "coin / tea", 1)').inputs(0)
    ('coin',)
    """
    lines = [(number, line) for number, line in enumerate(bounded(text, name).splitlines(), 1) if line.strip()]
    number, first = lines[0] if lines else (1, "")
    head = _HEAD.match(first)
    if head is None:
        raise wrong(name, number, "the first line of an .aut file is: des (initial, transitions, states)")
    initial, count, states = map(int, head.groups())
    rows = [_row(name, number, line, states) for number, line in lines[1:]]
    if len(rows) != count:
        raise wrong(name, number, f"it announces {count} transitions, but {len(rows)} follow")
    return whole(rows, initial, name, text)


def _row(name: str, number: int, line: str, states: int) -> tuple[Any, Label, Any]:
    found = _AUT_EDGE.match(line)
    if found is None:
        raise wrong(name, number, f'{line.strip()[:60]!r} is not a transition; write (0, "input / output", 1)')
    source, target = int(found[1]), int(found[4])
    if max(source, target) >= states:
        raise wrong(name, number, f"there is no state {max(source, target)}: the first line announces {states}")
    text = found[2] if found[2] is not None else found[3]
    return source, label(re.sub(r"\\(.)", r"\1", text)), target


_NAME: Final = r'(?:"(?:[^"\\]|\\.)*"|[\w.\-]+)'
_DOT_EDGE: Final = re.compile(rf"({_NAME})\s*->\s*({_NAME})\s*(?:\[(.*)\])?$", re.DOTALL)
_NODE: Final = re.compile(rf"({_NAME})\s*(?:\[(.*)\])?$", re.DOTALL)
_LABEL: Final = re.compile(r'\b(?:x?label)\s*=\s*("(?:[^"\\]|\\.)*"|<(?:[^<>]|<[^<>]*>)*>|[\w./\-]+)')
_BREAK: Final = re.compile(r"\\[lnr]|\n|<br\s*/?>", re.IGNORECASE)
_START: Final = re.compile(r"_*(?:start|init)\w*$", re.IGNORECASE)
_WORDS: Final = frozenset({"node", "edge", "graph"})


def read_dot(text: str, name: str = "dot") -> Written:
    """Return the spec in the text of a DOT file, as AALpy, LearnLib and other learning tools write it.

    The edges of a Mealy machine have labels such as `input/output`. In a Moore machine, a node has a label such as
    `name|output`, and the label of an edge is an input. After an input, a Moore machine sends the output of the node to
    which the edge leads. The initial state is the target of the edge from a node `__start0`, or the first state if
    there is no such node. `name` is the name of the spec, and error messages begin with it. `read_dot` raises
    UsageError with the line of the first error.

    >>> one = read_dot('digraph { __start0 -> s0; s0 -> s1 [label="a/x"]; }')
    >>> one.initial, list(one.step("s0", "a"))
    ('s0', [Transition(state='s1', outputs=('x',), within=None)])
    """
    file = _File(name, text)
    for line, statement in _statements(bounded(text, name), name):
        file.take(line, statement)
    return file.spec()


class _File:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.moore: dict[str, tuple[str, ...]] = {}
        self.edges: list[tuple[str, str, str]] = []
        self.nodes: dict[str, None] = {}
        self.initial: str | None = None

    def take(self, line: int, statement: str) -> None:
        if found := _DOT_EDGE.match(statement):
            self._edge(line, _unquoted(found[1]), _unquoted(found[2]), found[3] or "")
        elif (found := _NODE.match(statement)) and _unquoted(found[1]) not in _WORDS:
            self._node(_unquoted(found[1]), found[2] or "")
        elif not found and "=" not in statement:
            raise wrong(self.name, line, f'{statement[:60]!r} is neither a node nor an edge: s0 -> s1 [label="a/x"]')

    def spec(self) -> Written:
        if self.initial is None and not self.nodes:
            raise wrong(self.name, 1, "it has no states")
        if is_probabilistic(self.edges):
            message = f"{self.name}: its edges have probabilities, as in input:0.3; otf has no models with chances"
            raise UsageError(f"{message}: leave the numbers out, and each edge says what is allowed")
        rows: list[tuple[Any, Label, Any]] = [
            (source, (each := label(text))._replace(outputs=each.outputs + self.moore.get(target, ())), target)
            for source, text, target in self.edges
        ]
        return whole(rows, self.initial if self.initial is not None else next(iter(self.nodes)), self.name, self.text)

    def _node(self, name: str, attributes: str) -> None:
        if _START.match(name) and name.startswith("_"):
            return
        self.nodes.setdefault(name)
        _, bar, after = _label(attributes).strip("{} ").partition("|")
        if bar:
            self.moore[name] = outputs(after)

    def _edge(self, line: int, source: str, target: str, attributes: str) -> None:
        if _START.match(source) and (source.startswith("_") or not _label(attributes)):
            self.initial = target
            return
        labels = _label(attributes, raw=True)
        if not labels:
            raise wrong(self.name, line, f"the edge {source} -> {target} has no label: the input, or input/output")
        self.nodes.setdefault(source)
        self.nodes.setdefault(target)
        # one arrow may represent several transitions, with a line of the label for each
        self.edges += [(source, each, target) for each in _BREAK.split(labels) if each.strip()]


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
    if found[1].startswith("<"):
        # a label in HTML: line breaks mean something, other tags do not
        return unescape(re.sub(r"<(?!br\b)[^<>]*>", "", found[1][1:-1], flags=re.IGNORECASE))
    if raw and found[1].startswith('"'):
        return re.sub(r'\\(["\\])', r"\1", found[1][1:-1])
    return _unquoted(found[1])


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
