"""A system in this process: its answers are bounded, like those over a wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from otf.simulate import Walk
from otf.simulate.walk import Act
from otf.trace.events import Ended
from otf.trace.verdict import Verdict
from otf.values.cost import weight

OUTPUTS: Final = 20_000
"""Outputs to one input at most."""

HEAVY: Final = 1 << 26
"""Bytes of them, where they are given one by one."""

_FEW: Final = 1_000  # outputs that are not weighed one by one: hardly any answer has more


class Cut(Ended):
    """The end of an answer that was cut off."""


def bounded(act: Act) -> Act:
    """Return the system with bounded answers: an endless one is cut off.

    >>> from itertools import count
    >>> [*bounded(lambda _inp: count())("go")][-1]
    Cut(reason='the system gave more than 20000 outputs to one input')
    """

    def acting(inp: Any) -> Iterable[object]:  # noqa: ANN401 -- any input
        outputs = act(inp)
        # what is there already needs no room any more, and most answers are
        whole = isinstance(outputs, (tuple, list)) and len(outputs) <= OUTPUTS
        return outputs if whole else tuple(_limited(outputs))

    return acting


def excused(verdict: Verdict, walk: Walk) -> Verdict:
    """Return the verdict of a walk; inconclusive if an answer was cut off and nothing else is wrong."""
    if verdict.failure is None or verdict.failure.kind != "ended":
        return verdict
    _, outputs = walk.history[-1]
    return Verdict("inconclusive", why=outputs[-1].reason) if isinstance(outputs[-1], Cut) else verdict


def _limited(outputs: Iterable[object]) -> Iterator[object]:
    answer = iter(outputs)
    few = list(islice(answer, _FEW))
    yield from few
    given, size = len(few), sum(map(weight, few)) if len(few) == _FEW else 0
    for output in answer:
        given, size = given + 1, size + weight(output)
        if given > OUTPUTS or size > HEAVY:
            most = f"{OUTPUTS} outputs" if given > OUTPUTS else f"{HEAVY} bytes of outputs"
            yield Cut(f"the system gave more than {most} to one input")
            return
        yield output
