"""Registers: parts of answers that are remembered and sent back, such as the number of a session, job or packet.

Models and learners want few inputs that mean the same in every run: `delete {job}`, not `delete 4711`. This layer over
any framing replaces the mark of a register with its current value in what is sent, and the value with the mark in what
arrives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from otf.errors import UsageError
from otf.framing.frame import Frame, Framer, Framing
from otf.values.arguments import checked


@dataclass(frozen=True)
class Register:
    r"""A value that the system chooses and that later inputs must repeat, such as the id of a job.

    The value is what group 1 of the regular expression `seen` matched in the latest matching frame. Before the first
    frame that matches `seen`, the value is `first`. When an input contains the `mark`, otf replaces the mark with the
    register's value. By default the mark is the register's name in braces, such as `{job}`. In binary messages, use a
    mark with as many bytes as the value, and with bytes that occur nowhere else. For a sequence number, `then` computes
    the next value from the value that was sent.

    >>> Register(rb"INSERTED (\d+)").first
    b'0'
    """

    seen: bytes
    first: bytes = b"0"
    mark: bytes = b""
    then: Callable[[bytes], bytes] | None = None


class RegisterFramer:
    """A framer with registers; made by `registers`. The registers of a connection end with it."""

    def __init__(self, inner: Framer, file: Mapping[bytes, Register]) -> None:
        self._inner = inner
        self._values = {mark: each.first for mark, each in file.items()}
        self._seen = {mark: re.compile(each.seen, re.DOTALL) for mark, each in file.items()}
        self._then = {mark: each.then for mark, each in file.items()}
        self._marks = re.compile(b"|".join(map(re.escape, file)))
        self.gap: float = inner.gap

    @property
    def unfinished(self) -> bool:
        """Return whether a frame has begun but not ended."""
        return self._inner.unfinished

    @property
    def begun(self) -> bytes:
        """Return the bytes of a frame that has not ended."""
        return self._inner.begun

    def pack(self, data: bytes) -> bytes:
        """Return the bytes of a frame on the wire, with the values of the registers. Raises CodecError."""
        return self._inner.pack(self._marks.sub(lambda found: self._sent(found[0]), data))

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the frames that they complete, with marks."""
        return [self._marked(frame) for frame in self._inner.feed(chunk)]

    def rest(self) -> list[Frame]:
        """Return the unfinished frame, if any."""
        return [self._marked(frame) for frame in self._inner.rest()]

    def _sent(self, mark: bytes) -> bytes:
        value, then = self._values[mark], self._then[mark]
        if then is not None:
            self._values[mark] = then(value)
        return value

    def _marked(self, frame: Frame) -> Frame:
        data, places = frame.data, list[tuple[int, int, bytes]]()
        for mark, seen in self._seen.items():
            found = seen.search(frame.data)
            if found is not None:
                self._values[mark] = found[1]
                places.append((*found.span(1), mark))
        # from the end, so that the other places stay where they are; of two that overlap the later one has its mark
        begun = len(data)
        for start, end, mark in sorted(places, reverse=True):
            if end <= begun:
                data, begun = data[:start] + mark + data[end:], start
        return Frame(data, frame.trouble, frame.received, frame.doubt) if places else frame


@checked
def registers(framing: Framing, file: Mapping[str, Register | bytes]) -> Framing:
    r"""Return a framing that remembers values of the system and puts them into later inputs (see `Register`).

    `file` maps the name of each register to a `Register`, or only to its regular expression `seen`. Do not use
    `registers` with a framing whose frames contain their own length, such as `http()`; use `Accept` in the model
    instead. `registers` raises UsageError for a wrong regular expression.

    >>> from otf.framing import lines
    >>> framer = registers(lines(), {"job": rb"INSERTED (\d+)"})()
    >>> framer.pack(b"delete {job}"), framer.feed(b"INSERTED 17\n")[0].data, framer.pack(b"delete {job}")
    (b'delete 0\n', b'INSERTED {job}', b'delete 17\n')
    """
    made = {name: each if isinstance(each, Register) else Register(each) for name, each in file.items()}
    for name, each in made.items():
        try:
            groups = re.compile(each.seen).groups
        except re.error as error:
            raise UsageError(f"register {name}: {each.seen!r} is not a regular expression: {error}") from error
        if groups != 1:
            raise UsageError(f"register {name}: {each.seen!r} has {groups} groups; put the value, and no more, in ( )")
    marked = {each.mark or f"{{{name}}}".encode("latin-1"): each for name, each in made.items()}
    return (lambda: RegisterFramer(framing(), marked)) if marked else framing
