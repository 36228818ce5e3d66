"""A device that speaks all the time, between its answers: it is driven, and judged, as any other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters import process
from otf.campaign import Campaign, Settings, Summary
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Sent
from tests.runner.words import Words

PROGRAM: Final = """
import sys, threading, time
form, wrong = sys.argv[1], int(sys.argv[2])
lock = threading.Lock()
def say(text):
    with lock:
        sys.stdout.write(text + chr(10))
        sys.stdout.flush()
def tick():
    n = 0
    while True:
        time.sleep(0.005)
        say(f"tick{n if form == 'numbered' else n % 50 if form == 'modulo' else 0}")
        n += 1
threading.Thread(target=tick, daemon=True).start()
for n, line in enumerate(sys.stdin, 1):
    say("wrong" if n == wrong else "answer")
"""


def emits(form: str) -> Any:  # noqa: ANN401 -- a function on the states of the form
    """Return what the device says by itself."""

    def said(state: Any) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- the same
        match form:
            case "free":
                yield goto(state, "p.tick0")
            case "window":
                yield goto(state, "p.tick0", within=(0, 1))
            case "timer":
                yield goto(state, "p.tick0", after="tick", timers=[start("tick", 0, 1)])
            case "numbered":
                yield goto(state + 1, f"p.tick{state}")
            case _:
                yield goto((state + 1) % 50, f"p.tick{state}")

    return said


def driven(tmp_path: Path, form: str, wrong: int = 0) -> Summary:
    """Run one path of 200 inputs on the device."""
    timers = [start("tick", 0, 1)] if form == "timer" else []
    spec = Spec(lambda state, _: [goto(state, "p.answer")], 0, ["p.ask"], emits=emits(form), timers=timers)
    program = tmp_path / "device.py"
    program.write_text(PROGRAM, encoding="utf-8")
    port = process(f"{sys.executable} -I -S {program} {form} {wrong}", ready=None)
    bench = Bench(spec, codec=Words(), ports={"p": port}, quiescence=0.05, silence="timed")
    settings = Settings(out=tmp_path / "out", traces=1, steps=200, time=60.0, shrink=False, saved=None)
    return anyio.run(Campaign(bench, settings).run)


FORMS: Final = ["free", "window", "timer", "numbered", "modulo"]


@pytest.mark.real
@pytest.mark.parametrize("form", FORMS)
def test_a_device_that_speaks_all_the_time_is_driven(tmp_path: Path, form: str) -> None:
    """All inputs are sent and answered between its ticks, whatever these say."""
    summary = driven(tmp_path, form)
    assert (summary.verdict, summary.steps) == ("pass", 200)


@pytest.mark.real
@pytest.mark.parametrize("form", FORMS)
def test_its_wrong_answer_is_a_failure_at_once(tmp_path: Path, form: str) -> None:
    """The third answer is wrong, and no tick explains it."""
    summary = driven(tmp_path, form, wrong=3)
    assert summary.verdict == "fail"
    # waits for ticks are inputs, too
    events = [each for group in summary.failures.values() for each in group.first.events]
    assert sum(isinstance(each, Sent) and each.input == "p.ask" for each in events) == 3
