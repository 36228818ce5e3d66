"""How many kinds of failure a campaign finds where the number of defects is known: `python -m benchmarks.kinds`.

Ten systems in this process have 5 to 40 defects each, which show independently: in place of a right answer there is a
wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio

from benchmarks.measure import command, positive, save
from otf.adapter import Bench
from otf.campaign import Campaign, Settings
from otf.spec import Spec, goto

SEED: Final = 7

Answer = Callable[[Any, Any], tuple[Any, tuple[object, ...]]]
"""What an input does in a state: the next state, and the outputs."""
Defect = Callable[[Any, Any, tuple[object, ...]], tuple[object, ...] | None]
"""The wrong outputs in a state, for an input, in place of the right ones; None where they are right."""


@dataclass(frozen=True)
class System:
    """A model, with the defects of its system, of which each should be one kind."""

    name: str
    initial: Any
    inputs: Sequence[Any]
    answer: Answer
    defects: Sequence[Defect]

    def bench(self, defects: Sequence[Defect] | None = None) -> Bench:
        """Return the bench of a system with these defects, all by default."""
        wrong, answer = self.defects if defects is None else defects, self.answer

        def step(state: Any, inp: Any) -> Iterable[Any]:
            then, outputs = answer(state, inp)
            return [goto(then, *outputs)]

        def system() -> Callable[[Any], Iterable[object]]:
            state = self.initial

            def act(inp: Any) -> Iterable[object]:
                nonlocal state
                before, (state, outputs) = state, answer(state, inp)
                return next((seen for each in wrong if (seen := each(before, inp, outputs)) is not None), outputs)

            return act

        return Bench.in_process(Spec(step, self.initial, self.inputs), system, name=self.name)


def at(state: object, inp: object, seen: object) -> Defect:
    """Return a defect in one entry of a table."""
    return lambda now, got, _: (seen,) if (now, got) == (state, inp) else None


def on(inp: object, seen: object) -> Defect:
    """Return a defect of one input in all states, except where that answer is right."""
    return lambda _, got, outputs: (seen,) if got == inp and outputs != (seen,) else None


def table(
    name: str, states: Sequence[Hashable], inputs: Sequence[Hashable], outputs: Sequence[object], wrong: int
) -> System:
    """Return a random table of which some entries are answered wrongly."""
    random = Random(f"{SEED}/{name}")
    rows = {(s, i): (random.choice(states), random.choice(outputs)) for s in states for i in inputs}
    rows |= {(s, inputs[0]): (t, rows[s, inputs[0]][1]) for s, t in zip(states, [*states[1:], states[0]], strict=True)}
    chosen = random.sample([key for key in rows if key[1] != inputs[0]], wrong)
    defects = [at(*key, random.choice([each for each in outputs if each != rows[key][1]])) for key in chosen]

    def answer(state: Any, inp: Any) -> tuple[Any, tuple[object, ...]]:
        then, output = rows[state, inp]
        return then, (output,)

    return System(name, states[0], inputs, answer, defects)


@dataclass(frozen=True)
class Read:
    """Reads a register."""

    address: int


@dataclass(frozen=True)
class Write:
    """Writes a register."""

    address: int
    value: int


@dataclass(frozen=True)
class Value:
    """The content of a register."""

    value: int


@dataclass(frozen=True)
class Done:
    """A register was written."""

    address: int


@dataclass(frozen=True)
class Failed:
    """The system refused something."""

    code: int


def _registers(state: tuple[int, ...], inp: Read | Write) -> tuple[tuple[int, ...], tuple[object, ...]]:
    if isinstance(inp, Read):
        return state, (Value(state[inp.address]),)
    changed = (*state[: inp.address], inp.value, *state[inp.address + 1 :])
    return changed, (Done(inp.address),)


def registers(size: int, wrong: int) -> System:
    """Return registers of which some are read wrongly."""
    random, addresses = Random(f"{SEED}/registers"), range(size)
    inputs = [*map(Read, addresses), *(Write(address, value) for address in addresses for value in (1, 2))]
    chosen = random.sample(addresses, wrong)
    defects = [on(Read(address), Value(random.randrange(90, 999))) for address in chosen]
    return System(f"registers of dataclasses, {size}", (0,) * size, inputs, _registers, defects)


def stuck(size: int, wrong: int) -> System:
    """Return registers of which some are stuck at the same value."""
    chosen = Random(f"{SEED}/stuck").sample(range(size), wrong)
    inputs = [*map(Read, range(size)), *(Write(address, value) for address in range(size) for value in (1, 2))]
    return System(f"stuck registers, {size}", (0,) * size, inputs, _registers, [on(Read(n), Value(7)) for n in chosen])


def console(wrong: int) -> System:
    """Return a console of text whose `get`s of some names are wrong."""
    names = [f"{letter}{number}" for letter in "abcde" for number in range(4)]
    inputs = [*(f"get {name}" for name in names), *(f"set {name} {value}" for name in names for value in (1, 2))]

    def answer(state: Mapping[str, int] | tuple[int, ...], inp: str) -> tuple[Any, tuple[object, ...]]:
        what, name, *value = inp.split()
        place, now = names.index(name), tuple(state)
        if what == "get":
            return now, (f"{name} = {now[place]}",)
        return (*now[:place], int(value[0]), *now[place + 1 :]), ("ok",)

    chosen = Random(f"{SEED}/console").sample(names, wrong)
    defects = [on(f"get {name}", f"{name} = {40 + at}") for at, name in enumerate(chosen)]
    return System("a console of text", (0,) * len(names), inputs, answer, defects)


def frames(wrong: int) -> System:
    """Return a device that answers frames of bytes, some wrongly."""
    inputs = [bytes([kind, address]) for kind in (0x10, 0x20) for address in range(12)]

    def answer(state: int, inp: bytes) -> tuple[int, tuple[object, ...]]:
        return (state + 1) % 3, (bytes([inp[0] | 1, inp[1], 0]),)

    chosen = Random(f"{SEED}/frames").sample(inputs, wrong)
    defects = [on(each, bytes([each[0] | 1, each[1], 100 + at])) for at, each in enumerate(chosen)]
    return System("frames of bytes", 0, inputs, answer, defects)


def named(wrong: int) -> System:
    """Return a table whose system gives each failure a name."""
    found = table("failures with names", [f"s{at}" for at in range(12)], list("abcdefgh"), ["x", "y", "z"], wrong)
    random = Random(f"{SEED}/named")
    entries = [(s, i) for s in (f"s{at}" for at in range(12)) for i in "bcdefgh"]
    chosen = random.sample(entries, 2 * wrong)

    def error(number: int) -> Defect:
        ours = chosen[2 * number : 2 * number + 2]
        return lambda now, got, _: (f"error_{number}",) if (now, got) in ours else None

    return System(found.name, found.initial, found.inputs, found.answer, [error(at) for at in range(wrong)])


def commands(wrong: int) -> System:
    """Return a device whose commands are enumerated in a field, some refused."""
    inputs = [Write(address, value) for address in range(20) for value in range(3)]

    def answer(state: int, inp: Write) -> tuple[int, tuple[object, ...]]:
        return (state + inp.value) % 1000, (Done(inp.address),)

    chosen = Random(f"{SEED}/commands").sample(inputs, wrong)
    return System("commands with fields", 0, inputs, answer, [on(each, Failed(3)) for each in chosen])


def systems() -> Iterator[System]:
    """Yield the ten systems."""
    texts, numbers = [f"s{at}" for at in range(10)], list(range(16))
    yield table("a table of texts", texts, list("abcdef"), ["x", "y", "z"], 20)
    yield table("a table of two outputs", texts, list("abcdef"), ["ok", "no"], 12)
    yield table("a table of numbers", numbers, list(range(1, 9)), list(range(100, 110)), 40)
    yield table("a table of bytes", [bytes([at]) for at in range(8)], [b"a", b"b", b"c", b"d"], [b"\x01", b"\x02"], 8)
    yield registers(40, 30)
    yield stuck(16, 5)
    yield console(9)
    yield frames(10)
    yield named(16)
    yield commands(25)


def kinds(bench: Bench, paths: int, seed: int = 1, steps: int | None = None) -> list[str]:
    """Return the kinds of failure that a campaign finds."""
    with TemporaryDirectory() as folder:
        settings = Settings(out=Path(folder, "out"), traces=paths, seed=seed, steps=steps or 50)
        found = anyio.run(Campaign(bench, settings).run)
    return [f"{group.count:5}  {group.signature}" for group in found.failures.values()]


def measured(name: str, bench: Bench, expected: int, paths: int, *, verbose: bool) -> dict[str, Any]:
    """Return the figures of a campaign, and print them."""
    found = kinds(bench, paths)
    surplus = max(0, len(found) - expected)
    print(f"{name:45} {paths:5} paths  {len(found):3} found  {expected:3} expected  {surplus:3} surplus", flush=True)
    if verbose:
        print(*found, sep="\n")
    return {"name": name, "paths": paths, "found": len(found), "expected": expected, "surplus": surplus}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each system; write all if asked to."""
    parser = command("kinds", __doc__)
    parser.add_argument("--paths", type=positive, default=1_000)
    parser.add_argument("--verbose", action="store_true", help="print the kinds")
    parser.add_argument("--only", default="", help="part of the name of a system")
    chosen = parser.parse_args(arguments)
    rows = list[dict[str, Any]]()
    for each in systems():
        if chosen.only in each.name:
            bench, one = each.bench(), each.bench(each.defects[:1])
            rows.append(measured(each.name, bench, len(each.defects), chosen.paths, verbose=chosen.verbose))
            rows.append(measured("  one of its defects", one, 1, chosen.paths, verbose=chosen.verbose))
    save({"rows": rows}, chosen.json)


if __name__ == "__main__":
    main()
