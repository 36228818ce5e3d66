"""The fast path of strict mode: an input, its outputs, and the rest of the system that ends the step.

Where rests are observed, a strict step waits for nothing, and so what the tester computes is most of it. In a step that
was taken before, every decision is a look-up here; the looks at the system are those of the general path, one by one.
"""

from __future__ import annotations

import os
import select
from time import monotonic

from otf.adapter import Frame
from otf.adapter.line import NEVER
from otf.core import Session
from otf.core.cached_run import LONG, CachedOutput, CachedRun
from otf.core.stalls import Stalls
from otf.core.strict_run import StrictRun
from otf.core.waits import Strict
from otf.runner.fast_path import Encode, FastPath
from otf.runner.line_templates import CodecCache
from otf.runner.observing import Observer
from otf.runner.waiting import FIRST
from otf.runner.wire import Arrived, Wire
from otf.runner.writer import EventRecord
from otf.strategy.visits import action
from otf.trace.events import Quiet, Seen


class StrictPath(FastPath):
    """Takes cached steps in strict mode, as long as an observer sees the rests; use one for each run."""

    def __init__(  # noqa: PLR0913, PLR0917 -- what a run needs, each once
        self,
        session: Session,
        wire: Wire,
        codec: CodecCache,
        encode: Encode,
        record: EventRecord,
        observer: Observer,
        stalls: Stalls,
    ) -> None:
        super().__init__(session, wire, codec, encode, record)
        self._observer = observer
        self._stalls = stalls
        # what waits in the system's kernel for an acknowledgement would not be seen at its rest
        self._later = False
        self._possible = isinstance(session.pacing, Strict) and not session.probing

    @property
    def ready(self) -> bool:
        """Return whether an attempt is worthwhile: quiescence was seen, and rests can be observed."""
        if not self._possible or self._observer.why:
            return False
        moment = self._session.moment
        # without a result after any event, no input was ever sent from this belief
        return moment.quiet and bool(moment.monitor.belief.after) and self._wire.prompt()

    def _start(self) -> CachedRun | None:
        return StrictRun.start(self._session, self._codec.codec)

    def _answered(self, cached_run: CachedRun) -> bool:
        """Return whether the outputs were known ones, and the system rests."""
        inbox, drop, last = self._wire.inbox, self._wire.drop, cached_run.last
        unanswered = cached_run.go is not None and cached_run.go.unanswered
        while isinstance(cached_run, StrictRun):
            if not unanswered:
                self._watch(FIRST)
            if not inbox and self._rests(cached_run):
                return self._quiet(cached_run)
            if not inbox:
                return False
            while inbox:
                self._observer.heard(last[0].at, answer=not unanswered)
                then = self._seen(cached_run, inbox[0]) if len(last) < LONG else None
                if then is None:
                    return False
                drop()
                unanswered = then.quiescence_predicted
        return False

    def _seen(self, cached_run: CachedRun, arrived: Arrived) -> CachedOutput | None:
        arrival = arrived.what
        if not isinstance(arrival, Frame) or arrival.trouble:
            return None
        frame = arrived.port, arrival.data
        then = cached_run.cached.frames.get(frame) or self._new(cached_run, frame)
        if then is not None:
            seen = Seen(then.output, arrived.port, arrived.at)
            cached_run.seen(then, seen)
            self._record(seen, then.frame)
        return then

    def _rests(self, cached_run: StrictRun) -> bool:
        """Look until the system rests; return False if something has arrived, or if the looks take too long."""
        observer, wire = self._observer, self._wire
        until, wanted = cached_run.pause(wire.now)
        kind = None if cached_run.go is None else action(cached_run.go.symbol)
        observer.wait(until, wanted, since=cached_run.last[0].at, kind=kind)
        while not observer.look():
            if wire.waiting or observer.why or monotonic() >= wire.turn:
                return False
            if observer.pause:
                self._watch(observer.pause)
                if wire.waiting:
                    return False
            else:
                # the system may have to share this processor with the tester
                os.sched_yield()
        # half a frame is no silence
        return wire.stirred == NEVER

    def _quiet(self, cached_run: StrictRun) -> bool:
        then = cached_run.after_quiet()
        if then is None:
            return False
        quiet = Quiet(self._wire.now, by="observed")
        cached_run.quiet(then, quiet)
        self._record(quiet)
        return True

    def _watch(self, seconds: float) -> None:
        """Wait for arrivals for at most that time, and take one read from each line that has some."""
        wire = self._wire
        began = wire.clock()
        ready = select.select(wire.watched, (), (), seconds)[0]
        if ready:
            wire.take(ready)
        else:
            now = wire.clock()
            self._stalls.note(now - wire.zero, now - began - seconds)
