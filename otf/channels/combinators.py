"""Messages that are lost."""

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

    `inputs` and `outputs` name the ports that the net lies on; `port` tells the port of a value, as a codec does, and
    is not needed where there is one. An input that is lost changes nothing; each output is lost or not on its own.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> for way in lossy(spec, inputs=["line"], outputs=["line"]).step(False, "press"): print(way.state, way.outputs)
    True ('click',)
    True ()
    False ()
    """
    return over(spec, rule(NetTrouble(lost=True), inputs, outputs, port))


def duplicating(  # noqa: PLR0913 -- past the spec they are given by name
    spec: Spec[Any, Input],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    port: PortOf | None = None,
    copies: int = 1,
    late: int = 1,
) -> Spec[Any, Input]:
    """Return the spec of the system behind a net that doubles messages: up to `copies` more of each.

    Ports are given as for `lossy`. A copy comes at once or later, but not after more than `late` further inputs were
    taken, and not after the next message on its port (with `reordering` on that port it may). Copies are counted
    where that costs no states, so that more of them may pass.

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


def reordering(  # noqa: PLR0913 -- past the spec they are given by name
    spec: Spec[Any, Input],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    port: PortOf | None = None,
    late: int = 1,
    delay: float | None = None,
) -> Spec[Any, Input]:
    """Return the spec of the system behind a net that holds messages up, so that later ones overtake them.

    Ports are given as for `lossy`. Nothing is lost by it: what is held up comes before more than `late` further inputs
    are taken, and within `delay` seconds if that is given.

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
