"""Plans: goals in the model that the inputs follow, whatever the system chooses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

import pytest

from otf.shrink import AllowedInputs, StepPlan, again
from otf.shrink.shortest_ways import ModelMap
from otf.spec import Accept, Spec, Transition, goto
from tests.shrink.simulated import Bench, lamp, sent, values

# ---- a stair whose steps may be missed


def _stair(at: object, inp: object) -> Iterator[Transition[object]]:
    match at, inp:
        case int(), "up" if at < 5:
            yield goto(at + 1)
            yield goto(at, "missed")
        case int(), "down" if at > 0:
            yield goto(at - 1)
        case int(), "where":
            yield goto(at, at)
        case _:
            pass


STAIR: Spec[object, object] = Spec(_stair, initial=0, inputs=["up", "down", "where"])


def stair(*missed: int) -> Bench:
    """Return a stair that says 4 for 3; the steps with these numbers are missed, counted over all runs."""
    steps = count(1)

    def react(at: int, inp: object) -> tuple[int, list[object]]:
        if inp == "up":
            return (at, ["missed"]) if next(steps) in missed else (at + 1, [])
        if inp == "down":
            return at - 1, []
        return at, [4 if at == 3 else at]

    return Bench(STAIR, react)


def test_a_deterministic_failure_is_shown_again_by_its_inputs() -> None:
    """If the model leaves no choice, the candidate just sends the inputs."""
    tried = lamp(2)
    candidate = again(tried.failing(["press", "press", "press", "look"]), tried.setting.oracle)
    assert isinstance(candidate, AllowedInputs)


def test_a_step_that_is_missed_is_taken_once_more() -> None:
    """The plan of three steps up needs five where two are missed, and fails all the same."""
    issue = stair().failing(["up", "up", "up", "where"])
    tried = stair(1, 3)
    candidate = again(issue, tried.setting.oracle)
    assert isinstance(candidate, StepPlan)
    shown = tried.system.shows(candidate)
    assert shown is not None
    assert values(shown.inputs) == ["up", "up", "up", "up", "up", "where"]
    assert candidate.limit == 3 * 4 + 20


def test_what_was_in_vain_is_not_planned() -> None:
    """Steps that the system missed in the failing run are not goals."""
    tried = stair(2, 3)
    issue = tried.failing(["up"] * 5 + ["where"])
    assert len(issue) == 6
    assert sent(again(issue, tried.setting.oracle), stair()) == ["up", "up", "up", "where"]


def _dark(at: object, inp: object) -> Iterator[Transition[object] | Accept]:
    match at, inp:
        case "start", "enter":
            yield goto("left")
            yield goto("right")
        case (("left" | "right"), "knock"):
            yield Accept(lambda seen: [at] if seen == ("who",) else [])
        case _:
            pass


def test_what_changes_nothing_in_each_possible_state_is_planned() -> None:
    """The system has no choice there: it may count in a way that the model does not know of."""

    def react(knocks: int, inp: object) -> tuple[int, list[object]]:
        if inp == "enter":
            return 0, []
        return knocks + 1, ["go"] if knocks == 1 else ["who"]

    tried = Bench(Spec(_dark, initial="start", inputs=["enter", "knock"]), react)
    issue = tried.failing(["enter", "knock", "knock"])
    assert sent(again(issue, tried.setting.oracle), tried) == ["enter", "knock", "knock"]


def test_a_plan_that_cannot_be_kept_ends() -> None:
    """A stair on which every step is missed: after its spare inputs the plan goes on as it can, and ends."""
    issue = stair().failing(["up", "up", "up", "where"])
    tried = stair(*range(1, 100))
    assert tried.system.shows(again(issue, tried.setting.oracle)) is None
    assert tried.system.lengths == [3 * 4 + 20]


def test_from_another_place_the_way_is_found() -> None:
    """A plan goes back down if the system is further up than planned."""
    tried = stair()
    ways = ModelMap(tried.setting.oracle)
    steps = tried.failing(["up", "up", "up", "where"]).steps
    assert sent(StepPlan((steps[2], steps[0], steps[3]), ways), stair()) == [
        "up",
        "up",
        "up",
        "down",
        "down",
        "down",
        "up",
        "up",
        "up",
        "where",
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_failure_is_shrunk_while_steps_are_missed(seed: int) -> None:
    """Shrinking ends with the shortest goals, whichever steps are missed."""
    random = Random(seed)
    missed = [at for at in range(1, 1000) if random.random() < 0.3]
    tried = stair(*missed)
    inputs = ["up", "down"] * 5 + ["up"] * 9 + ["down"] * 5 + ["where", *["up", "where"] * 9]
    shrunk = tried.shrink("model", inputs)
    assert shrunk == ["up", "up", "up", "where"]


def test_what_cannot_be_given_is_skipped() -> None:
    """A step that the model does not allow where the system is, and to which no way leads, is left out."""
    tried, flat = stair(), Bench(Spec(_stair, initial=5, inputs=["where"]), lambda at, _inp: (at, [5]), 5)
    steps = tried.failing(["up", "up", "up", "where"]).steps
    assert sent(StepPlan(steps, ModelMap(flat.setting.oracle)), flat) == ["where"]


# ---- jobs with numbers that the system chooses


def _jobs(jobs: Any, inp: object) -> Iterator[Transition[object] | Accept]:  # noqa: ANN401 -- a tuple of numbers
    match inp:
        case "new":
            yield Accept(lambda seen: [(*jobs, seen[0])] if isinstance(seen[0], int) else [])
        case ("ask", int(number)) if number in jobs:
            yield goto(jobs, "waiting")
        case _:
            pass


def _offered(jobs: Any) -> list[object]:  # noqa: ANN401 -- the same
    return ["new", *[("ask", number) for number in jobs]]


JOBS: Spec[object, object] = Spec(_jobs, initial=(), inputs=_offered)


def jobs(*, seventh: bool = True) -> Bench:
    """Return a system that numbers jobs from a number on that is another one at every start, and loses the second."""
    starts = count(10, 7 if seventh else 0)

    def react(state: Any, inp: Any) -> tuple[Any, list[object]]:  # noqa: ANN401 -- a start and a list of numbers
        first, mine = state or (next(starts), ())
        if inp == "new":
            number = first + len(mine)
            return (first, (*mine, number)), [number]
        return (first, mine), ["lost" if mine.index(inp[1]) == 1 else "waiting"]

    return Bench(JOBS, react, None)


def test_names_that_the_system_chooses_are_followed() -> None:
    """A job has another number in every run; the plan asks for the second one all the same."""
    tried = jobs()
    issue = tried.failing(["new", "new", "new", ("ask", 10), ("ask", 12), ("ask", 11)])
    assert issue.signature is not None
    plan = again(issue, tried.setting.oracle)
    assert sent(StepPlan(issue.steps, ModelMap(tried.setting.oracle)), tried)[-1] == ("ask", 18)
    shown = tried.system.shows(plan)
    assert shown is not None
    assert values(shown.inputs)[-1] == ("ask", 25)


def test_failures_with_chosen_names_are_shrunk() -> None:
    """Of three jobs and five questions two jobs and one question are left."""
    shrunk = jobs().shrink(
        "model", ["new", "new", ("ask", 10), "new", ("ask", 12), ("ask", 10), ("ask", 12), ("ask", 11)]
    )
    assert [inp if isinstance(inp, str) else "ask" for inp in shrunk] == ["new", "new", "ask"]


# ---- ids that the model counts


def _store(state: Any, inp: Any) -> tuple[Any, str]:  # noqa: ANN401 -- the id given last, and the id of each key
    last, ids = state
    match inp:
        case ("swap", key, number) if ids.get(key) != number:
            return state, "changed"
        case ("put" | "swap", key, *_):
            return (last + 1, {**ids, key: last + 1}), f"stored {last + 1}"
        case _:
            return (last, {key: at for key, at in ids.items() if key != inp[1]}), "deleted"


def _stored(state: Any, inp: object) -> Iterator[Transition[object]]:  # noqa: ANN401 -- the same
    (last, ids), answer = _store((state[0], dict(state[1])), inp)
    yield goto((last, tuple(sorted(ids.items()))), answer)


def _requests(state: Any) -> list[object]:  # noqa: ANN401 -- the same
    ids = dict(state[1])
    plain = [(op, key) for key in "abc" for op in ("put", "delete")]
    return [*plain, *[("swap", key, number) for key, last in ids.items() for number in (last, last - 1)]]


def store(swaps: int) -> Bench:
    """Return a store whose delete of a key that was swapped so often is wrong."""

    def react(state: Any, inp: Any) -> tuple[Any, list[object]]:  # noqa: ANN401 -- the same, and the swaps of each key
        inner, swapped = state
        then, answer = _store(inner, inp)
        if inp[0] == "swap" and answer != "changed":
            swapped = {**swapped, inp[1]: swapped.get(inp[1], 0) + 1}
        wrong = inp[0] == "delete" and inp[1] in inner[1] and swapped.get(inp[1], 0) >= swaps
        return (then, swapped), ["wrong" if wrong else answer]

    initial: Any = (0, {}), {}
    return Bench(Spec(_stored, initial=(0, ()), inputs=_requests), react, initial)


def test_ids_are_renamed_along_with_what_gave_them() -> None:
    """Without the steps before it a store gives other ids: the swaps that matter carry these."""
    noise = [("put", "a"), ("put", "c"), ("delete", "c")] * 12
    given = [*noise, ("put", "b"), ("swap", "b", 25), *noise, ("swap", "b", 26), ("delete", "b")]
    assert store(2).shrink("model", given) == [("put", "a"), ("swap", "a", 1), ("swap", "a", 2), ("delete", "a")]
