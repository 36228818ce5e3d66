"""`otf step`: a walk through a model, line by line."""

from pathlib import Path

import pytest

from otf.cli.step import AskingChooser
from otf.core import Model, Monitor, Oracle
from otf.models.session_device import SPEC
from tests.cli.command import failed, machine, otf


def walk(bench: str, *lines: str) -> list[str]:
    """What is said on a walk, one entry for each state that was shown."""
    done = otf("step", bench, stdin="".join(f"{line}\n" for line in lines).encode())
    assert (done.status, done.err) == (0, "")
    return done.out.split("\nstate: ")[1:]


def test_a_walk_and_back() -> None:
    """Numbers go on, `back` goes back as far as the beginning, an empty line shows the state again."""
    shown = walk("coffee", "1", "1", "1", "back", "b", "back", "back", "", "quit", "1")
    assert [text.splitlines()[0] for text in shown] == ["0", "5", "10", "0", "10", "5", "0", "0", "0"]
    assert shown[0].splitlines()[1:] == ["    1  Coin(cents=5)  ->  no output", "    2  Coin(cents=10)  ->  no output"]
    assert shown[2].splitlines()[1:] == ["    1  Button()  ->  Coffee()"]


def test_what_is_not_specified() -> None:
    """`all` shows the inputs that are not specified."""
    (shown,) = walk("coffee", "all")
    assert shown.splitlines()[3:] == ["not specified here:", "       Button()"]


def test_words_that_are_none() -> None:
    """Unknown words, numbers out of range, and help: each prints the commands, and the state stays."""
    (shown,) = walk("coffee", "tea", "3", "0", "-1", "99999999999999999999", "٣", "\x1b[2J", "?", "q")
    told = shown.splitlines()[3:]
    assert told[0].startswith(
        "'tea' is not a command: the ways are 1 to 2; a number or the name of an input goes that way, `back` undoes it"
    )
    assert [line.partition(" is not a command")[0] for line in told[1:6]] == [
        "'3'",
        "'0'",
        "'-1'",
        "'99999999999999999999'",
        "'٣'",
    ]
    assert told[6].startswith("'\\x1b[2J' is not a command")
    assert told[7].startswith("a number or the name of an input goes that way")


def test_spontaneous_ways_and_ways_that_depend_on_outputs(folder: Path) -> None:
    """Spontaneous outputs are ways too; a way on which the system decides the next state cannot be taken by hand."""
    more = (
        "\n\nfrom otf import Accept\n\n\ndef odd_step(state, inp):\n    return [Accept(lambda seen: [seen[0]])]\n\n\n"
        "def odd_emits(state):\n    return [goto(state + 1, Coffee())]\n\n\n"
        "odd = Bench(Spec(odd_step, 0, [Button()], odd_emits), ports=bench.ports, codec=codec)\n"
    )
    machine(folder, more=more)
    shown = walk("machine.py:odd", "1", "2", "all")
    assert shown[0].splitlines() == [
        "0",
        "    1  Button()  ->  outputs accepted on slot",
        "    2  (spontaneous)  ->  Coffee()",
        "the next state depends on what the system answers: `otf step --live` asks it; or choose another way",
    ]
    assert shown[1].splitlines()[0] == "1"
    assert shown[1].splitlines()[-1] == "every input is specified here"


def test_a_way_as_it_is_printed(folder: Path) -> None:
    """Where an input has several outcomes, the line of one, without its times, takes it."""
    more = (
        "\n\ndef two_step(state, inp):\n"
        "    return [goto(1, Coffee(), within=(0.1, 0.2)), goto(2)]\n\n\n"
        "two = Bench(Spec(two_step, 0, [Button()]), ports=bench.ports, codec=codec)\n"
    )
    machine(folder, more=more)
    assert walk("machine.py:two", "Button()  ->  no output", "Button()  ->  Coffee()")[-1].splitlines()[0] == "1"


def test_a_state_without_a_way_on(folder: Path) -> None:
    """If the model specifies nothing, the output says so."""
    machine(folder, {"inputs=[Coin(5), Coin(10), Button()]": "inputs=[]"})
    (shown,) = walk("machine.py", "1")
    assert "  the model does not specify what may happen here" in shown
    assert "'1' is not a command: there is no way on" in shown


def test_a_broken_model_ends_the_walk(folder: Path) -> None:
    """A model that raises is told with the question, as everywhere."""
    machine(folder, {"    match inp:\n": "    if paid: raise KeyError('cup')\n    match inp:\n"})
    done = otf("step", "machine.py", stdin=b"1\n")
    assert (done.status, "the model raised KeyError: 'cup'" in done.err) == (2, True)


def test_parameters_choose_the_model() -> None:
    """A bench's parameters can be set: with one conference there are half as many ways to join."""
    one, two = (otf("step", "conference", "--set", f"conferences={number}").out.count("Join(") for number in (1, 2))
    assert (one, two) == (2, 4)
    assert "there is no bench 'cofee'" in failed("step", "cofee")


def test_inputs_may_be_named() -> None:
    """By their whole text, by the name of their class where it is one only, or by a beginning that is one only."""
    shown = walk("coffee", "Coin(cents=5)", "coin(c", "button", "Coin")
    assert [text.splitlines()[0] for text in shown] == ["0", "5", "10", "0"]
    assert "'Coin' is not a command" in shown[-1]


def test_going_to_a_state() -> None:
    """The shortest way, and back one step at a time; what cannot be reached is said."""
    shown = walk("coffee", "goto 10", "back", "goto 7")
    assert [text.splitlines()[0] for text in shown] == ["0", "10", "0"]
    assert "no way from here to a state '7'" in shown[-1]


def test_why_an_input_is_not_enabled() -> None:
    """It is not specified in the state, or the model does not have it at all."""
    (shown,) = walk("coffee", "why Button", "why coin(cents=10)", "why tea")
    told = shown.splitlines()[3:]
    assert told == [
        "Button() is not enabled: the model does not specify it in 0",
        "Coin(cents=10) is enabled: the model specifies what happens on it",
        "tea is not one of the inputs that the model may take here: Coin(cents=5), Coin(cents=10), Button()",
    ]


def test_a_live_system_is_judged_at_once(tmp_path: Path) -> None:
    """The machine that forgets to take the price off: the second coffee is one too much."""
    lines = b"why button\ncoin(cents=10)\nbutton\nbutton\n"
    done = otf("step", "coffee", "--live", "--out", tmp_path, "--set", "fault=free", stdin=lines)
    assert done.status == 1
    assert "Button()  ->  Coffee()" in done.out
    assert "FAIL (unasked)" in done.out
    assert (tmp_path / "path-0001.jsonl").exists()


def test_back_on_a_live_system_starts_it_anew(tmp_path: Path) -> None:
    """With the inputs before the last one."""
    lines = b"1\n?\n2\ntea\nall\nback\nquit\n"
    done = otf("step", "coffee", "--live", "--out", tmp_path, stdin=lines)
    assert (done.status, done.err) == (0, "")
    states = [line for line in done.out.splitlines() if line.startswith("possible states")]
    assert states == [f"possible states: {paid}" for paid in ("0", "5", "5", "5")]
    assert "'tea' does not choose an input: the numbers are 1 to 3" in done.out
    assert "       `all` shows 1 more, which are not specified here\n" in done.out
    assert (tmp_path / "path-0002.jsonl").exists()


def test_windows_and_timers(folder: Path) -> None:
    """Each way has its times in brackets."""
    text = """
from otf import Bench
from otf.spec import Spec, goto, start, stop
def step(state, inp):
    yield goto("open", "hi", within=(0, 0.1), timers=[start("session", 0.4, 0.7), stop("retry")])
def emits(state):
    yield goto("shut", "bye", after="session")
spec = Spec(step, "shut", ["open"], emits=emits)
bench = Bench(spec, system=lambda: lambda inp: [], types=(str,))
"""
    (folder / "timed.py").write_text(text, encoding="utf-8")
    (shown,) = walk("timed.py")
    assert "'open'  ->  'hi'  [within 0 to 0.1 s, starts session (0.4 to 0.7 s), stops retry]" in shown
    assert "(spontaneous)  ->  'bye'  [when session expires]" in shown


def test_windows_and_timers_of_a_live_system(capsys: pytest.CaptureFixture[str]) -> None:
    """A person who waits for an output sees until when it may come; no system is needed for that."""
    oracle = Oracle(Model(SPEC))
    assert AskingChooser(lambda: "quit", []).choose(oracle.view(Monitor(oracle).belief)) is None
    *_, title, way = capsys.readouterr().out.splitlines()
    assert title == "  timers, windows and spontaneous outputs:"
    assert way.endswith("[starts tick (0.15 to 0.3 s), starts session (0.765 to 1.02 s)]")
