"""The conference entity as a function of its state, with the bytes on its ports: 27 more faults."""

from __future__ import annotations

from functools import partial
from typing import Final, TypeAlias

from otf.core import Model, Oracle, Routes
from otf.models.conference import Sizes, conference
from otf.models.conference.codec import USER, ConferenceCodec, cpe_port
from otf.models.conference.entity import FAULTS, Entity
from otf.spec import total

CODEC: Final = ConferenceCodec(1, 3)
OTHERS: Final = [2, 3]

Chat: TypeAlias = tuple[bool, str, str, tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]
START: Final[Chat] = (False, "", "", (), ())
SPEC: Final = total(conference(Sizes()))


def react(fault: str, chat: Chat, inp: object) -> tuple[Chat, tuple[object, ...]]:
    """Return the entity's state after an input, and its messages."""
    entity = Entity(1, OTHERS, fault)
    entity.joined, entity.nick, entity.conf = chat[:3]
    entity.members, entity.first_nicks = dict(chat[3]), dict(chat[4])
    data = CODEC.encode(inp)
    effects = entity.user(data.decode()) if CODEC.port(inp) == USER else entity.datagram(data)
    outputs = [
        CODEC.decode(USER, each.encode()) if isinstance(each, str) else CODEC.decode(cpe_port(each[0]), each[1])
        for each in effects
    ]
    members, first = (tuple(each.items()) for each in (entity.members, entity.first_nicks))
    return (entity.joined, entity.nick, entity.conf, members, first), tuple(outputs)


def oracle() -> Oracle:
    """Return the oracle of the bench."""
    return Oracle(Model(SPEC, Routes(CODEC.ports, CODEC.port)))


REACTS: Final = {fault: partial(react, fault) for fault in FAULTS}
