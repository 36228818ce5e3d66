"""Talks to a system by hand: values go out and come in on the ports of its bench."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from typing import Any, Final

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from otf.adapter import Arrival, Bench, Ending, Line, Trouble
from otf.adapter.lifecycle import perform
from otf.codec import Codec
from otf.errors import CodecError, ContactError, UsageError
from otf.pytest_plugin.planned_run import asked_of, made_with, reserved
from otf.runner.wire import Wire
from otf.trace.events import Ended, Undecodable
from otf.values import show

WITHIN: Final = 1.0  # seconds to wait for an output by default


class Spoken:
    """A running system, as returned by `talking`. Its methods are awaited; those of `Talk` are the same without."""

    def __init__(self, bench: Bench, codec: Codec, wire: Wire) -> None:
        self._bench, self._codec, self._wire = bench, codec, wire
        self._received: deque[tuple[str, object]] = deque()

    async def send(self, value: object) -> None:
        """Send an input to its port, or perform its port action. Raises UsageError if the port cannot do that."""
        port, data = self._bench.port(value), self._codec.encode(value)
        line = self._line(port)
        if isinstance(data, bytes):
            await line.send(data)
            return
        try:
            await perform(self._bench.life, port, line, data)
        except CodecError as error:
            raise UsageError(f"the port {port!r} cannot take {show(value)}: {error}") from error

    async def receive(self, port: str = "", within: float = WITHIN) -> Any:  # noqa: ANN401 -- an output of any type
        """Return the next output, of one port or any. Fails the test if none comes within `within` seconds.

        A port that ended yields `Ended(reason)`, and bytes that cannot be decoded yield `Undecodable`.
        """
        until = self._wire.now + within
        while (found := self._taken(port)) is None:
            if self._wire.over(until):
                raise AssertionError(f"no output{f' on {port}' if port else ''} within {within:g} s{self._others()}")
            await self._wire.wait(until)
            self._receive()
        return found[1]

    async def silence(self, seconds: float | None = None) -> None:
        """Wait, by default for the quiescence time of the bench. Fails the test if an output comes."""
        timing = self._bench.timing
        until = self._wire.now + (
            max(timing.quiescence, 2 * timing.latency + timing.busy) if seconds is None else seconds
        )
        self._receive()
        while not self._received and not self._wire.over(until):
            await self._wire.wait(until)
            self._receive()
        if self._received:
            port, output = self._received[0]
            raise AssertionError(f"silence was expected, but {show(output)} came on {port}")

    def _line(self, port: str) -> Line:
        try:
            return self._wire.lines[port]
        except KeyError as error:
            raise UsageError(f"there is no port {port!r}; the bench has {', '.join(self._wire.lines)}") from error

    def _receive(self) -> None:
        self._wire.poll()
        self._received.extend((each.port, self._value(each.port, each.what)) for each in self._wire.arrived())

    def _value(self, port: str, what: Arrival) -> object:
        if isinstance(what, Trouble):
            raise ContactError(f"trouble on the line {port}: {what.reason}")
        if isinstance(what, Ending):
            return Ended(what.reason)
        try:
            return self._codec.decode(port, what.data)
        except CodecError as error:
            return Undecodable(what.data, str(error))

    def _taken(self, port: str) -> tuple[str, object] | None:
        for at, each in enumerate(self._received):
            if port in {"", each[0]}:
                del self._received[at]
                return each
        return None

    def _others(self) -> str:
        others = ", ".join(f"{show(output)} on {port}" for port, output in self._received)
        return f"; received instead: {others}" if others else ""


class Talk:
    """An open system, for tests that are plain functions."""

    def __init__(self, spoken: Spoken, portal: BlockingPortal) -> None:
        self._spoken, self._portal = spoken, portal

    def send(self, value: object) -> None:
        """Send an input to its port."""
        __tracebackhide__ = True
        self._call(self._spoken.send, value)

    def receive(self, port: str = "", within: float = WITHIN) -> Any:  # noqa: ANN401 -- an output of any type
        """Return the next output, of one port or any. Fails the test if none comes within `within` seconds."""
        __tracebackhide__ = True
        return self._call(self._spoken.receive, port, within)

    def silence(self, seconds: float | None = None) -> None:
        """Wait, by default for the quiescence time of the bench. Fails the test if an output comes."""
        __tracebackhide__ = True
        self._call(self._spoken.silence, seconds)

    def _call(self, method: Callable[..., Awaitable[Any]], *arguments: object) -> Any:  # noqa: ANN401 -- as above
        __tracebackhide__ = True
        try:
            return self._portal.call(method, *arguments)
        except Exception as error:  # noqa: BLE001 -- the frames of the other thread explain nothing, whatever the error is
            raise error.with_traceback(None) from None


@asynccontextmanager
async def talking(bench: Bench) -> AsyncGenerator[Spoken]:
    """Start the system of a bench and open its ports; leaving the context stops it."""
    codec = bench.codec
    if codec is None:
        raise UsageError("this bench tests an object in this process and has no ports: call the object itself")
    async with bench.open() as lines, Wire(lines) as wire:
        yield Spoken(bench, codec, wire)


class SystemOpener:
    """Opens systems for one test, and stops them at its end."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._asked = asked_of(item)
        self._open = ExitStack()

    def __repr__(self) -> str:
        """Show the name of the test: pytest prints the fixtures of a failing test."""
        return self._item.name

    def open(self, bench: Bench | Callable[..., Bench], *, alone: str | bool = True, **parameters: object) -> Talk:
        """Start a system; `parameters` go to the function that makes the bench."""
        self._asked.driven = True
        made = self._made(bench, parameters)
        self._open.enter_context(reserved(self._item, made, alone))
        portal = self._open.enter_context(start_blocking_portal())
        return Talk(self._open.enter_context(portal.wrap_async_context_manager(talking(made))), portal)

    def open_async(
        self, bench: Bench | Callable[..., Bench], *, alone: str | bool = True, **parameters: object
    ) -> AbstractAsyncContextManager[Spoken]:
        """Start a system on the test's event loop; the test enters the context."""
        self._asked.waiting.append("otf_open_async")
        return self._entered(bench, alone, parameters)

    @asynccontextmanager
    async def _entered(
        self,
        bench: Bench | Callable[..., Bench],
        alone: str | bool,  # noqa: FBT001 -- as in the test
        parameters: dict[str, object],
    ) -> AsyncGenerator[Spoken]:
        with self._asked.awaited("otf_open_async"):
            made = self._made(bench, parameters)
        with reserved(self._item, made, alone):
            async with talking(made) as spoken:
                yield spoken

    def close(self) -> None:
        """Stop all systems that this object started."""
        self._open.close()

    def _made(self, bench: Bench | Callable[..., Bench], parameters: dict[str, object]) -> Bench:
        made, rest = made_with(bench, parameters)
        if rest:
            raise UsageError(f"{next(iter(rest))}= is not a parameter of the bench")
        return made
