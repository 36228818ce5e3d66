"""Models as actions over an object, and as commands with conditions."""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from otf import Bench, NonconformanceError, Where, run
from otf.compose import product
from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.explore.analysis import allows, dead
from otf.explore.conform import conforms
from otf.explore.finding import LawVerdict
from otf.models.coffees import C0, C2, C3, CENTS, INPUTS, IO, PRICE
from otf.models.stack import PROGRAM
from otf.notations import Call, Command, Commands, Result, action, actions, behaviour, generate, observable, table
from otf.notations.table import frozen, thawed
from otf.simulate.system import Mutation, acting
from otf.strategy import script
from otf.values import key


def shallow(state: Any) -> bool:  # noqa: ANN401 -- attributes
    """Fewer than four elements."""
    return len(dict(state)["stack"].items) < 4


def test_pymodels_stack() -> None:
    """The figure of the paper: values 0 and 1, fewer than four elements, fifteen states."""
    graph = explore(PROGRAM, states=shallow)
    assert (len(graph.values), len(graph.target)) == (15, 28)
    assert [str(dict(each)["stack"]) for each in graph.values[:4]] == ["[]", "[0]", "[1]", "[0, 0]"]
    assert dead(graph) == set()


def test_actions_are_offered_where_they_are_enabled() -> None:
    """With all values of their domains."""
    assert list(map(str, PROGRAM.inputs(PROGRAM.initial))) == ["push(0)", "push(1)"]
    assert list(PROGRAM.step(PROGRAM.initial, Call("pop"))) == []
    assert list(PROGRAM.step(PROGRAM.initial, Call("jump"))) == []


def test_a_scenario_of_actions() -> None:
    """Names, values and results, as the paper writes them."""
    assert allows(PROGRAM, "push(1) push(0) pop/0 pop/1")
    assert not allows(PROGRAM, "push(1) pop/0")


class Sender:
    """The alternating-bit protocol of PyModel at the sender: sending is an action, and receiving is observed."""

    def __init__(self) -> None:
        self.sent = 1
        self.acked: set[int] = {1}

    def may(self, bit: int) -> bool:
        """Another bit only once the last one was acknowledged."""
        return bit == self.sent or self.sent in self.acked

    def last(self) -> list[int]:
        """The bit that may be acknowledged."""
        return [self.sent]

    @action(enabled=may, bit=[0, 1])
    def send(self, bit: int) -> None:
        """Send a message with this bit."""
        if bit != self.sent:
            self.acked = set()
        self.sent = bit

    @observable(bit=last)
    def ack(self, bit: int) -> None:
        """Its bit comes back."""
        self.acked.add(bit)


def test_observable_actions_come_unasked() -> None:
    """Domains may be functions of the state."""
    spec = actions(Sender)
    assert allows(spec, "send(0) !ack send(1) !ack")
    assert not allows(spec, "!ack* send(0) send(1)")
    assert len(explore(spec).values) == 4


def test_models_written_in_different_ways_compose() -> None:
    """A stack of actions, and a table that shares them: one push, one pop."""
    once = table([(0, Call("push", (1,)), [], 1), (1, Call("pop"), [1], 2)], name="once")
    graph = explore(product(PROGRAM, once, disabled=True), 20)
    assert (0, 2) not in {state[1:] for state in graph.values}
    assert any(state[1] == 2 for state in graph.values)


def test_what_is_no_model_is_said() -> None:
    """A class without actions, an argument without a domain, a domain without an argument."""
    with pytest.raises(UsageError, match="dict has no actions"):
        actions(dict)
    with pytest.raises(UsageError, match="push: the argument x has no domain"):

        @action()
        def push(_self: object, x: int) -> None:
            del x

    with pytest.raises(UsageError, match="pop: it has no argument y; it has none"):

        @action(y=[1])
        def pop(_self: object) -> None:
            pass


def test_states_are_frozen_whole() -> None:
    """Lists, sets, dicts and tuples, also inside each other; two dicts are one whatever their order."""
    value = {"a": [1, {2, 3}], "b": ({"c": None},)}
    assert thawed(frozen(value)) == value
    assert frozen({1: 2, 3: 4}) == frozen({3: 4, 1: 2})
    assert repr(frozen([1, {2}])) == "[1, {2}]"
    thawed(frozen(value))["a"].append(4)
    assert value["a"] == [1, {2, 3}]


@dataclass(frozen=True)
class Put(Command):
    key: str
    value: int

    def next_state(self, state: Any) -> Any:  # noqa: ANN401 -- a state
        return tuple(sorted({**dict(state), self.key: self.value}.items()))

    def run(self, system: Any) -> Any:  # noqa: ANN401 -- a system
        system[self.key] = self.value


@dataclass(frozen=True)
class Get(Command):
    key: str

    def precondition(self, state: Any) -> bool:  # noqa: ANN401 -- a state
        return self.key in dict(state)

    def run(self, system: Any) -> Any:  # noqa: ANN401 -- a system
        return system[self.key]

    def postcondition(self, state: Any, result: Any) -> bool:  # noqa: ANN401 -- a state
        return bool(dict(state)[self.key] == result)


class Forgetful(dict[str, int]):
    """A table that never replaces its first value."""

    def __setitem__(self, key: str, value: int) -> None:
        self.setdefault(key, value)


def store(kind: type[dict[str, int]], ended: list[object]) -> Commands:
    """A store of values, with commands."""
    inputs = [Put("a", 1), Put("a", 2), Put("b", 1), Get("a"), Get("b")]
    return Commands((), inputs, set_up=kind, tear_down=ended.append, name="store")


def test_commands_run_on_a_system(tmp_path: Path) -> None:
    """Fresh for every path, and torn down when the path is over."""
    ended: list[object] = []
    model = store(dict, ended)
    bench = Bench(model.spec, system=model.system, types=(Result, Put, Get))
    assert run(bench, out=tmp_path, traces=4, seed=1).verdict == "pass"
    assert len(ended) == 4


def test_a_wrong_result_fails_its_postcondition(tmp_path: Path) -> None:
    """The failure names the command whose postcondition is violated."""
    model = store(Forgetful, [])
    bench = Bench(model.spec, system=model.system, types=(Result, Put, Get))
    with pytest.raises(NonconformanceError, match="a result for which the postcondition of Get holds"):
        run(bench, out=tmp_path, traces=5, seed=1)


def test_inputs_are_generated_on_the_model_alone(tmp_path: Path) -> None:
    """First the phase of generation, with cycles and steps, then that of execution."""
    model = store(dict, [])
    cycles = generate(model.spec, cycles=3, steps=10, seed=4)
    assert [len(each) for each in cycles] == [10, 10, 10]
    assert generate(model.spec, cycles=3, steps=10, seed=4) == cycles
    bench = Bench(model.spec, system=model.system, types=(Result, Put, Get))
    assert run(bench, out=tmp_path, strategy=script(*cycles), traces=3).steps == 30


def test_a_command_has_to_say_how_it_is_run() -> None:
    """A command needs `run`; its other methods have defaults."""
    bare = Command()
    assert (bare.precondition(0), bare.next_state(0), bare.postcondition(0, None)) == (True, 0, True)
    with pytest.raises(NotImplementedError):
        bare.run(None)


def test_any_model_can_stand_for_the_system(tmp_path: Path) -> None:
    """Without a fault it passes; the stack of actions tested against itself."""
    bench = Bench(PROGRAM, system=acting(PROGRAM), types=(int, Call))
    assert run(bench, out=tmp_path, traces=3, seed=2).verdict == "pass"


class Cup:
    """A coffee machine as an object; `free` forgets to take the price."""

    def __init__(self, *, free: bool = False) -> None:
        self.paid = 0
        self.free = free

    def act(self, inp: IO) -> list[IO]:
        """Take an input."""
        if inp in CENTS:
            self.paid += CENTS[inp] if self.paid + CENTS[inp] <= PRICE else 0
        elif self.paid == PRICE:
            self.paid = PRICE if self.free else 0
            return [IO.COFFEE]
        return []


def test_an_object_is_proven_right_or_wrong() -> None:
    """Its state can be copied, so its behaviour can be explored completely, without a test."""
    right = behaviour(Cup, Cup.act, INPUTS)
    assert conforms(right, C0).verdict is LawVerdict.PROVEN
    wrong = behaviour(lambda: Cup(free=True), Cup.act, INPUTS, name="free")
    assert [str(step) for step in conforms(wrong, C2).way] == ["Dime / nothing", "Button / Coffee", "Button / Coffee"]


@pytest.mark.parametrize("kind", ["output", "transfer", "missing", "surplus"])
def test_a_model_with_a_fault_stands_for_a_wrong_system(tmp_path: Path, kind: Any) -> None:  # noqa: ANN401 -- a kind
    """One transition is wrong: another output, another next state, no output, or one too many."""
    instead = 10 if kind == "transfer" else IO.NICKEL
    wrong = acting(C3, Mutation(kind, 10, IO.BUTTON, instead))
    with pytest.raises(NonconformanceError):
        run(Bench(C3, system=wrong, types=(IO,)), out=tmp_path, traces=5, seed=1)


def test_what_a_model_leaves_vague_is_invented(tmp_path: Path) -> None:
    """A class has a value of its own; for a test a value must be given."""
    vague = table([(0, "a", [str], 1), (1, "a", [Where(lambda seen: seen == 7)], 0)])
    bench = Bench(vague, system=acting(vague, invent=lambda item: "x" if item is str else 7), types=(str, int))
    assert run(bench, out=tmp_path, traces=1).verdict == "pass"
    plain = table([(0, "a", [str], 0)])
    assert run(Bench(plain, system=acting(plain), types=(str,)), out=tmp_path / "2", traces=1).verdict == "pass"


def test_what_nobody_can_invent_is_told(tmp_path: Path) -> None:
    """A model with a test of outputs needs `invent` to act as a system."""
    vague = table([(0, "a", [Where(lambda seen: seen == 7)], 0)])
    with pytest.raises(ModelError, match=r"has no value for .*: pass `invent`"):
        run(Bench(vague, system=acting(vague), types=(int,)), out=tmp_path, traces=1)


def test_what_needs_no_tear_down_has_none(tmp_path: Path) -> None:
    """`tear_down` may be left out."""
    model = Commands((), [Put("a", 1), Get("a")], set_up=dict)
    assert (
        run(Bench(model.spec, system=model.system, types=(Result, Put, Get)), out=tmp_path, traces=1).verdict == "pass"
    )


class Shelf:
    """A state that changes in place, and does not define `==`."""

    def __init__(self) -> None:
        self.books: list[str] = []


@dataclass(frozen=True)
class Shelve(Command):
    """Put a book on the shelf; at most two."""

    book: str

    def precondition(self, state: Shelf) -> bool:
        return len(state.books) < 2

    def next_state(self, state: Shelf) -> None:
        state.books.append(self.book)

    def run(self, system: list[str]) -> int:
        system.append(self.book)
        return len(system)

    def postcondition(self, state: Shelf, result: int) -> bool:
        return result == len(state.books) + 1


def shelf(**more: Any) -> Commands:  # noqa: ANN401 -- fields of Commands
    """A model with a mutable state."""
    return Commands(Shelf(), [Shelve("a"), Shelve("b")], set_up=list, name="shelf", **more)


def same(one: Shelf, other: Shelf) -> bool:
    """Two shelves with the same books."""
    return one.books == other.books


def first_book(state: Shelf) -> list[Shelve]:
    """The only book, on a bare shelf."""
    return [Shelve("a")] if is_bare(state) else []


def is_bare(state: Shelf) -> bool:
    """Return whether there is no book on it."""
    return not state.books


def is_filled(state: Shelf) -> bool:
    """Return whether there is a book on it."""
    return bool(state.books)


def test_a_state_that_is_no_value_is_copied_and_compared(tmp_path: Path) -> None:
    """With `same` states are recognized, and `next_state` changes a copy; `inputs` receives the state itself."""
    assert len(explore(shelf(same=same).spec).values) == 7
    few = replace(shelf(same=same), inputs=first_book)
    assert len(explore(few.spec).values) == 2
    model = shelf(same=same)
    assert (
        run(Bench(model.spec, system=model.system, types=(Result,)), out=tmp_path, traces=2, seed=1).verdict == "pass"
    )
    assert model.initial.books == []


def test_a_state_is_copied_as_the_model_says() -> None:
    """`copy` alone compares by `==`; what it returns is another state each time."""
    copied: list[list[str]] = []

    def copy(state: list[str]) -> list[str]:
        copied.append(state)
        return list(state)

    @dataclass(frozen=True)
    class Add(Command):
        def next_state(self, state: list[str]) -> list[str]:
            return [*state, "x"][:2]

    graph = explore(Commands([], [Add()], set_up=list, copy=copy).spec)
    assert [repr(value) for value in graph.values] == ["[]", "['x']", "['x', 'x']"]
    assert copied[0] == []


def test_the_precondition_of_the_initial_state_has_to_hold() -> None:
    """A model is broken if the precondition of its initial state is false."""
    assert shelf(same=same, initialize_precondition=is_bare).spec.name == "shelf"
    with pytest.raises(ModelError, match="shelf: the initialize_precondition does not hold for the initial state"):
        _ = shelf(same=same, initialize_precondition=is_filled).spec


def test_a_precondition_that_is_false_in_execution_is_told(tmp_path: Path) -> None:
    """A command whose precondition held during generation, but fails during execution, is reported."""
    model = store(dict, [])
    bench = Bench(model.spec, system=model.system, types=(Result, Put, Get))
    strict = script([Put("a", 1), Get("a"), Get("b")], skip=False)
    with pytest.raises(ModelError, match=r"input 3 of the script, Get\(key='b'\), is not allowed in \(\('a', 1\),\)"):
        run(bench, out=tmp_path, strategy=strict, traces=1)
    whole = script([Put("a", 1), Get("a")], skip=False)
    assert run(bench, out=tmp_path / "2", strategy=whole, traces=1).steps == 2


class Box:
    """An object without an order or an equality of its own."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Box({self.value!r})"  # the default has an address, which differs from copy to copy


class Single:
    """A singleton that pickles by its name."""

    def __reduce__(self) -> str:
        return "SINGLE"

    def __copy__(self) -> Single:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Single:
        return self


@pytest.mark.parametrize(
    "value",
    [
        deque[Any]([1, [2]]),
        bytearray(b"ab"),
        OrderedDict[str, Any](a=[1]),
        Box([1]),
        [Box(1)],
        {"a": Box({2})},
        Single(),
        range(3),
    ],
    ids=range(8),
)
def test_objects_are_kept_by_what_is_in_them(value: Any) -> None:  # noqa: ANN401 -- any object
    """A copy of an object is the same state, and thawing it makes another object with the same contents."""
    kept, again = frozen(value), frozen(deepcopy(value))
    assert (key(kept), hash(kept), repr(kept)) == (key(again), hash(again), repr(again))
    assert deepcopy(kept) == kept
    assert key(frozen(thawed(kept))) == key(kept)
    assert key(kept) != key(frozen([value]))
    assert kept != 1


def test_what_is_one_of_a_kind_stays_itself() -> None:
    """Functions, classes, modules and members of enumerations are not copied."""
    for value in (len, Box, sys, Fraction(1, 2), IO.NICKEL, lambda: 0):
        assert frozen(value) is value


def test_objects_that_differ_are_different_states() -> None:
    """The contents of an object are compared, and its class."""
    assert frozen(Box(1)) != frozen(Box(2))
    assert frozen(Box(1)) != frozen(Single())
