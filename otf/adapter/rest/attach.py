"""From the open lines of a bench to the processes behind them, or to the reason why these cannot be watched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from otf.adapter.rest.machine import detours, unfit
from otf.adapter.rest.owners import everybody, is_local, owners
from otf.adapter.rest.place import Place, Placed, Unseen
from otf.adapter.rest.system import SystemProcesses


def attached(lines: Mapping[str, object], started: Collection[int], named: Collection[int] = ()) -> SystemProcesses:
    """Return the processes behind these lines: those `started` for them, the `named` ones, and who holds their ports.

    Raises Unseen where the rest of these cannot be observed.
    """
    if why := unfit():
        raise Unseen(why)
    places = {port: _place(port, line) for port, line in lines.items()}
    if any(each.transport for each in places.values()) and (why := detours()):
        raise Unseen(why)
    own = SystemProcesses(started)
    keep = False
    try:
        roots = {*named, *(each.pid for each in places.values() if each.pid), *_strangers(places, own.pids)} - own.pids
        keep = not roots and bool(own.pids)
    finally:
        if not keep:
            own.close()
    if not keep and not roots:
        raise Unseen("none of its ports leads to a process of this machine")
    system = own if keep else SystemProcesses(roots | set(started), foreign=True)
    try:
        system.examine()
    except BaseException:
        system.close()
        raise
    return system


def _place(port: str, line: object) -> Place:
    place = line.place() if isinstance(line, Placed) else Place(hidden="it cannot be seen who is at its other end")
    if not place.hidden and place.address is not None and not is_local(place.address[0]):
        raise Unseen(f"the port {port!r} leads to {place.address[0]}, which is not this machine")
    if place.hidden:
        raise Unseen(f"the port {port!r}: {place.hidden}")
    return place


def _strangers(places: Mapping[str, Place], known: Iterable[int]) -> set[int]:
    """Return the processes that hold the other ends of ports and are not `known`. Raises Unseen where none does."""
    found = set[int]()
    for port, place in places.items():
        if place.transport is None or place.address is None or owners(place.transport, place.address, known):
            continue
        holding = owners(place.transport, place.address, everybody())
        if not holding:
            raise Unseen(f"the port {port!r}: no process is seen that holds {place.address[0]}:{place.address[1]}")
        found |= holding
    return found
