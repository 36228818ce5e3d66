"""Temporal properties of models: proven on all runs, refuted by a shortest run, and goals that a run reaches."""

from hypothesis import given, settings
from hypothesis import strategies as st

from otf.explore import Graph, explore
from otf.explore.expiring import temporal
from otf.explore.finding import LawVerdict
from otf.logic import Formula, PropertyStep, always, implies, never, now, sometimes, then, until, within
from otf.spec import AnyOrder, Spec, Transition, Where, goto, on
from otf.temporal import Residue

Table = dict[tuple[int, str], tuple[int, tuple[object, ...]]]


def graph(table: Table) -> Graph:
    """Return the graph of a table of transitions."""

    def step(state: int, inp: str) -> list[Transition[int]]:
        target, outputs = table.get((state, inp), (state, ()))
        return [goto(target, *outputs)]

    return explore(Spec(step, 0, ["a", "b"]))


MACHINE = graph({(0, "a"): (1, ("x",)), (1, "b"): (2, (on("p", "y"), AnyOrder("x", "z"))), (2, "a"): (0, ())})


def test_proven() -> None:
    """A property that all runs meet is proven, also one that counts steps."""
    assert temporal(MACHINE, "p", always(implies(now("y"), now("b")))).verdict is LawVerdict.PROVEN
    assert temporal(MACHINE, "p", always(implies(now("z"), then(~now("z"))))).verdict is LawVerdict.PROVEN


def test_shortest_run() -> None:
    """A property that some run violates is refuted by a shortest one."""
    found = temporal(MACHINE, "p", never("z"))
    assert (found.verdict, len(found.way)) == (LawVerdict.REFUTED, 2)
    assert len(temporal(MACHINE, "p", always(implies(now("x"), within(1, "z")))).way) == 2
    assert len(temporal(MACHINE, "p", until("b", "x")).way) == 0
    # also where a small model has many more pairs of a state and a deadline than states
    assert len(temporal(MACHINE, "p", always(implies(now("x"), within(300, "z")))).way) == 301


def test_goals() -> None:
    """A goal is proven by a run that reaches it, and refuted if none does."""
    assert len(temporal(MACHINE, "p", sometimes("z")).way) == 2
    assert temporal(MACHINE, "p", sometimes("w")).verdict is LawVerdict.REFUTED


def test_described_outputs() -> None:
    """Outputs that are only described leave a property open: it has passed, and is not proven."""
    vague = graph({(0, "a"): (0, (Where(str.isdigit),))})
    assert temporal(vague, "p", never("7")).verdict is LawVerdict.PASSED
    assert temporal(vague, "p", sometimes("7")).verdict is LawVerdict.UNDECIDED


PROPERTIES = [
    always(implies(now("a"), within(1, "x"))),
    never(now("x") & then("x")),
    until(~now("y"), "x"),
    always(implies(now("x"), until("a", "y"))),
]
entries = st.dictionaries(
    st.tuples(st.integers(0, 2), st.sampled_from("ab")),
    st.tuples(st.integers(0, 2), st.sampled_from([(), ("x",), ("y",)])),
)


@settings(max_examples=60, deadline=None)
@given(entries, st.sampled_from(PROPERTIES))
def test_as_all_runs_say(table: Table, what: Formula) -> None:
    """The verdict on a machine is that of all its runs up to six steps, tried one by one."""
    found = temporal(graph(table), "p", what)
    states = [(0, Residue.of(what))]
    for length in range(1, 7):
        after = list[tuple[int, Residue]]()
        for state, left in states:
            for inp in "ab":
                target, outputs = table.get((state, inp), (state, ()))
                after.append((target, left.after(PropertyStep(inp, outputs))))
        states = list(dict.fromkeys(after))
        if any(left.truth is False for _, left in states):
            assert (found.verdict, len(found.way)) == (LawVerdict.REFUTED, length)
            return
    assert found.verdict is LawVerdict.PROVEN or len(found.way) > 6
