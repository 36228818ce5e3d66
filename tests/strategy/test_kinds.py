"""Strategies that take something of yours, planned ways, coverage, and when there is enough of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from itertools import chain, count
from pathlib import Path
from random import Random

import pytest

from otf import Accept, Bench, InconclusiveError, Spec, Transition, goto, run
from otf.core import Model, Oracle, Symbol, View
from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.notations import Call
from otf.strategy import STRATEGIES, Coverage, Strategy, StrategyKind, Until, covering, goal, own, script, weighted
from otf.strategy.coverage import lasting
from otf.strategy.least import action

LENGTH = 12


def line(state: int, inp: str) -> Iterator[Transition[int]]:
    """A line of states: `on` goes on, `home` goes back to the beginning, `look` tells where it is."""
    if inp == "on" and state < LENGTH:
        yield goto(state + 1)
    elif inp == "home":
        yield goto(0)
    elif inp == "look":
        yield goto(state, state)


LINE = Spec(line, 0, ["on", "home", "look", "shout"], name="line")


class Board:
    """A system that follows its line of inputs."""

    def __init__(self) -> None:
        self.state = 0

    def act(self, inp: str) -> tuple[object, ...]:
        """Take an input; what is not specified is ignored."""
        for way in line(self.state, inp):
            self.state = way.state
            return way.outputs
        return ()


def sent(strategy: str | StrategyKind, path: Path, *, traces: int = 1, steps: int = 50) -> list[list[object]]:
    """The inputs of the paths of a campaign with a strategy."""
    seen: list[list[object]] = []

    def system() -> Callable[[str], tuple[object, ...]]:
        board, inputs = Board(), list[object]()
        seen.append(inputs)

        def act(inp: str) -> tuple[object, ...]:
            inputs.append(inp)
            return board.act(inp)

        return act

    bench = Bench(LINE, system=system, types=(int,))
    run(bench, out=path, strategy=strategy, seed=1, traces=traces, steps=steps)
    return seen


def test_given_inputs_are_sent(tmp_path: Path) -> None:
    """One list for each path, and the header of the trace names the strategy."""
    lists = [["on", "look"], ["on", "on", "home"]]
    assert sent(script(*lists), tmp_path, traces=2) == lists
    assert '"strategy":"script"' in next(tmp_path.glob("path-*1.jsonl")).read_text(encoding="utf-8").replace(" ", "")


def test_no_inputs_are_no_script() -> None:
    """An empty call is a mistake."""
    with pytest.raises(UsageError, match="at least one list"):
        script()


def test_weights_say_how_often(tmp_path: Path) -> None:
    """What weighs nothing is never sent; what is not named weighs 1."""
    (inputs,) = sent(weighted({"home": 0, "look": 3}), tmp_path, steps=1000)
    assert inputs.count("home") == 0
    assert inputs.count("on") >= LENGTH
    (some,) = sent(weighted(lambda inp: 1 if inp == "look" else 0), tmp_path / "2", steps=10)
    assert set(some) == {"look"}


def test_where_all_weighs_nothing_the_path_ends(tmp_path: Path) -> None:
    """There is no input to draw, and a campaign that sent nothing is not passed."""
    with pytest.raises(InconclusiveError, match="nothing was sent"):
        sent(weighted(lambda _inp: 0), tmp_path, steps=10)


def test_a_weight_below_nothing_is_a_mistake(tmp_path: Path) -> None:
    """The input is named."""
    with pytest.raises(UsageError, match="the weight of 'on' is -1"):
        sent(weighted({"on": -1}), tmp_path)


def test_a_goal_is_reached_by_the_shortest_way(tmp_path: Path) -> None:
    """Twelve steps on, then whatever was tried least."""
    (inputs,) = sent(goal(lambda state: state == LENGTH), tmp_path, steps=15)
    assert inputs[:LENGTH] == ["on"] * LENGTH


def test_a_goal_that_is_nowhere_is_not_waited_for(tmp_path: Path) -> None:
    """The path does what it can."""
    (inputs,) = sent(goal(lambda state: state < 0), tmp_path, steps=15)
    assert len(inputs) == 15


def test_the_nearest_untried_input_comes_first(tmp_path: Path) -> None:
    """All 38 specified pairs of state and input are tried in one path, on short ways between them."""
    coverage = Coverage(explore(LINE))
    sent(covering(STRATEGIES["nearest"], coverage), tmp_path, steps=300)
    assert coverage.met() == coverage.all()
    (inputs,) = sent("nearest", tmp_path / "2", steps=60)
    assert len(inputs) == 60


class Shy:
    """A strategy of one's own: three times the first enabled input."""

    def __init__(self) -> None:
        self.left = 3

    def choose(self, view: View) -> Symbol | None:
        """Choose it."""
        self.left -= 1
        return view.specified[0] if self.left >= 0 else None


def test_a_strategy_of_ones_own_is_a_small_class(tmp_path: Path) -> None:
    """Each path gets a new object."""
    assert sent(own(Shy), tmp_path, traces=2) == [["on"] * 3, ["on"] * 3]


class Broken:
    """A strategy of one's own with a mistake."""

    def choose(self, view: View) -> Symbol | None:
        """Raise an error, whose text raises another."""
        del view
        raise Mute


class Mute(Exception):  # noqa: N818 -- its name is told
    """An error without a text."""

    def __str__(self) -> str:
        """Raise an error."""
        raise ValueError


def test_a_strategy_of_ones_own_that_raises(tmp_path: Path) -> None:
    """The error is the user's, and says what was raised, and where."""
    with pytest.raises(ModelError, match=r"^the strategy raised Mute: .*\n.*test_kinds.py\", line \d+, in choose"):
        sent(own(Broken), tmp_path)


def test_kinds_of_input_are_used_evenly(tmp_path: Path) -> None:
    """Wherever the path is, although now and then chance chooses."""
    (inputs,) = sent("least-action", tmp_path, steps=90)
    used = [inputs.count(each) for each in ("on", "home", "look")]
    assert max(used) - min(used) <= 3


def test_a_fault_behind_one_kind_three_times_in_a_row_is_found(tmp_path: Path) -> None:
    """The least used kind alone would never send it."""
    spec = Spec(lambda state, inp: [goto(state, inp)], 0, ["put", "get"])

    def store() -> Callable[[str], list[str]]:
        last: list[str] = []

        def act(inp: str) -> list[str]:
            last.append(inp)
            return ["lost" if last[-3:] == ["put"] * 3 else inp]

        return act

    with pytest.raises(AssertionError, match="lost"):
        run(Bench(spec, system=store, types=(str,)), out=tmp_path, strategy="least-action", traces=10, steps=20, seed=1)


def test_the_kind_of_an_input() -> None:
    """Its class, the name of a member, a word, or its own name."""

    class Light(Enum):
        RED = 1

    model = Model(LINE)
    kinds = [action(model.symbol(value)) for value in ("on", 7, Light.RED, Call("push", (1,)))]
    assert kinds == ["on", "int", "Light.RED", "push"]


def test_where_nothing_is_offered_nothing_is_chosen(tmp_path: Path) -> None:
    """Every strategy ends the path."""
    dead = Spec(line, 0, lambda _state: list[str](), name="dead")
    with pytest.raises(InconclusiveError, match="enables no input in its initial state"):
        run(Bench(dead, system=lambda: Board().act, types=(int,)), out=tmp_path, strategy="least-action")


def test_transitions_that_outputs_decide_are_not_counted(tmp_path: Path) -> None:
    """Where an Accept leads is not known before it came."""
    office = Spec(lambda _state, _inp: [Accept(lambda seen: [seen[0]])], 0, ["draw"])
    coverage = Coverage(explore(office))
    run(
        Bench(office, system=lambda: lambda _inp: (0,), types=(int,)),
        out=tmp_path,
        strategy=covering(script(["draw"] * 3), coverage),
    )
    assert coverage.met()["transitions"] == 0


def test_the_least_visited_state_is_never_left_behind(tmp_path: Path) -> None:
    """`least-state` goes to the end of the line without going home more often than it must."""
    (inputs,) = sent("least-state", tmp_path, steps=60)
    assert inputs.count("on") >= LENGTH


def test_coverage_names_what_never_ran(tmp_path: Path) -> None:
    """Of the explored machine, where it is finite: no state specifies `shout`, so that it never can."""
    coverage = Coverage(explore(LINE))
    sent(covering(script(["on", "look", "on", "look"]), coverage), tmp_path)
    said = "states 3/13, transitions 4/38, inputs 2/3, outputs 3/14, pairs 4/38; never ran: 'home'"
    assert str(coverage) == said


def test_coverage_of_a_model_without_end_counts_what_was_met(tmp_path: Path) -> None:
    """Nothing is known of the rest."""
    coverage = Coverage()
    sent(covering(script(["on", "on"]), coverage), tmp_path)
    assert str(coverage) == "states 3, transitions 2, inputs 1, outputs 1, pairs 2"


def test_a_campaign_ends_when_it_has_seen_enough(tmp_path: Path) -> None:
    """Every state: thirteen, however many steps there are left."""
    coverage = Coverage(explore(LINE))
    paths = sent(covering(STRATEGIES["nearest"], coverage, Until("states")), tmp_path, steps=10_000)
    assert len(coverage.states) == LENGTH + 1
    assert len(paths[0]) < 200


def test_a_campaign_ends_when_nothing_is_new(tmp_path: Path) -> None:
    """What was covered is new once; the time since then counts, and the start of the system does not."""
    moments = chain([0], count(100))
    coverage = Coverage(explore(LINE))
    kind = covering(script(["look"] * 50), coverage, Until("nothing-new", number=9), lambda: next(moments))
    assert [len(path) for path in sent(kind, tmp_path, steps=50)] == [10]
    assert kind.done()
    with pytest.raises(UsageError, match="until nothing-new: it needs a clock"):
        covering(script(["look"]), coverage, Until("nothing-new", number=9))


@pytest.mark.parametrize(
    ("until", "said"),
    [
        (Until("states", number=14), "14 states can never be reached: the model has 13"),
        (Until("colours"), "until colours: it is one of states, transitions"),
        (Until("states", 0), "until states=0: it is one of .* with a share above 0 and up to 1, such as states=0.9"),
    ],
)
def test_what_can_never_be_reached_is_said_at_once(until: Until, said: str) -> None:
    """Before anything runs."""
    with pytest.raises(UsageError, match=said):
        covering(STRATEGIES["random"], Coverage(explore(LINE)), until)


def test_of_a_model_without_end_no_share_can_be_reached() -> None:
    """But a number can."""
    endless = explore(Spec(lambda state, _inp: [goto(state + 1)], 0, ["on"]), 10)
    with pytest.raises(UsageError, match=r"not explored whole \(limit\); give a number"):
        Until("states").check(endless)
    Until("states", number=5).check(endless)


def test_a_plan_is_made_anew_where_the_system_goes_another_way(tmp_path: Path) -> None:
    """The system chooses between two states: the way to the goal is planned from where it went."""

    def fork(state: str, inp: str) -> Iterator[Transition[str]]:
        if state == "start":
            yield from (goto("left", "l"), goto("right", "r"))
        elif inp == state:
            yield goto("goal", "!")

    class Coin:
        def __init__(self) -> None:
            self.state, self.random = "start", Random(1)

        def act(self, inp: str) -> tuple[str, ...]:
            ways = list(fork(self.state, inp))
            way = self.random.choice(ways) if ways else goto(self.state)
            self.state = way.state
            return tuple(map(str, way.outputs))

    bench = Bench(Spec(fork, "start", ["left", "right"]), system=lambda: Coin().act, types=(str,))
    assert run(bench, out=tmp_path, strategy=goal(lambda state: state == "goal"), seed=3).verdict == "pass"


def test_no_path_begins_after_the_uptime_that_one_should_last() -> None:
    """Each path of a failing system ends early: the campaign ends with the time that one path was to take."""
    now = [0.0]
    kind = lasting(script(["on"]), 10.0, lambda: now[0])
    strategy, oracle = Strategy(kind, "uioco", 1), Oracle(Model(LINE))
    for number, moment in enumerate((0.0, 6.0), start=1):
        assert not kind.done()
        now[0] = moment
        assert strategy.path(number).choose(oracle.view(oracle.start())) is not None
    now[0] = 10.0
    assert kind.done()
