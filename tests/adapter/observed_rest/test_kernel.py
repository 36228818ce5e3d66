"""What the kernel shows of real processes: this one, and small ones that wait."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator

import pytest

from otf.adapter.observed_rest import owners as owners_of
from otf.adapter.observed_rest.attach import attached, detours, examine, unfit
from otf.adapter.observed_rest.owners import OURS, adopting, ended, everybody, holders, owners, started, starting
from otf.adapter.observed_rest.place import Place, UnderWay, Unseen
from otf.adapter.observed_rest.process import Process
from otf.adapter.observed_rest.sockets import is_local, outside, rows, shown
from otf.adapter.observed_rest.system import MOST, Orphans, Rest, SystemProcesses
from otf.adapter.observed_rest.threads import Gone
from otf.testing.leaks import children

pytestmark = pytest.mark.real
WAIT = "sys.stdin.read()"
PORT = "sys.stdout.write(f'ready\\n{s.getsockname()[1]}\\n'); sys.stdout.flush()\n"
READY = "sys.stdout.write('ready\\n'); sys.stdout.flush()"
SLEEPER = f"import sys; {READY}; sys.stdin.read()"


def python(code: str, *held: int) -> subprocess.Popen[bytes]:
    """Start a program that says `ready`, and has descriptors of this one; wait for that."""
    argv = [sys.executable, "-I", "-S", "-c", code]
    child = subprocess.Popen(argv, stdin=-1, stdout=-1, start_new_session=True, pass_fds=held)
    started(child.pid)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child


def stop(child: subprocess.Popen[bytes]) -> None:
    """End a program."""
    child.kill()
    child.communicate()
    ended(child.pid)


@pytest.fixture
def sleeper() -> Generator[subprocess.Popen[bytes]]:
    """A program that waits for its input."""
    child = python(SLEEPER)
    yield child
    stop(child)


def rest(system: SystemProcesses) -> Rest:
    """Look until there is a rest."""
    for _ in range(2000):
        found = system.look(lambda: True)
        if found is not None:
            return found
        time.sleep(0.001)
    raise TimeoutError


def test_this_machine_shows_what_is_needed() -> None:
    """The tests of this folder run where rest can be observed."""
    assert unfit() == ""
    assert detours() == ""


def test_a_process_that_waits_for_its_input_rests_for_ever(sleeper: subprocess.Popen[bytes]) -> None:
    """It reads a pipe, and nothing wakes it by itself."""
    system = SystemProcesses([sleeper.pid])
    try:
        assert rest(system).due == float("inf")
        assert rest(system).still
        assert system.used() > 0
        assert system.pids == {sleeper.pid}
    finally:
        system.close()


def test_what_arrives_at_a_port_during_a_look_is_no_rest(sleeper: subprocess.Popen[bytes]) -> None:
    """The ports are looked at between the two readings."""
    system = SystemProcesses([sleeper.pid])
    try:
        rest(system)
        assert system.look(lambda: False) is None
    finally:
        system.close()


def test_a_process_that_has_ended_is_not_there() -> None:
    """A number without a process."""
    child = python(SLEEPER)
    stop(child)
    with pytest.raises(Gone):
        Process(child.pid)


def test_a_process_with_a_posix_timer_or_a_handler_of_sigalrm_is_timed() -> None:
    """Neither says when it is due."""
    child = python("import signal; signal.signal(signal.SIGALRM, lambda *_: None); " + SLEEPER)
    system = None
    try:
        with pytest.raises(Unseen, match="SIGALRM"):  # noqa: PT012 -- the first look may find it awake
            system = SystemProcesses([child.pid])
            rest(system)
    finally:
        if system is not None:
            system.close()
        stop(child)


def test_a_process_that_runs_another_program_is_read_anew() -> None:
    """A wrapper that ends with `exec`, as that of Erlang: its time-outs are in the memory of the new program."""
    sleeping = "import time; time.sleep(100)"
    child = python(
        f"import os, sys; {READY}; sys.stdin.readline(); os.execv(sys.executable, ['x', '-c', '{sleeping}'])"
    )
    system = SystemProcesses([child.pid])
    try:
        rest(system)
        assert child.stdin is not None
        child.stdin.write(b"go on\n")
        child.stdin.flush()
        until = time.monotonic() + 10
        while not 50 < rest(system).due - time.monotonic() < 101:
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        system.close()
        stop(child)


def test_more_threads_than_are_looked_at_are_a_reason_not_to_observe() -> None:
    """To look at them would take longer than to wait."""
    one = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    many = f"import threading; [{one} for _ in range({MOST})]"
    child = python(f"{many}; {SLEEPER}")
    try:
        with pytest.raises(Unseen, match="threads"):
            SystemProcesses([child.pid])
    finally:
        stop(child)


def test_an_orphan_belongs_to_the_system_and_is_reaped() -> None:
    """A child of a child whose parent has ended becomes one of the tester, which is its subreaper."""
    with adopting() as adopts:
        assert adopts
        parent = "import os, sys, time\nif os.fork() == 0:\n    if os.fork():\n        os._exit(0)\n"
        orphan = "    time.sleep(0.2)\n    os._exit(0)\nos.wait()\n"
        child = python(parent + orphan + SLEEPER)
        system = SystemProcesses([child.pid])
        orphans = Orphans()
        try:
            rest(system)
            assert len(system.pids) == 2
            time.sleep(0.3)
            rest(system)  # it has ended, and is reaped
            rest(system)
            assert system.pids == {child.pid}
            assert not orphans.now() & system.pids
        finally:
            orphans.close()
            system.close()
            stop(child)


FORKING = """
import ctypes, os, sys, threading
ctypes.CDLL(None).prctl(36, 1)  # orphans become its own
ends, open_end = os.pipe()
def forks(twice):
    os.read({asked}, 1)
    child = os.fork()
    if child == 0 and twice and os.fork():
        os._exit(0)
    if child == 0:
        os.close(open_end)
        os.read(ends, 1)
        os._exit(0)
    if twice:
        os.waitpid(child, 0)
    sys.stdout.write("forked\\n"); sys.stdout.flush()
    os.read(ends, 1)
threading.Thread(target=forks, args=({twice},), daemon=True).start()
"""


@pytest.mark.parametrize("twice", [False, True])
def test_a_child_of_a_thread_that_had_none_belongs_to_the_system(*, twice: bool) -> None:
    """Only threads that have run are asked again, and the first, which gets orphans though it sleeps."""
    asked, ask = os.pipe()
    child = python(FORKING.format(asked=asked, twice=twice) + SLEEPER, asked)
    system = SystemProcesses([child.pid])
    try:
        rest(system)
        assert rest(system).still
        os.write(ask, b"x")
        assert child.stdout is not None
        assert child.stdout.readline() == b"forked\n"
        rest(system)
        assert system.pids == {child.pid, *children(child.pid)}
        assert len(system.pids) == 2
    finally:
        system.close()
        stop(child)
        os.close(asked)
        os.close(ask)


def test_orphans_are_adopted_only_while_a_system_is_driven() -> None:
    """The child of a program that has ended goes to another process when no system is driven, and to the tester before.

    Two systems at once, the first of which ends first: the orphans of the second are adopted still.
    """
    orphan = "import os, sys\nif os.fork() == 0:\n    os.close(1)\n    sys.stdin.read()\n"

    def is_adopted() -> bool:
        program = [sys.executable, "-I", "-S", "-c", orphan]
        before = set(children())
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
            assert started.stdout is not None
            started.stdout.read()  # both have closed it, and the parent has ended
            started.wait()
            mine = set(children()) - before
        for child in mine:
            os.waitpid(int(child), 0)  # its input is closed now
        return bool(mine)

    first, second = adopting(), adopting()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert is_adopted()
    second.__exit__(None, None, None)
    assert is_adopted() is (os.getpid() == 1)  # the first process gets all orphans


def test_processes_are_noted_for_the_system_that_is_being_opened() -> None:
    """A helper of the tester belongs to none."""
    with starting() as system:
        started(-2)
        started(-3, helper=True)
    started(-4)
    assert system == {-2}
    assert {-2, -3, -4} <= OURS
    for pid in (-2, -3, -4):
        ended(pid)
    assert not {-2, -3, -4} & OURS


def test_the_owner_of_a_port_is_found(sleeper: subprocess.Popen[bytes]) -> None:
    """By the address that its socket is bound to; this process holds this one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        address = sock.getsockname()
        assert owners("udp", address, [os.getpid(), sleeper.pid]) == {os.getpid()}
        assert owners("tcp", address, [os.getpid()]) == set()
    assert os.getpid() not in everybody()
    assert sleeper.pid in everybody()


def test_a_search_for_the_owners_of_a_port_asks_for_a_while_only_those_that_may_be(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who held it, and who is new. If one of them has let it go, all are asked."""
    monkeypatch.setattr(owners_of, "_AGAIN", float("inf"))
    asked = list[int]()
    holds = owners_of._holds  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- what takes the time

    def noting(pid: int, wanted: set[str]) -> bool:
        asked.append(pid)
        return holds(pid, wanted)

    monkeypatch.setattr(owners_of, "_holds", noting)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        first = python(SLEEPER, server.fileno())
        assert holders("tcp", address) == {first.pid}
        assert sleeper.pid in asked
        asked.clear()
        second = python(SLEEPER, server.fileno())
        assert holders("tcp", address) == {first.pid, second.pid}
        assert sleeper.pid not in asked
        stop(first)
        assert holders("tcp", address) == {second.pid}
        assert sleeper.pid not in asked
        stop(second)
        assert holders("tcp", address) == set()
        assert sleeper.pid in asked


def test_a_socket_bound_to_any_address_holds_its_port_at_each() -> None:
    """Of both families."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        sock.bind(("::", 0))
        sock.listen()
        assert owners("tcp", ("127.0.0.1", sock.getsockname()[1]), [os.getpid()]) == {os.getpid()}


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_both_ways_to_list_sockets_list_the_same(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener and both ends of a connection; a kernel or a sandbox that forbids the fast way has the text."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        port = server.getsockname()[1]
        with socket.create_connection((host, port)), server.accept()[0]:
            name, number = "tcp6" if ":" in host else "tcp", f":{port:04X}"
            fast = [row for row in rows(name) if number in row.local + row.remote]
            monkeypatch.setattr(socket, "SOCK_RAW", -1)  # as where such a socket is refused
            text = [row for row in rows(name) if number in row.local + row.remote]
    assert len(fast) == 3
    assert {repr(row) for row in fast} == {repr(row) for row in text}


def test_only_the_loopback_is_this_machine() -> None:
    """A name is none either: it may lead anywhere."""
    assert is_local("127.0.0.1")
    assert is_local("::1")
    assert not is_local("192.0.2.1")
    assert not is_local("example.invalid")


def test_what_the_system_has_written_and_did_not_arrive_is_counted() -> None:
    """TCP_CORK holds it back in its kernel."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
        theirs, _ = server.accept()
        with theirs:
            under_way = UnderWay(ours)
            assert under_way.bytes() == 0
            theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            theirs.send(b"held")
            assert under_way.bytes() == 4
        under_way.close()


def test_what_the_system_has_not_read_is_counted() -> None:
    """A server that makes its clients wait leaves their next line in its kernel."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
        theirs, _ = server.accept()
        with theirs:
            under_way = UnderWay(ours)
            ours.send(b"JOIN #a")
            assert under_way.bytes() == 7
            theirs.recv(100)
            assert under_way.bytes() == 0
        under_way.close()


def test_the_port_of_a_listening_system_is_no_connection() -> None:
    """After both ends have closed, the kernel shows the socket that listens there, whose queue is not an answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        with socket.create_connection(server.getsockname()) as ours:
            theirs, _ = server.accept()
            under_way = UnderWay(ours)
            ours.shutdown(socket.SHUT_WR)
            theirs.recv(1)
            theirs.close()
            ours.recv(1)
            assert under_way.bytes() == 0
        under_way.close()


class _At:
    """A line whose other end is at a place."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def place(self) -> Place:
        return self._place


def test_the_processes_behind_lines_are_found(sleeper: subprocess.Popen[bytes]) -> None:
    """By the process that a line has started, or that holds its port."""
    system = attached({"user": _At(Place(sleeper.pid))}, {sleeper.pid})
    assert system.pids >= {sleeper.pid}
    system.close()


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (Place(hidden="a device"), "'p': a device"),
        (Place(transport="udp", address=("192.0.2.1", 9)), "not this machine"),
        (Place(transport="udp", address=("127.0.0.1", 9)), "no process is seen"),
        (Place(), "none of its ports"),
    ],
)
def test_a_line_that_leads_elsewhere_is_a_reason_not_to_observe(place: Place, why: str) -> None:
    """The reason names the port, and what its other end is."""
    with pytest.raises(Unseen, match=why):
        attached({"p": _At(place)}, ())


def test_a_line_that_knows_nothing_of_its_other_end_is_a_reason_not_to_observe() -> None:
    """Any line may say so by saying nothing."""
    with pytest.raises(Unseen, match="is not visible"):
        attached({"p": object()}, ())


def test_a_connection_to_a_process_that_is_no_part_of_the_system_is_a_reason_not_to_observe() -> None:
    """The system would seem to rest while it waits for the other."""
    other = python(
        "import socket, sys\ns = socket.create_server(('127.0.0.1', 0))\n" + PORT + "accepted = s.accept()\n" + WAIT
    )
    assert other.stdout is not None
    call = f"import socket, sys\ns = socket.create_connection(('127.0.0.1', {int(other.stdout.readline())}))\n"
    child = python(call + SLEEPER)
    ended(other.pid)
    try:
        both = SystemProcesses([child.pid, other.pid])
        examine(both)
        both.close()
        OURS.add(other.pid)  # a child of the tester that belongs to another run
        alone = SystemProcesses([child.pid])
        with pytest.raises(Unseen, match="connection to 127"):
            examine(alone)
        alone.close()
    finally:
        stop(child)
        stop(other)


def test_a_datagram_socket_that_is_connected_to_a_closed_port_leads_to_no_one() -> None:
    """A TFTP server keeps one for each transfer that its client has left; an open port is a stranger's."""
    with socket.socket(type=socket.SOCK_DGRAM) as stranger, socket.socket(type=socket.SOCK_DGRAM) as own:
        stranger.bind(("127.0.0.1", 0))
        own.connect(stranger.getsockname())
        inode = {str(os.fstat(own.fileno()).st_ino)}
        assert shown(outside(inode, inode)) == f"127.0.0.1:{stranger.getsockname()[1]}"
        stranger.close()
        assert not outside(inode, inode)


def test_a_server_for_both_kinds_of_addresses_is_connected_to_its_client() -> None:
    """It writes the address of a client of IPv4 as one of IPv6, as every server in Java does."""
    with (
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server,
        socket.create_connection(("127.0.0.1", server.getsockname()[1])) as client,
        server.accept()[0] as accepted,
    ):
        inodes = {str(os.fstat(each.fileno()).st_ino) for each in (client, accepted)}
        assert not outside(inodes, inodes)


def test_a_child_that_is_just_exiting_is_no_part_of_a_rest(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process loses its memory before it closes its pipes: until both are done the system does not rest."""
    exiting = {sleeper.pid}

    def enter(pid: int) -> Process:
        if pid in exiting:
            raise Gone  # what the kernel says of a process without its memory
        return Process(pid)

    monkeypatch.setattr("otf.adapter.observed_rest.system.Process", enter)
    system = SystemProcesses([sleeper.pid])
    try:
        assert [system.look(lambda: True) for _ in range(5)] == [None] * 5
        stop(sleeper)
        assert rest(system).due == float("inf")
    finally:
        system.close()


HEADLESS = f"""
import ctypes, sys, threading, time
threading.Thread(target=time.sleep, args=(100,)).start()
{READY}
sys.stdin.readline()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.parametrize("known", [False, True])
def test_a_process_without_its_first_thread_cannot_be_observed(*, known: bool) -> None:
    """The kernel hides its timers and descriptors, whether the thread ends before the first look or after it."""
    child = python(HEADLESS)
    system = SystemProcesses([child.pid]) if known else None
    try:
        if system is not None:
            rest(system)
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
        with pytest.raises(Unseen, match="the first thread has ended"):  # noqa: PT012 -- it ends soon
            until = time.monotonic() + 10
            while time.monotonic() < until:
                system = system or SystemProcesses([child.pid])
                rest(system)
                if not known:
                    system.close()
                    system = None
    finally:
        if system is not None:
            system.close()
        stop(child)
