"""Properties in a campaign: each that fails is a kind, its trace replays and shrinks; unmet goals are told."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from otf import Bench, Spec, UsageError, goto, run
from otf.adapter import KnownIssue
from otf.adapters import inprocess
from otf.campaign.run import NonconformanceError
from otf.codec import lines
from otf.logic import Formula, always, implies, never, now, sometimes, then, within
from otf.offline import judge
from otf.spec import Transition
from otf.trace.reading import TraceReader


def counter(_state: int, inp: str) -> Iterable[Transition[int]]:
    """Allow any number as the answer of `next`, and silence of `reset`."""
    yield goto(0, str) if inp == "next" else goto(0)


class Counter:
    """A counter that goes on at 9 after the second reset."""

    def __init__(self) -> None:
        self.count = self.resets = 0

    def step(self, inp: str) -> list[str]:
        """Return the answer to an input."""
        if inp == "reset":
            self.resets += 1
            self.count = 0 if self.resets != 2 else 9  # the seeded fault
            return []
        self.count += 1
        return [str(self.count)]


PROPERTIES: dict[str, Formula] = {
    "no 3": never("3"),
    "starts again": never(now("reset") & then(now("next") & ~now("1"))),
    "reaches 3": sometimes("3"),
    "reaches 1000": sometimes("1000"),
}
SPEC = Spec(counter, 0, ["next", "reset"])


def in_process(**properties: Formula) -> Bench:
    """Return the bench of the counter with these properties."""
    return Bench.in_process(SPEC, lambda: Counter().step, types=(str,), properties=properties or PROPERTIES)


def on_a_port(**properties: Formula) -> Bench:
    """Return the bench of the counter behind a port."""
    ports = {"line": inprocess(lambda: _answers(Counter()))}
    return Bench.on_ports(SPEC, lines({str: "{}"}), ports, quiescence=0.01, properties=properties or PROPERTIES)


def _answers(system: Counter) -> Callable[[bytes], list[bytes]]:
    return lambda data: [f"{each}".encode() for each in system.step(data.decode().strip())]


@pytest.mark.parametrize("make", [in_process, on_a_port])
def test_kinds(make: Callable[[], Bench], tmp_path: Path) -> None:
    """Each property that fails is a kind of failure, shrunk to the shortest run, and its trace fails again."""
    bench = make()
    with pytest.raises(NonconformanceError) as failed:
        run(bench, traces=40, steps=20, seed=3, strategy="random", out=tmp_path)
    found = {str(each.signature): each for each in failed.value.summary.failures.values()}
    assert found.keys() == {"property: no 3", "property: starts again"}
    lengths = {name: each.shrunk.steps for name, each in found.items() if each.shrunk}
    assert lengths == {"property: no 3": 3, "property: starts again": 3}
    for each in found.values():
        assert each.shrunk is not None
        with each.shrunk.trace.open("rb") as file:
            again = judge(TraceReader(file, "shrunk"), bench).verdict
        assert again.failure == each.shrunk.verdict.failure


def test_properties_that_one_step_violates(tmp_path: Path) -> None:
    """The failure names all of them, and a known issue about one hides no other."""
    broken = in_process(**{"no 2": never("2"), "less than 2": never(lambda step: "2" in step.outputs)})
    with pytest.raises(NonconformanceError, match=r"no 2, property: .*\n *less than 2, property: "):
        run(broken, traces=5, steps=20, seed=3, out=tmp_path / "two")
    known = KnownIssue(lambda failure: failure.seen == "no 2 cannot hold any more", "2")
    alone = replace(in_process(**{"no 2": never("2")}), known_issues=(known,))
    assert run(alone, traces=5, steps=20, seed=3, out=tmp_path / "one").verdict == "pass"
    with pytest.raises(NonconformanceError):
        run(replace(broken, known_issues=(known,)), traces=5, steps=20, seed=3, out=tmp_path / "hidden")


def test_goals(tmp_path: Path) -> None:
    """A goal that no path reached is told; one that was reached is not."""
    bench = in_process(**{"reaches 3": PROPERTIES["reaches 3"], "far": sometimes("1000")})
    campaign = run(bench, strategy="random", seed=1, out=tmp_path)
    assert campaign.verdict == "pass"
    told = [line for line in campaign.result.basis() if "goal" in line]
    assert told == ["goal that no path reached: far, sometimes('1000')"]


def test_open_at_the_end(tmp_path: Path) -> None:
    """A promise that the end of each path leaves open is told, and fails nothing."""
    campaign = run(in_process(later=always(implies(now("next"), within(50, "77")))), traces=3, steps=5, out=tmp_path)
    assert campaign.verdict == "pass"
    assert [line for line in campaign.result.basis() if line.startswith("property open")]


def test_no_property() -> None:
    """What is not a property is refused, with what may be written."""
    with pytest.raises(UsageError, match=r"always\(…\)"):
        Bench.in_process(SPEC, lambda: Counter().step, properties={"odd": "tea"})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
