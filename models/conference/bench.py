"""The bench: a fresh entity on fresh ports for every path, its user on pipes, the other entities on UDP sockets."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.udp import UdpLine, open_udp
from otf.errors import UsageError
from otf.models.conference.codec import USER, ConferenceCodec, cpe_port
from otf.models.conference.entity import FAULTS
from otf.models.conference.spec import ME, Sizes, conference

HOST: Final = "127.0.0.1"
ENTITIES: Final = range(2, 10)  # the id is one byte on the wire, and one socket each is enough
FEW: Final = range(1, 21)  # every combination of names counts: exploring a larger model would be slow
REFERENCE: Final = Path(__file__).with_name("entity.py")


@trace_may_set(entities=ENTITIES, nicknames=FEW, conferences=FEW, messages=FEW, fault=("none", *FAULTS))
def bench(  # noqa: PLR0913 -- each is a parameter that `--set` changes
    *,
    entities: int = 3,
    nicknames: int = 2,
    conferences: int = 2,
    messages: int = 2,
    fault: str = "none",
    entity: str = "",
    ready_timeout: float = 5.0,
) -> Bench:
    """Return the bench that tests one entity of the conference protocol, the entity with the id 1.

    There are 2 to 9 `entities`, the tested one among them, and 1 to 20 each of `nicknames`, `conferences` and
    `messages` (different texts). `entity` is the command line of the program to test (default: an example program, the
    reference entity). The bench adds `--id`, `--listen` and `--peer` to this command line. `fault` names one of the 27
    defects that you can switch on in the example program. The program must print the line `ready` within
    `ready_timeout` seconds. `bench` raises UsageError for an invalid number or an unknown fault.

    >>> bench().name
    'conference'
    """
    sizes = Sizes(entities, nicknames, conferences, messages)
    _check(sizes, fault, entity)
    codec = ConferenceCodec(ME, entities)
    return Bench.on_ports(
        name="conference",
        spec=conference(sizes),
        codec=codec,
        outputs=codec.ports,
        connect=_connect(_command(entity, fault), sizes, ready_timeout),
        inputs="mixed",
        quiescence=0.020,
        latency=0.002,
        busy=0.002,
        mutants=FAULTS,
    )


def _check(sizes: Sizes, fault: str, entity: str) -> None:
    if sizes.entities not in ENTITIES:
        message = f"entities={sizes.entities}: there must be 2 to 9, the tested one included"
        raise UsageError(message)
    for name in ("nicknames", "conferences", "messages"):
        if getattr(sizes, name) not in FEW:
            message = f"{name}={getattr(sizes, name)}: there may be 1 to {FEW[-1]}"
            raise UsageError(message)
    if fault != "none" and entity:
        message = "fault= is for the reference entity only; leave out either fault= or entity="
        raise UsageError(message)
    if fault != "none" and fault not in FAULTS:
        near = get_close_matches(fault, FAULTS, n=1)
        meant = f"did you mean {near[0]}?" if near else f"it has {', '.join(FAULTS)}, or none"
        message = f"fault={fault}: the reference entity has no such fault; {meant}"
        raise UsageError(message)


def _command(entity: str, fault: str) -> list[str]:
    if entity:
        return words(entity)
    # -I -S: no file beside the entity shadows the standard library, and it starts in half the time
    faulty = [] if fault == "none" else ["--fault", fault]
    return [sys.executable, "-I", "-S", str(REFERENCE), *faulty]


def _connect(command: list[str], sizes: Sizes, ready_timeout: float) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            peers = {cpe: await stack.enter_async_context(open_udp((HOST, 0))) for cpe in sizes.others}
            listen = (HOST, _free_port())
            for peer in peers.values():
                peer.peer = listen
            argv = [*command, *_addresses(listen, peers)]
            user = await stack.enter_async_context(open_process(argv, ready="ready", ready_timeout=ready_timeout))
            yield {USER: user, **{cpe_port(cpe): peer for cpe, peer in peers.items()}}

    return connect


def _free_port() -> int:
    # another program may take it first: then the entity ends with an error, and the bench tries again
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _addresses(listen: tuple[str, int], peers: Mapping[int, UdpLine]) -> list[str]:
    own = ["--id", str(ME), "--listen", f"{listen[0]}:{listen[1]}"]
    others = [("--peer", f"{cpe}={peer.address[0]}:{peer.address[1]}") for cpe, peer in peers.items()]
    return own + [word for pair in others for word in pair]
