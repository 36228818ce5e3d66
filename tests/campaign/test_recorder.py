"""The events of a path that are kept in memory, and those that are read back from its trace."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.campaign import Settings, recorder
from otf.campaign.recorder import LongTraceError, Recorder
from otf.campaign.settings import header
from otf.codec import Codec
from otf.runner import TraceWriter
from otf.spec import Spec, goto
from otf.trace.events import Event, Seen, Sent
from tests.campaign.machine import TEA, Coin, Tea, bench, campaign, inputs, judged, run
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


def test_a_path_ends_when_its_trace_is_long(tmp_path: Path) -> None:
    """It comes to its end as after its last step, and the next one begins; the trace and the journal tell why."""
    for mode in ("strict", "eager"):
        summary = run(bench(), tmp_path / mode, traces=2, steps=10_000, mode=mode, largest=LARGEST)
        assert (summary.verdict, summary.paths) == ("pass", 2)
        assert 100 < summary.steps < 500
        for number in (1, 2):
            trace = tmp_path / mode / f"path-000{number}.jsonl"
            assert LARGEST < trace.stat().st_size < LARGEST + 2000
            assert judged(trace).verdict.outcome == "pass"
        why = f'"why":"the path was ended when its trace had {LARGEST} bytes"'
        assert why in trace.read_text(encoding="utf-8")
        assert (tmp_path / mode / "campaign.jsonl").read_text(encoding="utf-8").count(
            why
        ) == 4  # where it ends and where it counts


def test_a_path_of_a_system_in_this_process_ends_likewise(tmp_path: Path) -> None:
    """Some steps later, since these are taken many at a time."""
    spec = Spec[int, str](lambda state, _inp: [goto(state, "done")], 0, ["do"])
    tested = Bench(spec, system=lambda: lambda _inp: ["done"], types=(str,), name="does")
    summary = run(tested, tmp_path, traces=1, steps=100_000, largest=LARGEST)
    assert summary.verdict == "pass"
    assert 50 < summary.steps <= 200


def test_a_path_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """An answer of which the model demands every part is no flood, and its trace is bounded all the same."""
    spec = Spec[int, str](lambda state, _inp: [goto(state, *["p.part"] * 900)], 0, ["p.all"])
    tested = on_function(lambda: lambda _frame: [b"part"] * 900, spec=spec)
    summary = run(tested, tmp_path, traces=1, largest=LARGEST)
    assert (summary.verdict, summary.failures) == ("inconclusive", {})
    assert summary.inconclusive[0].verdict.why.startswith("the path did not end, and its trace has 4")
    assert (tmp_path / "path-0001.jsonl").stat().st_size < 2 * LARGEST + 2000


def test_a_verdict_that_was_found_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event that made the trace too long may be the one that failed."""
    call = Recorder.__call__

    def full(self: Recorder, event: Event, *arguments: object, **more: object) -> None:
        call(self, event, *arguments, **more)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] -- handed on
        if isinstance(event, Seen) and event.output == Tea():
            raise LongTraceError("too long")

    monkeypatch.setattr(Recorder, "__call__", full)
    summary = run(bench(TEA), tmp_path, shrink=False, stop_first=True)
    assert [signature.seen for signature in summary.failures] == ["Tea"]


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
