"""The loop that a tester writes by hand: one blocking line, a look-up of each step, two trace lines written a step.

It does what otf does in a recurring step, without otf: the fair measure of what otf's generality costs.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Final, TypeAlias

from benchmarks.wires import REQUEST, TIMEOUT, Server, read_frame

StepKey: TypeAlias = tuple[int, bytes]
"""A state, and the bytes of an input or output."""

HEX: Final = REQUEST.hex()
LINE: Final = (
    '{"event":"%s","level":"info","timestamp":"%s","n":%d,"at":%.6f,"port":"line",'
    f'"value":{{"type":"Echo","data":{{"type":"bytes","value":"{HEX}"}}}},"raw":"{HEX}"}}\n'
)
AFTER: Final[dict[StepKey, dict[StepKey, int]]] = {(0, REQUEST): {(0, REQUEST): 0}}
"""The outputs allowed after an input in a state, with the next states."""


def loop(send: Callable[[bytes], object], receive: Callable[[], bytes], steps: int) -> float:
    """Take steps, check each, and write both of its trace lines as they happen; return the seconds that it took."""
    with tempfile.TemporaryFile(buffering=0) as trace:
        file, state, zero, start = trace.fileno(), 0, perf_counter(), datetime.now(UTC)
        for number in range(1, 2 * steps, 2):
            allowed = AFTER[state, REQUEST]
            at = perf_counter() - zero
            send(REQUEST)
            os.write(file, _line("sent", number, at, start))
            output = receive()
            at = perf_counter() - zero
            state = allowed[state, output]
            os.write(file, _line("seen", number + 1, at, start))
        return perf_counter() - zero


def _line(event: str, number: int, at: float, start: datetime) -> bytes:
    return (LINE % (event, (start + timedelta(seconds=at)).isoformat(), number, at)).encode()


def loop_udp(server: Server, steps: int) -> float:
    """Take steps over UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", server.port))
        sock.settimeout(TIMEOUT)
        return loop(sock.send, lambda: sock.recv(65_536), steps)


def loop_tcp(server: Server, steps: int) -> float:
    """Take steps over a connection."""
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(TIMEOUT)

        def receive() -> bytes:
            got = sock.recv(65_536)
            while len(got) < len(REQUEST):
                got += sock.recv(65_536)
            return got

        return loop(sock.send, receive, steps)


def loop_pipe(server: Server, steps: int) -> float:
    """Take steps on the pipes of a child process."""
    with server.piped() as child:
        assert child.stdin is not None
        assert child.stdout is not None
        out, back = child.stdin.fileno(), child.stdout.fileno()
        return loop(lambda data: os.write(out, data), lambda: read_frame(back), steps)
