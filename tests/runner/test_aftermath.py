"""The output of a system after a failure is recorded and shown, and is not judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otf.adapter import Ending
from otf.adapters.inprocess import FrameHandler, Reply
from otf.campaign import Campaign, Settings, Summary
from otf.errors import UsageError
from otf.offline import judge
from otf.runner import path as runner
from otf.trace import reading
from otf.trace.reading import TracedEvent, TraceReader, bounded
from tests.campaign.machine import Machine, made_by
from tests.runner.playing import virtually

BANNER: Reply = (0.1, b"U-Boot 2023.01")


class Panicking:
    """A machine that breaks at the second input, and then says more."""

    def __init__(self, *more: Reply) -> None:
        self.inputs = 0
        self.more = more

    def __call__(self, _frame: bytes) -> list[Reply]:
        """Take an input."""
        self.inputs += 1
        return [(0.0, b"panic"), *self.more] if self.inputs > 1 else []


def _run(out: Path, *more: Reply, broken: int = 100, **settings: Any) -> Summary:  # noqa: ANN401 -- of `Settings`
    """Run one path; the first `broken` machines break."""
    left = iter(range(broken))

    def make() -> FrameHandler:
        return Machine() if next(left, None) is None else Panicking(*more)

    given: dict[str, Any] = {"out": out, "mode": "strict", "traces": 1, "steps": 10, "shrink": False, **settings}
    return virtually(Campaign(made_by(make), Settings(**given)).run)


def _aftermath(trace: Path) -> list[TracedEvent]:
    """Return the aftermath in a trace, whose verdict is the same without it."""
    with trace.open("rb") as file:
        reader = TraceReader(bounded(file), "trace")
        judgement = judge(reader, made_by(Machine), keep=True)
    assert judgement.verdict.failed
    assert not any("U-Boot" in str(event) for event in judgement.events)
    return reader.aftermath


def test_a_banner_after_a_failure(tmp_path: Path) -> None:
    """It is in the trace and among the remarks; a replay ignores it."""
    [group] = _run(tmp_path, BANNER, (0.15, Ending("exit status 3"))).failures.values()
    first, second = _aftermath(group.first.trace)
    assert (first.raw, first.data["event"], second.data["event"]) == (b"U-Boot 2023.01", "seen", "closed")
    failure = group.first.verdict.failure
    assert failure is not None
    assert "afterwards on m: Undecodable(raw=b'U-Boot 2023.01'" in failure.note
    assert "afterwards on m: the port ended: exit status 3" in failure.note


def test_what_comes_later_than_that(tmp_path: Path) -> None:
    """The ports are heard for a bounded time, which may be none."""
    [group] = _run(tmp_path / "a", (0.3, b"late")).failures.values()
    assert _aftermath(group.first.trace) == []
    [group] = _run(tmp_path / "b", (0.3, b"late"), aftermath=0.5).failures.values()
    assert len(_aftermath(group.first.trace)) == 1
    [group] = _run(tmp_path / "c", BANNER, aftermath=0.0).failures.values()
    assert _aftermath(group.first.trace) == []
    with pytest.raises(UsageError, match="aftermath=-1"):
        Settings(out=tmp_path, aftermath=-1)


def test_an_aftermath_without_end(tmp_path: Path) -> None:
    """It is bounded in number, and only its begin is among the remarks."""
    [group] = _run(tmp_path, *[(0.1, b"spam")] * 1000).failures.values()
    assert len(_aftermath(group.first.trace)) == runner.AFTERMATH
    failure = group.first.verdict.failure
    assert failure is not None
    assert failure.note.count("afterwards") == 20


def test_a_restart_that_only_eager_mode_saw(tmp_path: Path) -> None:
    """The inconclusive path says what was seen, with the text of the restart."""
    [result] = _run(tmp_path, BANNER, broken=1, mode="eager").inconclusive
    assert "seen in eager mode only" in result.verdict.why
    assert "seen: Undecodable(raw=b'panic'" in result.verdict.why
    assert "afterwards on m: Undecodable(raw=b'U-Boot 2023.01'" in result.verdict.why


def test_a_trace_with_an_endless_aftermath_fills_no_memory(tmp_path: Path) -> None:
    """A trace may come from a stranger: of what follows a failure, its reader keeps a thousand events."""
    [group] = _run(tmp_path, BANNER).failures.values()
    lines = group.first.trace.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"aftermath"' in line)
    group.first.trace.write_bytes(b"".join([*lines[:at], *[lines[at]] * 1_500, *lines[at:]]))
    assert len(_aftermath(group.first.trace)) == reading.AFTERMATH == 1_000
