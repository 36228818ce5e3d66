"""The states of a draft: found where a recording shows them, and never such that the recording would fail."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from otf.cli.app import app
from otf.draft import draft_bench
from otf.spec import Where
from tests.draft.recordings import imported, log, stream

Step: TypeAlias = tuple[str, str]
"""An input and its answer, "" for none."""

LOGIN = [("get", "denied"), ("list", "denied"), ("get", "denied"), ("list", "denied"), ("login", "welcome")]
USE = [("get", "value"), ("list", "value"), ("get", "value"), ("list", "value")]
SESSION = [*LOGIN, *USE, ("logout", "bye"), *LOGIN, *USE, ("logout", "bye")]


def recording(steps: Sequence[Step], *before: str) -> io.BytesIO:
    """Return a log of these steps."""
    lines = [line for inp, answer in steps for line in (f"> {inp}", *([f"< {answer}"] if answer else []))]
    return log(*before, *lines)


def accepts(made: Any, steps: Sequence[Step], state: object) -> bool:  # noqa: ANN401 -- a module
    """Return whether the model of a draft allows these steps, from a state."""
    states = [state]
    for inp, answer in steps:
        sent = next(each for each in made.INPUTS if made.codec.encode(each) == inp.encode())
        seen = [made.codec.decode("line", answer.encode())] if answer else []
        ways = [way for each in states for way in made.step(each, sent)]
        states = [way.state for way in ways if fits(way.outputs, seen)]
    return bool(states)


def fits(items: Sequence[Any], seen: Sequence[Any]) -> bool:
    """Return whether items of a transition are these outputs."""
    return len(items) == len(seen) and all(
        item.test(value)
        if isinstance(item, Where)
        else isinstance(value, item)
        if isinstance(item, type)
        else item == value
        for item, value in zip(items, seen, strict=True)
    )


def answers(made: Any, state: object, inp: str) -> set[tuple[str, ...]]:  # noqa: ANN401 -- a module
    """Return the names of the answers that a draft allows in a state."""
    sent = next(each for each in made.INPUTS if made.codec.encode(each) == inp.encode())
    return {tuple(type(item).__name__ for item in way.outputs) for way in made.step(state, sent)}


@pytest.mark.parametrize("greeting", [[], ["< ready"]])
def test_a_session_is_found(greeting: list[str], tmp_path: Path) -> None:
    """What is denied before a login and after a logout is answered between them, and only there."""
    made = imported(recording(SESSION, *greeting), tmp_path)
    first = "Logout Bye"
    assert made.spec.initial == ("" if greeting else first)
    assert answers(made, first, "get") == answers(made, first, "list") == {("Denied",)}
    assert answers(made, "Login Welcome", "get") == {("Value",)}
    assert [way.state for way in made.step(first, made.Login())] == ["Login Welcome"]
    assert [way.state for way in made.step("Login Welcome", made.Logout())] == [first]
    assert accepts(made, SESSION, first)
    assert not greeting or [way.state for way in made.emits("")] == [first]


def test_the_recording_is_judged_by_its_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes; one in which a value comes before the login does not."""
    monkeypatch.chdir(tmp_path)
    wrong = [("get", "value"), *SESSION]
    for name, steps in (("own", SESSION), ("wrong", wrong)):
        pieces = [
            (sent, f"{text}\n".encode()) for step in steps for sent, text in zip((True, False), step, strict=True)
        ]
        Path(f"{name}.pcap").write_bytes(stream(*pieces).getvalue())
    drafted_file = CliRunner().invoke(app, ["new", "served", "--from", "own.pcap"])
    assert drafted_file.exit_code == 0, drafted_file.output
    statuses = [
        CliRunner().invoke(app, ["replay", f"{name}.pcap", "--bench", "served.py"]) for name in ("own", "wrong")
    ]
    assert [each.exit_code for each in statuses] == [0, 1], statuses[0].output


def test_a_single_answer_in_a_state_shows_nothing() -> None:
    """It may be chance: the draft has no states, and allows both answers."""
    once = [("get", "denied"), ("login", "welcome"), ("get", "value"), ("get", "value")]
    assert draft_bench(recording(once), "recording", "x").states is None
    assert draft_bench(recording([once[0], *once]), "recording", "x").states is not None


def test_where_two_choices_explain_as_much_there_are_no_states() -> None:
    """A greeting always came with the login: either may be what counts."""
    hello = [("hello", "hi"), ("login", "welcome")]
    steps = [*[("get", "denied")] * 2, *hello, *[("get", "value")] * 2]
    assert draft_bench(recording(steps), "recording", "x").states is None


def test_what_values_decide_is_no_state() -> None:
    """A key that was set before is found, another one is not: no exchange of a kind explains that."""
    steps = [("set a", "ok"), ("get a", "value"), ("get b", "none"), ("get a", "value"), ("get b", "none")]
    assert draft_bench(recording([*steps, ("set b", "ok"), ("get b", "value")]), "recording", "x").states is None


def test_an_input_with_many_answers_has_no_states() -> None:
    """It is left out of the draft, as before."""
    assert (
        draft_bench(recording([("get", f"word{'x' * number}") for number in range(9)]), "recording", "x").states is None
    )


NAMES = ("alpha", "beta", "gamma")
ANSWERS = st.tuples(st.integers(0, 2), st.sampled_from(["red", "green", "blue", ""]))
MACHINES = st.fixed_dictionaries({(state, inp): ANSWERS for state in range(3) for inp in NAMES})
WALKS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=60)


@settings(max_examples=80, deadline=None)
@given(MACHINES, WALKS)
def test_a_draft_allows_its_recording(
    tmp_path_factory: pytest.TempPathFactory,
    machine: dict[tuple[int, str], tuple[int, str]],
    walk: list[str],
) -> None:
    """Whatever machine was recorded; and an answer is left out in a state only where another one came twice, always."""
    steps, state = list[Step](), 0
    for inp in walk:
        state, answer = machine[state, inp]
        steps.append((inp, answer))
    made = imported(recording(steps), tmp_path_factory.mktemp("draft"))
    assert accepts(made, steps, made.spec.initial)
    states = draft_bench(recording(steps), "recording", "x").states
    if states is not None:
        seen, here = Counter[tuple[str, str, str]](), states.initial
        for inp, answer in steps:
            seen[here, inp.capitalize(), answer.capitalize()] += 1
            here = states.then(inp.capitalize(), tuple(filter(None, [answer.capitalize()]))) or here
        for (place, inp), kinds in states.shown.items():
            counts = {answer: count for (at, name, answer), count in seen.items() if (at, name) == (place, inp)}
            assert [tuple(filter(None, [each])) for each in counts] == [kinds]
            assert min(counts.values()) > 1
