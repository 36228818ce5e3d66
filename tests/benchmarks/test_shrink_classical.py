"""The shrinking algorithms of others do what their authors say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.shrink_classical import ALGORITHMS, OWN
from otf.spec import Spec, Transition, goto
from tests.shrink.simulated import Bench, lamp

RUNS = st.lists(st.sampled_from(["press", "look", "wait"]), max_size=40)
LEAVING_OUT = [name for name in ALGORITHMS if name not in {OWN, "halving", "partial"}]
"""The algorithms that leave inputs out and do nothing else."""


def test_superfluous_inputs_go() -> None:
    """Of a long run only the presses that wear the lamp out and the look that shows it are left."""
    run = ["look", "wait", "press", "look", "wait", "press", "wait", "look", "press", "wait", "look", "look"]
    assert lamp(3).shrink("cycles+elements", run) == ["press", "press", "press", "look"]


def test_cycles_are_cut_at_once() -> None:
    """A run that only walks in circles before the fault costs one candidate, however long it is."""
    tried = lamp(1)
    assert tried.shrink("cycles", ["press", "press"] * 50 + ["press", "look"]) == ["press", "look"]
    assert tried.system.lengths == [102, 2]


def test_elements_finds_what_one_pass_leaves() -> None:
    """Element elimination goes on until no input can be left out."""
    run = ["wait", "look", "wait", "press", "look", "press", "press", "look"]
    assert lamp(2).shrink("elements", run) == ["press", "press", "press", "look"]


def test_an_input_that_is_no_longer_allowed_is_skipped() -> None:
    """Leaving out an input may disable a later one, which is then skipped; the run goes on."""

    def door(state: object, inp: object) -> Iterator[Transition[object]]:
        match state, inp:
            case "shut", "open":
                yield goto("open")
            case "open", "close":
                yield goto("shut")
            case _, "ring":
                yield goto(state, "dong")
            case _:
                pass

    def silent(state: int, _inp: object) -> tuple[int, list[object]]:
        return state, []

    spec: Spec[object, object] = Spec(door, initial="shut", inputs=["open", "close", "ring"])
    bell = Bench(spec, silent)
    assert bell.shrink("elements", ["open", "close", "ring"]) == ["ring"]
    assert bell.system.lengths == [3, 1, 0]


@given(RUNS, st.integers(1, 6))
@pytest.mark.parametrize("algorithm", LEAVING_OUT)
def test_what_comes_out_is_part_of_what_went_in(algorithm: str, run: list[str], presses: int) -> None:
    """An algorithm that only leaves out inputs keeps the others in order."""
    tried = lamp(presses)
    if tried.issue(run) is None:
        return
    left: Iterator[object] = iter(run)
    assert all(inp in left for inp in tried.shrink(algorithm, run))  # pyright: ignore[reportOperatorIssue] -- an iterator is looked through, whatever it holds


@given(RUNS, st.integers(1, 6))
@pytest.mark.parametrize("algorithm", ["elements", "cycles+elements", "ddmin", "partial"])
def test_nothing_superfluous_is_left(algorithm: str, run: list[str], presses: int) -> None:
    """After element elimination, and after ddmin, no single input can be left out."""
    tried = lamp(presses)
    if tried.issue(run) is None:
        return
    shrunk = tried.shrink(algorithm, run)
    assert all(tried.issue(shrunk[:at] + shrunk[at + 1 :]) is None for at in range(len(shrunk)))


def _washer(state: object, inp: object) -> Iterator[Transition[object]]:
    match state, inp:
        case "empty", "fill":
            yield goto("full")
        case "full", "wash" | "soak":
            yield goto("used", "clean")
        case "used", "drain":
            yield goto("empty")
        case _:
            pass


def _wears_out(washed: int, inp: object) -> tuple[int, list[object]]:
    washed += inp == "wash"
    return washed, [] if inp in {"fill", "drain"} else ["foam" if washed == 3 else "clean"]


@pytest.mark.parametrize(
    ("algorithm", "left"),
    [
        ("elements-truncated", 14),
        ("elements", 8),
        ("cycles", 8),
        ("cycles+elements-truncated", 8),
        ("cycles+elements", 8),
    ],
)
def test_where_runs_are_truncated_nothing_goes_from_a_cycle_by_elements(algorithm: str, left: int) -> None:
    """Without its first input the others of a round are not specified: skipped, they go too; as an end, nothing goes.

    As in table 3 of the paper, in which elements alone do nothing, and cycles do.
    """
    spec: Spec[object, object] = Spec(_washer, "empty", ["fill", "wash", "soak", "drain"])
    run = [inp for what in ("wash", "soak", "wash", "soak", "wash") for inp in ("fill", what, "drain")]
    assert len(Bench(spec, _wears_out).shrink(algorithm, run)) == left
