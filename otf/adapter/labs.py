"""Boards that a lab manager has prepared: where the serial port of one is, for the adapter `serialport`.

labgrid, pytest-embedded and twister reserve, flash and power boards; otf drives the line. Nothing of theirs is imported
unless an address names a file of labgrid: their objects are known by their attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from otf.errors import ContactError, UsageError

SCHEMES: Final = ("labgrid", "twister")
FORM: Final = "labgrid:ENVIRONMENT.yaml#TARGET, labgrid:PLACE, or twister:HARDWARE-MAP.yaml#ID"
BAUDRATE: Final = 115_200
LARGEST: Final = 1 << 20  # bytes of a hardware map


class BoardPort(NamedTuple):
    """Where the serial port of a board is: a name or URL for `serialport`, and its baud rate."""

    url: str
    baudrate: int


def board_port(board: object, name: str | None = None) -> BoardPort:
    """Return where the serial port of a board is, and let go of it: only one of two readers gets an answer.

    `board` is a target or a resource of labgrid, a `dut` of pytest-embedded, an entry of twister's hardware map (a
    mapping), or an address: "labgrid:place.yaml#main", "labgrid:PLACE", "twister:map.yaml#0001". `name` is that of a
    resource, where a target has several. Raises UsageError for anything else, ContactError if there is no port.

    >>> board_port({"id": "0001", "serial": "/dev/ttyACM0", "baud": 9600})
    BoardPort(url='/dev/ttyACM0', baudrate=9600)
    """
    if isinstance(board, str):
        return _addressed(board)
    if isinstance(board, Mapping):
        return _mapped(cast("Mapping[str, Any]", board))
    if hasattr(board, "get_resource"):
        return _of_target(board, name)
    if hasattr(board, "speed"):
        return _of_resource(board)
    serial: Any = getattr(board, "serial", board)
    if not hasattr(serial, "port") or not hasattr(serial, "close"):
        raise UsageError(
            f"{board!r} is no board; give a target, a resource, a dut, an entry of a hardware map, or {FORM}"
        )
    serial.close()
    return BoardPort(str(serial.port), int(getattr(serial, "baud", BAUDRATE)))


def _addressed(address: str) -> BoardPort:
    scheme, _, rest = address.partition(":")
    file, _, part = rest.partition("#")
    if scheme not in SCHEMES or not file:
        raise UsageError(f"{address!r} is no board; write {FORM}")
    return _in_map(Path(file), part) if scheme == "twister" else _of_target(_target(file, part), None)


def _in_map(file: Path, wanted: str) -> BoardPort:
    """Return the port of an entry of twister's hardware map; of the only one that is connected, if none is named."""
    import yaml

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
        raise UsageError(f"{file}: {len(found)} boards {wanted or 'are connected'}; name one of {ids} behind a #")
    return _mapped(found[0])


def _mapped(entry: Mapping[str, Any]) -> BoardPort:
    if not isinstance(entry.get("serial"), str):
        raise ContactError(f"the board {entry.get('id')} has no serial port in its map; is it connected?")
    try:
        return BoardPort(entry["serial"], int(entry.get("baud", BAUDRATE)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the board {entry.get('id')}: baud: {entry.get('baud')!r} is no number") from error


def _target(name: str, part: str) -> Any:  # noqa: ANN401 -- a labgrid.Target, imported late
    """Return a target of an environment, or one that is a place of the coordinator, which must be acquired."""
    try:
        labgrid: Any = import_module("labgrid")
        remote: Any = import_module("labgrid.resource.remote")
    except ImportError as error:
        raise UsageError("this address needs labgrid: pip install labgrid, in an environment of its own") from error
    try:
        if Path(name).suffix:
            return labgrid.Environment(name).get_target(part or "main")
        target = labgrid.Target(name)
        target.await_resources([remote.RemotePlace(target, name=name)])
    except Exception as error:
        raise ContactError(f"labgrid:{name}: {type(error).__name__}: {error}") from error
    return target


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
