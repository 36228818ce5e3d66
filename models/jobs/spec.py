"""A job queue with one tube and two clients, as a function; after protocol.txt of beanstalkd.

Jobs have a short time-to-run and delay of one second, or none that matters here. Nobody knows exactly when a second is
over, so a short time may end at any moment; if a client waits for nothing else, it must end soon. That ids count up
from 1, and that either of two waiting clients may get a job, is not in the protocol; we observed both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from otf.adapter.malformed import Disturbed
from otf.codec.malformed import Malformed
from otf.errors import CodecError
from otf.models.jobs.inputs import UNKNOWN, inputs
from otf.models.jobs.messages import CLIENTS, Command, JobsCodec, Reply
from otf.models.jobs.state import ARGUMENTS, BURIED, DELAYED, LATE, MINE, READY, SHORT, Job, Outcome, State
from otf.spec import Spec, Transition, goto


def jobs(also: str = "") -> Spec[State, Command]:
    """Return the spec of a job queue with two clients; `also` adds one malformed command from the list `ALSO`.

    >>> jobs().name
    'jobs'
    """
    return Spec(_step, State(), partial(inputs, also), _emits, name="jobs", malformed=_malformed)


def _step(state: State, inp: Command) -> Iterator[Transition[State]]:
    if inp.client in state.waiting:
        return  # a client that waits for an answer sends nothing else
    for then, outputs in _outcomes(state, inp):
        for last, more in _served(then):
            yield goto(last, *outputs, *more)


def _malformed(state: State, inp: Malformed) -> Iterator[Transition[Any]] | None:
    """Yield what follows bytes that are not a command; after a command of a waiting client, anything may happen."""
    return None if inp.raw == inp.of else _disturbed(state, inp)


def _disturbed(state: State, inp: Malformed) -> Iterator[Transition[Any]]:
    """Yield that nothing changes, that a job number is used up, or that the server is lenient."""
    yield goto(Disturbed(state, inp.port))
    yield goto(Disturbed(replace(state, next=state.next + 1), inp.port))
    with suppress(CodecError):
        meant = JobsCodec().decode_input(inp.port, inp.of)
        yield from (goto(Disturbed(way.state, inp.port)) for way in _step(state, meant))


def _outcomes(state: State, inp: Command) -> Iterator[Outcome]:
    match inp.name, inp.words:
        case "put", (int(priority), int(delay), int(ttr)):
            job = Job(state.next, priority, ttr, inp.body, DELAYED if delay else READY)
            yield State((*state.jobs, job), job.id + 1, state.waiting), (_reply(inp, "INSERTED", job.id),)
        case ("reserve", ()) | ("reserve-with-timeout", (0,)):
            yield from _reserved(state, inp)
        case "kick", (int(),):
            yield from _kicked(state, inp)
        case name, (int(number), *rest) if len(rest) == ARGUMENTS.get(name):
            yield _on_job(state, inp, state.job(number))
        case "peek-ready" | "peek-buried" | "peek-delayed", ():
            yield from _peeked(state, inp)
        case name, _:
            yield state, (_reply(inp, "UNKNOWN_COMMAND" if name in UNKNOWN else "BAD_FORMAT"),)


def _reserved(state: State, inp: Command) -> Iterator[Outcome]:
    job = state.ready()
    if state.is_soon(inp.client):
        yield state, (_reply(inp, "DEADLINE_SOON"),)
    if job is not None:
        yield state.moved(job, inp.client), (_given(inp.client, job),)
    elif inp.words:
        yield state, (_reply(inp, "TIMED_OUT"),)
    else:
        yield replace(state, waiting=state.waiting | {inp.client}), ()


def _on_job(state: State, inp: Command, job: Job | None) -> Outcome:
    if job is None:
        return state, (_reply(inp, "NOT_FOUND"),)
    if inp.name == "peek":
        return state, (Reply(inp.client, "FOUND", (job.id, len(job.body)), job.body),)
    then, word = _moved(state, inp, job) if inp.name in MINE else _handled(state, inp, job)
    return then, (_reply(inp, word),)


def _moved(state: State, inp: Command, job: Job) -> tuple[State, str]:
    """Carry out what only the client with the reserved job may do."""
    if job.place != inp.client:
        return state, "NOT_FOUND"
    match inp.name, inp.words:
        case "release", (_, int(priority), int(delay)):
            return state.moved(job, DELAYED if delay else READY, priority), "RELEASED"
        case "bury", (_, int(priority)):
            return state.moved(job, BURIED, priority), "BURIED"
        case _:
            return state, "TOUCHED"


def _handled(state: State, inp: Command, job: Job) -> tuple[State, str]:
    """Carry out what any client may do, unless another one has reserved the job."""
    if inp.name == "delete" and job.place in {inp.client, READY, DELAYED, BURIED}:
        return replace(state, jobs=tuple(each for each in state.jobs if each != job)), "DELETED"
    if inp.name == "kick-job" and job.place in {DELAYED, BURIED}:
        return state.moved(job, READY), "KICKED"
    return state, "NOT_FOUND"


def _kicked(state: State, inp: Command) -> Iterator[Outcome]:
    found = state.at(BURIED) or state.at(DELAYED)
    then = state
    for job in found:
        then = then.moved(job, READY)
    kicked = _reply(inp, "KICKED", len(found))
    if not found or not state.waiting:
        yield then, (kicked,)
    # the protocol does not say in which order the server kicks them, nor that it kicks all before giving one away
    for client in sorted(state.waiting):
        for job in found:
            yield replace(then.moved(job, client), waiting=state.waiting - {client}), (kicked, _given(client, job))


def _peeked(state: State, inp: Command) -> Iterator[Outcome]:
    place = inp.name.removeprefix("peek-")
    first = state.ready()
    found = ([first] if first else []) if place == READY else state.at(place)
    for job in found:
        yield state, (Reply(inp.client, "FOUND", (job.id, len(job.body)), job.body),)
    if not found:
        yield state, (_reply(inp, "NOT_FOUND"),)


def _served(state: State) -> Iterator[Outcome]:
    """Yield what happens to waiting clients now that there may be a job."""
    job = state.ready()
    if job is None or not state.waiting:
        yield state, ()
        return
    for client in sorted(state.waiting):
        given = replace(state.moved(job, client), waiting=state.waiting - {client})
        for then, more in _served(given):
            yield then, (_given(client, job), *more)


def _emits(state: State) -> Iterator[Transition[State]]:
    """Yield what happens when a time is over: a job is ready again, and a waiting client gets it, or is warned."""
    within = (0.0, LATE) if state.waiting else None
    for job in state.jobs:
        if job.place == DELAYED or (job.place in CLIENTS and job.ttr == SHORT):
            for then, told in _served(state.moved(job, READY)):
                yield goto(then, *told, within=within)
    for client in state.waiting:
        if state.is_soon(client):
            yield goto(replace(state, waiting=state.waiting - {client}), Reply(client, "DEADLINE_SOON"), within=within)


def _reply(inp: Command, word: str, *numbers: int) -> Reply:
    return Reply(inp.client, word, numbers)


def _given(client: str, job: Job) -> Reply:
    return Reply(client, "RESERVED", (job.id, len(job.body)), job.body)
