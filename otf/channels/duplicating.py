"""Messages that come more than once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from otf.channels.trouble import NetTrouble, PortOf, at_least, rule
from otf.channels.unreliable import over
from otf.spec.spec import Spec

Input = TypeVar("Input")


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
