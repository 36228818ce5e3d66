"""How many kinds of failure the faults of the conference make: `python -m benchmarks.kinds_conference [U4 O3+U7 …]`.

Each of the 27 faults alone, then ten mixes of three. The entity runs in this process. A fault of a mix that is never
seen unless another one was seen before is none that is expected: whoever cannot join again never shows a stale name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.kinds import measured
from benchmarks.measure import command, positive, save
from benchmarks.shrink_conference import CODEC, OTHERS
from otf.adapter import Bench
from otf.models.conference import Sizes, conference, entity
from otf.models.conference.codec import USER, cpe_port
from otf.models.conference.spec import inputs

SEED: Final = 1
MIXES: Final = 10
FAULTY: Final = (
    (r"(self\.fault|fault) == (\"\w+\")", r"\2 in \1"),
    (r"self\.fault != (\"\w+\")", r"\1 not in self.fault"),
    (r"= (\{.*?\})\.get\(self\.fault, (.*?)\)\n", r"= next((v for k, v in \1.items() if k in self.fault), \2)\n"),
)
"""How the entity is changed so that it may have several faults: a set of them is its fault then."""


def _entity() -> Any:
    source = Path(entity.__file__).read_text()
    for old, new in FAULTY:
        source = re.sub(old, new, source)
    names = dict[str, Any]()
    exec(compile(source, "entity", "exec"), names)  # noqa: S102 -- the source is ours
    return names["Entity"]


ENTITY: Final = _entity()


class _System:
    """The system in this process: a call of it takes an input."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.it = ENTITY(1, OTHERS, frozenset(faults))

    def __call__(self, inp: object) -> Iterable[object]:
        data = CODEC.encode(inp)
        effects = self.it.user(data.decode()) if CODEC.port(inp) == USER else self.it.datagram(data)
        return [
            CODEC.decode(USER, each.encode()) if isinstance(each, str) else CODEC.decode(cpe_port(each[0]), each[1])
            for each in effects
        ]


def bench(faults: Iterable[str]) -> Bench:
    """Return the bench of an entity with these faults; it is also sent what the model does not specify."""
    found = Bench.in_process(conference(Sizes()), partial(_System, (*faults,)), name="conference")
    return replace(found, inputs="mixed")


def seen(faults: Sequence[str]) -> list[str]:
    """Return the faults without which some run of the entity would fail otherwise, or not at all."""
    return [fault for fault in faults if _is_seen(fault, faults)]


def _is_seen(fault: str, faults: Iterable[str]) -> bool:
    """Return whether a run of the entity that failed in nothing yet then fails because of a fault."""
    right, wrong, without = (_System(each) for each in ((), faults, {*faults} - {fault}))
    ways, known = [(right, wrong, without)], set[str]()
    while ways:
        for inp in inputs(Sizes()):
            then = deepcopy(ways[-1])
            expected, got, other = ([*act(inp)] for act in then)
            if got != expected:
                if got != other:
                    return True
            elif (name := "\n".join(str(sorted(vars(act.it).items())) for act in then)) not in known:
                known.add(name)
                ways.insert(0, then)
        ways.pop()
    return False


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each fault, and for each mix."""
    parser = command("kinds_conference", __doc__)
    parser.add_argument("faults", nargs="*", help="with + between those of one system; all and ten mixes by default")
    parser.add_argument("--paths", type=positive, default=200)
    parser.add_argument("--verbose", action="store_true", help="print the kinds")
    chosen = parser.parse_args(arguments)
    random, every = Random(SEED), sorted(entity.FAULTS)
    mixes = ["+".join(random.sample(every, 3)) for _ in range(MIXES)]
    rows = [
        measured(name, bench(name.split("+")), len(seen(name.split("+"))), chosen.paths, verbose=chosen.verbose)
        for name in chosen.faults or [*entity.FAULTS, *mixes]
    ]
    save({"rows": rows}, chosen.json)


if __name__ == "__main__":
    main()
