"""Errors with their frames: those of the model alone, or with --debug all of them."""

from pathlib import Path

import pytest

from otf.cli import called
from otf.cli.app import COMMANDS
from tests.cli.command import failed, machine, otf

RUN = ("run", "machine.py", "--mode", "strict", "--seed", 1, "--no-saved", "--out", "out")
COMMANDS_ON_A_MODEL = (RUN, ("explore", "machine.py"), ("check", "machine.py"), ("suite", "machine.py", "--dry"))


@pytest.fixture
def broken(folder: Path) -> Path:
    """The machine with a model that raises after the first coin, two calls deep."""
    cup = "def cup():\n    return {}['cup']\n\n\ndef step(paid, inp):\n    if paid:\n        cup()\n"
    return machine(folder, {"def step(paid, inp):\n": cup})


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_the_option(command: str) -> None:
    """The help of every command names `--debug` and the variable OTF_DEBUG."""
    words = otf(command, "--help").out
    assert "--debug" in words
    assert "OTF_DEBUG" in words


@pytest.mark.parametrize("command", COMMANDS_ON_A_MODEL, ids=lambda command: str(command[0]))
def test_an_error_of_a_model_has_the_frames_of_the_model(broken: Path, command: tuple[object, ...]) -> None:
    """They give file, line and function of the user's code, and nothing of otf; the last line names the option."""
    lines = broken.read_text(encoding="utf-8").splitlines()
    calls, raises = lines.index("        cup()") + 1, lines.index("    return {}['cup']") + 1
    message, *rest = otf(*command).err.splitlines()[-6:]
    assert message.endswith("the model raised KeyError: 'cup'")
    assert rest == [
        f'  File "{broken}", line {calls}, in step',
        "    cup()",
        f'  File "{broken}", line {raises}, in cup',
        "    return {}['cup']",
        "  --debug shows the whole traceback",
    ]


def test_an_endless_recursion_has_few_frames(folder: Path) -> None:
    """The innermost are shown, and how many there are before them."""
    deep = "def deep(n):\n    return deep(n)\n\n\ndef step(paid, inp):\n    deep(1)\n"
    machine(folder, {"def step(paid, inp):\n": deep})
    lines = failed("explore", "machine.py").splitlines()
    assert lines[1].startswith("  … ")
    assert lines[1].endswith(" more frames")
    assert lines[-2] == "  [Previous line repeated 5 more times]"
    assert len(lines) == 10


@pytest.mark.parametrize("how", ["option", "variable"])
@pytest.mark.parametrize("command", COMMANDS_ON_A_MODEL, ids=lambda command: str(command[0]))
def test_debug_shows_the_whole_traceback(
    broken: Path,
    command: tuple[object, ...],
    how: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The error of the model and its cause are printed with all frames; the message remains at the end."""
    assert broken.is_file()
    if how == "variable":
        monkeypatch.setenv("OTF_DEBUG", "1")
    assert called([*map(str, command), *(["--debug"] if how == "option" else [])]) == 2
    err = capsys.readouterr().err
    assert "KeyError: 'cup'\n\nThe above exception was the direct cause" in err
    assert "/otf/" in err
    assert "in cup\n" in err
    assert err.rpartition("\notf: ")[2].splitlines()[0].endswith("the model raised KeyError: 'cup'")
    assert "--debug shows" not in err


def test_debug_shows_where_a_wrong_call_was_noticed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any error of otf has its traceback, and with --json the document stays as it is."""
    assert not list(folder.iterdir())
    assert called(["replay", "none.jsonl", "--debug", "--json"]) == 2
    out, err = capsys.readouterr()
    assert "Traceback" in err
    assert "Traceback" not in out
    assert "none.jsonl" in out


def test_code_that_exits_has_its_frames(folder: Path) -> None:
    """`sys.exit` in a model is an error of the model as well."""
    machine(folder, {"def step(paid, inp):\n": "def step(paid, inp):\n    raise SystemExit(0)\n"})
    assert "in step\n    raise SystemExit(0)" in failed("explore", "machine.py")
