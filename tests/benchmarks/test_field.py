"""Subjects of the field: the small system of Dropbox, and the clients of Maelstrom's nodes."""

from typing import Any, cast

import pytest

from benchmarks.field import dropbox
from benchmarks.field.key_value import Answer, Cas, Cut, Heard, Pass, Read, Write
from benchmarks.field.maelstrom import Clients, exchanged
from benchmarks.field.node_network import Network


def test_dropbox_and_a_fault_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The right system conforms, whatever it does unseen; one that answers a write wrongly fails by that write."""
    monkeypatch.setattr(dropbox, "PATHS", 5)
    monkeypatch.setattr(dropbox, "STEPS", 8)
    assert dropbox.row("", 1).verdict == "pass"
    wrong = dropbox.row("a write answers what it wrote", 1)
    assert (wrong.verdict, wrong.shrunk) == ("fail", (1,))


class Wire:
    """A network that keeps what is sent, and has answers ready."""

    def __init__(self) -> None:
        self.sent = list[Any]()
        self.ready = list[Any]()
        self.cut = frozenset[str]()

    def fresh(self) -> None:
        """Begin."""

    def send(self, message: object) -> None:
        """Keep a message."""
        self.sent.append(message)

    def elapse(self, milliseconds: int) -> list[Any]:
        """Return what is ready."""
        assert milliseconds
        return self.ready


def body(client: int, to: int, **parts: int | str) -> dict[str, Any]:
    """Return a message to a client that answers a call."""
    return {"dest": f"c{client + 1}", "body": {"in_reply_to": to, **parts}}


def test_clients_hear_the_answer_to_their_last_call() -> None:
    """A client that calls again hears no answer to what it called before, and errors are told by their code."""
    wire = Wire()
    take = Clients(cast("Network", wire)).take
    for inp in (Write(0, 2), Read(0), Cas(1, 2, 3), Read(2), Cut((0, 1))):
        assert take(inp) == []
    assert [(each["dest"], each["body"]["type"]) for each in wire.sent] == [
        ("n0", "write"),
        ("n0", "read"),
        ("n1", "cas"),
        ("n2", "read"),
    ]
    assert wire.cut == {"n0", "n1"}
    wire.ready = [
        body(0, 1, type="write_ok"),
        body(0, 2, type="read_ok", value=2),
        body(1, 3, type="error", code=22),
        body(2, 4, type="error", code=11),
    ]
    assert take(Pass(200)) == [Heard((Answer(0, 2), Answer(1, "differs"), Answer(2, "failed")))]


def test_a_fault_is_exchanged_once() -> None:
    """A text that the program has twice or not at all is refused: the fault would be another one."""
    assert exchanged("a b", ("b", "c")) == "a c"
    with pytest.raises(SystemExit, match="has this 2 times: a"):
        exchanged("a a", ("a", "c"))
