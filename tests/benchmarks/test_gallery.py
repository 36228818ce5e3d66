"""The commands of the gallery draw what stands beside them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from benchmarks.gallery import PICTURES
from tests.cli.command import otf

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
BOUNDED = {"vending", "queue"}  # the page says that no option draws these
COMMANDS = re.findall(
    r"```sh\notf (explore [^\n#]+?) --open.*?\(gallery/([\w-]+)\.svg\)", PAGE.read_text("utf-8"), re.DOTALL
)


@pytest.mark.parametrize(("command", "name"), [each for each in COMMANDS if each[1] not in BOUNDED])
def test_a_command_draws_the_picture_below_it(command: str, name: str) -> None:
    """It finds as many states and transitions as the drawing has."""
    data, graph = otf(*shlex.split(command), "--json").data, PICTURES[name].graph()
    assert (len(data["states"]), len(data["transitions"])) == (len(graph.values), len(graph.target))
