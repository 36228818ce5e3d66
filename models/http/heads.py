"""The head of a request as a server may read it: the readings that the standard allows, and the faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from otf.models.http.requirements import HttpRule as R

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_PLAIN: Final = r"[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}"
AUTHORITY: Final = rf"(?:(?:{_PLAIN})+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?"
"""A host and a port (RFC 9110, section 7.2)."""
_PATH: Final = rf"/(?:{_PLAIN}|[:@/])*(?:\?(?:{_PLAIN}|[:@/?])*)?"
TARGET: Final = rf"(?:[Hh][Tt][Tt][Pp][Ss]?://{AUTHORITY}(?:{_PATH})?|{_PATH})"
"""The target for an origin server: a path, or a whole address (RFC 9112, sections 3.2.1 and 3.2.2)."""
_LINE: Final = re.compile(rf"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ({TARGET}) HTTP/([0-9])\.([0-9])", re.ASCII)
_SPACES: Final = re.compile(r"[ \t\v\f\r]+", re.ASCII)
_INVALID: Final = re.compile(r"[\0\r\n]")
_CONTROL: Final = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CRLF: Final = "\r\n"
_SP: Final = " \t"

BAD: Final = frozenset({400})
"""The answers to a malformed message."""
ANY_ERROR: Final = frozenset(range(400, 600))


@dataclass(frozen=True, slots=True)
class MessageFault:
    """A fault of a request: the statuses that may answer it, and whether the server must refuse it.

    `ends`: the server must then close the connection. `should`: only a SHOULD demands the refusal.
    """

    codes: frozenset[int]
    rule: R
    must: bool = False
    ends: bool = False
    should: bool = False


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A head as read: the words of the request line, the fields in order, and the faults."""

    method: str
    target: str
    version: tuple[int, int]
    fields: tuple[tuple[str, str], ...] = ()
    faults: tuple[MessageFault, ...] = ()
    size: int = 0
    rules: frozenset[R] = field(default_factory=frozenset[R])

    def values(self, name: str) -> list[str]:
        """Return the values of the field lines with this name in lower case."""
        return [value for each, value in self.fields if each == name]

    def with_fault(self, fault: MessageFault) -> RequestHead:
        """Return the head with one more fault."""
        return replace(self, faults=(*self.faults, fault))


def read_heads(data: str) -> Iterator[RequestHead | None]:
    """Yield the readings of the head at the beginning of the data; None: it has no end yet."""
    start = 0
    while data.startswith(_CRLF, start):
        start += len(_CRLF)
    empty = [MessageFault(BAD, R.RFC9112_2_2_EMPTY_LINE)] if start else []
    strict, lenient = data.find(_CRLF + _CRLF, start), _lenient_end(data, start)
    if strict < 0 or len(data) == start:
        yield None
    else:
        yield _head(data[start:strict].split(_CRLF), strict + 4, empty)
    if lenient is not None and (lenient != strict + 4 or "\n" in data[start:lenient].replace(_CRLF, "")):
        lines = [each.rstrip("\r") for each in data[start:lenient].split("\n")]
        while lines[1:] and not lines[-1]:
            lines.pop()
        yield _head(lines, lenient, [*empty, MessageFault(BAD, R.RFC9112_2_2_LF)])
        if not lines[0]:  # a server may ignore empty lines, even those that end in a single LF
            begin = len(data) - len(data.lstrip(_CRLF))
            yield from (head and replace(head, size=head.size + begin) for head in read_heads(data[begin:]))


def _lenient_end(data: str, start: int) -> int | None:
    """Return where the head ends if a single LF ends a line."""
    found = re.compile(r"\n\r*\n").search(data, start)
    return None if found is None else found.end()


def _head(lines: list[str], size: int, faults: list[MessageFault]) -> RequestHead:
    head = replace(_request_line(lines[0]), size=size)
    head = replace(head, faults=(*faults, *head.faults))
    ignoring, fields = True, list[tuple[str, str]]()
    for line in lines[1:]:
        if line.startswith(tuple(_SP)):
            if ignoring:
                head = head.with_fault(MessageFault(BAD, R.RFC9112_2_2_SPACE))
                continue
            head = head.with_fault(MessageFault(BAD, R.RFC9112_5_2_FOLD))
            name, value = fields.pop()
            head, more = _value(head, line)
            fields.append((name, f"{value} {more}".strip(_SP)))
            continue
        ignoring = False
        head, pair = _field(head, line)
        fields.append(pair)
    return replace(head, fields=tuple(fields))


def _request_line(line: str) -> RequestHead:
    if found := _LINE.fullmatch(line):
        head = RequestHead(found[1], found[2], (int(found[3]), int(found[4])))
        if head.version[0] != 1:
            return head.with_fault(MessageFault(ANY_ERROR, R.RFC9110_6_2_MAJOR))
        return head if head.version[1] < 2 else head.with_fault(MessageFault(ANY_ERROR, R.RFC9110_6_2_MINOR))  # noqa: PLR2004 -- after 1.1
    words = _SPACES.sub(" ", line).strip()
    if found := _LINE.fullmatch(words):
        # the server may also see that it is not a request line
        fault = MessageFault(ANY_ERROR, R.RFC9112_3_WORDS)
        return RequestHead(found[1], found[2], (int(found[3]), int(found[4])), faults=(fault,))
    # a server may only ignore an empty line, which is another reading
    fault = MessageFault(ANY_ERROR | {301}, R.RFC9112_3_2_INVALID, must=True, should=bool(line))
    return RequestHead("", "", (1, 1), faults=(fault,))


def _field(head: RequestHead, line: str) -> tuple[RequestHead, tuple[str, str]]:
    name, colon, value = line.partition(":")
    if colon and name != name.rstrip(_SP) and _TOKEN.fullmatch(name.rstrip(_SP)):
        head = head.with_fault(MessageFault(BAD, R.RFC9112_5_1_COLON, must=True))
    elif not colon or not _TOKEN.fullmatch(name):
        head = head.with_fault(MessageFault(ANY_ERROR, R.RFC9112_2_2_GRAMMAR, must=True, ends=True, should=True))
    head, value = _value(head, value)
    return head, (name.strip(_SP).lower(), value)


def _value(head: RequestHead, value: str) -> tuple[RequestHead, str]:
    """Return a value with SP in place of forbidden characters."""
    if "\r" in value:
        head = head.with_fault(MessageFault(BAD, R.RFC9112_2_2_CR))
    if "\0" in value or "\n" in value:
        head = head.with_fault(MessageFault(BAD, R.RFC9110_5_5_NUL))
    if _CONTROL.search(value):
        head = head.with_fault(MessageFault(BAD, R.RFC9110_5_5_NUL))
    return head, _INVALID.sub(" ", value).strip(_SP)
