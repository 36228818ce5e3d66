"""A codec of dataclasses that another library, such as construct or protobuf, reads and writes.

The codec checks what the library does: it sends a value only if the value's bytes read back as the same value. With
`exact`, the codec accepts received bytes only if the library would write the same bytes for their message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Final, TypedDict

from otf.codec import OnePort, PortAction
from otf.codec.shapes import type_hints
from otf.codec.trial import DecodeTrial
from otf.errors import CodecError, UsageError
from otf.values import show

# what an error says about an input that a library only reads
READ_ONLY: Final = (
    "{0} cannot be written: its class only reads; compile it with `kaitai-struct-compiler --read-write --no-auto-read` "
    "(0.11 or later), or send dataclasses of otf.codec.records"
)
_LONGEST: Final = 300  # the most characters of a library's reason


@dataclass(frozen=True, slots=True)
class MessageForm:
    """A `MessageForm` says how a library reads and writes the messages of one type, `kind`.

    `read` is the function that turns bytes into a message. `write` is the function that turns a message into bytes,
    None if the library only reads. `endless` is true if reading may take unlimited time or memory; the codec then first
    tries to read the bytes in another process.
    """

    kind: type
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes] | None
    endless: bool = False


class CodecOptions(TypedDict, total=False):
    """The options that `from_construct` and similar functions accept in addition to the dataclasses.

    `actions` maps types of inputs to the `PortAction` that they cause, such as a reset. `port` is the name of the port
    that all inputs use.
    """

    actions: Mapping[type, PortAction]
    port: str


@dataclass(frozen=True)
class LibraryCodec(OnePort):
    """A codec for dataclasses that a library reads and writes; `from_construct` and similar functions return one.

    `forms` maps each type of message to the `MessageForm` that writes it, or to a `PortAction`. `outputs` lists the
    `MessageForm`s that decode outputs. `exact` is true if the codec accepts only bytes that the library would write for
    their message. `name` is the name of the codec's port.

    >>> from dataclasses import dataclass
    >>> from otf.codec.libraries import from_json
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     value: int
    >>> from_json(Level, port="meter").port(Level(1))
    'meter'
    """

    forms: Mapping[type, MessageForm | PortAction]
    outputs: tuple[MessageForm, ...]
    exact: bool
    name: str = ""

    @cached_property
    def _decoded(self) -> frozenset[type]:
        return frozenset(form.kind for form in self.outputs)

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all messages of the codec."""
        return tuple(self.forms)

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes or the `PortAction` of a message. Raises CodecError if the message cannot be encoded."""
        form = self.forms.get(type(value))
        if form is None:
            raise CodecError(f"no message {show(value)}; there are {_names(self.forms)}")
        if isinstance(form, PortAction):
            return form
        if form.write is None:
            raise CodecError(READ_ONLY.format(form.kind.__name__))
        try:
            data = form.write(value)
            back = self._read(data) if form.kind in self._decoded else form.read(data)
        except Exception as error:
            raise CodecError(f"{show(value)} cannot be written: {_reason(error)}") from error
        if back != value and repr(back) != repr(value):  # nan is not equal to itself
            raise CodecError(f"{show(value)} cannot be written: its bytes would be read as {show(back)}")
        return data

    def decode(self, port: str, data: bytes) -> object:
        """Return the message that these bytes encode, as the first type that fits. Raises CodecError if none fits."""
        del port
        if self._endless:
            self._trial.check(data)
        return self._read(data)

    @cached_property
    def _endless(self) -> bool:
        return any(form.endless for form in self.outputs)

    @cached_property
    def _trial(self) -> DecodeTrial:
        alike = LibraryCodec({}, self.outputs, self.exact)  # not this one, since the process must end with it
        return DecodeTrial(alike._read)

    def _read(self, data: bytes) -> object:
        reasons: list[str] = []
        for form in self.outputs:
            try:
                value = form.read(data)
                if not self.exact or form.write is None:
                    return value
                again = form.write(value)
            except MemoryError:  # says nothing about the bytes
                raise
            except Exception as error:  # noqa: BLE001 -- a library may raise anything on bytes that are not a message
                reasons.append(f"no {form.kind.__name__}: {_reason(error)}")
            else:
                if again == data:
                    return value
                reasons.append(f"no {form.kind.__name__}: {_other(again, data)}")
        raise CodecError("; ".join(reasons) or "the codec has inputs only, and nothing to decode")


def library_codec(
    form: Callable[[type, Any], MessageForm],
    kinds: Mapping[type, Any],
    inputs: Mapping[type, Any],
    exact: bool,  # noqa: FBT001 -- the caller has named it
    options: CodecOptions,
) -> LibraryCodec:
    """Return the codec of dataclasses with their declarations; `form` makes the `MessageForm` of each dataclass.

    `library_codec` raises UsageError for an unknown option.
    """
    if unknown := options.keys() - CodecOptions.__annotations__.keys():
        raise UsageError(
            f"there is no option {min(unknown)}= of this codec; it has inputs, exact, actions, port. For several ports "
            'with the same messages write codecs(alice=codec, bob=codec), and values as At("alice", …)'
        )
    outputs = tuple(form(kind, declaration) for kind, declaration in kinds.items())
    more = tuple(form(kind, declaration) for kind, declaration in inputs.items())
    forms: dict[type, MessageForm | PortAction] = {each.kind: each for each in (*outputs, *more)}
    return LibraryCodec({**forms, **options.get("actions", {})}, outputs, exact, options.get("port", ""))


def import_library(name: str, extra: str) -> Any:
    """Return the module of a library that is an extra of otf. Raises UsageError if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed: pip install 'otf[{extra}]'") from error


def check_names(kind: type, names: list[str | None], *more: str) -> None:
    """Raise UsageError if the declaration of a dataclass names its fields, but not all of them."""
    if names and (unknown := type_hints(kind).keys() - {*names, *more}):
        known = ", ".join(filter(None, names))
        raise UsageError(f"{kind.__name__}.{min(unknown)} is not declared; the declaration has {known}")


def check_end(at: int, size: int) -> None:
    """Raise CodecError if bytes remain after the end of a message."""
    if at != size:
        raise CodecError(f"it ends at byte {at}, and {size - at} more follow")


def _other(again: bytes, data: bytes) -> str:
    at = next((at for at, (one, other) in enumerate(zip(again, data, strict=False)) if one != other), None)
    place = min(len(again), len(data)) if at is None else at
    return f"written again it differs from byte {place} on: {again[place : place + 16].hex()} (exact=False accepts it)"


def _reason(error: Exception) -> str:
    return (f"{error}" or type(error).__name__)[:_LONGEST]


def _names(kinds: Iterable[type]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


__all__ = ["CodecOptions", "LibraryCodec", "MessageForm"]
