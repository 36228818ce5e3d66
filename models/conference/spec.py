"""The conference protocol entity as a function from a state and an input to what may happen.

Source: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3.2 and figure 8.1. Figure 8.2 of the
paper answers an AnswerPDU with another one; figure 8.1, which this follows, does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from otf.models.conference.messages import (
    AnswerPDUin,
    AnswerPDUout,
    Data,
    DataPDUin,
    DataPDUout,
    Datareq,
    Input,
    Join,
    JoinPDUin,
    JoinPDUout,
    Leave,
    LeavePDUin,
    LeavePDUout,
)
from otf.spec import AnyOrder, Spec, Transition, goto

ME = 1

Members: TypeAlias = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """The entity's state while it is in no conference.

    >>> Idle() == Idle()
    True
    """


@dataclass(frozen=True, slots=True)
class Conf:
    """The entity's state while it is in a conference.

    A `Conf` contains the name of the conference (`conf`) and the entity's nickname (`nick`). `members` lists the id and
    nickname of each other entity in the conference.

    >>> Conf("a", "ann").members
    ()
    """

    conf: str
    nick: str
    members: Members = ()


State: TypeAlias = Idle | Conf


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many `entities`, `nicknames`, `conferences` and `messages` the model of the conference protocol uses.

    With fewer than 3 entities, or fewer than 2 nicknames, conferences or messages, the tests miss some of the 27
    defects in the reference entity.

    >>> Sizes(nicknames=1).confs
    ['c1', 'c2']
    """

    entities: int = 3
    nicknames: int = 2
    conferences: int = 2
    messages: int = 2

    @property
    def others(self) -> range:
        """Return the ids of all entities except the entity under test."""
        return range(ME + 1, self.entities + 1)

    @property
    def nicks(self) -> list[str]:
        """Return the nicknames."""
        return [f"n{number}" for number in range(1, self.nicknames + 1)]

    @property
    def confs(self) -> list[str]:
        """Return the conferences' names."""
        return [f"c{number}" for number in range(1, self.conferences + 1)]

    @property
    def texts(self) -> list[str]:
        """Return the messages."""
        return [f"m{number}" for number in range(1, self.messages + 1)]


def conference(sizes: Sizes) -> Spec[State, Input]:
    """Return the spec of the entity with id 1 of the conference protocol; `sizes` limits how many inputs there are.

    >>> conference(Sizes()).initial
    Idle()
    """

    def step(state: State, inp: Input) -> Iterable[Transition[State]]:
        match state:
            case Idle():
                return _idle(sizes, inp)
            case Conf():
                return _user(state, inp) if isinstance(inp, (Join, Datareq, Leave)) else _network(state, inp)

    return Spec(step, Idle(), list(inputs(sizes)), name="conference")


def inputs(sizes: Sizes) -> Iterator[Input]:
    """Yield all inputs of these sizes; PDUs have the ids of all entities, including the tested one."""
    # alone there is no other entity to send a PDU
    cpes = range(ME, sizes.entities + 1) if sizes.entities > 1 else range(0)
    yield from (Join(nick, conf) for nick, conf in product(sizes.nicks, sizes.confs))
    yield from (Datareq(text) for text in sizes.texts)
    yield Leave()
    yield from (JoinPDUin(*parts) for parts in product(cpes, sizes.nicks, sizes.confs))
    yield from (AnswerPDUin(*parts) for parts in product(cpes, sizes.nicks, sizes.confs))
    yield from (DataPDUin(*parts) for parts in product(cpes, sizes.texts))
    yield from (LeavePDUin(cpe) for cpe in cpes)


def _idle(sizes: Sizes, inp: Input) -> Iterator[Transition[State]]:
    if isinstance(inp, Join):
        asked = [JoinPDUout(cpe, inp.nick, inp.conf) for cpe in sizes.others]
        yield goto(Conf(inp.conf, inp.nick), AnyOrder(*asked))


def _user(state: Conf, inp: Join | Datareq | Leave) -> Iterator[Transition[State]]:
    match inp:
        case Leave():
            yield goto(Idle(), AnyOrder(*[LeavePDUout(cpe) for cpe, _ in state.members]))
        case Datareq(text) if state.members:
            yield goto(state, AnyOrder(*[DataPDUout(cpe, text) for cpe, _ in state.members]))
        case _:
            return


def _network(state: Conf, inp: Input) -> Iterator[Transition[State]]:
    member = dict(state.members)
    match inp:
        case JoinPDUin(cpe, nick, conf) if conf == state.conf and _stranger(cpe, member):
            yield goto(_with(state, cpe, nick), AnswerPDUout(cpe, state.nick, state.conf))
        case AnswerPDUin(cpe, nick, conf) if conf == state.conf and _stranger(cpe, member):
            yield goto(_with(state, cpe, nick))
        case LeavePDUin(cpe) if cpe in member:
            yield goto(Conf(state.conf, state.nick, tuple(one for one in state.members if one[0] != cpe)))
        case DataPDUin(cpe, text) if cpe in member:
            yield goto(state, Data(member[cpe], text))
        case DataPDUin(cpe, text) if _stranger(cpe, member):
            # its answer to our join was lost: asking again makes it a member
            yield goto(state, JoinPDUout(cpe, state.nick, state.conf))
        case _:
            return


def _stranger(cpe: int, member: dict[int, str]) -> bool:
    return cpe != ME and cpe not in member


def _with(state: Conf, cpe: int, nick: str) -> Conf:
    return Conf(state.conf, state.nick, tuple(sorted((*state.members, (cpe, nick)))))
