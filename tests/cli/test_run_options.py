"""`otf run` under a scenario, and until enough is covered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import failed, otf, recorded


def inputs(folder: Path) -> list[list[str]]:
    """The inputs in the traces of a folder, by path."""
    return [
        [line["value"]["type"] for line in recorded(trace) if line["event"] == "sent"]
        for trace in sorted(folder.glob("path-*.jsonl"))
    ]


def test_a_campaign_follows_a_scenario(tmp_path: Path) -> None:
    """Only inputs that the scenario allows are sent."""
    done = otf(
        "run", "coffee", "--scenario", "Coin(5) Coin Button", "--inputs", "uioco", "--traces", "3", "--out", tmp_path
    )
    assert done.status == 0
    assert inputs(tmp_path) == [["Coin", "Coin", "Button"]] * 3


def test_a_fault_is_found_under_a_scenario_and_replayed_without(tmp_path: Path) -> None:
    """The trace is judged by the model alone."""
    done = otf("run", "coffee", "--scenario", "Coin+ Button", "--set", "fault=dry", "--out", tmp_path, "--no-shrink")
    assert done.status == 1
    assert otf("replay", next(tmp_path.glob("path-*.jsonl"))).status == 1


def test_a_campaign_ends_when_all_is_covered(tmp_path: Path) -> None:
    """Its last line is the coverage of the model."""
    done = otf("run", "coffee", "--until", "transitions", "--steps", "1000", "--out", tmp_path)
    assert done.status == 0
    assert (
        "covered, counted where otf chose an input: states 3/3, transitions 4/4, inputs 3/3, outputs 2/2, pairs 4/4"
        in done.out
    )
    assert sum(map(len, inputs(tmp_path))) < 1_000


def test_no_path_begins_once_the_goal_is_reached(tmp_path: Path) -> None:
    """Enough is covered in the first path: the system is started once, and not for each of ten paths."""
    data = otf("run", "coffee", "--until", "states=0.5", "--steps", "1000", "--json", "--out", tmp_path / "out").data
    assert (data["paths"], data["verdict"]) == (1, "pass")
    assert 0 < data["steps"] < 10
    assert [path.name for path in (tmp_path / "out").glob("path-*")] == ["path-0001.jsonl"]


def test_what_never_ran_is_named(tmp_path: Path) -> None:
    """In the document, too."""
    data = otf("run", "coffee", "--until", "states=0.5", "--strategy", "nearest", "--json", "--out", tmp_path).data
    assert data["coverage"]["all"]["states"] == 3
    assert data["coverage"]["met"]["states"] == 2
    assert data["coverage"]["never"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--until", "colours"), "until colours"),
        (("--until", "states=many"), "--until states=many: write one of states, transitions"),
        (("--until", "states=7"), "7 states can never be reached: the model has 3"),
        (("--scenario", "Tea"), "the scenario names Tea, which is not an action of the model"),
    ],
)
def test_what_cannot_be_is_said_at_once(options: tuple[str, str], said: str) -> None:
    """The error comes before anything is sent."""
    assert said in failed("run", "coffee", *options)


OWN = '''
"""Strategies of one's own."""

from otf.strategy import weighted


class First:
    """Always the first input."""

    def choose(self, view):
        return view.specified[0] if view.specified else None


buttons = weighted(lambda inp: 1 if type(inp).__name__ == "Coin" and inp.cents == 10 else 0)
nothing = 7
'''


def test_a_strategy_of_ones_own_is_named_by_its_file(tmp_path: Path) -> None:
    """A small class, or a kind; the header of the trace names it."""
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    otf("run", "coffee", "--inputs", "uioco", "--strategy", f"{file}:First", "--traces", "1", "--out", tmp_path / "a")
    assert inputs(tmp_path / "a") == [["Coin", "Coin", "Button"] * 16 + ["Coin", "Coin"]]
    otf("run", "coffee", "--inputs", "uioco", "--strategy", f"{file}:buttons", "--traces", "1", "--out", tmp_path / "b")
    assert inputs(tmp_path / "b") == [["Coin"]]
    assert "neither a class with choose(view) nor" in failed("run", "coffee", "--strategy", f"{file}:nothing")


@pytest.mark.parametrize("command", [["run"], ["mutants"], ["suite"], ["step", "--live"]])
def test_each_command_that_drives_a_system_takes_the_kind_of_silence(command: list[str]) -> None:
    """And a process that belongs to the system."""
    for option, says in (("--silence", "--silence odd: choose one of observed, timed"), ("--pid", "--pid odd")):
        done = otf(command[0], "coffee", *command[1:], option, "odd")
        assert done.status == 2
        assert says in done.err
