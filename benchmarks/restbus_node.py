"""The node beside the rest of a bus: `python restbus_node.py GROUP PORT FAULT`. It knows no model and nothing of otf.

It sends a status each 100 ms, with a counter, from the first message that it hears, and watches twelve messages. One
that stays away for 3.5 of its periods, or whose checksum or counter is wrong, is told once (id 0x7F0: the number of the
message, and what is wrong), and so is one that was right three times. `drift`: its period is 3 % too long. `skip`: its
counter leaves a number out once in 500.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from can import Bus, Message

PERIODS: Final = (0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.5, 0.5, 0.5)
"""Seconds of the messages 0x100, 0x101 …"""
FIRST, STATUS, TOLD = 0x100, 0x200, 0x7F0
OK, MISSING, WRONG, STUCK = range(4)
CYCLE: Final = 0.1
AWAY: Final = 3.5
RIGHT: Final = 3
NUMBERS: Final = 16


def checksum(data: bytes) -> int:
    """Return the last byte of a message with these bytes."""
    return (0x5A + sum(data)) & 0xFF


class Node:
    """The node; `fault` is what it does wrong."""

    def __init__(self, group: str, port: int, fault: str) -> None:
        self.bus = Bus(interface="udp_multicast", channel=group, port=port, ignore_config=True)
        # Linux gives a socket all groups of its port that anyone on this machine is in: IP_MULTICAST_ALL is 49
        with socket.socket(fileno=os.dup(self.bus.fileno())) as own:
            own.setsockopt(socket.IPPROTO_IP, 49, 0)
        self.fault = fault
        self.next = float("inf")
        self.sent = 0
        self.seen: list[float | None] = [None] * len(PERIODS)
        self.counters: list[int | None] = [None] * len(PERIODS)
        self.states = [OK] * len(PERIODS)
        self.right = [0] * len(PERIODS)

    def run(self) -> None:
        """Run until killed."""
        print("ready", flush=True)
        while True:
            message = self.bus.recv(max(0.0, min(0.01, self.next - time.monotonic())))
            now = time.monotonic()  # before what has come is read: nothing that waits there is missing
            while message is not None:
                self.take(message)
                message = self.bus.recv(0)
            self.look(now)

    def take(self, message: Message) -> None:
        """Take a message of the rest of the bus."""
        at, data = message.arbitration_id - FIRST, bytes(message.data)
        if not 0 <= at < len(PERIODS):
            return
        self.seen[at] = now = time.monotonic()
        self.next = min(self.next, now + CYCLE)
        if checksum(data[:-1]) != data[-1]:
            self.tell(at, WRONG)
            return
        last, self.counters[at] = self.counters[at], data[0]
        if data[0] == last:
            self.tell(at, STUCK)
            return
        self.right[at] += 1
        if self.right[at] >= RIGHT:
            self.tell(at, OK)

    def look(self, now: float) -> None:
        """Tell which messages are away, and send the status where it is due."""
        for at, (seen, period) in enumerate(zip(self.seen, PERIODS, strict=True)):
            if seen is not None and now > seen + AWAY * period:
                self.tell(at, MISSING)
        if now >= self.next:
            skipped = self.sent // 500 if self.fault == "skip" else 0
            self.send(STATUS, bytes([(self.sent + skipped) % NUMBERS]))
            self.sent += 1
            # a node that has stood still does not send all at once
            self.next = max(self.next + CYCLE * (1.03 if self.fault == "drift" else 1.0), now)

    def tell(self, at: int, state: int) -> None:
        """Tell the state of a message where it has changed."""
        if state != OK:
            self.right[at] = 0
        if self.states[at] != state:
            self.states[at] = state
            self.send(TOLD, bytes([at, state]))

    def send(self, number: int, data: bytes) -> None:
        """Send a message."""
        self.bus.send(Message(arbitration_id=number, data=data, is_extended_id=False))


def main(arguments: Sequence[str]) -> None:
    """Be the node that the command line asks for."""
    parser = ArgumentParser("python -m benchmarks.restbus_node", description=__doc__)
    parser.add_argument("group")
    parser.add_argument("port", type=int)
    parser.add_argument("fault")
    asked = parser.parse_args(arguments)
    Node(asked.group, asked.port, asked.fault).run()


if __name__ == "__main__":
    main(sys.argv[1:])
