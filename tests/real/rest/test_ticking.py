"""Servers with a thread that wakes every few milliseconds: for nothing, to answer, or to do so later."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic

import pytest

from otf import Bench, goto, run
from otf.adapters import process
from otf.campaign import NonconformanceError, Summary
from otf.codec import lines
from otf.runner.observing import OBSERVED, TRUSTING
from otf.spec import Spec

pytestmark = pytest.mark.real

SERVER = """
import sys, threading, time
left, count = [], 0
def tick():
    while True:
        time.sleep(0.004)
        while left:
            print(left.pop(), flush=True)
threading.Thread(target=tick, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    count += 1
    word = line.strip()
    if HOW == "some" and word == "c" or HOW == "all":
        left.append(word)
    else:
        print(word, flush=True)
    if HOW == "twice" and count > 300:
        left.append(word)
"""
STEPS = 330


def driven(how: str, folder: Path, silence: str = "observed") -> Summary:
    """Drive a server that answers with the word that it got."""
    bench = Bench.on_ports(
        Spec(lambda state, word: [goto(state, word)], 0, ["a", "b", "c"]),
        lines({str: "{}"}, port="server"),
        {"server": process([sys.executable, "-c", f"HOW = {how!r}\n{SERVER}"], ready="ready")},
        quiescence=0.02,
        silence="timed" if silence == "timed" else "observed",
    )
    return run(bench, traces=1, steps=STEPS, mode="strict", seed=1, out=folder, shrink=False)


def test_a_thread_that_wakes_for_nothing_is_waited_for_at_first(tmp_path: Path) -> None:
    """After a hundred inputs it is trusted, and the rest of the run takes no time."""
    began = monotonic()
    found = driven("none", tmp_path / "trusted")
    seconds = monotonic() - began
    assert (found.verdict, found.steps) == ("pass", STEPS)
    assert [each.partition(" that")[0] for each in found.silence] == [TRUSTING]
    driven("none", tmp_path / "timed", "timed")
    assert seconds < 0.6 * (monotonic() - began - seconds)


@pytest.mark.parametrize("how", ["some", "all"])
def test_a_thread_that_answers_is_never_trusted_where_it_does(how: str, tmp_path: Path) -> None:
    """All answers, or those to one of three inputs: a rest that came too early would be a failure."""
    found = driven(how, tmp_path)
    assert (found.verdict, found.steps) == ("pass", STEPS)
    assert how == "some" or [*found.silence] == [OBSERVED]


def test_a_fault_of_a_thread_that_was_trusted_is_found(tmp_path: Path) -> None:
    """After three hundred inputs it answers each once more: seen late, and driven again without trust."""
    with pytest.raises(NonconformanceError) as raised:
        driven("twice", tmp_path)
    found = raised.value.summary
    assert [each.partition(" that")[0] for each in found.silence] == [f"{TRUSTING} wrongly"]
    assert [each.kind for each in found.failures] == ["wrong"]
