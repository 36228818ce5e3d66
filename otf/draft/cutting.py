"""Which framing cuts a recorded stream into messages: the first of a few that leaves no byte over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from otf.draft.dialogue import Dialogue, Utterance
from otf.framing import Framer, Framing, fixed, length, lines

WIDTHS: Final = (4, 2, 1)
ORDERS: Final[tuple[Literal["big", "little"], ...]] = ("big", "little")
GAP: Final = "framing.silence(0.02)"
_FEW: Final = 2


class FramingGuess(NamedTuple):
    """A framing as code, "" for the default of the port, and why it was chosen."""

    code: str
    why: str


def cut(dialogue: Dialogue) -> tuple[Dialogue, FramingGuess]:
    """Return the dialogue with whole messages, and the framing that made them."""
    if not dialogue.is_stream:
        return dialogue, _of_frames(dialogue)
    for guess, framing in _candidates(dialogue.utterances):
        found = list(_framed(dialogue.utterances, framing))
        if found and found[-1] is not None:
            whole = [each for each in found if each is not None]
            return replace(dialogue, utterances=whole, is_stream=False), guess
    guess = FramingGuess(GAP, "no framing was recognised, so a message is what came in one piece")
    return replace(dialogue, is_stream=False), guess


def is_text(data: bytes) -> bool:
    """Return whether bytes are printable UTF-8, with tabs."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(char.isprintable() or char == "\t" for char in text)


def _of_frames(dialogue: Dialogue) -> FramingGuess:
    # a datagram needs no framing, and a log has no bytes between its messages
    if dialogue.url.startswith("udp:") or all(is_text(each.data) for each in dialogue.utterances):
        return FramingGuess("", "")
    sizes = {len(each.data) for each in dialogue.utterances}
    if len(sizes) == 1:
        return FramingGuess(f"framing.fixed({sizes.pop()})", "all messages have this size")
    return FramingGuess(GAP, "a log does not show the bytes between messages")


def _candidates(pieces: list[Utterance]) -> Iterator[tuple[FramingGuess, Framing]]:
    ends = {each.data[-2:] for each in pieces if each.data.endswith(b"\n") and each.sent}
    if all(is_text(each.data.replace(b"\r", b"").replace(b"\n", b"")) for each in pieces):
        crlf = bool(ends) and ends == {b"\r\n"}
        yield FramingGuess('framing.lines(end=b"\\r\\n")' if crlf else "", "text, line by line"), lines()
    for width in WIDTHS:
        for order in ORDERS:
            why = "each message begins with its length"
            yield FramingGuess(f'framing.length({width}, "{order}")', why), length(width, order)
    sizes = {len(each.data) for each in pieces}
    if len(sizes) == 1 and len(pieces) >= _FEW:
        size = sizes.pop()
        yield FramingGuess(f"framing.fixed({size})", "all messages have this size"), fixed(size)


def _framed(pieces: Iterable[Utterance], framing: Framing) -> Iterator[Utterance | None]:
    """Yield the frames of both directions; None at the end if the framing does not fit."""
    framers: dict[tuple[int, bool], Framer] = {}
    for piece in pieces:
        framer = framers.setdefault((piece.client, piece.sent), framing())
        for frame in framer.feed(piece.data):
            if frame.trouble:
                yield None
                return
            yield piece._replace(data=frame.data)
    if any(framer.unfinished for framer in framers.values()):
        yield None
