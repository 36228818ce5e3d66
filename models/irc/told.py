"""Messages to clients: numbers from the server, and the actions of other clients."""

from __future__ import annotations

from otf.models.irc.messages import SERVER, Say, Told
from otf.models.irc.requirements import OF_ERRORS
from otf.models.irc.state import CHANNEL, Channel, Step
from otf.spec import goto


def number(inp: Say, number: str, *words: str) -> Told:
    """Return a number from the server to the client that sent the input."""
    return Told(inp.client, SERVER, number, words)


def told(clients: frozenset[str], sender: str, command: str, *words: str) -> tuple[Told, ...]:
    """Return the same message to several clients."""
    return tuple(Told(client, sender, command, words) for client in sorted(clients))


def everybody(channel: Channel, sender: str, command: str, *words: str) -> tuple[Told, ...]:
    """Return a message to all members of the channel."""
    return told(channel.members, sender, command, *words)


def refused(channel: Channel, *errors: Told) -> Step:
    """Yield that the server refuses a command, with any of these errors."""
    yield from (goto(channel, error, req=OF_ERRORS[error.command]) for error in errors)


def outside(channel: Channel, inp: Say) -> tuple[Told, ...]:
    """Return the errors for a client that acts in a channel that does not exist, or that it is not in."""
    if inp.words[0] == CHANNEL and inp.client in channel.members:
        return ()
    exists = inp.words[0] == CHANNEL and channel.members
    return tuple(number(inp, error, inp.words[0]) for error in (("442",) if exists else ("403", "442")))


def topics(channel: Channel, inp: Say) -> tuple[tuple[Told, ...], ...]:
    """Return the ways to tell a topic."""
    if not channel.topic:
        return ((),)
    topic = number(inp, "332", CHANNEL, channel.topic)
    return (topic,), (topic, number(inp, "333", CHANNEL))


def listed(channel: Channel, inp: Say) -> tuple[Told, ...]:
    """Return the list of the members, and its end."""
    end = number(inp, "366", inp.words[0])
    return (number(inp, "353", CHANNEL, channel.names()), end) if channel.members else (end,)
