"""A CoAP server with a few resources that clients create, change, delete and observe, as a function.

After RFC 7252 and RFC 7641. What they leave open is left open here:

- The server may carry out a duplicate of an idempotent request again, but should not for POST (RFC 7252, section 4.5,
  which lets a constrained server do so if it does no harm; this model does not).
- A notification is confirmable or not. While one is not acknowledged the next should wait (RFC 7641, section 4.5.1: one
  at a time, as NSTART has it); here it may come. It must come when the first was acknowledged, with the latest state.
- A confirmable notification that is not acknowledged comes again, at any time here: the timers of RFC 7252, sections
  4.2 and 4.8 are two seconds and more, and the tester does not wait for them.
- Each notification has a greater number than the one before (RFC 7641, section 4.4, whose note on counters for each
  resource would let two of the same state have the same number; this model does not).
- A server may decline to be observed.

No RFC says how soon a notification comes, and RFC 7641, section 4.5 lets a server skip one if another follows soon.
Here it belongs to the step that changed the resource. Left out: answers that come separately, after an empty
acknowledgement; coap-server has them for one built-in resource only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from otf.models.coap.codec import token
from otf.models.coap.inputs import inputs
from otf.models.coap.messages import Ack, Message, Ping, Request, Reset
from otf.models.coap.requirements import CoapRule
from otf.models.coap.state import CLIENTS, GONE, Input, Outcome, State
from otf.spec import AnyOrder, Spec, Transition, Where, goto, on

CHANGES: Final = {
    ("PUT", "2.01"): CoapRule.RFC7252_5_8_3_CREATED,
    ("PUT", "2.04"): CoapRule.RFC7252_5_8_3_CHANGED,
    ("POST", "2.01"): CoapRule.RFC7252_4_5_ONCE,  # it is always sent twice
    ("POST", "2.04"): CoapRule.RFC7252_4_5_ONCE,
    ("DELETE", "2.02"): CoapRule.RFC7252_5_8_4,
}
"""The sentence on each answer to a request that changes a resource."""


def coap(also: str = "") -> Spec[State, Input]:
    """Return the spec of a CoAP server with two clients.

    `also` adds inputs that the spec leaves out by default: `ping`, `post` or `renew`.

    >>> coap().name
    'coap'
    """
    return Spec(_step, State(), partial(inputs, also), _emits, name="coap")


def _step(state: State, inp: Input) -> Iterator[Transition[State]]:
    match inp:
        case Ping(client):
            yield goto(state, Message(client, "RST", "0.00", id="answer"), req=CoapRule.RFC7252_4_2_REJECT)
        case Ack(client):
            yield from _ways(_freed(state, client, ends=False))
        case Reset(client):
            yield from _ways(_freed(state, client, ends=True), CoapRule.RFC7641_4_5_RESET)
        case Request(method="GET"):
            yield from _got(state, inp)
        case Request():
            yield from _changed(state, inp)


def _ways(outcomes: Iterable[Outcome], *rules: CoapRule) -> Iterator[Transition[State]]:
    # a notification may overtake the answer to the request that caused it, even on the same port
    for state, outputs in outcomes:
        late = (CoapRule.RFC7641_4_5_LATEST,) if outputs else ()
        yield goto(state, AnyOrder(*outputs), req=(*rules, *late))


# ---- requests ------------------------------------------------------------------------------------------------------


def _got(state: State, inp: Request) -> Iterator[Transition[State]]:
    payload, watcher = state.at(inp.path), state.of(inp.client)
    if payload is None:
        yield goto(state, *_answers(inp, GONE), req=CoapRule.RFC7252_5_9_2_5)
        return
    without = replace(watcher, observes=watcher.observes - {inp.path}, news=watcher.news - {inp.path})
    if inp.observe:
        rule = CoapRule.RFC7641_4_1_DECLINE if inp.observe == "on" else CoapRule.RFC7641_4_1_DEREGISTER
        yield goto(state.know(inp.client, without), *_answers(inp, "2.05", payload), req=rule)
    else:
        yield goto(state, *_answers(inp, "2.05", payload), req=_rule(inp, CoapRule.RFC7252_5_8_1))
    if inp.observe == "on":
        listed = inp.path in watcher.observes
        rule = CoapRule.RFC7641_4_1_REPLACE if listed else CoapRule.RFC7641_4_1_REGISTER
        # waiting news may still come, though the answer already has them
        for news in dict.fromkeys((without.news, watcher.news)):
            observing = replace(without, observes=without.observes | {inp.path}, news=news)
            yield goto(state.know(inp.client, observing), *_answers(inp, "2.05", payload, observe=True), req=rule)


def _rule(inp: Request, usual: CoapRule) -> CoapRule:
    if inp.twice:
        return CoapRule.RFC7252_4_5_ONCE
    return CoapRule.RFC7252_5_2_3 if inp.kind == "NON" else usual


def _changed(state: State, inp: Request) -> Iterator[Transition[State]]:
    before, after = state.at(inp.path), None if inp.method == "DELETE" else inp.payload
    code = "2.02" if after is None else "2.01" if before is None else "2.04"
    once, rule = state.put(inp.path, after), _rule(inp, CHANGES[inp.method, code])
    for then, told in _told(once, inp.path, must=before != after):
        yield goto(then, AnyOrder(*_answers(inp, code), *told), req=_notifies(once, then, told) or rule)
        if inp.twice and inp.method != "POST":
            # the server may carry out an idempotent request twice: it then changes the new resource, and tells
            # observers again
            again = "2.02" if after is None else "2.04"
            for last, more in _told(then, inp.path, must=False):
                answers = _answers(inp, code, second=again)
                yield goto(last, AnyOrder(*answers, *told, *more), req=CoapRule.RFC7252_4_5_RELAXED)


def _notifies(before: State, then: State, told: tuple[object, ...]) -> tuple[CoapRule, ...]:
    """Return the sentence on the notifications of a change; none without observers."""
    if any(isinstance(each, Message) and each.code == GONE for each in told):
        return (CoapRule.RFC7641_4_2_GONE,)
    if told:
        return (CoapRule.RFC7641_4_1_UPDATED,)
    return () if then == before else (CoapRule.RFC7641_4_5_1,)


def _answers(
    inp: Request, code: str, payload: str = "", *, observe: bool = False, second: str = ""
) -> tuple[object, ...]:
    confirmable = inp.kind == "CON"
    first = Message(
        inp.client,
        "ACK" if confirmable else "NON",
        code,
        token(inp),
        payload,
        observe,
        id="answer" if confirmable else "new",
    )
    # the server ignores a duplicate of a non-confirmable request, or answers it again
    return (first, replace(first, code=second or code)) if inp.twice else (first,)


# ---- notifications -------------------------------------------------------------------------------------------------


def _told(state: State, path: str, *, must: bool) -> Iterator[Outcome]:
    """Yield how the observers of a resource learn of its change, optionally unless they `must`."""
    outcomes: list[Outcome] = [(state, ())]
    for client in CLIENTS:
        if path in state.of(client).observes:
            outcomes = [
                (then, (*told, *more)) for now, told in outcomes for then, more in _one(now, client, path, must=must)
            ]
    yield from outcomes


def _one(state: State, client: str, path: str, *, must: bool) -> Iterator[Outcome]:
    watcher = state.of(client)
    if not must:
        yield state, ()
    if watcher.unacked and state.at(path) is None:
        # the server should notify observers of a deleted resource; an unacknowledged notification may prevent that
        ended = replace(watcher, observes=watcher.observes - {path}, news=watcher.news - {path})
        yield state.know(client, ended), ()
    elif watcher.unacked:
        yield state.know(client, replace(watcher, news=watcher.news | {path})), ()
    if not watcher.unacked or state.at(path) is None:
        yield from _notified(state, client, path)


def _notified(state: State, client: str, path: str) -> Iterator[Outcome]:
    """Yield the forms of a notification of the current state of a resource."""
    watcher, payload = state.of(client), state.at(path)
    done = replace(watcher, news=watcher.news - {path})
    if payload is None:
        done = replace(done, observes=done.observes - {path})
    code = GONE if payload is None else "2.05"
    note = Message(client, "NON", code, f"o{path}", payload or "", observe=payload is not None)
    yield state.know(client, done), (note,)
    yield state.know(client, replace(done, unacked=path)), (replace(note, kind="CON"),)


def _freed(state: State, client: str, *, ends: bool) -> Iterator[Outcome]:
    """Yield what follows an acknowledgement, or a reset, which ends the observation: the waiting news."""
    watcher = state.of(client)
    dropped = {watcher.unacked} if ends else set[str]()
    free = replace(watcher, observes=watcher.observes - dropped, news=watcher.news - dropped, unacked="")
    yield from _caught_up(state.know(client, free), client)


def _caught_up(state: State, client: str) -> Iterator[Outcome]:
    watcher = state.of(client)
    if not watcher.news or watcher.unacked:
        yield state, ()
        return
    for path in sorted(watcher.news):
        for then, told in _notified(state, client, path):
            for last, more in _caught_up(then, client):
                yield last, (*told, *more)


def _emits(state: State) -> Iterator[Transition[State]]:
    """Yield what may follow an unacknowledged notification: the same again, or news."""
    for client, watcher in zip(CLIENTS, state.watchers, strict=True):
        if watcher.unacked:
            says = f"to {client}, the notification of {watcher.unacked} again"
            again = on(client, Where(partial(_is_again, client, watcher.unacked), says))
            yield goto(state, again, req=CoapRule.RFC7252_4_2_AGAIN)
        for path in sorted(watcher.news):
            yield from _ways(_notified(state, client, path))


def _is_again(client: str, path: str, said: Message) -> bool:
    return (said.client, said.kind, said.token, said.id) == (client, "CON", f"o{path}", "again")
