"""What the papers that otf stands on define, list and show, beside what otf says of it.

`python -m benchmarks.papers` prints the tables; `--write` puts them into docs/topics-papers.md. Everything on the right
is computed here, with fixed seeds; the left is copied from the papers. It takes a minute or two of CPU, nearly all of
it for the tables on shrinking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final, Literal

from benchmarks.measure import command
from benchmarks.shrink import rows
from benchmarks.shrink_subjects import SYSTEMS
from otf.compose import composed, product, scenario
from otf.core import Monitor
from otf.errors import UsageError
from otf.explore import explore
from otf.explore.analysis import allows, general, liveness, safety, transitions
from otf.explore.conform import conforms
from otf.explore.finding import Finding
from otf.fronts import Call, Command, generated, table
from otf.logic import check, exists, for_all, implies
from otf.models.coffees import C1, C2, C3, C4, fair, solvent
from otf.models.conference import Sizes, conference
from otf.models.queue import FAULTS as QUEUE_FAULTS
from otf.models.queue import QUEUE, In, New
from otf.models.queue import Queue as Queued
from otf.shrink.classical import cycles as model_cycles
from otf.shrink.classical import elements, halving, partial
from otf.spec import Spec, Transition, goto, total
from otf.strategy import Uniform
from otf.suite import METHODS, suite
from otf.values import every

PAGE: Final = Path(__file__).parent.parent / "docs" / "topics-papers.md"
BEGIN: Final = "<!-- made by python -m benchmarks.papers -->"
SEEDS: Final = 10


@dataclass(frozen=True)
class Line:
    """One thing in a paper: what the paper says, what otf says, and why where they differ."""

    where: str
    what: str
    theirs: str
    ours: str
    why: str = ""


def _verdict(found: Finding) -> str:
    return str(found.verdict)


def _line(where: str, what: str, theirs: str, found: Finding | str, why: str = "") -> Line:
    return Line(where, what, theirs, found if isinstance(found, str) else _verdict(found), why)


# Testing with Functions as Specifications


def functions() -> Iterator[Line]:
    """Yield what is in "Testing with Functions as Specifications"."""
    yield Line("2.1", "algorithm `testLogical`", "pass, fail, proof", _at(check))
    yield Line("2.2", "operators `⇒`, `∀`, `∃`", "", f"{_at(implies)}, {_at(for_all)}, {_at(exists)}")
    yield Line("2.3", "algorithm `ggen`: all values of a type", "", _at(every))
    yield Line("3.2", "definition: a specification is a function", "", _at(Spec))
    yield Line("3.4", "definition `conf`", "", _at(conforms))
    yield Line("3.4", "algorithm `testConformance`", "pass, fail, proof", _at(Monitor))
    yield _line("2.1", "order of two arguments", "a u, a v, b u, a w, b v, c u", _order())
    yield _line("2.1", "a property that holds of all Booleans", "proof", _outcome(lambda: check(_excluded)))
    yield _line("2.1", "one that holds of all integers", "pass", _outcome(lambda: check(_square)))
    yield _line("2.1", "one that does not", "fail, and a counterexample", _outcome(lambda: check(_small)))
    yield _line("2.3", "Booleans", "False, True", _first(bool, 2))
    yield _line("2.3", "integers", "0, 1, -1, 2, -2", _first(int, 5))
    yield from _conformance()
    yield from _laws()
    yield from _queue()


def _at(thing: Any) -> str:
    return f"`{thing.__module__}.{thing.__qualname__}`"


def _excluded(value: bool) -> bool:  # noqa: FBT001 -- an argument that is quantified
    return value in {True, False}


def _square(number: int) -> bool:
    return number * number >= 0


def _small(number: int) -> bool:
    return number < 5  # noqa: PLR2004 -- any bound


def _outcome(asked: Callable[[], object]) -> str:
    return str(asked())


def _order() -> str:
    pairs = every(tuple[Literal["a", "b", "c"], Literal["u", "v", "w"]]).first(6)
    return ", ".join(" ".join(pair) for pair in pairs)


def _first(kind: object, number: int) -> str:
    return ", ".join(map(str, every(kind).first(number)))


def _conformance() -> Iterator[Line]:
    machines = {"c1": C1, "c2": C2, "c3": C3, "c4": C4}
    told = {"c2 c1": True, "c3 c1": True, "c4 c1": True, "c3 c2": False, "c2 c3": False, "c4 c2": False, "c4 c3": False}
    for pair, conforming in {**told, "c3 c4": False}.items():
        one, other = pair.split()
        found = conforms(machines[one], machines[other], limit=200)
        theirs = "yes" if conforming else "no"
        yield _line("3.4", f"{one} conforms to {other}", theirs, found, _endless(found, one))


def _endless(found: Finding, name: str) -> str:
    return f"{name} has no end of states: 200 of the product were seen" if str(found.verdict) == "passed" else ""


def _laws() -> Iterator[Line]:
    told = {"c1": (C1, "counterexample"), "c2": (C2, "proof"), "c3": (C3, "proof"), "c4": (C4, "pass")}
    for law, at in (("deterministic", 0), ("total", 2)):
        for name, (spec, theirs) in told.items():
            yield _line("4.1", f"{name} is {law}", theirs, general(explore(spec, 200))[at])
    fairly = {"c1": "proof", "c2": "counterexample", "c3": "proof", "c4": "pass"}
    for name, theirs in fairly.items():
        yield _line("4.1", f"{name} loses no money", theirs, transitions(explore(told[name][0], 200), fair))
    within = explore(C4, states=_hundred)
    yield _line("4.1", "c4 loses no money, from 0 to 100", "proof", transitions(within, fair))
    yield _line("4.1", "c1 made input-enabled loses no money", "counterexample", transitions(explore(total(C1)), fair))
    why = "integers have no overflow here"
    for name in ("c1", "c2", "c3"):
        yield _line("4.1", f"{name} gives no credit", "proof", transitions(explore(told[name][0]), solvent))
    yield _line("4.1", "c4 gives no credit, from 0 to 100", "proof", transitions(within, solvent))
    yield _line("4.1", "c4 gives no credit", "counterexample by overflow", transitions(explore(C4, 200), solvent), why)


def _hundred(paid: int) -> bool:
    return paid <= 100  # noqa: PLR2004 -- as the paper has it


def _queue() -> Iterator[Line]:
    graph = explore(QUEUE, states=_few)
    found = {each.law: each for each in general(graph)}
    yield _line("4.2", "the queue is deterministic", "pass", found["deterministic"])
    yield _line("4.2", "the queue is total", "counterexample: Q [] and Init", _said(found["total"]))
    yield _line("4.2", "In makes it larger by one", "counterexample in New", _said(transitions(graph, _enlarges)))
    yield _line("4.2", "the head is the smallest", "pass", safety(graph, _sorted))
    mutants = [subject.fault for subject in SYSTEMS["queue"] if len(subject.issue(0))]
    theirs, ours = "10 of 10 found", f"{len(mutants)} of {len(QUEUE_FAULTS)} found"
    yield Line("4.2", "mutants of the queue", theirs, ours)


def _few(state: object) -> bool:
    return not isinstance(state, Queued) or len(state.elements) < 3  # noqa: PLR2004 -- a small bound


def _said(found: Finding) -> str:
    return f"{found.verdict}: {found.says}"


def _enlarges(state: object, inp: object, after: object, _outputs: object) -> bool:
    return not isinstance(inp, In) or _length(after) == _length(state) + 1


def _length(state: object) -> int:
    return len(state.elements) if isinstance(state, Queued) else 0


def _sorted(state: object) -> bool:
    return isinstance(state, New) or (isinstance(state, Queued) and list(state.elements) == sorted(state.elements))


# Testing Reactive Systems with GAST


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


def reactive() -> Iterator[Line]:
    """Yield what is in "Testing Reactive Systems with GAST"."""
    coin = Spec(lambda state, _inp: [goto("paid")] if state == "idle" else [], "idle", ["coin", "button"])
    ignored = list(total(coin).step("paid", "button"))
    yield Line("8.3.1", "definition: implicit completion", "no output, no change", _says(ignored))
    yield Line("8.4", "algorithm A1", "a walk at random", f"`otf run --strategy uniform`: {_at(Uniform)}")
    for method in ("a2", "a3", "a4"):
        yield Line("8.4", f"algorithm {method.upper()}", "", f"`otf suite --method {method}`: {METHODS[method].says}")
    for sizes, (states, arcs, a2, a3, a4) in TABLE.items():
        graph = explore(conference(Sizes(*sizes)))
        where = "table 8.1: {} CPEs, {} nicknames, {} conferences, {} messages".format(*sizes)
        theirs = f"{states} states, {arcs} transitions; A2 {a2}, A3 {a3}, A4 {a4} paths"
        counted = f"{len(graph.values)} states, {len(graph.target)} transitions"
        paths = ", ".join(f"{name.upper()} {_paths(graph, name)}" for name in ("a2", "a3", "a4"))
        same = f"A3 {a3}, A4 {a4}" in paths
        why = "" if same else "the first transition that there is depends on the order of the inputs"
        yield Line("8.4", where, theirs, f"{counted}; {paths} paths", why)
    yield Line("8.6", "algorithm `testIOCO`: a list of possible states", "", _at(Monitor))
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


def _vending() -> Iterator[Line]:
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
    yield _line("8.6", "coffee only, of coffee or tea", "ioco-correct", conforms(table(coffee), both))
    yield _line("8.6", "cacao after an unspecified Bang", "ioco-correct", conforms(table([*coffee, *cocoa]), both))
    yield _line("8.6", "cacao after Button", "incorrect", conforms(table(wrong), both))


# Model-Based Shrinking for State Based Testing


SHRUNK: Final = {  # the averages of the tables: issue, elements, transitions, cycles, both, transitions
    "table 1, a vending machine": ("368", "6", "97,235", "14", "6", "951"),
    "table 2, ten vending machines": ("173", "4", "37,534", "11", "4", "458"),
    "table 3, essential cycles": ("51", "51", "2,068", "19", "19", "338"),
}


def shrinking() -> Iterator[Line]:
    """Yield the averages of the tables of "Model-Based Shrinking for State Based Testing"."""
    yield Line("3", "algorithm: half as long, at random", "", _at(halving))
    yield Line("5.1, 6.1", "algorithm: single transitions", "", f"{_at(elements)}, with `truncates`")
    yield Line("5.2, 6.3", "algorithm: cycles of the model", "", _at(model_cycles))
    vending, cycles = SYSTEMS["vending"], SYSTEMS["cycles"]
    why = "other machines and other failing runs: the paper does not list its mutants"
    for (name, theirs), subjects in zip(SHRUNK.items(), (vending[:1], vending, cycles[:1]), strict=True):
        yield Line("7", name, _averages(theirs), _averages(_shrunk(subjects, "-truncated")), why)
        yield Line("7", f"{name}, skipping", "", _averages(_shrunk(subjects, "")), "otf's way, not the paper's")


def _shrunk(subjects: list[Any], suffix: str) -> tuple[str, ...]:
    names = f"elements{suffix}", "cycles", f"cycles+elements{suffix}"
    found = [row for subject in subjects for seed in range(SEEDS) for row in rows(subject, seed, names)]
    elements, cycles, both = ([row for row in found if row.algorithm == name] for name in names)
    numbers = [
        mean(row.issue for row in elements),
        mean(row.length for row in elements),
        mean(row.transitions for row in elements),
        mean(row.length for row in cycles),
        mean(row.length for row in both),
        mean(row.transitions for row in both),
    ]
    return tuple(f"{number:,.0f}" for number in numbers)


def _averages(numbers: tuple[str, ...]) -> str:
    issue, elements, took, cycles, both, less = numbers
    return f"{issue} inputs; elements {elements} for {took} transitions; cycles {cycles}; both {both} for {less}"


# PyModel


def modelled() -> Iterator[Line]:
    """Yield what is in "PyModel: Model-based testing in Python"."""
    yield Line("Analysis", "exploration, safety, liveness", "", f"{_at(explore)}, {_at(safety)}, {_at(liveness)}")
    yield Line("Composition", "product, and with a scenario machine", "", f"{_at(product)}, {_at(composed)}")
    for place, (actions, allowed) in enumerate(TRACES, 1):
        theirs = "allowed" if allowed else "forbidden"
        yield Line("Traces", f"alternating bit, column {place}", theirs, _walked(actions.split()))
    stack = explore(STACK, states=_below_four)
    yield Line("Analysis", "the stack below four elements of 0 and 1", "a finite machine (figure)", _counted(stack))
    shared = explore(
        product(table([(0, "a", NONE, 1), (1, "b", NONE, 0)]), table([(0, "b", NONE, 1), (1, "a", NONE, 0)]))
    )
    free = explore(product(table([(0, "a", NONE, 1)]), table([(0, "b", NONE, 1)])))
    yield Line(
        "Composition", "shared actions synchronise", "behaviour is restricted", f"a b against b a: {_counted(shared)}"
    )
    yield Line("Composition", "unshared actions interleave", "behaviour is multiplied", f"a beside b: {_counted(free)}")
    yield Line("Composition", "Push(1) Pop/1 fits the stack", "an accepting state is reached", _fits("push(1) pop/1"))
    yield Line("Composition", "Push(1) Pop/0 does not", "a dead state", _fits("push(1) pop/0"))


def _fits(told: str) -> str:
    return "allowed" if allows(STACK, scenario(told)) else "forbidden"


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
# what the paper shows of its graph, and what its traces say of the rest
NONE: Final[list[Any]] = []
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


def commanded() -> Iterator[Line]:
    """Yield what is in "Stateful testing" of kiri-check."""
    yield Line("Commands", "precondition, next state, run, postcondition", "", _at(Command))
    yield Line("Execution", "all commands on the model, then on the system", "", _at(generated))
    yield Line("Shrinking", "partial, reducing, value", "three phases", f"`--algorithm partial`: {_at(partial)}")


PAPERS: Final[dict[str, Callable[[], Iterator[Line]]]] = {
    "Koopman and Plasmeijer, Testing with Functions as Specifications": functions,
    "Koopman and Plasmeijer, Testing Reactive Systems with GAST": reactive,
    "Koopman, Achten and Plasmeijer, Model-Based Shrinking for State Based Testing": shrinking,
    "Jacky, PyModel: Model-based testing in Python": modelled,
    "kiri-check, Stateful testing": commanded,
}


def tables() -> str:
    """Return the tables of all papers."""
    return "\n".join(_table(name, list(lines())) for name, lines in PAPERS.items())


def _table(name: str, lines: list[Line]) -> str:
    head = f"## {name}\n\n| section | what | the paper | otf | where they differ |\n|---|---|---|---|---|\n"
    return head + "".join(f"{line_of(line)}\n" for line in lines)


def line_of(line: Line) -> str:
    """Return a line of a table."""
    return f"| {line.where} | {line.what} | {line.theirs} | {line.ours} | {line.why} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or write them."""
    parser = command("papers", __doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the page of the docs")
    chosen = parser.parse_args(arguments)
    made = tables()
    if chosen.write:
        head = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
        PAGE.write_text(f"{head}{BEGIN}\n\n{made}", encoding="utf-8")
    else:
        print(made)


if __name__ == "__main__":
    main()
