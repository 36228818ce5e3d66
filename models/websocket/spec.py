"""A WebSocket server that echoes each message, as a function of the frames that it receives (RFC 6455)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from otf.adapter.malformed import Anywhere
from otf.codec.malformed import Malformed
from otf.errors import CodecError
from otf.models.websocket.codec import frames_in, handshake_in
from otf.models.websocket.inputs import FRAMES, HANDSHAKES, LAST, LONGEST
from otf.models.websocket.messages import (
    CLOSE,
    CONTINUED,
    PONG,
    PORT,
    TEXT,
    HandshakeAnswer,
    RawFrame,
    RawFrames,
    RawHandshake,
    SocketConnect,
    SocketInput,
    SocketMessage,
)
from otf.models.websocket.requirements import WsRule as R
from otf.models.websocket.validity import field_lines, is_defined, is_text, refusal, violation
from otf.spec import OneOf, Spec, Transition, Where, goto, on
from otf.trace.events import Ended

MOST: Final = 8
"""The most frames to look at in malformed bytes."""
_NEVER_SENT: Final = {1005, 1006, 1015}


@dataclass(frozen=True, slots=True)
class Socket:
    """A connection; once it is open, the opcode and the payload of an unfinished message."""

    is_open: bool = False
    opcode: int = 0
    payload: str = ""


State: TypeAlias = Socket | None
Yields: TypeAlias = Iterator[Transition[State]]


@dataclass(frozen=True, slots=True)
class Progress:
    """The answers to the frames so far, their rules, and the state; `end` is not empty if later frames do not count.

    There is no order between messages of the application and pongs of the protocol. When the connection ends, the
    application may not have answered everything.
    """

    socket: Socket
    echoes: tuple[object, ...] = ()
    pongs: tuple[object, ...] = ()
    rules: tuple[R, ...] = ()
    end: tuple[object, ...] = ()

    def orders(self) -> Iterator[tuple[object, ...]]:
        """Yield the outputs in all possible orders."""
        for many in range(len(self.echoes) + 1) if self.end else [len(self.echoes)]:
            for merged in _merged(self.echoes[:many], self.pongs):
                yield (*merged, *self.end)


def _merged(one: tuple[object, ...], other: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    if not one or not other:
        yield one + other
        return
    yield from ((one[0], *rest) for rest in _merged(one[1:], other))
    yield from ((other[0], *rest) for rest in _merged(one, other[1:]))


def echo() -> Spec[State, SocketInput]:
    """Return the spec of a WebSocket server that echoes each message.

    >>> echo().name
    'websocket'
    """
    return Spec(_step, None, _inputs, name="websocket", malformed=_malformed)


def _inputs(state: State) -> Iterator[SocketInput]:
    if state is None:
        yield SocketConnect()
    else:
        yield from HANDSHAKES if not state.is_open else FRAMES if len(state.payload) < LONGEST else LAST


def _step(state: State, inp: SocketInput) -> Yields:
    match state, inp:
        case None, SocketConnect():
            yield goto(Socket())
        case Socket(is_open=False), RawHandshake():
            yield from _handshake(inp)
        case Socket(is_open=True), RawFrames(frames) if frames:
            yield from _frames(state, frames)
        case _:
            return


def _malformed(state: State, inp: Malformed) -> Iterator[Transition[Any]] | None:
    """Yield what follows malformed bytes that happen to be a handshake or frames; others may do anything."""
    if state is None:
        return None
    ways = list[Transition[Any]](_read_frames(state, inp.raw) if state.is_open else _read_handshake(inp.raw))
    return iter(ways or [goto(Anywhere(PORT, fresh=True))])


def _read_handshake(raw: bytes) -> Yields:
    with suppress(CodecError):
        request = handshake_in(raw)
        # the answer to a handshake without the model's key is unknown
        yield from _handshake(request) if refusal(request) else ()


def _read_frames(state: Socket, raw: bytes) -> Yields:
    frames, rest = frames_in(raw)
    ways = _progress(state, frames[:MOST])
    # an incomplete frame is read together with the next input, unless the connection has failed before
    if frames and (not (rest or frames[MOST:]) or all(way.end for way in ways)):
        yield from _sent(ways, torn=True)


# ---- the handshake -------------------------------------------------------------------------------------------------


def _handshake(request: RawHandshake) -> Yields:
    if rule := refusal(request):
        versions = rule is R.RFC6455_4_2_2_VERSION
        refused = on(PORT, Where(lambda answer: _is_refusal(answer, versions=versions), f"an error, by {rule.name}"))
        yield goto(None, refused, END, req=rule)
        yield goto(Socket(), refused, req=rule)
        return
    offered = tuple(value for name, value in field_lines(request) if name == "sec-websocket-protocol")
    accepted = OneOf(*(on(PORT, HandshakeAnswer(101, accepts=True, protocol=each)) for each in ("", *offered)))
    rules = [R.RFC6455_4_2_2_ACCEPT, R.RFC6455_4_2_2_EXTENSIONS]
    yield goto(Socket(is_open=True), accepted, req=[*rules, *([R.RFC6455_4_2_2_PROTOCOL] if offered else [])])


def _is_refusal(answer: object, *, versions: bool) -> bool:
    if not isinstance(answer, HandshakeAnswer):
        return False
    return 400 <= answer.status < 600 and (not versions or bool(answer.versions))  # noqa: PLR2004 -- errors of both sides


# ---- frames --------------------------------------------------------------------------------------------------------

END: Final = on(PORT, Ended)
RESET: Final = OneOf(*(on(PORT, Ended(each)) for each in ("connection reset", "closed by the other side")))


def _is_close(output: object) -> bool:
    """Return whether it is a Close frame with a permitted code, or without one."""
    if not isinstance(output, SocketMessage) or output.opcode != CLOSE:
        return False
    body = output.payload.encode("latin-1")
    code = int.from_bytes(body[:2])
    return not body or (len(body) >= 2 and code not in _NEVER_SENT)  # noqa: PLR2004 -- the bytes of a code


CLOSING: Final = on(PORT, Where(_is_close, "a Close"))


def _frames(state: Socket, frames: tuple[RawFrame, ...]) -> Yields:
    yield from _sent(_progress(state, frames), torn=len(frames) > 1)


def _progress(state: Socket, frames: tuple[RawFrame, ...]) -> list[Progress]:
    ways = [Progress(state)]
    for frame in frames:
        ways = [then for way in ways for then in ([way] if way.end else _frame(way, frame))]
    return ways


def _sent(ways: list[Progress], *, torn: bool) -> Yields:
    """Yield the outputs of these ways; `torn`: the server may close the connection before it has read everything."""
    for way in ways:
        for outputs in way.orders():
            yield goto(None if way.end else way.socket, *outputs, req=way.rules)
    lost = {outputs[:many] for way in ways if way.end for outputs in way.orders() for many in range(len(outputs))}
    if torn:
        # unread bytes make the network send a reset, which may cost answers in flight
        for outputs in lost:
            yield goto(None, *outputs, RESET)


def _frame(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    """Yield what may follow a frame."""
    if rule := violation(frame, way.socket.opcode):
        yield from _failed(way, rule)
        return
    if frame.wide:
        yield from _failed(way, R.RFC6455_5_2_LENGTH)  # the text does not say that it must
    match frame.opcode:
        case 9:
            within = [R.RFC6455_5_4_CONTROL] if way.socket.opcode else []
            rules = (*way.rules, R.RFC6455_5_5_2_PONG, R.RFC6455_5_5_3_SAME, *within)
            yield replace(way, pongs=(*way.pongs, on(PORT, SocketMessage(PONG, frame.payload))), rules=rules)
        case 10:
            yield replace(way, rules=(*way.rules, R.RFC6455_5_5_3_NONE))
        case 8:
            yield from _closed(way, frame)
        case _:
            yield from _data(way, frame)


def _failed(way: Progress, rule: R) -> Iterator[Progress]:
    yield replace(way, end=(END,), rules=(*way.rules, rule))
    yield replace(way, end=(CLOSING, END), rules=(*way.rules, rule, R.RFC6455_7_1_7_FRAME))


def _closed(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    yield replace(way, end=(CLOSING, END), rules=(*way.rules, R.RFC6455_5_5_1_ANSWER, R.RFC6455_5_5_1_TCP))
    if not is_defined(frame):
        yield from _failed(way, R.RFC6455_7_4_1_RESERVED)  # the text does not say that it must


def _data(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    opcode, payload = frame.opcode or way.socket.opcode, way.socket.payload + frame.payload
    if opcode == TEXT and not is_text(payload.encode("latin-1"), whole=frame.fin):
        yield from _failed(way, R.RFC6455_8_1)
        if frame.fin:
            return
    if not frame.fin:
        yield replace(way, socket=Socket(is_open=True, opcode=opcode, payload=payload))
        return
    rule = R.RFC6455_5_4_BOTH if frame.opcode == CONTINUED else R.RFC6455_6_2_MASK
    echoes = (*way.echoes, on(PORT, SocketMessage(opcode, payload)))
    yield replace(way, socket=Socket(is_open=True), echoes=echoes, rules=(*way.rules, rule))
