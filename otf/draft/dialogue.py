"""The messages of a recorded conversation with a system, in both directions, from a capture or a marked log.

Recordings come from strangers: packets and lines are bounded, and nothing in them is interpreted. The first of a few
framings that leaves no byte over cuts a stream into messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO, Final, Literal, NamedTuple, TypeVar

from otf.errors import UsageError
from otf.framing import Framer, Framing, fixed, length, lines, silence
from otf.trace.pcap import MAGIC, Capture, Endpoint, Packet, Stream
from otf.trace.pcapng import MAGIC as NEXT_MAGIC

Item = TypeVar("Item")
MOST: Final = 100_000
"""How many messages to read; the draft says if it leaves out later ones."""

LARGEST: Final = 1 << 25
"""How many bytes to read, to bound the memory."""

_LONGEST: Final = 1 << 16
_SYN, _ACK = 2, 16
_MARKED: Final = re.compile(
    r"(?:\[?(?P<at>\d{1,12}(?:\.\d{1,9})?)\]?[ \t]+)?"
    r"(?P<mark>>{1,3}|-{1,2}>|<-{1,2}|<{1,3}|(?i:tx|rx|sent|send|received|recv)\b:?)[ \t]?(?P<text>.*)",
    re.ASCII,
)
_TO_SYSTEM: Final = (">", "-", "t", "s")
_HEX: Final = re.compile(r"[0-9a-fA-F]{2}(?: ?[0-9a-fA-F]{2})*[ \t]*")
FORMS: Final = (
    "a capture of UDP or TCP (pcap, pcapng), or a text in which each line begins with its direction: "
    "`> text` was sent to the system, `< text` came from it (TX and RX do as well, and a time in seconds before them)"
)


class Utterance(NamedTuple):
    """One recorded message: its direction, its bytes, its time in seconds, and the client that sent or received it."""

    sent: bool
    data: bytes
    at: float
    client: int = 0


@dataclass
class Dialogue:
    """A recorded conversation with one system. `url` is its address, "" if the recording lacks it.

    `is_stream`: the messages are pieces of a stream, not yet cut by a framing. `notes` say what was left out.
    """

    name: str
    utterances: list[Utterance]
    url: str = ""
    is_stream: bool = False
    notes: list[str] = field(default_factory=list[str])


def read_dialogue(file: BinaryIO, name: str, url: str = "") -> Dialogue:
    """Read the conversation with the system at `url` from a recording.

    Without a `url`, otf reads the conversation with the most packets. `read_dialogue` raises UsageError, with the
    possible formats, if the recording has no message. `read_dialogue` raises TraceError for a broken capture.
    """
    head = file.read(4)
    file.seek(0)
    found = _dialogue_of(Capture(file, name), url) if head in {*MAGIC, NEXT_MAGIC} else _marked(file, name, url)
    if not any(each.sent for each in found.utterances):
        raise UsageError(f"{name}: no message to a system was found in it; it must be {FORMS}")
    return found


def _dialogue_of(capture: Capture, url: str) -> Dialogue:
    every = (packet for packet in capture if packet.data or packet.flags & _SYN)
    packets = list(_first(every, lambda packet: len(packet.data)))
    server = _server(packets, url, capture.name)
    own = [packet for packet in packets if server in {(packet.kind, packet.target), (packet.kind, packet.source)}]
    (kind, (host, port)) = server
    address = f"{kind}://[{host}]:{port}" if ":" in host else f"{kind}://{host}:{port}"
    found = Dialogue(capture.name, list(_utterances(own, server[1])), address, is_stream=kind == "tcp")
    if next(every, None) is not None:
        found.notes.append(f"only the first {len(packets)} packets were read")
    if len(own) < len(packets):
        found.notes.append(f"{len(packets) - len(own)} packets of other systems were left out (--url names the system)")
    if len({each.client for each in found.utterances}) > 1:
        found.notes.append("several clients were recorded; the bench is one of them")
    return found


def _first(every: Iterator[Item], size: Callable[[Item], int]) -> Iterator[Item]:
    """Yield the first items, up to the bounds."""
    total = 0
    for item in islice(every, MOST):
        yield item
        total += size(item)
        if total >= LARGEST:
            return


def _server(packets: list[Packet], url: str, name: str) -> tuple[str, Endpoint]:
    """Return the system: the target of the first packet, in the conversation with the most packets."""
    targets: dict[tuple[str, frozenset[Endpoint]], Endpoint] = {}
    counts = Counter[tuple[str, Endpoint]]()
    for packet in packets:
        ends = packet.kind, frozenset({packet.source, packet.target})
        opens = packet.source if packet.flags & _SYN and packet.flags & _ACK else packet.target
        counts[packet.kind, targets.setdefault(ends, opens)] += 1
    named = {f"{kind}://{host}:{port}": (kind, (host, port)) for kind, (host, port) in counts}
    if url:
        if url not in named:
            raise UsageError(
                f"{name}: --url {url}: the capture has no such system; it has {', '.join(list(named)[:8]) or 'none'}"
            )
        return named[url]
    if not counts:
        raise UsageError(f"{name}: the capture has no message by UDP or TCP; a recording is {FORMS}")
    return counts.most_common(1)[0][0]


def _utterances(packets: Iterable[Packet], system: Endpoint) -> Iterator[Utterance]:
    clients: dict[Endpoint, int] = {}
    streams: dict[tuple[Endpoint, bool], Stream] = {}
    for packet in packets:
        sent = packet.target == system
        other = packet.source if sent else packet.target
        client = clients.setdefault(other, len(clients))
        data = packet.data
        if packet.kind == "tcp":
            stream = streams.setdefault((other, sent), Stream())
            if packet.flags & _SYN:
                stream.begin(packet.seq)
            data = stream.feed(packet.seq, data)
        if data:
            yield Utterance(sent, data, packet.at, client)


def _marked(file: BinaryIO, name: str, url: str) -> Dialogue:
    every = iter(lambda: file.readline(_LONGEST), b"")
    lines = list(_first(every, len))
    matches = [_MARKED.match(line.decode("utf-8", "replace").rstrip("\r\n")) for line in lines]
    found = [match for match in matches if match is not None]
    is_hex = bool(found) and all(_HEX.fullmatch(match["text"]) for match in found)
    own = Dialogue(name, [_utterance(match, is_hex=is_hex) for match in found], url)
    if next(every, None) is not None:
        own.notes.append(f"only the first {len(lines)} lines were read")
    if len(found) < len(matches):
        lost = len(matches) - len(found)
        own.notes.append(f"{lost} line{'s' * (lost > 1)} without a direction {'were' if lost > 1 else 'was'} left out")
    return own


def _utterance(match: re.Match[str], *, is_hex: bool) -> Utterance:
    text = match["text"]
    data = bytes.fromhex(text) if is_hex else text.encode("utf-8")
    return Utterance(match["mark"].lower().startswith(_TO_SYSTEM), data, float(match["at"] or 0))


WIDTHS: Final = (4, 2, 1)
ORDERS: Final[tuple[Literal["big", "little"], ...]] = ("big", "little")
SECONDS: Final = 0.02  # between two messages, if nothing else separates them
GAP: Final = f"framing.silence({SECONDS})"
CRLF: Final = 'framing.lines(end=b"\\r\\n")'
_FEW: Final = 2


class FramingGuess(NamedTuple):
    """A framing as code ("" for the port's default), the reason for it, and the framing itself."""

    code: str
    why: str
    framing: Framing | None = None


def cut(dialogue: Dialogue) -> tuple[Dialogue, FramingGuess]:
    """Return a recorded dialogue as whole messages, with the framing that divides its byte streams."""
    if not dialogue.is_stream:
        return dialogue, _of_frames(dialogue)
    for guess in _candidates(dialogue.utterances):
        found = list(_framed(dialogue.utterances, guess.framing or lines()))
        if found and found[-1] is not None:
            whole = [each for each in found if each is not None]
            return replace(dialogue, utterances=whole, is_stream=False), guess
    guess = FramingGuess(GAP, "no framing was recognised, so a message is what came in one piece", silence(SECONDS))
    return replace(dialogue, is_stream=False), guess


def is_text(data: bytes) -> bool:
    """Return whether bytes are printable text in UTF-8; tabs are allowed."""
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
        return _fixed(sizes.pop())
    return FramingGuess(GAP, "a log does not show the bytes between messages", silence(SECONDS))


def _fixed(size: int) -> FramingGuess:
    return FramingGuess(f"framing.fixed({size})", "all messages have this size", fixed(size))


def _candidates(pieces: list[Utterance]) -> Iterator[FramingGuess]:
    ends = {each.data[-2:] for each in pieces if each.data.endswith(b"\n") and each.sent}
    if all(is_text(each.data.replace(b"\r", b"").replace(b"\n", b"")) for each in pieces):
        crlf = bool(ends) and ends == {b"\r\n"}
        yield FramingGuess(CRLF if crlf else "", "text, line by line", lines(b"\r\n" if crlf else b"\n"))
    for width in WIDTHS:
        for order in ORDERS:
            why = "each message begins with its length"
            yield FramingGuess(f'framing.length({width}, "{order}")', why, length(width, order))
    sizes = {len(each.data) for each in pieces}
    if len(sizes) == 1 and len(pieces) >= _FEW:
        yield _fixed(sizes.pop())


def _framed(pieces: Iterable[Utterance], framing: Framing) -> Iterator[Utterance | None]:
    """Yield the frames of both directions; None if the framing does not fit."""
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
