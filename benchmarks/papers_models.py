"""The machines and figures of "Testing Reactive Systems with GAST" and of PyModel, beside otf's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.papers_line import PaperLine, at, line
from otf.compose import compose, product, scenario
from otf.core import Monitor
from otf.errors import UsageError
from otf.explore import explore
from otf.explore.analysis import allows, liveness, safety
from otf.explore.conform import conforms
from otf.models.conference import Sizes, conference
from otf.notations import Call, table
from otf.spec import Spec, Transition, goto, total
from otf.strategy import Uniform
from otf.suite import METHODS, suite

TABLE: Final = {  # CPEs, nicknames, conferences, messages: states, transitions, paths by A2, A3, A4
    (1, 1, 1, 1): (2, 2, "1", 1, 1),
    (2, 1, 1, 1): (3, 9, "118", 4, 3),
    (3, 1, 1, 1): (5, 28, ">10,000", 11, 6),
    (2, 2, 1, 1): (7, 30, ">10,000", 14, 8),
    (2, 1, 2, 1): (5, 18, "27,848", 7, 6),
    (2, 1, 1, 2): (3, 12, "7,827", 4, 3),
    (2, 2, 2, 2): (13, 80, ">10,000", 26, 16),
    (3, 3, 3, 3): (145, 2070, ">10,000", 567, 282),
}


def reactive() -> Iterator[PaperLine]:
    """Yield what is in "Testing Reactive Systems with GAST"."""
    coin = Spec(lambda state, _inp: [goto("paid")] if state == "idle" else [], "idle", ["coin", "button"])
    ignored = list(total(coin).step("paid", "button"))
    yield PaperLine("8.3.1", "definition: implicit completion", "no output, no change", _says(ignored))
    yield PaperLine("8.4", "algorithm A1", "a walk at random", f"`otf run --strategy uniform`: {at(Uniform)}")
    for method in ("a2", "a3", "a4"):
        yield PaperLine(
            "8.4", f"algorithm {method.upper()}", "", f"`otf suite --method {method}`: {METHODS[method].says}"
        )
    for sizes, (states, arcs, a2, a3, a4) in TABLE.items():
        graph = explore(conference(Sizes(*sizes)))
        where = "table 8.1: {} CPEs, {} nicknames, {} conferences, {} messages".format(*sizes)
        theirs = f"{states} states, {arcs} transitions; A2 {a2}, A3 {a3}, A4 {a4} paths"
        counted = f"{len(graph.values)} states, {len(graph.target)} transitions"
        paths = ", ".join(f"{name.upper()} {_paths(graph, name)}" for name in ("a2", "a3", "a4"))
        same = f"A3 {a3}, A4 {a4}" in paths
        why = "" if same else "the result depends on the order of the inputs; otf shows the best of ten orders"
        yield PaperLine("8.4", where, theirs, f"{counted}; {paths} paths", why)
    yield PaperLine("8.6", "algorithm `testIOCO`: a list of possible states", "", at(Monitor))
    yield from _vending()


def _says(ways: list[Any]) -> str:
    (way,) = ways
    return "no output, no change" if way == goto("paid") else str(way)


def _paths(graph: Any, method: str) -> str:
    try:
        number = len(suite(graph, method).words)
    except UsageError:
        return ">100,000"
    return f"{number:,}"


def _vending() -> Iterator[PaperLine]:
    both = table(
        [
            ("i", "button", NONE, "t"),
            ("i", "button", NONE, "c"),
            ("t", "coin", ["tea"], "f"),
            ("c", "coin", ["coffee"], "f"),
        ]
    )
    coffee = [("i", "button", NONE, "c"), ("c", "coin", ["coffee"], "f")]
    cocoa = [("i", "bang", NONE, "k"), ("k", "coin", ["cacao"], "f")]
    wrong = [
        ("i", "button", NONE, "c"),
        ("c", "coin", ["coffee"], "f"),
        ("i", "button", NONE, "k"),
        ("k", "coin", ["cacao"], "f"),
    ]
    yield line("8.6", "coffee only, of coffee or tea", "ioco-correct", conforms(table(coffee), both))
    yield line("8.6", "cacao after an unspecified Bang", "ioco-correct", conforms(table([*coffee, *cocoa]), both))
    yield line("8.6", "cacao after Button", "incorrect", conforms(table(wrong), both))


def modelled() -> Iterator[PaperLine]:
    """Yield what is in "PyModel: Model-based testing in Python"."""
    yield PaperLine("Analysis", "exploration, safety, liveness", "", f"{at(explore)}, {at(safety)}, {at(liveness)}")
    yield PaperLine("Composition", "product, and with a scenario machine", "", f"{at(product)}, {at(compose)}")
    for place, (actions, allowed) in enumerate(TRACES, 1):
        theirs = "allowed" if allowed else "forbidden"
        yield PaperLine("Traces", f"alternating bit, column {place}", theirs, _walked(actions.split()))
    stack = explore(STACK, states=_below_four)
    yield PaperLine(
        "Analysis", "the stack below four elements of 0 and 1", "a finite machine (figure)", _counted(stack)
    )
    shared = explore(
        product(table([(0, "a", NONE, 1), (1, "b", NONE, 0)]), table([(0, "b", NONE, 1), (1, "a", NONE, 0)]))
    )
    free = explore(product(table([(0, "a", NONE, 1)]), table([(0, "b", NONE, 1)])))
    yield PaperLine(
        "Composition", "shared actions synchronise", "behaviour is restricted", f"a b against b a: {_counted(shared)}"
    )
    yield PaperLine(
        "Composition", "unshared actions interleave", "behaviour is multiplied", f"a beside b: {_counted(free)}"
    )
    yield PaperLine(
        "Composition", "Push(1) Pop/1 fits the stack", "an accepting state is reached", _fits("push(1) pop/1")
    )
    yield PaperLine("Composition", "Push(1) Pop/0 does not", "a dead state", _fits("push(1) pop/0"))


def _fits(text: str) -> str:
    return "allowed" if allows(STACK, scenario(text)) else "forbidden"


def _walked(actions: list[str]) -> str:
    state: Any = BIT.initial
    for inp in actions:
        state = next((way.state for way in BIT.step(state, inp) if isinstance(way, Transition)), None)
        if state is None:
            return "forbidden"
    return "allowed"


def _counted(graph: Any) -> str:
    return f"{len(graph.values)} states, {len(graph.target)} transitions"


def _below_four(stack: tuple[int, ...]) -> bool:
    return len(stack) < 4  # noqa: PLR2004 -- as the paper has it


def _stack(stack: tuple[int, ...], call: Call) -> list[Any]:
    if call.name == "push":
        return [goto((*call.arguments, *stack))]
    return [goto(stack[1:], stack[0])] if stack else []


EMPTY: Final[tuple[int, ...]] = ()
STACK: Final[Spec[tuple[int, ...], Call]] = Spec(
    _stack, EMPTY, [Call("push", (0,)), Call("push", (1,)), Call("pop")], name="stack"
)
NONE: Final[list[Any]] = []
# the graph in the paper, completed from its traces
BIT: Final = table(
    [
        *((0, "send1", NONE, 0), (0, "ack1", NONE, 0), (0, "send0", NONE, 1)),
        *((1, "send0", NONE, 1), (1, "ack1", NONE, 1), (1, "ack0", NONE, 2)),
        *((2, "ack0", NONE, 2), (2, "send1", NONE, 3)),
        *((3, "send1", NONE, 3), (3, "ack0", NONE, 3), (3, "ack1", NONE, 4)),
        *((4, "ack1", NONE, 4), (4, "send0", NONE, 1)),
    ],
    name="bit",
)
TRACES: Final = (
    ("send0 ack0 send1 ack1", True),
    ("send1 send1 ack1 send0 ack1 ack1 send0 ack0", True),
    ("send1 send1 ack1 send1 ack1 send1", True),
    ("send0 ack0 send0 ack0", False),
    ("send0 ack1 send1 ack1", False),
)
