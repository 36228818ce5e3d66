"""Replay: a trace judged again offline has the verdict that it had live."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.adapter import Bench
from otf.core import Monitor
from otf.core.session import FLOOD
from otf.errors import TraceError
from otf.offline import Judgement, OnStep, judge
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled
from otf.trace.reading import TracedEvent, TraceReader, bounded
from otf.trace.record import end_line, event_line, header_line
from otf.trace.verdict import Verdict
from tests.campaign.machine import COFFEE, FAULTS, THIEF, Button, Coin, Refund, bench, judged, run
from tests.runner.playing import HEADER, on_function

Mode = Literal["strict", "eager"]
Edit = Callable[[list[bytes]], list[bytes]]


def _recorded(trace: Path) -> dict[str, Any]:
    end: dict[str, Any] = json.loads(trace.read_bytes().splitlines()[-1])
    return end


def _replayed(data: bytes, tested: Bench, on_step: OnStep | None = None) -> Judgement:
    return judge(TraceReader(bounded(io.BytesIO(data)), "the trace"), tested, on_step=on_step)


@given(
    seed=st.integers(0, 10**6),
    faults=st.sets(st.sampled_from(FAULTS)).map(tuple),
    delay=st.sampled_from([0.0, 0.5, 3.0, 30.0]),
    mode=st.sampled_from(["strict", "eager"]),
    burst=st.sampled_from([1, 1, 3]),
)
@settings(max_examples=40)
def test_replay_agrees(
    tmp_path_factory: pytest.TempPathFactory, seed: int, faults: tuple[str, ...], delay: float, mode: Mode, burst: int
) -> None:
    """Whatever a campaign records, fast or late, strictly, eagerly or in bursts: offline the verdict is the same.

    The failure too, to its signature, the number of its event, and the states that were possible.
    """
    folder = tmp_path_factory.mktemp("replay")
    run(bench(*faults, delay=delay), folder, seed=seed, traces=3, steps=20, mode=mode, burst=burst)
    for trace in folder.glob("path-*"):
        judgement, end = judged(trace), _recorded(trace)
        assert judgement.recorded == end["verdict"] == judgement.verdict.outcome
        failure = judgement.verdict.failure
        found = None if failure is None else json.loads(json.dumps(asdict(failure)))
        assert found == end["reason"]
        assert (judgement.steps, judgement.cut, judgement.changed) == (end["steps"], False, False)


def test_late_answers_replay(tmp_path: Path) -> None:
    """An answer that came late, but in time to be judged, passes offline as well."""
    run(bench(delay=3.0), tmp_path, traces=1)
    end = _recorded(tmp_path / "path-0001.jsonl")
    assert end["late"]
    assert judged(tmp_path / "path-0001.jsonl").verdict.outcome == end["verdict"] == "pass"


def _talks(state: int) -> list[Transition[int]]:
    return [goto(state, "p.tick")]


def _listens(state: int, _inp: str) -> Iterator[Transition[int]]:
    yield goto(state)


def test_a_flood_replays(tmp_path: Path) -> None:
    """Outputs without end fail offline too, although the model allows each of them."""
    endless = on_function(
        lambda: lambda _frame: (b"tick" for _ in range(10**9)), spec=Spec(_listens, 0, ["p.go"], _talks)
    )
    run(endless, tmp_path, traces=1, shrink=False)
    judgement = judged(tmp_path / "path-0001.jsonl", endless)
    assert (judgement.recorded, judgement.verdict.outcome) == ("fail", "fail")
    assert judgement.verdict.failure is not None
    assert judgement.verdict.failure.kind == "flood"


def test_a_flood_of_bytes_replays(tmp_path: Path) -> None:
    """The bytes of the trace are counted as those on the wire were."""
    spec = Spec[int, str](_listens, 0, ["p.go"], lambda state: [goto(state, str)])
    endless = on_function(lambda: lambda _frame: (b"x" * 60_000 for _ in range(10**9)), spec=spec)
    summary = run(endless, tmp_path, traces=1, shrink=False)
    [group] = summary.failures.values()
    judgement = judged(tmp_path / "path-0001.jsonl", endless)
    assert judgement.verdict.failure is not None
    assert group.first.verdict.failure is not None
    assert judgement.verdict.failure.seen == group.first.verdict.failure.seen
    assert judgement.verdict.failure.seen == f"more than {FLOOD} bytes of outputs without a pause"


def test_remarks_come_from_the_record(tmp_path: Path) -> None:
    """What the tester saw beside the events stays with the failure."""

    def step(state: int, _inp: str) -> Iterator[Transition[int]]:
        yield goto(state, "p.pong")

    def system(_frame: bytes) -> bytes:
        raise ValueError("no beans")

    dying = on_function(lambda: system, spec=Spec(step, 0, ["p.ping"]))
    run(dying, tmp_path, traces=1, shrink=False)
    failure = judged(tmp_path / "path-0001.jsonl", dying).verdict.failure
    assert failure is not None
    assert failure.note.endswith("ValueError: no beans")


def test_a_cut_trace(tmp_path: Path) -> None:
    """A trace that was cut has no recorded verdict; its events are judged."""
    run(bench(THIEF), tmp_path, traces=1, shrink=False, steps=40)
    data = (tmp_path / "path-0001.jsonl").read_bytes()
    last = data.rindex(b"\n", 0, -1)
    whole, half = _replayed(data[: last + 1], bench()), _replayed(data[: last // 2], bench())
    assert (whole.recorded, whole.cut, whole.verdict.outcome) == (None, True, "fail")
    assert (half.recorded, half.cut, half.verdict.outcome) == (None, True, "pass")
    assert 0 < half.steps < whole.steps


EDITS: list[tuple[Edit, int, str]] = [
    (lambda lines: lines * 2, 10, "a second trace begins after the event 'end'"),
    (lambda lines: [*lines, lines[1]], 10, "there is 'sent' after the event 'end'"),
    (lambda lines: lines[:1] + lines[2:], 2, "here stands event 2, and event 1 is due"),
    (lambda lines: lines[:3] + lines[4:], 4, "here stands event 4, and event 3 is due"),
    (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4, "here stands event 4, and event 3 is due"),
]


@pytest.mark.parametrize(
    ("edit", "line", "why"), EDITS, ids=["two traces", "more events", "first removed", "third removed", "swapped"]
)
def test_lines_removed_or_added(tmp_path: Path, edit: Edit, line: int, why: str) -> None:
    """A trace of which lines were removed, swapped or added is refused: a verdict on it would not be the system's."""
    run(bench(), tmp_path, traces=1, steps=3)
    lines = (tmp_path / "path-0001.jsonl").read_bytes().splitlines(keepends=True)
    with pytest.raises(TraceError, match=rf"the trace, line {line}: {why}"):
        _replayed(b"".join(edit(lines)), bench())


def test_blank_lines(tmp_path: Path) -> None:
    """Blank lines, such as an editor adds at the end, change nothing."""
    run(bench(), tmp_path, traces=1, steps=3)
    data = (tmp_path / "path-0001.jsonl").read_bytes()
    assert _replayed(data.replace(b"\n", b"\n \n") + b"\n", bench()) == _replayed(data, bench())


def test_a_changed_model(tmp_path: Path) -> None:
    """A trace of another model is judged by today's model, and the change is reported."""
    run(bench(), tmp_path, traces=1)

    def free(paid: int, inp: object) -> Iterator[Transition[int]]:
        yield from COFFEE.step(paid, inp)  # type: ignore[misc]

    strict = replace(bench(), spec=Spec(free, 0, [Coin(), Button(), Refund()]))
    judgement = judged(tmp_path / "path-0001.jsonl", strict)
    assert (judgement.changed, judgement.verdict.outcome) == (True, "pass")


def test_each_step_is_told(tmp_path: Path) -> None:
    """Who shows a trace sees each event with the possible states after it."""
    run(bench(), tmp_path, traces=1, steps=5)
    seen: list[tuple[int, int]] = []

    def on_step(told: TracedEvent, monitor: Monitor) -> None:
        seen.append((told.line, len(monitor.states)))

    data = (tmp_path / "path-0001.jsonl").read_bytes()
    _replayed(data, bench(), on_step)
    assert [line for line, _ in seen] == list(range(2, data.count(b"\n")))
    assert all(states >= 1 for _, states in seen)


def test_a_trace_of_another_bench(tmp_path: Path) -> None:
    """Values of unknown types are reported with their line."""
    run(bench(), tmp_path, traces=1, steps=5)
    data = (tmp_path / "path-0001.jsonl").read_bytes()
    with pytest.raises(TraceError, match=r"the trace, line 2: the type '\w+' is not known to the bench"):
        _replayed(data, on_function(lambda: lambda _frame: None))


def test_a_trace_of_which_the_model_specifies_nothing() -> None:
    """From its first input on, another model allows anything: that is no pass, however many inputs follow."""
    spec = Spec[int, str](lambda _state, _inp: [], 0, ["p.in"])
    tested = replace(on_function(lambda: lambda _frame: None), spec=spec)
    events: list[Event] = []
    for at in (0.0, 1.0, 2.0):
        events += [Sent("p.in", "p", at), Seen("p.out", "p", at + 0.1), Quiet(at + 0.5)]
    lines = [header_line(HEADER, "2026-11-22"), *(event_line(n, each, "2026") for n, each in enumerate(events, 1))]
    lines += [end_line(Verdict("fail"), "2026", 3)]
    judgement = _replayed(b"".join(json.dumps(line).encode() + b"\n" for line in lines), tested)
    assert (judgement.steps, judgement.conclusion.outcome) == (3, "inconclusive")
    assert "one that the model does not specify" in judgement.conclusion.why


def _ticks(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "p.tick", within=(0.15, 0.3))


@pytest.mark.parametrize(("seconds", "outcome"), [(0.06, "pass"), (0.015, "fail")])
def test_a_stall_in_a_trace_is_judged_as_it_was(seconds: float, outcome: str) -> None:
    """A late tick and one in time after 2,000: whether the stall explains them depends on its length."""
    ticks: Spec[int, str] = Spec(lambda state, _inp: [goto(state)], 0, ["in"], _ticks)
    tested = replace(on_function(lambda: lambda _frame: None), spec=ticks, outputs=("p",), latency=0.005, busy=0.005)
    times = [0.2 * number for number in range(1, 2001)]
    times += [times[-1] + 0.26, times[-1] + 0.36, times[-1] + 0.56]
    events: list[Event] = [Seen("p.tick", "p", at) for at in times]
    events.insert(2000, Stalled(seconds, times[2000]))
    lines = [header_line(HEADER, "2026-11-22"), *(event_line(n, each, "2026") for n, each in enumerate(events, 1))]
    lines += [end_line(Verdict("fail"), "2026", 0)]
    judgement = _replayed(b"".join(json.dumps(line).encode() + b"\n" for line in lines), tested)
    assert judgement.verdict.outcome == outcome
