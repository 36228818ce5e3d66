"""The quick way over a wire: an input, its answer, the next input, for as long as nothing is new.

Where each step was taken before, the questions that are asked around it cost more than the step. Here an input is one
look-up and a frame that comes is another; whatever else happens is left to those who know what to do with it.
"""

from __future__ import annotations

from collections.abc import Callable
from select import select
from time import monotonic
from typing import Final, TypeAlias

from otf.adapter import Arrival, Frame, LineLost
from otf.codec import Deed
from otf.core import Session, Symbol
from otf.core.eager import Eager
from otf.core.known import Go, Then
from otf.core.trip import LONG, Trip
from otf.errors import CodecError
from otf.runner.codebook import SHORT, Codebook
from otf.runner.glance import AT_ONCE, FIRST
from otf.runner.record import Record
from otf.runner.wire import Wire
from otf.trace.events import Seen, Sent

DOUBT: Final = 100  # steps after which a system that was slower is believed to be prompt once more

Found: TypeAlias = tuple[str, list[Arrival], float]
"""A port, what arrived there, and when."""

Encode: TypeAlias = Callable[[object], tuple[str, bytes | Deed]]
"""Returns the port of an input and its bytes. Raises ModelError."""


class Swift:
    """Takes steps that were taken before; use one for each run."""

    def __init__(self, session: Session, wire: Wire, codec: Codebook, encode: Encode, record: Record) -> None:
        self._session = session
        self._wire = wire
        self._codec = codec
        self._encode = encode
        self._record = record
        self._hope = 0
        self._possible = isinstance(session.pacing, Eager) and not session.asking

    @property
    def ready(self) -> bool:
        """Tell whether it is worth a try: the next input may be chosen, and lines are waited for without a loop."""
        moment = self._session.moment
        return self._possible and moment.monitor.belief.silent is True and not moment.quiet and self._wire.prompt()

    async def run(self) -> None:
        """Go on until something has to be decided; the session is as if it had been told everything."""
        trip = Trip.out(self._session, self._codec.codec)
        if trip is None:
            return
        try:
            await self._go(trip)
        finally:
            trip.back()

    async def _go(self, trip: Trip) -> None:
        # longer than other functions: with a call for each of its parts a step would take a tenth longer
        wire, record, clock, calm = self._wire, self._record, self._wire.clock, True
        zero, turn = wire.zero, wire.turn
        while calm and monotonic() < turn and not wire.waiting:
            symbol = trip.choose()
            if symbol is None:
                return
            go = trip.known.inputs.get(symbol) or self._learnt(trip, symbol)
            if go is None:
                return
            begun = clock()
            try:
                await wire.lines[go.port].send(go.data)
            except (LineLost, CodecError):
                # nothing went out: the session sends it once more, and there it is told why not
                return
            now = clock()
            sent = Sent(symbol.value, go.port, (begun if now - begun < AT_ONCE else now) - zero)
            trip.sent(go, sent)
            record(sent, go.data)
            # what the loop took in while the line was busy came before what is there now
            calm = not wire.waiting and self._answered(trip)

    def _learnt(self, trip: Trip, symbol: Symbol) -> Go | None:
        port, data = self._encode(symbol.value)
        return trip.learn(symbol, port, data) if isinstance(data, bytes) else None

    def _answered(self, trip: Trip) -> bool:
        """Tell whether the whole answer came, and nothing else."""
        wire = self._wire
        while len(trip.last) < LONG:
            found = self._prompt() or self._waited()
            if found is None:
                return False
            port, arrivals, at = found
            then = self._known(trip, port, arrivals)
            if then is None:
                wire.keep(port, arrivals, at)
                return False
            seen = Seen(then.output, port, at)
            trip.seen(then, seen)
            self._record(seen, then.frame)
            if then.calm:
                return True
        return False

    def _prompt(self) -> Found | None:
        """Return what is there already: a system that was waiting for the input has often answered by now.

        With several ports nobody knows which to look at, and looking at one would put what comes on others off.
        """
        self._hope += 1
        port = self._wire.port
        if self._hope < 0 or port is None:
            return None
        arrivals, at = self._wire.lines[port].receive(), self._wire.now
        if arrivals:
            return port, arrivals, at
        self._hope = -DOUBT
        return None

    def _waited(self) -> Found | None:
        """Return what comes on one port in a short while; None where that is nothing, or on several."""
        wire = self._wire
        ready, _, _ = select(wire.watched, (), (), FIRST)
        if len(ready) != 1:
            wire.take(ready)
            return None
        port, at = wire.watched[ready[0]], wire.now
        return port, wire.lines[port].receive(), at

    def _known(self, trip: Trip, port: str, arrivals: list[Arrival]) -> Then | None:
        arrival = arrivals[0] if len(arrivals) == 1 else None
        if not isinstance(arrival, Frame) or arrival.trouble:
            return None
        frame = port, arrival.data
        return trip.known.frames.get(frame) or self._new(trip, frame)

    def _new(self, trip: Trip, frame: tuple[str, bytes]) -> Then | None:
        if len(frame[1]) > SHORT:
            return None
        try:
            output = self._codec.decode(*frame)
        except Exception:  # noqa: BLE001 -- it is decoded again where it is told that it cannot be
            return None
        return trip.heard(frame, output)
