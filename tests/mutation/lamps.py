"""Small benches with holes: a mistake passes, and the reason is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from otf.adapter import Bench, KnownIssue
from otf.adapters.inprocess import inprocess
from otf.errors import CodecError
from otf.mutation import Fate, HuntBudget, JudgedMutant, MutationReport, bench_of, mutate
from otf.spec import Accept, Spec, Transition, Where, goto

FEW = HuntBudget(steps=400, seconds=60.0)


@dataclass(frozen=True)
class Press:
    """A key is pressed."""

    key: str


@dataclass(frozen=True)
class Lit:
    """The lamp says how bright it is; `volts` is a measurement."""

    level: int
    volts: int = 0


KEYS = (Press("up"), Press("off"))


def lamp(answer: Callable[[int], object] = Lit) -> Spec[int, Press]:
    """Return a lamp with three levels; `answer` makes what it says of its level."""

    def step(level: int, inp: Press) -> Iterator[Transition[int]]:
        if inp.key == "off":
            yield goto(0, answer(0))
        elif level < 2:
            yield goto(level + 1, answer(level + 1))
        else:
            yield goto(level, answer(level))

    return Spec(step, 0, KEYS, name="lamp")


def wide() -> Bench:
    """Return a bench whose model accepts any brightness: a hole."""
    spec = lamp(lambda _level: Where(lambda said: isinstance(said, Lit), says="any brightness"))
    return replace(bench_of(spec), types=(Lit,))


def accepting() -> Bench:
    """Return a bench whose model takes any number as the new level: a hole."""

    def step(level: int, inp: Press) -> Iterator[Transition[int] | Accept]:
        if inp.key == "off":
            yield goto(0, Lit(0))
        else:
            yield Accept(lambda seen: [level] if isinstance(seen[0], Lit) else [], says="whatever it says")

    return replace(bench_of(Spec(step, 0, KEYS, name="accepting")), types=(Lit,))


def blinking(within: tuple[float, float] | None) -> Bench:
    """Return a bench of a lamp that goes out by itself in this time; None: whenever it likes, a hole."""

    def step(_level: int, inp: Press) -> Iterator[Transition[int]]:
        yield goto(int(inp.key == "up"), Lit(int(inp.key == "up")))

    def emits(level: int) -> Iterator[Transition[int]]:
        if level:
            yield goto(0, "out", within=within)

    return bench_of(Spec(step, 0, KEYS, emits, name="blinking"))


class LosingCodec:
    """Encodes lines, and forgets the volts: a hole."""

    types = (Press, Lit)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "line"

    def encode(self, value: object) -> bytes:
        """Return a line."""
        match value:
            case Press(key):
                return key.encode()
            case Lit(level):
                return str(level).encode()
            case _:
                raise CodecError("no such value")

    def decode(self, port: str, data: bytes) -> object:
        """Return the output of a line."""
        del port
        return Lit(int(data))


def losing() -> Bench:
    """Return a bench behind that codec."""
    ports = {"line": inprocess(lambda: lambda line: line, port="line")}
    return Bench.on_ports(lamp(), LosingCodec(), ports, quiescence=0.01, name="losing")


def excused() -> Bench:
    """Return a bench that knows each missing answer as an issue: a hole."""
    issue = KnownIssue(lambda failure: failure.kind == "missing", says="it is tired")
    return replace(bench_of(lamp()), known_issues=(issue,))


def hunted(bench: Bench, *operators: str, budget: HuntBudget = FEW) -> MutationReport:
    """Return the report of a short analysis."""
    return mutate(bench, budget=budget, operators=operators)


def reasons(found: list[JudgedMutant]) -> set[tuple[str, str]]:
    """Return the reasons of survivors."""
    return {(str(each.why), each.says) for each in found}


def open_ones(report: MutationReport) -> list[JudgedMutant]:
    """Return what is open."""
    return report.of(Fate.OPEN)
