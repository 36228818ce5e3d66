"""The jobs of a queue and the waiting clients, in the model."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.models.jobs.messages import CLIENTS, Command, Reply

SHORT, LONG = 1, 1000
LATE: Final = 3.0
"""Seconds within which a time of one second is over, even on a busy machine."""

MOST: Final = 3
"""Jobs at a time."""

READY, DELAYED, BURIED = "ready", "delayed", "buried"
ARGUMENTS: Final = {"peek": 0, "delete": 0, "touch": 0, "kick-job": 0, "bury": 1, "release": 2}
"""How many numbers follow the id of a job."""

MINE: Final = ("touch", "bury", "release")


@dataclass(frozen=True, slots=True)
class Job:
    """A job and its place: ready, delayed, buried, or reserved by the client of that name."""

    id: int
    priority: int
    ttr: int
    body: str
    place: str = READY


@dataclass(frozen=True, slots=True)
class State:
    """The jobs by id, the next id, and the clients that wait for a job."""

    jobs: tuple[Job, ...] = ()
    next: int = 1
    waiting: frozenset[str] = frozenset()

    def job(self, number: int) -> Job | None:
        """Return the job with an id."""
        return next((job for job in self.jobs if job.id == number), None)

    def ready(self) -> Job | None:
        """Return the next job to reserve: the oldest of the most urgent."""
        found = [job for job in self.jobs if job.place == READY]
        return min(found, key=lambda job: (job.priority, job.id), default=None)

    def at(self, place: str) -> list[Job]:
        """Return the jobs at a place."""
        return [job for job in self.jobs if job.place == place]

    def moved(self, job: Job, place: str, priority: int | None = None) -> State:
        """Return the state with a job at another place."""
        then = replace(job, place=place, priority=job.priority if priority is None else priority)
        return replace(self, jobs=tuple(then if each.id == job.id else each for each in self.jobs))

    def is_soon(self, client: str) -> bool:
        """Return whether a job that the client has reserved may be in the last second of its time-to-run."""
        return any(job.ttr == SHORT for job in self.at(client))


def alike(state: object, inp: object) -> Hashable:
    """Return what decides whether the queue says more: who waits, and for what, without ids or bodies of jobs."""
    if not (isinstance(state, State) and isinstance(inp, Command)):
        return state, inp  # malformed
    places, words = {job.place for job in state.jobs}, inp.words
    job = state.job(words[0]) if inp.name in ARGUMENTS and words and isinstance(words[0], int) else None
    its = (job.place, job.ttr) if job else None if inp.name in ARGUMENTS else words
    timed = DELAYED in places or any(map(state.is_soon, CLIENTS))
    return inp.client, inp.name, its, state.waiting, READY in places, BURIED in places, timed


Outcome: TypeAlias = tuple[State, tuple[Reply, ...]]
