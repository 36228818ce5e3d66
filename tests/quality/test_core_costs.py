"""The benchmark of the core: every line can be measured, the limit holds, and another checkout is what is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import core
from benchmarks.core import Figures, Line, all_of, main, measured
from benchmarks.core_lines import LINES

HERE = Path(__file__).resolve().parents[2]
SMALL = {"new_values": 2, "never_back": 50, "forgetting": 50}


@pytest.mark.parametrize("name", sorted(set(LINES) - {"commuting", "ordered"}))
def test_every_line_can_be_measured(name: str) -> None:
    """It returns seconds; what it judges passes, or fails as it is meant to."""
    assert LINES[name](SMALL.get(name, 4))["seconds"] >= 0


def test_the_lines_are_those_that_there_are() -> None:
    """None is forgotten, and none is without a function."""
    assert set(core.LINES) == set(LINES)
    assert set(core.LONG) <= set(LINES)


def test_help_measures_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what can be asked for."""

    def measuring(line: Line, _checkout: Path) -> Figures:
        pytest.fail(f"{line} was measured")

    monkeypatch.setattr(core, "measured", measuring)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--against" in capsys.readouterr().out


def test_a_line_that_is_too_slow_is_not_tried_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the checkout where it was; one that takes long is measured once."""
    asked = list[tuple[int, str]]()

    def figures(line: Line, checkout: Path) -> Figures | str:
        asked.append((line.size, checkout.name))
        return "over 60 s" if checkout.name == "old" else {"seconds": float(line.size)}

    monkeypatch.setattr(core, "measured", figures)
    found = list(all_of([Line("x", size, 60) for size in (1, 30, 50)], [Path("new"), Path("old")], 2))
    assert asked == [(1, "new"), (1, "old"), (1, "new"), (30, "new")]
    assert [each for _, each in found] == [
        [{"seconds": 1.0}, "over 60 s"],
        [{"seconds": 30.0}, "not tried"],
        ["not tried", "not tried"],
    ]


@pytest.mark.real
def test_each_line_is_measured_in_a_process_of_its_own_and_ends() -> None:
    """One that is quick, and one that would take hours."""
    quick = measured(Line("any_order", 10, 60), HERE)
    assert not isinstance(quick, str)
    assert quick["hypotheses"] == 1
    assert measured(Line("never_back", 100_000_000, 1), HERE) == "over 1 s"
