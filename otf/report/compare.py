"""Two traces side by side: the conditions of their recording, and the first event at which they part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from otf.core import Monitor, Node
from otf.explore.naming import output_name
from otf.report.aligned import AlignedEvents, ConditionPair, EventList, TraceRow, aligned
from otf.report.times import ResponseDrift
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.record import Header
from otf.trace.result import counted
from otf.trace.title import title
from otf.trace.verdict import Verdict
from otf.values import show

STATES: Final = 8  # possible states to show
END: Final = "the trace ends"
KNOWN: Final = "known issues"
VERDICT: Final = "verdict"
SHORT: Final = 40  # columns for the name of a path: that of a folder that `otf run` names has room
Sides: TypeAlias = tuple[str, str]
# fields that always differ, or say nothing about the conditions
_LEFT_OUT: Final = frozenset({"run", "format", "minimal", "ended", "parameters", "versions"})
_NAMES: Final = {"latency": "L", "busy": "R", "fingerprint": "model"}


@dataclass(slots=True)
class ComparedTrace:
    """One of two compared traces: its events in comparable form, with the possible states after each.

    While otf judges the trace, call `take` for each event, and `done` at the end. `wrong` is the event at which the
    trace failed; -1 if it did not.
    """

    name: str
    header: Header
    outcome: str = ""
    steps: int = 0
    texts: list[str] = field(default_factory=list[str])
    keys: list[Hashable] = field(default_factory=list[Hashable])
    states: list[tuple[Node, ...]] = field(default_factory=list[tuple[Node, ...]])
    sent: list[int] = field(default_factory=list[int])
    wrong: int = -1
    _taken: list[bool] = field(default_factory=list[bool])

    def take(self, event: Event, monitor: Monitor) -> None:
        """Add an event, unless it only says that inputs were taken, which depends on timing."""
        self._taken.append(_described(event) is not None)
        described = _described(event)
        if described is not None:
            self.texts.append(described[0])
            self.keys.append(described[1])
            self.states.append(monitor.states)
            self.sent.append(monitor.sent)

    def done(self, verdict: Verdict, steps: int) -> None:
        """Note the verdict, with the title of a failure."""
        self.steps = steps
        self.outcome = verdict.outcome
        if verdict.failure is not None:
            self.outcome = f"fail ({title(verdict.failure)})"
            *_, told = self._taken[: verdict.failure.event] or [False]
            self.wrong = sum(self._taken[: verdict.failure.event]) - 1 if told else -1

    def quieted(self, *, silences: bool) -> ComparedTrace:
        """Return the trace without its silences, unless they are compared."""
        kept = [at for at, text in enumerate(self.texts) if silences or text != "quiet"]
        return replace(
            self,
            texts=[self.texts[at] for at in kept],
            keys=[self.keys[at] for at in kept],
            states=[self.states[at] for at in kept],
            sent=[self.sent[at] for at in kept],
            wrong=kept.index(self.wrong) if self.wrong in kept else -1,
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
    """Where two traces differ: `step` is that of the first different event. Only strict runs compare `silences`."""

    a: ComparedTrace
    b: ComparedTrace
    silences: bool
    step: int
    events: AlignedEvents

    @property
    def event(self) -> int | None:
        """Return the number of the first different event."""
        return None if self.events.parting is None else self.events.parting + 1

    @property
    def rows(self) -> list[TraceRow]:
        """Return the events around the differences, side by side."""
        ended = self.b if len(self.a.keys) > len(self.b.keys) else self.a
        return [*self.events.shown(f"{END}: {ended.outcome}")]

    @property
    def states(self) -> tuple[list[str], list[str]]:
        """Return the states that were possible in both before the first different event."""
        at = self.events.parting
        return ([], []) if at is None else (self.a.possible(at), self.b.possible(at))

    @property
    def _earlier(self) -> tuple[int, int]:
        """Return by how many events each ends earlier, if it is the beginning of the other."""
        rest = () if self.event is None or self.events.uncompared else self.events.rows[self.event - 1 :]
        marks = {mark for mark, *_ in rest}
        return (len(rest) if marks == {">"} else 0, len(rest) if marks == {"<"} else 0)

    def tally(self, names: Sequence[str] = ("A", "B")) -> str:
        """Return how many events differ, in words."""
        counts = self.events.counts
        drawn = ", {:,} but for words that the system may draw (ids, ports)".format(counts["drawn"])
        same = f"{counts['same'] + counts['drawn']:,} the same{drawn * bool(counts['drawn'])}"
        if self.event is None:
            return f"no difference: {same}"
        for name, ends in zip(names, self._earlier, strict=True):
            if ends:
                return f"they differ: {name} ends {counted(ends, 'event')} earlier; {same}"
        only = f"{counts['only_a']:,} only in {names[0]}, {counts['only_b']:,} only in {names[1]}"
        more = f", {counts['uncompared']:,} not compared" * bool(counts["uncompared"])
        return f"they differ: {counted(counts['changed'], 'event')} replaced, {only}{more}; {same}"

    def data(self) -> dict[str, Any]:
        """Return the comparison as JSON data."""
        sides = {
            each: {"trace": side.name, "verdict": side.outcome, "steps": side.steps}
            for each, side in (("a", self.a), ("b", self.b))
        }
        states_a, states_b = self.states
        parts = {"event": self.event, "step": self.step, "states_a": states_a, "states_b": states_b}
        rows = [{**row._asdict(), "fields": [each._asdict() for each in row.fields]} for row in self.rows]
        return {
            **sides,
            "silences": self.silences,
            "counts": self.events.counts,
            "parts": None if self.event is None else parts,
            "events": rows,
        }


def compared(a: ComparedTrace, b: ComparedTrace) -> TraceComparison:
    """Compare two traces event by event, and return where they differ."""
    silences = a.header.mode == b.header.mode == "strict"
    a, b = a.quieted(silences=silences), b.quieted(silences=silences)
    wrong = (-1, -1) if min(a.wrong, b.wrong) >= 0 else (a.wrong, b.wrong)
    events = aligned(EventList(a.texts, a.keys), EventList(b.texts, b.keys), wrong)
    at, longer = events.parting, a if len(a.keys) > len(b.keys) else b
    return TraceComparison(a, b, silences, a.steps if at is None else longer.sent[at], events)


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two compared traces or campaigns, by name; for campaigns also their `figures`, the paths of each kind, and times.

    `traces` compares two traces, or two paths with the same number that differ; None if no such paths differ.
    `otherwise` says how many pairs of such paths have different verdicts or failures, and of how many pairs.
    """

    a: str
    b: str
    traces: TraceComparison | None
    conditions: Sequence[ConditionPair]
    figures: Sequence[ConditionPair] = ()
    kinds: Sequence[ConditionPair] = ()
    times: Sequence[ResponseDrift] = ()
    otherwise: tuple[int, int] = (0, 0)

    @property
    def differ(self) -> bool:
        """Return whether the runs went differently; different conditions and times do not count.

        Campaigns with different seeds send other inputs, so their paths and the numbers of failed paths do not count.
        """
        if self.figures and seeds_differ(self.conditions):
            return bool(self.decisive) or any("0" in (pair.a, pair.b) for pair in self.kinds)
        parted = self.traces is not None and self.traces.event is not None
        return parted or bool(self.decisive) or any(pair.a != pair.b for pair in self.kinds)

    @property
    def decisive(self) -> list[ConditionPair]:
        """Return the figures that count: another verdict and, if the seeds are the same, less visited in B."""
        verdict = [each for each in self.figures if each.what == VERDICT and _ruled_otherwise(each)]
        # with other seeds, chance decides how much is visited
        return verdict if seeds_differ(self.conditions) else [*verdict, *filter(_shrank, self.figures)]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many kinds of failure only one of two campaigns has, or both, and how many paths end otherwise."""
        sides = {(True, True): "both", (True, False): "only_a", (False, True): "only_b"}
        alone = Counter(sides[pair.a != "0", pair.b != "0"] for pair in self.kinds)
        other, both = self.otherwise
        return {**{f"kinds_{name}": alone[name] for name in sides.values()}, "paths_both": both, "paths_other": other}

    def headline(self, names: Sequence[str] = ("A", "B")) -> str:
        """Return the result in a sentence."""
        if not self.figures:
            return self.traces.tally(names) if self.traces else ""
        found = self.counts
        told = f"{counted(found['kinds_only_a'], 'kind')} of failure only in {names[0]}, "
        told += f"{found['kinds_only_b']:,} only in {names[1]}, {found['kinds_both']:,} in both"
        if not seeds_differ(self.conditions):
            of = counted(found["paths_both"], "path")
            told += f"; {found['paths_other']:,} of {of} of the same number end otherwise"
        issues = [pair for pair in self.figures if pair.what == KNOWN and (pair.a, pair.b) != ("0", "0")]
        told += "".join(f"; known issues: {pair.a} in {names[0]}, {pair.b} in {names[1]}" for pair in issues)
        told += "".join(f"; {each.what}: {each.a} in {names[0]}, {each.b} in {names[1]}" for each in self.decisive)
        alike = "the verdicts and the kinds of failure agree"  # other figures may differ by chance
        same = "no difference" if all(pair.a == pair.b for pair in self.figures) else alike
        return f"{'they differ' if self.differ else same}: {told}"

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
            "differ": self.differ,
            "counts": self.counts if self.figures else None,
            **{name: [each._asdict() for each in pairs] for name, pairs in lists.items()},
            "traces": None if self.traces is None else self.traces.data(),
        }


def _ruled_otherwise(pair: ConditionPair) -> bool:
    """Return whether two verdicts differ; the number of known issues is a matter of chance."""
    return pair.a.partition(",")[0] != pair.b.partition(",")[0]


def _shrank(pair: ConditionPair) -> bool:
    """Return whether B visited less of the same known whole."""
    a, b = (re.match(r"([\d,]+) of ([\d,]+)", each) for each in (pair.a, pair.b))
    return a is not None and b is not None and a[2] == b[2] and difference(a[1], b[1]).startswith("-")


def difference(a: str, b: str) -> str:
    """Return by how much two figures differ, in per cent of the first unless that is 0; "differs" without numbers.

    >>> difference("200", "1,000"), difference("4 of 4", "3 of 4"), difference("0", "2"), difference("pass", "fail")
    ('+400 %', '-25 %', '+2', 'differs')
    """
    if a == b:
        return "the same"
    numbers = [each.replace(",", "").partition(" of ")[0] for each in (a, b)]
    if not all(each.isdecimal() for each in numbers):
        return "differs"
    before, after = map(int, numbers)
    return f"{100 * (after - before) / before:+.0f} %" if before else f"{after:+,}"


def sides(a: str, b: str) -> Sides:
    """Return short names for two paths: the parts in which they differ, or A and B if these are long.

    >>> sides("old/path-0001.jsonl", "new/path-0001.jsonl"), sides("runs/one", "/other/two"), sides("x" * 50, "y")
    (('old', 'new'), ('one', 'two'), ('A', 'B'))
    """
    one, other = list(Path(a).parts), list(Path(b).parts)
    for end in (0, -1):
        while len(one) > 1 and len(other) > 1 and one[end] == other[end]:
            one.pop(end)
            other.pop(end)
    for names in ((str(Path(*one)), str(Path(*other))), (Path(*one).name, Path(*other).name)):
        if names[0] != names[1] and all(0 < len(name) <= SHORT and name[0] != "/" for name in names):
            return names
    return "A", "B"


def seeds_differ(conditions: Sequence[ConditionPair]) -> bool:
    """Return whether the seeds differ: then so do all inputs, and the events say nothing more."""
    return any(each.what == "seed" for each in conditions)


def parting(found: TraceComparison, *, other_seed: bool = False) -> str:
    """Return in a sentence where two traces first differ."""
    if other_seed:
        return "Their seeds differ, so they send other inputs: where they part says nothing about the systems."
    silences = "" if found.silences else " Silences are not compared: they depend on timing."
    at = (
        f"All events are the same{', but for such words' * bool(found.events.counts['drawn'])}."
        if found.event is None
        else f"They part at event {found.event}, in step {found.step}."
    )
    return at + silences
