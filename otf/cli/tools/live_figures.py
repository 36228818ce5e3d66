"""The figures of a running campaign, its failures, and the last events of a path, for `otf run --page`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic, time
from typing import Any, Final, Protocol

from otf.campaign import Campaign, FailureGroup, Listener, PathResult, Summary
from otf.campaign.results import Shrunk
from otf.campaign.settings import UNLIMITED
from otf.campaign.summary import callback
from otf.cli.progress import ShrinkFigures
from otf.cli.visited import FEW
from otf.core import Model, Node, View
from otf.errors import OtfError
from otf.explore.space import space
from otf.report.failures import PHONE, SCREEN, as_known, toned
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.explain import explanation
from otf.trace.result import counted
from otf.trace.title import title
from otf.values import show
from otf.values.text import shortened

POINTS: Final = 400  # of the curve; at that number, every second one is dropped
KNOWN: Final = 100_000  # nodes
SHOWN: Final = 12  # possible states
KINDS: Final = 50  # failures
RUNNING: Final = 4  # paths to name
LAST: Final = 8  # events of a path under way
WIDE: Final = 200  # characters of such an event
ENDED: Final = "the campaign has ended, and its report is being written"


class NextCommands(Protocol):
    """What to do next, as pairs of a purpose and a command line."""

    def commands(self, group: FailureGroup) -> Iterable[tuple[str, str]]:
        """Return what to do with a failure."""
        ...

    def onwards(self) -> Iterable[tuple[str, str]]:
        """Return what to do with the campaign while it runs, and after it was stopped."""
        ...


class LiveFigures(Listener):
    """Notes what a page shows of a campaign, and passes everything on to another listener."""

    def __init__(self, campaign: Campaign, inner: Listener, commands: NextCommands | None = None) -> None:
        self._campaign, self._inner, self._commands = campaign, inner, commands
        self._began = monotonic()
        self._view: View | None = None
        self._met: set[Node] = set()
        # by their ids, which stay valid as long as the nodes are kept here
        self._known: dict[int, Node] = {}
        # inputs chosen on the paths under way; the summary counts the others, wherever they were driven
        self._chosen: dict[int, int] = {}
        # paths that wait for another start of the system, with the reason
        self._waiting: dict[int, str] = {}
        # failed paths that are driven again
        self._confirming = set[int]()
        self._now = ""
        self._shrinking: tuple[FailureGroup, ShrinkFigures] | None = None
        self._growth: list[tuple[int, int]] = [(0, 0)]
        self._states = 0
        self.ended: bool = False
        self.done: bool = False
        self._enabled = inner.enabled if callback(inner, "enabled", 0) else None
        # the last events of each path under way, and of the last that ended
        self._events: dict[int, deque[Event]] = {}
        self._ended = deque[Event]()
        # each failure as the page shows it, with the run that it tells
        self._shown: dict[object, tuple[PathResult | Shrunk, dict[str, Any]]] = {}
        # a method of this class would cost time at each event, even if the other listener wants none
        vars(self).update(event=self._note if callback(inner, "event", 0) else inner.event)

    def count_states(self) -> None:
        """Count the model's states, if they are few: the page says how many of them were met."""
        bench = self._campaign.bench
        with suppress(OtfError):  # the campaign itself reports what is wrong with the model
            # the campaign waits for this, and a model with many inputs takes seconds
            found = space(Model(bench.spec, bench.oracle().model.routes), FEW, pairs=20 * FEW)
            self._states = len(found.states) if found.whole else 0

    def _note(self, number: int, event: Event) -> None:
        last = self._events.get(number)
        if last is None:
            last = self._events[number] = deque(maxlen=LAST)
        last.append(event)
        self._inner.event(number, event)

    def enabled(self, number: int, view: View) -> None:
        """Note the possible states."""
        self._view = view
        self._chosen[number] = self._chosen.get(number, 0) + 1
        nodes = view.nodes
        # hashing a node costs more than the rest, and nearly all are known: look up their ids first
        if len(nodes) == 1 and id(nodes[0]) not in self._known:
            self._meet(nodes[0])
        if self._enabled is not None:
            self._enabled(number, view)

    def _meet(self, node: Node) -> None:
        if len(self._known) >= KNOWN:  # a model forgets nodes and creates new ones
            self._known.clear()
        self._known[id(node)] = node
        self._met.add(node)

    def path(self, result: PathResult, summary: Summary) -> None:
        """Pass a path on; the summary has counted its steps."""
        self._chosen.pop(result.number, None)
        self._waiting.pop(result.number, None)
        self._confirming.discard(result.number)
        self._ended = self._events.pop(result.number, self._ended)
        self._now = ""
        self._inner.path(result, summary)

    def confirming(self, number: int) -> None:
        """Note that a failure is being confirmed."""
        self._confirming.add(number)
        self._inner.confirming(number)

    def failed_start(self, number: int, why: str, pause: float) -> None:
        """Note that a path could not reach the system."""
        self._waiting[number] = f"path {number} could not reach the system, and is driven again in {pause:.2g} s: {why}"
        self._inner.failed_start(number, why, pause)

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Note the progress of shrinking."""
        if self._shrinking is None or self._shrinking[0] is not group:
            self._shrinking = group, ShrinkFigures(self._campaign.settings.budget)
        first, sent = group.first, counted(transitions, "input")
        of = f"the failure of path {first.number}" if first.number else "a saved failure"
        self._now = f"shrinking {of}: {first.steps} -> {counted(length, 'step')}, {sent} sent"
        self._inner.shrinking(group, length, transitions)

    def failure(self, group: FailureGroup) -> None:
        """Pass a failure on."""
        self._now = ""
        self._inner.failure(group)

    @property
    def steps(self) -> int:
        """Return the steps of counted paths and of those under way; the last choice may not have been sent yet."""
        return self._campaign.summary.steps + sum(max(0, each - 1) for each in [*self._chosen.values()])

    @property
    def met(self) -> int:
        """Return how many states were met; processes of their own report those that the strategy counts."""
        return len(self._met) or len({pair.partition(" ")[0] for pair in self._campaign.summary.parts.met.copy()})

    def sample(self) -> None:
        """Add a point to the curve."""
        steps = self.steps
        self._growth = [*self._until(steps), (steps, self.met)]
        if len(self._growth) > POINTS:
            del self._growth[1:-1:2]

    def _until(self, steps: int) -> list[tuple[int, int]]:
        # a path that failed counts as long as its strict run was: fewer steps than it had while it was under way
        return [each for each in self._growth if each[0] <= steps]

    def state(self) -> dict[str, Any]:
        """Return the figures as JSON data; another thread may call it."""
        summary, settings = self._campaign.summary, self._campaign.settings
        result = summary.result
        steps = self.steps
        seconds = result.seconds if self.ended else monotonic() - self._began + self._campaign.spent
        nodes = () if self._view is None else self._view.nodes
        groups, ended = list(summary.failures.values()), bool(summary.paths or summary.failures)
        issues = [each for each in summary.known_issues if each.count]
        met, growth = self.met, self._until(steps)
        return {
            "done": self.done,
            "tone": result.tone if ended else "",
            "paths": summary.paths,
            "ruling": result.ruling if ended else "none yet",
            "at": time(),
            "traces": settings.traces if settings.traces < UNLIMITED else None,
            "steps": steps,
            "rate": steps / seconds if seconds else 0.0,
            "seconds": seconds,
            "left": None if self.ended else self._left(seconds),
            "bounds": bool(self._now) and settings.time is None,
            "met": met if met or not summary.steps else None,
            "states": self._states if met <= self._states else 0,
            "failed": result.failed,
            "kinds": len(groups),
            "known": len(result.seen_issues),
            "undecided": len(summary.inconclusive),
            "now": ENDED if self.ended else self._now or self._running(),
            "events": self._last(),
            "possible": [show(node.value) for node in nodes[:SHOWN]],
            # the newest first: it is the one that is open
            "failures": [
                *(self._told(each, each.count) for each in groups[: -KINDS - 1 : -1]),
                *(self._told(each.group, each.count, f"known issue: {each.says}") for each in issues[:KINDS]),
            ],
            "commands": list(self._commands.onwards()) if self._commands else [],
            "growth": [*growth, *({(steps, met)} - {growth[-1]})],
        }

    def _told(self, group: FailureGroup | None, paths: int, says: str = "") -> dict[str, Any]:
        """Return a failure with its text and commands, all of the shortest run that can be told."""
        of = f"{paths:,} of {counted(self._campaign.summary.paths, 'path')}" if paths else "a run of its own"
        if group is None:
            return {"what": says, "of": of, "story": [], "commands": []}
        shown = group.shrunk or group.first
        key = says or group.signature
        # made once for each run: the text of a failure costs more than all figures
        if key not in self._shown or self._shown[key][0] is not shown:
            failure = shown.verdict.failure
            said = [(explanation(shown.verdict, shown.events, wide), wide) for wide in (SCREEN, PHONE)]
            told = [toned(as_known(each) if says else each, wide, excused=bool(says)) for each, wide in said]
            does = list(self._commands.commands(group)) if self._commands else []
            what = says or (title(failure) if failure else str(group.signature))
            self._shown[key] = shown, {"what": what, "story": told, "commands": does}
        return {**self._shown[key][1], "of": of}

    def _last(self) -> list[str]:
        """Return the last events of the first path under way, or of the one that has just ended."""
        events = self._events.copy()
        return [*filter(None, map(_described, (events[min(events)] if events else self._ended).copy()))]

    def _running(self) -> str:
        """Return which paths are under way, and at which step."""
        chosen, again = self._chosen.copy(), self._confirming.copy()
        under_way = sorted(chosen.keys() | again | self._events.copy().keys())
        shown = [f"path {each}, {_at(each in again, chosen.get(each, 0))}" for each in under_way[:RUNNING]]
        shown += [f"and {len(under_way) - RUNNING} more"] if len(under_way) > RUNNING else []
        if shown:
            return f"running: {'; '.join(shown)} (seed {self._campaign.settings.seed})"
        if lost := [*self._waiting.copy().values()]:
            return lost[-1]
        if (workers := self._campaign.settings.workers) is not None:
            return f"the paths run in {counted(workers.processes, 'worker')} (seed {self._campaign.settings.seed})"
        return "waiting: the system is starting or not yet at rest, or a failure is driven again"

    def _left(self, seconds: float) -> float | None:
        """Return the seconds left; while a failure is shrunk and nothing bounds the campaign, those of its budget."""
        summary, settings = self._campaign.summary, self._campaign.settings
        bounds = [] if settings.time is None else [max(0.0, settings.time - seconds)]
        if self._now and self._shrinking is not None:
            bounds = bounds or [self._shrinking[1].left]
        elif summary.paths and settings.traces < UNLIMITED:
            bounds.append(seconds * (settings.traces - summary.paths) / summary.paths)
        return min(bounds, default=None)


def _at(confirmed: bool, step: int) -> str:
    return "its failure is being confirmed" if confirmed else f"step {step:,}" if step else "before its first input"


def _described(event: Event) -> str:
    match event:
        case Sent(value) | Seen(value):
            return shortened(f"{'->' if isinstance(event, Sent) else '<-'} {show(value)}", WIDE)
        case Closed(port, reason):
            return shortened(f"<- the port {port} ended: {reason}", WIDE)
        case Quiet():
            return "quiet"
        case _:
            return ""
