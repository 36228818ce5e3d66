"""A path as data for the viewer: each event with its step, bytes and windows, what was allowed, the possible states.

The data is JSON: rows for the events, and tables for what recurs (states, values, sets of states, what was allowed). A
row refers to a table's entry by number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import msgspec

from otf.core import Model, Monitor, Node, Oracle
from otf.core.belief import Belief, FailedStep
from otf.core.deadlines import dues, named_timers
from otf.core.expectations import Chain, Exact
from otf.core.failure import allowed
from otf.core.timing import FOREVER, Clock, Span
from otf.offline import Judgement
from otf.report.markup import NumberedEntries
from otf.trace.events import GUESSED, Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.near import NearestOutput, alternatives, branches, nearest
from otf.trace.reading import TracedEvent
from otf.trace.texts import Output, message_text
from otf.trace.title import brief_difference
from otf.trace.verdict import WORDS, Failure
from otf.values import show
from otf.values.text import plain

EVENTS: Final = 5_000  # the last ones of a path, since a failure is at the end
STATES: Final = 20  # of a set of possible states
FIELDS: Final = 40  # of a value, and the elements of a field
BYTES: Final = 512  # of a frame
WINDOWS: Final = 12  # open after one event
GHOSTS: Final = 4  # outputs drawn as expected

ViewData: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ViewedEvent:
    """An event of a path, with the number of its step, and with what the oracle knew before and after the event."""

    traced: TracedEvent
    number: int
    belief: Belief | None = None
    step: FailedStep | None = None
    spans: tuple[Span, ...] = ()
    failed: bool = False


class PathView:
    """Collects a path for the viewer while otf judges it: `event` gets each event, and the monitor after the event.

    Only `data` asks the model: judging a path has bounded time.
    """

    def __init__(self) -> None:
        self._events: deque[ViewedEvent] = deque(maxlen=EVENTS)
        self._count = 0
        self._oracle: Oracle | None = None

    def event(self, traced: TracedEvent, monitor: Monitor) -> None:
        """Add an event."""
        failure = monitor.verdict.failure if monitor.verdict is not None else None
        failed = failure is not None and failure.event == monitor.events
        self._count += 1
        self._oracle = monitor.oracle
        if failure is not None and not failed:
            self._events.append(ViewedEvent(traced, monitor.sent))
            return
        number = monitor.sent if failure is None else failure.step
        # the monitor adds to its step, so copy the step as it is now
        step = FailedStep(monitor.step.before, [*monitor.step.inputs], [], earlier=monitor.step.earlier)
        spans = tuple(each.span for each in monitor.ledger.inputs)
        self._events.append(ViewedEvent(traced, number, monitor.belief, step, spans, failed))

    def data(self, judgement: Judgement, aftermath: Sequence[TracedEvent] = ()) -> ViewData:
        """Return the path as data; `aftermath` came after the failure and was not judged."""
        tables = PathTables(self._oracle)
        rows = [tables.row(each) for each in self._events]
        rows += [{**tables.row(ViewedEvent(each, judgement.steps)), "after": True} for each in aftermath]
        verdict = judgement.verdict
        return {
            "verdict": verdict.outcome,
            "why": plain(verdict.why),
            "steps": judgement.steps,
            "earlier": self._count - len(self._events),
            "events": rows,
            "failure": None if verdict.failure is None else _failure(verdict.failure, tables.ports),
            **tables.data(),
        }


class PathTables:
    """The data of a path for the viewer: tables, and rows, which must be made in the order of the events."""

    def __init__(self, oracle: Oracle | None) -> None:
        self._oracle = oracle
        self._states, self._sets = NumberedEntries(), NumberedEntries()
        self._values, self._allowed = NumberedEntries(), NumberedEntries()
        self._numbers: dict[Node, int] = {}
        self._known: dict[object, int] = {}
        self._last = self._allowed.number([])
        self.ports: dict[str, str] = {}

    def data(self) -> ViewData:
        """Return the tables."""
        tables = {"states": self._states, "sets": self._sets, "values": self._values, "allowed": self._allowed}
        return {name: table.entries for name, table in tables.items()}

    def row(self, viewed: ViewedEvent) -> ViewData:
        """Return the row of an event, without its empty fields."""
        event, raw, belief = viewed.traced.event, viewed.traced.raw, viewed.belief
        more = {
            "raw": raw[:BYTES].hex() if raw else "",
            "size": len(raw) if raw else 0,
            "slack": round(viewed.traced.slack, 6),
            "settled": belief is not None and belief.settled and not viewed.failed,
            "windows": [*self._windows(viewed)],
            "failed": viewed.failed,
        }
        return {
            **self._described(event),
            "step": viewed.number,
            "at": round(event.at, 6),
            "states": self._set(() if belief is None else belief.nodes),
            "allowed": self._allows(viewed),
            **{key: each for key, each in more.items() if each},
        }

    def _described(self, event: Event) -> ViewData:  # noqa: PLR0911 -- one for each kind of event
        match event:
            case Sent(value, port):
                return {"kind": "sent", "port": plain(port), "value": self._values.number(value_data(value))}
            case Seen(value, port):
                return {"kind": "seen", "port": plain(port), "value": self._values.number(value_data(value))}
            case Closed(port, reason):
                return {"kind": "closed", "port": plain(port), "text": plain(f"the port ended: {reason}")}
            case Taken(upto):
                return {"kind": "taken", "text": f"taken up to input {upto}"}
            case Stalled(seconds):
                return {
                    "kind": "stalled",
                    "text": f"the machine stalled for {seconds:.3f} s",
                    "seconds": round(seconds, 6),
                }
            case Guess():
                return {"kind": "guess", "text": GUESSED}
            case Quiet(by=by):
                return {"kind": "quiet", "by": by, "restless": event.restless}

    def _set(self, nodes: tuple[Node, ...]) -> int:
        for node in nodes[:STATES]:
            if node not in self._numbers:
                self._numbers[node] = self._states.number(value_data(node.value))
        return self._sets.number(
            {"states": [self._numbers[node] for node in nodes[:STATES]], "more": max(0, len(nodes) - STATES)}
        )

    def _allows(self, viewed: ViewedEvent) -> int:
        """Return the number of what the step allows; silence does not change that."""
        if viewed.step is None or self._oracle is None:
            return self._allowed.number([])
        if viewed.failed or isinstance(viewed.traced.event, (Sent, Seen)):
            model, step = self._oracle.model, viewed.step
            timers = tuple(named_timers(step.before, step.earlier).items())
            name = step.before.nodes, tuple(model.symbol(each.input) for each in step.inputs), timers
            if name not in self._known:
                entry = [
                    {"state": each.state, "branches": each.branches[:FIELDS]}
                    | ({"timers": each.timers} if each.timers else {})
                    for each in allowed(model, step)
                ]
                self._known[name] = self._allowed.number(entry)
            self._last = self._known[name]
        if viewed.failed:
            self.ports = _ports(self._oracle.model, viewed.step)
        return self._last

    def _windows(self, viewed: ViewedEvent) -> Iterator[ViewData]:
        """Yield the windows in which outputs are due after an event."""
        if viewed.belief is None or self._oracle is None or not self._oracle.model.timed:
            return
        timing, model = self._oracle.timing, self._oracle.model
        clock = Clock(viewed.traced.event.at, timing.latency, timing.busy, viewed.spans)
        found = dict.fromkeys(due[:3] for due in dues(model, viewed.belief.hypotheses, clock))
        for port, window, since in islice(found, WINDOWS):
            if window.trigger.b + window.hi < FOREVER:
                yield {
                    "port": plain(port),
                    "lo": window.lo,
                    "hi": window.hi,
                    "since": plain(since),
                    "from": round(max(0.0, window.trigger.a + window.lo), 6),
                    "to": round(window.trigger.b + window.hi, 6),
                }


def value_data(value: object) -> ViewData:
    """Return a value as text, its type, and its parts: each a name with a text, or with the texts of its elements.

    >>> value_data((1, 2))
    {'text': '(1, 2)', 'type': 'tuple', 'parts': [('', ['1', '2'])]}
    """
    try:
        parts = [(plain(name), _body(part)) for name, part in _parts(value)]
    except Exception:  # noqa: BLE001 -- a broken attribute of a user's class must not hide the path to show
        parts = [("", show(value))]
    return {"text": message_text(value), "type": plain(type(value).__name__), "parts": parts}


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        items = [*cast("Mapping[object, object]", value).items()]
        return [(show(key), part) for key, part in items[:FIELDS]]
    names = _field_names(value)
    return [("", value)] if names is None else [(name, getattr(value, name)) for name in names[:FIELDS]]


def _field_names(value: object) -> Sequence[str] | None:
    if is_dataclass(value) and not isinstance(value, type):
        return [each.name for each in fields(value)]
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    names = getattr(cast("object", value), "_fields", None) if isinstance(value, tuple) else None
    return cast("tuple[str, ...]", names) if isinstance(names, tuple) else None


def _body(value: object) -> str | list[str]:
    whole = value  # of which no type checker narrows the type
    if isinstance(value, Mapping):
        texts = [f"{show(key)}: {show(part)}" for key, part in cast("Mapping[object, object]", value).items()]
    elif isinstance(value, (tuple, list)) and _field_names(cast("object", value)) is None:
        texts = [show(each) for each in cast("Sequence[object]", value)]
    elif isinstance(value, (set, frozenset)):
        texts = sorted(show(each) for each in cast("set[object]", value))
    else:
        return show(whole)
    return texts if len(texts) <= FIELDS else [*texts[:FIELDS], f"… {len(texts) - FIELDS} more"]


def _ports(model: Model, step: FailedStep) -> dict[str, str]:
    """Return the ports of the outputs that a step allows, by their texts; a test of outputs goes by its port's name."""
    inputs = [model.symbol(each.input) for each in step.inputs]
    nodes = step.before.nodes[:STATES]
    taken = [move for node in nodes for inp in inputs for move in model.moves(node, inp)]
    spontaneous = [move for node in nodes for move in model.spontaneous(node)]
    emitted = [each for move in [*taken, *spontaneous] for each in move.emitted]
    values = [(text, port) for port, chain in emitted for text in _values(chain)]
    return {**{port: port for move in [*taken, *spontaneous] for port in move.ports}, **dict(values)}


def _values(chain: Chain | None) -> Iterator[str]:
    while chain is not None:
        yield from (show(each.symbol.value) for each in chain.bag.expectations if isinstance(each, Exact))
        chain = chain.then


def _failure(failure: Failure, ports: dict[str, str]) -> ViewData:
    near, likely = _expected(failure)
    # if all outputs of the step have the same port, a text need not name it
    port = next(iter(ports.values())) if len({*ports.values()}) == 1 else ""
    return {
        "kind": failure.kind,
        "step": failure.step,
        "says": WORDS[failure.kind],
        "seen": failure.seen,
        "port": plain(failure.port),
        "before": failure.before,
        "together": failure.together,
        "note": "\n".join(map(plain, failure.note.splitlines())),
        "times": failure.times,
        "brief": brief_difference(failure),
        "expected": [
            {"text": each.text, "port": plain(each.port or port or ports.get(each.text, ""))}
            for each in likely[:GHOSTS]
        ],
        "all": failure.kind == "missing" and len([*branches(failure)]) == 1,
        "differences": [each._asdict() for each in near.differences] if near is not None else [],
    }


def _expected(failure: Failure) -> tuple[NearestOutput | None, list[Output]]:
    """Return the outputs that would have been right; if one is nearest, only that, with its differences."""
    if failure.kind in {"late", "early"}:
        return None, [Output(f"{failure.seen}, {'sooner' if failure.kind == 'late' else 'later'}", failure.port)]
    others = alternatives(failure)
    near = nearest(failure, others)
    return near, [near.output] if near is not None else others
