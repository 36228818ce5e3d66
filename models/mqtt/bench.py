"""The bench: a fresh broker for every path, and three connections to it."""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.adapter.child import words
from otf.adapter.socket.address import Address
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.codec.mqtt import MqttCodec, MqttConnect, MqttVersion, packet_size
from otf.framing import measured
from otf.models.mqtt.inputs import ALSO
from otf.models.mqtt.messages import CLIENTS, MqttClientsCodec
from otf.models.mqtt.requirements import requirements_of
from otf.models.mqtt.spec import mqtt
from otf.models.serving import (
    GRACE,
    HOST,
    READY,
    chosen,
    expected,
    free_port,
    known_issue,
    program,
    started,
    until_answered,
)
from otf.spec.transition import requirements

MOSQUITTO: Final = "mosquitto"
KNOWN: Final = {
    "flags": known_issue(
        "mosquitto 2.0.11 answers a PINGREQ with wrong flags",
        "pingreq with wrong flags",
        req=("MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-2.1.3-1"),
    ),
    "identifier": known_issue(
        "mosquitto 2.0.11 takes a message with a subscription identifier",
        "publish with a subscription identifier",
        req="MQTT-3.3.4-6",
    ),
    "options": known_issue(
        "mosquitto 2.0.11 keeps No Local and Retain As Published of the subscription that another one replaces",
        "MqttPublish(",
        req="MQTT-3.8.4-3",
    ),
    "overlap": known_issue(
        "mosquitto 2.0.11 sends a message with the QoS of one of several subscriptions, not with the highest",
        "MqttPublish(",
        req=("MQTT-3.3.5-1", "MQTT-3.3.4-2"),
    ),
    "second": known_issue(
        "mosquitto 2.0.11 publishes no will of a client that sends a second CONNECT, and may end its session",
        req="MQTT-3.1.2-8",
    ),
    "share": known_issue(
        "mosquitto 2.0.11 takes shares without a name or a filter, or with No Local, and sends them retained messages",
        "$share/",
        req=("MQTT-3.8.3-4", "MQTT-4.8.2-1", "MQTT-4.8.2-2"),
    ),
}
"""The known issues of mosquitto that each of `ALSO` brings to light."""
VERSIONS: Final[dict[str, MqttVersion]] = {"3.1.1": 4, "5": 5}


@trace_may_set(version=VERSIONS, also=ALSO)
def bench(*, version: Literal["3.1.1", "5"] = "3.1.1", server: str = MOSQUITTO, also: str = "") -> Bench:
    """Return the bench of an MQTT broker: mosquitto, or a command line with {host} and {port} in it.

    `version` is that of the protocol, 3.1.1 or 5; `also` is one of `ALSO`: such inputs are tried as well.

    >>> bench(version="5").name
    'mqtt'
    """
    chosen(also, ALSO)
    known = expected(KNOWN, also) if server == MOSQUITTO else ()
    return _bench(VERSIONS[version], _started(server), also, [_of(VERSIONS[version], each) for each in known])


def served_by(argv: Sequence[str], version: Literal["3.1.1", "5"] = "3.1.1") -> Bench:
    """Return the bench of a server that prints the number of its port, on a line; a fresh one for each path.

    >>> served_by(["my-broker"]).name
    'mqtt'
    """

    async def serve(stack: AsyncExitStack) -> Address:
        return HOST, (await started(stack, argv))[1]

    return _bench(VERSIONS[version], serve)


"""Seconds that a server may take to start."""


def _of(version: MqttVersion, issue: KnownIssue) -> KnownIssue:
    """Return a known issue with those of its statements that a version has."""
    return replace(issue, req=tuple(each for each in requirements(issue.req) if each in requirements_of(version)))


_Serving = Callable[[AsyncExitStack], Awaitable[Address]]


def _bench(version: MqttVersion, serve: _Serving, also: str = "", known: Iterable[KnownIssue] = ()) -> Bench:
    return Bench.on_ports(
        name="mqtt",
        known_issues=tuple(known),
        spec=mqtt(version, also),
        codec=MqttClientsCodec(version),
        connect=_connect(serve),
        outputs=CLIENTS,
        inputs="uioco",
        # brokers write to several clients from loops of their own
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
        probe = partial(open_tcp, address, measured(packet_size))
        await until_answered(probe, MqttCodec().encode(MqttConnect(2, 0, "otfReady")), process, READY)
        return address

    return serve


def _command(server: str, port: int) -> list[str]:
    line = server
    if server == MOSQUITTO:
        # without a file it listens on the loopback interface only, and asks for no user
        line = f"{shlex.quote(program(MOSQUITTO, MOSQUITTO))} -p {{port}}"
    return words(line.replace("{host}", HOST).replace("{port}", str(port)))
