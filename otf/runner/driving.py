"""One run on a fresh copy of the system: opens its lines, conducts the run, and closes the lines."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias, cast

from otf.adapter import Bench, Line
from otf.adapter.child.server import LATEST
from otf.adapter.kept import glance
from otf.adapter.observed_rest.elsewhere import KERNEL
from otf.adapter.observed_rest.owners import adopting, starting
from otf.adapter.observed_rest.peers import are_fed, on_terminals, peers
from otf.adapter.observed_rest.wakers import Wakers
from otf.adapter.reset import HEARD
from otf.adapter.third_party import at, is_interruption, where
from otf.adapter.threads import ThreadWatch
from otf.adapter.waiting import clock
from otf.core import Session
from otf.core.stalls import CERTAIN, STALL
from otf.errors import ContactError, ModelError, OtfError, UsageError
from otf.runner.cpu_use import in_real_time, pressure
from otf.runner.observing import OnSilence, observing
from otf.runner.path import Conduct
from otf.runner.time_spent import spent
from otf.runner.wire import Wire
from otf.runner.writer import EventRecord
from otf.trace.verdict import FailureKind, Verdict
from otf.values import show
from otf.values.arguments import brief
from otf.values.raised import describe
from otf.values.text import plain

Aftermath: TypeAlias = Callable[[Verdict], float]
LINES: Final = 20  # of the aftermath that become remarks; its trace has all of it
_COUNTS: Final = Path("/proc/vmstat")
_OF_LINE: Final = ("descriptors", "arm", "send", "receive", "remarks")  # see `Line`
_OF_A_DEATH: Final[set[FailureKind]] = {"ended", "missing", "late"}


async def drive(  # noqa: PLR0913, PLR0917 -- what a run needs, each once
    bench: Bench,
    session: Session,
    record: EventRecord,
    known: OnSilence = lambda _: None,
    aftermath: Aftermath = lambda _: 0.0,
    wakers: Wakers | None = None,
) -> Verdict:
    """Drive one path on a fresh copy of the system: start it, send inputs, stop it; return the verdict.

    `drive` calls `known` with how it detects silence, before the first event and whenever that changes. `aftermath` is
    a function that returns for how many seconds otf listens to the ports after a failure. `wakers` has what otf knows
    of threads of the system that wake up without doing anything. `drive` raises ContactError if the system cannot be
    started or reached, ModelError if the model is broken, and UsageError if the bench is.

    >>> import anyio
    >>> from otf.core.pacing import Strict
    >>> from otf.models.coffee import Button, Coin, bench
    >>> from otf.strategy import Script
    >>> made, seen = bench(), []
    >>> session = Session(made.oracle(), Script([Coin(10), Button()]), Strict(made.timing), steps=2)
    >>> anyio.run(drive, made, session, lambda event, *rest: seen.append(type(event).__name__)).outcome
    'pass'
    >>> seen
    ['Sent', 'Quiet', 'Sent', 'Seen', 'Quiet']
    """
    if bench.codec is None:
        raise UsageError("the bench has no codec: its system is in this process, and nothing can be driven over ports")
    before, waited, died = killed_for_memory(), pressure(), list[BaseException]()
    HEARD.set(clock()())
    glance()
    observed = adopting() if bench.silence == "observed" else nullcontext()
    with _placed(bench), observed, starting() as started, ThreadWatch(died.append) as watch, watch.running():
        async with (
            spent().starting(opened(bench)) as lines,
            Wire(lines, HEARD.get()) as wire,
            observing(bench, wire, started, known, wakers) as observer,
        ):
            if (server := LATEST.get()) is not None and bench.life is not None:
                # one that was kept was started for an earlier path
                started.add(server.child.pid)
            strangers = _strangers(bench, session, wire, started)
            started.update(strangers)
            conduct = Conduct(session, wire, bench.codec, record, observer, started, bench.life)
            verdict = unless_fed(await conduct.run(), strangers, pressure() - waited)
            seconds = aftermath(verdict) if verdict.failed else 0.0
            after = await conduct.listen(seconds) if seconds else []
            verdict = excused(bereaved(verdict, died), killed_for_memory() - before)
            return await _remarked(verdict, wire, after)


@contextmanager
def _placed(bench: Bench) -> Generator[None]:
    """Append the line of the bench to an error that names no line of the user's code."""
    try:
        yield
    except (ModelError, UsageError) as error:
        if not re.search(r", line \d+", str(error)):
            error.args = (f"{error}{bench.made_at}",)
        raise


@asynccontextmanager
async def opened(bench: Bench) -> AsyncGenerator[Mapping[str, Line], None]:
    """Open the lines of a bench. Raises UsageError for an exception of its own code, ContactError for an OSError."""
    async with AsyncExitStack() as stack:
        try:
            lines = await stack.enter_async_context(bench.open())
        except OtfError:
            raise
        except OSError as error:
            message = f"the bench could not open its ports: {type(error).__name__}: {error}"
            raise ContactError(message) from error
        except BaseException as error:
            if is_interruption(error):
                raise
            message = f"the bench raised while it opened its ports: {at(error)}{describe(error)}"
            raise UsageError(message) from error
        yield _checked(lines)


def _strangers(bench: Bench, session: Session, wire: Wire, started: set[int]) -> frozenset[int]:
    """Return the processes behind the lines if all are known; then only their waits excuse delays."""
    if not (session.monitor.oracle.model.timed and in_real_time()):
        return frozenset()
    started.difference_update([each for each in started if not Path(f"/proc/{each}").exists()])
    return on_terminals(wire.lines) if started else peers(wire.lines, bench.pids)


def unless_fed(verdict: Verdict, strangers: frozenset[int], waited: float) -> Verdict:
    """Return the verdict of a run, inconclusive if other processes have since begun to feed these.

    `waited`: seconds for which tasks of this machine waited for a processor; those other processes may be among them.
    """
    failure, known = verdict.failure, strangers - {KERNEL}
    if failure is None or failure.kind in CERTAIN or not known or waited < STALL or not are_fed(strangers):
        return verdict
    why = "another process has a part in what the system says, and may have had no processor; name it with --pid"
    return Verdict("inconclusive", why=f"{failure.seen}, but {why}")


def _checked(lines: object) -> Mapping[str, Line]:
    if isinstance(lines, Mapping):
        for name, line in cast("Mapping[str, object]", lines).items():
            if missing := [each for each in _OF_LINE if not hasattr(line, each)]:
                raise UsageError(f"the port {name!r} opened {brief(line)}, no line: it has no {', '.join(missing)}")
        return cast("Mapping[str, Line]", lines)
    message = f"the bench's connect returned {show(lines)}, not a mapping from the names of its ports to lines"
    raise UsageError(message)


def killed_for_memory() -> int:
    """Return how many processes this machine has killed for lack of memory so far (0 if not on Linux)."""
    try:
        lines = _COUNTS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def excused(verdict: Verdict, killed: int) -> Verdict:
    """Return the verdict of a run, inconclusive if `killed` processes may explain the end of the system.

    The kernel killed them for lack of memory. Only the administrator can see which ones; a helper process of the system
    may be among them.
    """
    if not killed or verdict.failure is None or verdict.failure.kind not in _OF_A_DEATH:
        return verdict
    why = f"{verdict.failure.seen}, but the machine ran out of memory meanwhile and killed processes ({killed})"
    return Verdict("inconclusive", why=f"{why}: give it more memory, and see `journalctl -k` for which they were")


def bereaved(verdict: Verdict, died: Sequence[BaseException]) -> Verdict:
    """Return the verdict of a run, inconclusive if it passed although threads or tasks of the bench died.

    They may belong to the system or to what leads to it: only an adapter knows.
    """
    if not died or verdict.outcome != "pass":
        return verdict
    what = f"{where(died[0])}: {describe(died[0])}"
    return Verdict("inconclusive", why=f"a thread or task that the bench started died of an exception: {what}")


def with_all_sent(verdict: Verdict, sent: int, least: int) -> Verdict:
    """Return the verdict of a run of given inputs, inconclusive if it passed but sent fewer than `least`.

    >>> with_all_sent(Verdict("pass"), 2, 5).outcome
    'inconclusive'
    """
    if sent >= least or verdict.outcome != "pass":
        return verdict
    why = "the system came to states in which the model does not allow the others"
    return Verdict("inconclusive", why=f"sent {sent} of {least} inputs: {why}, so this proves nothing; drive it again")


async def _remarked(verdict: Verdict, wire: Wire, after: list[str]) -> Verdict:
    if verdict.failure is None:
        return verdict
    server = LATEST.get()
    began, ended = monotonic() - wire.now, verdict.failure.kind == "ended"
    words = await server.last_words(wanted=ended, since=began) if server is not None else []
    remarks = [f"{port}: {remark}" for port, line in wire.lines.items() for remark in line.remarks()]
    notes = filter(None, [verdict.failure.note, *remarks, *words, *after[:LINES]])
    # whatever else ends a line or moves a cursor would make a remark look like a line of otf
    note = plain("\n".join(notes), "\n\t")
    return replace(verdict, failure=replace(verdict.failure, note=note))
