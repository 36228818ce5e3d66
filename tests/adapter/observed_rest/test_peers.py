"""Who is at the other end of a line that the tester did not make, and who feeds that process in turn."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
import tty
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from otf.adapter.line import Line
from otf.adapter.observed_rest import peers as finding
from otf.adapter.observed_rest.elsewhere import carriers_seen
from otf.adapter.observed_rest.peers import are_fed, on_terminals, peers
from otf.adapter.observed_rest.place import Place

pytestmark = pytest.mark.real


UNKNOWN: Final = Place()


@dataclass
class End:
    """A line of which nothing matters but where it leads."""

    descriptor: int = -1
    where: Place = UNKNOWN

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptor."""
        return () if self.descriptor < 0 else (self.descriptor,)

    def place(self) -> Place:
        """Return the place."""
        return self.where


def lines(*ends: End) -> dict[str, Line]:
    """Return these as the lines of a bench."""
    return {str(number): end for number, end in enumerate(ends)}  # type: ignore[misc]


@contextmanager
def process(*keeps: int) -> Generator[int]:
    """Run a process that keeps these descriptors, and waits; return its number."""
    waits = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    with subprocess.Popen(waits, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=keeps) as running:
        assert running.stdout is not None
        running.stdout.read(1)  # it runs, and has closed what it does not keep
        try:
            yield running.pid
        finally:
            running.kill()


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """Close what a test opens."""
    with ExitStack() as stack:
        yield stack


def closing(stack: ExitStack, *descriptors: int) -> tuple[int, ...]:
    """Close these at the end of a test."""
    for each in descriptors:
        stack.callback(_close, each)
    return descriptors


def _close(descriptor: int) -> None:
    with suppress(OSError):  # a test has closed it
        os.close(descriptor)


def terminal(stack: ExitStack) -> tuple[int, int]:
    """Return both ends of a pseudo-terminal: the master, and the slave."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    closing(stack, master, slave)
    return master, slave


def test_a_program_behind_a_terminal(opened: ExitStack) -> None:
    """The one that holds the master is the peer of a line on the slave, whatever it writes its log to."""
    master, slave = terminal(opened)
    device = opened.enter_context(process(master))
    os.close(master)
    assert peers(lines(End(slave))) == {device, *carriers_seen()}
    assert not are_fed(frozenset({device, *carriers_seen()}))
    assert on_terminals(lines(End(slave))) == carriers_seen()
    assert not on_terminals(lines(End()))


def test_a_server_behind_an_address(opened: ExitStack) -> None:
    """Who holds the address of the peer is the peer."""
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    address = listener.getsockname()
    server = opened.enter_context(process(listener.fileno()))
    listener.close()
    assert peers(lines(End(where=Place(transport="tcp", address=address)))) == {server}
    assert peers(lines(End(where=Place(transport="tcp", address=("server.invalid", 80))))) == frozenset()


def test_the_second_look_reads_what_may_have_changed(opened: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tester, the server, and what has started since: its successor is found, too."""
    read = list[int]()
    # it reads the descriptors of a process
    named = finding._named  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def reads(pid: int) -> object:
        read.append(pid)
        return named(pid)

    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    far = lines(End(where=Place(transport="tcp", address=listener.getsockname())))
    with process(listener.fileno()) as first:
        with listener:
            second = opened.enter_context(process(listener.fileno()))
        assert peers(far) == {first, second}
        monkeypatch.setattr(finding, "_named", reads)
        assert peers(far) == {first, second}
        assert {first, second, os.getpid()} <= {*read}
        assert os.getppid() not in read
        read.clear()
    third = opened.enter_context(process())
    assert peers(far) == {second}
    assert {second, third} <= {*read}


def test_a_host_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process here is behind it, but threads of the kernel that carry its bytes, if they can be seen."""
    monkeypatch.setattr("otf.adapter.observed_rest.peers.is_abroad", "192.0.2.9".__eq__)
    far = End(where=Place(transport="tcp", address=("192.0.2.9", 80)))
    assert peers(lines(far)) == carriers_seen()
    monkeypatch.setattr("otf.adapter.observed_rest.peers.carriers_seen", frozenset[int])
    assert peers(lines(far)) == frozenset()


def test_who_feeds_a_proxy_belongs_to_it(opened: ExitStack) -> None:
    """The system behind socat's other terminal, pipe or unix socket: its waits count as well."""
    master, slave = terminal(opened)
    other_master, other_slave = terminal(opened)
    reading, writing = closing(opened, *os.pipe())
    one, other = socket.socketpair()
    proxy = opened.enter_context(process(master, other_master, reading, one.fileno()))
    on_terminal, on_pipe = (opened.enter_context(process(each)) for each in (other_slave, writing))
    on_socket = opened.enter_context(process(other.fileno()))
    for each in (master, other_master, other_slave, reading, writing):
        os.close(each)
    one.close()
    other.close()
    assert peers(lines(End(slave))) == {proxy, on_terminal, on_pipe, on_socket, *carriers_seen()}
    assert are_fed(frozenset({proxy}))


def test_what_a_process_only_writes_to_does_not_feed_it(opened: ExitStack) -> None:
    """A reader of its log is not a part of the system."""
    master, slave = terminal(opened)
    reading, writing = closing(opened, *os.pipe())
    device = opened.enter_context(process(master, writing))
    opened.enter_context(process(reading))
    os.close(master)
    assert peers(lines(End(slave))) == {device, *carriers_seen()}


def test_a_connection_that_leads_elsewhere(opened: ExitStack) -> None:
    """Behind a proxy that is connected to a server nobody is known; nor where a proxy connects later."""
    master, slave = terminal(opened)
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    client = opened.enter_context(socket.create_connection(listener.getsockname()))
    accepted = opened.enter_context(listener.accept()[0])
    proxy = opened.enter_context(process(master, client.fileno()))
    opened.enter_context(process(accepted.fileno()))
    os.close(master)
    for each in (accepted, client, listener):
        each.close()
    assert peers(lines(End(slave))) == frozenset()
    assert are_fed(frozenset({proxy}))


@pytest.mark.parametrize("device", ["/dev/ptmx", "/dev/kmsg", "/dev/loop-control", "/dev/fuse"])
def test_a_device_that_is_not_known(device: str, opened: ExitStack) -> None:
    """What speaks through it cannot be followed: nobody is known. An unused terminal feeds nobody."""
    master, slave = terminal(opened)
    try:
        (other,) = closing(opened, os.open(device, os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        pytest.skip(f"{device} cannot be opened here")
    known = opened.enter_context(process(master, other))
    os.close(master)
    assert peers(lines(End(slave))) == ({known, *carriers_seen()} if device == "/dev/ptmx" else frozenset())


def test_a_line_that_leads_nowhere(tmp_path: Path, opened: ExitStack) -> None:
    """Nobody is known behind it; a system in this process needs no peer."""
    (file,) = closing(opened, os.open(tmp_path, os.O_RDONLY))
    assert peers(lines(End(file))) == frozenset()
    assert peers(lines(End(where=Place(inside=True)))) == frozenset()
    with process() as named:
        assert peers(lines(End(where=Place(inside=True))), [named]) == {named}
        assert peers(lines(End(file)), [named]) == frozenset()
