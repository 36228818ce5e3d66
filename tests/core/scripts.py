"""Small specs and runs as text: `machine("s0 -a/x-> s1")` is a spec, `"a? x! quiet"` is what happened.

By convention the inputs a and c belong to the port A, b and d to B; the outputs x and z to the port P, y and w to Q.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from otf.core import Limits, Model, Monitor, Oracle, Relation, Routes
from otf.spec import Accept, Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Verdict

PORTS: Final[Mapping[str, str]] = {"a": "A", "c": "A", "b": "B", "d": "B", "x": "P", "z": "P", "y": "Q", "w": "Q"}
ROUTES: Final = Routes(("P", "Q"), PORTS.__getitem__)
QUIET: Final = Quiet(0)
_ARROW = re.compile(r"(\w+) -(\w*)(?:/([\w ]*))?-> (\w+)")


def machine(*arrows: str) -> Spec[str, str]:
    """Return the spec of these transitions, the first from the initial state.

    `s0 -a/x y-> s1` gives x and y on the input a, `s0 -/z-> s1` gives z unasked, `s0 --> s1` is an internal step.
    """
    found = [_arrow(arrow) for arrow in arrows]
    inputs = dict.fromkeys(inp for _, inp, _ in found if inp)
    emits = any(not inp for _, inp, _ in found)

    def step(state: str, inp: str) -> Iterable[Transition[str]]:
        return [move for source, what, move in found if (source, what) == (state, inp)]

    return Spec(step, found[0][0], list(inputs), (lambda state: step(state, "")) if emits else None, name="machine")


def _arrow(text: str) -> tuple[str, str, Transition[str]]:
    parts = _ARROW.fullmatch(text)
    assert parts is not None, text
    source, inp, outputs, target = parts.groups(default="")
    return source, inp, goto(target, *outputs.split())


def oracle(
    spec: Spec[Any, Any], *, relation: Relation = "uioco", routes: Routes = ROUTES, limits: Limits | None = None
) -> Oracle:
    """Return an oracle for a spec on the ports of the convention."""
    return Oracle(Model(spec, routes), relation, limits or Limits())


def events(*script: str | Event) -> Iterator[Event]:
    """Yield the events of a script of words and events; `taken` means all inputs so far, `taken2` the first two."""
    sent = 0
    for part in script:
        for event in map(_event, part.split()) if isinstance(part, str) else (part,):
            sent += isinstance(event, Sent)
            yield Taken(sent, event.at) if isinstance(event, Taken) and event.upto < 0 else event


def _event(word: str) -> Event:
    value, kind = word[:-1], word[-1]
    if kind == "?":
        return Sent(value, PORTS.get(value, "A"), 0)
    if kind == "!":
        return Seen(value, PORTS.get(value, "P"), 0)
    if word.startswith("taken"):
        return Taken(int(word.removeprefix("taken") or -1), 0)
    assert word == "quiet", word
    return QUIET


def seen(output: object, port: str = "P") -> Event:
    """Return the event of an output that is not a word."""
    return Seen(output, port, 0)


def told(judge: Oracle | Spec[Any, Any], *script: str | Event) -> Monitor:
    """Return a monitor that was told a script."""
    monitor = Monitor(judge if isinstance(judge, Oracle) else oracle(judge))
    for event in events(*script):
        monitor.tell(event)
    return monitor


def run(judge: Oracle | Spec[Any, Any], *script: str | Event) -> Verdict:
    """Return the verdict on a run that is over."""
    return told(judge, *script).end()


def outcome(judge: Oracle | Spec[Any, Any], *script: str | Event) -> str:
    """Return the verdict on a run in a word or two: pass, truncated, inconclusive, fail: wrong …."""
    verdict = run(judge, *script)
    if verdict.failure is not None:
        return f"fail: {verdict.failure.kind}"
    return "truncated" if verdict.truncated else verdict.outcome


def states(judge: Oracle | Spec[Any, Any], *script: str | Event) -> set[object]:
    """Return the states that are possible after a script."""
    return {node.value for node in told(judge, *script).states}


def once(*outputs: object) -> Spec[str, str]:
    """Return the spec that gives these outputs on the first a, and says nothing else."""
    return spec_of(goto("done", *outputs))


def spec_of(*ways: Transition[Any] | Accept) -> Spec[Any, str]:
    """Return the spec in which these are what may happen on a first a; later ones are ignored."""

    def step(state: object, inp: str) -> Iterable[Transition[Any] | Accept]:
        return ways if state == "new" and inp == "a" else [goto(state)]

    return Spec(step, "new", ["a", "b"])
