"""Values as text: short, on one line, without terminal control sequences; and what changed from one value to another.

Also the words of a value, which show that a name in one value occurs in another.
"""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum, Flag
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast, get_origin

LONGEST = 300
COMPARED: Final = 4_000
"""Characters of an output that is compared as text: two that differ later look the same."""
MOST: Final = 10  # changed parts of a value; if there are more, the whole value is shown
UNNAMED: Final = 2  # the most of these that have a position but no name
WHOLE: Final = ContextVar("whole", default=False)
"""Whether to show values with all their fields, and uncut."""
_GENERATED: Final = (dataclasses.__file__, reprlib.__file__)
_MEMBERS: Final = {Enum.__repr__, Flag.__repr__}  # not a `repr` of the user
_PLAIN: Final = {str, int, bool, float, bytes, type(None)}
_CUT: Final = re.compile(r"… \(([\d,]+) characters\)(?: on \w+)?\Z")
_PORT: Final = re.compile(r"(?<=[)\]}'\"]) on [^\W\d]\w*\Z")
_BRACKETS: Final[Mapping[type, tuple[str, str]]] = {
    tuple: ("(", ")"),
    list: ("[", "]"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


@contextmanager
def showing(*, whole: bool) -> Generator[None]:
    """Within a `with` statement, let `show` keep all fields of each value and cut nothing, if `whole` is true.

    >>> with showing(whole=True):
    ...     len(show("x" * 1000))
    1002
    """
    before = WHOLE.set(whole)
    try:
        yield
    finally:
        WHOLE.reset(before)


def show(value: object, longest: int = LONGEST) -> str:
    """Return a value as text on one line, as `repr` does but shorter.

    `show` leaves out the fields of a dataclass that have their default, and writes a member of an enum as `Mode.ON`.
    `show` cuts a text with more than `longest` characters, and appends the length of the text. `show` escapes control
    characters, because a value that the tested system sent must not change your terminal. Inside `showing(whole=True)`,
    `show` keeps all fields and cuts nothing.

    >>> show(("a", 1)), show("x" * 80, longest=36)
    ("('a', 1)", "'xxxxxxxxxxxxxxxxxx… (82 characters)")
    """
    try:
        text = repr(value) if WHOLE.get() else _text(value)
    except Exception:  # noqa: BLE001 -- a broken part of a value must not hide the failure to be shown
        text = _otherwise(value)
    return shortened(text if text.isprintable() else plain(text), longest)


def plain(text: str, kept: str = "") -> str:
    r"""Return a text with its control characters escaped, except those in `kept`, since it may come from a stranger.

    >>> plain("a\nb")
    'a\\nb'
    """
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape").decode() for char in text
    )


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text cut at a length, with a remark how long it was; if `WHOLE` says so, it stays whole.

    A port named at the end of the text stays, and so does the length of a text that was cut before.

    >>> shortened("x" * 99, 20), shortened("short")
    ('xxx… (99 characters)', 'short')
    """
    if len(text) <= longest or WHOLE.get():
        return text
    port, cut = _PORT.search(text), _CUT.search(text)
    length = f"… ({cut[1] if cut else f'{len(text):,}'} characters){port[0] if port else ''}"
    room = longest - len(length)
    return text[:room].rstrip("…") + length if room > 0 else text[: longest - 1] + "…"


def as_text(value: object, read: Callable[[object], str] = str) -> str:
    """Return a value as text; `as_text` never raises, even if the value's own `__str__` raises an exception.

    `read` turns the value into text (default: `str`).

    >>> as_text(KeyError("x")), as_text(5)
    ("'x'", '5')
    """
    try:
        return read(value)
    except Exception:  # noqa: BLE001 -- the user's code may raise anything
        return _otherwise(value)


def _otherwise(value: object) -> str:
    try:
        return repr(value)  # which ends even if a value contains itself
    except Exception as error:  # noqa: BLE001 -- the user's code may raise anything
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def _text(value: Any) -> str:  # noqa: ANN401 -- any value
    kind = value.__class__
    if kind in _PLAIN:
        return repr(value)
    # a long one is cut anyway
    if kind in _BRACKETS and 0 < len(value) <= LONGEST:
        opening, closing = _BRACKETS[kind]
        return f"{opening}{', '.join(map(_text, value))}{',' if kind is tuple and len(value) == 1 else ''}{closing}"
    if kind is dict and len(value) <= LONGEST:
        return f"{{{', '.join(f'{_text(key)}: {_text(each)}' for key, each in value.items())}}}"
    # `Mode.ON` reads better than `<Mode.ON: 1>`, and is an expression, whose parts can be compared
    if isinstance(value, Enum) and type(value).__repr__ in _MEMBERS and value.name:
        return f"{type(value).__name__}.{value.name}"
    fields = _fields(kind)
    if fields is None:
        return repr(value)
    texts = ((name, _text(getattr(value, name)), default) for name, default in fields)
    return f"{kind.__qualname__}({', '.join(f'{name}={text}' for name, text, default in texts if text != default)})"


@lru_cache(1024)
def _fields(kind: Any) -> tuple[tuple[str, str | None], ...] | None:  # noqa: ANN401 -- mypy holds that types cannot be hashed
    """Return the fields that a dataclass shows, with the text of their defaults; None if it has a `repr` of its own."""
    code = getattr(kind.__repr__, "__code__", None)
    if not dataclasses.is_dataclass(kind) or code is None or code.co_filename not in _GENERATED:
        return None
    return tuple((field.name, _default(field)) for field in dataclasses.fields(kind) if field.repr)


def _default(field: dataclasses.Field[Any]) -> str | None:
    if field.default is not dataclasses.MISSING:
        return _text(field.default)
    # other factories may do anything
    empty = {dict: "{}", list: "[]", set: "set()", tuple: "()", frozenset: "frozenset()"}
    made = get_origin(field.default_factory) or field.default_factory
    return next((text for kind, text in empty.items() if made is kind), None)


def changes(before: object, after: object) -> str:
    """Return what changed from one value to another, as text; return "" if the two values are equal.

    The text shows the parts that differ, or the whole new value where that is clearer.

    >>> changes((1, ("a", "b")), (1, ("a", "b", "c")))
    "[1] + 'c'"
    >>> changes("idle", "busy")
    "'busy'"
    """
    whole = show(after)
    try:
        if type(before) is type(after) and before == after:
            return ""
        found = [] if WHOLE.get() else list(_changes(before, after, ""))
    except Exception:  # noqa: BLE001 -- as above, the values of a model may not even compare
        return whole
    text = ", ".join(found)
    # three or more unnamed positions: a reader would have to put the value together
    unnamed = sum(each.startswith("[") for each in found)
    return text if 0 < len(found) <= MOST and unnamed <= UNNAMED and len(text) <= len(whole) else whole


def became(before: Sequence[object], now: Sequence[object]) -> list[str]:
    """Return the possible states of a model as text: if there is one, only what changed in it, otherwise all in full.

    >>> became([("idle", 1)], [("idle", 2)]), became([1], [1]), became([], [1, 2])
    (['[1] = 2'], ['unchanged'], ['1', '2'])
    """
    if len(before) == len(now) == 1:
        return [changes(before[0], now[0]) or "unchanged"]
    return [show(state) for state in now]


def _changes(before: Any, after: Any, path: str) -> Iterator[str]:  # noqa: ANN401 -- the values of any model
    kind = after.__class__
    if before.__class__ is not kind:
        yield _assigned(path, after)
    elif (fields := _fields(kind)) is not None:
        for name, _ in fields:
            yield from _part(getattr(before, name), getattr(after, name), f"{path}.{name}" if path else name)
    elif kind in {set, frozenset}:
        yield from _elements(path, after - before, before - after)
    elif kind is dict:
        yield from _entries(before, after, path)
    elif kind in {tuple, list}:
        yield from _sequence(before, after, path)
    else:
        yield _assigned(path, after)


def _part(before: object, after: object, path: str) -> Iterator[str]:
    if type(before) is not type(after) or before != after:
        yield from _changes(before, after, path)


def _assigned(path: str, after: object) -> str:
    return f"{path} = {show(after)}" if path else show(after)


def _elements(path: str, added: Iterable[object], removed: Iterable[object]) -> Iterator[str]:
    where = path or "it"
    yield from sorted(f"{where} + {show(each)}" for each in added)
    yield from sorted(f"{where} - {show(each)}" for each in removed)


def _entries(before: dict[object, object], after: dict[object, object], path: str) -> Iterator[str]:
    added = [{key: value} for key, value in after.items() if key not in before]
    yield from _elements(path, added, [{key: value} for key, value in before.items() if key not in after])
    for key in after.keys() & before.keys():
        yield from _part(before[key], after[key], f"{path}[{show(key)}]")


def _sequence(before: Sequence[object], after: Sequence[object], path: str) -> Iterator[str]:
    if len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _part(one, other, f"{path}[{at}]")
    elif _within(before, after):
        yield from _elements(path, _left(after, before), ())
    elif _within(after, before):
        yield from _elements(path, (), _left(before, after))
    else:
        yield _assigned(path, after)


def _within(some: Sequence[object], more: Sequence[object]) -> bool:
    """Return whether a sequence is another one with elements left out."""
    rest = iter(more)
    return all(any(each == other for other in rest) for each in some)


def _left(more: Sequence[object], some: Sequence[object]) -> Iterator[object]:
    at = 0
    for each in more:
        if at < len(some) and each == some[at]:
            at += 1
        else:
            yield each


TextWords: TypeAlias = tuple[str, ...]
"""The words of a value in order: its types in angle brackets, those of its texts and bytes, and its numbers."""

WORD: Final = re.compile(r"\w+|[^\w\s]")
_REMEMBERED: Final = 512


@lru_cache(_REMEMBERED)
def words(value: Hashable) -> TextWords:
    r"""Return the words in the text of a value, in their order; `value` is the value's key.

    >>> from otf.values.identity import key
    >>> words(key(("get", 7, b"/jobs/12", b"\x00")))
    ('<tuple>', 'get', '<int>', '7', '/', 'jobs', '/', '12', '\x00')
    """
    return tuple(_words(value))


def _words(value: Hashable) -> Iterator[str]:
    if isinstance(value, tuple):
        for each in cast("tuple[Hashable, ...]", value):
            yield from _words(each)
    elif isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        yield from WORD.findall(text) if text.isprintable() else [text]
    elif isinstance(value, type):
        yield f"<{value.__qualname__}>"
    else:
        yield str(value)


ENVELOPES: Final[dict[type, Callable[[Any], object]]] = {}
"""The types of envelopes, each with the function that takes the message out."""


def message_of(value: object) -> object:
    """Return the message inside an envelope such as `otf.codec.by_port.At`; return any other value unchanged.

    >>> message_of("ping")
    'ping'
    """
    opened = ENVELOPES.get(type(value))
    return value if opened is None else opened(value)
