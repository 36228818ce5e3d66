"""Boards prepared by a lab manager: where the serial port of a board is, for the adapter `serialport`.

labgrid, pytest-embedded and twister reserve, flash and power boards; otf drives the line. otf imports their packages
only if an address names a file of labgrid; otherwise it recognises their objects by their attributes. The program
`labgrid-client`, which may be in an environment of its own, acquires a place from labgrid's coordinator.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, cast

from otf.codec.library import import_library
from otf.errors import ContactError, UsageError

SCHEMES: Final = ("labgrid", "twister")
FORM: Final = "labgrid:ENVIRONMENT.yaml#TARGET, labgrid:PLACE#RESOURCE, or twister:HARDWARE-MAP.yaml#ID"
BAUDRATE: Final = 115_200
LARGEST: Final = 1 << 20  # the most bytes of a hardware map
CLIENT: Final = "labgrid-client"
_SECONDS: Final = 60.0  # for one command of the client
_LONGEST: Final = 400  # the most characters shown of what it prints


class BoardPort(NamedTuple):
    """Where the serial port of a board is: `url` is a name or URL for `serialport`, `baudrate` the bits per second.

    >>> BoardPort("/dev/ttyUSB0", 115_200).baudrate
    115200
    """

    url: str
    baudrate: int


def board_port(board: object, name: str | None = None) -> BoardPort:
    """Return where the serial port of a board is, and release it there: of two readers, only one gets each answer.

    `board` is a target or a resource of labgrid, a `dut` of pytest-embedded, an entry of twister's hardware map (a
    mapping), or an address: "labgrid:place.yaml#main", "labgrid:PLACE", "twister:map.yaml#0001". `name` chooses among
    several resources of a target. A free place is acquired until this program ends. Raises UsageError for anything
    else, ContactError if there is no port or someone else has the place.

    >>> board_port({"id": "0001", "serial": "/dev/ttyACM0", "baud": 9600})
    BoardPort(url='/dev/ttyACM0', baudrate=9600)
    """
    if isinstance(board, str):
        return _board_port(board)
    if isinstance(board, Mapping):
        return _mapped(cast("Mapping[str, Any]", board))
    if hasattr(board, "get_resource"):
        return _of_target(board, name)
    if hasattr(board, "speed"):
        return _of_resource(board)
    serial: Any = getattr(board, "serial", board)
    if not hasattr(serial, "port") or not hasattr(serial, "close"):
        raise UsageError(
            f"{board!r} is not a board; give a target, a resource, a dut, an entry of a hardware map, or {FORM}"
        )
    serial.close()
    return BoardPort(str(serial.port), int(getattr(serial, "baud", BAUDRATE)))


def _board_port(address: str) -> BoardPort:
    scheme, _, rest = address.partition(":")
    file, _, part = rest.partition("#")
    if scheme not in SCHEMES or not file:
        raise UsageError(f"{address!r} is not a board; write {FORM}")
    if scheme == "twister":
        return _in_map(Path(file), part)
    is_file = Path(file).suffix in {".yaml", ".yml"} or Path(file).is_file()
    return _of_target(_target(file, part), None) if is_file else _of_place(file, part)


def _in_map(file: Path, wanted: str) -> BoardPort:
    """Return the port of an entry in twister's hardware map: the named one, or else the only connected one."""
    yaml = import_library("yaml", "labs")
    try:
        data = file.read_bytes()
        entries: Any = yaml.safe_load(data) if len(data) <= LARGEST else None
    except (OSError, yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{file}: no hardware map: {error}") from error
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in cast("list[object]", entries)):
        raise UsageError(f"{file}: no hardware map: that is a list of boards, each with an id and a serial")
    boards = cast("list[dict[str, Any]]", entries)
    found = [each for each in boards if (str(each.get("id")) == wanted if wanted else each.get("connected", True))]
    if len(found) != 1:
        ids = ", ".join(str(each.get("id")) for each in boards)
        raise UsageError(f"{file}: {len(found)} boards {wanted or 'are connected'}; name one of {ids} after a #")
    return _mapped(found[0])


def _mapped(entry: Mapping[str, Any]) -> BoardPort:
    if not isinstance(entry.get("serial"), str):
        raise ContactError(f"the board {entry.get('id')} has no serial port in its map; is it connected?")
    try:
        return BoardPort(entry["serial"], int(entry.get("baud", BAUDRATE)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the board {entry.get('id')}: baud: {entry.get('baud')!r} is not a number") from error


def _target(name: str, part: str) -> Any:  # noqa: ANN401 -- a labgrid.Target, imported late
    """Return a target of a labgrid environment."""
    try:
        labgrid: Any = import_module("labgrid")
    except ImportError as error:
        raise UsageError("this address needs labgrid: pip install labgrid, in an environment of its own") from error
    try:
        return labgrid.Environment(name).get_target(part or "main")
    except Exception as error:
        raise ContactError(f"labgrid:{name}: {type(error).__name__}: {error}") from error


def _of_place(place: str, wanted: str) -> BoardPort:
    """Return the port of a coordinator's place; acquire the place if it is free, and release it at the end."""
    try:
        described = _asked(place, "env")  # whoever acquired it for us will release it
    except ContactError:
        described = _acquire(place)
    targets: Any = import_library("yaml", "labs").safe_load(described)["targets"]
    resources = [(kind, args) for each in targets.values() for one in each["resources"] for kind, args in one.items()]
    ports = {str(args.get("name", kind)): args for kind, args in resources if "speed" in args and "host" in args}
    found = [args for name, args in ports.items() if wanted in {"", name}]
    if len(found) != 1:
        names = ", ".join(ports) or "none"
        raise ContactError(f"the place {place} has {len(found)} serial ports ({names}); name one of them after a #")
    return _of_resource(SimpleNamespace(**found[0]))


def _acquire(place: str) -> str:
    _asked(place, "acquire")

    def release(process: int = os.getpid()) -> None:
        if os.getpid() == process:
            with suppress(ContactError):  # it was released by hand, or the coordinator has ended
                _asked(place, "release")

    atexit.register(release)
    return _asked(place, "env")


def _asked(place: str, command: str) -> str:
    """Return the answer of labgrid's client about a place. Raises ContactError with what it prints."""
    beside = Path(sys.executable).with_name(CLIENT)
    client = shutil.which(CLIENT) or (str(beside) if beside.exists() else "")
    if not client:
        raise UsageError(f"this address needs {CLIENT} on the PATH: pip install labgrid, in an environment of its own")
    try:
        done = subprocess.run(  # noqa: S603 -- no shell reads it
            [client, "-p", place, command], capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContactError(f"labgrid:{place}: {error}") from error
    if done.returncode:
        why = " ".join(done.stderr.split())[-_LONGEST:].removeprefix(f"{CLIENT}: Error: ")
        raise ContactError(f"labgrid:{place}: {CLIENT} {command}: {why}")
    return done.stdout


def _of_target(target: Any, name: str | None) -> BoardPort:  # noqa: ANN401 -- a labgrid.Target
    resources: Iterable[Any] = target.resources
    found = [each for each in resources if hasattr(each, "speed") and name in {None, each.name}]
    if len(found) != 1:
        names = ", ".join(str(each.name) for each in found) or "none"
        raise ContactError(f"the target {target.name} has {len(found)} serial ports ({names}); name one of them")
    with suppress(AttributeError):
        for driver in target.drivers:
            if getattr(driver, "port", None) is found[0]:
                target.deactivate(driver)
    return _of_resource(found[0])


def _of_resource(resource: Any) -> BoardPort:  # noqa: ANN401 -- a labgrid.resource.Resource
    host: str = getattr(resource, "host", "")
    if not host:
        return BoardPort(str(resource.port), int(resource.speed))
    scheme = "rfc2217" if resource.protocol == "rfc2217" else "socket"
    return BoardPort(f"{scheme}://{host}:{resource.port}", int(resource.speed))
