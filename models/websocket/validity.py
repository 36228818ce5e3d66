"""The faults of a handshake, a frame, or a text (RFC 6455, sections 4.2.1, 5 and 8.1)."""

from __future__ import annotations

import base64
import re
from typing import Final

from otf.models.websocket.messages import (
    BINARY,
    CLOSE,
    CONTINUED,
    PING,
    PONG,
    SHORT,
    TEXT,
    RawFrame,
    RawHandshake,
)
from otf.models.websocket.requirements import WsRule as R

_KEY_SIZE: Final = 16
_DEFINED: Final = {*range(1000, 1004), *range(1007, 1012), *range(3000, 5000)}
_VERSIONS: Final = re.compile(r"[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]", re.ASCII)


def field_lines(request: RawHandshake) -> list[tuple[str, str]]:
    """Return the names, in lower case, and the values of the fields of a handshake."""
    return [(name.lower(), value.strip()) for name, _, value in (each.partition(":") for each in request.fields)]


def refusal(request: RawHandshake) -> R | None:
    """Return the rule by which a server refuses a handshake, None for a valid one."""
    fields = field_lines(request)
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
    except ValueError:  # also if it is not ASCII
        return False


def violation(frame: RawFrame, begun: int) -> R | None:
    """Return the rule that makes the connection fail at once, or None; `begun`: the message's opcode."""
    body = frame.payload.encode("latin-1")
    checks = (
        (not frame.masked, R.RFC6455_5_1_UNMASKED),
        (frame.reserved, R.RFC6455_5_2_RESERVED),
        (frame.opcode not in {CONTINUED, TEXT, BINARY, CLOSE, PING, PONG}, R.RFC6455_5_2_OPCODE),
        (frame.opcode >= CLOSE and (not frame.fin or len(body) > SHORT), R.RFC6455_5_5_CONTROL),
        (frame.opcode == CONTINUED and not begun, R.RFC6455_5_4_INTERLEAVED),
        (frame.opcode in {TEXT, BINARY} and begun, R.RFC6455_5_4_INTERLEAVED),
        (frame.opcode == CLOSE and len(body) == 1, R.RFC6455_5_5_1_BODY),
        (frame.opcode == CLOSE and not is_text(body[2:]), R.RFC6455_8_1),
    )
    return next((rule for holds, rule in checks if holds), None)


def is_defined(close: RawFrame) -> bool:
    """Return whether a client may send this Close, with its code, if any (section 7.4)."""
    return not close.payload or int.from_bytes(close.payload[:2].encode("latin-1")) in _DEFINED


def is_text(body: bytes, *, whole: bool = True) -> bool:
    """Return whether it is UTF-8; if not `whole`, whether it may become UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return not whole and error.reason == "unexpected end of data"
    return True
