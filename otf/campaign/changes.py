"""Fingerprints of a model's transitions, what changed between two models, and the files that keep both in a folder.

Both files are data: reading them runs nothing, and one that is damaged or too long says nothing.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

import msgspec

from otf.campaign.knowledge import digest, named
from otf.explore import explore
from otf.explore.graph import OPEN, SPONTANEOUS, Graph
from otf.spec import Spec
from otf.strategy.pool import ChangedFirst
from otf.trace.reading import BAD_JSON

TRANSITIONS: Final = "transitions.json"
CHANGED: Final = "changed.json"
STATES: Final = 5_000  # of a model, the nearest to its initial state: more would take longer than a short campaign may
MOST: Final = 0.5
"""The share of transitions from which on a model counts as another one: there is nothing to put first then."""
LARGEST: Final = 64 << 20  # bytes of a file

Data = TypeVar("Data")


class TransitionPrints(msgspec.Struct, frozen=True):
    """The fingerprints of a model's transitions by state and input, as digests; `whole`: it has no others.

    >>> from otf.spec import goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit)], False, ["press"])
    >>> prints = TransitionPrints.of(lamp)
    >>> len(prints.states), prints.whole, prints.changed(prints)
    (2, True, [])
    """

    states: dict[str, dict[str, str]]
    whole: bool = True

    @classmethod
    def of(cls, spec: Spec[Any, Any], seconds: float = float("inf")) -> TransitionPrints:
        """Return those of a spec, as many as are found in this time. Raises ModelError."""
        ends = monotonic() + seconds
        late = False

        def over() -> bool:
            nonlocal late
            late = late or monotonic() >= ends
            return late

        graph = explore(_until(spec, over), STATES)
        return cls(_prints(graph), graph.whole and not late)

    def changed(self, before: TransitionPrints) -> list[str]:
        """Return the transitions that are new or have changed, each as `STATE INPUT`; none if most have.

        What lay beyond the bound of the earlier model is not known, and so not new.
        """
        found = [
            f"{state} {inp}"
            for state, inputs in self.states.items()
            for inp, now in inputs.items()
            if (was := before.states.get(state, {}).get(inp)) != now and (was or before.whole)
        ]
        return [] if len(found) > MOST * sum(map(len, self.states.values())) else found


def _until(spec: Spec[Any, Any], over: Callable[[], bool]) -> Spec[Any, Any]:
    """Return the spec without inputs and spontaneous transitions once the time is over."""

    def inputs(state: Any) -> Iterable[Any]:  # noqa: ANN401 -- any state
        return () if over() else spec.inputs(state)

    return spec.remade(spec.step, spec.initial, inputs, spec.emits, spec.partial)


def _prints(graph: Graph) -> dict[str, dict[str, str]]:
    states = [digest(node.key) for node in graph.states]
    inputs = [digest(symbol.key) for symbol in graph.symbols]
    ways: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for arc in graph.arcs():
        target = "" if arc.target == OPEN else states[arc.target]
        ways[arc.source, arc.input].append(f"{graph.texts[arc.outputs]} {graph.times.get(arc, '')} {target}")
    emits = {source: sorted(found) for (source, inp), found in ways.items() if inp == SPONTANEOUS}
    targets: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for arc in graph.arcs():
        targets[arc.source, arc.input].add(arc.target)
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for (source, inp), texts in ways.items():
        if inp != SPONTANEOUS:
            # what the system may do by itself in the next state is seen after this input
            after = [emits.get(target, []) for target in sorted(targets[source, inp])]
            found[states[source]][inputs[inp]] = _print(repr((sorted(texts), after)))
    return dict(found)


def _print(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class ChangedTransitions(msgspec.Struct, frozen=True):
    """The transitions of a model that come first, each as `STATE INPUT`."""

    changed: list[str] = []

    @classmethod
    def of(cls, folder: Path) -> ChangedTransitions:
        """Return those of a folder; none if nothing says so."""
        return read(folder / CHANGED, cls) or cls()

    def of_lane(self, lane: int, lanes: int) -> list[str]:
        """Return those that the paths of a lane look for: each transition is one lane's, whatever others do."""
        return [pair for pair in self.changed if int(_print(pair), 16) % lanes == lane]

    def first(self, lane: int, lanes: int) -> ChangedFirst | None:
        """Return what the paths of a lane look for first."""
        own = self.of_lane(lane, lanes)
        pairs = ((state, inp) for state, _, inp in (pair.partition(" ") for pair in own))
        return ChangedFirst(pairs, named, lanes) if own else None


def read(file: Path, kind: type[Data]) -> Data | None:
    """Return what a file holds, None if it is missing, damaged or too long."""
    with suppress(OSError, *BAD_JSON):
        # opening a pipe would block for ever
        if file.is_file() and file.stat().st_size <= LARGEST:
            return msgspec.json.decode(file.read_bytes(), type=kind)
    return None
