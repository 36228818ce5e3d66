"""The fast path over a wire: an input, its answer, the next input, as long as every step is cached.

For a step taken before, the checks of the general path cost more than the step itself. Here an input is one look-up,
and an arriving frame is another; the general path does everything else.
"""

from __future__ import annotations

from time import monotonic, thread_time
from typing import Final, TypeAlias

from otf.adapter import Arrival, Frame, LineLost
from otf.core import Session, Symbol
from otf.core.cached_run import LONG, CachedInput, CachedOutput, CachedRun
from otf.errors import CodecError
from otf.runner.codec_cache import SHORT, CodecCache
from otf.runner.lookout import Lookout
from otf.runner.time_spent import spent
from otf.runner.waiting import AT_ONCE
from otf.runner.waiting import SHORT as SOON
from otf.runner.writer import EventRecord
from otf.spec import Elapse
from otf.trace.events import Seen, Sent

WORTH: Final = 4  # steps in a row that repay an attempt, which has to set up a cached run and judge its last step
SELDOM: Final = 64  # the most inputs until the next attempt, if most steps are new
DOUBT: Final = 100  # waits after which a slow system is again assumed to be prompt

PortArrivals: TypeAlias = tuple[str, list[Arrival], float]
"""A port, its arrivals, and their time."""


class FastPath:
    """Takes cached steps. Use one for each run in eager mode without pings."""

    def __init__(self, session: Session, lookout: Lookout, codec: CodecCache, record: EventRecord) -> None:
        self._session = session
        self._lookout = lookout
        self._wire = lookout.wire
        self._codec = codec
        self._record = record
        self._spent = spent()
        # waits in which the answer is assumed not to be there at once, or not to come soon
        self._not_prompt = self._not_soon = 0
        self._patient = session.monitor.oracle.timing.quiescence >= SOON
        # inputs until the next attempt, and how many there were before the last one
        self._left = self._between = 0
        self._later = True  # acknowledgements go with the next input

    @property
    def ready(self) -> bool:
        """Return whether an attempt is worthwhile: an input may be chosen, and no line needs the event loop."""
        moment = self._session.moment
        belief = moment.monitor.belief
        # if no event has a result here, no input was ever sent from this belief
        if belief.silent is not True or not belief.after or moment.quiet:
            return False
        self._left -= 1
        return self._left < 0 and self._wire.prompt()

    async def run(self) -> None:
        """Take steps until one is not cached; the session is then as if it had received every event itself."""
        await self._run()
        self._lookout.looked = self._wire.now
        if not self._wire.waiting and not self._wire.prompt():
            # its time is over: without a turn of the loop the next steps would be slow ones
            await self._lookout.turn()

    async def _run(self) -> None:
        cached_run = CachedRun.start(self._session, self._codec.codec)
        if cached_run is None:
            return
        # if most steps are new, this is all: setting up a cached run takes longer than the choice
        go = self._first(cached_run)
        if go is None:
            cached_run.finish()
            self._left = self._between = min(SELDOM, 2 * self._between + 1)
            return
        # not measured per step: that would take a hundredth of a step
        waited = monotonic() - thread_time()
        try:
            if self._later:
                self._wire.acknowledge(later=True)
            await self._go(cached_run, go)
        finally:
            if self._later:
                self._wire.acknowledge(later=False)
            # these reads bypassed it
            self._wire.known_empty.clear()
            cached_run.finish()
            self._between = 0 if cached_run.steps >= WORTH else min(SELDOM, 2 * self._between + 1)
            self._left = self._between
            self._spent.wire += max(0.0, monotonic() - thread_time() - waited)

    async def _go(self, cached_run: CachedRun, go: CachedInput | None) -> None:
        # longer than other functions: a call for each part would slow down a step by a tenth
        wire, record, clock, lines = self._wire, self._record, self._wire.clock, self._wire.lines
        zero, turn, choose, answered = wire.zero, wire.turn, cached_run.choose, self._answered
        inbox, hints = wire.inbox, wire.hints
        while go is not None:
            begun = clock()
            try:
                await lines[go.port].send(go.data)
            except (LineLost, CodecError):
                # nothing was sent: the general path tries again and reports the reason
                return
            now = clock()
            sent = Sent(go.symbol.value, go.port, (begun if now - begun < AT_ONCE else now) - zero)
            cached_run.sent(go, sent)
            record(sent, go.data)
            # arrivals that the loop read while the line was busy come before those that are there now
            if inbox or hints or not answered(cached_run) or monotonic() >= turn or inbox or hints:
                return
            symbol = choose()
            if symbol is None:
                return
            go = cached_run.cached.inputs.get(symbol) or self._learnt(cached_run, symbol)

    def _first(self, cached_run: CachedRun) -> CachedInput | None:
        symbol = cached_run.choose()
        if symbol is None:
            return None
        return cached_run.cached.inputs.get(symbol) or self._learnt(cached_run, symbol)

    def _learnt(self, cached_run: CachedRun, symbol: Symbol) -> CachedInput | None:
        if isinstance(symbol.value, Elapse):
            return None
        data = self._codec.encode(symbol.value)
        port = self._session.monitor.oracle.model.port(symbol)
        learn = cached_run.cached.learn_input
        return learn(cached_run.oracle, symbol, port, data) if isinstance(data, bytes) else None

    def _answered(self, cached_run: CachedRun) -> bool:
        """Return whether the complete answer arrived, and nothing else."""
        wire, last = self._wire, cached_run.last
        while len(last) < LONG:
            # a system that was waiting for the input has often answered by now
            found = (None if self._not_prompt else self._prompt()) or self._waited()
            if found is None:
                return False
            port, arrivals, at = found
            arrival = arrivals[0] if len(arrivals) == 1 else None
            then = None
            if isinstance(arrival, Frame) and not arrival.trouble:
                frame = port, arrival.data
                then = cached_run.cached.frames.get(frame) or self._new(cached_run, frame)
            if then is None:
                wire.keep(port, arrivals, at)
                return False
            seen = Seen(then.output, port, at)
            cached_run.seen(then, seen)
            self._record(seen, then.frame)
            if then.quiescence_predicted:
                return True
            wire.acknowledge(later=True)
        return False

    def _prompt(self) -> PortArrivals | None:
        """Return arrivals that are there already, or None.

        Does nothing if there are several ports: it is unknown which one has the answer, and reading one would delay the
        others.
        """
        wire = self._wire
        port = wire.port
        if port is None:
            return None
        arrivals = wire.lines[port].receive()
        if arrivals:
            return port, arrivals, wire.clock() - wire.zero
        self._not_prompt = DOUBT
        return None

    def _waited(self) -> PortArrivals | None:
        """Return the arrivals of one port within a short time; None unless exactly one port has some."""
        wire = self._wire
        if self._not_prompt:
            self._not_prompt -= 1
        # a system on this event loop never answers in between, and would lose two milliseconds a step
        patient = self._patient and not self._not_soon
        ready = wire.readable(patient=patient)
        if not patient:
            self._not_soon = max(0, self._not_soon - 1)
        elif not ready:
            self._not_soon = DOUBT
        if len(ready) != 1:
            wire.take(ready)
            return None
        port, at = wire.watched[ready[0]], wire.clock() - wire.zero
        return port, wire.lines[port].receive(), at

    def _new(self, cached_run: CachedRun, frame: tuple[str, bytes]) -> CachedOutput | None:
        if len(frame[1]) > SHORT:
            return None
        try:
            output = self._codec.decode(*frame)
        except Exception:  # noqa: BLE001 -- the general path decodes it again and reports the error
            return None
        return cached_run.cached.learn_output(cached_run.oracle, frame, output)
