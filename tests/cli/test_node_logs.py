"""`otf replay --nodes`: files of several nodes are judged in one order, and a failure comes with its smallest part."""

import json
from pathlib import Path

import pytest

from tests.cli.command import failed, otf

MODEL = """
import json
from otf import goto
from otf.core.observed import ANYTHING, Some
from otf.offline.nodes import NodeEvent, NodeLogs
from otf.spec import Spec

def shops(state, event):
    stock = dict(state)
    have = stock.get(event.node, 2)
    if have is ANYTHING:
        have = event.shows.fields["stock"] - event.action
    if have + event.action >= 0:
        stock[event.node] = have + event.action
        yield goto(tuple(sorted(stock.items())), {"stock": have + event.action})

def forget(state, node):
    return tuple(sorted((dict(state) | {node: ANYTHING}).items()))

def event(entry, name):
    said = json.loads(entry.data)
    return NodeEvent(name, said["add"], Some(stock=said["stock"]), said.get("sends"), said.get("receives"))

logs = NodeLogs(Spec(shops, (), []), event, forget)
number = 3
"""
NORTH = [{"add": -1, "stock": 1, "sends": "parcel"}, {"add": 0, "stock": 1}]
SOUTH = [{"add": 1, "stock": 3, "receives": "parcel"}, {"add": -1, "stock": 2}, {"add": -1, "stock": 1}]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, Path, Path]:
    """Return the place of the reader, and two logs."""
    (tmp_path / "shops.py").write_text(MODEL)
    for name, said in (("north", NORTH), ("south", SOUTH)):
        (tmp_path / name).write_text("".join(f"{json.dumps(each)}\n" for each in said))
    return f"{tmp_path / 'shops.py'}:logs", tmp_path / "north", tmp_path / "south"


def test_pass(files: tuple[str, Path, Path]) -> None:
    """Logs that the model explains pass, in whatever order they are given."""
    reader, north, south = files
    assert otf("replay", south, north, "--nodes", reader).out == "PASS: 5 events\n"
    assert otf("replay", north, "--nodes", reader, "--json").data["events"] == 2


def test_failure(files: tuple[str, Path, Path]) -> None:
    """A failure names node and line, and is followed by the smallest part that fails."""
    reader, north, south = files
    south.write_text(south.read_text().replace('"stock": 1}', '"stock": 0}'))
    result = otf("replay", north, south, "--nodes", reader)
    assert result.status == 1
    assert result.out.splitlines() == [
        "FAIL: node south, line 3: -1: the log shows Some(stock=0); the model allows {'stock': 1}",
        "the smallest part that fails (2 events):",
        "  node south, line 2: -1  Some(stock=2)",
        "  node south, line 3: -1  Some(stock=0)",
    ]
    assert len(otf("replay", north, south, "--nodes", reader, "--json").data["slice"]) == 2


def test_mistakes(files: tuple[str, Path, Path]) -> None:
    """A place without a reader, and a line that the reader cannot take, are told."""
    reader, north, _ = files
    assert "not a NodeLogs" in failed("replay", north, "--nodes", reader.replace(":logs", ":number"))
    north.write_text("no JSON\n")
    assert "north, line 1: `event` raised JSONDecodeError" in otf("replay", north, "--nodes", reader).err


def test_a_broken_function_of_the_reader(files: tuple[str, Path, Path]) -> None:
    """What `event` returns is looked at; where `forget` is broken, the verdict is told before."""
    reader, north, south = files
    model = Path(reader.removesuffix(":logs"))
    model.write_text(f"{MODEL}logs = NodeLogs(logs.spec, lambda *_: 'text', forget)\n")
    assert "north, line 1: `event` returned 'text'; return a NodeEvent, or None" in failed(
        "replay", north, "--nodes", reader
    )
    model.write_text(f"{MODEL}logs = NodeLogs(logs.spec, event, lambda *_: 1 / 0)\n")
    south.write_text(south.read_text().replace('"stock": 1}', '"stock": 0}'))
    done = otf("replay", north, south, "--nodes", reader)
    assert done.status == 2
    assert done.out.startswith("FAIL: node south, line 3")
    assert "the model raised ZeroDivisionError" in done.err
