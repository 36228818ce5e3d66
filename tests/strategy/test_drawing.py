"""Where many inputs are enabled, strategies draw some and ask the model about these alone: with the same chances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest

from otf.core import FEW, InputMode, Limits, Model, Monitor, Oracle, Relation, View
from otf.core.memory import Memory
from otf.core.nodes import ITERATED, KEPT
from otf.core.oracle import VIEWED
from otf.core.timing import Span
from otf.core.view import NOTED, SPECIFIED
from otf.core.walk import Walk
from otf.errors import ModelError
from otf.spec import Spec, Transition, goto, total
from otf.strategy import STRATEGIES, Strategy, StrategyKind, goal, weighted
from otf.strategy.pool import WIDE, PathCounts, Pool
from otf.trace.events import Quiet, Seen, Sent
from tests.always import always

MANY: Final = 90
LISTED: Final = 60
CHI_SQUARE: Final = 66.2  # exceeded once in 10,000 times with 29 degrees of freedom
MODES: Final[tuple[InputMode, ...]] = ("uioco", "any", "all", "mixed")


def store(inputs: Callable[[Any], Iterable[int]] | Sequence[int], asked: list[int] | None = None) -> Spec[Any, int]:
    """Return a spec that specifies even inputs in even states, those divisible by three in odd ones; -1 forks."""

    def step(state: int, inp: int) -> Iterator[Transition[int]]:
        if asked is not None:
            asked.append(inp)
        if state == 0 and inp == -1:
            yield goto(1)
            yield goto(2)
        elif inp % (3 if state % 2 else 2) == 0:
            yield goto(state + 2 + inp, inp)

    return Spec(step, 0, inputs)


def view_of(spec: Spec[Any, int], relation: Relation = "uioco", *sent: int) -> View:
    """Return the view after inputs that are not answered."""
    judge = Oracle(Model(spec), relation, Limits())
    monitor = Monitor(judge)
    for inp in sent:
        monitor.tell(Sent(inp, "", 0.0))
        monitor.tell(Quiet(0.0))
    return judge.view(monitor.belief)


def by_definition(view: View, mode: InputMode) -> tuple[list[int], list[int]]:
    """Return the inputs of a mode and those of the other side of its coin, asking the spec about every input."""
    spec = view.model.spec
    enabled = dict.fromkeys(inp for node in view.nodes for inp in spec.inputs(node.value))
    own = spec.partial or spec
    enough = any if view.relation == "any" else all
    specified = [inp for inp in enabled if enough(list(own.step(node.value, inp)) for node in view.nodes)]
    others = [inp for inp in enabled if inp not in specified]
    if mode == "all":
        return [*specified, *others], []
    return (specified, others) if mode == "mixed" else (specified, [])


def chosen(view: View, name: str | StrategyKind, mode: InputMode, times: int) -> Counter[object]:
    """Return how often each input is chosen by a strategy without memory."""
    chooser = Strategy(name, mode, 7).path(1)
    found = Counter[object]()
    for _ in range(times):
        inp = chooser.choose(view)
        found[None if inp is None else inp.value] += 1
    return found


def strange(found: Counter[object], inputs: Sequence[int], share: float = 1.0) -> float:
    """Return the chi-square statistic of choices that should be uniform over these inputs."""
    expected = found.total() * share / len(inputs)
    return sum((found[inp] - expected) ** 2 / expected for inp in inputs)


SOURCES: Final[dict[str, Callable[[Any], Iterable[int]] | Sequence[int]]] = {
    "fixed": range(LISTED),
    "sequence": lambda _state: range(LISTED),
    "iterable": lambda _state: iter(range(LISTED)),
    "short": range(30),
    "differing": lambda state: [each for each in range(MANY) if each % 3 != state % 3],
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("sent", [(), (-1,)])
@pytest.mark.parametrize("mode", MODES)
def test_the_inputs_of_a_mode_are_those_of_its_definition(source: str, sent: tuple[int, ...], mode: InputMode) -> None:
    """Whatever lists the inputs: all that the definition has are chosen, each as often, and no others."""
    spec = store(SOURCES[source])
    view = view_of(total(spec) if mode in {"all", "mixed"} else spec, "any" if mode == "any" else "uioco", *sent)
    wanted, others = by_definition(view, mode)
    found = chosen(view, "random", mode, 6_000)
    assert found.keys() == {*wanted, *others}
    shares = [(wanted, 0.5 if others else 1.0), (others, 0.5)]
    for inputs, share in shares:
        freedom = len(inputs) - 1
        # four standard deviations above the mean; the coin of `mixed` has one degree of freedom more
        assert not inputs or strange(found, inputs, share) < freedom + 1 + 4 * (2 * freedom + 2) ** 0.5


def test_rejected_inputs_leave_the_chances_of_the_others_equal() -> None:
    """30 of 60 inputs are specified: chi-square does not exceed what it exceeds once in 10,000 times."""
    found = chosen(view_of(store(range(LISTED))), "random", "uioco", 30_000)
    assert strange(found, range(0, LISTED, 2)) < CHI_SQUARE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_rare_input_is_found_by_asking_about_the_rest(name: str, mode: InputMode) -> None:
    """One input of 3,000 is specified, which no draw finds; where none is, `mixed` takes the others."""

    def step(state: int, inp: int) -> Iterator[Transition[int]]:
        if inp == 2_900:
            yield goto(state)

    view = view_of(Spec(step, 0, range(3_000)))
    found = chosen(view, name, mode, 20)
    assert found[None] == 0
    assert found[2_900] == 20 if mode in {"uioco", "any"} else found[2_900] <= 18
    assert set(chosen(view_of(Spec(lambda _state, _inp: [], 0, range(50))), name, mode, 5)) <= (
        {None} if mode in {"uioco", "any"} else set(range(50))
    )


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_new_state_is_asked_about_a_few_inputs_only(name: str) -> None:
    """Of 10,000 enabled inputs fewer than 40 are asked about in each of 20 new states."""
    asked = list[int]()
    judge = Oracle(Model(store(range(0, 20_000, 2), asked)))
    walk = Walk(judge, lambda inp: (inp,))
    chooser = Strategy(name, "uioco", 3).path(2)
    assert walk.chosen(chooser, 20) is None
    assert walk.steps == 20
    assert len(asked) < 20 * 40


@pytest.mark.parametrize("name", ["least-input", "least-next", "least-state"])
def test_of_many_new_states_each_is_asked_about_one_input(name: str) -> None:
    """Of 10 inputs too, once 1,000 states were visited; a state that comes again is asked about all."""
    asked = list[int]()
    judge = Oracle(Model(store(range(0, 20, 2), asked)))
    strategy = Strategy(name, "uioco", 3)
    strategy.visits.firsts = WIDE + 1
    walk = Walk(judge, lambda inp: (inp,))
    assert walk.chosen(strategy.path(1), 20) is None
    assert len(asked) <= 20 * 2
    asked.clear()
    strategy.path(1).choose(judge.view(judge.start()))
    assert len(asked) >= 8


def test_a_path_notes_how_many_states_it_visits_first() -> None:
    """A state that comes again is not counted."""
    strategy, judge = Strategy("least-input", "uioco", 3), Oracle(Model(store(range(0, 20, 2))))
    for _ in range(2):
        Walk(judge, lambda inp: (inp,)).chosen(strategy.path(1), 3)
    assert strategy.visits.firsts == len(strategy.visits.states)


def test_a_sequence_is_not_read_beyond_its_length() -> None:
    """One whose items never end has as many inputs as its length."""

    class Endless(Sequence[int]):
        def __len__(self) -> int:
            return 10

        def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 -- as in a sequence
            return 2 * index

    view = view_of(store(lambda _state: Endless()))
    assert [each.value for each in view.specified] == list(range(0, 20, 2))
    assert len(view.model.enabled_inputs(view.nodes[0])) == 10


def test_a_fixed_list_is_looked_at_once() -> None:
    """Not in each state."""
    judge = Oracle(Model(store(range(0, 200, 2))))
    walk = Walk(judge, lambda inp: (inp,))
    walk.chosen(Strategy("random", "uioco", 1).path(1), 5)
    assert len({id(judge.model.offered(node)) for node in judge.model.nodes}) == 1


def test_a_long_list_is_kept_when_its_state_comes_again_and_again() -> None:
    """The function is called on each of the first four visits, and never after that."""
    called = list[int]()

    def inputs(state: int) -> list[int]:
        called.append(state)
        return list(range(FEW + 1))

    model = Model(store(inputs))
    drawn = [[model.offered(model.initial)[at].value for at in range(FEW + 1)] for _ in range(9)]
    assert all(each == drawn[0] for each in drawn)
    assert len(called) == 4


def test_visits_of_states_that_never_come_again_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more states than are counted, those visited once go: by the visits alone, whatever the model remembers."""
    monkeypatch.setattr("otf.strategy.pool.STATES", 10)
    strategy, judge = Strategy("random", "uioco", 1), Oracle(Model(store(range(10))))
    view = judge.view(judge.start())
    symbol = judge.model.symbol(2)
    strategy.visits.note(view, symbol)
    for state in range(10):
        strategy.visits.note(view, symbol)
        strategy.visits.note(replace(view, nodes=(judge.model.node(state + 1),)), symbol)
    assert {node.value: times for node, times in strategy.visits.states.items()} == {0: 11}
    assert strategy.visits.inputs[judge.model.initial][symbol] == 11


def test_of_an_iterable_that_never_ends_the_first_are_taken() -> None:
    """A sequence is drawn from whole, of another iterable no more is taken than is drawn from, and that is noted."""

    def endless(_state: int) -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 2

    judge = Oracle(Model(store(endless)))
    view = judge.view(judge.start())
    assert (len(view.enabled), judge.model.cut) == (ITERATED, True)
    whole = Oracle(Model(store(lambda _state: range(0, 10**9, 2))))
    view = whole.view(whole.start())
    assert (len(view.enabled), whole.model.cut) == (10**9 // 2, False)
    assert Strategy("random", "uioco", 1).path(1).choose(view) is not None
    with pytest.raises(ModelError, match="more than 100,000 inputs"):
        assert view.specified


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("size", [10, FEW + 1, KEPT + 1])
def test_a_path_does_not_depend_on_what_is_remembered(name: str, mode: InputMode, size: int) -> None:
    """With a memory of one answer, of all, or with what another path left: the same inputs."""
    inputs = [each * 2 % 120 if each < 30 else each for each in range(size)]

    def again(state: int, inp: int) -> Iterator[Transition[int]]:
        if (state + inp) % 2 == 0:
            yield goto((state + inp) % 6, inp)

    def path(judge: Oracle, number: int) -> list[int]:
        monitor, chooser, sent = Monitor(judge), Strategy(name, mode, 11).path(number), list[int]()
        for _ in range(40):
            symbol = chooser.choose(judge.view(monitor.belief))
            if symbol is None:
                break
            assert isinstance(symbol.value, int)
            sent.append(symbol.value)
            (answered,) = [judge.model.specified(node, symbol) for node in monitor.states]
            monitor.tell(Sent(symbol.value, "", 0.0))
            if answered:
                monitor.tell(Seen(symbol.value, "sut", 0.0))
            monitor.tell(Quiet(0.0))
        return sent

    spec = total(Spec(again, 0, lambda _state: list(inputs)))
    forgetful, warm = Oracle(Model(spec, memory=Memory(1))), Oracle(Model(spec))
    cold = path(Oracle(Model(spec)), 2)
    path(warm, 5)
    assert len(cold) == 40
    assert path(forgetful, 2) == path(warm, 2) == cold


def test_drawn_inputs_are_tried_nearly_evenly() -> None:
    """All of 250 inputs are tried within 350 choices, though only 32 are compared at a time."""
    view = view_of(store(range(0, 500, 2)))
    found = chosen(view, "least-input", "uioco", 350)
    assert len(found) == 250
    assert max(found.values()) <= 2


def test_weights_hold_among_many_inputs() -> None:
    """Of 60 inputs one weighs 29, and one nothing; where all that is specified weighs nothing, none is chosen."""
    weigh = weighted({10: 29.0, 20: 0.0})
    found = chosen(view_of(store(range(LISTED))), weigh, "uioco", 5_000)
    assert found[20] == found[3] == 0
    assert 2_350 < found[10] < 2_650
    nothing = weighted(lambda inp: inp % 2)
    assert set(chosen(view_of(store(range(0, 100, 2))), nothing, "uioco", 5)) == {None}
    rare = Spec[int, int](lambda state, inp: [goto(state)] if inp == 2_900 else [], 0, range(3_000))
    assert set(chosen(view_of(rare), weigh, "uioco", 3)) == {2_900}


def test_a_sequence_that_raises_is_named() -> None:
    """An input that cannot be had is a mistake of the model, in that state."""

    class Broken(list[int]):
        def __getitem__(self, index: object) -> Any:  # noqa: ANN401 -- as in a list
            raise IndexError("gone")

    view = view_of(store(lambda _state: Broken(range(100))))
    with pytest.raises(ModelError, match=r"inputs\(0\): the model raised IndexError: gone"):
        Strategy("random", "uioco", 1).path(1).choose(view)


def limited(questions: int) -> Callable[[], Callable[[], bool]]:
    """Return a patience that is over once it was asked so often."""

    def waits() -> Callable[[], bool]:
        left = iter(range(questions))
        return lambda: next(left, None) is None

    return waits


@pytest.mark.parametrize("name", ["least-input", "least-next", "least-state", "least-action"])
def test_a_system_that_waits_too_long_gets_what_was_drawn(name: str) -> None:
    """One input is always drawn; others are compared with it only while the system may wait."""
    asked: list[int] = []
    view = view_of(store(range(0, 2 * MANY, 2), asked))
    chooser = Strategy(name, "uioco", 7, patience=limited(0)).path(1)
    assert [chooser.choose(view) is not None for _ in range(5)] == [True] * 5
    assert len(asked) <= 5


def test_a_plan_ends_when_the_system_has_waited_long_enough() -> None:
    """A goal that is nowhere is looked for while the system may wait, and then the least tried input is taken."""
    asked: list[int] = []
    view = view_of(store([2, 4], asked))
    nowhere = goal(lambda state: state < 0)
    assert Strategy(nowhere, "uioco", 7, patience=limited(100)).path(1).choose(view) is not None
    assert len(asked) <= 100 + 2


def test_notes_about_a_long_list_are_kept_by_the_last_views() -> None:
    """In 100,000 views they would fill the memory. A draw that is under way goes on without them."""
    judge = Oracle(Model(Spec(lambda state, inp: [goto(state, inp)], 0, list(range(NOTED + 1)))))
    views = [judge.view(judge.anywhere([judge.model.node(state)], Span(0, 0))) for state in range(VIEWED + 1)]
    draws = [Pool("uioco", Random(state)).candidates(view) for state, view in enumerate(views)]
    for draw in draws:
        next(draw)
    # the first is asked last: its notes are made anew, in the place of those of another view
    noted = [view.known for view in reversed(views)]
    assert [sum(map(bool, notes or b"")) for notes in noted] == [*[1] * VIEWED, 0]
    assert len({inp.value for inp in draws[0]}) > FEW // 2


def test_every_view_keeps_its_notes_about_a_shorter_list() -> None:
    """What the model was asked before is looked up, also where views are many."""
    asked: list[int] = []

    def step(state: int, inp: int) -> list[Transition[int]]:
        asked.append(inp)
        return [goto(state, inp)]

    judge = Oracle(Model(Spec(step, 0, list(range(NOTED)))))
    views = [judge.view(judge.anywhere([judge.model.node(state)], Span(0, 0))) for state in range(2 * VIEWED)]
    for view in views:
        assert view.known is not None
        view.known[:] = bytes([SPECIFIED]) * NOTED
    assert [len([*Pool("uioco", Random(1)).candidates(view)]) > FEW // 2 for view in views] == [True] * len(views)
    assert asked == []


def test_the_choices_of_a_path_that_lasts_all_night_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its journal gets counts, not a list: of more keys than are counted, those that came once are dropped."""
    monkeypatch.setattr("otf.strategy.pool.STATES", 10)
    tally = PathCounts[int]()
    for number in range(1000):
        tally.note(-1)
        tally.note(number)
    assert tally[-1] == 1000
    assert len(tally) <= 11
    for number in range(12):
        tally.note(number)
        tally.note(number)
    assert len(tally) <= 11


@pytest.mark.parametrize(
    ("inputs", "share"),
    [
        (["begin", *(("put", number) for number in range(99))], 0.255),
        (["begin", *(f"put {number}" for number in range(99))], 0.255),
        ([1.5, *range(99)], 0.255),
        # of one kind, and of as many kinds as inputs, each is as likely
        (["begin now", *(f"begin {number}" for number in range(99))], 0.01),
        ([f"word{number}" for number in range(100)], 0.01),
    ],
)
@pytest.mark.parametrize("fixed", [True, False])
def test_a_kind_with_one_input_is_drawn_beside_one_with_many(
    inputs: list[object], share: float, *, fixed: bool
) -> None:
    """Half of the draws are of a kind that is drawn first: so `begin` is not a choice in a hundred."""
    spec: Spec[int, object] = Spec(lambda state, _inp: [goto(state)], 0, inputs if fixed else always(inputs))
    judge = Oracle(Model(spec))
    pool, view = Pool("uioco", Random(7)), judge.view(judge.start())
    found = Counter(next(pool.candidates(view)).value for _ in range(4_000))
    assert found[inputs[0]] / 4_000 == pytest.approx(share, abs=0.02)


def test_of_a_very_long_list_of_one_state_the_kinds_are_not_looked_for() -> None:
    """That would take longer than a step, in each state."""
    spec: Spec[int, object] = Spec(lambda state, _inp: [goto(state)], 0, lambda _state: ["begin", *range(KEPT)])
    judge = Oracle(Model(spec))
    assert judge.view(judge.start()).enabled.kinds == []
