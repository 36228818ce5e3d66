"""One run: the session's commands are performed on the wire, what comes back is told to it as events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from anyio.lowlevel import checkpoint

from otf.adapter import Bench, Ending, Frame, Line, LineLost
from otf.adapter.exits import blaming, said, where
from otf.adapter.line import Acting
from otf.codec import Codec, PortAction
from otf.core import Ping, Send, Session, Wait
from otf.errors import CodecError, ModelError, OtfError, UsageError, WriteError
from otf.runner.codec_cache import CodecCache
from otf.runner.fast_path import FastPath
from otf.runner.opening import opened
from otf.runner.record import EventRecord
from otf.runner.spin_wait import AT_ONCE, TURN
from otf.runner.starved import excused, killed_for_memory
from otf.runner.wire import Arrived, Wire
from otf.trace.events import Closed, Event, Seen, Sent, Undecodable
from otf.trace.verdict import Verdict
from otf.values import show

TRICKLE: Final = 30.0  # seconds after which a frame that goes on coming byte by byte is believed to have no end
AT_FAULT: Final = "the line was at fault"


async def drive(bench: Bench, session: Session, record: EventRecord) -> Verdict:
    """Start a fresh copy of the system, conduct one run on it, stop it; return the verdict.

    Raises ContactError where the system cannot be started or reached; ModelError where the model is broken, UsageError
    where the bench is.
    """
    if bench.codec is None:
        raise UsageError("the bench has no codec: its system is in this process, and nothing can be driven over ports")
    before = killed_for_memory()
    async with opened(bench) as lines, Wire(lines) as wire:
        verdict = await Conduct(session, wire, bench.codec, bench.port, record).run()
        return _remarked(excused(verdict, killed_for_memory() - before), wire)


class _Troubled(Exception):  # noqa: N818 -- what happened to the line, not an error of anybody here
    """The line is at fault: of what comes after it nothing can be said."""


class Conduct:
    """The conduct of one run on an open wire."""

    def __init__(
        self, session: Session, wire: Wire, codec: Codec, port: Callable[[object], str], record: EventRecord
    ) -> None:
        self.session = session
        self.wire = wire
        self.codec: CodecCache = CodecCache(codec)
        self.port = port
        self.record = record
        self._looked = wire.now
        self._model = session.monitor.oracle.model
        self._stamping = False
        self._slack = 0.0
        self._floor = 0.0
        self._fast_path = FastPath(session, wire, self.codec, self._bytes, record)

    async def run(self) -> Verdict:
        """Perform commands until the verdict; where the line itself is at fault, that is inconclusive."""
        try:
            # before a task group hears of it: one that is told of a CancelledError believes it
            with blaming():
                verdict = await self._run()
        except WriteError:
            # a failure that was seen is one, also where its trace cannot be written to the end
            if self.session.verdict is None or not self.session.verdict.failed:
                raise
            verdict = self.session.verdict
        except _Troubled as trouble:
            # what came before it stands
            verdict = self.session.verdict or Verdict("inconclusive", why=f"{AT_FAULT}: {trouble}")
        lost = self.wire.lost()
        # nobody knows when it was lost: what was seen may have another explanation, and what was not may have come
        return Verdict("inconclusive", why=f"{AT_FAULT}: {lost}") if lost else verdict

    async def _run(self) -> Verdict:
        while True:
            if self.wire.waiting:
                self._hear()
            if self._fast_path.ready:
                await self._fast_path.run()
                self._looked = self.wire.now
            # matching classes one after another takes as long as all the rest of this loop
            command = self.session.command()
            if isinstance(command, Send):
                await self._send(command.input.value)
            elif isinstance(command, Wait):
                await self._wait(command.until)
            elif isinstance(command, Ping):
                await self._ping(command.port, command.input)
            else:
                return command.verdict

    def _hear(self) -> None:
        # what came with the failing output is recorded too: nothing that was seen is thrown away
        for arrived in self.wire.arrived():
            # what the kernel saw in time was in time, however late the tester was
            self.session.monitor.slack = 0.0 if arrived.stamped else self._slack
            self._heard(arrived)

    def _heard(self, arrived: Arrived) -> None:
        event, raw = self._event(arrived)
        if arrived.stamped and not self.session.monitor.would(event):
            event = self._between(event, arrived)
        if self.session.probing and isinstance(event, Seen) and self.session.pong(event):
            self._believe(self.session.proven(event.at))
        else:
            self._tell(event, raw)

    def _between(self, event: Event, arrived: Arrived) -> Event:
        # its stamp may go by another clock: it came between that and now, and who blames the system needs both ends
        self.session.monitor.slack = max(arrived.looked - arrived.at, 0.0)
        self._floor = arrived.looked
        return replace(event, at=max(event.at, arrived.looked))

    def _event(self, arrived: Arrived) -> tuple[Event, bytes | None]:
        # what came before the last input was written is told after it, and time does not run backwards in a trace
        port, what, at = arrived.port, arrived.what, arrived.at
        at = max(at, self.session.times.input, self._floor)
        if isinstance(what, Frame):
            output = Undecodable(what.data, what.trouble) if what.trouble else self._decoded(port, what.data)
            return Seen(output, port, at), what.data
        if isinstance(what, Ending):
            return Closed(port, what.reason, at), None
        raise _Troubled(f"{port}: {what.reason}")

    def _decoded(self, port: str, data: bytes) -> object:
        try:
            return self.codec.decode(port, data)
        except CodecError as error:
            return Undecodable(data, str(error))
        except Exception as error:  # noqa: BLE001 -- bytes of the system that a codec stumbles over do not decode
            return Undecodable(data, f"{type(error).__name__}: {error}")

    async def _send(self, value: object) -> None:
        port, data = self._bytes(value)
        begun = self.wire.now
        if await self._handed(port, value, data):
            # from before it was written, lest a timer that keeps its time look early; but where the other side did not
            # read, the input was on its way only when that was over
            now = self.wire.now
            moment = begun if now - begun < AT_ONCE else now
            self._tell(Sent(value, port, moment), data if isinstance(data, bytes) else None)
            if now - self._looked > TURN:
                await self._turn()

    async def _handed(self, port: str, value: object, data: bytes | PortAction) -> bool:
        """Hand a value's bytes to a port; False where the line is lost."""
        try:
            line = self.wire.lines[port]
            await (line.send(data) if isinstance(data, bytes) else _performed(line, data))
        except CodecError as error:
            message = f"the port {port!r} cannot take the input {show(value)}: {error}"
            raise ModelError(message) from error
        except LineLost as lost:
            self._lost(port, str(lost))
            return False
        except OtfError:
            raise
        except Exception as error:
            message = f"the port {port!r} raised for the input {show(value)}: {where(error)}: {said(error)}"
            raise UsageError(message) from error
        return True

    def _bytes(self, value: object) -> tuple[str, bytes | PortAction]:
        port = self.port(value)
        return port, self._encoded(port, value)

    def _encoded(self, port: str, value: object) -> bytes | PortAction:
        if port not in self.wire.lines:
            known = ", ".join(self.wire.lines) or "none: give the bench `ports` or `connect`"
            message = f"the input {show(value)} belongs to the port {port!r}; the bench has {known}"
            raise ModelError(message)
        try:
            data: object = self.codec.encode(value)
        except CodecError as error:
            message = f"the codec has no bytes for the input {show(value)}: {error}"
            raise ModelError(message) from error
        except Exception as error:
            message = f"the codec raised for the input {show(value)}: {type(error).__name__}: {error}"
            raise ModelError(message) from error
        if isinstance(data, bytes | PortAction):  # pyright: ignore[reportUnnecessaryIsInstance] -- a codec of the user's may give anything
            return data
        message = f"the codec gave {show(data)} for the input {show(value)}, which is no bytes; use text.encode()"
        raise ModelError(message)

    def _lost(self, port: str, why: str) -> None:
        # the line delivers its own ending, with what arrived before it; if it has none to deliver, this is the end
        self.wire.poll()
        arrived = self.wire.arrived()
        for each in arrived:
            self._heard(each)
        if not any(isinstance(each.what, Ending) for each in arrived):
            self._tell(Closed(port, why, self.wire.now))

    async def _ping(self, port: str, value: object) -> None:
        if await self._handed(port, value, self._encoded(port, value)):
            self.session.pinged(port, self.wire.now)

    async def _turn(self) -> None:
        # inputs may follow each other for long without a wait: what comes, and interruptions, are heard all the same
        busy = self.wire.now - self._looked
        await checkpoint()
        self.wire.poll()
        self._looked = self.wire.now
        self._slack = self.session.monitor.slack = busy

    async def _wait(self, until: float) -> None:
        await self._look(until)
        if self.wire.waiting or not self.wire.over(until):
            return
        silent = self._silent_by(until)
        if not self.wire.over(silent):
            await self._look(silent)
            return
        # the last look before silence is believed: the loop may have been late, and the output in time
        self.wire.poll()
        if not self.wire.waiting and self.wire.over(self._silent_by(until)):
            if lost := self.wire.lost():
                raise _Troubled(lost)
            self._believe(self.session.silence(max(until, self.wire.now)))

    async def _look(self, until: float) -> None:
        """Wait until something has come, or that time; note for how long nobody looked."""
        began = self.wire.now
        busy = began - self._looked
        if not self.wire.spun(until):
            await self.wire.sleep(until)
        self._looked = now = self.wire.now
        if self._model.timed and not self._stamping:
            self._stamping = True
            self.wire.stamp()
        # between two looks, and when it is woken too late, the tester does not see what comes
        late = now - max(began, until)
        self._slack = self.session.monitor.slack = max(busy, late, 0.0)

    def _silent_by(self, until: float) -> float:
        """Return until when to wait: longer where a frame is just coming, since its bytes are no silence."""
        stirred, timing = self.wire.stirred, self.session.monitor.oracle.timing
        # one that goes on coming byte by byte for ever has no end, and what was owed is missing
        return max(until, min(stirred + max(timing.quiescence, timing.latency), until + TRICKLE))

    def _believe(self, event: Event | None) -> None:
        if event is not None:
            self.record(event, **self._beside())

    def _tell(self, event: Event, raw: bytes | None = None) -> None:
        belated = self.session.late
        late = len(belated)
        self.session.tell(event, 0 if raw is None else len(raw))
        if self._model.timed or self.wire.noting or len(belated) > late:
            more = {"late": True} if len(belated) > late else {}
            self.record(event, raw, **more, **self._beside())
        else:
            self.record(event, raw)

    def _beside(self) -> dict[str, Any]:
        """Return what the trace has to tell beside an event."""
        # where windows are judged, a replay has to know how late the tester itself was
        more: dict[str, Any] = {"slack": round(self.session.monitor.slack, 6)} if self._model.timed else {}
        if faults := self.wire.noted():
            more["faults"] = faults
        return more


async def _performed(line: Line, port_action: PortAction) -> None:
    if not isinstance(line, Acting):
        message = f"it cannot {port_action.value}: tcp and unix can, and a process can finish"
        raise CodecError(message)
    await line.perform(port_action)


def _remarked(verdict: Verdict, wire: Wire) -> Verdict:
    if verdict.failure is None:
        return verdict
    remarks = [f"{port}: {remark}" for port, line in wire.lines.items() for remark in line.remarks()]
    return replace(verdict, failure=replace(verdict.failure, note="\n".join(remarks)))
