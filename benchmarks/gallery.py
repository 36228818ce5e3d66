"""The pictures of the gallery: every model that is shipped, within bounds where it has no end.

Run `python -m benchmarks.gallery`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from otf.cli.tools.explore import picture
from otf.explore import Graph, explore
from otf.explore.exports import dot, marks
from otf.models import altbit, coffees, laundry, queue, stack, tea, vending
from otf.models.absolute import ABSOLUTE
from otf.models.coffee import coffee
from otf.models.conference import Sizes, conference

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all pictures as SVG; with a folder also as PNG, to be looked at."""
    parser = ArgumentParser(prog="python -m benchmarks.gallery", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="draw into this folder, also as PNG (docs/gallery)")
    chosen: Path | None = parser.parse_args(arguments).folder
    folder = chosen or FOLDER
    folder.mkdir(exist_ok=True)
    for name, shown in PICTURES.items():
        graph = shown.graph()
        text = dot(graph, marks(graph, shown.accepting, shown.safe))
        for form in ("svg", "png") if chosen else ("svg",):
            (folder / f"{name}.{form}").write_bytes(picture(text, form))
        print(f"{name}: {len(graph.values)} states, {len(graph.target)} transitions")


if __name__ == "__main__":
    main()
