"""A strategy whose inputs are now and then damaged: which ones, and that the others are as without damage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from otf.codec import lines
from otf.codec.malformed import Malformed, MalformedCodec, shorter
from otf.core import Model, Monitor, Oracle
from otf.spec import Elapse, Spec, Transition, goto
from otf.strategy import Script
from otf.strategy.kinds import StrategyKind
from otf.strategy.malformed import malforming
from otf.strategy.pool import Pool, VisitCounts
from otf.trace.events import Quiet, Sent


@dataclass(frozen=True)
class Open:
    pass


@dataclass(frozen=True)
class Shut:
    pass


CODEC = MalformedCodec(lines({Open: "open", Shut: "shut"}))


def _answers(state: int, inp: object) -> Iterator[Transition[int]]:
    if isinstance(inp, Elapse):
        yield goto(state)
    # lenient: it takes a damaged message as the one that was meant, so that the script goes on
    elif isinstance(inp, Malformed) or (state, inp) in {(0, Open()), (1, Shut())}:
        yield goto(1 - state)


def sent(share: float, script: list[object], *, takes: bool = True) -> list[object]:
    """Return what is sent in place of a script; `takes`: the model says what follows malformed inputs."""

    def step(state: int, inp: object) -> Iterator[Transition[int]]:
        return _answers(state, inp) if takes or not isinstance(inp, Malformed) else iter(())

    oracle = Oracle(Model(Spec(step, 0, [Open(), Shut(), Elapse(1)])))
    kind = malforming(StrategyKind("script", "", (lambda _pool, _visits: Script(script),)), share, CODEC)
    chooser = kind.makers[0](Pool("uioco", Random(5)), VisitCounts())
    monitor, inputs = Monitor(oracle), list[object]()
    while (chosen := chooser.choose(oracle.view(monitor.belief))) is not None:
        inputs.append(chosen.value)
        monitor.tell(Sent(chosen.value, "line", 0))
        monitor.tell(Quiet(0))
    return inputs


def test_a_share_of_the_inputs_is_damaged() -> None:
    """With a share of 0 none is, with 1 all are, in between some; the others are those of the script."""
    script: list[object] = [Open(), Shut()] * 20
    assert sent(0.0, script) == script
    assert all(isinstance(inp, Malformed) for inp in sent(1.0, script))
    some = sent(0.3, script)
    damaged = [inp for inp in some if isinstance(inp, Malformed)]
    assert 0 < len(damaged) < len(script) // 2
    assert all(inp == wanted for inp, wanted in zip(some, script, strict=True) if not isinstance(inp, Malformed))


def test_an_input_that_only_waits_has_no_bytes_to_damage() -> None:
    """It is sent as it is."""
    assert sent(1.0, [Elapse(1)]) == [Elapse(1)]


def test_what_the_model_says_nothing_about_is_not_sent() -> None:
    """Where no transition follows a malformed input, the input of the other strategy is sent."""
    assert sent(1.0, [Open(), Shut()], takes=False) == [Open(), Shut()]


def test_a_message_of_another_state_is_malformed_here() -> None:
    """One in eight malformed inputs is a message that was sent before, and is not specified in this state."""
    script: list[object] = [Open(), Shut()] * 100
    misplaced = [each for each in sent(0.7, script) if isinstance(each, Malformed) and each.how == "of another state"]
    assert misplaced
    assert {each.raw for each in misplaced} <= {b"open", b"shut"}


def test_shorter_bytes_come_once_each() -> None:
    """Bytes that can be left out in several ways are tried once."""
    assert [each.raw for each in shorter(Malformed(b"aa"))] == [b"", b"a"]
