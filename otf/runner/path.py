"""One run on an open wire: performs the session's commands, and passes arrivals to it as events."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from anyio import CancelScope
from anyio.lowlevel import checkpoint

from otf.adapter import Ending, Frame, LineLost
from otf.adapter.lifecycle import Life, perform
from otf.adapter.third_party import at, blaming
from otf.codec import Codec, PortAction
from otf.codec.malformed import Malformed
from otf.core import Ping, Send, Session, Wait
from otf.core.pacing import Eager
from otf.core.stalls import CERTAIN
from otf.errors import CodecError, ContactError, ModelError, OtfError, UsageError, WriteError
from otf.runner.boot_hook import LifeBefore
from otf.runner.codec_cache import CodecCache, Undecided
from otf.runner.fast_path import FastPath
from otf.runner.lookout import Lookout
from otf.runner.observing import Observer
from otf.runner.time_spent import spent
from otf.runner.waiting import AT_ONCE, FIRST, TURN
from otf.runner.wire import Arrived, Wire
from otf.runner.writer import EventRecord
from otf.spec import Elapse
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.record import DIGITS, as_recorded
from otf.trace.verdict import Verdict
from otf.values import show
from otf.values.raised import describe

AT_FAULT: Final = "the line was at fault"
AFTERMATH: Final = 200  # events recorded after a failure
HEAVY: Final = 1 << 18  # their most bytes


class Conduct:
    """A `Conduct` drives one path (`session`) on an open `wire`; `codec` is the bench's, and `record` gets each event.

    >>> import anyio
    >>> from otf.core.pacing import Strict
    >>> from otf.models.coffee import Button, Coin, bench
    >>> from otf.strategy import Script
    >>> from otf.runner.driving import opened
    >>> async def run():
    ...     made = bench()
    ...     session = Session(made.oracle(), Script([Coin(10), Button()]), Strict(made.timing), steps=2)
    ...     async with opened(made) as lines, Wire(lines) as wire:
    ...         return await Conduct(session, wire, made.codec, lambda event, *rest: None).run()
    >>> anyio.run(run).outcome
    'pass'
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- what a run needs, each once
        self,
        session: Session,
        wire: Wire,
        codec: Codec,
        record: EventRecord,
        observer: Observer | None = None,
        started: Collection[int] | None = None,
        life: Life | None = None,
    ) -> None:
        self.session = session
        self.wire = wire
        self.codec: CodecCache = CodecCache(codec)
        self.record = record
        self._life = life
        self._model = session.monitor.oracle.model
        self._lookout = Lookout(session, wire, observer, started)
        self._spent = spent()
        # inputs of a burst that were sent, but not told yet
        self._untold = list[tuple[Sent, bytes]]()
        self._lost_ports = set[str]()  # since an input was last sent there
        # when the model last allowed sending: whatever comes after that may have come before the input
        self._allowed = 0.0
        may_skip = isinstance(session.pacing, Eager) and session.pings is None
        self._fast_path = FastPath(session, self._lookout, self.codec, record) if may_skip else None

    async def run(self) -> Verdict:
        """Perform commands until the path has a verdict; the verdict is inconclusive if the line itself is at fault."""
        try:
            # inside the wire's task group, which would mistake a CancelledError raised by the model for its own
            with blaming():
                if self._life is not None and self._life.boot is not None:
                    LifeBefore(self.session.monitor.oracle, self.wire, self.codec).drop()
                verdict = await self._run()
        except WriteError:
            # a failure counts, even if its trace cannot be written completely
            if self.session.verdict is None or not self.session.verdict.failed:
                raise
            verdict = self.session.verdict
        except Undecided as reason:
            # an earlier verdict stands
            if self.session.verdict is None and isinstance(reason.__cause__, ModelError):
                raise reason.__cause__ from reason
            verdict = self.session.verdict or Verdict("inconclusive", why=str(reason))
        if verdict.failure is not None and verdict.failure.kind not in CERTAIN and (doubt := self.wire.doubt()):
            return Verdict("inconclusive", why=f"{doubt}; seen: {verdict.failure.seen}")
        if verdict.failed:
            verdict = replace(verdict, stalled=self._lookout.stalled())
        lost = self.wire.lost()
        # the time of the loss is unknown: outputs may have another explanation, and missing ones may have come
        return Verdict("inconclusive", why=f"{AT_FAULT}: {lost}") if lost else verdict

    async def listen(self, seconds: float) -> list[str]:
        """Record what arrives in the next `seconds`, the aftermath of a failure; return it as text.

        otf does not judge the aftermath: it often names the cause, as a boot banner or a panic dump does. Interruptions
        wait until `listen` ends.
        """
        until, texts, size = self.wire.now + seconds, list[str](), 0
        with CancelScope(shield=True), suppress(Undecided, WriteError):
            while len(texts) < AFTERMATH and size < HEAVY and not self.wire.over(until):
                await self.wire.wait(until)
                for event, raw in map(self._event, self.wire.arrived()[: AFTERMATH - len(texts)]):
                    self.record(event, raw, aftermath=True)
                    size += len(raw or b"")
                    what = f"the port ended: {event.reason}" if isinstance(event, Closed) else show(event.output)
                    texts.append(f"afterwards on {event.port}: {what}")
        return texts

    async def _run(self) -> Verdict:
        await self._lookout.begin()
        while True:
            if self.wire.waiting:
                await self._take_all()
            if self._fast_path is not None and self._fast_path.ready:
                await self._fast_path.run()
            # matching classes one after another takes as long as the rest of this loop
            command = self.session.command()
            if isinstance(command, Send):
                if self._model.timed or self.session.others:
                    await self._send_carefully(command)
                else:
                    await self._send(command.input.value, command.port)
                if self.session.answering and self.session.pings is None and self.wire.prompt():
                    # most answers come within a moment, so do not work out how long to wait until that is over
                    await self._lookout.look(self.wire.now + FIRST)
            elif isinstance(command, Wait):
                await self._wait(command)
            elif isinstance(command, Ping):
                if await self._hand_over(command.port, command.input, self.codec.encode(command.input)):
                    self.session.pinged(command.port, self.wire.now)
            else:
                return command.verdict

    async def _take_all(self) -> None:
        # arrivals after the failing output are recorded too: no observation is thrown away
        began = self.wire.now
        for arrived in self.wire.arrived():
            if self.wire.now - began > TURN:
                # however slow judging is, the end of the campaign's time must get through
                await checkpoint()
                began = self.wire.now
            self._lookout.taken(arrived)
            answering = self.session.answering
            self._take(arrived)
            self._lookout.heard(answer=answering and self.session.monitor.verdict is None)

    def _take(self, arrived: Arrived) -> None:
        event: Event
        event, raw = self._event(arrived)
        if self.session.pings is not None and isinstance(event, Seen) and self.session.pong(event):
            # comes before asking the model, which does not allow the answer to a ping; that must not look like a stall
            self._record(self.session.proven(event.at))
            return
        self._tell_stalls()
        if self._model.timed and not self.session.monitor.would(event):
            event = self._lookout.between(event, arrived) if arrived.stamped else event
            self._lookout.sample()
            self._tell_stalls()
        self._tell(event, raw)
        if isinstance(event, Seen):
            self._record(self.session.proven(event.at, event))

    def _event(self, arrived: Arrived) -> tuple[Seen | Closed, bytes | None]:
        # an arrival from before the last input comes after it in the trace, whose times never decrease
        port, what, at = arrived.port, arrived.what, arrived.at
        at = max(at, self.session.times.input, self._lookout.floor)
        at = round(at, DIGITS) if self._model.timed else at
        self._lookout.allow(self.session.monitor.slack + at - arrived.at)
        if isinstance(what, Frame):
            return Seen(self.codec.output(port, what), port, at), what.data
        if isinstance(what, Ending):
            return Closed(port, what.reason, at), None
        raise Undecided(f"{AT_FAULT}: {port}: {what.reason}")

    async def _send_carefully(self, command: Send) -> None:
        if self._model.timed and not await self._catch_up(command):
            return
        if self.session.others:
            # the first of a burst is not among its others; these may be left over from an action
            begins = self.session.moment.next is not None
            await self._send_together([*[command] * begins, *self.session.others], begins=begins)
        else:
            await self._send(command.input.value, command.port)

    async def _send(self, value: object, port: str) -> None:
        begun = self._allowed if self._model.timed else self.wire.now
        if isinstance(value, Elapse):
            self._tell(Sent(value, port, begun))
            return
        data = self.codec.encode(value)
        if await self._hand_over(port, value, data):
            # The time before the write, so that a timer in time does not look early. But if the write had to wait for
            # the other side to read, the input was in flight only at its end.
            now = self.wire.now
            self._spent.wire += now - begun
            slow = now - begun >= AT_ONCE
            raw = data if isinstance(data, bytes) else None
            if raw is not None and not self._model.timed:
                self._tell(Sent(value, port, now if slow else begun), raw)
            else:
                # An action happens at some time while it is carried out, and its effects may have come meanwhile. The
                # same holds for bytes whose sender was held up. If time matters, the event has both ends.
                self._tell(Sent(value, port, begun, now - begun if slow else 0.0), raw)
            if now - self._lookout.looked > TURN:
                await self._lookout.turn()

    async def _send_together(self, burst: Sequence[Send], *, begins: bool) -> None:
        """Send a burst; its inputs are judged and recorded once all of them are in flight."""
        plain, held = list[tuple[Send, bytes]](), False
        ports = set[str]() if begins else {each.port for each in self.session.monitor.step.inputs}
        for each in burst:
            data = None if isinstance(each.input.value, (Elapse, Malformed)) else self.codec.encode(each.input.value)
            if not isinstance(data, bytes):
                # it takes time or may be refused, so the rest comes one by one, after silence if it drops answers
                held = isinstance(data, PortAction) and data is not PortAction.FINISH and each.port in ports
                break
            plain.append((each, data))
            ports.add(each.port)
        if not plain and not held:
            await self._send(burst[0].input.value, burst[0].port)
        for each, data in plain:
            begun = self._allowed if self._model.timed else self.wire.now
            if not await self._hand_over(each.port, each.input.value, data):
                break
            self._allowed = self.wire.now
            took = lasted if (lasted := self._allowed - begun) >= AT_ONCE else 0.0
            sent = Sent(each.input.value, each.port, *((begun, took) if self._model.timed else (begun + took,)))
            self._untold.append((sent, data))
        self._tell_untold()
        if held:
            self.session.plan(None)

    def _tell_untold(self) -> None:
        untold, self._untold = self._untold, []
        for event, data in untold:
            self._tell(event, data)

    async def _catch_up(self, send: Send) -> bool:
        """Look at the ports if an output is overdue or the last look is long ago; return whether the input may be sent.

        The output may be waiting there because the tester was busy. The input counts as sent at some time since the
        look: otherwise, if the machine stops the tester before its write, an output waiting there would look overdue.
        """
        session, self._allowed = self.session, self.wire.now
        likely = session.monitor.would(Sent(send.input.value, send.port, self._allowed))
        if not likely or self.wire.now - self._lookout.looked > TURN:
            self._lookout.sample()
            await self._lookout.turn()
            self._tell_stalls()
            await self._take_all()
            session.monitor.slack = 0.0
            # judging what the look found takes time too, and more comes meanwhile
            self._allowed = round(self._lookout.looked, DIGITS)
        return session.monitor.verdict is None and (session.moment.next is not None or bool(session.others))

    async def _hand_over(self, port: str, value: object, data: bytes | PortAction) -> bool:
        """Send a value's bytes to a port, or perform its action; return False if the line is lost."""
        line = self.wire.lines.get(port)
        if line is None:
            known = ", ".join(self.wire.lines) or "none: give the bench `ports` or `connect`"
            raise ModelError(f"the input {show(value)} belongs to the port {port!r}; the bench has {known}")
        try:
            await (line.send(data) if isinstance(data, bytes) else perform(self._life, port, line, data))
        except CodecError as error:
            if isinstance(value, Malformed):
                # no framing carries all bytes: another input is chosen
                self.session.plan(None)
                return False
            message = f"the port {port!r} cannot take the input {show(value)}: {error}"
            raise ModelError(message) from error
        except LineLost as lost:
            self._lost(port, str(lost), again=isinstance(value, Malformed))
            return False
        except ContactError as error:
            raise Undecided(f"{AT_FAULT}: {port}: {error}") from error
        except OtfError:
            raise
        except Exception as error:
            message = f"the port {port!r} raised for the input {show(value)}: {at(error)}{describe(error)}"
            raise UsageError(message) from error
        self._lost_ports.discard(port)
        return True

    def _lost(self, port: str, why: str, *, again: bool = False) -> None:
        """Take the ending of a line; `again`: it may have ended before, since a malformed input suits no state."""
        # the line delivers its own ending after its last arrivals; if it does not, this is the end
        self._tell_untold()
        self.wire.poll()
        arrived = self.wire.arrived()
        for each in arrived:
            self._take(each)
        if any(isinstance(each.what, Ending) for each in arrived):
            return
        if again:
            self.session.plan(None)
        elif port in self._lost_ports:
            # a model may allow any number of ends, so another one would leave the path where it is
            raise Undecided(f"{port} has ended ({why}), so nothing can be sent there, but the model allows inputs")
        else:
            self._lost_ports.add(port)
            self._tell(Closed(port, why, self.wire.now))

    async def _wait(self, wait: Wait) -> None:
        at = await self._lookout.silent(wait)
        if at is not None:
            observed = self._lookout.observed
            if self._model.timed or self._lookout.stalls.fresh:
                self._tell_stalls()
            if self._model.timed and not self.session.monitor.would(Quiet(at)):
                self._lookout.sample()
                self._tell_stalls()
            # a process seen asleep is not stopped, and other losses are still reported at the end
            if not observed and (lost := self.wire.lost()):
                raise Undecided(f"{AT_FAULT}: {lost}")
            self._record(self.session.silence(at, "observed" if observed else "timed"))

    def _tell(self, event: Event, raw: bytes | None = None) -> None:
        if self._model.timed:
            event = as_recorded(event)
        belated = self.session.late
        late = len(belated)
        self.session.tell(event, 0 if raw is None else len(raw))
        self._record(event, raw, **({"late": True} if len(belated) > late else {}))

    def _tell_stalls(self) -> None:
        for stall in self._lookout.stalls.told(self.wire.now, self.wire.overdue() if self._model.timed else 0.0):
            event = as_recorded(stall)
            self.session.tell(event)
            self.record(event)

    def _record(self, event: Event | None, raw: bytes | None = None, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        if event is None:
            return
        if self._model.timed:
            # a replay that judges windows must know how late the tester was
            more["slack"] = self.session.monitor.slack
        if self.wire.noting and (faults := self.wire.noted()):
            more["faults"] = faults
        self.record(event, raw, **more)
