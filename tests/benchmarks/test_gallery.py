"""The commands of the gallery draw what stands beside them."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from benchmarks.gallery import FOLDER, PICTURES, RUNS, main, run_of
from otf.explore.exports import dot, marks
from tests.cli.command import otf

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
BOUNDED = {"vending", "queue"}  # the page says that no option draws these
COMMANDS = re.findall(
    r"```sh\notf (explore [^\n#]+?) (?:--open|--format svg).*?\(gallery/([\w-]+)\.svg\)",
    PAGE.read_text("utf-8"),
    re.DOTALL,
)


@pytest.mark.parametrize(("command", "name"), [each for each in COMMANDS if each[1] not in BOUNDED])
def test_a_command_draws_the_picture_below_it(command: str, name: str) -> None:
    """It finds as many states and transitions as the drawing has."""
    data, graph = otf(*shlex.split(command), "--json").data, PICTURES[name].graph()
    assert (len(data["states"]), len(data["transitions"])) == (len(graph.values), len(graph.target))


@pytest.mark.parametrize("name", PICTURES)
def test_a_drawing_follows_its_model(name: str) -> None:
    """It has the states, the arrows and the words of the model of today."""
    shown = PICTURES[name]
    graph = shown.graph()
    text = dot(graph, marks(graph, shown.accepting, shown.safe))
    drawing = (FOLDER / f"{name}.svg").read_text("utf-8")
    labels = {line for label in re.findall(r'label="((?:[^"\\]|\\.)*)"', text) for line in re.split(r"\\[nlr]", label)}
    drawn = {unescape(each) for each in re.findall(r"<text [^>]*>([^<]*)</text>", drawing)}
    assert drawn == {line.replace("\\\\", "\\").replace('\\"', '"') for line in labels} - {""}
    assert drawing.count('class="edge"') == text.count(" -> ")


def test_each_real_system_has_a_run() -> None:
    """Its picture stands on the page, under its name."""
    page = PAGE.read_text("utf-8")
    shown = re.findall(r"^### (\w+)\n\n\[!\[a run of \1\]\(gallery/run-\1\.svg\)\]", page, re.MULTILINE)
    assert shown == list(RUNS)


@pytest.mark.parametrize("name", ["supply", "session_device", "mqtt"])
def test_a_run_follows_its_model(name: str) -> None:
    """It is what `python -m benchmarks.gallery` draws today."""
    assert (FOLDER / f"run-{name}.svg").read_text("utf-8") == run_of(name)


SUITES = re.findall(r"`(otf suite [\w.:]+ --dry)`", PAGE.read_text("utf-8"))


@pytest.mark.parametrize("command", SUITES)
def test_what_a_suite_proves_is_what_otf_says(command: str) -> None:
    """The numbers of paths, inputs and states beside the command are those that it prints today."""
    said, page = otf(*command.split()[1:]).out, " ".join(PAGE.read_text("utf-8").split())
    paths, inputs = re.findall(r"([\d,]+) (?:paths|steps)", said)[:2]
    states = re.findall(r"at most (\d+) states", said)[0]
    words = {"3": "three", "7": "seven", "2": "two"}
    about = page[page.index(command) - 300 : page.index(command) + 300].lower()
    assert f"{words.get(paths, paths)} paths with {inputs} inputs in all prove" in about
    assert f"at most {words.get(states, states)} states" in about


def test_one_picture_is_drawn_when_it_is_named(tmp_path: Path) -> None:
    """The command beside a drawing draws that one, and no other."""
    main([str(tmp_path), "c4"])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["c4.png", "c4.svg"]
