"""Real servers for the benchmark `fresh`: memcached with its shipped bench, redis and mosquitto with small models."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeAlias

from benchmarks.fresh_client import Peer, measured, show
from benchmarks.fresh_messages import Answer, Held, LineCodec, Request
from otf.adapter import Bench, Line
from otf.adapters.tcp import open_tcp
from otf.framing import Framing, lines
from otf.framing import measured as sized
from otf.models import memcached
from otf.models.serving import HOST, found, free_port, until_told
from otf.spec import AnyOrder, Spec, Transition, goto

Figures: TypeAlias = dict[str, Any]
SIZES: Final = (10, 250, 10_000)
CRLF: Final = b"\r\n"


@contextmanager
def running(name: str, *arguments: str, conf: str = "") -> Generator[int, None, None]:
    """Start a server at a free port; the value is the port once it is open.

    PORT in its arguments and in the text `conf` is the port, CONF the file with that text.
    """
    port, program = str(free_port(socket.SOCK_STREAM)), found(name)
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conf"
        file.write_text(conf.replace("PORT", port), encoding="utf-8")
        argv = [program, *(each.replace("PORT", port).replace("CONF", str(file)) for each in arguments)]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:  # noqa: S603 -- found by its name
            try:
                _wait_for(int(port))
                yield int(port)
            finally:
                child.kill()


def _wait_for(port: int) -> None:
    over = monotonic() + 10
    while True:
        try:
            socket.create_connection((HOST, port)).close()
        except ConnectionRefusedError:
            assert monotonic() < over, "the server does not listen"
            sleep(0.01)
        else:
            return


def memcached_figures(steps: int) -> Figures:
    """Return the rows of memcached, whose quiescence is proven by pings: three messages a step."""
    figures: Figures = {}
    for row, keys, wide in (("inputs_40", 1, False), ("inputs_250", 3, True)):
        with running("memcached", "-l", HOST, "-p", "PORT", "-U", "0", "-u", "root", "-m", "8", "-t", "1") as port:
            peer = Peer({"a": port, "b": port}, whole=_whole)
            figures[row] = measured(memcached.bench(keys=keys, wide=wide), steps, peer)
        show(f"memcached {row}", figures[row])
    return figures


def _whole(got: bytes) -> bool:
    return got.endswith(b"END\r\n" if got.startswith(b"VALUE") else CRLF)


# redis: its commands as lines; a set of two members that change, and a counter that only grows


def redis(state: Held, inp: Request) -> list[Transition[Held]]:
    """Return the answer of redis: the members 0 and 1 are added and removed, the others are never there."""
    name, _, number = inp.text.split()
    if name == "INCRBY":
        total = state.numbers[0] + int(number)
        return [goto(Held((total,)), Answer(f":{total}"))]
    at = int(number)
    there = at < len(state.numbers) and state.numbers[at]
    if name == "SISMEMBER":
        return state.said(f":{there:d}")
    changed = bool(there) == (name == "SREM")
    numbers = (*state.numbers[:at], int(name == "SADD"), *state.numbers[at + 1 :])
    return state.said(f":{changed:d}", numbers)


def redis_bench(port: int, size: int, *, recurs: bool) -> Bench:
    """Return the bench of a running redis with so many inputs; its data is deleted before each path."""
    changes = [Request(f"{name} s {member}") for name in ("SADD", "SREM") for member in (0, 1)]
    looks = [Request(f"SISMEMBER s {member}") for member in range(size - len(changes))]
    given = changes + looks if recurs else [Request(f"INCRBY n {number}") for number in range(1, size + 1)]
    spec = Spec(redis, Held((0, 0) if recurs else (0,)), given, name="redis")
    connect = _connected(port, lines(CRLF), b"FLUSHALL")
    return Bench.on_ports(
        spec, LineCodec(), connect=connect, outputs=("line",), quiescence=0.02, silence_key=lambda _, inp: inp.text[:4]
    )


def _connected(port: int, framing: Framing, greeting: bytes) -> Callable[[], Any]:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with open_tcp((HOST, port), framing) as line:
            await line.send(greeting)
            await until_told(line, bool)
            yield {"line": line}

    return connect


def redis_figures(steps: int) -> Figures:
    """Return the rows of redis."""
    with running("redis-server", "--bind", HOST, "--port", "PORT", "--save", "") as port:
        peer = Peer({"line": port}, end=CRLF, greeting=b"FLUSHALL\r\n")
        return _rows("redis", steps, partial(redis_bench, port), peer)


# mosquitto: MQTT 3.1.1, a client that subscribes to two topics and publishes


class MqttCodec(LineCodec):
    """Packets of MQTT 3.1.1: ping, subscribe, unsubscribe, and publish at QoS 0 (`say`) and 1; `number` is the id."""

    def encode(self, value: object) -> bytes:
        """Return the packet of a request."""
        assert isinstance(value, Request)
        name, *words = value.text.split()
        if name == "ping":
            return b"\xc0\x00"
        topic, number = _text(words[0]), int(words[1]).to_bytes(2, "big")
        body = {
            "say": topic + b"x",
            "publish": topic + number + b"x",
            "subscribe": number + topic + b"\x00",
            "unsubscribe": number + topic,
        }[name]
        return bytes([MQTT[name], len(body)]) + body

    def decode(self, port: str, data: bytes) -> object:
        """Return the request that a packet acknowledges, or the message."""
        del port
        if data[0] == MQTT["say"]:
            return Answer(f"message {data[4:-1].decode()}")
        name = ACKNOWLEDGED[data[0]]
        return Answer(name if name == "ping" else f"{name} {int.from_bytes(data[2:4], 'big')}")


MQTT: Final = {"say": 0x30, "publish": 0x32, "subscribe": 0x82, "unsubscribe": 0xA2}
ACKNOWLEDGED: Final = {0xD0: "ping", 0x40: "publish", 0x90: "subscribe", 0xB0: "unsubscribe"}
HELLO: Final = b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00"
"""The packet that begins a clean session, without a name and without an end for lack of packets."""


def _text(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


def _packet(begun: bytes) -> int | None:
    """Return the size of a packet; none here has 128 bytes or more."""
    return 2 + begun[1] if len(begun) > 1 else None


def mosquitto(state: Held, inp: Request) -> list[Transition[Held]]:
    """Return the answers of mosquitto: what is published comes back where the client subscribed to its topic."""
    name, *words = inp.text.split()
    topic, number = words or ("", "")
    at = ("t0", "t1").index(topic) if topic in {"t0", "t1"} else -1
    done = Answer(f"{name} {number}" if words else name)
    serial = state.serial + (state.serial >= 0)
    if name in {"subscribe", "unsubscribe"}:
        numbers = (*state.numbers[:at], int(name == "subscribe"), *state.numbers[at + 1 :])
        return [goto(Held(numbers, serial), done)]
    then = Held(state.numbers, serial)
    message = Answer(f"message {topic}") if at >= 0 and state.numbers[at] else None
    if name == "say":
        return [goto(then, message)] if message else [goto(then)]
    return [goto(then, AnyOrder(done, message))] if message else [goto(then, done)]


class Fresh(Sequence[Request]):
    """Publications to so many topics, each with the next id: after 65,535 the first comes again."""

    def __init__(self, size: int, serial: int) -> None:
        self._size, self._number = size, serial % 65_535 + 1

    def __len__(self) -> int:
        """Return how many topics there are."""
        return self._size

    def __getitem__(self, at: Any) -> Any:
        """Return the publication to a topic. Raises IndexError after the last."""
        if not 0 <= at < self._size:
            raise IndexError(at)
        return Request(f"publish t{at} {self._number}")


def mosquitto_bench(port: int, size: int, *, recurs: bool) -> Bench:
    """Return the bench of a running mosquitto with so many inputs, each path a session of its own."""
    both = [Request(f"{name} {topic} 1") for name in ("subscribe", "unsubscribe", "say") for topic in ("t0", "t1")]
    some = [Request("ping"), *both, *(Request(f"publish t{topic} 1") for topic in range(size - len(both) - 1))]

    def fresh(state: Held) -> Fresh:
        return Fresh(size, state.serial)

    given: Any = some if recurs else fresh
    return Bench.on_ports(
        Spec(mosquitto, Held((0, 0), -1 if recurs else 0), given, name="mosquitto"),
        MqttCodec(),
        connect=_connected(port, sized(_packet), HELLO),
        outputs=("line",),
        quiescence=0.02,
        # whether a message comes back depends on the subscriptions, everything else on the request alone
        silence_key=lambda state, inp: (inp.text.split()[0], inp.text.split()[1:2] in (["t0"], ["t1"]), state.numbers),
    )


def mosquitto_figures(steps: int) -> Figures:
    """Return the rows of mosquitto."""
    # its own default delays the second of two packets until the first is acknowledged
    conf = f"listener PORT {HOST}\nallow_anonymous true\nset_tcp_nodelay true\nuser root\n"
    with running("mosquitto", "-c", "CONF", conf=conf) as port:
        return _rows("mosquitto", steps, partial(mosquitto_bench, port), Peer({"line": port}, greeting=HELLO))


def _rows(name: str, steps: int, bench: Callable[..., Bench], peer: Peer) -> Figures:
    """Return the rows with states that recur, and with states that never do."""
    figures: Figures = {}
    for recurs in (True, False):
        for size in SIZES:
            row = f"{'inputs' if recurs else 'states_never_recur'}_{size}"
            figures[row] = measured(bench(size, recurs=recurs), steps, peer)
            show(f"{name} {row}", figures[row])
    return figures


_FIGURES: Final = {"memcached": memcached_figures, "redis": redis_figures, "mosquitto": mosquitto_figures}
_PROGRAMS: Final = {"redis": "redis-server"}
SERVERS: Final = {name: figures for name, figures in _FIGURES.items() if found(_PROGRAMS.get(name, name))}
"""The servers of this machine, each with the function that returns its rows."""
