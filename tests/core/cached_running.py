"""Runs whose session gets every event, and runs with cached runs: what they must have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from otf.core import Limits, Model, Oracle, Send, Session, Stop, Symbol, Timing
from otf.core.cached_run import LONG, CachedInput, CachedOutput, CachedRun
from otf.core.hypothesis import Hypothesis, Outstanding
from otf.core.nodes import OpenAccept
from otf.core.pacing import Eager
from otf.core.timer_waits import Timers
from otf.spec import Accept
from otf.strategy import Strategy
from otf.trace.events import Event, Seen, Sent
from otf.trace.verdict import Verdict

TIMES: Final = (0.5, 0.125, 0.25)
CODEC: Final = object()
Output = tuple[str, str]  # a port, and what came on it


def learn_input(cached_run: CachedRun, symbol: Symbol, port: str, data: bytes) -> CachedInput | None:
    """Let a run of cached steps learn an input, as the fast path does."""
    return cached_run.cached.learn_input(cached_run.oracle, symbol, port, data)


def learn_output(cached_run: CachedRun, frame: tuple[str, bytes], output: object) -> CachedOutput | None:
    """Let a run of cached steps learn an output, as the fast path does."""
    return cached_run.cached.learn_output(cached_run.oracle, frame, output)


# A run and what can be seen of it


@dataclass
class Side:
    """What the paths of one campaign share; `quick` takes cached runs wherever it may."""

    model: Model
    quick: bool
    mode: Any = "uioco"
    relation: Any = "uioco"
    strategy: str = "alternating"
    codec: object = CODEC
    proven: set[Any] = field(default_factory=set[Any])
    timers: Timers = field(default_factory=Timers)
    steps: int = 0
    cached_runs: int = 0
    timing: Timing = field(default_factory=lambda: Timing(*TIMES))

    def __post_init__(self) -> None:
        self.oracle = Oracle(self.model, self.relation, Limits(spontaneous=4), self.timing)
        self.choosing = Strategy(self.strategy, self.mode, 1)

    def session(self, chooser: Any, steps: int, flood: int = 10_000) -> Session:  # noqa: ANN401 -- a chooser of any kind
        """Return the session of one path."""
        pacing = Eager(self.timing, self.proven, self.timers)
        return Session(self.oracle, chooser, pacing, steps=steps, flood=flood)


@dataclass
class World:
    """A system that answers at once, perhaps wrongly, and the time; what it does depends on what it is sent only."""

    answer: Callable[[str], list[Output]]
    random: Random
    now: float = 0.0
    coming: list[Output] = field(default_factory=list[Output])

    def send(self, value: object, port: str) -> Sent:
        """Send an input; return the event."""
        self.now += self.random.choice([0.0, 0.03, 0.4])
        self.coming += self.answer(str(value))
        return Sent(value, port, self.now)

    def look(self) -> Seen | None:
        """Return the next output, if there is one."""
        if not self.coming:
            return None
        self.now += self.random.choice([0.01, 0.2])
        port, output = self.coming.pop(0)
        return Seen(output, port, self.now)


@dataclass
class Run:
    """One path: its events, and what the session was after each of them."""

    session: Session
    world: World
    ports: Callable[[Any], str]
    events: list[Event] = field(default_factory=list[Event])
    shots: dict[tuple[int, bool], dict[str, Any]] = field(default_factory=dict[tuple[int, bool], dict[str, Any]])
    verdict: Verdict | None = None
    unheard: Seen | None = None

    def tell(self, event: Event) -> None:
        """Tell the session an event."""
        self.session.tell(event)
        self.note(event)

    def note(self, event: Event) -> None:
        """Pass an event to the session, and note its new state."""
        self.events.append(event)
        self.look()

    def look(self) -> None:
        """Keep what the session is now."""
        chosen = self.session.moment.next is not None or self.session.over
        self.shots[len(self.events), chosen] = shot(self.session)

    def step(self) -> bool:
        """Carry out the next command of the session; return whether the run goes on."""
        command = self.session.command()
        self.look()
        if isinstance(command, Stop):
            self.verdict = command.verdict
            return False
        if isinstance(command, Send):
            self.tell(self.world.send(command.input.value, self.ports(command.input.value)))
        elif (seen := self.world.look()) is not None:
            self.tell(seen)
        else:
            until = getattr(command, "until", 0.0)
            self.world.now = max(self.world.now, until)
            if (believed := self.session.silence(self.world.now)) is not None:
                self.note(believed)
        return True


NAMES: Final = ("events", "sent", "verdict", "ledger", "slack", "crowded")


def shot(session: Session) -> dict[str, Any]:
    """Return all that a session knows of its run."""
    moment, monitor, times = session.moment, session.monitor, session.times
    hidden = {name: getattr(session, name) for name in ("_outputs", "doubting")}
    judged = {name: getattr(monitor, name) for name in NAMES}
    last = moment.last and (set(moment.last.nodes), moment.last.input)
    return {
        **hidden,
        **judged,
        "belief": frozenset(map(_alike, monitor.belief.hypotheses)),
        "step": (
            frozenset(map(_alike, monitor.step.before.hypotheses)),
            [*monitor.step.inputs],
            [*monitor.step.outputs],
        ),
        "times": (times.event, times.input, times.reply, times.free),
        "moment": (moment.quiet, moment.burst, last, moment.port, moment.next, moment.times is times),
        "session": (session.over, session.late[:], session.monitor is moment.monitor),
    }


def _alike(each: Hypothesis) -> Hypothesis:
    # an Accept that was forgotten and asked for again has other functions, which do the same
    outstanding = tuple((port, tuple(_plain(one) for one in outputs)) for port, outputs in each.outstanding)
    return each._replace(outstanding=outstanding)


def _plain(outstanding: Outstanding) -> Outstanding:
    if not isinstance(outstanding.what, OpenAccept):
        return outstanding
    return outstanding._replace(
        what=OpenAccept(Accept(list, outstanding.what.ports[0]), outstanding.what.ports, outstanding.what.origin)
    )


# The quick way, as the runner goes it


def quick(run: Run, side: Side, chance: Callable[[], bool]) -> None:
    """Go on while nothing is new; `chance` decides when something else ends the cached run."""
    cached_run = CachedRun.start(run.session, side.codec)
    if cached_run is None:
        return
    side.cached_runs += 1
    while not chance():
        symbol = cached_run.choose()
        if symbol is None or chance():
            break
        go = cached_run.cached.inputs.get(symbol)
        if go is None:
            go = cached_run.cached.learn_input(
                cached_run.oracle, symbol, run.ports(symbol.value), str(symbol.value).encode()
            )
        if go is None:
            break
        assert (go.port, go.data) == (run.ports(symbol.value), str(symbol.value).encode())
        event = run.world.send(go.symbol.value, go.port)
        cached_run.sent(go, event)
        run.events.append(event)
        side.steps += 1
        if not answered(run, cached_run, chance):
            break
    cached_run.finish()
    run.look()
    if run.unheard is not None:
        unheard, run.unheard = run.unheard, None
        run.tell(unheard)


def answered(run: Run, cached_run: CachedRun, chance: Callable[[], bool]) -> bool:
    """Return whether the whole answer came, and nothing else."""
    while len(cached_run.last) < LONG:
        if chance():
            return False
        if (seen := run.world.look()) is None:
            return False
        frame = seen.port, str(seen.output).encode()
        then = cached_run.cached.frames.get(frame) or cached_run.cached.learn_output(
            cached_run.oracle, frame, seen.output
        )
        if then is None:
            run.unheard = seen
            return False
        assert (then.output, then.frame) == (seen.output, frame[1])
        cached_run.seen(then, seen)
        run.events.append(seen)
        if then.quiescence_predicted:
            return True
    return False


def never() -> bool:
    """Let nothing else happen."""
    return False


def called_off(moments: list[int]) -> Callable[[], bool]:
    """Let something else happen at these moments, counted from the start of a run."""
    now = iter(range(10_000))
    return lambda: next(now) in moments


def conduct(side: Side, run: Run, chance: Callable[[], bool] = never) -> Run:
    """Conduct a run to its verdict."""
    run.look()
    while True:
        if side.quick:
            quick(run, side, chance)
        if not run.step():
            return run


def same(slow: Run, fast: Run) -> None:
    """Assert that nothing tells two runs apart, at any moment at which both were looked at."""
    assert fast.events == slow.events
    assert fast.verdict == slow.verdict
    for moment, found in fast.shots.items():
        assert found == slow.shots[moment], moment
