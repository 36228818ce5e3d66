"""Steppers drive systems, in this process and in their own, and every path gets a verdict."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from otf import NonconformanceError, run
from otf.compat.pymodel import Apiece, Waits, bench
from otf.errors import CodecError, ContactError, UsageError
from otf.notations import Call
from tests.compat.samples import ECHO, STACK, SWITCH, write

DOES = """
items = []
def TestAction(aname, args, modelResult):
    if aname == 'push':
        items.insert(0, args[0])
    else:
        found = items.pop({at})
        if found != modelResult:
            return 'pop gave %s, not %s' % (found, modelResult)
def Reset(): del items[:]
"""
RIGHT, WRONG = DOES.format(at=0), DOES.format(at=-1)
LATER = """
import threading
import pymodel.observation_queue as observation
observation.asynch = True
{more}
def test_action(aname, args, modelResult):
    timer = threading.Timer(0.005, lambda: observation.queue.append(('hear', ({answer},))))
    timer.daemon = True
    timer.start()
def wait(timeout):
    threading.Event().wait(min(timeout, 0.002))
def reset(): pass
"""
BOTH = pytest.mark.parametrize("timeout", [None, pytest.param(10.0, marks=pytest.mark.real)], ids=["here", "apart"])
COUNT = count(1)  # a folder of traces belongs to one run
BRIEF = Waits(brief=0.001, long=0.3)


def failed(folder: Path, *models: str, shrink: bool = False, **how: Any) -> NonconformanceError:  # noqa: ANN401 -- the arguments of `bench`
    """Run a bench that must fail."""
    settings: dict[str, Any] = {
        "traces": 3,
        "steps": 20,
        "seed": 1,
        "out": folder / f"out-{next(COUNT)}",
        "shrink": shrink,
    }
    with pytest.raises(NonconformanceError) as error:
        run(bench(*models, folder=folder, **how), **settings)
    return error.value


@BOTH
def test_a_correct_system_passes(tmp_path: Path, timeout: float | None) -> None:
    """A stepper that reports no failure passes, in this process and in its own, on several paths."""
    write(tmp_path, Stack=STACK, Right=RIGHT)
    summary = run(bench("Stack", stepper="Right", folder=tmp_path, timeout=timeout), traces=3, steps=20, seed=1)
    assert (summary.verdict, summary.steps) == ("pass", 60)


@BOTH
def test_what_a_stepper_finds_is_a_failure_and_is_shrunk(tmp_path: Path, timeout: float | None) -> None:
    """The failure has the text that TestAction returns, and shrinks to three steps."""
    write(tmp_path, Stack=STACK, Wrong=WRONG)
    error = failed(tmp_path, "Stack", stepper="Wrong", timeout=timeout, shrink=True)
    assert "StepperFailed(says='pop gave" in str(error)
    assert [group.shrunk.steps for group in error.summary.failures.values() if group.shrunk] == [3]


@BOTH
def test_a_stepper_that_raises_fails(tmp_path: Path, timeout: float | None) -> None:
    """An exception in TestAction ends the system, and the failure names it."""
    write(tmp_path, Switch=SWITCH, Raises="def TestAction(a, b, c): raise KeyError(a)\ndef Reset(): pass")
    assert "raised KeyError: 'On'" in str(failed(tmp_path, "Switch", stepper="Raises", timeout=timeout))


@pytest.mark.real
def test_a_stepper_that_blocks_is_killed(tmp_path: Path) -> None:
    """An action that does not return in time fails its path, and no other."""
    write(tmp_path, Switch=SWITCH, Blocks="import time\ndef TestAction(a, b, c): time.sleep(3600)")
    error = failed(tmp_path, "Switch", stepper="Blocks", timeout=0.2, exclude=["Off"])
    assert "did not return from On() within 0.2 s" in str(error)


@pytest.mark.real
def test_a_stepper_that_ends_its_process_fails(tmp_path: Path) -> None:
    """A process that has ended never looks like a silent one."""
    write(tmp_path, Switch=SWITCH, Gone="import os\ndef TestAction(a, b, c): os._exit(3)")
    assert "ended in On() (exit status 3)" in str(failed(tmp_path, "Switch", stepper="Gone"))


SOON = """
import observation_queue
def testaction(aname, args, modelResult):
    observation_queue.queue.append(('hear', {answer}))
def Reset(): pass
"""


@BOTH
def test_observations_are_judged_by_the_enablers(tmp_path: Path, timeout: float | None) -> None:
    """An observation in the queue conforms if it is enabled, and fails otherwise."""
    write(tmp_path, Echo=ECHO, Good=SOON.format(answer="args"), Bad=SOON.format(answer="('c',)"))
    good = bench("Echo", stepper="Good", folder=tmp_path, timeout=timeout)
    assert run(good, traces=2, steps=10, seed=1).verdict == "pass"
    assert "hear('c')" in str(failed(tmp_path, "Echo", stepper="Bad", timeout=timeout))


def test_an_observation_too_many_fails(tmp_path: Path) -> None:
    """An unexpected observation is a failure; PyModel crashes on it in a suite, and accepts unknown actions."""
    for name, extra in (("Twice", "queue.append(('hear', args))"), ("Other", "queue.append(('shout', ()))")):
        write(
            tmp_path,
            Echo=ECHO,
            **{name: SOON.format(answer="args").replace("def Reset", f"    observation_queue.{extra}\ndef Reset")},
        )
        assert "FAIL (wrong)" in str(failed(tmp_path, "Echo", stepper=name, timeout=None))


@BOTH
def test_what_comes_later_is_waited_for(tmp_path: Path, timeout: float | None) -> None:
    """A stepper that sets `asynch` is asked to wait if the model enables no action before an observation."""
    write(tmp_path, Echo=ECHO, Later=LATER.format(more="", answer="args[0]"))
    late = bench("Echo", stepper="Later", folder=tmp_path, timeout=timeout, waits=BRIEF)
    assert run(late, traces=2, steps=10, seed=1).verdict == "pass"


def test_a_silent_system_gets_a_verdict(tmp_path: Path) -> None:
    """If no action is enabled and a run may not end, silence is a failure; PyModel waits for ever."""
    mute = LATER.format(more="", answer="0").replace("    timer.start()\n", "")
    write(tmp_path, Echo=ECHO, Mute=mute)
    assert "FAIL (missing)" in str(failed(tmp_path, "Echo", stepper="Mute", timeout=None, waits=Waits(0.001, 0.02)))


def test_silence_is_no_failure_where_something_can_be_tried(tmp_path: Path) -> None:
    """In a state with an enabled action an observation may come but need not; so too at the end of a path."""
    free = ECHO.replace("def say_enabled(text): return not said", "def say_enabled(text): return True")
    write(tmp_path, Echo=free, Mute=LATER.format(more="", answer="0").replace("    timer.start()\n", ""))
    silent = bench("Echo", stepper="Mute", folder=tmp_path, timeout=None, waits=BRIEF)
    assert run(silent, traces=2, steps=5, seed=1).verdict == "pass"


def test_a_result_comes_before_what_has_to_be_observed(tmp_path: Path) -> None:
    """An action may have a result, after which an observation has to come."""
    both = ECHO.replace("    said = text\ndef say_enabled", "    said = text\n    return 'ok'\ndef say_enabled")
    write(tmp_path, Echo=both, Good=SOON.format(answer="args"), Mute="def TestAction(a, b, c): pass\ndef Reset(): pass")
    assert (
        run(bench("Echo", stepper="Good", folder=tmp_path, timeout=None), traces=2, steps=9, seed=1).verdict == "pass"
    )
    assert "missing" in str(failed(tmp_path, "Echo", stepper="Mute", timeout=None))


def test_a_result_that_the_model_leaves_open_is_told(tmp_path: Path) -> None:
    """A stepper is passed one result, so a model that allows several needs an observable action."""
    machine = "def get(): pass\ninitial = 0\ngraph = ((0, (get, (), 1), 0), (0, (get, (), 2), 0))"
    write(tmp_path, Chooses=machine, Quiet="def TestAction(a, b, c): pass")
    with pytest.raises(UsageError, match=r"allows 1 or 2, and a stepper is passed one result"):
        run(bench("Chooses", stepper="Quiet", folder=tmp_path, timeout=None), traces=1)


@BOTH
@pytest.mark.parametrize(
    ("stepper", "says"),
    [
        ("pass", "a stepper has TestAction"),
        ("import observation_queue as o\no.asynch = True\ndef TestAction(a, b, c): pass", "has wait\\(timeout\\)"),
        ("def TestAction(a, b, c): return 3", "TestAction returned 3"),
        ("from observation_queue import queue\ndef TestAction(a, b, c): queue.append(1)", "it put 1 into"),
        ("1 / 0", "line 1: ZeroDivisionError"),
    ],
)
def test_a_stepper_that_cannot_be_used_is_told(tmp_path: Path, stepper: str, says: str, timeout: float | None) -> None:
    """A broken stepper is refused with the reason, in this process and in its own."""
    write(tmp_path, Switch=SWITCH, Odd=stepper)
    with pytest.raises(UsageError, match=says):
        run(bench("Switch", stepper="Odd", folder=tmp_path, timeout=timeout), traces=1)


@pytest.mark.real
def test_a_second_path_needs_a_reset_in_this_process(tmp_path: Path) -> None:
    """A stepper without Reset is refused in this process; in its own, each path starts it anew."""
    write(tmp_path, Switch=SWITCH, Once="def TestAction(a, b, c): pass")
    with pytest.raises(UsageError, match=r"it has no Reset\(\)"):
        run(bench("Switch", stepper="Once", folder=tmp_path, timeout=None), traces=2)
    assert run(bench("Switch", stepper="Once", folder=tmp_path), traces=2, steps=4).verdict == "pass"


@BOTH
def test_a_reset_that_fails_is_no_failure_of_the_system(tmp_path: Path, timeout: float | None) -> None:
    """A failing reset counts as no contact, not as a failure of the system."""
    write(tmp_path, Switch=SWITCH, Stuck="def TestAction(a, b, c): pass\ndef Reset(): raise OSError('no power')")
    with pytest.raises((ContactError, UsageError), match="no power"):
        run(bench("Switch", stepper="Stuck", folder=tmp_path, timeout=timeout), traces=2)


@pytest.mark.real
def test_a_stepper_that_never_starts_was_not_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stepper that hangs during its import counts as no contact."""
    monkeypatch.setattr("otf.compat.pymodel.apart.START", 0.5)
    write(tmp_path, Switch=SWITCH, Hangs="import time\ntime.sleep(3600)")
    with pytest.raises(ContactError, match=r"did not return from its start within 0\.5 s"):
        run(bench("Switch", stepper="Hangs", folder=tmp_path), traces=1)


def test_paths_at_the_same_time_have_steppers_of_their_own(tmp_path: Path) -> None:
    """Paths that run at the same time have a stepper each."""
    write(tmp_path, Stack=STACK, Right=RIGHT)
    both = bench("Stack", stepper="Right", folder=tmp_path, timeout=None)
    assert run(both, traces=4, steps=300, jobs=2, seed=1).verdict == "pass"


def test_what_was_observed_before_an_action_counts_before_it(tmp_path: Path) -> None:
    """An observation between two actions is judged before the second."""
    write(tmp_path, Echo=ECHO, Good=SOON.format(answer="args"))
    made = bench("Echo", stepper="Good", folder=tmp_path, timeout=None)
    assert made.system is not None
    act = made.system()
    assert list(act(Call("say", ("a",)))) == [Call("hear", ("a",))]
    assert list(act(Call("say", ("b",)))) == [Call("hear", ("b",))]


def test_without_a_stepper_the_model_is_the_system(tmp_path: Path) -> None:
    """Without a stepper a model runs against itself, as pmt without -i; chance decides where it leaves a choice."""
    machine = "def get(): pass\ninitial = 0\ngraph = ((0, (get, (), 1), 0), (0, (get, (), 2), 0))"
    write(tmp_path, Stack=STACK, Chooses=machine)
    assert run(bench("Stack", folder=tmp_path), traces=2, steps=50).verdict == "pass"
    system = bench("Chooses", folder=tmp_path).system
    assert system is not None
    act = system()
    assert {tuple(act(Call("get"))) for _ in range(20)} == {(1,), (2,)}
    assert tuple(act(Call("other"))) == ()


def test_what_is_worth_knowing_of_a_model_is_a_warning(tmp_path: Path) -> None:
    """A bench warns of a model whose reset does not lead to its initial state."""
    write(tmp_path, Stack=STACK.replace("del stack[:]", "stack.append(1)"))
    with pytest.warns(UserWarning, match="every path begins as after the import"):
        bench("Stack", folder=tmp_path)


def test_a_timeout_is_a_positive_number(tmp_path: Path) -> None:
    """A timeout that is not positive is refused."""
    with pytest.raises(UsageError, match="a positive number of seconds"):
        bench("Switch", stepper="Any", folder=write(tmp_path, Switch=SWITCH), timeout=-1)


TWO = """
sent = 0
def send():
    global sent
    sent += 1
def send_enabled(): return not sent
def first_enabled(): return sent == 1
def first():
    global sent
    sent = 2
def second():
    global sent
    sent = 0
def second_enabled(): return sent == 2
def accepting(): return not sent
state = ('sent',)
actions = (send, first, second)
observables = (first, second)
enablers = {send: (send_enabled,), first: (first_enabled,), second: (second_enabled,)}
"""
SWAPPED = """
import observation_queue as o
def test_action(aname, args, modelResult): o.queue.extend([('second', ()), ('first', ())])
def reset(): pass
"""


def test_threads_of_a_stepper_may_overtake_each_other(tmp_path: Path) -> None:
    """Observable actions of a stepper that observes by itself have no order, unless it is asked for."""
    threads = SWAPPED + "o.asynch = True\ndef wait(timeout): pass\n"
    write(tmp_path, Two=TWO, Swapped=SWAPPED, Threads=threads)
    brief: dict[str, Any] = {"folder": tmp_path, "timeout": None, "waits": Waits(0.001, 0.02)}
    free = bench("Two", stepper="Threads", **brief)
    assert run(free, traces=2, steps=5, seed=1, out=tmp_path / "free").verdict == "pass"
    assert "FAIL (wrong)" in str(failed(tmp_path, "Two", stepper="Swapped", timeout=None))
    assert "FAIL (wrong)" in str(
        failed(tmp_path, "Two", stepper="Threads", timeout=None, ordered=True, waits=Waits(0.001, 0.02))
    )


def test_one_observation_too_few_is_missing_whatever_the_order(tmp_path: Path) -> None:
    """If an observation has to come, any will do; none, or the second alone, is a failure."""
    threads = SWAPPED + "o.asynch = True\ndef wait(timeout): pass\n"
    silent = threads.replace("o.queue.extend([('second', ()), ('first', ())])", "pass")
    lone = threads.replace("('second', ()), ('first', ())", "('second', ())")
    write(tmp_path, Two=TWO, Silent=silent, Lone=lone)
    for name in ("Silent", "Lone"):
        error = failed(tmp_path, "Two", stepper=name, timeout=None, waits=Waits(0.001, 0.02))
        assert "FAIL (missing)" in str(error)


def test_a_system_in_this_process_has_no_bytes() -> None:
    """The codec of observable actions names their ports, and refuses bytes."""
    codec = Apiece(("hear",), ())
    assert [codec.port(each) for each in (Call("hear"), Call("say"), 1)] == ["hear", "system", "system"]
    with pytest.raises(CodecError, match="cannot be sent"):
        codec.encode(1)
    with pytest.raises(CodecError, match="cannot arrive on hear"):
        codec.decode("hear", b"1")
