"""Damage to traces, captures, descriptions and file names: random, and as an attacker would do it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, TypeAlias

Damage: TypeAlias = Callable[[Random, bytes], bytes]

ESCAPE: Final = "\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e"
HARM: Final = "spy:///dev/ptmx?file=PWNED"
ODD: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**400, -0.5, 1e308, 5e-324, "", "x", "é\u2028", ESCAPE, "\ud800", [], {},
    [[]], [1, [2]], {"a": {"b": 1}}, "a" * 10_000, HARM, "tcp://192.0.2.1:7", "exec:touch PWNED", "../../PWNED",
    "/var/PWNED", "\0", "os:system", {"type": "tuple", "value": []}, {"type": "bytes", "value": "00"},
    {"type": "Ended", "reason": ESCAPE}, {"type": "Undecodable", "raw": {"type": "bytes", "value": ""}, "why": ESCAPE},
)  # fmt: skip
PARAMETERS: Final = ("port", "url", "server", "engine", "entity", "firmware", "program", "fault", "size", "conferences")
HEADERS: Final[tuple[tuple[str, Any], ...]] = (
    *((name, value) for name in ("quiescence", "L", "R") for value in (1e9, 2.0**31, -1.0, 0.0, 1e-9)),
    *(("burst", value) for value in (0, -1, 2, 50, 2**31, 2**62)),
    *(("bench", value) for value in ("modbus", "conference", "tftp", "coap", "os:system", "/etc/passwd", ESCAPE, "")),
    *(("inputs", value) for value in ("uioco", "any", "all", "mixed")),
    *(("faults", value) for value in (["x"], [ESCAPE] * 50, [])),
    ("shrunk", True), ("path", 2**62), ("seed", -(2**62)), ("minimal", True), ("mode", "eager"),
    ("run", ESCAPE), ("strategy", ESCAPE), ("fingerprint", ESCAPE), ("versions", {ESCAPE: ESCAPE}),
)  # fmt: skip


def flipped(draw: Random, data: bytes) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 5)):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def cut(draw: Random, data: bytes) -> bytes:
    """Cut something out, from the end, the beginning or the middle."""
    first, last = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    return draw.choice([data[:first], data[last:], data[:first] + data[last:]])


def grown(draw: Random, data: bytes) -> bytes:
    """Insert a part of it many times, or much of something else."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    line, times = draw.choice(lines), draw.choice([1, 10, 1000])
    more = draw.choice([line * times, b"[" * 5000, b'{"event":' * 500, b"\0" * 5000, b"9" * 5000, b"\n" * 1000])
    at = draw.randrange(len(lines) + 1)
    return b"".join([*lines[:at], more, *lines[at:]])


def shuffled(draw: Random, data: bytes) -> bytes:
    """Change the order of the lines, or leave some out."""
    lines = data.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines[: draw.randint(0, len(lines))])


def field(draw: Random, data: bytes) -> bytes:
    """Give a field of a line, however deep inside, another value."""
    lines = data.splitlines(keepends=True)
    at = draw.randrange(len(lines)) if lines else 0
    try:
        line = json.loads(lines[at])
        _changed(draw, line)
        lines[at] = json.dumps(line).encode() + b"\n"
    except (ValueError, IndexError, TypeError, RecursionError):
        return flipped(draw, data)
    return b"".join(lines)


def _changed(draw: Random, data: Any) -> None:
    whole: Any = data
    keys: Sequence[Any] = sorted(whole) if isinstance(data, dict) else range(len(whole))
    key = draw.choice(keys)
    if isinstance(data[key], dict | list) and data[key] and draw.random() < 0.7:  # noqa: PLR2004 -- mostly inside
        _changed(draw, data[key])
    else:
        data[key] = draw.choice(ODD)


def header(draw: Random, data: bytes) -> bytes:
    """Write a header as an attacker would."""
    first, _, rest = data.partition(b"\n")
    try:
        line = json.loads(first)
        for _ in range(draw.randint(1, 3)):
            name, value = draw.choice(HEADERS)
            line[name] = value
        if draw.random() < 0.5:  # noqa: PLR2004 -- every other one
            line["parameters"] = {draw.choice(PARAMETERS): draw.choice(ODD) for _ in range(draw.randint(0, 3))}
    except (ValueError, TypeError, RecursionError):
        return flipped(draw, data)
    return json.dumps(line).encode() + b"\n" + rest


TRACE: Final[tuple[Damage, ...]] = (flipped, cut, grown, shuffled, field, field, header, header)
CAPTURE: Final[tuple[Damage, ...]] = (flipped, flipped, cut, grown)
LINES: Final = (
    'bench = "os:system"', 'bench = "subprocess:run"', 'bench = "mine.toml"', 'bench = "/etc/passwd"', "bench = 1",
    f"bench = {json.dumps(ESCAPE)}", "quiescence = 1e300", "quiescence = nan", "R = -1", "retries = 1000000000",
    "[ports]", f'line = "{HARM}"', 'line = "alt://x?class=os.system"', 'line = "hwgrep://."', "[set]",
    'command = "touch PWNED"', f"fault = {json.dumps(ESCAPE)}", 'fault = "dry"', "fault = 1", f"size = {2**63 - 1}",
    "a = " + "[" * 2000, "a." * 2000 + "b = 1",
)  # fmt: skip


def described(draw: Random, data: bytes) -> bytes:
    """Put lines into a description."""
    lines = data.splitlines()
    for _ in range(draw.randint(1, 3)):
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(LINES).encode())
    return b"\n".join(lines) + b"\n"


DESCRIPTION: Final[tuple[Damage, ...]] = (flipped, cut, described, described, described)


def name(draw: Random) -> str:
    """Return a hostile name for a file."""
    parts = (
        ESCAPE,
        "\n",
        "\r",
        "-",
        "--help",
        "~",
        "$(touch PWNED)",
        "';touch PWNED;'",
        "é",
        "\udcff",
        " ",
        "%s",
        "\t",
    )
    return "".join(draw.choices(parts, k=draw.randint(1, 4))) + draw.choice([".jsonl", ".pcap", ".toml", ""])


def damaged(draw: Random, data: bytes, kinds: Sequence[Damage]) -> bytes:
    """Damage something once or several times."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        data = draw.choice(kinds)(draw, data)
    return data
