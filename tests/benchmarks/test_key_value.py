"""What is linearizable, and a network of node programs."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.field.key_value import Answer, Call, Cas, Heard, Pass, Read, State, Write, effect, key_value
from benchmarks.field.node_network import network
from otf.spec import Accept, Transition

SPEC = key_value(3)


def possible(history: Iterable[Call | Answer]) -> bool:
    """Return whether the model explains a history."""
    states = {SPEC.initial}
    for event in history:
        inp = Pass(200) if isinstance(event, Answer) else event
        ways = [way for state in states for way in SPEC.step(state, inp)]
        states = {then for way in ways for then in after(way, event)}
    return bool(states)


def after(way: Transition[State] | Accept, event: Call | Answer) -> Iterable[State]:
    """Return the states after a transition, with the answer that was heard."""
    if isinstance(way, Transition):
        return [way.state]
    return way.then((Heard((event,)),)) if isinstance(event, Answer) else []


@pytest.mark.parametrize(
    "history",
    [
        [Write(0, 1), Answer(0, "ok"), Read(1), Answer(1, 1)],
        [Write(0, 1), Read(1), Answer(1, 1), Read(2), Answer(2, 1), Answer(0, "ok")],
        [Read(1), Write(0, 1), Answer(0, "ok"), Answer(1, "no value")],
        [Write(0, 1), Write(1, 2), Answer(0, "ok"), Answer(1, "ok"), Read(2), Answer(2, 1)],
        [Write(0, 1), Answer(0, "ok"), Write(1, 2), Write(1, 3), Read(0), Answer(0, 3), Read(0), Answer(0, 2)],
        [Cas(0, 1, 2), Answer(0, "no value"), Write(1, 3), Answer(1, "ok"), Cas(0, 1, 2), Answer(0, "differs")],
        [Write(0, 1), Answer(0, "failed"), Read(1), Answer(1, "no value")],
    ],
)
def test_linearizable(history: list[Call | Answer]) -> None:
    """Operations that overlap take effect in either order, and one that was given up takes effect late or never."""
    assert possible(history)


@pytest.mark.parametrize(
    "history",
    [
        [Write(0, 1), Answer(0, "ok"), Read(1), Answer(1, "no value")],
        [Write(0, 1), Read(1), Answer(1, 1), Read(2), Answer(2, "no value")],
        [Write(0, 1), Answer(0, "failed"), Read(1), Answer(1, 1)],
        [Write(0, 1), Answer(0, "ok"), Cas(0, 1, 2), Cas(1, 1, 3), Answer(0, "ok"), Answer(1, "ok")],
        [Read(1), Answer(1, 2)],
        [Answer(1, "ok")],
    ],
)
def test_not_linearizable(history: list[Call | Answer]) -> None:
    """A stale read, a write that failed and is read, and one effect for two are not explained."""
    assert not possible(history)


@pytest.mark.parametrize("seed", range(100))
def test_a_register_is_linearizable(seed: int) -> None:
    """Whatever a register does in one step between each call and its answer, some of them never, is explained."""
    random, value, events = Random(seed), None, list[Call | Answer]()
    waiting: dict[int, Call | Answer] = {}
    for _ in range(30):
        client = random.randrange(3)
        held = waiting.get(client)
        if held is None or random.random() < 0.05:  # the latter gives up, and what it called never takes effect
            new, old = random.randint(1, 3), random.randint(1, 3)
            calls: list[Call] = [Read(client), Write(client, new), Cas(client, old, new)]
            waiting[client] = random.choice(calls)
            events.append(waiting[client])
        elif isinstance(held, Answer):
            events.append(waiting.pop(client))
        else:
            value, waiting[client] = effect(value, held)
    assert possible(events)


@pytest.mark.real
def test_states_in_one_order() -> None:
    """The states that explain an answer come in an order that no hash changes: a history can be made again exactly."""
    program = (
        "from benchmarks.field.key_value import Answer, Heard, Open, Read, State, Write, heard\n"
        "called = tuple(Open(Write(each, each), frozenset()) for each in range(1, 4))\n"
        "print(list(heard(State(0, (Open(Read(0), frozenset()), *called)), Heard((Answer(0, 2),)))))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": each}, check=True, capture_output=True
        ).stdout
        for each in ("1", "2", "3", "4")
    }
    assert len(said) == 1


ECHO = """
import json, select, sys, time
while True:
    if select.select([sys.stdin], [], [], 0)[0]:
        message = json.loads(sys.stdin.readline())
        body = {"type": "heard", "at": round(1000 * time.time())}
        json.dump({"src": message["dest"], "dest": message["body"].get("to", message["src"]), "body": body}, sys.stdout)
        sys.stdout.write("\\n")
"""


@pytest.mark.real
def test_network(tmp_path: Path) -> None:
    """Nodes see the network's clock; messages between them take their time, are lost where they are cut, and repeat."""
    (tmp_path / "echo.py").write_text(ECHO)
    with network(tmp_path / "echo.py", 2, seed=1) as net:
        heard = list[Any]()
        for _ in range(2):
            net.fresh()
            net.send({"src": "c1", "dest": "n0", "body": {"to": "n1"}})
            heard.append(net.elapse(400))
            net.cut = frozenset({"n0"})
            lost = net.lost
            net.send({"src": "c1", "dest": "n0", "body": {"to": "n1"}})
            heard.append(net.elapse(400))
            assert net.lost > lost
    assert heard[:2] == heard[2:]
