"""Numbers as pictures, and the space that they count."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from otf.core import Model
from otf.explore.space import space
from otf.report.times import duration, growth, response_times
from otf.spec import Accept, Spec, Transition, goto
from tests.report.runs import parsed


def lamp(_state: int, inp: str) -> list[Transition[int]]:
    """A lamp with two switches that turn it on."""
    return [goto(0 if inp == "off" else 1)]


def ticket(_state: int, _inp: str) -> list[Accept]:
    """The system chooses a number."""
    return [Accept(lambda outputs: [len(outputs)])]


def test_states_behind_outputs_are_not_known() -> None:
    """If outputs decide the next state, there may be more states; also for spontaneous outputs."""
    assert not space(Model(Spec(ticket, initial=0, inputs=["go"]))).whole
    assert not space(Model(Spec(lamp, initial=0, inputs=[], emits=lambda state: ticket(state, "")))).whole


def test_a_model_without_end_is_cut() -> None:
    """The space is bounded, and not `whole`."""
    found = space(Model(Spec(lambda state, _: [goto(state + 1)], initial=0, inputs=["go"])), most=10)
    assert (len(found.states), found.whole) == (10, False)


def test_a_model_with_very_many_inputs_is_cut() -> None:
    """So many inputs are looked at, those of the nearest states, and that there are more is known."""
    found = space(Model(Spec(lambda state, _: [goto(state + 1)], initial=0, inputs=["go", "run"])), pairs=6)
    assert (len(found.pairs), len(found.states), found.whole) == (6, 4, False)


def test_how_coverage_grew() -> None:
    """Steps to the right, transitions upwards: a staircase, flat where nothing new was visited."""
    drawn = parsed(growth([(0, 0), (10, 1), (20, 2), (40, 2)], total=4))
    corners = [tuple(map(float, corner.split(","))) for corner in (drawn[-1].get("points") or "").split()]
    assert [across for across, _ in corners] == sorted(across for across, _ in corners)
    assert corners[-1][1] == (corners[0][1] + 14) / 2  # two of four
    assert re.findall(r">([^<]+)</text>", str(growth([(0, 0)], total=None))) == ["0", "1 steps", "0", "1"]


def bars(*seconds: float) -> list[str]:
    """Return what the tooltips of the response times of one input say."""
    return [title.text or "" for title in parsed(response_times({"Go": seconds}, {}, {})).iter("title")]


def test_how_long_answers_took() -> None:
    """Each bar is about twice as long as the one before; every answer is in one."""
    assert bars(0.0011, 0.0012, 0.003, 0.2) == [
        "2 answers to Go took 1 ms to 2 ms",
        "1 answer to Go took 2 ms to 5 ms",
        "1 answer to Go took 200 ms to 500 ms",
    ]
    assert bars(0.0, 0.0) == ["2 answers to Go took 0 µs to 2 µs"]


@given(st.lists(st.floats(0, 1e5), min_size=1))
@example([99999.99999999999])
def test_every_answer_is_in_one_bar(seconds: list[float]) -> None:
    """Whatever they took."""
    assert sum(int(title.split()[0].replace(",", "")) for title in bars(*seconds)) == len(seconds)


def test_all_inputs_on_one_scale_with_the_bounds_of_the_bench() -> None:
    """A time has one place for all inputs; names of bounds do not overlap, equal ones share a line."""
    drawn = parsed(
        response_times(
            {"Coin": [0.001], "Button": [0.001, 0.5]},
            {"L": 0.002, "R": 0.002, "2L + R": 0.006, "quiescence": 0.1},
            {"Button": [(1, 3)]},
        )
    )
    rows = [[float(bar.get("x") or 0) for bar in row.iter("rect")] for row in drawn.iter("g")]
    ((coin,), (window, button, _)) = rows
    assert coin == button < window
    names = [text for text in drawn.findall("text") if text.get("class") == "soft"]
    assert [text.text for text in names] == ["L, R 2 ms", "2L + R 6 ms", "quiescence 100 ms"]
    assert names[0].get("y") != names[1].get("y")
    assert [title.text for title in drawn.iter("title")][1] == "window of Button: 1 s to 3 s"


def test_durations_have_the_unit_that_fits() -> None:
    """Three digits are enough."""
    assert [duration(each) for each in (0.0, 1.5e-5, 0.01234, 12.345)] == ["0 µs", "15 µs", "12.3 ms", "12.3 s"]
