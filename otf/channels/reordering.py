"""Messages that overtake each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from otf.channels.trouble import FOREVER, NetTrouble, PortOf, at_least, rule
from otf.channels.unreliable import over
from otf.spec.spec import Spec

Input = TypeVar("Input")


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
