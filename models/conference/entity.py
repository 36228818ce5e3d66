r"""The reference conference protocol entity: it lets one user chat in one conference.

    python -I entity.py --id 1 --listen 127.0.0.1:7001 \
        --peer 2=127.0.0.1:7002 --peer 3=127.0.0.1:7003 [--fault ID]

Type `join NICK CONF`, `data TEXT` or `leave`; it shows what others say as `data NICK TEXT`. The program prints `ready`
once it listens on its UDP address, and ends when its standard input ends. With --fault it has one known fault (a key of
FAULTS), so that a tester can be tested.

It shares no code with the tester, so that each reveals errors of the other.
"""

# Not `socket`: its enums and classes would add 5 ms to a start of 9, and a tester starts this
# program once for every path. Nor `collections.abc` or `typing`: this one has been read by then.
import _socket
import errno
import os
import select
import sys
from _collections_abc import Callable

FAULTS: dict[str, str] = {
    "O1": "join sends no join-PDU",
    "O2": "join-PDU not sent to the last other entity",
    "O3": "no answer-PDU on a join-PDU",
    "O4": "leave sends no leave-PDU",
    "O5": "leave-PDU not sent to the last member",
    "O6": "datareq sends no data-PDU",
    "O7": "data-PDU only to the first member",
    "O8": "no data to the user on a data-PDU",
    "O9": "no join-PDU back to an unknown sender of data",
    "C1": "join-PDU: conference not checked",
    "C2": "answer-PDU: conference not checked",
    "C3": "join-PDU: already a member not checked (answers again)",
    "C4": "answer-PDU: already a member not checked (nickname overwritten)",
    "C5": "data-PDU: membership of the sender not checked (an unknown sender's data is shown with the nickname `?`)",
    "C6": "join-PDU answered while idle (with an empty nickname and the PDU's conference)",
    "C7": "datareq accepted while idle (data-PDU to all other entities)",
    "C8": "leave accepted while idle (leave-PDU to all other entities)",
    "C9": "second join accepted while in a conference",
    "C10": "own id not rejected as a peer (what it would send to itself is dropped)",
    "U1": "join-PDU: member not added",
    "U2": "answer-PDU: member not added",
    "U3": "leave-PDU: member not removed",
    "U4": "leave: members not cleared (only leave clears them; a join keeps what is there)",
    "U5": "leave: state not set to idle",
    "U6": "stored nickname not updated on the next join (join-PDUs carry the user's words)",
    "U7": "stored conference not updated on the next join (join-PDUs carry the user's words)",
    "U8": "member's nickname not updated when it comes back",
}

# Words and PDUs


def fits(word: str) -> bool:
    """Return whether a word can be a field of a PDU: 1 to 255 bytes of UTF-8."""
    try:
        return len(word.encode()) in range(1, 256)
    except UnicodeEncodeError:  # `serve` passes on bytes that are not UTF-8 as surrogates
        return False


def is_name(word: str) -> bool:
    """Return whether a word can name a user or a conference: it fits and holds no blanks."""
    return fits(word) and word.split() == [word]


def is_text(word: str) -> bool:
    """Return whether a word can be a message: it fits into a PDU, and has one line."""
    return fits(word) and "\n" not in word


FIELDS: dict[bytes, tuple[Callable[[str], bool], ...]] = {
    b"J": (is_name, is_name),
    b"A": (is_name, is_name),
    b"D": (is_text,),
    b"L": (),
}


def encode(kind: bytes, sender: int, *words: str) -> bytes:
    """Write a PDU: its type, its sender's id, then each field after its length."""
    raw = [word.encode() for word in words]
    return kind + bytes([sender]) + b"".join(bytes([len(w)]) + w for w in raw)


def decode(data: bytes) -> tuple[bytes, int, list[str]] | None:
    """Read the type, the sender's id and the fields of a datagram; None if it is not a PDU."""
    words: list[str] = []
    kind, rest = data[:1], data[2:]
    try:
        for valid in FIELDS[kind]:
            end = 1 + rest[0]
            word, rest = rest[1:end].decode(), rest[end:]
            if not valid(word):
                return None
            words.append(word)
        # Missing and surplus bytes show when the same words encode differently.
        return (kind, data[1], words) if encode(kind, data[1], *words) == data else None
    except (LookupError, UnicodeDecodeError):
        return None


# The protocol

Effect = str | tuple[int, bytes]
"""The effect of a step: a line for the user, or the id of another entity and a PDU for it."""


class Entity:
    """One conference protocol entity, without pipes and sockets.

    Pass arrivals to `user` and `datagram`; both return what to show and send. The entity ignores what the protocol does
    not foresee.
    """

    def __init__(self, own: int, others: list[int], fault: str = "") -> None:
        self.own = own
        self.others = others
        self.fault = fault
        self.heard: list[int] = [*others, own] if fault == "C10" else others
        self.joined: bool = False
        self.nick: str = ""
        self.conf: str = ""
        self.members: dict[int, str] = {}
        self.first_nicks: dict[int, str] = {}  # never forgotten: U8 shows these

    def user(self, line: str) -> list[Effect]:
        """Take a line from the user."""
        match line.split(" "):
            case ["join", nick, conf] if is_name(nick) and is_name(conf):
                return self._join(nick, conf)
            case ["data", *words] if is_text(text := " ".join(words)):
                return self._say(text)
            case ["leave"]:
                return self._leave()
            case _:
                return []

    def datagram(self, data: bytes) -> list[Effect]:
        """Take a datagram from the network."""
        match decode(data):
            case (_, sender, _) if sender not in self.heard:
                return []
            case (b"J", sender, [nick, conf]):
                return self._hear_join(sender, nick, conf)
            case (b"A", sender, [nick, conf]):
                return self._hear_answer(sender, nick, conf)
            case (b"D", sender, [text]):
                return self._hear_data(sender, text)
            case (b"L", sender, []):
                return self._hear_leave(sender)
            case _:
                return []

    def _join(self, nick: str, conf: str) -> list[Effect]:
        """Enter a conference, and tell every other entity."""
        if self.joined:
            if self.fault != "C9":
                return []
            self.members.clear()  # after a leave there are none
        self.joined = True
        if self.fault != "U6" or not self.nick:
            self.nick = nick
        if self.fault != "U7" or not self.conf:
            self.conf = conf
        told = {"O1": [], "O2": self.others[:-1]}.get(self.fault, self.others)
        return self._send(told, b"J", nick, conf)

    def _leave(self) -> list[Effect]:
        """Leave the conference, and tell the members."""
        if not self.joined:
            return self._send(self.others, b"L") if self.fault == "C8" else []
        members = list(self.members)
        told = {"O4": [], "O5": members[:-1]}.get(self.fault, members)
        if self.fault != "U4":
            self.members.clear()
        self.joined = self.fault == "U5"
        return self._send(told, b"L")

    def _say(self, text: str) -> list[Effect]:
        """Tell the members what the user says."""
        if not self.joined:
            return self._send(self.others, b"D", text) if self.fault == "C7" else []
        members = list(self.members)
        told = {"O6": [], "O7": members[:1]}.get(self.fault, members)
        return self._send(told, b"D", text)

    def _hear_join(self, peer: int, nick: str, conf: str) -> list[Effect]:
        """Make a peer that enters our conference a member, and answer it."""
        if not self.joined:
            return self._send([peer], b"A", "", conf) if self.fault == "C6" else []
        if conf != self.conf and self.fault != "C1":
            return []
        if peer in self.members and self.fault != "C3":
            return []
        if self.fault != "U1":
            self._add(peer, nick)
        return self._send([peer], b"A", self.nick, self.conf) if self.fault != "O3" else []

    def _hear_answer(self, peer: int, nick: str, conf: str) -> list[Effect]:
        """Make a peer that was in our conference before us a member."""
        here = conf == self.conf or self.fault == "C2"
        new = peer not in self.members or self.fault == "C4"
        if self.joined and here and new and self.fault != "U2":
            self._add(peer, nick)
        return []

    def _hear_data(self, peer: int, text: str) -> list[Effect]:
        """Show what a member says; send a join to others again, since their answer must have been lost."""
        if not self.joined:
            return []
        if peer in self.members or self.fault == "C5":
            nick = self.members.get(peer, "?")
            return [f"data {nick} {text}"] if self.fault != "O8" else []
        return self._send([peer], b"J", self.nick, self.conf) if self.fault != "O9" else []

    def _hear_leave(self, peer: int) -> list[Effect]:
        """Remove a peer that leaves from the members."""
        if self.joined and self.fault != "U3":
            self.members.pop(peer, None)
        return []

    def _add(self, peer: int, nick: str) -> None:
        """Make a peer a member under its nickname."""
        first = self.first_nicks.setdefault(peer, nick)
        self.members[peer] = first if self.fault == "U8" else nick

    def _send(self, peers: list[int], kind: bytes, *words: str) -> list[Effect]:
        """Address one PDU to each of these peers, never to ourselves."""
        pdu = encode(kind, self.own, *words)
        return [(peer, pdu) for peer in peers if peer != self.own]


# The program

Address = tuple[str, int]

USAGE = "usage: entity.py --id N --listen HOST:PORT [--peer N=HOST:PORT]... [--fault ID]"


def main(argv: list[str]) -> None:
    """Run an entity with these arguments until the user is gone."""
    entity, address, peers = configure(argv)
    sock = listen(address)
    try:
        serve(entity, sock, peers)
    except (BrokenPipeError, KeyboardInterrupt):
        return
    finally:
        sock.close()


def refusal(why: str, status: int = 2) -> SystemExit:
    """Say why the program cannot start; raise the result."""
    sys.stderr.write(f"entity: {why}\n")
    return SystemExit(status)


def configure(argv: list[str]) -> tuple[Entity, Address, dict[int, Address]]:
    """Read the arguments: the entity, its address, and its peers' addresses."""
    # By hand: argparse would take as long as the rest of the start.
    pairs = list(zip(argv[::2], argv[1::2], strict=False))
    given = dict(pairs)
    known = {"--id", "--listen", "--peer", "--fault"}
    if len(argv) % 2 or not {"--id", "--listen"} <= given.keys() <= known:
        raise refusal(USAGE)
    own, fault = _id(given["--id"]), given.get("--fault", "")
    peers = dict(_peer(value) for option, value in pairs if option == "--peer")
    if own in peers:
        raise refusal(f"peer {own} has the entity's own id")
    if fault and fault not in FAULTS:
        raise refusal(f"unknown fault {fault!r}; known: {' '.join(FAULTS)}")
    return Entity(own, list(peers), fault), _address(given["--listen"]), peers


def _peer(text: str) -> tuple[int, Address]:
    """Read N=HOST:PORT."""
    number, _, address = text.partition("=")
    return _id(number), _address(address)


def _id(text: str) -> int:
    """Read an entity's id, which must fit into one byte."""
    if text in map(str, range(1, 256)):
        return int(text)
    raise refusal(f"not an id from 1 to 255: {text!r}")


def _address(text: str) -> Address:
    """Read HOST:PORT, and look the name up once, not for every datagram."""
    host, _, port = text.rpartition(":")
    try:
        if host and int(port) in range(1, 65536):
            # As bytes: a str would load the codec for international names, 5 ms.
            found = _socket.getaddrinfo(host.encode(), None, _socket.AF_INET)
            return str(found[0][4][0]), int(port)
    except (OSError, ValueError):
        pass
    raise refusal(f"not an address HOST:PORT: {text!r}")


def listen(address: Address) -> _socket.socket:
    """Open the UDP socket of the entity."""
    sock = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        sock.bind(address)
    except OSError as error:
        status = 1 if error.errno == errno.EADDRINUSE else 2
        why = f"cannot listen on {address[0]}:{address[1]}: {error.strerror}"
        raise refusal(why, status) from error
    return sock


def serve(entity: Entity, sock: _socket.socket, peers: dict[int, Address]) -> None:
    """Pass lines and datagrams to the entity, and its effects out, until standard input ends."""
    wire, unfinished = sock.fileno(), b""
    _perform(["ready"], sock, peers)
    while True:
        readable, _, _ = select.select([0, wire], [], [])
        if wire in readable:
            _perform(entity.datagram(sock.recv(65536)), sock, peers)
        if 0 in readable:
            chunk = os.read(0, 65536)
            if not chunk:
                return
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            for line in lines:
                _perform(entity.user(line.decode(errors="surrogateescape")), sock, peers)


def _perform(effects: list[Effect], sock: _socket.socket, peers: dict[int, Address]) -> None:
    """Show lines to the user and send PDUs to their peers, each at once."""
    for effect in effects:
        if isinstance(effect, str):
            os.write(1, effect.encode() + b"\n")
            continue
        peer, pdu = effect
        try:
            sock.sendto(pdu, peers[peer])
        except OSError:  # the network refuses it: one more datagram lost by UDP
            continue


if __name__ == "__main__":
    main(sys.argv[1:])
