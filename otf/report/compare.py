"""Two traces side by side: the conditions of their recording, and the first event at which they part."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from otf.core import Monitor, Node
from otf.explore.naming import output_name
from otf.report.markup import Markup, framed, joined, own, scrolled, tag
from otf.report.times import ResponseDrift
from otf.trace.drawn_names import numbered
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.record import Header
from otf.trace.result import counted
from otf.trace.title import title
from otf.trace.verdict import Verdict
from otf.values import show

BEFORE: Final = 6  # common events to show before the first difference
AFTER: Final = 12  # events of each trace to show from there on
STATES: Final = 8  # possible states to show
ENDED: Final = 3  # events of the longer trace to show, if the other ends there
END: Final = "the trace ends"
MARK: Final = "otf report of a comparison"
# fields that always differ, or say nothing about the conditions
_LEFT_OUT: Final = frozenset({"run", "format", "minimal", "ended", "parameters", "versions"})
_NAMES: Final = {"latency": "L", "busy": "R", "fingerprint": "model"}


class ConditionPair(NamedTuple):
    """A condition in which two runs differ, with its values as texts; "" if a run has none."""

    what: str
    a: str
    b: str


class TraceRow(NamedTuple):
    """Two events side by side; "" where a trace has none. `mark` is `=` for the same event, else `|`, `<` or `>`."""

    mark: str
    a: str
    b: str


@dataclass(slots=True)
class ComparedTrace:
    """One of the two traces: its events in comparable form, with the states possible after each.

    Call `take` for each event of a judgement, and `done` at its end.
    """

    name: str
    header: Header
    outcome: str = ""
    steps: int = 0
    texts: list[str] = field(default_factory=list[str])
    keys: list[Hashable] = field(default_factory=list[Hashable])
    states: list[tuple[Node, ...]] = field(default_factory=list[tuple[Node, ...]])
    sent: list[int] = field(default_factory=list[int])

    def take(self, event: Event, monitor: Monitor) -> None:
        """Add an event, unless it only says that inputs were taken, which depends on timing."""
        described = _described(event)
        if described is not None:
            self.texts.append(described[0])
            self.keys.append(described[1])
            self.states.append(monitor.states)
            self.sent.append(monitor.sent)

    def done(self, verdict: Verdict, steps: int) -> None:
        """Note the verdict, with the title of a failure."""
        self.steps = steps
        self.outcome = f"fail ({title(verdict.failure)})" if verdict.failure else verdict.outcome

    def quieted(self, *, silences: bool) -> ComparedTrace:
        """Return the trace without its silences, unless they are compared; names that the system drew are equal."""
        kept = [at for at, text in enumerate(self.texts) if silences or text != "quiet"]
        names = numbered(self.texts)
        return replace(
            self,
            texts=[self.texts[at] for at in kept],
            keys=[self.keys[at] if names[at] == self.texts[at] else names[at] for at in kept],
            states=[self.states[at] for at in kept],
            sent=[self.sent[at] for at in kept],
        )

    def possible(self, event: int) -> list[str]:
        """Return the states that were possible before an event."""
        nodes = self.states[event - 1] if event else ()
        shown = sorted(show(node.value) for node in nodes)
        return shown if len(shown) <= STATES else [*shown[:STATES], f"… and {len(shown) - STATES} more"]


def _described(event: Event) -> tuple[str, Hashable] | None:
    match event:
        case Sent(value, port):
            return f"-> {show(value)}", ("sent", port, output_name(value))
        case Seen(value, port):
            return f"<- {show(value)}", ("seen", port, output_name(value))
        case Closed(port, reason):
            return f"<- the port {port} ended: {reason}", ("closed", port, reason)
        case Quiet():
            return "quiet", "quiet"
        case _:
            return None


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """The result: `event` is the number of the first different event, None if there is none; `step` is its step.

    `states_a` and `states_b` are the states possible before it. Only two runs in strict mode compare `silences`.
    """

    a: ComparedTrace
    b: ComparedTrace
    silences: bool
    event: int | None
    step: int
    rows: Sequence[TraceRow]
    states_a: Sequence[str]
    states_b: Sequence[str]

    def data(self) -> dict[str, Any]:
        """Return the comparison as JSON data."""
        sides = {
            each: {"trace": side.name, "verdict": side.outcome, "steps": side.steps}
            for each, side in (("a", self.a), ("b", self.b))
        }
        parts = {"event": self.event, "step": self.step, "states_a": self.states_a, "states_b": self.states_b}
        return {
            **sides,
            "silences": self.silences,
            "parts": None if self.event is None else parts,
            "events": [row._asdict() for row in self.rows],
        }


def compared(a: ComparedTrace, b: ComparedTrace) -> TraceComparison:
    """Return where two traces first differ, and the rows around that event."""
    silences = a.header.mode == b.header.mode == "strict"
    a, b = a.quieted(silences=silences), b.quieted(silences=silences)
    pairs = enumerate(zip(a.keys, b.keys, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(a.keys), len(b.keys)))
    parts = same < max(len(a.keys), len(b.keys))
    longer = a if len(a.keys) > same else b
    return TraceComparison(
        a,
        b,
        silences,
        same + 1 if parts else None,
        longer.sent[same] if parts else a.steps,
        list(_rows(a, b, same)),
        a.possible(same) if parts else [],
        b.possible(same) if parts else [],
    )


def conditions(a: Header, b: Header) -> list[ConditionPair]:
    """Return the conditions in which two runs differ; parameters and versions one by one.

    >>> from dataclasses import replace
    >>> header = Header("1", "coffee", {"fault": "none"}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> conditions(header, replace(header, parameters={"fault": "free"}, seed=7))
    [ConditionPair(what='parameter fault', a='none', b='free'), ConditionPair(what='seed', a='0', b='7')]
    """
    one, other = _flat(a), _flat(b)
    names = dict.fromkeys([*one, *other])
    pairs = (ConditionPair(name, one.get(name, ""), other.get(name, "")) for name in names)
    return [pair for pair in pairs if pair.a != pair.b]


def _flat(header: Header) -> dict[str, str]:
    found = {f"parameter {key}": _text(value) for key, value in header.parameters.items()}
    found |= {f"version of {key}": _text(value) for key, value in header.versions.items()}
    own = {key: value for key, value in asdict(header).items() if key not in _LEFT_OUT}
    return found | {_NAMES.get(key, key): _text(value) for key, value in own.items()}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else show(value)


def _rows(a: ComparedTrace, b: ComparedTrace, same: int) -> Iterator[TraceRow]:
    """Yield the last common events, then those after them, with equal ones side by side."""
    before = slice(max(0, same - BEFORE), same)
    yield from (TraceRow("=", *each) for each in zip(a.texts[before], b.texts[before], strict=True))
    ends = [side.texts[same] if same < len(side.texts) else f"{END}: {side.outcome}" for side in (a, b)]
    if same < max(len(a.keys), len(b.keys)):
        yield TraceRow("|", *ends)
    same += 1
    # once a trace has ended, there is nothing to compare with
    upto = same + (AFTER if same <= min(len(a.keys), len(b.keys)) else ENDED)
    matcher = SequenceMatcher(None, a.keys[same:upto], b.keys[same:upto], autojunk=False)
    for _, first, last, begin, end in matcher.get_opcodes():
        one, other = a.texts[same + first : same + last], b.texts[same + begin : same + end]
        for left, right in zip_longest(one, other, fillvalue=""):
            yield TraceRow("=" if left == right else "<" if not right else ">" if not left else "|", left, right)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two traces or campaigns, by name; for campaigns also their `figures`, the paths of each kind, and times.

    `traces` is None if no two paths with the same number part.
    """

    a: str
    b: str
    traces: TraceComparison | None
    conditions: Sequence[ConditionPair]
    figures: Sequence[ConditionPair] = ()
    kinds: Sequence[ConditionPair] = ()
    times: Sequence[ResponseDrift] = ()

    def data(self) -> dict[str, Any]:
        """Return the comparison as JSON data."""
        lists: dict[str, Sequence[ConditionPair] | Sequence[ResponseDrift]] = {
            "conditions": self.conditions,
            "figures": self.figures,
            "kinds": self.kinds,
            "times": self.times,
        }
        return {
            "a": self.a,
            "b": self.b,
            **{name: [each._asdict() for each in pairs] for name, pairs in lists.items()},
            "traces": None if self.traces is None else self.traces.data(),
        }


def comparison_page(found: Comparison) -> str:
    """Return a page with two traces or campaigns side by side."""
    top = tag(
        "header",
        tag("a", "to the content", href="#content", class_="skip"),
        tag("h1", "otf compare"),
        tag("p", "A: ", tag("code", found.a)),
        tag("p", "B: ", tag("code", found.b)),
        tag("nav", tag("button", "light or dark", id="theme", type="button")),
    )
    titles: dict[str, Sequence[Sequence[str]]] = {
        "Figures": found.figures,
        "Paths of each kind of failure": found.kinds,
        "Conditions": found.conditions,
        "Response times": found.times,
    }
    sides = (_head(found.a), _head(found.b)) if _head(found.a) != _head(found.b) else ("A", "B")
    more = {"Response times": ("drift",), "Figures": ("difference",)}
    rows = {title: pairs for title, pairs in titles.items() if pairs}
    if found.figures:
        rows["Figures"] = [(*pair, difference(pair.a, pair.b)) for pair in found.figures]
    parts = [
        part
        for title, pairs in rows.items()
        for part in (tag("h2", title), _table(title, ("what", *sides, *more.get(title, ())), pairs))
    ]
    if not found.conditions:
        parts.append(tag("p", "They were recorded under the same conditions."))
    events = (
        _events(found.traces, sides, other_seed=seeds_differ(found.conditions), campaigns=bool(found.figures))
        if found.traces
        else tag("p", "No two paths of the same number part.")
    )
    main = tag("main", *parts, tag("h2", "Events"), events, id="content")
    return framed("otf compare", own("page.css") + own("states.css"), own("page.js"), top, main, mark=MARK)


def _head(name: str) -> str:
    return Path(name).name or name


def difference(a: str, b: str) -> str:
    """Return by how much a figure differs, in per cent of the first; "" if they are not such numbers.

    >>> difference("200", "1,000"), difference("4 of 4", "3 of 4"), difference("pass", "fail")
    ('+400 %', '-25 %', '')
    """
    if a == b:
        return "the same"
    numbers = [each.replace(",", "").partition(" of ")[0] for each in (a, b)]
    if not all(each.isdecimal() for each in numbers):
        return ""
    before, after = map(int, numbers)
    return f"{100 * (after - before) / before:+.0f} %" if before else ""


def seeds_differ(conditions: Sequence[ConditionPair]) -> bool:
    """Return whether the seeds differ: then so do all inputs, and the events say nothing more."""
    return any(each.what == "seed" for each in conditions)


def _events(found: TraceComparison, heads: Sequence[str], *, other_seed: bool, campaigns: bool) -> Markup:
    sides = [(side.name, side.outcome, counted(side.steps, "step")) for side in (found.a, found.b)]
    states = ("possible before it", "\n".join(found.states_a), "\n".join(found.states_b))
    traces = _table("traces", ["trace", "verdict", "size"], sides)
    parted = tag("p", parting(found, other_seed=other_seed))
    if other_seed and campaigns:
        return joined(traces, parted)
    return joined(
        traces,
        parted,
        _table("possible states", ("states", *heads), [states] if found.event is not None else []),
        _table("events", ("same or not", *heads), [(row.mark, row.a, row.b) for row in found.rows]),
    )


def parting(found: TraceComparison, *, other_seed: bool = False) -> str:
    """Return in a sentence where two traces first differ."""
    if other_seed:
        return "Their seeds differ, so they send other inputs: where they part says nothing about the systems."
    silences = "" if found.silences else " Silences are not compared: they depend on timing."
    at = (
        "All events are the same."
        if found.event is None
        else f"They part at event {found.event}, in step {found.step}."
    )
    return at + silences


def _table(label: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    body = [
        tag("tr", *(tag("td", tag("code", each)) for each in row), class_="differs" if row[0] in set("<>|") else None)
        for row in rows
    ]
    # figures take the room that they need; events stand side by side
    kind = "wide figures" if heads[0] == "what" else "wide compared"
    return scrolled(label, tag("table", tag("thead", head), tag("tbody", *body)), class_=kind)
