"""The states of a model in a page: the data that its script reads, and what a reader does with it in a browser."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64decode
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import decompress

import pytest

from otf.cli.benches import load
from otf.core import Model
from otf.explore import Graph, explore
from otf.explore.exports import Marks, marks
from otf.explore.space import VisitedSpace, space
from otf.models.conference import Sizes, conference
from otf.report.states import graph_data, model_page, space_data, walk
from otf.spec import Accept, Spec, Transition, goto
from tests.cli.command import otf
from tests.report.browser import CHROMIUM, Browser, browser
from tests.report.runs import HOSTILE, step


def lamp(_state: int, inp: str) -> list[Transition[int]]:
    """A lamp with two switches that turn it on."""
    return [goto(0 if inp == "off" else 1)]


def listed(data: dict[str, Any]) -> list[tuple[int, str, str, int]]:
    """Return the transitions of a page with their texts."""
    columns = zip(data["source"], data["input"], data["output"], data["target"], strict=True)
    inputs, outputs = [*data["inputs"], ""], data["outputs"]
    return [(source, inputs[inp], outputs[output], target) for source, inp, output, target in columns]


def test_what_was_visited_and_what_failed() -> None:
    """States and transitions are known by their numbers, the failure by its state and input."""
    model = Model(Spec(lamp, initial=0, inputs=["left", "right", "off"]))
    found = space(model)
    visits = VisitedSpace(found)
    dark, light = model.node(0), model.node(1)
    visits.went(dark, model.symbol("left"), light, model)
    visits.went(light, model.symbol("off"), dark, model)
    data = space_data(found, visits, {("1", "'left'")})
    rows = listed(data)
    assert [rows[arc] for arc in data["went"]] == [(0, "'left'", "no output", 1), (1, "'off'", "no output", 0)]
    assert (data["visited"], data["failed"]) == ([0, 1], [(1, data["inputs"].index("'left'"))])
    assert space_data(found, visits, {("1", "'tea'"), ("7", "'left'")})["failed"] == [(1, -1)]


def test_a_state_in_which_a_run_failed_was_visited() -> None:
    """It is, although it counts for no coverage."""
    found = space(Model(Spec(lamp, initial=0, inputs=["left", "off"])))
    assert space_data(found, VisitedSpace(found), {("1", "'left'")})["visited"] == [1]


def test_spontaneous_transitions() -> None:
    """Such transitions have no input."""
    timer = Spec(step, initial=0, inputs=["coin"], emits=lambda paid: [goto(0, "refund")] if paid else [])
    found = space(Model(timer))
    assert (1, "", "'refund'", 0) in listed(space_data(found, VisitedSpace(found), set()))


def test_targets_without_a_number() -> None:
    """The outputs decide some, others are beyond a bound: a reader is shown which."""
    ticket = space(Model(Spec(lambda _state, _inp: [Accept(lambda outputs: [len(outputs)])], 0, ["go"])))
    cut = space(Model(Spec(lambda state, _: [goto(state + 1)], initial=0, inputs=["go"])), most=2)
    assert [row[-1] for row in listed(space_data(ticket, VisitedSpace(ticket), set()))] == [-1]
    assert [row[-1] for row in listed(space_data(cut, VisitedSpace(cut), set()))] == [1, -2]


def test_the_page_of_a_model_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest states and their transitions are in it; the page says that there are more."""
    monkeypatch.setattr("otf.report.states.STATES", 3)
    monkeypatch.setattr("otf.report.states.ARCS", 2)
    graph = explore(Spec(lambda state, _: [goto((state + 1) % 9)], initial=0, inputs=["go"]))
    data = graph_data(graph, Marks())
    assert (len(data["states"]), listed(data)) == (3, [(0, "'go'", "no output", 1), (1, "'go'", "no output", 2)])
    assert "The nearest 3 states and 2 transitions are in this page." in model_page(graph, Marks(), {})
    cut = explore(Spec(lambda state, _: [goto(state + 1)], initial=0, inputs=["go"]), 2)
    assert "1 transition; the model has more: from 1 of these states, the search did not go on (limit)." in model_page(
        cut, Marks(), {}
    )


def test_equal_texts_of_different_values() -> None:
    """1 and '1' are different states, whatever they look like; the same value has one number."""
    graph = explore(Spec(lambda state, inp: [goto((inp, state[0]))], (1, 1), [1, True]))
    data = graph_data(graph, Marks())
    assert len({tuple(row) for row in data["states"]}) == len(graph.values) == 4


def test_hostile_texts_stay_inside_the_data() -> None:
    """The data are compressed and in Base64: no text of a model can end the element."""
    graph = explore(Spec(lambda state, _: [goto(state)], initial=HOSTILE, inputs=[HOSTILE]))
    written = str(walk(graph_data(graph, Marks())))
    content = re.search(r">([A-Za-z0-9+/=]+)</script>$", written)
    assert content is not None
    assert "</script>" in json.loads(decompress(b64decode(content[1])))["texts"][0]


@dataclass(frozen=True)
class Empty:
    """No game is on."""


@dataclass(frozen=True)
class Game:
    """Two counters, and something long that never changes."""

    left: int
    right: int
    note: str = "a long note that is the same in every state"


def game(state: Empty | Game, inp: str) -> list[Transition[Any]]:
    """Two counters up to nine: too many states to draw."""
    if isinstance(state, Empty):
        return [goto(Game(0, 0))] if inp == "begin" else []
    if inp == "left":
        return [goto(Game(min(9, state.left + 1), state.right), "tick")]
    return [goto(Game(state.left, min(9, state.right + 1)))] if inp == "right" else [goto(Empty())]


GAME = explore(Spec(game, Empty(), ["begin", "left", "right", "end"], name="game"))
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
READY = """new Promise(done => { const look = () =>
  document.querySelector("#states-walk[data-ready]") ? done(true) : setTimeout(look, 5); look(); })"""
LABELS = """[...document.querySelectorAll('svg.states .state')].map(one =>
  [...one.querySelectorAll('text')].map(line => line.textContent).join(' '))"""
# until the event of the new address has been handled
MOMENT = "new Promise(done => addEventListener('hashchange', () => setTimeout(done)))"
SHOWN = "document.querySelector('#states-walk .panel').innerText"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    """One browser for all pages."""
    with browser(tmp_path_factory.mktemp("profile")) as made:
        made.size(1200)
        yield made


def opened(seen: Browser, folder: Path, graph: Graph, by: tuple[str, ...] = ()) -> None:
    """Open the page of a model, and wait until it is drawn."""
    file = folder / "model.html"
    file.write_text(model_page(graph, marks(graph), {"no dead end: proven": None}, by), encoding="utf-8")
    seen.open(file)
    assert seen.ask(READY)


def box(label: str) -> str:
    """Return an expression for the box with a label."""
    return f"[...document.querySelectorAll('svg.states .state')].find(one => one.textContent.endsWith('{label}'))"


def go(seen: Browser, state: int) -> None:
    """Follow a link to a state."""
    seen.ask(f"location.hash = 'state-{state}'; {MOMENT}")


def drawn(seen: Browser, view: str) -> list[str]:
    """Choose what is drawn; return the labels."""
    choose = "const view = document.querySelector('#states-view'); view.value"
    seen.ask(f"{{ {choose} = '{view}'; view.dispatchEvent(new Event('change')) }}")
    labels: list[str] = seen.ask(LABELS)
    return labels


@needs_browser
@pytest.mark.real
def test_a_large_model_is_walked(tmp_path: Path, seen: Browser) -> None:
    """Its surroundings are drawn, labelled by what differs; clicks lead on, and the browser's own button leads back."""
    opened(seen, tmp_path, GAME)
    assert {"Empty", "Game left=0 right=0"} <= set(seen.ask(LABELS))
    assert " more neighbours are in the lists" in seen.ask("document.querySelector('#states-walk').innerText")
    go(seen, 1)
    assert sorted(seen.ask(LABELS)) == ["Empty", "Game left=0 right=0", "left=1", "right=1"]
    seen.ask(f"{box('left=1')}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Enter' }})); {MOMENT}")
    shown = seen.ask(SHOWN)
    assert "was 0" in shown
    assert shown.index("The shortest way here") < shown.index("'begin' / no output") < shown.index("'left' / 'tick'")
    seen.ask(f"history.back(); {MOMENT}")
    assert "State 1 of 101: Game" in seen.ask(SHOWN)
    assert seen.console == []


@needs_browser
@pytest.mark.real
def test_a_walk_is_kept(tmp_path: Path, seen: Browser) -> None:
    """Each step taken is listed; its address leads there again, and the command walks it with `otf step`."""
    page, press = tmp_path / "page.html", "document.querySelectorAll('.panel td .to')[{}].click()"
    assert otf("explore", "session_device", "--page", page).status == 0
    seen.open(page)
    assert seen.ask(READY)
    for way in (1, 0, 3, 0, 4):
        seen.ask(f"{press.format(way)}; {MOMENT}")
    address = seen.ask("location.hash")
    assert address == "#state-0/2.1.4.1.5"
    seen.open(page, address)
    assert seen.ask(READY)
    assert "The way you took" in seen.ask(SHOWN)
    seen.ask(f"{{ const next = document.querySelector('.panel td .to'); next.focus(); next.click(); }} {MOMENT}")
    assert seen.ask("document.activeElement.textContent").startswith("State ")
    seen.ask(f"history.back(); {MOMENT}")
    command = seen.ask("document.querySelector('.panel .command code').textContent")
    assert command.endswith(" | otf step session_device")
    lines = shlex.split(command.rpartition(" | ")[0])[2:]
    walked = otf("step", "session_device", stdin="\n".join(lines).encode())
    assert walked.out.count("\nstate: ") == 6
    assert walked.out.rpartition("\nstate: ")[2].startswith("None\n")
    shortest = "[...document.querySelectorAll('.panel .to')].find(one => one.textContent === 'the shortest way')"
    seen.ask(f"{shortest}.click(); {MOMENT}")
    assert seen.ask("location.hash") == "#state-0"
    assert seen.console == []


@needs_browser
@pytest.mark.real
def test_where_a_walk_ends(tmp_path: Path, seen: Browser) -> None:
    """Laws lead to the state that breaks them; parts without a way out are named, and so is where outputs decide."""

    def gate(state: str, inp: str) -> list[Any]:
        asked = Accept(lambda _: ["open"], "port") if state == "open" else goto("off")
        return [asked] if inp == "ask" else [goto("shut")]

    graph = explore(Spec(gate, "open", ["ask", "shut"], name="gate"))
    file = tmp_path / "gate.html"
    file.write_text(model_page(graph, marks(graph), {"total: no: x": 1}, command="otf step gate.py"), encoding="utf-8")
    seen.open(file)
    assert seen.ask(READY)
    assert "this page ends there, and otf step gate.py --live goes on." in seen.ask(SHOWN)
    assert seen.ask("document.querySelector('header summary').textContent") == "1 law; these do not hold: total"
    found = "[...document.querySelectorAll('.found .tools button')].map(each => each.textContent)"
    assert seen.ask(found) == ["all states", "the outputs decide what follows: 1", "no way out, from state 1 on: 2"]
    seen.ask(f"document.querySelectorAll('.found .tools button')[2].click(); {MOMENT}")
    assert seen.ask("document.querySelector('.found output').value") == "2 of 3 states"
    seen.ask(f"location.hash = ''; {MOMENT}")
    seen.ask(f"document.querySelector('header a[href=\"#state-1\"]').click(); {MOMENT}")
    assert "State 1 of 3" in seen.ask(SHOWN)
    assert seen.console == []


@needs_browser
@pytest.mark.real
def test_groups_and_search(tmp_path: Path, seen: Browser) -> None:
    """States that agree in the chosen fields are one box with their number; a search lists states by their values."""
    opened(seen, tmp_path, GAME, ("left",))
    labels = seen.ask(LABELS)
    assert len(labels) == 11
    assert {"left=none 1 state", "left=3 10 states"} <= set(labels)
    seen.ask(
        "const search = document.querySelector('#states-search'); search.value = 'left=3 right=4';"
        "search.dispatchEvent(new Event('input'))"
    )
    assert seen.ask("document.querySelector('.found output').value") == "1 of 101 states"
    assert drawn(seen, "everything")[0] == "Empty"
    words, arrows, _ = seen.ask(LYING)
    assert words == arrows > 200  # the drawing is as high as they need
    said = seen.ask("document.querySelector('#states-walk [role=status]').textContent")
    assert said == "the nearest 80 of 101 states"


@needs_browser
@pytest.mark.real
@pytest.mark.parametrize(("size", "dark"), [(1200, False), (390, True)])
def test_small_drawings_keep_their_size(tmp_path: Path, seen: Browser, size: int, *, dark: bool) -> None:
    """One state is not blown up, no label leaves its box, and the page fits a phone in either theme."""
    seen.size(size, dark=dark)
    long = tuple(f"a token of {number} characters" for number in range(20))
    opened(seen, tmp_path, explore(Spec(lambda state, _: [goto(state)], initial=(HOSTILE, long), inputs=["go"])))
    assert seen.ask("document.querySelector('svg.states rect').getBoundingClientRect().width") < 400
    assert seen.ask("document.documentElement.scrollWidth") <= size
    assert seen.ask("document.title") == "otf explore: <lambda>"
    inside = """[...document.querySelectorAll('svg.states .state')].every(state => {
      const box = state.querySelector('rect').getBoundingClientRect();
      return [...state.querySelectorAll('text')].every(text => {
        const line = text.getBoundingClientRect();
        return line.left >= box.left && line.right <= box.right && line.top >= box.top
          && line.bottom <= box.bottom })})"""
    assert seen.ask(inside)
    assert seen.console == []


@pytest.mark.slow  # 10^5 states are explored and packed
@needs_browser
def test_a_hundred_thousand_states(tmp_path: Path, seen: Browser) -> None:
    """The nearest are in the page, and it opens within two seconds."""
    many = Spec(lambda at, inp: [goto((at[0] + (inp == "x"), at[1] + (inp == "y")))], (0, 0), ["x", "y"])
    opened(seen, tmp_path, explore(many, 100_000))
    assert "The nearest 20,000 states" in seen.ask("document.body.innerText")
    assert (tmp_path / "model.html").stat().st_size < 5_000_000
    assert seen.open(tmp_path / "model.html") < 2


def test_a_drawing_is_one_stop_for_tab(seen: Browser, tmp_path: Path) -> None:
    """Arrow keys lead from state to state, and Enter goes there; the drawing is as large as one likes."""
    page = tmp_path / "page.html"
    assert otf("explore", "coffee", "--page", page).status == 0
    seen.open(page, drawn="document.querySelector('[data-ready]')")
    stops = "document.querySelectorAll('svg.states [tabindex=\"0\"]').length"
    assert seen.ask(stops) == 1
    seen.ask("document.querySelector('.drawing').focus()")
    seen.key("ArrowDown")  # from the frame to its box
    assert seen.ask("document.activeElement.getAttribute('tabindex')") == "0"
    assert seen.ask("document.activeElement.matches('.state')")
    first = seen.ask("document.activeElement.textContent")
    seen.key("ArrowDown")
    assert seen.ask("document.activeElement.textContent") != first
    assert seen.ask(stops) == 1
    seen.key("Enter")
    seen.until("document.activeElement.classList.contains('here')")
    wide = seen.ask("document.querySelector('svg.states').clientWidth")
    seen.ask("[...document.querySelectorAll('button')].find(each => each.textContent === 'larger').click()")
    assert seen.ask("document.querySelector('svg.states').clientWidth") > wide


@needs_browser
@pytest.mark.real
def test_the_first_view_is_whole(tmp_path: Path, seen: Browser) -> None:
    """What is drawn first lies within its frame, words beside arrows too, until a reader makes it larger."""
    seen.size(1280)
    opened(seen, tmp_path, explore(conference(Sizes(2, 2, 2, 1))))
    assert seen.ask("document.querySelectorAll('svg.states .state').length") == 13
    cut = """(() => { const frame = document.querySelector('.drawing').getBoundingClientRect();
      return [...document.querySelectorAll('svg.states text')].filter(each => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return left < frame.left || right > frame.right || top < frame.top || bottom > frame.bottom;
      }).map(each => each.textContent) })()"""
    assert seen.ask(cut) == []
    opened(seen, tmp_path, explore(load("conference").spec))
    for state in (3, 7, 21):
        go(seen, state)
        assert seen.ask(cut) == []
    round_ = Spec(lambda state, _: [goto((state + 1) % 7)], 0, ["a rather long word for an input"], name="round")
    opened(seen, tmp_path, explore(round_))
    assert seen.ask(cut) == []


@needs_browser
@pytest.mark.real
@pytest.mark.parametrize("size", [1280, 390])
def test_a_large_drawing_fits_and_its_words_differ(tmp_path: Path, seen: Browser, size: int) -> None:
    """No part is beyond the frame, all arrows of a first view say inputs, and what all inputs share is said once."""
    seen.size(size)
    opened(seen, tmp_path, explore(load("jobs").spec, 500))
    wide = "document.querySelector('svg.states').clientWidth - document.querySelector('.drawing').clientWidth"
    assert seen.ask(wide) <= 0
    words, arrows, lying = seen.ask(LYING)
    assert (words, lying) == (arrows, 0)
    texts = seen.ask("[...document.querySelectorAll('svg.states .word tspan')].map(each => each.textContent)")
    assert not any("Command" in each for each in texts)
    assert "each input is a Command(…)" in seen.ask("document.querySelector('#states-walk [role=status]').textContent")
    drawn(seen, "everything")
    assert seen.ask(wide) <= 0
    seen.size(1200)


LYING = """(() => {
  const drawn = [...document.querySelectorAll('svg.states .word')].map(each => each.getBBox());
  const boxes = [...document.querySelectorAll('svg.states .state > rect')].map(each => each.getBBox());
  const over = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  const lying = drawn.filter((each, at) => [...drawn.slice(0, at), ...boxes].some(other => over(each, other)));
  return [drawn.length, document.querySelectorAll('svg.states .line').length, lying.length];
})()"""


@needs_browser
@pytest.mark.real
def test_a_drawing_uses_its_frame(tmp_path: Path, seen: Browser) -> None:
    """A few rows lie as far apart as the frame is high; between many there is room for nearly all words."""
    seen.size(1280)
    opened(seen, tmp_path, explore(load("conference").spec))
    drawn(seen, "around")
    assert seen.ask("document.querySelector('svg.states').getBoundingClientRect().height") > 480
    drawn(seen, "everything")
    words, arrows, lying = seen.ask(LYING)
    assert (words > 0.85 * arrows, lying) == (True, 0)


@needs_browser
@pytest.mark.real
@pytest.mark.parametrize("name", ["coffee", "session_device", "conference"])
def test_arrows_have_their_inputs_where_they_can_be_read(tmp_path: Path, seen: Browser, name: str) -> None:
    """At half of the arrows at least, one label each, and none lies on another or on a state; the start is on top."""
    opened(seen, tmp_path, explore(load(name).spec))
    words, arrows, lying = seen.ask(LYING)
    assert 2 * words >= arrows > 2
    assert lying == 0
    cut = seen.ask(
        "[...document.querySelectorAll('svg.states .word')].filter(each => /=.*…$/u.test(each.textContent)).length"
    )
    assert cut == 0
    tops = "[...document.querySelectorAll('svg.states .state')].map(each => each.getBBox().y)"
    assert seen.ask(f"document.querySelector('svg.states .first').getBBox().y === Math.min(...{tops})")
