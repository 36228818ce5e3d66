"""A WebSocket server that sends each message back, as a function of the frames that it has been sent (RFC 6455)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.models.websocket.inputs import FRAMES, HANDSHAKES
from otf.models.websocket.messages import (
    BINARY,
    CLOSE,
    CONTINUED,
    PING,
    PONG,
    PORT,
    SHORT,
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
from otf.spec import OneOf, Spec, Transition, Where, goto, on
from otf.trace.events import Ended

_KEY_SIZE: Final = 16
_RESERVED_CODES: Final = {1004, 1005, 1006, 1015}
_CODES: Final = range(1000, 5000)


@dataclass(frozen=True, slots=True)
class Socket:
    """A connection; once it is open, the opcode and the payload of a message whose end is still to come."""

    is_open: bool = False
    opcode: int = 0
    payload: str = ""


State: TypeAlias = Socket | None
Yields: TypeAlias = Iterator[Transition[State]]


@dataclass(frozen=True, slots=True)
class Progress:
    """What was sent for the frames so far, by which rules, and the state; `ended`: no frame after that counts."""

    socket: Socket
    outputs: tuple[object, ...] = ()
    rules: tuple[R, ...] = ()
    ended: bool = False

    def answered(self, *outputs: object, rule: R, ended: bool = False) -> Progress:
        """Return the progress with more outputs."""
        return Progress(self.socket, (*self.outputs, *outputs), (*self.rules, rule), ended)


def echo() -> Spec[State, SocketInput]:
    """Return the spec.

    >>> echo().name
    'websocket'
    """
    return Spec(_step, None, _inputs, name="websocket")


def _inputs(state: State) -> Iterator[SocketInput]:
    if state is None:
        yield SocketConnect()
    else:
        yield from FRAMES if state.is_open else HANDSHAKES


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


# ---- the handshake -------------------------------------------------------------------------------------------------


def _handshake(request: RawHandshake) -> Yields:
    fields = [(name.lower(), value.strip()) for name, _, value in (each.partition(":") for each in request.fields)]
    if rule := _refusal(request, fields):
        versions = rule is R.RFC6455_4_2_2_VERSION
        refused = on(PORT, Where(lambda answer: _is_refusal(answer, versions=versions), f"an error, by {rule.name}"))
        yield goto(None, refused, END, req=rule)
        yield goto(Socket(), refused, req=rule)
        return
    offered = tuple(value for name, value in fields if name == "sec-websocket-protocol")
    accepted = OneOf(*(on(PORT, HandshakeAnswer(101, accepts=True, protocol=each)) for each in ("", *offered)))
    rules = [R.RFC6455_4_2_2_ACCEPT, R.RFC6455_4_2_2_EXTENSIONS]
    yield goto(Socket(is_open=True), accepted, req=[*rules, *([R.RFC6455_4_2_2_PROTOCOL] if offered else [])])


def _refusal(request: RawHandshake, fields: list[tuple[str, str]]) -> R | None:
    values = {name: [value for each, value in fields if each == name] for name, _ in fields}
    tokens = {each.strip().lower() for value in values.get("connection", []) for each in value.split(",")}
    upgrades = {each.strip().lower() for value in values.get("upgrade", []) for each in value.split(",")}
    whole = request.method == "GET" and request.version == "HTTP/1.1" and len(values.get("host", [])) == 1
    keys = values.get("sec-websocket-key", [])
    if not (whole and "upgrade" in tokens and "websocket" in upgrades and len(keys) == 1 and _is_key(keys[0])):
        return R.RFC6455_4_2_1
    if "sec-websocket-version" not in values:
        return R.RFC6455_4_2_1
    return None if values["sec-websocket-version"] == ["13"] else R.RFC6455_4_2_2_VERSION


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == _KEY_SIZE
    except binascii.Error:
        return False


def _is_refusal(answer: object, *, versions: bool) -> bool:
    if not isinstance(answer, HandshakeAnswer):
        return False
    return 400 <= answer.status < 600 and (not versions or bool(answer.versions))  # noqa: PLR2004 -- errors of both sides


# ---- frames --------------------------------------------------------------------------------------------------------

END: Final = on(PORT, Ended)
RESET: Final = OneOf(*(on(PORT, Ended(each)) for each in ("connection reset", "closed by the other side")))


def _is_close(output: object) -> bool:
    """Return whether it is a Close frame with a code that may be sent, or without."""
    if not isinstance(output, SocketMessage) or output.opcode != CLOSE:
        return False
    body = output.payload.encode("latin-1")
    code = int.from_bytes(body[:2])
    return not body or (len(body) >= 2 and code in _CODES and code not in _RESERVED_CODES)  # noqa: PLR2004 -- a code


CLOSING: Final = on(PORT, Where(_is_close, "a Close"))


def _frames(state: Socket, frames: tuple[RawFrame, ...]) -> Yields:
    ways = [Progress(state)]
    for frame in frames:
        ways = [then for way in ways for then in ([way] if way.ended else _frame(way, frame))]
    for way in ways:
        yield goto(None if way.ended else way.socket, *way.outputs, req=way.rules)
    lost = {way.outputs[:many] for way in ways if way.ended for many in range(len(way.outputs))}
    if len(frames) > 1:
        # what the server does not read makes the network say so, and may cost answers on their way
        for outputs in lost:
            yield goto(None, *outputs, RESET)


def _frame(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    """Yield what may follow a frame."""
    if rule := _violation(way.socket, frame):
        yield from _failed(way, rule)
        return
    if frame.wide:
        yield from _failed(way, R.RFC6455_5_2_LENGTH)  # the text does not say that it must
    match frame.opcode:
        case 9:
            within = [R.RFC6455_5_4_CONTROL] if way.socket.opcode else []
            pong = on(PORT, SocketMessage(PONG, frame.payload))
            then = way.answered(pong, rule=R.RFC6455_5_5_2_PONG)
            yield replace(then, rules=(*then.rules, R.RFC6455_5_5_3_SAME, *within))
        case 10:
            yield way.answered(rule=R.RFC6455_5_5_3_NONE)
        case 8:
            yield from _closed(way, frame)
        case _:
            yield from _data(way, frame)


def _violation(socket: Socket, frame: RawFrame) -> R | None:
    """Return the rule by which the connection fails at once, if there is one."""
    body = frame.payload.encode("latin-1")
    checks = (
        (not frame.masked, R.RFC6455_5_1_UNMASKED),
        (frame.reserved, R.RFC6455_5_2_RESERVED),
        (frame.opcode not in {CONTINUED, TEXT, BINARY, CLOSE, PING, PONG}, R.RFC6455_5_2_OPCODE),
        (frame.opcode >= CLOSE and (not frame.fin or len(body) > SHORT or frame.wide), R.RFC6455_5_5_CONTROL),
        (frame.opcode == CONTINUED and not socket.opcode, R.RFC6455_5_4_INTERLEAVED),
        (frame.opcode in {TEXT, BINARY} and socket.opcode, R.RFC6455_5_4_INTERLEAVED),
        (frame.opcode == CLOSE and len(body) == 1, R.RFC6455_5_5_1_BODY),
        (frame.opcode == CLOSE and not _is_text(body[2:]), R.RFC6455_8_1),
    )
    return next((rule for holds, rule in checks if holds), None)


def _failed(way: Progress, rule: R) -> Iterator[Progress]:
    yield way.answered(END, rule=rule, ended=True)
    then = way.answered(CLOSING, END, rule=rule, ended=True)
    yield replace(then, rules=(*then.rules, R.RFC6455_7_1_7_FRAME))


def _closed(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    code = int.from_bytes(frame.payload[:2].encode("latin-1")) if frame.payload else 1000
    then = way.answered(CLOSING, END, rule=R.RFC6455_5_5_1_ANSWER, ended=True)
    yield replace(then, rules=(*then.rules, R.RFC6455_5_5_1_TCP))
    if code not in _CODES or code in _RESERVED_CODES:
        yield from _failed(way, R.RFC6455_7_4_1_RESERVED)


def _data(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    opcode, payload = frame.opcode or way.socket.opcode, way.socket.payload + frame.payload
    body = payload.encode("latin-1")
    if opcode == TEXT and not _is_text(body, whole=frame.fin):
        yield from _failed(way, R.RFC6455_8_1)
        if frame.fin:
            return
    if not frame.fin:
        yield Progress(Socket(is_open=True, opcode=opcode, payload=payload), way.outputs, way.rules)
        return
    then = replace(way, socket=Socket(is_open=True))
    same = on(PORT, SocketMessage(opcode, payload))
    yield then.answered(same, rule=R.RFC6455_5_4_BOTH if frame.opcode == CONTINUED else R.RFC6455_6_2_MASK)


def _is_text(body: bytes, *, whole: bool = True) -> bool:
    """Return whether it is UTF-8; if not `whole`, whether it may become UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return not whole and error.reason == "unexpected end of data"
    return True
