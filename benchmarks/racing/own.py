"""The bench of the servers of lines: a model for each kind of race, and two to four clients."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from otf.adapter import Bench, Connect, Line, lines
from otf.adapters.tcp import open_tcp
from otf.codec.by_port import At, codecs
from otf.framing import lines as by_line
from otf.models.serving import HOST, started
from otf.spec import Spec, Transition, goto

SERVER: Final = str(Path(__file__).with_name("server.py"))
NAMES: Final = ("ann", "bob", "cid", "dot")
MOST: Final = 3


@dataclass(frozen=True)
class Say:
    """A line of a client."""

    client: str
    word: str
    number: int = 0


@dataclass(frozen=True)
class Told:
    """An answer."""

    text: str


def lost_update(value: int, inp: Say) -> tuple[int, str]:
    """A sum."""
    return (value + inp.number, "ok") if inp.word == "add" else (value, str(value))


def double_spend(value: int, inp: Say) -> tuple[int, str]:
    """A purse."""
    if inp.word == "fill":
        return MOST, "ok"
    return (value - 1, "ok") if value else (value, "refused")


def stale_read(value: int, inp: Say) -> tuple[int, str]:
    """A register."""
    return (inp.number, "ok") if inp.word == "put" else (value, str(value))


def check_then_act(holder: str, inp: Say) -> tuple[str, str]:
    """A lock."""
    if inp.word == "take":
        return (holder, "busy") if holder else (inp.client, "ok")
    return ("", "ok") if holder == inp.client else (holder, "busy")


def id_reuse(value: int, inp: Say) -> tuple[int, str]:
    """Numbers, each given out once."""
    return (0, "ok") if inp.word == "reset" else (value + 1, str(value))


class Kind:
    """A kind of race: its model, its initial state, its words with their numbers."""

    def __init__(self, model: Callable[[Any, Say], tuple[Any, str]], initial: object, **words: tuple[int, ...]) -> None:
        self.model, self.initial, self.words = model, initial, words


KINDS: Final = {
    "lost_update": Kind(lost_update, 0, add=(1, 2), get=(0,)),
    "double_spend": Kind(double_spend, 0, pay=(0,), fill=(0,)),
    "stale_read": Kind(stale_read, 0, put=(1, 2, 3), get=(0,)),
    "check_then_act": Kind(check_then_act, "", take=(0,), give=(0,)),
    "id_reuse": Kind(id_reuse, 0, new=(0,), reset=(0,)),
}


def bench(*, kind: str = "lost_update", window: float = 0.0, clients: int = 2, library: str = "socketserver") -> Bench:
    """Return the bench of a server with a race in this window of seconds; 0: without."""
    chosen, names = KINDS[kind], NAMES[:clients]
    one = lines({Say: "{client} {word} {number}", Told: "{text}"})

    def step(state: Any, inp: At) -> Iterator[Transition[Any]]:
        after, text = chosen.model(state, inp.message)
        yield goto(after, At(inp.port, Told(text)))

    said = [At(who, Say(who, word, number)) for who in names for word in chosen.words for number in chosen.words[word]]
    return Bench.on_ports(
        Spec(step, chosen.initial, said, name=kind),
        codecs(dict.fromkeys(names, one)),
        connect=_connect(kind, window, names, library),
        outputs=names,
        latency=0.02,
        busy=0.02,
    )


def _connect(kind: str, window: float, names: tuple[str, ...], library: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            _, port = await started(stack, [sys.executable, "-I", "-S", SERVER, kind, str(window), library])
            yield {each: await stack.enter_async_context(open_tcp((HOST, port), by_line())) for each in names}

    return connect
