"""The life of a system over the paths of a campaign: started, reset, checked, settled, and stopped."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from otf.adapter.board import Flash, Recording, Snapshot
from otf.adapter.child import Program
from otf.adapter.child.faster import FASTEST, FasterClock, under
from otf.adapter.child.server import LATEST, Ready, Server, peers
from otf.adapter.kept import campaigns_end
from otf.adapter.line import Acting, Line
from otf.adapter.log import note
from otf.adapter.reset import HEARD, Expect, Hook, drop, obey, quieten
from otf.adapter.waiting import clock
from otf.codec import PortAction
from otf.errors import CodecError, ContactError, UsageError, refuse
from otf.values.arguments import misfits
from otf.values.classes import fits

OpenLines = Mapping[str, Line]
Connected = Callable[[], AbstractAsyncContextManager[OpenLines]]

INSTEAD: Final = "give the bench a command for it: life=Life(actions={{{!r}: {{PortAction.{}: [PROGRAM, …]}}}})"


@dataclass(slots=True, eq=False)
class Lasting:
    """What lasts from one path to the next: the server if it is kept, and how often the power was cycled.

    `saved`: there is a snapshot of the system. With a snapshot, or a kept server that `inband` resets, only one path at
    a time has its `turn`.
    """

    server: Server | None = None
    cycles: int = 0
    saved: bool = False
    turn: anyio.Lock = field(default_factory=anyio.Lock)


@dataclass(frozen=True, kw_only=True)
class Life:
    """How otf prepares a system before each path and cleans up after it; every part is optional. Times are in seconds.

    otf uses the parts in the order of the attributes below. After a path, otf closes the ports, and stops the server
    with its child processes. If the server ends before the path begins, or if another process holds its ports, the
    start has failed. If a part fails, otf does not blame the system: it repeats the start up to `retries` times (a
    field of the bench). If all retries fail, a campaign that has already driven paths tries again after pauses. If the
    start still fails, the campaign is inconclusive.

    Attributes:
        flash: The image that otf writes to the board, only before the first path.
        reset: The hook (a script or a function) that puts the test bed in order before otf opens the ports.
        server: The program that otf starts for each path, in a session of its own, or a function that returns it.
        ready: How otf sees that the server is up: a line that it prints, a pattern (`re.compile`) in a line, a port
            (`Listening`), or a function. With None, the server is ready at once.
        inband: The frames, each with its port, that bring the system into its initial state once the ports are open; at
            each `Expect` otf waits for an answer.
        settle: How many seconds long otf drops all output after `inband`.
        health: The hook that checks that the system is well.
        boot: The hook that resets the system, or switches its power on, with the ports open: the model must allow all
            output from then on, such as a boot banner.
        actions: For each port, the commands by which inputs of the model reset the system or switch its power. The
            codec encodes an input that causes an action as a `PortAction`. A trace cannot change the commands.
        timeout: The longest time of each hook and of the start, in seconds.
        grace: How many seconds the server may take to end after a path before otf kills it.
        env: The environment of the server.
        keep: Whether the server lives for the whole campaign, so that only `inband` resets it between paths. otf then
            drives one path at a time on this bench. If `inband` fails, otf starts the server again.
        power: The hook that switches the power off and on if otf cannot start a kept server again.
        power_cycles: How many times otf may call `power` before the campaign gives up.
        speed: How many times as fast as real time the system's clocks run, under libfaketime. `speed` applies to
            `server` and to the processes that the ports start, not to hooks. The quiescence time, R and the model's
            time windows are in the system's seconds; L is in real seconds. otf rejects a system whose clocks it cannot
            change.
        recording: The program that records each path of a campaign, of a re-run and of `otf step`.
        snapshot: The saved state of a machine in QEMU, from which paths begin; the server then lives on. otf uses
            `reset` and `inband` only for the first path, and for paths for which it cannot restore the snapshot.
        lasting: The state that otf keeps from one path to the next; you cannot set it.

    >>> from pathlib import Path
    >>> Life(reset=lambda: Path("store").unlink(missing_ok=True), settle=0.1).settle
    0.1
    """

    flash: Flash | None = None
    reset: Hook | None = None
    server: Program | Callable[[], Program] | None = None
    ready: Ready | None = None
    inband: Sequence[tuple[str, bytes] | Expect] = ()
    settle: float = 0.0
    health: Hook | None = None
    boot: Hook | None = None
    actions: Mapping[str, Mapping[PortAction, Hook]] = field(default_factory=dict[str, Mapping[PortAction, Hook]])
    timeout: float = 10.0
    grace: float = 0.2
    env: Mapping[str, str] | None = field(default=None, repr=False)
    keep: bool = False
    power: Hook | None = None
    power_cycles: int = 10
    speed: float = 1.0
    recording: Recording | None = None
    snapshot: Snapshot | None = None
    lasting: Lasting = field(default_factory=Lasting, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise UsageError for a value of another type, and for an invalid speed."""
        if fits(self.speed, float) and not 1 <= self.speed <= FASTEST:
            raise UsageError(f"speed={self.speed}: a number from 1 to {FASTEST:g} is needed; 1 is the clock as it is")
        refuse("Life: ", misfits(type(self), vars(self).items()))
        if self.keeps and self.speed > 1:
            kept = "a server that is kept over a campaign runs by its own clock"
            raise UsageError(f"speed: {kept}; leave out speed, or keep and snapshot")

    @property
    def keeps(self) -> bool:
        """Whether the server keeps running from one path to the next."""
        return self.keep or self.snapshot is not None

    def by_reset(self) -> Life:
        """Return a copy of the `Life` without its snapshot: otf then starts the server again for each path."""
        plain = replace(self, snapshot=None, keep=False)
        object.__setattr__(plain, "lasting", self.lasting)
        return plain


@asynccontextmanager
async def living(life: Life, connect: Connected) -> AsyncGenerator[OpenLines, None]:
    """Bring a system to life and connect to it. Raises ContactError if that fails."""
    async with AsyncExitStack() as stack:
        if life.snapshot is not None or (life.keep and life.inband):
            await stack.enter_async_context(life.lasting.turn)
        if life.flash is not None:
            await life.flash.once()
        if life.snapshot is None or not life.lasting.saved:
            await _reset(life)
        clock = FasterClock(life.speed) if life.speed > 1 else None
        if clock is not None:
            stack.callback(clock.clean)
        with under(clock):
            opened = await _escalate(life, connect, stack)
        if clock is not None:
            await clock.check()
        yield opened


async def _escalate(life: Life, connect: Connected, stack: AsyncExitStack) -> OpenLines:
    """Try the start; after a failure, try again with a fresh server, and then with the power cycled."""
    reasons = list[str]()
    try:
        return await _tried(life, connect, stack)
    except ContactError as error:
        reasons.append(str(error))
        note("start failed", "warning", why=str(error))
    if life.lasting.server is not None or life.lasting.saved:
        await _dropped(life)
        if life.snapshot is not None:
            await _reset(life)
        try:
            return await _tried(life, connect, stack)
        except ContactError as error:
            reasons.append(f"after the server was started again: {error}")
    if life.power is not None:
        await _cycle_power(life, life.power, reasons)
        try:
            return await _tried(life, connect, stack)
        except ContactError as error:
            reasons.append(f"after power cycle {life.lasting.cycles}: {error}")
    raise ContactError("; ".join(reasons))


async def _reset(life: Life) -> None:
    if life.reset is not None:
        note("reset")
        await obey(life.reset, "the reset hook", life.timeout)


async def _cycle_power(life: Life, power: Hook, reasons: list[str]) -> None:
    if life.lasting.cycles >= life.power_cycles:
        used = f"all {life.power_cycles} power cycles are used up; see to the test bed, or raise power_cycles"
        raise ContactError("; ".join([*reasons, used]))
    life.lasting.cycles += 1
    note("power cycled", "warning", times=life.lasting.cycles)
    await _dropped(life)
    await obey(power, "the power hook", life.timeout)


async def _tried(life: Life, connect: Connected, stack: AsyncExitStack) -> OpenLines:
    async with AsyncExitStack() as attempt:
        server = await _server(life, attempt)
        LATEST.set(server)
        go = None
        if life.snapshot is not None and life.lasting.saved:
            go = await attempt.enter_async_context(life.snapshot.restored())
        HEARD.set(clock()())
        opened = await attempt.enter_async_context(_connected(connect, server))
        there = [each for line in opened.values() for each in peers(line)]
        if server is not None:
            await server.check(there)
        if go is not None:
            drop(opened, "was restored")
            await go()
        else:
            await quieten(opened, life.inband, life.settle)
            await _saved(life)
        if life.health is not None:
            await obey(life.health, "the health check", life.timeout)
        if server is not None:
            await server.check(there)
        if life.boot is not None:
            drop(opened, "was to boot")
            await obey(life.boot, "the boot hook", life.timeout)
        await stack.enter_async_context(attempt.pop_all())
        return opened


@asynccontextmanager
async def _connected(connect: Connected, server: Server | None) -> AsyncGenerator[OpenLines, None]:
    async with AsyncExitStack() as stack:
        try:
            opened = await stack.enter_async_context(connect())
        except ContactError:
            if server is not None:
                await server.check([])  # if the server has ended, it says why there is nothing to connect to
            raise
        yield opened


async def _saved(life: Life) -> None:
    """Save the initial state, if that is wanted and the state outlives the path."""
    if life.snapshot is not None and (life.server is None or life.lasting.server is not None):
        await life.snapshot.save()
        life.lasting.saved = True


async def _server(life: Life, attempt: AsyncExitStack) -> Server | None:
    """Return the server of a life, started if it is not running; one that is not kept ends with the attempt."""
    if life.server is None:
        return None
    campaign = campaigns_end() if life.keeps else None
    kept = life.lasting.server
    if campaign is not None and kept is not None and not kept.child.ended():
        return kept
    await _dropped(life)
    server = Server(life.server() if callable(life.server) else life.server, life.env, life.ready)
    if campaign is None:
        attempt.push_async_callback(_stopped, server, life.grace)
    else:
        life.lasting.server = server
        campaign.push_async_callback(_dropped, life)
    await server.until_ready(life.timeout)
    note("ready", server=True)
    return server


async def _dropped(life: Life) -> None:
    """Stop the server that was kept, if there is one."""
    server, life.lasting.server = life.lasting.server, None
    life.lasting.saved = False
    if server is not None:
        await _stopped(server, life.grace)


async def _stopped(server: Server, grace: float) -> None:
    with anyio.CancelScope(shield=True):
        await server.stop(grace)


async def perform(life: Life | None, port: str, line: Line, port_action: PortAction) -> None:
    """Carry out an action on a port, by the bench's command if it has one, else by the line itself.

    Raises CodecError if neither can, LineLost if the line ends, ContactError if the command fails.
    """
    hook = None if life is None else life.actions.get(port, {}).get(port_action)
    if life is not None and hook is not None:
        await obey(hook, f"the command to {port_action.value}", life.timeout)
    elif isinstance(line, Acting):
        await line.perform(port_action)
    else:
        raise CodecError(f"it cannot {port_action.value}; {INSTEAD.format(port, port_action.name)}")
