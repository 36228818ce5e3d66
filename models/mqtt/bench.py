"""The bench: a fresh broker for every path, and three connections to it."""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, Literal

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.adapter.child import words
from otf.adapter.socket.connection import Address
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.codec.mqtt import MqttCodec, MqttConnect, MqttVersion, packet_size
from otf.errors import UsageError
from otf.framing import measured
from otf.models.mqtt.groups import ALSO
from otf.models.mqtt.known import AEDES, AEDES_2, ALL, MOSQUITTO, groups_of, issues_of
from otf.models.mqtt.messages import CLIENTS, MqttClientsCodec
from otf.models.mqtt.requirements import requirements_of
from otf.models.mqtt.spec import mqtt
from otf.models.serving import (
    GRACE,
    HOST,
    chosen,
    free_port,
    program,
    started,
    until_answered,
)

_SPOKEN: Final = {AEDES: "3.1.1", AEDES_2: "5"}
VERSIONS: Final[dict[str, MqttVersion]] = {"3.1.1": 4, "5": 5}


@trace_may_set(version=VERSIONS, also=ALSO)
def bench(*, version: Literal["3.1.1", "5"] = "3.1.1", server: str = "mosquitto", also: str = "") -> Bench:
    """Return the bench of an MQTT broker: mosquitto, aedes, aedes2, or your own (a command with {host} and {port}).

    `version` is the version of the MQTT protocol. aedes (1.2.0) speaks version 3.1.1, and aedes2 (2.0.0-beta.1) version
    5. By default, the bench leaves out inputs that the broker is known to handle wrongly. `also` adds one group of the
    inputs left out by default (see `ALSO`); `also="all"` adds every group. `bench` raises UsageError for a version that
    the broker does not speak, and for an unknown group of inputs.

    >>> bench(version="5").name
    'mqtt'
    """
    chosen(also, ALSO)
    if version != _SPOKEN.get(server, version):
        message = f"server={server}, version={version}: the bench tests {server} by version={_SPOKEN[server]} only"
        raise UsageError(message)
    without = tuple(each for each in groups_of(server) if also not in {each, ALL})
    issues = tuple(issues_of(server, VERSIONS[version], also))
    return _bench(VERSIONS[version], _started(server), without, issues)


def served_by(argv: Sequence[str], version: Literal["3.1.1", "5"] = "3.1.1") -> Bench:
    """Return the bench of an MQTT broker that otf starts anew for each path; the broker must print its port on a line.

    >>> served_by(["my-broker"]).name
    'mqtt'
    """

    async def serve(stack: AsyncExitStack) -> Address:
        return HOST, (await started(stack, argv))[1]

    return _bench(VERSIONS[version], serve)


"""Seconds that a server may take to start."""


_Serving = Callable[[AsyncExitStack], Awaitable[Address]]


def _bench(
    version: MqttVersion, serve: _Serving, without: tuple[str, ...] = (), known: tuple[KnownIssue, ...] = ()
) -> Bench:
    return Bench.on_ports(
        name="mqtt",
        known_issues=known,
        spec=mqtt(version, without),
        codec=MqttClientsCodec(version),
        connect=_connect(serve),
        outputs=CLIENTS,
        inputs="uioco",
        # brokers write to several clients from separate loops
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
        requirements=requirements_of(version),
    )


def _connect(serve: _Serving) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = await serve(stack)
            framing = measured(packet_size)
            yield {each: await stack.enter_async_context(open_tcp(address, framing)) for each in CLIENTS}

    return connect


def _started(server: str) -> _Serving:
    async def serve(stack: AsyncExitStack) -> Address:
        address = HOST, free_port(socket.SOCK_STREAM)
        process = await stack.enter_async_context(open_process(_command(server, address[1]), ready=None, grace=GRACE))
        question = MqttCodec().encode(MqttConnect(2, 0, "otfReady"))
        await until_answered(partial(open_tcp, address, measured(packet_size)), question, process)
        return address

    return serve


def _command(server: str, port: int) -> list[str]:
    line = server
    if server == MOSQUITTO:
        # without a file it listens on the loopback interface only, and asks for no user
        line = f"{shlex.quote(program(MOSQUITTO, MOSQUITTO))} -p {{port}}"
    elif server in _AEDES:
        line = f"{shlex.quote(program('node', 'nodejs'))} {shlex.quote(str(_SCRIPT))} {{port}} {_AEDES[server]}"
    return words(line.replace("{host}", HOST).replace("{port}", str(port)))


_SCRIPT: Final = Path(__file__).with_name("aedes.js")
_AEDES: Final = {AEDES: 1, AEDES_2: 2}
"""The major version of the package, by server name."""
