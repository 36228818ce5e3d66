"""The conference protocol entity as a table of transitions, as in figure 8.1; `spec` has it as a function.

Source: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3.2 and figure 8.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from otf.models.conference.messages import (
    AnswerPDUin,
    AnswerPDUout,
    Data,
    DataPDUin,
    DataPDUout,
    Datareq,
    Join,
    JoinPDUin,
    JoinPDUout,
    Leave,
    LeavePDUin,
    LeavePDUout,
)
from otf.models.conference.spec import Conf, Idle, Members, Sizes
from otf.notations import Written, table
from otf.notations.table import TableRow
from otf.spec import AnyOrder


def figure(sizes: Sizes) -> Written:
    """Return the table for these numbers of entities, nicknames, conferences and messages."""
    return table(
        [*_joining(sizes), *(row for conf in _confs(sizes) for row in _inside(sizes, conf))], name="figure 8.1"
    )


def _joining(sizes: Sizes) -> Iterator[TableRow]:
    for nick, conf in product(sizes.nicks, sizes.confs):
        yield (
            Idle(),
            Join(nick, conf),
            [AnyOrder(*[JoinPDUout(cpe, nick, conf) for cpe in sizes.others])],
            Conf(conf, nick),
        )


def _confs(sizes: Sizes) -> Iterator[Conf]:
    """Yield all conferences that the entity may be in: with any other members, each with any nickname."""
    for conf, nick in product(sizes.confs, sizes.nicks):
        for nicks in product([None, *sizes.nicks], repeat=len(sizes.others)):
            members = zip(sizes.others, nicks, strict=True)
            yield Conf(conf, nick, tuple((cpe, each) for cpe, each in members if each is not None))


def _inside(sizes: Sizes, now: Conf) -> Iterator[TableRow]:
    there = dict(now.members)
    yield now, Leave(), [AnyOrder(*map(LeavePDUout, there))], Idle()
    if there:
        yield from (
            (now, Datareq(text), [AnyOrder(*[DataPDUout(cpe, text) for cpe in there])], now) for text in sizes.texts
        )
    for cpe in sizes.others:
        yield from _member(sizes, now, cpe, there[cpe]) if cpe in there else _stranger(sizes, now, cpe)


def _member(sizes: Sizes, now: Conf, cpe: int, nick: str) -> Iterator[TableRow]:
    left: Members = tuple(each for each in now.members if each[0] != cpe)
    yield now, LeavePDUin(cpe), [], Conf(now.conf, now.nick, left)
    yield from ((now, DataPDUin(cpe, text), [Data(nick, text)], now) for text in sizes.texts)


def _stranger(sizes: Sizes, now: Conf, cpe: int) -> Iterator[TableRow]:
    for nick in sizes.nicks:
        more = Conf(now.conf, now.nick, tuple(sorted((*now.members, (cpe, nick)))))
        yield now, JoinPDUin(cpe, nick, now.conf), [AnswerPDUout(cpe, now.nick, now.conf)], more
        yield now, AnswerPDUin(cpe, nick, now.conf), [], more
    yield from ((now, DataPDUin(cpe, text), [JoinPDUout(cpe, now.nick, now.conf)], now) for text in sizes.texts)
