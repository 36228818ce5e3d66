"""The commands of the gallery draw what stands beside them."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from benchmarks.gallery import FOLDER, PICTURES, RUNS, run_of
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


@pytest.mark.parametrize("name", ["supply", "session_device"])
def test_a_run_follows_its_model(name: str) -> None:
    """It is what `python -m benchmarks.gallery` draws today."""
    assert (FOLDER / f"run-{name}.svg").read_text("utf-8") == run_of(name)
