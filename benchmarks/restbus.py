"""Twelve cyclic messages beside a node, on python-can's multicast bus: `python -m benchmarks.restbus --minutes 10`.

The node (benchmarks/restbus_node.py) is right, or its period drifts by 3 %, or its counter skips once in 500. Two
of the tester's messages are switched off, doubled, falsified, delayed and stopped in their counters, as inputs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from socket import SOCK_DGRAM
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

from benchmarks import restbus_node as node
from benchmarks.measure import command, save
from otf.adapter import Bench, Life, lines
from otf.adapters import CyclicMessage, can, restbus
from otf.campaign import InconclusiveError, NonconformanceError, run
from otf.codec.by_port import codecs
from otf.codec.can import CanCodec, CanFrame, encode_can
from otf.compose import cyclic
from otf.models.serving import free_port
from otf.spec import Elapse, Spec, Transition, goto, start

FAULTS: Final = ("none", "drift", "skip")
LATE: Final = 0.04
"""Seconds by which the tester may be late itself; beyond that a path is inconclusive."""
MEMORY: Final = 4.0
"""Periods after which the node has told that a message was late: it waits for 3.5 of them, or for three messages."""
SLACK: Final = 0.06
"""Seconds that a Python process on a busy machine may take to read, look and send."""
SWITCHED: Final = (2, 6)
"""The messages that inputs disturb; all twelve are sent."""
SHOWS: Final = {"off": node.MISSING, "twice": node.STUCK, "wrong": node.WRONG, "stuck": node.STUCK}


@dataclass(frozen=True)
class Way:
    """Send a message in another way from now on."""

    message: str
    way: str


@dataclass(frozen=True)
class Disturbed:
    """Which message is sent in which way, if not all are as they should be, and what the node has yet to tell of it."""

    message: int | None = None
    way: str = "on"
    pending: int | None = None


def inputs(state: Disturbed) -> Iterator[Way | Elapse]:
    """Yield how one message may be sent; while the node has something to tell, the tester waits."""
    if state.pending is not None:
        yield Elapse(0.2)
        return
    if state.message is not None:
        yield Way(f"m{state.message}", "on")
        return
    for at in SWITCHED:
        yield from (Way(f"m{at}", way) for way in (*SHOWS, f"late {node.PERIODS[at]:g}"))


def step(state: Disturbed, inp: Way | Elapse) -> Iterator[Transition[Disturbed]]:
    """Yield when the node tells that a message is disturbed, or right again."""
    if isinstance(inp, Elapse):
        return
    at, way = int(inp.message[1:]), inp.way.partition(" ")[0]
    period = node.PERIODS[at]
    if way == "late" or (way == "on" and state.way == "late"):
        # one period later is not a fault
        yield goto(Disturbed() if way == "on" else Disturbed(at, way))
        return
    away = ((node.AWAY - 1) * period - LATE, node.AWAY * period + SLACK)
    again = ((node.RIGHT - 1) * period - LATE, node.RIGHT * period + LATE + SLACK)
    soon = (0.0, period + LATE + SLACK)
    pending, window = {"off": (node.MISSING, away), "on": (node.OK, again)}.get(way) or (SHOWS[way], soon)
    yield goto(Disturbed(at, way, pending), timers=[start("told", *window)])


def emits(state: Disturbed) -> Iterator[Transition[Disturbed]]:
    """Yield what the node tells."""
    if state.pending is not None and state.message is not None:
        told = CanFrame(node.TOLD, bytes([state.message, state.pending]))
        yield goto(Disturbed() if state.way == "on" else replace(state, pending=None), told, after="told")


def status(_state: Disturbed, number: int) -> CanFrame:
    """Return the node's own message."""
    return CanFrame(node.STATUS, bytes([number]))


SPEC: Final = cyclic(
    Spec(step, Disturbed(), inputs, emits, name="node", guarded=True),
    "status",
    status,
    every=node.CYCLE,
    jitter=SLACK,
    over=100,
    wraps=node.NUMBERS,
)


def message(at: int) -> CyclicMessage:
    """Return a message of the rest of the bus, with counter and checksum."""
    frames = list[bytes]()
    for number in range(node.NUMBERS):
        data = bytes([number, at, 7])
        frames.append(encode_can(CanFrame(node.FIRST + at, data + bytes([node.checksum(data)]))))
    return CyclicMessage(frames, node.PERIODS[at])


def bench(fault: str = "none") -> Bench:
    """Return the bench of the node; `fault` is one of `FAULTS`."""
    # a port of its own: without that the node would hear the groups of others on this machine, too
    group, port = "239.255.7.1", free_port(SOCK_DGRAM)
    address, mine = f"can://udp_multicast/{group}?port={port}", [(number, 0x7FF) for number in (node.STATUS, node.TOLD)]
    rest = {f"m{at}": message(at) for at in range(len(node.PERIODS))}
    return Bench.on_ports(
        SPEC,
        codecs(bus=CanCodec(), rest=lines({Way: "{message} {way}"})),
        # the bus first: the node speaks once it hears the rest
        {"bus": can(address, filters=mine), "rest": restbus(address, rest, late=LATE, memory=MEMORY)},
        life=Life(server=[sys.executable, node.__file__, group, str(port), fault], ready="ready"),
        name="restbus",
        outputs=("bus",),
        quiescence=0.05,
        latency=0.03,
        busy=0.03,
    )


def measured(fault: str, minutes: float, seed: int) -> dict[str, Any]:
    """Return what a campaign finds, and after how long."""
    with TemporaryDirectory() as out:
        begun, load = monotonic(), os.getloadavg()[0]
        try:
            summary, why = run(bench(fault), traces=1_000, steps=400, time=60 * minutes, seed=seed, out=Path(out)), ""
        except (InconclusiveError, NonconformanceError) as error:
            summary, why = error.summary, str(error)
        found: dict[str, Any] = {
            "paths": summary.paths,
            "steps": summary.steps,
            "not decided": len(summary.inconclusive),
        }
        found |= {"failures": [str(each) for each in summary.failures], "why": why}
        loads = f"{load:.1f} to {os.getloadavg()[0]:.1f}"
    return {
        "fault": fault,
        "verdict": str(summary.verdict),
        "seconds": round(monotonic() - begun),
        "load": loads,
        **found,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each node."""
    parser = command("restbus", __doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", nargs="*", default=FAULTS)
    chosen = parser.parse_args(arguments)
    rows = list[dict[str, Any]]()
    for fault in chosen.faults:
        rows.append(measured(fault, chosen.minutes, chosen.seed))
        print(rows[-1], flush=True)
    save({"rows": rows}, chosen.json)


if __name__ == "__main__":
    main()
