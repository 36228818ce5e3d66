"""The bench that `otf new` writes without a recording: the same small system for each kind of connection."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Final, NamedTuple


class BenchKind(NamedTuple):
    """A kind of connection: its description, its imports, and the code of a bench that uses it."""

    says: str
    real: str
    imports: str
    bench: str
    head: str = ""  # instead of the common one


HEAD: Final = '''"""$name: a lamp with a dimmer, $says.

Replace it piece by piece with your own system.

  otf run $file                      tests the simulated lamp at the end of this file
  otf run $file --set broken=true    the same lamp with a mistake: this is what a failure looks like
  $real
"""

from __future__ import annotations

$imports

# 1. The values: what is sent to the system (inputs) and what comes back (outputs).


@dataclass(frozen=True)
class Up:
    """Make it brighter."""


@dataclass(frozen=True)
class Down:
    """Make it darker."""


@dataclass(frozen=True)
class Ask:
    """Ask for the brightness."""


@dataclass(frozen=True)
class Level:
    """The brightness."""

    number: int


# 2. The model: what may happen on an input in a state. Each transition has the next state and its outputs; several
#    transitions leave a choice to the system. If none is yielded, the input is not specified in the state, and otf
#    does not send it there. `otf step $file` walks through the model by hand.

HIGHEST = 3


def step(level: int, inp: Up | Down | Ask) -> Iterator[Transition[int]]:
    match inp:
        case Up() if level < HIGHEST:
            yield goto(level + 1)  # without an output
        case Down() if level > 0:
            yield goto(level - 1)
        case Ask():
            yield goto(level, Level(level))
        case _:
            return


spec = Spec(step, initial=0)  # the inputs come from the declared type; Spec(..., inputs=[...]) names them
'''

CODEC: Final = """
# 3. The codec: values as bytes. For other formats write a class with `types`, `port`, `encode` and `decode`.

codec = lines({Up: "up", Down: "down", Ask: "ask", Level: "level {number}"})

"""

LAMP: Final = '''

class Lamp:
    """The simulated system. It does not use the model; delete it when you test your own."""

    def __init__(self, broken: bool) -> None:
        self.level = 0
        self.broken = broken

    def take(self, line: bytes) -> bytes | None:
        if line == b"ask":
            return b"level %d" % self.level
        self.level += {b"up": 1, b"down": -1}.get(line, 0)
        if self.broken and self.level == HIGHEST:
            self.level = 0
        return None
'''

OBJECT: Final = """
# 3. The bench: how to make a fresh system for each path. Its arguments are parameters (`--set KEY=VALUE`). A trace may
#    come from a stranger: it may set only the parameters named here, and only to these values.


@trace_may_set(broken=(False, True))
def bench(broken: bool = False) -> Bench:
    return Bench.in_process(spec, lambda: Lamp(broken).take, types=(Level,))


# 4. The system: your own Python object. It takes an input and returns a list of outputs.


class Lamp:
    def __init__(self, broken: bool) -> None:
        self.level = 0
        self.broken = broken

    def take(self, inp: object) -> list[object]:
        match inp:
            case Up():
                self.level += 1
            case Down():
                self.level -= 1
            case _:
                return [Level(self.level)]
        if self.broken and self.level == HIGHEST:
            self.level = 0
        return []
"""

PORT: Final = """
# 4. The bench: the address of the system, and its times in seconds. Its arguments are parameters (`--set KEY=VALUE`).
#    quiescence: after how long without an output otf concludes that there is none. latency: how long a message takes
#    at most, one way. busy: how long the system processes one input at most. `otf run ... --calibrate` measures them.
#    A trace may come from a stranger: it may set only the parameters named here, and only to these values.


@trace_may_set(broken=(False, True))
def bench(url: str = "", broken: bool = False) -> Bench:
    if not url:
        simulated = inprocess(lambda: Lamp(broken).take)
        return Bench.on_ports(spec, codec, {"line": simulated}, quiescence=0.0, latency=0.0, busy=0.0)
    port = $opened
    return Bench.on_ports(spec, codec, {"line": port}, quiescence=$quiet, latency=$late, busy=$busy)


# 5. The simulated system.
"""

PROGRAM: Final = """
# 4. The bench: which program is started for each path, and its times in seconds. Its arguments are parameters
#    (`--set KEY=VALUE`). quiescence: after how long without an output otf concludes that there is none. latency: how
#    long a message takes at most, one way. busy: how long the system processes one input at most.
#    `otf run ... --calibrate` measures them. The program prints `ready` when it is (process(..., ready=None): at once).
#    A trace may come from a stranger: it may set only the parameters named here, and only to these values.


@trace_may_set(broken=(False, True))
def bench(program: str = "", broken: bool = False) -> Bench:
    own = [sys.executable, __file__, *(["broken"] if broken else [])]
    return Bench.on_ports(
        spec,
        codec,
        {"line": process(program or own)},
        quiescence=0.02,
        latency=0.005,
        busy=0.005,
    )


# 5. The simulated system: this file, started as a program.
"""

MAIN: Final = """

if __name__ == "__main__":
    lamp = Lamp("broken" in sys.argv)
    print("ready", flush=True)
    for line in sys.stdin.buffer:
        answer = lamp.take(line.strip())
        if answer is not None:
            print(answer.decode(), flush=True)
"""

HTTP: Final = """

# 1. What is sent to the system. Responses are written where the model has them.

UP, DOWN, LEVEL = HttpRequest("POST", "/up"), HttpRequest("POST", "/down"), HttpRequest("GET", "/level")

# 2. The model: what may happen on an input in a state. Each transition has the next state and its outputs; several
#    transitions leave a choice to the system. A body that is not bytes is JSON, and is compared as a value.

HIGHEST = 3


def step(level: int, inp: HttpRequest) -> Iterator[Transition[int]]:
    if inp == LEVEL:
        yield goto(level, HttpResponse(200, body={"level": level}))
        return
    then = level + 1 if inp == UP else level - 1
    if 0 <= then <= HIGHEST:
        yield goto(then, HttpResponse(204))
    else:
        yield goto(level, HttpResponse(409))


spec = Spec(step, initial=0, inputs=[UP, DOWN, LEVEL])

# 3. The codec: of the headers of a response it keeps those that HttpCodec(keep=(...)) names.

codec = HttpCodec(name="line")

"""

SERVER: Final = '''

class Lamp:
    """The simulated system. It does not use the model; delete it when you test your own."""

    def __init__(self, broken: bool) -> None:
        self.level = 0
        self.broken = broken

    def take(self, request: bytes) -> bytes:
        path = request.split()[1]
        if path == b"/level":
            body = b\'{ "level": %d }\' % self.level
            return b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n%b" % (len(body), body)
        then = self.level + (1 if path == b"/up" else -1)
        if not 0 <= then <= HIGHEST:
            return b"HTTP/1.1 409 Conflict\\r\\ncontent-length: 0\\r\\n\\r\\n"
        self.level = 0 if self.broken and then == HIGHEST else then
        return b"HTTP/1.1 204 No Content\\r\\n\\r\\n"
'''

COMMON: Final = "from collections.abc import Iterator\nfrom dataclasses import dataclass\n\n"
WITH_CODEC: Final = f"{COMMON}from otf import Bench, Spec, Transition, goto, lines, trace_may_set\n"


def _port(says: str, adapter: str, url: str, opened: str, times: tuple[str, str, str]) -> BenchKind:
    quiet, late, busy = times
    text = Template(PORT).safe_substitute(opened=opened, quiet=quiet, late=late, busy=busy)
    names = ", ".join(sorted(["inprocess", adapter]))
    real = f"otf run $file --set url={url}    your own system"
    return BenchKind(says, real, f"{WITH_CODEC}from otf.adapters import {names}", f"{CODEC}{text}{LAMP}")


LOCAL: Final = ("0.05", "0.01", "0.01")
KINDS: Final[Mapping[str, BenchKind]] = {
    "udp": _port("by UDP: a datagram is a line", "udp", "udp://127.0.0.1:7000", "udp(url)", LOCAL),
    "tcp": _port("by TCP, a line at a time", "tcp", "tcp://127.0.0.1:7000", "tcp(url)", LOCAL),
    "serial": _port(
        "at a serial port, a line at a time",
        "serialport",
        "/dev/ttyUSB0",
        "serialport(url, baudrate=115200)",
        ("0.2", "0.05", "0.05"),
    ),
    "http": BenchKind(
        "by HTTP: requests, and responses with JSON",
        "otf run $file --set url=tcp://127.0.0.1:8000    your own system",
        "from collections.abc import Iterator\n\nfrom otf import Bench, Spec, Transition, goto, trace_may_set\n"
        "from otf.adapters import inprocess, tcp\nfrom otf.codec.web import HttpCodec, HttpRequest, HttpResponse\n"
        "from otf.framing.web import http",
        Template(PORT).safe_substitute(opened="tcp(url, framing=http())", quiet="0.05", late="0.01", busy="0.01")
        + SERVER,
        HEAD[: HEAD.index("# 1.")].rstrip() + HTTP,
    ),
    "process": BenchKind(
        "a program that reads and writes lines",
        "otf run $file --set program='./lamp --quiet'    your own program",
        f"import sys\n{WITH_CODEC}from otf.adapters import process",
        f"{CODEC}{PROGRAM}{LAMP}{MAIN}",
    ),
    "object": BenchKind(
        "a Python object",
        "otf step $file                     walks through the model by hand",
        f"{COMMON}from otf import Bench, Spec, Transition, goto, trace_may_set",
        OBJECT,
    ),
}


FRAMINGS: Final[Mapping[str, str]] = {
    "lines": "",
    "crlf": 'framing.lines(end=b"\\r\\n")',
    "length": 'framing.length(2, "big")',
    "slip": "framing.slip()",
    "cobs": "framing.cobs()",
    "silence": "framing.silence(0.02)",
}
"""How to cut a stream into messages, each with its code; the first is the default of an adapter."""

STREAMS: Final = ("tcp", "serial", "process")
"""The kinds of connection that have a framing."""


def bench_text(kind: str, name: str, file: str, framing: str = "lines") -> str:
    """Return the file of a new bench."""
    chosen = _framed(KINDS[kind], FRAMINGS[framing])
    words = {"name": name, "file": file, "says": chosen.says, "imports": chosen.imports}
    whole = Template((chosen.head or HEAD) + chosen.bench).safe_substitute(real=chosen.real)
    return Template(whole).safe_substitute(words)


def _framed(kind: BenchKind, code: str) -> BenchKind:
    """Return the kind with another framing; the simulated lamp takes whole messages, so it stays as it is."""
    if not code:
        return kind
    imports = kind.imports.replace("Transition, goto", "Transition, framing, goto")
    bench = kind.bench
    for call in ("tcp(url)", "baudrate=115200)", "process(program or own)"):
        bench = bench.replace(call, f"{call[:-1]}, framing={code})")
    return kind._replace(imports=imports, bench=bench, says=kind.says.partition(",")[0])
