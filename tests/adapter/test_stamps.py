"""Stamps by a clock that is set, or is not the kernel's: they are believed only where they can be right."""

from __future__ import annotations

import pytest

from otf.adapter.socket import datagrams
from otf.adapter.socket.datagrams import Stamps


class Clocks:
    """The two clocks of a machine: the one since its start, and that of the day."""

    def __init__(self) -> None:
        self.now = 100.0
        self.ahead = 1e9

    def monotonic(self) -> float:
        """Return the seconds since the start."""
        return self.now

    def time(self) -> float:
        """Return the time of the day."""
        return self.now + self.ahead


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """Clocks that a test sets."""
    made = Clocks()
    monkeypatch.setattr(datagrams, "time", made)
    return made


def test_a_stamp_is_believed(clocks: Clocks) -> None:
    """It says how long ago something came; a moment in the future is now."""
    judged = Stamps()
    stamp = clocks.time()
    assert judged.ago(stamp + 0.0005, 1.0) == 0.0
    clocks.now += 0.5
    assert judged.ago(stamp, 1.0) == pytest.approx(0.5)


@pytest.mark.parametrize("set_to", [-3600.0, -0.1, 0.1, 3600.0])
def test_the_clock_of_the_day_is_set(clocks: Clocks, set_to: float) -> None:
    """A stamp from before says nothing, and none is believed after that."""
    judged, stamp = Stamps(), clocks.time()
    clocks.now += 0.5
    clocks.ahead += set_to
    assert judged.ago(stamp, 1.0) is None
    assert judged.ago(clocks.time(), 1.0) is None


def test_a_clock_that_is_put_right_slowly(clocks: Clocks) -> None:
    """It is the same clock, as long as it goes at nearly the same speed."""
    judged = Stamps()
    clocks.now += 100.0
    clocks.ahead += 0.05
    assert judged.ago(clocks.time() - 0.2, 1.0) == pytest.approx(0.2)


@pytest.mark.parametrize(("ago", "most"), [(-3600.0, 1.0), (-0.01, 1.0), (2.0, 1.0), (1e6, 1.0)])
def test_another_clock_than_that_of_the_kernel(clocks: Clocks, ago: float, most: float) -> None:
    """What came later than now, or before there was nothing, came by another clock."""
    judged = Stamps()
    assert judged.ago(clocks.time() - ago, most) is None
