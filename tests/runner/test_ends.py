"""Several ports, and how they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from otf.adapter import Bench, Ending, Frame, LineLost
from otf.spec import Transition, goto, on
from otf.trace.events import Ended
from tests.runner.playing import Answer, answering, hub, on_function, on_still, play, spec
from tests.runner.words import Words


def _both(state: int, inp: str) -> Iterator[Transition[int]]:
    if inp == "a.go":
        yield goto(state, "a.first", "b.second", "b.third")


def _two_ports(*answers: Answer, deaf: Sequence[str] = ()) -> Bench:
    connect = hub(lambda _port, _frame: answers, "a", "b", deaf=deaf, last_words={"b": ["I was tired"]})
    return Bench(spec(_both), codec=Words(), connect=connect, outputs=("a", "b"), quiescence=1.0)


def test_ports_have_no_order_among_each_other() -> None:
    """Outputs on two ports may come in any order; on one port they may not."""
    assert play(_two_ports((0.1, "b", b"second"), (0.2, "a", b"first"), (0.3, "b", b"third")), "a.go").script == [
        "0 > a.go",
        "0.1 < b.second",
        "0.2 < a.first",
        "0.3 < b.third",
        "1.3 quiet",
    ]
    wrong = _two_ports((0.1, "b", b"third"), (0.2, "a", b"first"), (0.3, "b", b"second"))
    assert play(wrong, "a.go").failure.seen == "'b.third'"


def test_an_output_on_the_wrong_port() -> None:
    """The right frame on the wrong port is another output."""
    bench = _two_ports((0.1, "b", b"first"), (0.2, "a", b"second"), (0.3, "b", b"third"))
    failure = play(bench, "a.go").failure
    assert (failure.port, failure.seen) == ("b", "'b.first'")


def test_each_port_can_end() -> None:
    """The end of one port fails the run, with the remarks of all of them, each by its port."""
    bench = _two_ports((0.1, "a", b"first"), (0.2, "b", Ending("exit status 3")))
    played = play(bench, "a.go")
    assert played.script == ["0 > a.go", "0.1 < a.first", "0.2 b ended: exit status 3"]
    failure = played.failure
    assert (failure.kind, failure.port, failure.seen) == ("ended", "b", "the port ended: exit status 3")
    assert failure.note == "b: I was tired"


def test_a_system_that_dies() -> None:
    """An end in mid-run is a failure with its reason, and what arrived before it comes first."""
    failing = play(answering(b"pong", (0.5, Ending("exit status 3"))), "p.ping", "p.ping")
    assert failing.script == ["0 > p.ping", "0 < p.pong", "0.5 p ended: exit status 3"]
    assert failing.failure.kind == "ended"


def test_the_last_words_of_a_function() -> None:
    """A Python object that raises has ended, and its traceback is among the remarks."""

    def system(_frame: bytes) -> bytes:
        message = "no such coin"
        raise ValueError(message)

    failure = play(on_function(lambda: system), "p.ping").failure
    assert failure.seen == "the port ended: raised ValueError: no such coin"
    assert failure.note.startswith("p: Traceback")
    assert failure.note.endswith("ValueError: no such coin")


def test_an_end_that_the_model_expects() -> None:
    """A port may end where the model allows it."""

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        if inp == "p.quit" and state == "up":
            yield goto("down", "p.bye", on("p", Ended("end of stream")))

    bench = on_function(lambda: lambda _frame: [b"bye", Ending("end of stream")], spec=spec(step, initial="up"))
    played = play(bench, "p.quit")
    assert played.script == ["0 > p.quit", "0 < p.bye", "0 p ended: end of stream", "1 quiet"]
    assert played.verdict.outcome == "pass"


def test_sending_on_a_line_that_has_ended() -> None:
    """A port that the model closed and then offers an input on is a failure that says so."""

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        yield goto("down", on("p", Ended)) if inp == "p.quit" else goto(state)

    bench = on_function(lambda: lambda _frame: Ending("end of stream"), spec=spec(step, initial="up"))
    played = play(bench, "p.quit", "p.more")
    assert played.script == ["0 > p.quit", "0 p ended: end of stream", "1 quiet", "1 p ended: ended"]
    assert played.failure.kind == "ended"


def test_a_model_that_allows_every_end() -> None:
    """It may also allow inputs after the end; none can be sent, so the path does not go on without end."""

    def emits(state: int) -> Iterator[Transition[int]]:
        yield goto(state, on("p", Ended))

    quits = replace(spec(lambda state, _inp: [goto(state)]), emits=emits)
    bench = on_function(lambda: lambda _frame: Ending("end of stream"), spec=quits)
    played = play(bench, "p.quit", "p.more")
    assert played.verdict.outcome == "inconclusive"
    assert played.verdict.why == "p has ended (ended), so nothing can be sent there, but the model allows inputs"


def test_sending_on_a_lost_line() -> None:
    """A line that takes nothing any more has ended: an input that was not sent is not in the trace."""
    played = play(on_still(refusal=LineLost("the cable is cut")), "p.ping")
    assert played.script == ["0 p ended: the cable is cut"]
    assert played.failure.kind == "ended"


def test_a_lost_line_tells_its_own_end() -> None:
    """What had arrived on a line that is lost comes first, and the line's own reason counts."""
    bench = on_still(Frame(b"help"), Ending("exit status 3"), refusal=LineLost("broken pipe"))
    played = play(bench, "p.ping")
    assert played.script == ["0 < p.help", "0 p ended: exit status 3"]
