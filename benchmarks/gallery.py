"""The pictures of the gallery: every small model, within bounds where it has no end, and a run of each larger one.

Run `python -m benchmarks.gallery`.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from otf.cli.benches import load
from otf.cli.tools.explore import picture
from otf.core import Session
from otf.core.pacing import Strict
from otf.explore import Graph, explore
from otf.explore.exports import dot, marks
from otf.models import altbit, coffees, laundry, queue, stack, tea, vending
from otf.models.absolute import ABSOLUTE
from otf.models.coffee import coffee
from otf.models.conference import Sizes, conference
from otf.mutation import HuntBudget, MutationAnalysis
from otf.report import chart, standalone
from otf.report.sequence import SequenceRow
from otf.simulate import System, TimeBounds, World, conduct
from otf.strategy import Strategy
from otf.trace import Event, Quiet
from otf.values import key

FOLDER: Final = Path(__file__).parents[1] / "docs" / "gallery"
FEW: Final = 2  # elements of a queue or stack
CENTS: Final = 25  # in the machine that counts without end
MUCH: Final = 20  # cents: more are called unsafe, to show how that looks
QUEUE: Final = explore(
    queue.QUEUE,
    inputs=queue.inputs_of(range(2)),
    states=lambda state: isinstance(state, queue.New) or len(state.elements) <= FEW,
)


@dataclass(frozen=True)
class Shown:
    """A picture: the model that is drawn, and the states that are marked."""

    graph: Callable[[], Graph]
    safe: Callable[[Any], object] | None = None
    accepting: Callable[[Any], object] | None = None


def _cheap(state: vending.Machine) -> bool:
    return state.balance <= 1 and state.product in {None, vending.Product.COFFEE}


PICTURES: Final[Mapping[str, Shown]] = {
    "coffee": Shown(lambda: explore(coffee)),
    "c0": Shown(lambda: explore(coffees.C0)),
    "c1": Shown(lambda: explore(coffees.C1)),
    "c2": Shown(lambda: explore(coffees.C2)),
    "c3": Shown(lambda: explore(coffees.C3), accepting=lambda paid: paid == 0),
    "c4": Shown(lambda: explore(coffees.C4, states=lambda paid: paid <= CENTS), safe=lambda paid: paid <= MUCH),
    "conference": Shown(lambda: explore(conference(Sizes(2, 1, 1, 1)))),
    "conference-2": Shown(lambda: explore(conference(Sizes(2, 2, 2, 1)))),
    "vending": Shown(lambda: explore(vending.VENDING, states=_cheap)),
    "absolute": Shown(lambda: explore(ABSOLUTE)),
    "tea": Shown(lambda: explore(tea.TEA)),
    "altbit-sender": Shown(lambda: explore(altbit.SENDER)),
    "altbit-receiver": Shown(lambda: explore(altbit.RECEIVER)),
    "queue": Shown(lambda: QUEUE),
    "stack": Shown(lambda: explore(stack.PROGRAM, states=lambda state: len(state[0][1].items) <= FEW)),
    "laundry": Shown(lambda: explore(laundry.LAUNDRY)),
}

RUNS: Final = (
    *("session_device", "ecu", "bootloader", "modbus", "elm327", "supply", "microbit", "uboot", "coap", "tftp", "dns"),
    *("http", "websocket", "tickets", "irc", "jobs", "redis", "memcached", "mqtt", "chat", "smtp", "ssh", "gtp", "uci"),
)
DRAWN: Final = 20  # runs of each, of which the one with the most different events is shown
STEPS: Final = 5


def run_of(name: str) -> str:
    """Return a run of a bench against its own model as a chart, without silence after an answer."""
    analysis = MutationAnalysis(load(name), 1, HuntBudget(), "strict")
    bench, served, oracle = analysis.hunt.bench, analysis.survey.served, analysis.hunt.oracle
    model, strategy = bench.spec, Strategy("alternating", bench.inputs, 1)
    system = model.remade(served.step, model.initial, model.inputs, served.emits if model.emits else None)
    best = list[Event]()
    for number in range(1, DRAWN + 1):
        random, events = Random(number), list[Event]()
        bounds = TimeBounds(bench.latency, bench.busy, spontaneous=1e6)
        world = World(System(system, oracle.model.routes.of, random), bounds, random)
        session = Session(oracle, strategy.path(number), Strict(oracle.timing), steps=STEPS)
        if conduct(session, world, bench.port, events.append).failure is None:
            best = max(best, [each for each in events if not isinstance(each, Quiet)], key=_kinds)
    drawn = chart(best)
    return standalone(replace(drawn, rows=tuple(replace(row, text=_brief(row)) for row in drawn.rows)))


def _brief(row: SequenceRow) -> str:
    """Return the text of an event without the names of fields, and without its port, which its column names."""
    text = re.sub(r"\b\w+=", "", row.text).replace(f"'{row.port}', ", "").removesuffix(f" on {row.port}")
    return re.sub(r"^MqttMessage\((.*)\)$", r"\1", text)  # which says whose packet it is


def _kinds(run: Sequence[Event]) -> int:
    return len({key(getattr(each, "output", getattr(each, "input", None))) for each in run})


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all pictures as SVG; with a folder also as PNG, to be looked at."""
    parser = ArgumentParser(prog="python -m benchmarks.gallery", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="draw into this folder, also as PNG (docs/gallery)")
    parser.add_argument("names", nargs="*", help="draw only these, such as c4 or run-mqtt (all)")
    given = parser.parse_args(arguments)
    chosen: Path | None = given.folder
    folder = chosen or FOLDER
    folder.mkdir(exist_ok=True)
    for name, shown in PICTURES.items():
        if given.names and name not in given.names:
            continue
        graph = shown.graph()
        text = dot(graph, marks(graph, shown.accepting, shown.safe))
        for form in ("svg", "png") if chosen else ("svg",):
            (folder / f"{name}.{form}").write_bytes(picture(text, form))
        print(f"{name}: {len(graph.values)} states, {len(graph.target)} transitions")
    for name in RUNS:
        if given.names and f"run-{name}" not in given.names:
            continue
        (folder / f"run-{name}.svg").write_text(run_of(name), encoding="utf-8")
        print(f"run-{name}")


if __name__ == "__main__":
    main()
