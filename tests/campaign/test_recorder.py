"""The events of a path that are kept in memory, and those that are read back from its trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.campaign import Settings, recorder
from otf.campaign.believed import TraceFile
from otf.campaign.confirm import DROPPED
from otf.campaign.recorder import Recorder, reread
from otf.campaign.settings import header
from otf.codec import Codec
from otf.runner import TraceWriter
from otf.spec import Spec, goto
from otf.trace.events import Sent
from tests.campaign.machine import TEA, Coin, bench, campaign, inputs, judged, run
from tests.runner.playing import on_function, virtually

MOST = 20


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let at most so many events be held; return how many there were, each time that one more came."""
    numbers = list[int]()
    call = Recorder.__call__

    def counted(self: Recorder, *arguments: object, **more: object) -> None:
        call(self, *arguments, **more)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] -- handed on
        numbers.append(len(self.events))

    monkeypatch.setattr(recorder, "KEPT", MOST)
    monkeypatch.setattr(Recorder, "__call__", counted)
    return numbers


def test_a_long_path_takes_no_more_memory_than_a_short_one(tmp_path: Path, held: list[int]) -> None:
    """However long it goes on, and its trace has everything."""
    summary = run(bench(), tmp_path, traces=1, steps=100)
    assert summary.verdict == "pass"
    assert max(held) <= MOST
    assert len(judged(tmp_path / "path-0001.jsonl").events) == len(held) > 5 * MOST


def test_a_long_path_that_fails_is_confirmed_and_shrunk_as_ever(
    tmp_path: Path, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was forgotten is read back from the trace: the same failure, the same shrunk inputs."""
    summary = run(bench(TEA), tmp_path / "long", mode="eager", stop_first=True, seed=3)
    [group] = summary.failures.values()
    assert max(held) <= MOST
    assert len(group.first.events) > MOST
    monkeypatch.setattr(recorder, "KEPT", 10**6)
    known = run(bench(TEA), tmp_path / "short", mode="eager", stop_first=True, seed=3)
    [other] = known.failures.values()
    assert (group.signature, group.tries, group.first.steps) == (other.signature, other.tries, other.first.steps)
    assert list(group.first.events) == list(other.first.events)
    assert group.shrunk is not None
    assert other.shrunk is not None
    assert inputs(group.shrunk.trace) == inputs(other.shrunk.trace)


LARGEST = 20_000


def counting(fails_after: float = float("inf")) -> Bench:
    """Return a bench of a system in this process that answers wrongly once it has taken so many inputs."""
    spec = Spec[int, str](lambda state, _inp: [goto(state, "done")], 0, ["do"])

    def make() -> Callable[[str], list[str]]:
        taken = count()
        return lambda _inp: ["done" if next(taken) < fails_after else "lost"]

    return Bench(spec, system=make, types=(str,), name="does")


def numbers(trace: Path) -> tuple[list[int], int]:
    """Return the numbers of the events in a trace, and how many it says to lack."""
    lines = [json.loads(line) for line in trace.read_bytes().splitlines()]
    lacks = sum(line["events"] for line in lines if line["event"] == "dropped")
    return [line["n"] for line in lines if "n" in line], lacks


@pytest.mark.parametrize("mode", ["strict", "eager", "in this process"])
def test_of_a_long_path_the_head_and_the_tail_of_the_trace_are_kept(mode: str, tmp_path: Path) -> None:
    """The path goes on, what lies between them is counted, and the campaign continues as with any trace."""
    tested, given = (counting(), "eager") if mode == "in this process" else (bench(), mode)
    summary = run(tested, tmp_path, traces=1, steps=1_000, mode=given, largest=LARGEST)
    assert (summary.verdict, summary.steps) == ("pass", 1_000)
    trace = tmp_path / "path-0001.jsonl"
    assert [*tmp_path.glob("path-*")] == [trace]
    assert LARGEST / 2 < trace.stat().st_size < LARGEST + 2_000
    kept, lacks = numbers(trace)
    [gap] = [at for at, (one, next_one) in enumerate(pairwise(kept)) if next_one != one + 1]
    assert kept[0] == 1
    assert kept[gap + 1] == kept[gap] + 1 + lacks
    assert TraceFile.read(trace).whole
    again = run(tested, tmp_path, traces=2, steps=1_000, mode=given, largest=LARGEST, resume=True)
    assert (again.verdict, again.steps, again.altered) == ("pass", 2_000, [])


def test_a_trace_that_lacks_events_is_not_judged_as_if_it_were_whole(tmp_path: Path) -> None:
    """What comes before the gap is judged, and the rest is in doubt; one that was changed is driven again."""
    run(counting(), tmp_path, traces=1, steps=1_000, largest=LARGEST)
    trace = tmp_path / "path-0001.jsonl"
    found = judged(trace, counting())
    assert (found.verdict.outcome, found.recorded) == ("pass", "pass")
    assert found.doubt.endswith("those before are judged alone")
    assert 0 < found.steps < 1_000
    assert reread(trace, counting()) == []
    trace.write_bytes(trace.read_bytes().replace(b'"inputs":', b'"inputs": '))
    again = run(counting(), tmp_path, traces=1, steps=1_000, largest=LARGEST, resume=True)
    assert len(again.altered) == 1


def test_a_failure_behind_the_gap_counts_and_is_not_shrunk(tmp_path: Path) -> None:
    """Its trace does not show how it came about, and a campaign that continues counts it by its last line."""
    summary = run(counting(900), tmp_path, traces=1, steps=1_000, largest=LARGEST)
    [group] = summary.failures.values()
    assert (group.shrunk, group.unshrunk, group.first.steps) == (None, DROPPED, 901)
    again = run(counting(900), tmp_path, traces=2, steps=1_000, largest=LARGEST, resume=True)
    assert (again.verdict, again.altered) == ("fail", [])
    assert [(each.count, each.first.steps) for each in again.failures.values()] == [(2, 901)]


def test_an_eager_failure_behind_the_gap_cannot_be_driven_again(tmp_path: Path) -> None:
    """So it is inconclusive, as one that is not seen again."""

    def make() -> Callable[[bytes], list[bytes]]:
        taken = count()
        return lambda _frame: [b"done" if next(taken) < 900 else b"lost"]

    spec = Spec[int, str](lambda state, _inp: [goto(state, "p.done")], 0, ["p.do"])
    summary = run(on_function(make, spec=spec), tmp_path, traces=1, steps=1_000, mode="eager", largest=LARGEST)
    assert summary.verdict == "inconclusive"
    assert DROPPED in summary.inconclusive[0].verdict.why


def test_a_trace_without_its_end_has_its_tail_beside_it(tmp_path: Path) -> None:
    """A tester that is killed leaves the head, which counts as cut, and the last events; the next path removes them."""
    head, path = header(counting(), Settings(out=tmp_path), 1), tmp_path / "path-0001.jsonl"
    writer = TraceWriter(path, head, datetime.now(UTC), LARGEST)
    for number in range(400):
        writer.event(Sent("do", "", float(number)))
    writer.close()
    beside = [path.with_name(f"{path.name}.{number}") for number in (1, 2)]
    assert sum(each.stat().st_size for each in beside) < LARGEST / 2 + 500
    assert any(b'"n":400,' in each.read_bytes() for each in beside)
    assert judged(path, counting()).cut
    TraceWriter(path, head, datetime.now(UTC), LARGEST).close()
    assert [*tmp_path.iterdir()] == [path]


def test_large_events_are_forgotten_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held of a path is bounded in bytes as well."""
    monkeypatch.setattr(recorder, "HEAVY", 2000)
    writer = TraceWriter(tmp_path / "trace.jsonl", header(bench(), Settings(out=tmp_path), 1), datetime.now(UTC))
    record, held = Recorder(writer, types=bench().known_types), list[int]()
    for number in range(100):
        record(Sent(Coin(), "m", float(number)))
        held.append(len(record.events))
    writer.close()
    assert max(held) < 20
    assert not record.whole


def test_what_no_trace_gives_back_is_held(tmp_path: Path, held: list[int]) -> None:
    """A codec that does not name its types loses nothing of a failure."""

    class Nameless:
        types = ()

        def __init__(self, codec: Codec) -> None:
            self.port, self.encode, self.decode = codec.port, codec.encode, codec.decode

    named = bench()
    assert named.codec is not None
    tested = replace(named, codec=Nameless(named.codec))
    summary = virtually(campaign(tested, tmp_path, traces=1, steps=100).run)
    assert summary.verdict == "pass"
    assert held[-1] == len(held) > 5 * MOST
