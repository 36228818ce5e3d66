"""Specs of a system behind a net that loses, duplicates or reorders messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from otf.channels.trouble import FOREVER, NetTrouble, PortOf, at_least, rule
from otf.channels.unreliable import over
from otf.spec.spec import Spec

State = TypeVar("State")
Input = TypeVar("Input")


def lossy(
    spec: Spec[State, Input], *, inputs: Iterable[str] = (), outputs: Iterable[str] = (), port: PortOf | None = None
) -> Spec[State, Input]:
    """Return the spec of the system behind a net that loses messages.

    `inputs` and `outputs` name the ports that pass through the net. `port` returns the port of a value, as a codec
    does; leave it out if there is only one port. A lost input changes nothing; each output is lost independently of
    the others. Raises UsageError if no ports are named.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> for way in lossy(spec, inputs=["line"], outputs=["line"]).step(False, "press"): print(way.state, way.outputs)
    True ('click',)
    True ()
    False ()
    """
    return over(spec, rule(NetTrouble(lost=True), inputs, outputs, port))


def duplicating(  # noqa: PLR0913 -- all but the spec are given by name
    spec: Spec[Any, Input],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    port: PortOf | None = None,
    copies: int = 1,
    late: int = 1,
) -> Spec[Any, Input]:
    """Return the spec of the system behind a net that duplicates messages: up to `copies` more of each.

    Ports are given as for `lossy`. A copy arrives at once or later, but before more than `late` further inputs are
    taken, and before the next message on its port (after it with `reordering` on that port). Copies are not counted if
    counting would need more states: then more of them are allowed. Raises UsageError if no ports are named.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> net = duplicating(spec, outputs=["line"])
    >>> for way in net.step(net.initial, "press"): print(way.outputs, way.state.outputs)
    ('click',) (NetMessage(item='click', left=1, more=2, sure=False),)
    ('click', 'click') (NetMessage(item='click', left=1, more=2, sure=False),)
    """
    at_least(1, "copies", copies)
    at_least(0, "late", late)
    return over(spec, rule(NetTrouble(copies=copies, late=late), inputs, outputs, port))


def reordering(  # noqa: PLR0913 -- all but the spec are given by name
    spec: Spec[Any, Input],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    port: PortOf | None = None,
    late: int = 1,
    delay: float | None = None,
) -> Spec[Any, Input]:
    """Return the spec of the system behind a net that delays messages, so that later ones overtake them.

    Ports are given as for `lossy`. No message is lost: a delayed one arrives before more than `late` further inputs are
    taken, and within `delay` seconds if that is given. Raises UsageError if no ports are named.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> net = reordering(spec, outputs=["line"])
    >>> for way in net.step(net.initial, "press"): print(way.outputs, way.state.outputs)
    ('click',) ()
    () (NetMessage(item='click', left=1, more=1, sure=True),)
    """
    at_least(0, "late", late)
    if delay is not None:
        at_least(0, "delay", delay)
    trouble = NetTrouble(held=True, late=late, delay=FOREVER if delay is None else delay)
    return over(spec, rule(trouble, inputs, outputs, port))
