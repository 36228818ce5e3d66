"""Inputs worth trying in a channel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from otf.models.irc.messages import CLIENTS, Say
from otf.models.irc.state import CHANNEL, NO_ONE, NOWHERE, Channel

ALSO: Final = {
    "invite": "the answer to INVITE is judged as the RFC has it",
    "nick": "NICK without a nickname",
    "zero": "a command with a zero byte",
}
"""Inputs not tried, or not judged strictly, by default, since ngircd departs from the RFC there."""

_WORDS: Final[tuple[tuple[str, ...], ...]] = (
    ("JOIN", CHANNEL),
    ("PART", CHANNEL),
    ("PRIVMSG", CHANNEL, ":hello you"),
    ("TOPIC", CHANNEL),
    ("TOPIC", CHANNEL, ":one"),
    ("TOPIC", CHANNEL, ":"),
    ("NAMES", CHANNEL),
)
_MODES: Final = (("+t",), ("-t",), ("+i",), ("-i",))
_WRONG: Final[tuple[tuple[str, ...], ...]] = (
    ("BOGUS",),
    ("JOIN",),
    ("KICK", CHANNEL),
    ("INVITE", CLIENTS[0]),
    ("NICK", CLIENTS[1]),
    ("NICK", "9bad"),
    ("PART", NOWHERE),
    ("TOPIC", NOWHERE, ":x"),
    ("MODE", NOWHERE, "+t"),
    ("PRIVMSG", NO_ONE, ":x"),
    ("INVITE", CLIENTS[0], NOWHERE),
)


def inputs(also: str, channel: Channel) -> Iterator[Say]:
    """Yield the commands of all clients, and the wrong commands of one client; `also` is one of `ALSO`."""
    for client in CLIENTS:
        yield from (Say(client, name, tuple(words)) for name, *words in _WORDS)
        yield from (Say(client, "MODE", (CHANNEL, *mode)) for mode in _MODES)
        others = [other for other in CLIENTS if other != client]
        for command, other in product(("KICK", "INVITE", "PRIVMSG"), others):
            words = {"KICK": (CHANNEL, other), "INVITE": (other, CHANNEL), "PRIVMSG": (other, ":hi")}[command]
            yield Say(client, command, words)
        yield from (Say(client, "MODE", (CHANNEL, "+o", other)) for other in others if other in channel.members)
    # a wrong command is wrong for everybody
    yield from (Say(CLIENTS[-1], name, tuple(words)) for name, *words in _WRONG)
    if also == "nick":
        yield Say(CLIENTS[0], "NICK")
    if also == "zero":
        yield Say(CLIENTS[0], "MO\0DE", (CHANNEL,))
