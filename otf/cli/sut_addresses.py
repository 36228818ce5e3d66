"""Addresses of the system: `--sut PORT=URL`, and benches described in TOML.

A description names a bench and overrides addresses and times, for people who change nothing else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from otf import adapters
from otf.adapter import Bench, Opener, Port
from otf.cli.user_code import near_file
from otf.errors import UsageError, choose, near
from otf.framing import Framing

FORMS: Final = """\
  /dev/ttyUSB0, COM3, /dev/ttyUSB0?baudrate=115200   a serial port (`otf list --ports`)
  socket://HOST:PORT, rfc2217://HOST:PORT, loop://   a serial port as pyserial names it
  tcp://HOST:PORT, tcp-listen://HOST:PORT            a connection that otf opens, or accepts
  tls://HOST:PORT                                    an encrypted connection
  udp://HOST:PORT, udp://HOST:PORT?bind=HOST:PORT    datagrams
  unix:PATH                                          a unix socket
  can://INTERFACE/CHANNEL?bitrate=500000             a CAN bus as python-can names it
  isotp://INTERFACE/CHANNEL?tx=7e0&rx=7e8            ISO-TP messages on a CAN bus
  visa:TCPIP::10.0.0.5::INSTR                        an instrument as VISA names it
  labgrid:FILE#TARGET, labgrid:PLACE, twister:FILE#ID  the serial port of a board in a lab
  exec:COMMAND, pty:COMMAND                          a program on pipes, or on a terminal of its own"""

_ADAPTERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tcp", "tls", "tcp-listen"), "tcp"),
    **dict.fromkeys(("exec", "pty"), "process"),
    **dict.fromkeys(("socket", "rfc2217", "loop", "spy", "hwgrep", "alt", "cp2110"), "serialport"),
    **dict.fromkeys(("labgrid", "twister"), "lab"),
    **{name: name for name in ("unix", "udp", "can", "visa", "isotp")},
}
_FRAMED: Final = ("tcp", "process", "serialport", "lab", "unix")  # the others have their own frames
_INPROCESS: Final = "inprocess"


def addressed(bench: Bench, suts: Sequence[str] | None, where: str = "--sut ") -> Bench:
    """Return the bench with ports at other addresses, given as PORT=URL; a URL alone if there is one port.

    If every port has another address, otf does not start the bench's own server. Raises UsageError, and says `where`.
    """
    ports = dict(bench.ports)
    for text in suts or ():
        with about(f"{where}{text}: "):
            name, url = _named(bench, text)
            ports[name] = opener(url, ports[name])
    moved = any(_kind(bench.ports[name]) == _INPROCESS != _kind(port) for name, port in ports.items())
    life = bench.life
    if life is not None and all(port is not bench.ports[name] for name, port in ports.items()):
        life = replace(life, server=None, ready=None)
    changed = replace(bench, ports=ports, life=life) if suts else bench
    # a system in this process has no latency; over a wire it has some, which the user may set
    return replace(changed, quiescence=None, latency=0.002, busy=0.002) if moved and not bench.latency else changed


@contextmanager
def about(where: str) -> Generator[None]:
    """Say in an error which option or file it is about."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{where}{error}") from error


def opener(url: str, before: Opener | None = None) -> Port:
    """Return an opener of a port at `url`, framed and configured like `before`. Raises UsageError with all forms."""
    if isinstance(before, Port) and before.kind == _adapter_of(url) and before.at is not None:
        return before.at(url)
    return port_at(url, before.framing if isinstance(before, Port) else None)


def port_at(url: str, framing: Framing | None) -> Port:
    """Return an opener of a port at `url`, with a framing if it is a stream. Raises UsageError with all forms."""
    name = _adapter_of(url)
    own: dict[str, Any] = {} if framing is None or name not in _FRAMED else {"framing": framing}
    if name == "process":
        scheme, _, command = url.partition(":")
        return adapters.process(command, ready=None, pty=scheme == "pty", **own)
    if name == "lab":
        from otf.adapter.labs import board_port

        board = board_port(url)
        return adapters.serialport(board.url, baudrate=board.baudrate, **own)
    make: Callable[..., Port] = getattr(adapters, name)  # imported here: all of them take a tenth of a second
    return make(url, **own)


def _adapter_of(url: str) -> str:
    scheme, colon, rest = url.partition(":")
    if colon and scheme in _ADAPTERS and rest:
        return _ADAPTERS[scheme]
    # COM3 on Windows, or any path
    if url.startswith("/") or (url[:3].upper() == "COM" and url[3:4].isdigit()):
        return "serialport"
    hint = near(scheme, _ADAPTERS) if scheme not in _ADAPTERS else ""
    raise UsageError(f"{url!r} is not an address of a system; {f'{hint} write'.lstrip()} one of\n{FORMS}")


def _named(bench: Bench, text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    if equals and name in bench.ports:
        return name, url
    if not bench.ports:
        message = f"the bench {bench.name} opens its ports itself, so no address can be given"
        raise UsageError(f"{message}; --set KEY=VALUE changes the parameters of its function")
    if len(bench.ports) == 1 and not (equals and name.isidentifier()):
        return next(iter(bench.ports)), text
    hint = choose(name, bench.ports, f"the bench {bench.name} has the ports")
    raise UsageError(f"{hint}; write PORT=URL, with one of\n{FORMS}")


def _kind(opener: Opener) -> str:
    return opener.kind if isinstance(opener, Port) else ""


SUFFIX: Final = ".toml"
LARGEST: Final = 1 << 20
_NEEDED: Final = {"str": "a text", "int": "a whole number", "float": "a number", "object": "a table"}
ACTING_SCHEMES: Final = ("spy://", "alt://", "hwgrep://")
"""Schemes of pyserial that do more than open a named port: they write files, or open any matching port."""


class Description(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a TOML description; times are in seconds."""

    bench: str
    quiescence: float | None = None
    L: float | None = None
    R: float | None = None
    retries: int | None = None
    ports: dict[str, str] = {}
    set: dict[str, str | int | float | bool] = {}

    @property
    def sets(self) -> dict[str, object]:
        """Return the parameters and times of the bench."""
        times = {"quiescence": self.quiescence, "L": self.L, "R": self.R}
        return {**self.set, **{name: value for name, value in times.items() if value is not None}}


def description(path: Path) -> Description:
    """Read a description. Raises UsageError that names the mistake and what is allowed instead."""
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = near_file(path, "; name a TOML file that describes a bench")
        raise UsageError(f"{path}: {error.strerror}{hint}") from error
    if len(data) > LARGEST:
        raise UsageError(f"{path}: it has more than {LARGEST} bytes; a description has a few lines")
    return _checked(path, _parsed(path, data))


def _parsed(path: Path, data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # TOML has no error of its own for a number of 5,000 digits
        raise UsageError(f"{path}: not TOML: {error}") from error


def _why(error: str) -> str:
    """Translate an error of msgspec into the words of a TOML file."""
    if unknown := re.search("unknown field `(.*)`", error):
        return f"there is no key {unknown[1]}; {near(unknown[1], Description.__struct_fields__)}".rstrip()
    wrong = re.fullmatch(r"Expected `(\w+).*`, got .* - at `\$\.(.*)`", error)
    return f"{wrong[2]}: {_NEEDED.get(wrong[1], wrong[1])} is needed;" if wrong else f"{error};"


def _checked(path: Path, data: Mapping[str, Any]) -> Description:
    try:
        found = msgspec.convert(data, Description)
    except msgspec.ValidationError as error:
        message = (
            f"{path}: {_why(str(error))} the keys are bench, quiescence, L, R, retries, and the tables ports and set"
        )
        raise UsageError(message) from error
    if found.bench.partition(":")[0].endswith(SUFFIX):
        raise UsageError(f"{path}: bench = {found.bench!r}: a description must name a bench, not another description")
    for key, value in {**found.ports, **found.set}.items():
        if isinstance(value, str) and value.lower().startswith(ACTING_SCHEMES):
            schemes = ", ".join(ACTING_SCHEMES)
            message = f"{path}: {key} = {value!r}: {schemes} do more than open a port: give it on the command line"
            raise UsageError(message)
    return found
