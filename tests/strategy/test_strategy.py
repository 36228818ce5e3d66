"""Strategies choose what the mode offers, evenly, and the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from otf.core import InputMode, Model, Monitor, Oracle, View
from otf.errors import UsageError
from otf.spec import Spec, Transition, goto, total
from otf.strategy import STRATEGIES, Pool, Script, Strategy
from otf.trace.events import Quiet, Sent


def _ring(state: int, inp: str) -> Iterator[Transition[int]]:
    if inp == "next":
        yield goto((state + 1) % 5)
    elif inp == "reset" and state:
        yield goto(0)


RING = Spec(_ring, initial=0, inputs=["next", "reset", "noise"])
ORACLE = Oracle(Model(total(RING)))


def _view(*sent: str) -> View:
    monitor = Monitor(ORACLE)
    for inp in sent:
        monitor.tell(Sent(inp, "in", 0))
        monitor.tell(Quiet(0))
    return ORACLE.view(monitor.belief)


def _walk(strategy: Strategy, path: int, steps: int) -> list[object]:
    monitor, chooser, inputs = Monitor(ORACLE), strategy.path(path), list[object]()
    for _ in range(steps):
        chosen = chooser.choose(ORACLE.view(monitor.belief))
        assert chosen is not None
        inputs.append(chosen.value)
        monitor.tell(Sent(chosen.value, "in", 0))
        monitor.tell(Quiet(0))
    return inputs


@pytest.mark.parametrize(
    ("mode", "enabled"),
    [
        ("uioco", {"next"}),
        ("any", {"next"}),
        ("all", {"next", "reset", "noise"}),
        ("mixed", {"next", "reset", "noise"}),
    ],
)
def test_a_mode_offers_its_inputs(mode: InputMode, enabled: set[str]) -> None:
    """In the initial state only `next` is specified; `all` and `mixed` offer the others too."""
    pool = Pool(mode, Random(1))
    assert {inp.value for _ in range(50) for inp in pool.of(_view())} == enabled


def test_mixed_takes_half_of_each() -> None:
    """About half of the inputs of a path are specified ones."""
    pool = Pool("mixed", Random(1))
    specified = sum(pool.of(_view())[0].value == "next" for _ in range(1000))
    assert 450 < specified < 550


def test_mixed_takes_what_there_is() -> None:
    """Where all inputs are specified, or none, the other half is not waited for."""
    only = Oracle(Model(Spec(_ring, initial=0, inputs=["next"])))
    enabled = only.view(Monitor(only).belief)
    assert all(Pool("mixed", Random(seed)).of(enabled) for seed in range(20))


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_seed_gives_the_same_inputs(name: str) -> None:
    """Seed and number of the path decide; another seed gives other inputs."""
    first, again, other = (_walk(Strategy(name, "mixed", seed), 1, 60) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_least_input_is_fair() -> None:
    """In a state every input is tried before one is tried twice, in the mode `all`."""
    strategy = Strategy("least-input", "all", 1)
    _walk(strategy, 1, 400)
    assert {node.value for node in strategy.visits.inputs} == {0, 1, 2, 3, 4}
    for tried in strategy.visits.inputs.values():
        assert max(tried.values()) - min(tried.values()) <= 1


def test_least_input_looks_at_the_least_tried_state() -> None:
    """In doubt about the state, an input counts as often as it was tried where it was tried least."""

    def fork(state: str, inp: str) -> Iterator[Transition[str]]:
        yield from [goto("left"), goto("right")] if state == "start" else [goto("left" if inp == "go" else state)]

    oracle = Oracle(Model(Spec(fork, initial="start", inputs=["go", "stay"])))
    strategy, sent = Strategy("least-input", "uioco", 1), list[object]()
    for path in range(1, 5):
        monitor, chooser = Monitor(oracle), strategy.path(path)
        for _ in range(2):
            chosen = chooser.choose(oracle.view(monitor.belief))
            assert chosen is not None
            sent.append(chosen.value)
            monitor.tell(Sent(chosen.value, "in", 0))
            monitor.tell(Quiet(0))
    at_start, in_doubt = sent[::2], sent[1::2]
    for tried in (at_start[:2], at_start[2:], in_doubt[:2], in_doubt[2:]):
        assert set(tried) == {"go", "stay"}


def test_least_next_goes_deep() -> None:
    """All states are reached at once, although a random walk is reset again and again."""
    strategy = Strategy("least-next", "all", 1)
    _walk(strategy, 1, 12)
    assert len(strategy.visits.states) == 5


def test_visits_are_kept_over_paths() -> None:
    """What one path tried is not the first thing that the next one tries."""
    strategy = Strategy("least-input", "all", 1)
    assert {_walk(strategy, path, 1)[0] for path in (1, 2, 3)} == {"next", "reset", "noise"}


def test_nothing_offered_ends_the_path() -> None:
    """Every strategy returns None where no input is enabled."""
    dead = Oracle(Model(Spec(_ring, initial=0, inputs=[])))
    enabled = dead.view(Monitor(dead).belief)
    assert [Strategy(name, "uioco", 1).path(1).choose(enabled) for name in STRATEGIES] == [None] * len(STRATEGIES)


def test_a_script_skips_what_is_not_allowed() -> None:
    """Inputs that the spec does not specify in the state are passed over and counted; the others come in order."""
    oracle = Oracle(Model(RING))
    script = Script(["reset", "noise", "next", "next"])
    enabled = oracle.view(Monitor(oracle).belief)
    chosen = [script.choose(enabled) for _ in range(3)]
    assert [inp.value if inp else None for inp in chosen] == ["next", "next", None]
    assert script.skipped == 2


def test_an_unknown_strategy_names_the_nearest() -> None:
    """A slip of the pen gets the name that was meant; nonsense gets the list."""
    with pytest.raises(UsageError, match="did you mean random"):
        Strategy("randon", "uioco", 1)
    with pytest.raises(UsageError, match="there are alternating"):
        Strategy("qqq", "uioco", 1)
