"""The benches of standards: each table of requirements is that of its model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

import pytest

from otf.adapter import Bench
from otf.models import coap, gtp, irc, modbus, tftp, uci
from otf.models.coap.inputs import ALSO as COAP
from otf.models.gtp.inputs import ALSO as GTP
from otf.models.irc.inputs import ALSO as IRC
from otf.models.modbus.spec import ALSO as MODBUS
from otf.models.tftp.spec import ALSO as TFTP
from otf.models.uci.spec import ALSO as UCI
from otf.spec import Accept, Spec, Transition
from otf.spec.transition import requirements

STATES = 100  # of each variant of a model
BENCHES: dict[str, list[Callable[[], Bench]]] = {
    "coap": [partial(coap.bench, also=also) for also in ("", *COAP)],
    "gtp": [partial(gtp.bench, size=2, also=also) for also in ("", *GTP)],
    "irc": [partial(irc.bench, also=also) for also in ("", *IRC)],
    "modbus": [partial(modbus.bench, also=also) for also in ("", *MODBUS)],
    "tftp": [partial(tftp.bench, also=also) for also in ("", *TFTP)],
    "uci": [partial(uci.bench, also=also) for also in ("", *UCI)],
}


@pytest.mark.parametrize("name", BENCHES)
def test_the_table_is_that_of_the_model(name: str) -> None:
    """The model refers to each requirement that is not undecided, and to none that the table lacks."""
    benches = [make() for make in BENCHES[name]]
    table = benches[0].requirements
    used = {each for bench in benches for each in chain(_of(bench.spec), _known(bench))}
    decidable = {each.id for each in table.values() if not each.undecided}
    assert sorted(decidable - used) == []
    assert sorted(used - table.keys()) == []
    assert len(decidable) > 10
    assert any(each.undecided for each in table.values())


def _known(bench: Bench) -> Iterator[str]:
    for each in bench.known_issues:
        yield from requirements(each.req)


def _of(spec: Spec[object, object]) -> Iterator[str]:
    """Return the requirements of a model, as far as the first states lead."""
    seen, left = {spec.initial}, deque([spec.initial])
    while left:
        for way in _ways(spec, left.popleft()):
            yield from requirements(way.req)
            if isinstance(way, Transition) and way.state not in seen and len(seen) < STATES:
                seen.add(way.state)
                left.append(way.state)


def _ways(spec: Spec[object, object], state: object) -> Sequence[Transition[object] | Accept]:
    ways = [way for inp in spec.inputs(state) for way in spec.step(state, inp)]
    return [*ways, *(spec.emits(state) if spec.emits else ())]
