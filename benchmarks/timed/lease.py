"""A lease server with two clients: a lease ends by itself, unless it is renewed or returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from otf.spec import Spec, Transition, goto, start, stop

FAULTS: Final = ("twice", "kept", "deaf", "other")
INPUTS: Final = ("at", "an", "ar", "bt", "bn", "br", "aq", "bq")
LEASE: Final = start("lease", 0.36, 0.5)
SHORT: Final = start("lease", 0.39, 0.41)
LONG: Final = start("lease", 0.78, 0.82)
TWICE: Final = 2
GRACE: Final = start("grace", 0.25, 0.35)


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds the lease, or may renew it in its time of grace; and what only a server with a fault remembers."""

    holder: str = ""
    late: str = ""
    renewed: int = 0
    runs: bool = False


def lease(fault: str = "") -> Spec[Lease, str]:  # noqa: C901, PLR0915 -- a model reads best in one piece
    """Return the server; a lease that ended may be renewed for a while.

    With a fault a second renewal is twice as long (`twice`), a returned lease leaves its time to the next one (`kept`),
    a renewal in the time of grace is answered and does nothing (`deaf`), or anyone may make it (`other`).
    """
    time = SHORT if fault else LEASE

    def taken(state: Lease, who: str) -> Transition[Lease]:
        runs = fault == "kept" and state.runs
        return goto(Lease(who, runs=runs), "granted", timers=[stop("grace"), *([] if runs else [time])])

    def renewed(state: Lease) -> Transition[Lease]:
        times = state.renewed + 1 if fault == "twice" else 0
        return goto(replace(state, renewed=times), "renewed", timers=[LONG if times == TWICE else time])

    def revived(state: Lease, who: str) -> Transition[Lease]:
        if fault == "deaf":
            return goto(state, "renewed")
        return goto(Lease(who), "renewed", timers=[stop("grace"), time])

    def step(state: Lease, inp: str) -> Iterator[Transition[Lease]]:
        who = inp[0]
        match inp[1]:
            case "t" if not state.holder:
                yield taken(state, who)
            case "n" if state.holder == who:
                yield renewed(state)
            case "n" if state.late and (state.late == who or fault == "other"):
                yield revived(state, who)
            case "r" if state.holder == who:
                kept = fault == "kept"
                yield goto(Lease(runs=kept), "returned", timers=[] if kept else [stop("lease")])
            case "q":
                yield goto(state, f"held by {state.holder or 'nobody'}")
            case _:
                yield goto(state, "refused")

    def emits(state: Lease) -> Iterator[Transition[Lease]]:
        if state.holder:
            yield goto(Lease(late=state.holder), "ended", after="lease", timers=[GRACE])
        elif state.runs:
            yield goto(replace(state, runs=False), after="lease")
        if state.late:
            yield goto(replace(state, late=""), "gone", after="grace")

    return Spec(step, Lease(), INPUTS, emits)
