"""What is held of a path in memory, and what is read back from its trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from otf.campaign import recorder
from otf.campaign.recorder import Recorder
from otf.codec import Codec
from tests.campaign.machine import TEA, bench, campaign, inputs, judged, run
from tests.runner.playing import virtually

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
