"""Temporal properties of a model: the states of its graph together with what is left of the property."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from otf.explore.finding import Finding, LawVerdict, TakenStep, taken, upheld
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.spec import Accept, AnyOrder, On
from otf.spec.outputs import vague
from otf.temporal import Formula, PropertyStep, Residue

FACTOR: Final = 100  # as many pairs of a state and what is left, for each state


class _Pair(NamedTuple):
    """A state with what is left of a property there, and the pair and the transition that led there."""

    state: int
    left: Residue
    before: _Pair | None = None
    arc: Arc | None = None


def temporal(graph: Graph, name: str, what: Formula) -> Finding:
    """Return whether a property holds for each run of a model, with a shortest run that violates it.

    A property `sometimes(…)` is a goal: it holds if a run reaches it, and the way is such a run. Runs are finite: a
    promise that is never kept violates nothing. Transitions whose outputs are only described (`Where`, a class) leave
    the property open. Raises ModelError if a function of the property does.

    >>> from otf.explore import explore
    >>> from otf.logic import never
    >>> from otf.spec import Spec, goto
    >>> lamp = explore(Spec(lambda lit, inp: [goto(not lit, "off" if lit else "on")], False, ["press"]))
    >>> print(temporal(lamp, "dark", never("off")))
    property dark: refuted: after these steps it cannot hold any more
        1  'press' / 'on'
        2  'press' / 'off'
    """
    law, goal = f"property {name}", what.kind == "sometimes"
    search = _Search(graph, what)
    for pair in search.pairs():
        if goal and pair.left.truth:
            return Finding(law, LawVerdict.PROVEN, f"a run of {_steps(pair)} reaches it", tuple(_way(graph, pair)))
        if not goal and pair.left.truth is False:
            return Finding(
                law, LawVerdict.REFUTED, "after these steps it cannot hold any more", tuple(_way(graph, pair))
            )
    whole = upheld(graph, law)
    unsure = [*(["outputs that are only described"] * search.vague), *(["too many ways to go on"] * search.cut)]
    if goal:
        verdict = LawVerdict.UNDECIDED if unsure or not graph.whole else LawVerdict.REFUTED
        return replace(whole, verdict=verdict, says=f"no run reaches it; {whole.says}")
    return Finding(law, LawVerdict.PASSED, f"{whole.says}; {', '.join(unsure)}") if unsure else whole


class _Search:
    """A breadth-first search of pairs; `vague`: some outputs are only described; `cut`: there were too many pairs."""

    def __init__(self, graph: Graph, what: Formula) -> None:
        self.vague = self.cut = False
        self._graph, self._start = graph, Residue.of(what)
        self._most = FACTOR * max(1, len(graph.values))

    def pairs(self) -> Iterator[_Pair]:
        """Yield each pair once, those that are near the start first."""
        pairs = [_Pair(0, self._start)]
        seen = {pairs[0][:2]}
        for pair in pairs:
            yield pair
            for then in self._after(pair) if pair.left.truth is None else ():
                if then[:2] in seen:
                    continue
                if len(seen) >= self._most:
                    self.cut = True
                    return
                seen.add(then[:2])
                pairs.append(then)

    def _after(self, pair: _Pair) -> Iterator[_Pair]:
        for arc in self._graph.arcs(pair.state):
            inp = None if arc.input == SPONTANEOUS else self._graph.inputs[arc.input]
            outputs = [*_plain(self._graph.outputs[arc.outputs])]
            known = not any(vague(each) or isinstance(each, Accept) for each in outputs)
            self.vague = self.vague or not known
            left = pair.left.after(PropertyStep(inp, tuple(outputs)) if known else None)
            # the outputs decide the next state: what follows was not explored, but this step was
            if arc.target != OPEN:
                yield _Pair(arc.target, left, pair, arc)


def _plain(outputs: tuple[Any, ...]) -> Iterator[Any]:
    for each in outputs:
        item = each.item if isinstance(each, On) else each
        yield from (_plain(item.items) if isinstance(item, AnyOrder) else [item])


def _way(graph: Graph, pair: _Pair) -> list[TakenStep]:
    way = list[TakenStep]()
    while pair.before is not None and pair.arc is not None:
        way.append(taken(graph, pair.arc.input, pair.arc.outputs))
        pair = pair.before
    return way[::-1]


def _steps(pair: _Pair) -> str:
    steps = 0
    while pair.before is not None:
        pair, steps = pair.before, steps + 1
    return f"{steps} step{'' if steps == 1 else 's'}"
