"""A memcached server as a function; after protocol.txt of the Debian package.

The server chooses cas ids, which only `gets` reports. A number that `decr` makes shorter may keep its length, with
trailing spaces. "Unique" means that ids never repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final, TypeAlias

from otf.models.memcached.inputs import WAIT, Choice, inputs
from otf.models.memcached.messages import Command, Reply, Value
from otf.models.memcached.state import Item, State
from otf.spec import Accept, Elapse, Spec, Transition, Where, goto, on

WRAP: Final = 2**64
"""Numbers have 64 bits."""

Yields: TypeAlias = Iterator[Transition[State] | Accept]
Learning: TypeAlias = Callable[[tuple[Reply, ...]], list[State]]


def memcached(choice: Choice) -> Spec[State, Command | Elapse]:
    """Return the spec of a memcached server; `choice` says which keys, data and flags the clients use.

    >>> memcached(Choice(("k",))).name
    'memcached'
    """
    return Spec(partial(_step, choice.also), State(), partial(inputs, choice), name="memcached")


def _step(also: str, state: State, inp: Command | Elapse) -> Yields:
    if isinstance(inp, Elapse):
        if inp.seconds >= WAIT.seconds:
            yield goto(state.lasting())
        return
    found = [list(_carried_out(also, now, inp)) for now in state.perhaps(inp.words)]
    # what is open while the item exists remains open
    yield from chain.from_iterable(found if all(found) else [])


def _carried_out(also: str, state: State, inp: Command) -> Yields:
    match inp.name, inp.words:
        case (("get" | "gets"), keys):
            yield from _fetched(state, inp, [str(key) for key in keys])
        case (("incr" | "decr"), (str(key), int(amount))):
            yield from _counted(also, state, inp, key, amount)
        case "delete", (str(key),):
            known = state.item(key) is not None
            yield goto(state.without(key), _line(inp, "DELETED" if known else "NOT_FOUND"))
        case "touch", (str(key), int(seconds)):
            yield from _touched(state, inp, key, seconds)
        case "flush_all", ():
            yield goto(State(), _line(inp, "OK"))
        case "cas", (str(key), int(flags), int(seconds), int(unique)):
            yield from _compared(state, inp, _Storing(key, flags, seconds, inp.data), unique)
        case name, (str(key), int(flags), int(seconds)):
            yield from _stored(state, inp, _Storing(key, flags, seconds, inp.data), name)
        case _:
            yield goto(state, _line(inp, "ERROR"))


@dataclass(frozen=True, slots=True)
class _Storing:
    key: str
    flags: int
    seconds: int
    data: str

    def into(self, state: State) -> State:
        """Return the state with the item; a negative expiration time means that it has already expired."""
        item = Item(self.flags, self.data, expiring=self.seconds > 0)
        return state.without(self.key) if self.seconds < 0 else state.having(self.key, item)


def _stored(state: State, inp: Command, new: _Storing, name: str) -> Yields:
    old = state.item(new.key)
    if name != "set" and (old is None) is not (name == "add"):
        yield goto(state, _line(inp, "NOT_STORED"))
    elif old is not None and name in {"append", "prepend"}:
        data = old.data + new.data if name == "append" else new.data + old.data
        yield goto(state.having(new.key, Item(old.flags, data, expiring=old.expiring)), _line(inp, "STORED"))
    else:
        yield goto(new.into(state), _line(inp, "STORED"))


def _compared(state: State, inp: Command, new: _Storing, unique: int) -> Yields:
    old = state.item(new.key)
    if old is None:
        yield goto(state, _line(inp, "NOT_FOUND"))
    elif old.unique is None:
        # the id was never reported: it may be this one unless it was used before
        yield goto(state, _line(inp, "EXISTS"))
    elif old.unique == unique:
        yield goto(new.into(state), _line(inp, "STORED"))
    else:
        yield goto(state, _line(inp, "EXISTS"))


def _touched(state: State, inp: Command, key: str, seconds: int) -> Yields:
    item = state.item(key)
    if item is None:
        yield goto(state, _line(inp, "NOT_FOUND"))
        return
    touched = replace(item, expiring=seconds > 0)
    then = state.without(key) if seconds < 0 else state.having(key, touched, stored=False)
    yield goto(then, _line(inp, "TOUCHED"))


def _counted(also: str, state: State, inp: Command, key: str, amount: int) -> Yields:
    item = state.item(key)
    if item is None:
        yield goto(state, _line(inp, "NOT_FOUND"))
        return
    number = item.number()
    if number is None and item.data[:1].isdigit() and also != "number":
        return
    if number is None:
        error = Where(partial(_is_error, inp.client), says="a CLIENT_ERROR")
        yield goto(state, on(inp.client, error))
        return
    new = str((number + amount) % WRAP if inp.name == "incr" else max(0, number - amount))
    for data in dict.fromkeys((new, new.ljust(len(item.data)))):
        yield goto(state.having(key, Item(item.flags, data, expiring=item.expiring)), _line(inp, new))


def _fetched(state: State, inp: Command, keys: list[str]) -> Yields:
    held = [(key, item) for key in keys if (item := state.item(key)) is not None]
    if inp.name == "gets" and any(item.unique is None for _, item in held):
        yield Accept(_learning(state, inp.client, held), inp.client, says="the items with their cas ids")
        return
    with_ids = inp.name == "gets"
    values = tuple(Value(key, item.flags, item.data, item.unique if with_ids else None) for key, item in held)
    yield goto(state, Reply(inp.client, "END", values))


def _learning(state: State, client: str, held: list[tuple[str, Item]]) -> Learning:
    expected = tuple(Value(key, item.flags, item.data) for key, item in held)

    def then(seen: tuple[Reply, ...]) -> list[State]:
        (reply,) = seen
        plain = tuple(replace(value, unique=None) for value in reply.values)
        if reply.client != client or reply.line != "END" or plain != expected:
            return []
        learned = state
        for (key, item), value in zip(held, reply.values, strict=True):
            if value.unique is None or item.unique not in {None, value.unique} or value.unique in item.used:
                return []
            learned = learned.having(key, replace(item, unique=value.unique), stored=False)
        return [learned]

    return then


def _is_error(client: str, output: object) -> bool:
    return isinstance(output, Reply) and output.client == client and output.line.startswith("CLIENT_ERROR ")


def _line(inp: Command, line: str) -> Reply:
    return Reply(inp.client, line)
