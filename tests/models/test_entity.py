"""The reference entity: what goes in, and what comes out."""

import copy
import os
import select
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.models.conference import entity
from otf.models.conference.entity import FAULTS, Effect, Entity, decode, encode

Input = str | bytes
"""A line of the user, or a datagram."""


def feed(cpe: Entity, *inputs: Input) -> list[Effect]:
    """What the last of these inputs brings."""
    effects: list[Effect] = []
    for inp in inputs:
        effects = cpe.user(inp) if isinstance(inp, str) else cpe.datagram(inp)
    return effects


def alone(fault: str = "") -> Entity:
    """Entity 1 of three, idle."""
    return Entity(1, [2, 3], fault)


def in_tea(*members: int) -> Entity:
    """Entity 1 of three: its user is ann in the conference tea, with these members, all called bob."""
    cpe = alone()
    feed(cpe, "join ann tea", *(answer(member, "bob", "tea") for member in members))
    return cpe


def join(sender: int, nick: str, conf: str) -> bytes:
    """A join-PDU of entity `sender`."""
    return encode(b"J", sender, nick, conf)


def answer(sender: int, nick: str, conf: str) -> bytes:
    """An answer-PDU of entity `sender`."""
    return encode(b"A", sender, nick, conf)


def data(sender: int, text: str) -> bytes:
    """A data-PDU of entity `sender`."""
    return encode(b"D", sender, text)


def leave(sender: int) -> bytes:
    """A leave-PDU of entity `sender`."""
    return encode(b"L", sender)


# The behaviour, row by row


def test_join() -> None:
    """A join is told to every other entity, with the user's words."""
    assert alone().user("join ann tea") == [(2, join(1, "ann", "tea")), (3, join(1, "ann", "tea"))]


def test_second_join() -> None:
    """A join in a conference is ignored: data still goes to the members, the first answer holds."""
    cpe = in_tea(2)
    assert cpe.user("join eve rum") == []
    assert cpe.user("data hi") == [(2, data(1, "hi"))]
    assert cpe.datagram(join(3, "cat", "tea")) == [(3, answer(1, "ann", "tea"))]


def test_join_of_a_peer() -> None:
    """Who joins our conference is answered with our names, and is a member under its own."""
    cpe = in_tea()
    assert cpe.datagram(join(2, "bob", "tea")) == [(2, answer(1, "ann", "tea"))]
    assert cpe.datagram(data(2, "hi")) == ["data bob hi"]


def test_join_of_a_peer_elsewhere() -> None:
    """Who joins another conference is not answered, and is not a member."""
    cpe = in_tea()
    assert cpe.datagram(join(2, "bob", "rum")) == []
    assert cpe.user("data hi") == []


def test_join_of_a_member() -> None:
    """A member that joins again is not answered, and keeps its nickname."""
    cpe = in_tea(2)
    assert cpe.datagram(join(2, "cat", "tea")) == []
    assert cpe.datagram(data(2, "hi")) == ["data bob hi"]


def test_answer() -> None:
    """Who answers from our conference is a member, and gets no answer back."""
    cpe = in_tea()
    assert cpe.datagram(answer(2, "bob", "tea")) == []
    assert cpe.datagram(data(2, "hi")) == ["data bob hi"]


def test_answer_from_elsewhere() -> None:
    """Who answers from another conference is not a member."""
    cpe = in_tea()
    assert cpe.datagram(answer(2, "bob", "rum")) == []
    assert cpe.user("data hi") == []


def test_second_answer() -> None:
    """A member that answers again keeps its nickname."""
    assert feed(in_tea(2), answer(2, "cat", "tea"), data(2, "hi")) == ["data bob hi"]


def test_leave() -> None:
    """A leave is told to every member, and to no one else; then the entity is idle."""
    cpe = in_tea(3)
    assert cpe.user("leave") == [(3, leave(1))]
    assert cpe.user("leave") == []
    assert cpe.user("join ann rum") == [(2, join(1, "ann", "rum")), (3, join(1, "ann", "rum"))]
    assert cpe.user("data hi") == []


def test_leave_of_a_member() -> None:
    """A member that leaves gets no more data; it may come back under another name."""
    cpe = in_tea(2, 3)
    assert cpe.datagram(leave(2)) == []
    assert cpe.user("data hi") == [(3, data(1, "hi"))]
    assert feed(cpe, join(2, "cat", "tea"), data(2, "hi")) == ["data cat hi"]


def test_data_of_a_member() -> None:
    """What a member says is shown under its nickname."""
    assert in_tea(2).datagram(data(2, "how are you?")) == ["data bob how are you?"]


def test_data_of_a_stranger() -> None:
    """Who says something without being a member is sent our join once more, and is still no member."""
    cpe = in_tea()
    assert cpe.datagram(data(2, "hi")) == [(2, join(1, "ann", "tea"))]
    assert cpe.datagram(data(2, "hi")) == [(2, join(1, "ann", "tea"))]


def test_data() -> None:
    """What the user says goes to every member, and to no one else; blanks are part of it."""
    assert in_tea(2, 3).user("data  a  b ") == [(2, data(1, " a  b ")), (3, data(1, " a  b "))]
    assert in_tea(3).user("data hi") == [(3, data(1, "hi"))]
    assert in_tea().user("data hi") == []


@pytest.mark.parametrize(
    "inp", ["data hi", "leave", join(2, "bob", "tea"), answer(2, "bob", "tea"), data(2, "hi"), leave(2)]
)
def test_idle(inp: Input) -> None:
    """Idle, everything but a join of the user is ignored."""
    cpe = alone()
    assert feed(cpe, inp) == []
    assert vars(cpe) == vars(alone())


# All of it: table 8.1 of the paper


def every_input(entities: int, nicks: int, confs: int, texts: int) -> list[Input]:
    """Every input of a model of that size; the PDUs of the entity's own id are among them."""
    ids = range(1, entities + 1)
    names = [(nick, conf) for nick in "abc"[:nicks] for conf in "xyz"[:confs]]
    lines: list[Input] = ["leave", *(f"join {n} {c}" for n, c in names), *(f"data {t}" for t in "uvw"[:texts])]
    joins = [pdu(i, n, c) for pdu in (join, answer) for i in ids for n, c in names]
    return [*lines, *joins, *(data(i, t) for i in ids for t in "uvw"[:texts]), *map(leave, ids)]


def step(before: Entity, inp: Input) -> tuple[list[Effect], Entity]:
    """What an input brings, in an order that does not matter, and the entity after it."""
    after = copy.copy(before)
    after.members, after.first_nicks = before.members.copy(), before.first_nicks.copy()
    return sorted(feed(after, inp), key=repr), after


def protocol_state(cpe: Entity) -> object:
    """The state of the protocol; what an idle entity has stored is not a part of it."""
    return cpe.joined and (cpe.conf, cpe.nick, frozenset(cpe.members.items()))


def count(inputs: list[Input], start: Entity) -> tuple[int, int]:
    """The reachable states, and the transitions that bring an output or another state."""
    transitions, seen, todo = 0, {protocol_state(start)}, [start]
    for before in todo:
        for inp in inputs:
            effects, after = step(before, inp)
            state = protocol_state(after)
            transitions += bool(effects) or state != protocol_state(before)
            if state not in seen:
                seen.add(state)
                todo.append(after)
    return len(seen), transitions


@pytest.mark.parametrize(
    ("sizes", "states", "transitions"),
    [
        ((1, 1, 1, 1), 2, 2),
        ((2, 1, 1, 1), 3, 9),
        ((3, 1, 1, 1), 5, 28),
        ((2, 2, 1, 1), 7, 30),
        ((2, 1, 2, 1), 5, 18),
        ((2, 1, 1, 2), 3, 12),
        ((2, 2, 2, 2), 13, 80),
        ((3, 3, 3, 3), 145, 2070),
    ],
)
def test_table_8_1(sizes: tuple[int, int, int, int], states: int, transitions: int) -> None:
    """The entity has the states and transitions of the paper's table, so it ignores all the rest."""
    others = list(range(2, sizes[0] + 1))
    assert count(every_input(*sizes), Entity(1, others)) == (states, transitions)


# The wire


WIRE: list[tuple[tuple[bytes, int, list[str]], bytes]] = [
    ((b"J", 2, ["bob", "tea"]), b"J\x02\x03bob\x03tea"),
    ((b"A", 3, ["bob", "thé"]), b"A\x03\x03bob\x04th\xc3\xa9"),
    ((b"D", 2, ["hi there"]), b"D\x02\x08hi there"),
    ((b"L", 255, []), b"L\xff"),
]


@pytest.mark.parametrize(("pdu", "raw"), WIRE)
def test_wire(pdu: tuple[bytes, int, list[str]], raw: bytes) -> None:
    """A PDU is its type, its sender's id, and its fields, each after its length in bytes."""
    kind, sender, words = pdu
    assert encode(kind, sender, *words) == raw
    assert decode(raw) == pdu


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"J",
        b"J\x02",
        b"J\x02\x03bob",
        b"J\x02\x03bob\x03te",
        b"J\x02\x03bob\x03tea!",
        b"J\x02\x03bob\x03tea\x00",
        b"J\x02\x00\x03tea",
        b"J\x02\x03b b\x03tea",
        b"J\x02\x03bob\x03t\na",
        b"A\x02\x03bob",
        b"A\x02\x02\xff\xff\x03tea",
        b"D\x02",
        b"D\x02\x00",
        b"D\x02\x03hi",
        b"D\x02\x02hi!",
        b"D\x02\x02\xc3(",
        b"D\x02\x03a\nb",
        b"L",
        b"L\x02\x00",
        b"j\x02\x03bob\x03tea",
        b"X\x02",
        b"\xff\x02",
    ],
)
def test_not_decodable(raw: bytes) -> None:
    """Missing and surplus bytes, bad UTF-8, empty fields, blanks in names, unknown types: ignored."""
    assert decode(raw) is None
    assert_ignored(raw)


@pytest.mark.parametrize("sender", [0, 1, 4, 255])
def test_unknown_senders(sender: int) -> None:
    """PDUs of unknown ids and of the entity's own are ignored."""
    for raw in (join(sender, "bob", "tea"), answer(sender, "bob", "tea"), data(sender, "hi"), leave(sender)):
        assert_ignored(raw)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "join",
        "join ann",
        "join ann ",
        "join  tea",
        "join ann  tea",
        "join ann tea rum",
        "join a\tb tea",
        "join ann " + "x" * 256,
        "join ann " + "é" * 128,
        "data",
        "data ",
        "data " + "x" * 256,
        "data \udcff",
        "leave ",
        "leave now",
        " leave",
        "LEAVE",
        "quit",
    ],
)
def test_lines_not_understood(line: str) -> None:
    """A line of the user that does not fit the protocol, or no PDU, is ignored."""
    assert_ignored(line)


def test_longest_text() -> None:
    """The longest text has 255 bytes."""
    assert in_tea(2).user("data " + "x" * 255) == [(2, b"D\x01\xff" + b"x" * 255)]


def assert_ignored(inp: Input) -> None:
    """Without an output and without a change of state, idle and in a conference."""
    for cpe in (alone(), in_tea(), in_tea(2)):
        before = copy.deepcopy(vars(cpe))
        assert feed(cpe, inp) == []
        assert vars(cpe) == before


HOSTILE = st.one_of(
    st.binary(),
    st.tuples(st.sampled_from([b"J", b"A", b"D", b"L"]), st.binary()).map(b"".join),
    st.tuples(st.sampled_from([join(2, "bob", "tea"), data(2, "hi"), leave(2)]), st.binary()).map(b"".join),
)


@given(HOSTILE)
def test_hostile_datagrams(raw: bytes) -> None:
    """No datagram brings an exception, and one that is not a PDU brings nothing at all."""
    pdu = decode(raw)
    if pdu is None:
        assert_ignored(raw)
        return
    kind, sender, words = pdu
    assert encode(kind, sender, *words) == raw
    feed(in_tea(2), raw)


@given(st.sampled_from([join(2, "bob", "tea"), answer(2, "b", "t"), data(2, "hi"), leave(2)]), st.data())
def test_cut_and_lengthened_datagrams(raw: bytes, drawn: st.DataObject) -> None:
    """A PDU of which bytes are missing, or to which bytes were added, is ignored."""
    assert_ignored(raw[: drawn.draw(st.integers(0, len(raw) - 1))])
    assert_ignored(raw + drawn.draw(st.binary(min_size=1)))


@given(st.one_of(st.text(), st.text().map("data ".__add__), st.text().map("join ann ".__add__)))
def test_hostile_lines(line: str) -> None:
    """No line brings an exception, and whatever is sent on its account is a PDU."""
    for cpe in (alone(), in_tea(2)):
        for effect in cpe.user(line):
            assert isinstance(effect, tuple)
            assert decode(effect[1]) is not None


# The faults


JOIN = "join ann tea"
HI = data(2, "hi")
BOB = join(2, "bob", "tea")
CAT = join(3, "cat", "tea")
TO_BOTH: list[Effect] = [(2, join(1, "ann", "tea")), (3, join(1, "ann", "tea"))]
ANSWER: list[Effect] = [(2, answer(1, "ann", "tea"))]


@dataclass(frozen=True)
class Shown:
    """A shortest way to show a fault, what the specification allows at its end, and what comes."""

    inputs: list[Input]
    right: list[Effect]
    wrong: list[Effect]


SHOWN = {
    "O1": Shown([JOIN], TO_BOTH, []),
    "O2": Shown([JOIN], TO_BOTH, TO_BOTH[:1]),
    "O3": Shown([JOIN, BOB], ANSWER, []),
    "O4": Shown([JOIN, BOB, "leave"], [(2, leave(1))], []),
    "O5": Shown([JOIN, BOB, "leave"], [(2, leave(1))], []),
    "O6": Shown([JOIN, BOB, "data hi"], [(2, data(1, "hi"))], []),
    "O7": Shown([JOIN, BOB, CAT, "data hi"], [(2, data(1, "hi")), (3, data(1, "hi"))], [(2, data(1, "hi"))]),
    "O8": Shown([JOIN, BOB, HI], ["data bob hi"], []),
    "O9": Shown([JOIN, HI], TO_BOTH[:1], []),
    "C1": Shown([JOIN, join(2, "bob", "rum")], [], ANSWER),
    "C2": Shown([JOIN, answer(2, "bob", "rum"), "data hi"], [], [(2, data(1, "hi"))]),
    "C3": Shown([JOIN, BOB, BOB], [], ANSWER),
    "C4": Shown([JOIN, BOB, answer(2, "eve", "tea"), HI], ["data bob hi"], ["data eve hi"]),
    "C5": Shown([JOIN, HI], TO_BOTH[:1], ["data ? hi"]),
    "C6": Shown([BOB], [], [(2, b"A\x01\x00\x03tea")]),
    "C7": Shown(["data hi"], [], [(2, data(1, "hi")), (3, data(1, "hi"))]),
    "C8": Shown(["leave"], [], [(2, leave(1)), (3, leave(1))]),
    "C9": Shown(["join eve rum", JOIN], [], TO_BOTH),
    "C10": Shown([JOIN, join(1, "eve", "tea"), data(1, "hi")], [], ["data eve hi"]),
    "U1": Shown([JOIN, BOB, BOB], [], ANSWER),
    "U2": Shown([JOIN, answer(2, "bob", "tea"), "data hi"], [(2, data(1, "hi"))], []),
    "U3": Shown([JOIN, BOB, leave(2), "data hi"], [], [(2, data(1, "hi"))]),
    "U4": Shown([JOIN, BOB, "leave", JOIN, "data hi"], [], [(2, data(1, "hi"))]),
    "U5": Shown([JOIN, "leave", JOIN], TO_BOTH, []),
    "U6": Shown(["join eve tea", "leave", JOIN, BOB], ANSWER, [(2, answer(1, "eve", "tea"))]),
    "U7": Shown(["join ann rum", "leave", JOIN, BOB], ANSWER, []),
    "U8": Shown([JOIN, BOB, leave(2), join(2, "eve", "tea"), HI], ["data eve hi"], ["data bob hi"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault: str) -> None:
    """A fault shows as its sentence says."""
    shown = SHOWN[fault]
    assert feed(alone(), *shown.inputs) == shown.right
    assert feed(alone(fault), *shown.inputs) == shown.wrong


@pytest.mark.parametrize("fault", FAULTS)
def test_shortest_way_to_a_fault(fault: str) -> None:
    """No shorter sequence of inputs shows the fault: as many as the protocol's description says."""
    assert shortest(fault) == len(SHOWN[fault].inputs) == LENGTHS[fault]


LENGTHS = {
    fault: length
    for length, faults in {
        1: "O1 O2 C6 C7 C8",
        2: "O3 O9 C1 C5 C9",
        3: "O4 O5 O6 O8 C2 C3 C10 U1 U2 U5",
        4: "O7 C4 U3 U6 U7",
        5: "U4 U8",
    }.items()
    for fault in faults.split()
}


def shortest(fault: str) -> int:
    """The length of the shortest input sequence on which the faulty entity differs, breadth first."""
    inputs = every_input(3, 2, 2, 2)
    todo = deque([(alone(), alone(fault), 1)])
    seen = {(memory(alone()), memory(alone()))}
    while todo:
        right, wrong, length = todo.popleft()
        for inp in inputs:
            (expected, right_after), (got, wrong_after) = step(right, inp), step(wrong, inp)
            if got != expected:
                return length
            if (pair := (memory(right_after), memory(wrong_after))) not in seen:
                seen.add(pair)
                todo.append((right_after, wrong_after, length + 1))
    raise AssertionError(f"no sequence of inputs shows {fault}")


def memory(cpe: Entity) -> object:
    """All that an entity's future depends on."""
    return cpe.joined, cpe.nick, cpe.conf, tuple(cpe.members.items()), tuple(cpe.first_nicks.items())


def test_otherwise_as_specified() -> None:
    """Beside its fault an entity does what it should: C9 joins anew, C10 and U4 stay silent."""
    assert feed(alone("C9"), JOIN, BOB, "join eve tea", "data hi") == []
    assert feed(alone("C10"), JOIN, join(1, "eve", "tea")) == []
    assert feed(alone("C10"), JOIN, join(1, "eve", "tea"), "leave") == []
    assert feed(alone("U4"), JOIN, BOB, "leave", HI) == []
    assert feed(alone("U4"), JOIN, BOB, "leave", "data hi") == []
    assert feed(alone("U5"), JOIN, BOB, "leave", "data hi") == []
    assert feed(alone("U6"), JOIN, "leave", "join eve tea") == [(2, join(1, "eve", "tea")), (3, join(1, "eve", "tea"))]
    assert feed(alone("U7"), JOIN, "leave", "join ann rum") == [(2, join(1, "ann", "rum")), (3, join(1, "ann", "rum"))]


# The program


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "usage"),
        ("--help", "usage"),
        ("--id 1", "usage"),
        ("--id 1 --listen 127.0.0.1:7001 --loud yes", "usage"),
        ("--id 0 --listen 127.0.0.1:7001", "'0'"),
        ("--id 256 --listen 127.0.0.1:7001", "'256'"),
        ("--id one --listen 127.0.0.1:7001", "'one'"),
        ("--id 1 --listen 7001", "'7001'"),
        ("--id 1 --listen 127.0.0.1:", "'127.0.0.1:'"),
        ("--id 1 --listen 127.0.0.1:65536", "'127.0.0.1:65536'"),
        ("--id 1 --listen 127.0.0.256:7001", "'127.0.0.256:7001'"),
        ("--id 1 --listen 127.0.0.1:7001 --peer 127.0.0.1:7002", "'127.0.0.1:7002'"),
        ("--id 1 --listen 127.0.0.1:7001 --peer 1=127.0.0.1:7002", "own id"),
        ("--id 1 --listen 127.0.0.1:7001 --fault O10", "'O10'"),
    ],
)
def test_refused(arguments: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What the program cannot do it refuses in one line, with exit status 2."""
    with pytest.raises(SystemExit) as refused:
        entity.main(arguments.split())
    assert refused.value.code == 2
    message = capsys.readouterr().err
    assert says in message
    assert message.count("\n") == 1


PATIENCE = 10.0
"""Seconds after which a test of the running program gives up."""


@dataclass
class Running:
    """An entity's process, its arguments, and the sockets that play entities 2 and 3."""

    process: subprocess.Popen[bytes]
    command: list[str]
    peers: dict[int, socket.socket]
    address: tuple[str, int]

    def type(self, typed: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(typed)

    def line(self) -> bytes:
        """The next line that the program shows."""
        assert self.process.stdout
        line = b""
        while not line.endswith(b"\n"):
            assert select.select([self.process.stdout], [], [], PATIENCE)[0], "nothing is shown"
            line += os.read(self.process.stdout.fileno(), 1)
        return line

    def send(self, peer: int, datagram: bytes) -> None:
        self.peers[peer].sendto(datagram, self.address)

    def receive(self, peer: int) -> bytes:
        """The next datagram that the program sends to that peer."""
        datagram, source = self.peers[peer].recvfrom(65536)
        assert source == self.address
        return datagram


def udp_socket() -> socket.socket:
    """A socket on a port of its own, of which no receive waits for ever."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(PATIENCE)
    return sock


@pytest.fixture
def running() -> Iterator[Running]:
    """Entity 1 of three as a process that is ready; it is gone after the test, come what may."""
    with udp_socket() as free, udp_socket() as two, udp_socket() as three:
        address, peers = free.getsockname(), {2: two, 3: three}
        free.close()
        command = [sys.executable, "-I", entity.__file__, "--id", "1", "--listen", f"127.0.0.1:{address[1]}"]
        for number, sock in peers.items():
            command += ["--peer", f"{number}=127.0.0.1:{sock.getsockname()[1]}"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe) as process:
            try:
                it = Running(process, command, peers, address)
                assert it.line() == b"ready\n"
                yield it
            finally:
                process.kill()


@pytest.mark.real
def test_conversation(running: Running) -> None:
    """The program talks over pipes and UDP, answers the id in a PDU, and ends with its input."""
    running.type(b"join ann tea\n")
    assert running.receive(2) == b"J\x01\x03ann\x03tea"
    assert running.receive(3) == b"J\x01\x03ann\x03tea"
    running.send(2, b"J\x03\x03cat\x03tea")
    assert running.receive(3) == b"A\x01\x03ann\x03tea"
    running.send(2, b"")
    running.send(2, b"D\x03\x08hi, \xc3\xa4nn")
    assert running.line() == "data cat hi, änn\n".encode()
    running.type(b"\xff\ndata \xff\nda")
    running.type(b"ta hello all\nleave\nlea")
    assert running.receive(3) == b"D\x01\x09hello all"
    assert running.receive(3) == b"L\x01"
    assert running.process.stdin
    running.process.stdin.close()
    assert running.process.wait(PATIENCE) == 0


@pytest.mark.real
def test_port_in_use(running: Running) -> None:
    """A port in use is refused in one line, with exit status 1; a termination ends the program."""
    second = subprocess.run(running.command, input=b"", capture_output=True, timeout=PATIENCE, check=False)
    assert second.returncode == 1
    assert second.stderr.startswith(b"entity: cannot listen on 127.0.0.1:")
    assert second.stderr.count(b"\n") == 1
    os.kill(running.process.pid, signal.SIGTERM)
    assert running.process.wait(PATIENCE) == -signal.SIGTERM
