"""The inputs that each strategy takes to find known faults of the conference entity, a queue and a vending machine.

Run `python -m benchmarks.strategies`. The systems answer before they return, so that only
choosing is measured. Vending machines count money without bound: there a strategy must not only go deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, Final

from benchmarks.measure import command, positive, save
from otf.core import InputMode, Model, Oracle, Routes
from otf.core.walk import Walk
from otf.models import conference, queue, vending, vending_faults
from otf.models.conference.codec import ConferenceCodec
from otf.models.conference.entity import FAULTS, Entity
from otf.spec import Spec, total
from otf.strategy import STRATEGIES, Strategy

STEPS: Final = 50  # of a path
LIMIT: Final = 10_000  # of all paths: a fault that is not found by then counts as this many
Act = Callable[[Any], Iterable[Any]]


@dataclass(frozen=True)
class Subject:
    """A model, its faults, a maker of systems with one of them, and the mode of its inputs."""

    spec: Spec[Any, Any]
    faults: Iterable[str]
    make: Callable[[str], Act]
    mode: InputMode = "uioco"
    routes: Routes | None = None

    def oracle(self) -> Oracle:
        """Return its oracle."""
        judged = total(self.spec) if self.mode == "mixed" else self.spec
        return Oracle(Model(judged, self.routes or Routes()))


def reacting(react: Callable[[str, Any, Any], tuple[Any, Any]], start: Any) -> Callable[[str], Act]:
    """Return a maker of systems from a function of fault, state and input."""

    def make(fault: str) -> Act:
        state = start

        def act(inp: Any) -> Iterable[Any]:
            nonlocal state
            state, outputs = react(fault, state, inp)
            return outputs

        return act

    return make


def entity(fault: str) -> Act:
    """Return the conference entity with a fault, without sockets and pipes."""
    cpe, codec = Entity(1, [2, 3], fault), ConferenceCodec(1, 3)

    def act(inp: Any) -> Iterable[Any]:
        data = codec.encode(inp)
        for effect in cpe.user(data.decode()) if codec.port(inp) == "user" else cpe.datagram(data):
            port, frame = ("user", effect.encode()) if isinstance(effect, str) else (f"cpe{effect[0]}", effect[1])
            yield codec.decode(port, frame)

    return act


CODEC: Final = ConferenceCodec(1, 3)
SUBJECTS: Final[Mapping[str, Subject]] = {
    "conference": Subject(conference.bench().spec, FAULTS, entity, "mixed", Routes(tuple(CODEC.ports), CODEC.port)),
    "queue": Subject(queue.QUEUE, queue.FAULTS, reacting(queue.react, None)),
    "vending": Subject(vending.VENDING, vending_faults.FAULTS, reacting(vending_faults.react, vending_faults.Device())),
}


def steps(subject: Subject, name: str, fault: str, seed: int) -> int:
    """Return the number of inputs after which a fault is found."""
    oracle, strategy, sent, path = subject.oracle(), Strategy(name, subject.mode, seed), 0, 0
    while sent < LIMIT:
        path += 1
        walk = Walk(oracle, subject.make(fault))
        verdict = walk.chosen(strategy.path(path), STEPS)
        sent += walk.steps
        if verdict is not None and verdict.failed:
            return sent
    return LIMIT


def main(arguments: Sequence[str] | None = None) -> None:
    """Print for each subject and strategy the sum over all faults, and the missed ones; write it if asked to."""
    parser = command("strategies", __doc__)
    parser.add_argument("--seeds", type=positive, default=10, help="campaigns for each fault")
    chosen = parser.parse_args(arguments)
    seeds = chosen.seeds
    data: dict[str, dict[str, Any]] = {}
    for title, subject in SUBJECTS.items():
        print(
            f"\n{title}: inputs until a fault is found, summed over {len(list(subject.faults))} faults, {seeds} seeds"
        )
        for name in STRATEGIES:
            found = [[steps(subject, name, fault, seed) for seed in range(1, seeds + 1)] for fault in subject.faults]
            row = {
                "means": round(sum(map(mean, found))),
                "medians": round(sum(map(median, found))),
                "missed": sum(each >= LIMIT for row in found for each in row),
            }
            data.setdefault(title, {})[name] = row
            print(f"  {name:14} means {row['means']:>8,}  medians {row['medians']:>8,}  missed {row['missed']:>4}")
    save(data, chosen.json)


if __name__ == "__main__":
    main()
