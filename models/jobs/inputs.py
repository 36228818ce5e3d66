"""Inputs worth trying with a job queue."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from otf.models.jobs.messages import CLIENTS, Command
from otf.models.jobs.state import LONG, MOST, SHORT, State

ALSO: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "number": ("reserve-with-timeout", ("x",)),
    "missing": ("delete", ()),
    "return": ("x\rx", ()),
}
"""Descriptions of malformed commands that beanstalkd answers contrary to its protocol."""

UNKNOWN: Final = ("bogus", "x\rx")
"""Names that no command has; a lone carriage return does not end a line."""
_MALFORMED: Final = (("delete", ("x",)), ("release", (1,)), ("peek-ready", ("x",)), ("kick", ("x",)), ("bogus", ()))
_RECENT: Final = 1_000  # clients and jobs whose commands we keep: ids restart on each path
_PUTS: Final = ((1, 0, LONG, "x"), (2, 0, LONG, "yy"), (1, 0, SHORT, "x"), (1, 1, LONG, "zzz"))


def inputs(also: str, state: State) -> Iterator[Command]:
    """Yield the commands of clients that do not wait for an answer; `also` is one of `ALSO`."""
    for client in CLIENTS:
        if client not in state.waiting:
            yield from _asked(also, state, client)


def _asked(also: str, state: State, client: str) -> Iterator[Command]:
    # most commands are the same in every state: make them once
    yield from _plain(also, client, len(state.jobs) < MOST, not state.waiting)
    known = [job.id for job in state.jobs] or [state.next]
    for job in known:
        yield from _on_job(client, job)


@lru_cache(_RECENT)
def _on_job(client: str, job: int) -> tuple[Command, ...]:
    plain = (Command(client, name, (job,)) for name in ("delete", "touch", "peek", "kick-job"))
    released = (Command(client, "release", (job, 3, delay)) for delay in (0, 1))
    return (*plain, *released, Command(client, "bury", (job, 0)))


@cache
def _plain(also: str, client: str, room: bool, reserves: bool) -> tuple[Command, ...]:  # noqa: FBT001 -- of a cache
    puts = [Command(client, "put", tuple(words), body) for *words, body in _PUTS] if room else []
    peeks = [Command(client, name) for name in ("peek-ready", "peek-buried", "peek-delayed")]
    wrong = [Command(client, name, words) for name, words in _MALFORMED]
    wrong += [Command(client, *ALSO[also])] if also in ALSO else []
    both = [Command(client, "kick", (10,)), Command(client, "reserve-with-timeout", (0,))]
    # if both waited, neither could put a job
    return (*puts, *peeks, *wrong, *both, *([Command(client, "reserve")] if reserves else []))
