"""The default algorithm: what each of its means is for."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest

from benchmarks.shrink_classical import ALGORITHMS
from benchmarks.shrink_simulated import Simulated, drive, unpaused
from otf.core import Model, Oracle
from otf.shrink import Issue, ModelStep, Setting, StepPlan, issue_of
from otf.shrink.issue import ANY, ANYWHERE, Traits, completed, kind
from otf.shrink.search import ShrinkSearch
from otf.shrink.shortest_ways import ModelMap, Tree
from otf.spec import Elapse, Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Seen, Sent
from tests.shrink.simulated import LAMP, Bench, acting, lamp, sent


def test_what_failed_before_any_input_is_as_short_as_it_can_be() -> None:
    """An issue without inputs is returned as it is."""
    search = unpaused(Issue(()), lamp(1).setting)
    with pytest.raises(StopIteration) as done:
        next(search)
    assert done.value.value == Issue(())


@pytest.mark.parametrize("presses", [1, 2, 3, 9, 31, 60])
def test_a_counter_that_the_model_does_not_have(presses: int) -> None:
    """The shrunk run repeats a step exactly as often as the failure needs."""
    run = ["look", "wait", "press", "wait", "look", "press", "look"] * 40
    needed = presses + (presses % 2 == 0)  # the lamp must be lit to be seen dark
    assert lamp(presses).shrink("model", run) == ["press"] * needed + ["look"]


def test_a_long_walk_that_is_needed_costs_little() -> None:
    """The search finds that all 60 presses are needed without trying to leave out each."""
    tried = lamp(61)
    tried.shrink("model", ["press", "wait", "look"] * 61 + ["look"])
    assert len(tried.system.lengths) < 60


def test_one_step_long_ago() -> None:
    """A step long before the failure is found together with the kind of step that shows it."""

    def react(state: tuple[bool, bool], inp: object) -> tuple[tuple[bool, bool], list[object]]:
        on, waited = state
        if inp == "look":
            return state, ["on" if on or waited else "off"]
        return (on != (inp == "press"), waited or inp == "wait"), []

    tried = Bench(LAMP, react, (False, False))
    assert tried.shrink("model", ["wait", *["press", "press"] * 20, "look"]) == ["wait", "look"]


def test_what_did_no_harm_is_not_guessed() -> None:
    """No letter but the last is tried alone before a look: a look has passed after all of them."""

    def step(state: object, inp: object) -> Iterator[Transition[object]]:
        yield goto(state, *([0] if inp == "look" else []))

    def react(known: str, inp: Any) -> tuple[str, list[object]]:  # noqa: ANN401 -- a letter
        return (known + inp, [int(known.endswith("adefbghicjkl"))] if inp == "look" else [])

    letters = "lkjihgfedcba"
    tried = Bench(Spec(step, initial=0, inputs=["look", *letters]), react, "")
    issue = tried.failing([*letters, "look", *"adefbghicjkl", "look"])
    search, guesses = unpaused(issue, tried.setting), list[list[object]]()
    candidate = next(search)
    while tried.system.shows(candidate) is None:
        guesses.append(sent(candidate, tried))
        candidate = search.send(None)
    assert [guess for guess in guesses if len(guess) == 2] == [["l", "look"]]


def test_a_kind_of_step_that_leads_into_a_dead_end() -> None:
    """The nearest step of a kind may be the only one that can follow; then this guess is none."""

    def step(state: object, inp: object) -> Iterator[Transition[object]]:
        match state, inp:
            case "start", "x":
                yield goto("dead end")
            case "start", "y":
                yield goto("loop")
            case "loop", ("x" | "y"):
                yield goto("loop")
            case _, "look":
                yield goto(state, 0)
            case _:
                pass

    def react(state: int, inp: object) -> tuple[int, list[object]]:
        return state + (inp == "x"), [int(state > 2)] if inp == "look" else []

    tried = Bench(Spec(step, initial="start", inputs=["x", "y", "look"]), react)
    assert tried.shrink("model", ["y", *[*"yyyyyyyyyyyyx"] * 3, "look"]) == ["y", "x", "x", "x", "look"]


def test_a_word_of_which_every_letter_counts() -> None:
    """If ten different inputs are all needed, all stay; the search gives up after a dozen tries."""

    def step(state: object, inp: object) -> Iterator[Transition[object]]:
        yield goto(state, *([0] if inp == "j" else []))

    def react(known: str, inp: Any) -> tuple[str, list[object]]:  # noqa: ANN401 -- a letter
        known = known + inp if WORD.startswith(known + inp) else known
        return known, [int(known == WORD)] if inp == "j" else []

    tried = Bench(Spec(step, initial=0, inputs=list(WORD)), react, "")
    run = [letter for each in WORD[:-1] for letter in (each, "a", each)]
    assert tried.shrink("model", [*run, "j"]) == list(WORD)


# ---- values


WORD = "abcdefghij"


class Colour(Enum):
    """Members of an enum name different things, and are different kinds."""

    RED = 1
    BLUE = 2


def _shelf(things: Any, inp: Any) -> Iterator[Transition[object]]:  # noqa: ANN401 -- tuples of tuples
    match inp:
        case ("put", _name, number):
            yield goto((*things, number)[-3:])
        case "sum":
            yield goto(things, sum(things))
        case Colour():
            yield goto(things)
        case _:
            pass


OFFERED = ["sum", *Colour, *[("put", name, number) for name in ("ann", "bob", "eve") for number in range(12)]]
SHELF: Spec[object, object] = Spec(_shelf, initial=(), inputs=OFFERED)


def shelf(least: int, twice: str = "") -> Bench:
    """Return a shelf that adds up wrong what is at least so large, or once a name was used twice."""

    def react(state: Any, inp: Any) -> tuple[Any, list[object]]:  # noqa: ANN401 -- the same
        names, things = state
        if isinstance(inp, tuple):
            return ((*names, inp[1]), (*things, inp[2])[-3:]), []
        wrong = max(things, default=0) >= least or (twice == "any" and any(names.count(each) > 1 for each in names))
        return state, [sum(things) + wrong] if inp == "sum" else []

    return Bench(SHELF, react, ((), ()))


def test_values_become_as_simple_as_they_can() -> None:
    """The number becomes the least that fails, the name the first one."""
    run = [Colour.BLUE, ("put", "bob", 3), "sum", Colour.RED, ("put", "eve", 11), ("put", "eve", 2), "sum"]
    assert shelf(7).shrink("model", run) == [("put", "ann", 7), "sum"]
    assert shelf(7).shrink("partial", run) == [("put", "ann", 7), "sum"]


def test_equal_names_stay_equal() -> None:
    """A fault that needs the same name twice keeps it twice, with the first name and the first number."""
    run = [("put", "eve", 5), ("put", "bob", 4), Colour.RED, ("put", "eve", 9), "sum", ("put", "eve", 1), "sum"]
    assert shelf(99, "any").shrink("model", run) == [("put", "ann", 0), ("put", "ann", 0), "sum"]


def test_a_name_that_two_inputs_must_share() -> None:
    """What is put and taken under one name gets another name in both; no single input could get it."""

    def step(names: Any, inp: Any) -> Iterator[Transition[object]]:  # noqa: ANN401 -- tuples
        match inp:
            case ("put", name):
                yield goto(names | {name})
            case ("take", name):
                yield goto(names - {name}, name in names)
            case _:
                pass

    def react(state: int, inp: Any) -> tuple[int, list[object]]:  # noqa: ANN401 -- the same
        return state, [False] if inp[0] == "take" else []

    inputs = [(act, name) for act in ("put", "take") for name in ("ann", "bob", "eve")]
    store = Bench(Spec(step, initial=frozenset[str](), inputs=inputs), react)
    assert store.shrink("model", [("put", "bob"), ("put", "eve"), ("take", "eve")]) == [("put", "ann"), ("take", "ann")]


def test_equal_values_of_which_one_must_stay() -> None:
    """One of two equal inputs becomes simpler, though the other cannot."""

    def react(puts: Any, inp: Any) -> tuple[Any, list[object]]:  # noqa: ANN401 -- the same
        if isinstance(inp, tuple):
            return (*puts, inp[2]), []
        return puts, [sum(puts[-3:]) + (len(puts) > 1 and puts[0] > 4)] if inp == "sum" else []

    run = [("put", "bob", 9), Colour.RED, ("put", "bob", 9), "sum"]
    assert Bench(SHELF, react, ()).shrink("model", run) == [("put", "ann", 5), ("put", "ann", 0), "sum"]


def test_of_a_long_walk_all_inputs_of_a_kind_become_the_same() -> None:
    """Twelve inputs that are needed, whatever their values, become equal."""

    def react(count: int, inp: Any) -> tuple[int, list[object]]:  # noqa: ANN401 -- the same
        if isinstance(inp, tuple):
            return count + 1, []
        return count, [0 if count < 12 else 99] if inp == "sum" else []

    def step(things: object, inp: Any) -> Iterator[Transition[object]]:  # noqa: ANN401 -- the same
        yield goto(things, *([0] if inp == "sum" else []))

    full = Bench(Spec(step, initial=(), inputs=OFFERED), react)
    run = [("put", "eve" if at % 3 else "bob", at % 11) for at in range(40)]
    assert full.shrink("model", [*run, Colour.RED, "sum"]) == [("put", "ann", 0)] * 12 + ["sum"]


# ---- other models


def test_another_failure_is_not_taken_for_this_one() -> None:
    """A shorter run with another failure is not a result."""

    def react(state: int, inp: object) -> tuple[int, list[object]]:
        state += inp == "press"
        answers = {1: ["on", "on"], 2: ["off"]}  # twice after one press, dark after three
        return state, list(answers.get(state, ["off"])) if inp == "look" else []

    tried = Bench(lamp(1).system.oracle.model.spec, react)
    issue = tried.failing(["press", "press", "press", "look"])
    shrunk = tried.failing(tried.shrink("model", ["press", "press", "press", "look"]))
    assert shrunk.signature == issue.signature


def _restless(state: object, inp: object) -> Iterator[Transition[object]]:
    match state, inp:
        case "quiescence_predicted", "poke":
            yield goto("awake")
        case (("quiescence_predicted" | "awake"), "look"):
            yield goto(state, state)
        case "awake", "poke":
            yield goto("awake")
        case _:
            pass


def _sleep(state: object) -> Iterator[Transition[object]]:
    if state == "awake":
        yield goto("quiescence_predicted", "yawn")


def test_what_comes_unasked_may_have_come() -> None:
    """Where the model may move by itself, the ways through it hold the states of both before and after."""
    spec: Spec[object, object] = Spec(_restless, initial="quiescence_predicted", inputs=["poke", "look"], emits=_sleep)
    ways = ModelMap(Oracle(Model(spec)))
    (poke,) = [step for step in ways.steps(ways.start) if step.input.value == "poke"]
    assert {node.value for node in poke.target} == {"quiescence_predicted", "awake"}


def _boots(state: object, inp: object) -> Iterator[Transition[object]]:
    match state, inp:
        case "off", Elapse():
            yield goto("off")
        case "on", "reset":
            yield goto("off")
        case "on", "shout":
            yield goto("on")
            yield goto("hung up")
        case "on", _:
            yield goto("on", *(["found"] if inp == "look" else []))
        case _:
            pass


def _banner(state: object) -> Iterator[Transition[object]]:
    if state == "off":
        yield goto("on", "hello")
    if state == "hung up":
        yield goto("hung up", "hiss")


def _booting(*inputs: object) -> Oracle:
    return Oracle(Model(Spec(_boots, initial="off", inputs=inputs, emits=_banner)))


@pytest.mark.parametrize("waits", [(), (Elapse(0.5),)])
def test_a_device_that_boots_first_is_shrunk(waits: tuple[Elapse, ...]) -> None:
    """A state that takes no input before its banner is over when the first one is sent, though the model offers waits.

    So not all steps are needed.
    """
    oracle = _booting("poke", "look", *waits)
    assert {node.value for node in ModelMap(oracle).start} == {"on"}
    sent = [Sent("poke", "", at) for at in (1.0, 2.0, 3.0)]
    issue = issue_of(oracle, [Seen("hello", "sut", 0.5), *sent, Sent("look", "", 4.0), Seen("lost", "sut", 4.1)])
    search = unpaused(issue, Setting(oracle))
    candidate = next(search)
    assert isinstance(candidate, StepPlan)
    assert [step.input.value for step in candidate.steps] == ["look"]


def test_a_device_that_boots_again_in_the_middle_is_shrunk() -> None:
    """The states before and after the banner are not both possible when the input after a reset is sent."""
    oracle = _booting("poke", "look", "reset")
    before: list[Event] = [Seen("hello", "sut", 0.5), Sent("poke", "", 1.0), Sent("reset", "", 2.0)]
    after: list[Event] = [Seen("hello", "sut", 2.5), Sent("poke", "", 3.0), Sent("look", "", 4.0)]
    issue = issue_of(oracle, [*before, *after, Seen("lost", "sut", 4.1)])
    tried = list[list[object]]()
    search = unpaused(issue, Setting(oracle))
    candidate: object = next(search)
    while isinstance(candidate, StepPlan) and tried[-1:] != [["reset", "look"]]:
        tried.append([step.input.value for step in candidate.steps])
        candidate = search.send(None)
    assert tried[-1] == ["reset", "look"], tried


def test_a_state_that_takes_no_input_for_ever_is_not_left_out() -> None:
    """After a shout the system may have hung up: no way goes on as if it had not."""
    ways = ModelMap(_booting("look", "shout"))
    (shout,) = [step for step in ways.steps(ways.start) if step.input.value == "shout"]
    assert {node.value for node in shout.target} == {"on", "hung up"}


def test_by_the_older_relation_one_state_that_says_something_is_enough() -> None:
    """With `any` the ways take inputs that some possible state specifies, with `uioco` only those of all."""

    def step(state: object, inp: object) -> Iterator[Transition[object]]:
        if state == 0 and inp == "go":
            yield goto(1)
            yield goto(2)
        if state == 1 and inp == "on":
            yield goto(0)

    spec: Spec[object, object] = Spec(step, initial=0, inputs=["go", "on"])
    for relation, open_ in (("any", 1), ("uioco", 0)):
        ways = ModelMap(Oracle(Model(spec), relation))  # type: ignore[arg-type]
        (go,) = ways.steps(ways.start)
        assert len(ways.steps(go.target)) == open_


def test_a_system_that_dies_is_shrunk_too() -> None:
    """A run in which the system raises is shrunk like any other."""

    def react(state: int, inp: object) -> tuple[int, list[object]]:
        if inp == "press" and state == 2:
            raise RuntimeError("worn out")
        return state + (inp == "press"), ["on" if state % 2 else "off"] if inp == "look" else []

    tried = Bench(lamp(1).system.oracle.model.spec, react)
    assert tried.shrink("model", ["look", "press", "wait", "press", "look", "press"]) == ["press"] * 3


# ---- the parts


def test_one_input_is_as_short_as_it_can_be() -> None:
    """A run of one input has no candidates."""

    def react(state: int, inp: object) -> tuple[int, list[object]]:
        return state, ["on"] if inp == "look" else []

    tried = Bench(lamp(1).system.oracle.model.spec, react)
    for algorithm in ("ddmin", "partial", "elements", "model"):
        assert tried.shrink(algorithm, ["look"]) == ["look"]


def test_ways_where_nothing_is_known() -> None:
    """From anywhere an input may lead anywhere; what leads nowhere is not found; its input alone has traits."""
    tried = lamp(1)
    ways, inp = ModelMap(tried.setting.oracle), tried.failing(["press", "look"]).inputs[0]
    assert [outcome.target for outcome in ways.outcomes(ANYWHERE, inp)] == [ANYWHERE]
    assert completed(ways.nearest(ways.start, lambda _step: False)) is None
    assert Traits(ways.model).of(ModelStep(ANYWHERE, inp)) == (kind(inp), ("input", inp), ANY)


def test_a_tree_grows_no_further_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its bounds a tree finds no way, and keeps those that it found."""
    monkeypatch.setattr("otf.shrink.shortest_ways.SEARCHED", 10)
    ways = ModelMap(lamp(1).setting.oracle)

    def far() -> ModelMap:
        def step(state: Any, inp: object) -> Iterator[Transition[object]]:  # noqa: ANN401 -- a number
            yield goto(state + 1 if inp == "more" else 0)

        return ModelMap(Oracle(Model(Spec(step, initial=0, inputs=["more", "zero"]))))

    endless = far()
    tree = Tree(endless.start, endless)
    nodes = [each for each in tree.nodes() if each is not None]
    assert len(nodes) == 10
    assert len(tree.way(nodes[-1])) == 9
    assert completed(tree.path(frozenset(), 50)) is None
    assert len([each for each in Tree(ways.start, ways).nodes() if each is not None]) == 2


def test_a_search_for_a_way_asks_the_model_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search has a bound, and all of a map together; a node is asked about all its inputs."""
    monkeypatch.setattr("otf.shrink.shortest_ways.ASKED", 30)
    monkeypatch.setattr("otf.shrink.shortest_ways.ASKED_IN_ALL", 70)

    def step(state: Any, inp: Any) -> Iterator[Transition[object]]:  # noqa: ANN401 -- numbers
        yield goto(state + inp)

    ways = ModelMap(Oracle(Model(Spec(step, initial=0, inputs=range(1, 11)))))
    far = frozenset([ways.model.node(10**6)])
    assert completed(ways.path(ways.start, far)) is None
    assert ways.asked == 30
    assert completed(ways.nearest(far, lambda _step: False)) is None
    assert ways.asked == 60
    assert not ways.tired
    assert completed(ways.path(frozenset([ways.model.node(5000)]), far)) is None
    assert (ways.asked, ways.tired) == (70, True)
    assert completed(ways.nearest(ways.start, lambda _step: False)) is None
    assert ways.for_runs() is not ways
    assert ways.for_runs().asked == 0


def test_a_state_too_far_off_is_reached_by_a_detour_that_is_known() -> None:
    """Where the model is endless, the way there is what is left of the run when its circles are cut."""

    def step(state: Any, inp: Any) -> Iterator[Transition[object]]:  # noqa: ANN401 -- tuples of letters
        if inp == "pop":
            yield goto(state[:-1])
        elif inp == "top":
            yield goto(state, state[-1:])
        else:
            yield goto((*state, inp))

    def react(state: Any, inp: Any) -> tuple[Any, list[object]]:  # noqa: ANN401 -- the same
        if inp in {"pop", "top"}:
            wrong = len(state) > 11 and inp == "top"
            return (state[:-1], []) if inp == "pop" else (state, [("?",) if wrong else state[-1:]])
        return (*state, inp), []

    letters = list("abcdefgh")
    stack = Bench(Spec(step, initial=(), inputs=["pop", "top", *letters]), react, ())
    run = [letters[at * 5 % 8] for at in range(14)]
    run = [each for letter in run for each in (letter, "pop", letter)]
    shrunk = stack.shrink("model", [*run, "top"])
    assert (len(shrunk), shrunk[-1]) == (13, "top")


def test_what_undoes_itself_is_left_out_of_a_detour() -> None:
    """A walk without circles may still hold steps that another one undoes."""

    def step(state: Any, inp: Any) -> Iterator[Transition[object]]:  # noqa: ANN401 -- two numbers
        a, b = state
        if inp == "b":
            yield goto((a, b + 1))
        elif inp == "a" or a:
            yield goto((a + (1 if inp == "a" else -1), b))

    tried = Bench(Spec(step, initial=(0, 0), inputs=["a", "b", "undo"]), lambda state, _inp: (state, []))
    ways = ModelMap(tried.setting.oracle)
    walk = ways.along([ModelStep(ANYWHERE, ways.model.symbol(inp)) for inp in ("a", "b", "undo")])
    assert [step.input.value for step in completed(ways.shortened(walk))] == ["b"]


def test_what_is_told_of_an_input_that_is_not_offered() -> None:
    """An input that the model takes but does not offer is less simple than all that it offers."""
    spec: Spec[object, object] = Spec(_shelf, initial=(), inputs=["sum"])

    def react(state: int, inp: object) -> tuple[int, list[object]]:
        return state + isinstance(inp, tuple), [9] if inp == "sum" and state else [0] if inp == "sum" else []

    oracle = Oracle(Model(spec))
    tried = Simulated(oracle, lambda: acting(react, 0))
    issue = tried.run(Script([("put", "ann", 0), "sum"]), 2)
    assert issue is not None
    assert len(drive(unpaused(issue, Setting(oracle), ALGORITHMS["partial"]), tried.shows)) == 2
    search = ShrinkSearch(issue, ModelMap(oracle))
    assert [search.rank_of(step) for step in issue.steps] == [1, 0]
