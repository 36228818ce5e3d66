"""Messages that are lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from otf.channels.trouble import NetTrouble, PortOf, rule
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
