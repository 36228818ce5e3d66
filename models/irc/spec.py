"""One channel of a chat server and three clients, as a function; after RFC 2812, sections 3.2 and 3.3.

If the RFC leaves a choice between error numbers, or does not say whether a client hears of a change without effect, the
model allows both. `333` and `329` are not in the RFC, but widespread: they may follow `332` and `324`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final

from otf.models.irc.inputs import inputs
from otf.models.irc.messages import CLIENTS, Say, Told
from otf.models.irc.requirements import IrcRule
from otf.models.irc.state import CHANNEL, Channel, Command, Step
from otf.models.irc.told import everybody, listed, number, outside, refused, told, topics
from otf.spec import AnyOrder, Spec, goto


def irc(also: str = "") -> Spec[Channel, Say]:
    """Return the spec of an IRC chat server with three clients.

    With `also="invite"`, otf judges the answer to INVITE strictly by the RFC. With `also="nick"`, the clients also send
    NICK without a nickname. With `also="zero"`, the clients also send a command that contains a zero byte.

    >>> irc().name
    'irc'
    """
    return Spec(partial(_step, also), Channel(), partial(inputs, also), name="irc")


def _step(also: str, channel: Channel, inp: Say) -> Step:
    command = _COMMANDS.get(inp.command)
    needed = _NEEDED.get(inp.command, 0)
    if command is None:
        yield from refused(channel, number(inp, "421", inp.command))
    elif not inp.words[needed - 1 : needed] and needed:
        yield from refused(channel, number(inp, "431") if inp.command == "NICK" else number(inp, "461", inp.command))
    elif inp.command == "INVITE":
        yield from _invite(channel, inp, strict=also == "invite")
    else:
        yield from command(channel, inp)


# ---- commands ------------------------------------------------------------------------------------------------------


def _join(channel: Channel, inp: Say) -> Step:
    who = inp.client
    if who in channel.members:
        yield goto(channel)  # it is already there: the RFC does not say what follows, and no server answered
        return
    if "i" in channel.modes and who not in channel.invited:
        yield from refused(channel, number(inp, "473", CHANNEL))
        return
    operators = channel.operators if channel.members else frozenset((who,))
    joined = replace(channel, members=channel.members | {who}, operators=operators)
    joins = everybody(joined, who, "JOIN", CHANNEL)
    # the RFC does not say whether a client that needs no invitation uses it up
    for invited in dict.fromkeys((channel.invited - {who}, channel.invited if "i" not in channel.modes else None)):
        if invited is not None:
            for topic in topics(joined, inp):
                then = replace(joined, invited=invited)
                yield goto(then, *joins, *topic, *listed(joined, inp), req=IrcRule.RFC2812_3_2_1_JOIN)


def _part(channel: Channel, inp: Say) -> Step:
    if errors := outside(channel, inp):
        yield from refused(channel, *errors)
    else:
        parts = everybody(channel, inp.client, "PART", CHANNEL)
        yield goto(channel.without(inp.client), *parts, req=IrcRule.RFC2812_3_2_2_PART)


def _say(channel: Channel, inp: Say) -> Step:
    target, text = inp.words[0], inp.words[1].removeprefix(":")
    if target == CHANNEL and channel.members:
        others = told(channel.members - {inp.client}, inp.client, "PRIVMSG", CHANNEL, text)
        yield goto(channel, *others, req=IrcRule.RFC2812_3_3_1_CHANNEL)
    elif target in CLIENTS:
        yield goto(channel, Told(target, inp.client, "PRIVMSG", (target, text)), req=IrcRule.RFC2812_3_3_1_USER)
    else:
        yield from refused(channel, *(number(inp, error, target) for error in ("401", "403", "404")))


def _topic(channel: Channel, inp: Say) -> Step:
    if errors := outside(channel, inp):
        yield from refused(channel, *errors)
    elif len(inp.words) == 1:
        rule = IrcRule.RFC2812_3_2_4_VIEW if channel.topic else IrcRule.RFC2812_5_1_331
        for ways in topics(channel, inp):
            yield goto(channel, *(ways or (number(inp, "331", CHANNEL),)), req=rule)
    elif "t" in channel.modes and inp.client not in channel.operators:
        yield from refused(channel, number(inp, "482", CHANNEL))
    else:
        topic = inp.words[1].removeprefix(":")
        if topic == channel.topic:
            # nothing changes: the client may get an answer
            yield from (goto(channel), goto(channel, Told(inp.client, inp.client, "TOPIC", (CHANNEL, topic))))
        changes = everybody(channel, inp.client, "TOPIC", CHANNEL, topic)
        rule = IrcRule.RFC2812_3_2_4_CHANGE if topic else IrcRule.RFC2812_3_2_4_REMOVE
        yield goto(replace(channel, topic=topic), *changes, req=rule)


def _mode(channel: Channel, inp: Say) -> Step:
    if inp.words[0] != CHANNEL or not channel.members:
        yield from refused(channel, *(number(inp, error, inp.words[0]) for error in ("401", "403")))
    elif inp.client not in channel.operators:
        errors = ("482",) if inp.client in channel.members else ("442", "482")
        yield from refused(channel, *(number(inp, error, CHANNEL) for error in errors))
    elif inp.words[2:] and inp.words[2] not in channel.members:
        yield from refused(channel, number(inp, "441", inp.words[2], CHANNEL))
    else:
        then = _set(channel, *inp.words[1:])
        if then == channel:
            yield goto(channel)
        modes = everybody(channel, inp.client, "MODE", *inp.words)
        yield goto(then, *modes, req=IrcRule.RFC2812_3_2_1_INFORMED)


def _set(channel: Channel, mode: str, who: str = "") -> Channel:
    adds, name = mode[0] == "+", mode[1]
    if name == "o":
        return replace(channel, operators=channel.operators | {who} if adds else channel.operators - {who})
    return replace(channel, modes=channel.modes | {name} if adds else channel.modes - {name})


def _kick(channel: Channel, inp: Say) -> Step:
    whom = inp.words[1]
    if errors := outside(channel, inp):
        yield from refused(channel, *errors)
    elif wrong := [
        *([number(inp, "482", CHANNEL)] if inp.client not in channel.operators else []),
        *([number(inp, "441", whom, CHANNEL)] if whom not in channel.members else []),
    ]:
        yield from refused(channel, *wrong)
    else:
        kicks = everybody(channel, inp.client, "KICK", CHANNEL, whom)
        yield goto(channel.without(whom), *kicks, req=IrcRule.RFC2812_3_2_8_KICK)


def _invite(channel: Channel, inp: Say, *, strict: bool) -> Step:
    whom, where = inp.words
    if where == CHANNEL and channel.members and (wrong := _uninvitable(channel, inp, whom)):
        yield from (goto(channel, error, req=rule) for error, rule in wrong)
        return
    note = Told(whom, inp.client, "INVITE", (whom, where))
    # the RFC puts the channel first, with the server as sender; many servers differ, and by default they may
    answers = [number(inp, "341", where, whom)]
    if not strict:
        answers += [number(inp, "341", whom, where), Told(inp.client, whom, "341", (whom, where))]
    remembered = channel.invited | {whom} if where == CHANNEL and channel.members else channel.invited
    # while everybody may join, the server need not remember an invitation
    ways = (remembered,) if "i" in channel.modes else dict.fromkeys((remembered, channel.invited))
    existing = where == CHANNEL and channel.members
    usual = IrcRule.RFC2812_3_2_7_NOTIFIED if existing else IrcRule.RFC2812_3_2_7_ANY
    for invited, answer in product(ways, answers):
        rule = IrcRule.RFC2812_5_1_341 if existing and answer is answers[0] else usual
        yield goto(replace(channel, invited=invited), AnyOrder(answer, note), req=rule)


def _uninvitable(channel: Channel, inp: Say, whom: str) -> list[tuple[Told, IrcRule]]:
    """Return the possible errors, each with its sentence; the server answers with one."""
    wrong = list[tuple[Told, IrcRule]]()
    if inp.client not in channel.members:
        wrong.append((number(inp, "442", CHANNEL), IrcRule.RFC2812_3_2_7_MEMBERS))
    if whom in channel.members:
        wrong.append((number(inp, "443", whom, CHANNEL), IrcRule.RFC2812_5_2_443))
    if "i" in channel.modes and inp.client not in channel.operators:
        wrong.append((number(inp, "482", CHANNEL), IrcRule.RFC2812_3_2_7_OPERATORS))
    return wrong


def _names(channel: Channel, inp: Say) -> Step:
    rule = IrcRule.RFC2812_3_2_5_NAMES if channel.members else IrcRule.RFC2812_3_2_5_BAD
    yield goto(channel, *listed(channel, inp), req=rule)


def _nick(channel: Channel, inp: Say) -> Step:
    new = inp.words[0]
    yield from refused(channel, number(inp, "433" if new in CLIENTS else "432", new))


_COMMANDS: Final[dict[str, Command]] = {
    "JOIN": _join,
    "PART": _part,
    "PRIVMSG": _say,
    "TOPIC": _topic,
    "MODE": _mode,
    "KICK": _kick,
    "INVITE": _names,  # has an argument more: `_step` calls it
    "NAMES": _names,
    "NICK": _nick,
}
_NEEDED: Final = {"JOIN": 1, "PART": 1, "TOPIC": 1, "KICK": 2, "INVITE": 2, "NICK": 1}
"""How many words a command needs, where the model also tries fewer."""
