"""Chat: who is told of what a client does, and what is refused."""

import pytest

from otf.models.irc import bench
from otf.models.irc.messages import CLIENTS, SERVER, IrcCodec, Say, Told
from tests.models.scripts import judged

CODEC = IrcCodec()
JOIN = Say("n0", "JOIN", ("#x",))


def told(command: str, *words: str, sender: str = "n0", to: tuple[str, ...] = CLIENTS) -> tuple[Told, ...]:
    """Return what several clients are told alike."""
    return tuple(Told(client, sender, command, words) for client in to)


def number(client: str, code: str, *words: str) -> Told:
    """Return a number from the server."""
    return Told(client, SERVER, code, words)


ALONE = (JOIN, *told("JOIN", "#x", to=("n0",)), number("n0", "353", "#x", "@n0"), number("n0", "366", "#x"))
SECOND = (
    Say("n1", "JOIN", ("#x",)),
    *told("JOIN", "#x", sender="n1", to=("n0", "n1")),
    number("n1", "353", "#x", "@n0 n1"),
    number("n1", "366", "#x"),
)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([ALONE, SECOND], "pass"),
        ([ALONE, SECOND[:1] + SECOND[2:]], "fail"),
        ([ALONE, SECOND, (Say("n0", "PRIVMSG", ("#x", ":hi")), *told("PRIVMSG", "#x", "hi", to=("n1",)))], "pass"),
        ([ALONE, SECOND, (Say("n0", "PRIVMSG", ("#x", ":hi")), *told("PRIVMSG", "#x", "hi", to=("n0", "n1")))], "fail"),
        ([ALONE, SECOND, (Say("n1", "KICK", ("#x", "n0")), number("n1", "482", "#x"))], "pass"),
        ([ALONE, SECOND, (Say("n0", "KICK", ("#x", "n1")), *told("KICK", "#x", "n1", to=("n0", "n1")))], "pass"),
        (
            [
                ALONE,
                (Say("n0", "MODE", ("#x", "+i")), *told("MODE", "#x", "+i", to=("n0",))),
                (Say("n1", "JOIN", ("#x",)), number("n1", "473", "#x")),
            ],
            "pass",
        ),
        ([ALONE, (Say("n0", "MODE", ("#x", "+o", "n2")), number("n0", "441", "n2", "#x"))], "pass"),
        ([ALONE, (Say("n0", "MODE", ("#x", "+o", "n2")), *told("MODE", "#x", "+o", "n2", to=("n0",)))], "fail"),
        ([(Say("n2", "PART", ("#nope",)), number("n2", "403", "#nope"))], "pass"),
        ([(Say("n2", "BOGUS"), number("n2", "421", "BOGUS"))], "pass"),
        ([(Say("n2", "NICK"), number("n2", "461", "NICK"))], "fail"),
        ([(Say("n2", "NICK"), number("n2", "431"))], "pass"),
    ],
)
def test_who_is_told_what(script: list[tuple[object, ...]], outcome: str) -> None:
    """In one channel with up to three members."""
    assert judged(bench(), *script) == outcome


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b":n1!~u@127.0.0.1 PRIVMSG #x :hello you", Told("n0", "n1", "PRIVMSG", ("#x", "hello you"))),
        (b":irc.test 353 n0 = #x :@n1 n0", Told("n0", SERVER, "353", ("#x", "@n1 n0"))),
        (b":irc.test 442 n0 #x :You are not on that channel", Told("n0", SERVER, "442", ("#x",))),
        (b":irc.test 333 n0 #x n1 1795168053", Told("n0", SERVER, "333", ("#x",))),
        (b":n1!~u@h KICK #x n0 :bye", Told("n0", "n1", "KICK", ("#x", "n0"))),
        (b"PING :x", Told("n0", "", "PING", ("x",))),
    ],
)
def test_lines(line: bytes, expected: Told) -> None:
    """Of a line the sender, the command and its words are left; times, hosts and texts for people are not."""
    assert CODEC.decode("n0", line) == expected


def test_what_is_said_is_a_line() -> None:
    """The last word may have blanks."""
    assert CODEC.encode(Say("n0", "TOPIC", ("#x", ":one two"))) == b"TOPIC #x :one two"
