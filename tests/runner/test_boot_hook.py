"""Outputs that come while a boot hook runs: at some time between its start and its end, or from before it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, cast

import anyio
import pytest

from otf.adapter import Bench, Frame, Life, Line
from otf.core import Model, Monitor, Oracle, Routes, Timing
from otf.runner.boot_hook import LifeBefore
from otf.runner.codec_cache import CodecCache
from otf.runner.wire import Arrived, Wire
from otf.spec import Idle, Spec, Transition, goto, start
from otf.trace.events import Seen
from tests.runner.playing import Answer, Played, hub, play
from tests.runner.words import Words

HOOK: Final = 0.25  # seconds that it takes


def _emits(state: str) -> Iterator[Transition[str]]:
    timers = [start("status", 0.48, 0.52)]
    if state == "booting":
        yield goto("on", "p.banner", within=(0, 0.3), timers=timers)
    else:
        yield goto("on", "p.status", after="status", timers=timers)


SPEC: Spec[str, object] = Spec(lambda _state, _inp: (), "booting", [], _emits)
UNTIMED: Spec[str, object] = Spec(
    lambda _state, _inp: (), "booting", [], lambda state: [goto("on", "p.banner" if state == "booting" else "p.status")]
)


EITHER: Spec[str, object] = Spec(
    lambda _state, _inp: (),
    "booting",
    [],
    lambda state: [goto("on", "p.status"), *[goto("on", "p.banner")] * (state == "booting")],
)


def _booted(
    first: float, *before: float, period: float = 0.5, spec: Spec[str, object] = SPEC, banner: bytes = b"banner"
) -> Played:
    """Drive a device whose banner comes so many seconds after its hook begins, `before` it lines of the last life."""
    lines = dict[str, Line]()

    def device(_port: str, _data: bytes) -> Iterator[Answer]:
        yield from ((at, "p", b"status") for at in before)
        yield first, "p", banner
        yield from ((first + period * number, "p", b"status") for number in range(1, 20))

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line]]:
        async with hub(device, "p")() as found:
            lines.update(found)
            yield found

    async def boot() -> None:
        await lines["p"].send(b"boot")
        await anyio.sleep(HOOK)

    life = Life(boot=boot)
    bench = Bench(spec, codec=Words(), connect=connect, outputs=("p",), life=life, quiescence=0.05, latency=0.01)
    return play(bench, Idle(2.0))


@pytest.mark.parametrize("first", [0.01, 0.2, 0.3, 0.5])
def test_a_banner_during_the_hook_came_at_some_time_of_it(first: float) -> None:
    """The timers that it starts run since then, if it came in the hook: no status of a correct device is early."""
    played = _booted(first)
    assert (played.verdict.outcome, len([each for each in played.events if isinstance(each, Seen)])) == ("pass", 8)
    slack = next(more["slack"] for event, _, more in played.recorded if isinstance(event, Seen))
    assert slack == (pytest.approx(HOOK) if first < HOOK else 0.0)


def test_what_is_late_after_the_hook_fails_as_before() -> None:
    """A status that comes each 0.4 s is early as soon as the one before it was seen."""
    assert _booted(0.2, period=0.4).failure.kind == "early"
    assert _booted(0.7).failure.kind in {"late", "missing"}


@pytest.mark.parametrize("spec", [SPEC, UNTIMED])
def test_a_line_of_the_life_before_is_dropped(spec: Spec[str, object]) -> None:
    """What comes during the hook, and the model does not allow at first, was sent before the reset."""
    played = _booted(0.1, 0.02, 0.05, spec=spec)
    assert played.verdict.outcome == "pass"
    assert [each.output for each in played.events if isinstance(each, Seen)][:2] == ["p.banner", "p.status"]
    assert _booted(0.4, 0.3, spec=spec).failure.kind == "wrong"


def test_a_line_of_the_life_before_that_would_be_allowed_at_first() -> None:
    """What comes after it during the hook decides: where the banner follows, it was sent before the reset."""
    played = _booted(0.1, 0.02, 0.05, spec=EITHER)
    assert played.verdict.outcome == "pass"
    assert [each.output for each in played.events if isinstance(each, Seen)][:2] == ["p.banner", "p.status"]
    assert _booted(0.4, 0.3, spec=EITHER).failure.kind == "wrong"


@pytest.mark.parametrize("spec", [SPEC, UNTIMED, EITHER])
def test_half_a_line_of_the_life_before(spec: Spec[str, object]) -> None:
    """The reset cut it off, and the banner stands behind it in the same line; after the hook it does not."""
    assert _booted(0.1, spec=spec, banner=b"stabanner").verdict.outcome == "pass"
    assert _booted(0.1, 0.05, spec=spec, banner=b"stabanner").verdict.outcome == "pass"
    assert _booted(0.3, spec=spec, banner=b"stabanner").verdict.failed
    assert _booted(0.1, spec=spec, banner=b"stabanned").verdict.failed is (spec is not EITHER)


class Late:
    """The wire of a tester that did not run for 0.4 s after its hook: what is there is stamped with the end of that."""

    unheard = 0.0

    def __init__(self, *data: bytes) -> None:
        self.inbox = deque(Arrived("p", Frame(each), 0.4) for each in data)

    def poll(self) -> None:
        """Take nothing more."""

    def arrived(self) -> list[Arrived]:
        """Return what is there."""
        there = list(self.inbox)
        self.inbox.clear()
        return there


def test_a_banner_that_a_late_tester_finds_is_kept() -> None:
    """It was due within 0.3 s, and may have come then."""
    wire = Late(b"status", b"banner")
    oracle = Oracle(Model(SPEC, Routes(("p",))), timing=Timing(0.05, 0.01))
    LifeBefore(oracle, cast("Wire", wire), CodecCache(Words())).drop()
    assert [each.what for each in wire.inbox] == [Frame(b"banner")]


def test_a_flood_of_the_life_before_does_not_hold_up_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand long lines few halves are tried; the banner behind them is kept."""
    tried = list[Oracle]()

    def counting(oracle: Oracle) -> Monitor:
        tried.append(oracle)
        return Monitor(oracle)

    monkeypatch.setattr("otf.runner.boot_hook.Monitor", counting)
    wire = Late(*[b"x" * 500] * 1_000, b"banner")
    oracle = Oracle(Model(SPEC, Routes(("p",))), timing=Timing(0.05, 0.01))
    LifeBefore(oracle, cast("Wire", wire), CodecCache(Words())).drop()
    assert [each.what for each in wire.inbox] == [Frame(b"banner")]
    assert len(tried) < 5_000
