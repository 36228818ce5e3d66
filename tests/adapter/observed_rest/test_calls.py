"""Where the calls that wait keep their time-outs."""

from __future__ import annotations

import struct

import pytest

from otf.adapter.observed_rest.calls import (
    MONOTONIC,
    NEVER,
    REALTIME,
    UNKNOWN,
    SystemCall,
    Timeout,
    parsed,
    seconds,
    timeout,
)
from otf.adapter.observed_rest.calls import table as calls_of

NAMES = calls_of("x86_64") or {}
POINTER = 0x7F00


def read(line: str) -> Timeout:
    """What a line of the kernel says."""
    call = parsed(line.encode())
    assert call is not None
    return timeout(call, NAMES)


def test_a_running_thread_has_no_call() -> None:
    """The kernel writes `running` instead of numbers; an empty line is one of a thread that has ended."""
    assert parsed(b"running\n") is None
    assert parsed(b"") is None


def test_a_thread_blocked_outside_of_a_call_may_wake_at_any_time() -> None:
    """The number is -1 then, and only the stack and the program counter follow."""
    assert read("-1 0x7ffc 0x7f12") == UNKNOWN
    assert timeout(SystemCall(1, (0,) * 6), NAMES) == UNKNOWN  # write: somebody has to read


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("232 0x3 0x7f 0x3 0xffffffff 0x0 0x0", Timeout(NEVER, role="epoll", descriptor=3)),
        ("232 0x3 0x7f 0x3 0x64 0x0 0x0", Timeout(0.1, role="epoll", descriptor=3)),
        ("7 0x7f 0x1 0xa 0x0 0x0 0x0", Timeout(0.01, role="poll", many=(1, 0x7F))),
        ("7 0x7f 0x1 0x7f00ffffffff 0x0 0x0 0x0", Timeout(NEVER, role="poll", many=(1, 0x7F))),
        ("270 0x0 0x0 0x0 0x0 0x7f00 0x0", Timeout(NEVER, POINTER, "timespec", role="select")),
        ("23 0x5 0x8 0x0 0x0 0x7f00 0x0", Timeout(NEVER, POINTER, "timeval", role="select", many=(5, 8))),
        ("23 0x0 0x0 0x0 0x0 0x0 0x0", Timeout(NEVER, role="select")),
        ("441 0x4 0x0 0x0 0x7f00 0x0 0x0", Timeout(NEVER, POINTER, "timespec", role="epoll", descriptor=4)),
        ("0 0x5 0x7f 0x10 0x0 0x0 0x0", Timeout(NEVER, role="reads", descriptor=5)),
        ("45 0x5 0x7f 0x10 0x0 0x0 0x0", Timeout(NEVER, role="reads", descriptor=5)),
        ("35 0x7f00 0x0 0x0 0x0 0x0 0x0", Timeout(NEVER, POINTER, "timespec")),
        ("230 0x1 0x0 0x7f00 0x0 0x0 0x0", Timeout(NEVER, POINTER, "timespec")),
        ("230 0x1 0x1 0x7f00 0x0 0x0 0x0", Timeout(NEVER, POINTER, "timespec", MONOTONIC)),
        ("230 0x7 0x1 0x7f00 0x0 0x0 0x0", UNKNOWN),
        ("202 0x1 0x80 0x2 0x7f00 0x0 0x0", Timeout(NEVER, POINTER, "timespec")),
        ("202 0x1 0x80 0x2 0x0 0x0 0x0", Timeout()),
        ("202 0x1 0x89 0x2 0x7f00 0x0 0x0", Timeout(NEVER, POINTER, "timespec", MONOTONIC)),
        ("202 0x1 0x189 0x2 0x7f00 0x0 0x0", Timeout(NEVER, POINTER, "timespec", REALTIME)),
        ("202 0x1 0x86 0x2 0x7f00 0x0 0x0", Timeout(NEVER, POINTER, "timespec", REALTIME)),
        ("202 0x1 0x81 0x2 0x7f00 0x0 0x0", UNKNOWN),
        ("455 0x1 0x0 0x0 0x2 0x7f00 0x1", Timeout(NEVER, POINTER, "timespec", MONOTONIC)),
        ("61 0x1 0x0 0x0 0x0 0x0 0x0", Timeout()),
        ("219 0x1 0x0 0x0 0x0 0x0 0x0", UNKNOWN),
        ("426 0x1 0x0 0x0 0x0 0x0 0x0", UNKNOWN),
    ],
)
def test_each_call_has_its_time_out_in_its_place(line: str, expected: Timeout) -> None:
    """Milliseconds stand in a register, all else behind a pointer; -1 in 32 bits is never, whatever is above them."""
    assert read(line) == expected


def test_a_time_in_memory_is_two_numbers() -> None:
    """What is none was not the time-out any more when it was read."""
    assert seconds(struct.pack("@2q", 1, 500_000_000), "timespec") == 1.5
    assert seconds(struct.pack("@2q", 1, 500_000), "timeval") == 1.5
    assert seconds(struct.pack("@2q", 1, 5_000_000_000), "timespec") is None
    assert seconds(struct.pack("@2q", -1, 0), "timespec") is None
    assert seconds(b"short", "timespec") is None


def test_an_unknown_machine_has_no_table() -> None:
    """There the numbers of the calls mean others."""
    assert calls_of("s390x") is None
