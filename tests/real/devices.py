"""Systems of the kinds in docs/howto-first-minutes.md, right and wrong: `python devices.py KIND PORT [broken]`.

They are programs of their own and know nothing of otf. The watchdog and the vault have timers, the others rest.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import threading
import time
import tty
from collections.abc import Callable
from functools import partial, reduce
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOST = "127.0.0.1"
BROKEN = sys.argv[-1] == "broken"


def console() -> Callable[[bytes], bytes | None]:
    """Return a board with a LED: commands are acknowledged. The wrong one has another word for that."""
    led = 0

    def take(line: bytes) -> bytes:
        nonlocal led
        match line.split():
            case [b"led", (b"on" | b"off") as state]:
                led = int(state == b"on")
            case [b"led?"]:
                return b"led %d" % led
            case [b"blink", times] if times.isdigit():
                pass
            case _:
                return b"ERROR 2"
        return b"FINE" if BROKEN else b"OK"

    return take


def supply() -> Callable[[bytes], bytes | None]:
    """Return a power supply with SCPI. The wrong one acknowledges settings."""
    values = {b"VOLT": b"0.00", b"OUTP": b"0"}

    def take(line: bytes) -> bytes | None:
        match line.split():
            case [b"*IDN?"]:
                return b"ACME,PS1,42,1.0"
            case [query]:
                return values[query.removesuffix(b"?")]
            case [b"VOLT", value]:
                values[b"VOLT"] = b"%.2f" % float(value)
            case [name, value]:
                values[name] = b"%d" % (value == b"ON")
            case _:
                pass
        return b"OK" if BROKEN else None

    return take


def metered(registers: dict[int, int], data: bytes, _peer: object = None) -> bytes:
    """Answer a request to a meter: 1 reads a register, 2 writes it. The wrong one forgets the counter."""
    counter, register = 0 if BROKEN else data[1], data[3]
    if data[0] == 2:
        registers[register] = int.from_bytes(data[4:6], "big")
        answer = bytes([0x82, counter])
    else:
        answer = bytes([0x81, counter, 0, register]) + registers.get(register, 0).to_bytes(2, "big")
    return answer + bytes([reduce(lambda one, other: one ^ other, answer)])


def at_terminal(_port: int) -> None:
    """Be a console at a serial port, whose name is printed."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    say(os.ttyname(theirs))
    take, rest = console(), b""
    while True:
        *lines, rest = (rest + os.read(ours, 1000)).split(b"\n")
        for answer in filter(None, map(take, lines)):
            os.write(ours, answer + b"\n")


def watched(_port: int) -> None:
    """Be a device at a serial port that beats, and stops unless it is kicked. The wrong one beats on."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    say(os.ttyname(theirs))
    never, rest = float("inf"), b""
    beat = dog = never
    while True:
        wait = min(beat, dog) - time.monotonic()
        if select.select([ours], [], [], None if wait == never else max(0, wait))[0]:
            *lines, rest = (rest + os.read(ours, 1000)).split(b"\n")
            for line in lines:
                now = time.monotonic()
                dog = {b"start": now + 2, b"kick": never if dog == never else now + 2}.get(line, never)
                beat = {b"start": now + 0.5, b"kick": beat}.get(line, never)
                os.write(ours, b"ok\n")
        elif dog <= time.monotonic():
            beat, dog = beat if BROKEN else never, never
            os.write(ours, b"reset\n")
        else:
            beat += 0.5
            os.write(ours, b"beat\n")


def by_udp(port: int, answered: Callable[[bytes, object], bytes]) -> None:
    """Answer each datagram; of a peer only that it is another one counts."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((HOST, port))
        say("ready")
        while True:
            data, peer = server.recvfrom(100)
            server.sendto(answered(data, peer), peer)


def lock() -> Callable[[bytes, object], bytes]:
    """Return a lock. The wrong one is released by anyone."""
    holder: object = None

    def answered(data: bytes, peer: object) -> bytes:
        nonlocal holder
        granted = holder is None if data[0] else holder is not None and (holder == peer or BROKEN)
        if granted:
            holder = peer if data[0] else None
        return bytes([granted]) + data[1:]

    return answered


def by_tcp(port: int, guest: Callable[[socket.socket], None]) -> None:
    """Serve each connection in a thread."""
    with socket.create_server((HOST, port)) as server:
        say("ready")
        while True:
            threading.Thread(target=guest, args=(server.accept()[0],), daemon=True).start()


def instrument(connection: socket.socket) -> None:
    """Be a supply for one connection."""
    take = supply()
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            answer = take(line.strip())
            if answer is not None:
                connection.sendall(answer + b"\n")


def by_can(port: int) -> None:
    """Be a node on a bus that stays on this machine, with a level. The wrong one forgets it."""
    import can

    level = 0
    with can.Bus("239.74.163.3", "udp_multicast", port=port, hop_limit=0, ignore_config=True) as bus:
        say("ready")
        while True:
            message = bus.recv()
            if message is not None and message.arbitration_id == 0x200 and not BROKEN:
                level = message.data[0]
            if message is not None and message.arbitration_id == 0x201:
                bus.send(can.Message(arbitration_id=0x281, data=[level], is_extended_id=False))


def as_child(_port: int) -> None:
    """Be a calculator on pipes. The wrong one answers with a text."""
    total = 0
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["cmd"] == "add" and asked["n"] < 0:
            say(json.dumps({"error": "negative"}))
        else:
            total = total + asked["n"] if asked["cmd"] == "add" else 0
            say(json.dumps({"total": str(total) if BROKEN else total}))


GUESTS: list[socket.socket] = []


def chatting(connection: socket.socket) -> None:
    """Tell the other guests what this one says. The wrong server tells it to this one, too."""
    GUESTS.append(connection)
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            for guest in GUESTS:
                if guest is not connection or BROKEN:
                    guest.sendall(line.replace(b"say", b"heard", 1))
        GUESTS.remove(connection)


def guarding(connection: socket.socket) -> None:
    """Ask for a log-in, which ends after a second without a line. The wrong server tells its quota to anybody."""
    known, data = False, b""
    with connection:
        while True:
            connection.settimeout(1.0 if known else None)
            try:
                data += (got := connection.recv(1024))
            except TimeoutError:
                known = False
                connection.sendall(b"expired\n")
                continue
            if not got:
                return
            *lines, data = data.split(b"\n")
            for line in lines:
                asks, was = {b"quota": b"quota 5", b"logout": b"bye"}.get(line), known
                known = line == b"login ann secret" or (known and line == b"quota")
                answer = asks if asks and (was or (BROKEN and line == b"quota")) else b"denied"
                connection.sendall((b"welcome" if line.endswith(b" secret") else answer) + b"\n")


def storing(connection: socket.socket) -> None:
    """Keep one value. The wrong store forgets it."""
    value = b"none"
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            word, *rest = line.split()
            value = rest[0] if word == b"put" else b"none" if BROKEN else value
            connection.sendall(b"value %s\n" % value)


class Shop(BaseHTTPRequestHandler):
    """Sells two tickets, the wrong shop three."""

    protocol_version = "HTTP/1.1"
    sold = 0

    def do_POST(self) -> None:
        """Answer a request."""
        then = Shop.sold + (1 if self.path == "/buy" else -1)
        done = 0 <= then <= 2 + BROKEN
        Shop.sold = then if done else Shop.sold
        self.send_response(200 if done else 409)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the library calls it so
        """Print nothing."""


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


SYSTEMS: dict[str, Callable[[int], None]] = {
    "console": at_terminal,
    "meter": lambda port: by_udp(port, partial(metered, {})),
    "lock": lambda port: by_udp(port, lock()),
    "watchdog": watched,
    "chat": lambda port: by_tcp(port, chatting),
    "vault": lambda port: by_tcp(port, guarding),
    "node": by_can,
    "calc": as_child,
    "shop": lambda port: ThreadingHTTPServer((HOST, port), Shop).serve_forever(),
    "store": lambda port: by_tcp(port, storing),
    "supply": lambda port: by_tcp(port, instrument),
}

if __name__ == "__main__":
    SYSTEMS[sys.argv[1]](int(sys.argv[2]))
