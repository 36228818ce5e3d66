"""Codecs are pure functions between the values of a model and the bytes of a port.

`otf.codec` contains the interface `Codec`, the actions that an input can cause instead of sending bytes (`PortAction`),
and `lines`, which makes a codec for lines of text from patterns such as "coin {cents}".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import NoneType
from typing import Any, Final, Protocol

from otf.codec.layout import Layout
from otf.errors import CodecError, UsageError, near
from otf.values import show
from otf.values.arguments import checked
from otf.values.classes import hints_of


class PortAction(Enum):
    """An action on a port, such as closing it; for an input that causes an action, `encode` returns the action.

    Some actions open or close a connection, and some send a break or a pulse on a serial line. Other actions run a
    command of the bench that resets a board or switches its power: `Life(actions={"console": {PortAction.RESET:
    ["st-flash", "reset"]}})`. If otf closes a connection, no output follows. If the system closes a connection, otf
    records the output `Ended`.

    >>> from otf.codec import lines
    >>> class Hangup: pass
    >>> lines({Hangup: PortAction.CLOSE}).encode(Hangup())
    <PortAction.CLOSE: 'close'>
    """

    CONNECT = "connect"
    """Open the connection again, after it has ended."""

    FINISH = "finish"
    """Close the tester's half: the system reads an end of stream, and can still answer."""

    CLOSE = "close"
    """Close the connection."""

    ABORT = "abort"
    """Reset the connection."""

    BREAK = "send a break"
    """Hold the serial line in a break for a quarter of a second."""

    PULSE_DTR = "pulse DTR"
    """Invert DTR for a tenth of a second: many boards reset on that."""

    PULSE_RTS = "pulse RTS"
    """Invert RTS for a tenth of a second."""

    RESET = "reset the system"
    """Reset the system behind the port, with the bench's command."""

    POWER_OFF = "switch the power off"
    """Switch the system's power off, with the bench's command."""

    POWER_ON = "switch the power on"
    """Switch the system's power on, with the bench's command."""


class Codec(Protocol):
    """A codec turns values into bytes and back, and knows the port of each value.

    The adapter, not the codec, does the framing: `encode` returns one whole frame, and `decode` receives one. `encode`
    and `decode` are pure functions, and otf may cache their results. Anything that changes from message to message,
    such as a sequence number or a time, must be part of the value.

    >>> class Numbers:
    ...     types = (int,)
    ...     def port(self, value): return ""
    ...     def encode(self, value): return b"%d" % value
    ...     def decode(self, port, data): return int(data)
    >>> codec: Codec = Numbers()
    >>> codec.decode("", codec.encode(5))
    5
    """

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs; otf needs the types to read traces."""
        ...

    def port(self, value: object) -> str:
        """Return the name of the port that carries a value; "" if the bench has only one port."""
        ...

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or a `PortAction` if the input does something else with the port.

        Raises CodecError if the input cannot be encoded.
        """
        ...

    def decode(self, port: str, data: bytes) -> object:
        """Return the output that these bytes encode.

        Raises CodecError, ValueError or struct.error if the bytes encode no output.

        If `decode` raises any other exception, otf assumes that the codec is wrong, so the path is inconclusive and not
        failed.
        """
        ...


def types_of(codec: Codec | None) -> tuple[type, ...]:
    """Return the types that a codec lists; () if one of them is not a class whose instances can be compared.

    >>> types_of(lines({int: "{}"})), types_of(None)
    ((<class 'int'>,), ())
    """
    found = () if codec is None else tuple(codec.types)
    return found if all(isinstance(each, type) for each in found) else ()  # pyright: ignore[reportUnnecessaryIsInstance] -- a codec of the user's may give anything


class OnePort:
    """A codec for one port: the port named `name`, or the only port of the bench if `name` is empty."""

    __slots__ = ()
    name: str

    def port(self, value: object) -> str:
        """Return the name of the codec's only port.

        >>> class Numbers(OnePort):
        ...     name = "line"
        >>> Numbers().port(5)
        'line'
        """
        del value
        return self.name


_FIELD = re.compile(r"\{(\w+)\}")
PLAIN: Final = (int, float, str)
_BUILTIN: Final = (*PLAIN, bytes, bool, NoneType)


@dataclass(frozen=True, slots=True)
class LineForm:
    """A `LineForm` writes the values of one type as a line, and reads them from a line."""

    kind: type[Any]
    pattern: str
    layout: Layout
    types: dict[str, type[Any]]
    port_action: PortAction | None = None
    port_field: str = ""

    def text(self, value: object) -> str:
        if self.kind in PLAIN:
            return self.pattern.replace("{}", str(value))
        return _FIELD.sub(lambda found: str(getattr(value, found[1])), self.pattern)

    def value(self, texts: Iterable[str], port: str) -> object:
        if self.kind in PLAIN:
            return self.kind(*texts)
        fields = {name: kind(text) for (name, kind), text in zip(self.types.items(), texts, strict=True)}
        return self.kind(**fields, **({self.port_field: port} if self.port_field else {}))


@dataclass(frozen=True, slots=True)
class LineCodec:
    """A codec that encodes each value as one line of text; `lines` returns one.

    `rows` lists the types of the codec, each with its pattern. If the codec has one port, `name` is that port's name.
    If the codec has several ports, `port_field` is the field of each value that contains the name of its port.
    `encoding` is the character encoding of the lines, such as "utf-8".

    >>> @dataclass(frozen=True)
    ... class Ping: pass
    >>> codec = LineCodec(lines({Ping: "PING"}).rows, name="console")
    >>> codec.port(Ping()), codec.encode(Ping()), codec.decode("console", b"PING")
    ('console', b'PING', Ping())
    """

    rows: tuple[LineForm, ...]
    name: str = ""
    encoding: str = "utf-8"
    port_field: str = ""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types that have a pattern."""
        return tuple(row.kind for row in self.rows)

    def port(self, value: object) -> str:
        """Return the name of the port that carries a value."""
        return str(getattr(value, self.port_field, "")) if self.port_field else self.name

    def encode(self, value: object) -> bytes | PortAction:
        """Return a value as a line of text without a line end, or the `PortAction` of the value.

        Raises CodecError for other values.
        """
        for row in self.rows:
            if row.kind is type(value):
                return row.port_action or self._line(value, row.text(value))
        message = f"no line pattern for {show(value)}; there are patterns for {_names(self.rows)}"
        raise CodecError(message)

    def decode(self, port: str, data: bytes) -> object:
        """Return the value of the first pattern that matches the whole line. Raises CodecError if none matches."""
        try:
            text = data.decode(self.encoding)
        except UnicodeError as error:
            raise CodecError(str(error)) from error
        for row in self.rows:
            if row.port_action is not None:
                continue
            found = row.layout.fields(text)
            if found is not None:
                return _made(row, found, text, port)
        message = f"the line {show(text)} matches no pattern of {_names(self.rows)}"
        raise CodecError(message)

    def misfit(self, value: object) -> str:
        """Return why no line can decode to this value, such as a field of the wrong type; "" if a line can."""
        # a class that converts its fields is not known well enough
        known = (row for row in self.rows if row.kind not in PLAIN and not hasattr(row.kind, "__post_init__"))
        row = next((row for row in known if row.kind is type(value)), None)
        for name, kind in row.types.items() if row is not None else ():
            given = getattr(value, name)
            if type(given) in _BUILTIN and type(given) is not kind:
                return f"{type(value).__name__}.{name} is always decoded as {kind.__name__}, and is {show(given)} here"
        return ""

    def _line(self, value: object, text: str) -> bytes:
        if "\n" in text or "\r" in text:
            message = f"{show(value)} is more than one line"
            raise CodecError(message)
        try:
            return text.encode(self.encoding)
        except UnicodeError as error:
            message = f"{show(value)} cannot be written: {error}"
            raise CodecError(message) from error


@checked
def lines(
    patterns: Mapping[type[Any], str | PortAction], *, port: str = "", port_field: str = "", encoding: str = "utf-8"
) -> LineCodec:
    """Return a codec that writes each value as one line of text; the fields of a value may be int, float or str.

    A plain int, float or str can also be a value, with the pattern `{}`: `lines({str: "{}"})` decodes any line of text.

    `port` is the name of the port. On a bench with several ports, such as the clients of a server, give each dataclass
    a field for the name of its port. Pass the name of this field as `port_field`, and do not mention the field in the
    patterns. For an input that connects or closes a port, give a `PortAction` instead of a pattern: `{Hangup:
    PortAction.CLOSE}`. `lines` raises UsageError if a pattern does not fit its dataclass, or if two dataclasses have
    the same pattern.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Coin: cents: int
    >>> codec = lines({Coin: "coin {cents}"})
    >>> codec.encode(Coin(5)), codec.decode("", b"coin 10")
    (b'coin 5', Coin(cents=10))
    >>> @dataclass(frozen=True)
    ... class Said:
    ...     client: str
    ...     text: str
    >>> lines({Said: "said {text}"}, port_field="client").decode("bob", b"said hello")
    Said(client='bob', text='hello')
    >>> lines({str: "{}"}).decode("", b"220 ready")
    '220 ready'
    """
    if port and port_field:
        raise UsageError("lines: give the name of the only port, or the field that names the port, not both")
    try:
        "".encode(encoding)
    except LookupError as error:
        raise UsageError(f"lines: encoding={encoding!r}: Python has no such encoding; try utf-8") from error
    rows = tuple(_row(kind, pattern, port_field) for kind, pattern in patterns.items())
    first: dict[Layout, LineForm] = {}
    for row in rows:
        known = first.setdefault(row.layout, row)
        if known is not row and known.port_action is row.port_action is None:
            name, other = row.kind.__name__, known.kind.__name__
            message = (
                f"lines: {name} and {other} have the same pattern, {row.pattern!r}: no line would be read as a {name}; "
            )
            raise UsageError(message + "use one dataclass as input and as output")
    return LineCodec(rows, port, encoding, port_field)


def _row(kind: type[Any], pattern: str | PortAction, port_field: str) -> LineForm:
    if {"\n", "\r"} & {*str(pattern)}:
        raise UsageError(f"the pattern {pattern!r} has a line end, which the framing adds; leave it out")
    if isinstance(pattern, PortAction):
        return LineForm(kind, "", Layout(("",), ()), {}, pattern)
    if kind in PLAIN and not port_field:
        return _plain_row(kind, pattern)
    if not dataclasses.is_dataclass(kind):
        message = f"{kind.__name__} is not a dataclass; a line pattern such as {pattern!r} needs one"
        raise UsageError(message)
    hints = hints_of(kind, "lines")
    names: list[str] = _FIELD.findall(pattern)
    named = [port_field] if port_field else []
    own = [item.name for item in dataclasses.fields(kind) if item.init]
    if sorted(names + named) != sorted(own):
        but = f" but {port_field}, which it must have," if port_field else ""
        there = ", ".join(f"{{{name}}}" for name in own) or "no field"
        message = f"the pattern {pattern!r} must name each field of {kind.__name__}{but} once, in braces"
        raise UsageError(f"{message}; {_misread(pattern, own)}{kind.__name__} has {there}")
    types = {name: _parsed(kind, name, hints[name]) for name in names}
    # split returns the texts between the fields at even indices, and their names at odd ones
    layout = Layout(tuple(_FIELD.split(pattern)[::2]), tuple(types.values()))
    return LineForm(kind, pattern, layout, types, port_field=port_field)


def _misread(pattern: str, own: list[str]) -> str:
    """Return what is wrong with the braces of a pattern, to begin an advice; "" if nothing is known."""
    if found := re.search(r"\{(\w+)[:!][^{}]*\}", pattern):
        return f"{found[0]} has a format, which a pattern cannot have: write {{{found[1]}}}; "
    if pattern.count("{") != pattern.count("}"):
        return "a brace is not closed, or not opened; "
    names: list[str] = _FIELD.findall(pattern)
    hint = next(
        (near(name, own).replace("mean ", "mean {").replace("?", "}?") for name in names if name not in own), ""
    )
    return hint and f"{hint} "


def _plain_row(kind: type[Any], pattern: str) -> LineForm:
    texts = tuple(pattern.split("{}"))
    if len(texts) != 2:  # noqa: PLR2004 -- what is before the value, and what follows
        raise UsageError(f"the pattern {pattern!r} must have the place of the {kind.__name__} once, as {{}}")
    return LineForm(kind, pattern, Layout(texts, (kind,)), {"": kind})


def _parsed(kind: type[Any], name: str, hint: object) -> type[Any]:
    for known in PLAIN:
        if hint is known:
            return known
    message = f"{kind.__name__}.{name}: a line can carry int, float and str, not {hint}; write a codec of your own"
    raise UsageError(message)


def _made(row: LineForm, texts: list[str], text: str, port: str) -> object:
    try:
        return row.value(texts, port)
    except Exception as error:
        message = f"the line {show(text)} is not a valid {row.kind.__name__}: {error}"
        raise CodecError(message) from error


def _names(rows: tuple[LineForm, ...]) -> str:
    return ", ".join(row.kind.__name__ for row in rows)


__all__ = ["Codec", "LineCodec", "PortAction", "lines"]
