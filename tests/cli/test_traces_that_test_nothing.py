"""Traces of which the model allows everything, but in which nothing was tested: no command says that they pass."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import judged, otf, recorded, rewrite

Lines = list[dict[str, Any]]
QUIET = {"event": "quiet", "level": "info", "timestamp": "", "n": 1, "at": 0.1}
KINDS: dict[str, Lines] = {
    "no events": [],
    "a stall": [{**QUIET, "event": "stalled", "seconds": 0.1}],
    "a silence": [QUIET],
    "inputs that were taken": [{**QUIET, "event": "taken", "upto": 0}],
    "a guess": [{**QUIET, "event": "guess"}],
}


def with_events(trace: Path, name: str, events: Lines) -> Path:
    """Return a trace that passed, with these events."""
    head, *_, end = recorded(trace)
    steps = sum(each["event"] == "sent" for each in events)
    return rewrite(trace.with_name(name), [head, *events, {**end, "verdict": "pass", "steps": steps, "reason": None}])


def inputs(trace: Path) -> tuple[Lines, Lines]:
    """Return an input that the model specifies at the start, and one that it does not, each with its silence."""
    lines = recorded(trace)
    sent = [line for line in lines if line["event"] == "sent"]
    quiet = next(line for line in lines if line["event"] == "quiet")
    return [sent[0], quiet], [sent[1], quiet]


@pytest.mark.parametrize("kind", KINDS)
def test_events_that_test_nothing(trace: Path, kind: str) -> None:
    """With neither an input nor an output a trace is inconclusive, and there is nothing to drive or to shrink."""
    empty = with_events(trace, "empty.jsonl", KINDS[kind])
    for command in ("replay", "rerun", "shrink"):
        done = otf(command, empty, "--bench", "machine.py:make")
        assert done.status == 3, done.out
        assert "it has no input, and no output was seen: nothing was tested" in done.out


def test_a_trace_with_an_unspecified_input_alone(trace: Path) -> None:
    """What follows is not judged: replay, rerun and shrink are inconclusive and say why."""
    (_, unspecified) = inputs(trace)
    alone = with_events(trace, "alone.jsonl", unspecified)
    unjudged = "one that the model does not specify, and after it any answer is allowed"
    for command, why in (("replay", unjudged), ("shrink", unjudged), ("rerun", "sent 0 of 1 inputs")):
        done = otf(command, alone, "--bench", "machine.py:make")
        assert (done.status, "INCONCLUSIVE: " in done.out, why in done.out) == (3, True, True), done.out
    (told,) = judged(alone, "--json").data
    assert (told["verdict"], "does not specify" in told["why"]) == ("inconclusive", True)
    compared = otf("compare", alone, alone, "--bench", "machine.py:make")
    assert "A: inconclusive, 1 step" in compared.out


def test_an_unspecified_input_behind_one_that_is_specified(trace: Path) -> None:
    """The run up to it was judged, and passes."""
    specified, unspecified = inputs(trace)
    done = judged(with_events(trace, "two.jsonl", [*specified, *unspecified, *unspecified[:1]]))
    assert done.status == 1  # there the button is specified, and no coffee came
    done = judged(with_events(trace, "two.jsonl", [*specified, *specified]))
    assert (done.status, "PASS: up to an input that the model does not specify" in done.out) == (0, True)


def test_beside_traces_that_pass_one_that_tests_nothing_decides_nothing(trace: Path) -> None:
    """As in the campaign that drove them, in which a path may end at its first input."""
    specified, unspecified = inputs(trace)
    alone, passing = with_events(trace, "alone.jsonl", unspecified), with_events(trace, "passing.jsonl", specified)
    assert judged(alone, alone).status == 3
    assert judged(alone, passing).status == 0
    assert judged(alone, passing, trace).status == 1


def test_a_run_whose_inputs_are_not_allowed_any_more(folder: Path, trace: Path) -> None:
    """None of the inputs of the trace was sent: it is no pass."""
    text = (folder / "machine.py").read_text(encoding="utf-8")
    text = text.replace("paid + cents <= 10", "paid + cents <= 0")
    (folder / "machine.py").write_text(text, encoding="utf-8")
    done = otf("rerun", trace, "--bench", "machine.py:make", "--set", "broken=false", "--json")
    assert (done.status, json.loads(done.out)["why"][:9]) == (3, "sent 0 of")
