"""A wrong order, which shows late or in many ways, is one defect: of a cache, and of a queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from otf.core import Model, Monitor, Oracle
from otf.core.macro_step import events as step_events
from otf.shrink.defects import Answer, one_defect, shrunk_failure
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event
from otf.trace.verdict import Failure

Keys = tuple[str, ...]
Act = Callable[[Keys, str], tuple[Keys, str]]
"""What an input does to the keys, and what is said."""


def cache(keys: Keys, inp: str) -> tuple[Keys, str]:
    """Keep the two keys that were used last."""
    what, key = inp.split()
    used = (*(each for each in keys if each != key), key)
    if what == "put":
        return used[-2:], "done"
    return (used, "hit") if key in keys else (keys, "miss")


def queue(jobs: Keys, inp: str) -> tuple[Keys, str]:
    """Keep jobs in their order."""
    what, _, job = inp.partition(" ")
    if what == "add":
        return (jobs if job in jobs else (*jobs, job)), "done"
    if what == "where":
        return jobs, f"at {jobs.index(job) if job in jobs else None}"
    return jobs[what == "next" :], jobs[-1 if what == "last" else 0] if jobs else "none"


CACHE = [f"{what} {key}" for key in "abcd" for what in ("put", "get")]
QUEUE = [*(f"{what} {key}" for key in "abc" for what in ("add", "where")), "next", "peek", "last"]


def driven(oracle: Oracle, system: Act, inputs: Iterable[str]) -> tuple[list[Event], Failure | None]:
    """Return the events of a run of these inputs, up to its failure."""
    monitor, found, keys = Monitor(oracle), list[Event](), Keys()
    for inp in inputs:
        keys, says = system(keys, inp)
        for event in step_events(oracle, inp, (says,)):
            found.append(event)
            if (verdict := monitor.tell(event)) is not None:
                return found, verdict.failure
    return found, None


def defects(right: Act, inputs: list[str], system: Act, *runs: str) -> dict[int, int]:
    """Return which of the failures at the last inputs of these runs, separated by commas, count with which others."""

    def step(keys: Keys, inp: str) -> Iterable[Transition[Keys]]:
        then, says = right(keys, inp)
        return [goto(then, says)]

    oracle = Oracle(Model(Spec(step, (), inputs)))
    failing = [driven(oracle, system, run.split(", ")) for run in runs]
    assert all(failure for _, failure in failing)
    asking = one_defect([shrunk_failure(oracle, events) for events, _ in failing])
    try:
        asked = next(asking)
        while True:
            _, failure = driven(oracle, system, [str(each.value) for each in asked])
            early = failure is not None and failure.step < len(asked)
            answer: Answer = None if early else failure is not None and failure.signature
            asked = asking.send(answer)
    except StopIteration as done:
        found: dict[int, int] = done.value
        return found


def forgets(*what: str) -> Act:
    """Return a cache in which these inputs do not make a key that it has the last one used."""

    def act(keys: Keys, inp: str) -> tuple[Keys, str]:
        (does, key), (then, says) = inp.split(), cache(keys, inp)
        return (keys if does in what and key in keys else then), says

    return act


LOST = "put a, put b, get a, put c, get a"
KEPT = "put a, put b, get a, put c, get b"


def test_an_order_that_shows_only_after_one_more_input() -> None:
    """A cache drops the wrong key: one is missed where it should be there, another is there where it should not be."""
    assert defects(cache, CACHE, forgets("get"), LOST, KEPT) == {1: 0}


def test_the_first_step_to_a_wrong_state_is_the_cause() -> None:
    """After both defects the next key leads to a wrong state, too: that makes them no single one."""
    again = KEPT.replace("get a", "put a")
    assert defects(cache, CACHE, forgets("get", "put"), LOST, again) == {}
    assert defects(cache, CACHE, forgets("get", "put"), LOST, KEPT, again) == {1: 0}


def in_front(jobs: Keys, inp: str) -> tuple[Keys, str]:
    """Put each new job first."""
    what, _, job = inp.partition(" ")
    return ((job, *jobs), "done") if what == "add" and job not in jobs else queue(jobs, inp)


def test_a_state_several_inputs_away() -> None:
    """A queue that puts each new job first: from `a`, the model comes to `b, a` by three inputs."""
    asked = [f"add a, add b, {each}" for each in ("peek", "next", "last", "where a")]
    assert defects(queue, QUEUE, in_front, *asked) == {1: 0, 2: 0, 3: 0}


def test_several_wrong_outputs_of_one_state_are_no_wrong_state() -> None:
    """Among many states, one explains two of them by chance; the third shows that it is none."""

    def wrong(jobs: Keys, inp: str) -> tuple[Keys, str]:
        then, says = queue(jobs, inp)
        return then, {"next": "b", "peek": "b"}.get(inp, says) if jobs == ("a", "b") else says

    assert defects(queue, QUEUE, wrong, *(f"add a, add b, {each}" for each in ("peek", "next"))) == {}
