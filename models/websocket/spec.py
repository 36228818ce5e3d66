"""A WebSocket server that sends each message back, as a function of the frames that it has been sent (RFC 6455)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.models.websocket.inputs import FRAMES, HANDSHAKES, LAST, LONGEST
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
_NEVER_SENT: Final = {1005, 1006, 1015}
_DEFINED: Final = {*range(1000, 1004), *range(1007, 1012), *range(3000, 5000)}
_VERSIONS: Final = re.compile(r"[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]", re.ASCII)


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
    """What was sent for the frames so far, by which rules, and the state; `end` is not empty if no frame counts then.

    Messages of the application and pongs of the protocol have no order among each other, and when the connection ends,
    an application may not have answered everything.
    """

    socket: Socket
    echoes: tuple[object, ...] = ()
    pongs: tuple[object, ...] = ()
    rules: tuple[R, ...] = ()
    end: tuple[object, ...] = ()

    def orders(self) -> Iterator[tuple[object, ...]]:
        """Yield the outputs in all orders that are possible."""
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
    """Return the spec.

    >>> echo().name
    'websocket'
    """
    return Spec(_step, None, _inputs, name="websocket")


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
    versions = values.get("sec-websocket-version", [])
    if len(versions) != 1 or not _VERSIONS.fullmatch(versions[0]):
        return R.RFC6455_4_2_1
    return None if versions == ["13"] else R.RFC6455_4_2_2_VERSION


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
    return not body or (len(body) >= 2 and code not in _NEVER_SENT)  # noqa: PLR2004 -- the bytes of a code


CLOSING: Final = on(PORT, Where(_is_close, "a Close"))


def _frames(state: Socket, frames: tuple[RawFrame, ...]) -> Yields:
    ways = [Progress(state)]
    for frame in frames:
        ways = [then for way in ways for then in ([way] if way.end else _frame(way, frame))]
    for way in ways:
        for outputs in way.orders():
            yield goto(None if way.end else way.socket, *outputs, req=way.rules)
    lost = {outputs[:many] for way in ways if way.end for outputs in way.orders() for many in range(len(outputs))}
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
            rules = (*way.rules, R.RFC6455_5_5_2_PONG, R.RFC6455_5_5_3_SAME, *within)
            yield replace(way, pongs=(*way.pongs, on(PORT, SocketMessage(PONG, frame.payload))), rules=rules)
        case 10:
            yield replace(way, rules=(*way.rules, R.RFC6455_5_5_3_NONE))
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
        (frame.opcode >= CLOSE and (not frame.fin or len(body) > SHORT), R.RFC6455_5_5_CONTROL),
        (frame.opcode == CONTINUED and not socket.opcode, R.RFC6455_5_4_INTERLEAVED),
        (frame.opcode in {TEXT, BINARY} and socket.opcode, R.RFC6455_5_4_INTERLEAVED),
        (frame.opcode == CLOSE and len(body) == 1, R.RFC6455_5_5_1_BODY),
        (frame.opcode == CLOSE and not _is_text(body[2:]), R.RFC6455_8_1),
    )
    return next((rule for holds, rule in checks if holds), None)


def _failed(way: Progress, rule: R) -> Iterator[Progress]:
    yield replace(way, end=(END,), rules=(*way.rules, rule))
    yield replace(way, end=(CLOSING, END), rules=(*way.rules, rule, R.RFC6455_7_1_7_FRAME))


def _closed(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    code = int.from_bytes(frame.payload[:2].encode("latin-1")) if frame.payload else 1000
    yield replace(way, end=(CLOSING, END), rules=(*way.rules, R.RFC6455_5_5_1_ANSWER, R.RFC6455_5_5_1_TCP))
    if code not in _DEFINED:
        yield from _failed(way, R.RFC6455_7_4_1_RESERVED)  # the text does not say that it must


def _data(way: Progress, frame: RawFrame) -> Iterator[Progress]:
    opcode, payload = frame.opcode or way.socket.opcode, way.socket.payload + frame.payload
    if opcode == TEXT and not _is_text(payload.encode("latin-1"), whole=frame.fin):
        yield from _failed(way, R.RFC6455_8_1)
        if frame.fin:
            return
    if not frame.fin:
        yield replace(way, socket=Socket(is_open=True, opcode=opcode, payload=payload))
        return
    rule = R.RFC6455_5_4_BOTH if frame.opcode == CONTINUED else R.RFC6455_6_2_MASK
    echoes = (*way.echoes, on(PORT, SocketMessage(opcode, payload)))
    yield replace(way, socket=Socket(is_open=True), echoes=echoes, rules=(*way.rules, rule))


def _is_text(body: bytes, *, whole: bool = True) -> bool:
    """Return whether it is UTF-8; if not `whole`, whether it may become UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return not whole and error.reason == "unexpected end of data"
    return True
