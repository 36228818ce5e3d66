"""The types of messages in a binary dialogue: which bytes are constant, which count, which are lengths or checksums.

A byte with only a few recurring values tells the types apart. Everything here is guessed from the recorded values; only
lengths and checksums that fit every message are more than a guess.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from otf.codec import checksums
from otf.draft.dialogue import Utterance
from otf.draft.kinds import MOST_KINDS, FieldGuess, MessageKind, Parsed, class_name, quoted

ENOUGH: Final = 3
"""How many different messages a length, a counter or a checksum must fit."""

CARRIES: Final = 2
"""How often the higher byte of a number must change before two bytes count as one number."""

LITTLE: Final = (
    0x60  # by which a number with a carry changes; of two independent bytes, 7 % of the changes are as little
)

_TAGS_WITHIN: Final = 8
_TRIED: Final = 500
_LONGEST: Final = 16
_SUMS: Final[tuple[tuple[str, int], ...]] = (
    ("crc32", 4),
    ("crc16_modbus", 2),
    ("crc16_ccitt", 2),
    ("crc16_xmodem", 2),
    ("crc16_arc", 2),
    ("crc16_x25", 2),
    ("crc8", 1),
    ("crc8_maxim", 1),
    ("lrc8", 1),
    ("xor8", 1),
    ("sum8", 1),
)
_NUMBERS: Final = {1: ("u8",), 2: ("u16be", "u16le"), 4: ("u32be", "u32le")}


class ComputedBytes(NamedTuple):
    """A length or checksum: its place (a checksum's counts from the end), width, format, and the evidence."""

    at: int
    width: int
    code: str
    why: str


class Layouts(NamedTuple):
    """What the messages of one direction have in common: the byte that names their type, and the computed bytes."""

    tag: int | None
    length: ComputedBytes | None
    checksum: ComputedBytes | None
    counter: int | None


def binary_kinds(utterances: Sequence[Utterance]) -> list[Parsed]:
    """Return each binary message with its type; an input and an output never have the same type."""
    found: dict[int, Parsed] = {}
    names: list[str] = []
    for sent in (True, False):
        places = [at for at, each in enumerate(utterances) if each.sent is sent and each.data]
        frames = [utterances[at].data for at in places]
        layouts = _layouts(frames)
        groups = defaultdict[int, list[int]](list)
        for at in places:
            groups[-1 if layouts.tag is None else utterances[at].data[layouts.tag]].append(at)
        for tag, group in groups.items():
            own = [utterances[at].data for at in group]
            label = f"{'request' if sent else 'answer'}{'' if tag < 0 else f'{tag:02x}'}"
            names.append(class_name(label, names))
            parts = list(_parts(own, layouts))
            kind = _kind(names[-1], own, parts)
            for at in group:
                found[at] = Parsed(kind, tuple(_value(part, utterances[at].data) for part in parts if part.hint))
    return [found[at] for at in sorted(found)]


def _layouts(frames: Sequence[bytes]) -> Layouts:
    shortest = min(map(len, frames), default=0)
    checksum = _checksum(frames)
    end = shortest - (checksum.width if checksum else 0)
    length = _length(frames, end)
    used = range(length.at, length.at + length.width) if length else range(0)
    free = [at for at in range(min(end, _TAGS_WITHIN)) if at not in used]
    counter = next((at for at in free if _counts([data[at] for data in frames])), None)
    tag = next((at for at in free if at != counter and _tells_apart(frames, at, used)), None)
    return Layouts(tag, length, checksum, counter)


def _tells_apart(frames: Sequence[bytes], at: int, length: range) -> bool:
    """Return whether a byte has few recurring values, and is the first to vary or determines the message size."""
    values = {data[at] for data in frames}
    if not 1 < len(values) <= min(MOST_KINDS, len(frames) // 2) or _carries(frames, at, "u16be"):
        return False
    if all(_spread(frames, before) == 1 for before in range(at) if before not in length):
        return True
    return len({len(data) for data in frames}) > 1 and len({(data[at], len(data)) for data in frames}) == len(values)


def _counts(values: Sequence[int]) -> bool:
    steps = {(after - before) & 0xFF for before, after in pairwise(values)}
    return len(values) > ENOUGH and steps == {1}


def _length(frames: Sequence[bytes], end: int) -> ComputedBytes | None:
    if len({len(data) for data in frames}) < 2:  # noqa: PLR2004 -- a length that never varies may be a constant
        return None
    for width in (4, 2, 1):
        for code in _NUMBERS[width]:
            for at in range(min(end, _TAGS_WITHIN) - width + 1):
                plus = {
                    int.from_bytes(data[at : at + width], _order(code)) - (len(data) - at - width) for data in frames
                }
                if len(plus) == 1:
                    more = f", plus={plus.pop()}" if plus != {0} else ""
                    return ComputedBytes(at, width, f"length({code}{more})", "it fits every message")
    return None


def _checksum(frames: Sequence[bytes]) -> ComputedBytes | None:
    some = list(dict.fromkeys(frames))[:_TRIED]
    if len(some) < ENOUGH or min(map(len, some)) < ENOUGH:
        return None
    for name, width in _SUMS:
        compute: Callable[[bytes], int] = getattr(checksums, name)
        for code in _NUMBERS[width]:
            if all(int.from_bytes(data[-width:], _order(code)) == compute(data[:-width]) for data in some):
                number = "" if code == "u8" else f", {code}"
                return ComputedBytes(-width, width, f"checksum({name}{number})", "it fits every message")
    return None


def _order(code: str) -> Any:  # noqa: ANN401 -- a literal of the standard library
    return "little" if code.endswith("le") else "big"


class BytePart(NamedTuple):
    """Some bytes of a type: from `at` to `end` (None: `tail` bytes before the end); a value only with a `hint`."""

    at: int
    end: int | None
    line: str
    hint: str = ""
    name: str = ""
    code: str = ""
    tail: int = 0


def _parts(frames: Sequence[bytes], layouts: Layouts) -> Iterator[BytePart]:
    tail = layouts.checksum.width if layouts.checksum else 0
    end = min(map(len, frames)) - tail
    at = 0
    while at < end:
        part = _part(frames, layouts, at, end)
        yield part
        at = part.end or end
    if len({len(data) for data in frames}) > 1:
        yield BytePart(end, None, "data: Annotated[bytes, raw(rest)]", "bytes", "data", "", tail)
    if layouts.checksum:
        line = f"check: ClassVar[Annotated[int, {layouts.checksum.code}]]  # {layouts.checksum.why}"
        yield BytePart(end, None, line)


def _part(frames: Sequence[bytes], layouts: Layouts, at: int, end: int) -> BytePart:
    if layouts.length and at == layouts.length.at:
        line = f"size: ClassVar[Annotated[int, {layouts.length.code}]]  # {layouts.length.why}"
        return BytePart(at, at + layouts.length.width, line)
    if at == layouts.counter:
        return _number(at, at + 1, "counter", "u8", "  # guess: it grew by 1 from message to message")
    alike = _run(frames, layouts, at, end, constant=True)
    if alike > at:
        return _constant(frames[0][at:alike], at, is_tag=at == layouts.tag)
    varied = _run(frames, layouts, at, end, constant=False)
    if carried := next((code for code in _NUMBERS[2] if varied - at > 1 and _carries(frames, at, code)), ""):
        return _number(at, at + 2, f"byte{at}", carried, "  # guess: one number, whose bytes change together")
    # other numbers are usually aligned to their size
    width = next(size for size in (4, 2, 1) if size <= varied - at and at % size == 0)
    codes = _NUMBERS[width]
    code = codes[0] if len(codes) == 1 or _spread(frames, at) <= _spread(frames, at + width - 1) else codes[1]
    return _number(at, at + width, f"byte{at}", code, "" if width == 1 else "  # guess: one number")


def _carries(frames: Sequence[bytes], at: int, code: str) -> bool:
    """Return whether two bytes are one number: where the higher byte changes, the number changes by little."""
    numbers = [int.from_bytes(data[at : at + 2], _order(code)) for data in frames]
    steps = [abs(after - before) for before, after in pairwise(numbers) if before >> 8 != after >> 8]
    return len(steps) >= CARRIES and max(steps) < LITTLE


def _run(frames: Sequence[bytes], layouts: Layouts, at: int, end: int, *, constant: bool) -> int:
    """Return the end of the run of bytes from `at` that all vary or are all constant; the tag is a run of its own."""
    stop = at
    while stop < min(end, at + _LONGEST) and stop != layouts.counter and (_spread(frames, stop) == 1) is constant:
        if layouts.length and stop == layouts.length.at:
            break
        if layouts.tag is not None and layouts.tag in {stop, stop - 1} and stop > at:
            break
        stop += 1
    return stop


def _spread(frames: Sequence[bytes], at: int) -> int:
    return len({data[at] for data in frames})


def _constant(raw: bytes, at: int, *, is_tag: bool) -> BytePart:
    name = "tag" if is_tag else f"constant{at}"
    if len(raw) == 1:
        line = f"{name}: ClassVar[Annotated[int, u8]] = 0x{raw[0]:02X}"
    else:
        line = f"{name}: ClassVar[Annotated[bytes, raw({len(raw)})]] = {quoted(raw)}"
    return BytePart(at, at + len(raw), line)


def _number(at: int, end: int, name: str, code: str, why: str) -> BytePart:
    return BytePart(at, end, f"{name}: Annotated[int, {code}]{why}", "int", name, code)


def _value(part: BytePart, data: bytes) -> object:
    if part.end is None:
        return data[part.at : len(data) - part.tail]
    return int.from_bytes(data[part.at : part.end], _order(part.code))


def _kind(name: str, frames: Sequence[bytes], parts: Sequence[BytePart]) -> MessageKind:
    fields = tuple(FieldGuess(part.name, part.hint) for part in parts if part.hint)
    return MessageKind(name, fields, body=tuple(part.line for part in parts), sample=frames[0])
