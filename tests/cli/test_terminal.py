"""What people see on terminals of 60, 80 and 120 columns, and in a pipe: files in `golden`, and laws about them.

`OTF_GOLDEN=write pytest tests/cli/test_terminal.py` writes the files anew, to be looked at before they are committed.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from pathlib import Path

import pytest

from otf.cli import called, output
from otf.cli.benches import load
from otf.spec import fingerprint
from otf.trace.explain import wrapped
from tests.cli.command import otf

GOLDEN = Path(__file__).parent / "golden"
BENCH = '''"""A hall in which guests hear each other."""

from dataclasses import dataclass

from otf import AnyOrder, Bench, Spec, UsageError, goto


@dataclass(frozen=True)
class Enter:
    nick: str
    colour: str = "no colour"


@dataclass(frozen=True)
class Welcome:
    nick: str
    greeting: str


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Heard:
    by: str
    text: str


@dataclass(frozen=True)
class Hall:
    name: str
    guests: tuple[str, ...] = ()


def welcome(nick):
    return Welcome(nick, "good evening, and \\x1b[31mwelcome")


def step(hall, inp):
    match inp:
        case Enter(nick) if nick not in hall.guests:
            yield goto(Hall(hall.name, (*hall.guests, nick)), welcome(nick))
        case Say(text) if hall.guests:
            yield goto(hall, AnyOrder(*(Heard(guest, text) for guest in hall.guests)))


class System:
    def __init__(self, fault):
        self.fault, self.guests = fault, []

    def __call__(self, inp):
        if isinstance(inp, Enter):
            self.guests.append(inp.nick)
            return [welcome(inp.nick)]
        heard = [Heard(guest, inp.text) for guest in self.guests]
        return heard[:1] if self.fault == "first" else heard


FAULTS = {"first": "only the guest who came first hears what is said, and all the others hear nothing"}


def bench(fault: str = "none"):
    inputs = [Enter("the first guest"), Enter("the second guest"), Say("how do you do?")]
    spec = Spec(step, Hall("the great hall"), inputs)
    return Bench(spec, system=lambda: System(fault), mutants=FAULTS, types=(Welcome, Heard))
'''
# a comment in the model makes another fingerprint, which says nothing of what is printed
TRACE = re.sub(
    r'(?<="fingerprint":")\w+',
    fingerprint(load("conference").spec),
    (GOLDEN / "conference.jsonl").read_text(encoding="utf-8"),
)
RUN = ("run", "hall.py", "--set", "fault=first", "--seed", 1, "--stop-first", "--no-saved", "--mode", "strict")
COMMANDS: dict[str, tuple[object, ...]] = {
    "run": (*RUN, "--out", "runs"),
    "show": ("show", "conference.jsonl"),
    "chart": ("show", "--chart", "conference.jsonl"),
    "shrink": ("shrink", "runs/path-0001.jsonl", "--bench", "hall.py", "--set", "fault=first"),
    "mutants": ("mutants", "hall.py", "--out", "mutants"),
    "list": ("list",),
    "explore": ("explore", "hall.py"),
}
VARIES = ((r"\b\d+\.\d s\b", "1.0 s"), (r"^ +\d+\.\d{4} ", "   0.0000 "))


class Screen(io.TextIOWrapper):
    """A terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        """What was written to it."""
        self.flush()
        self.seek(0)
        return self.read()


def steady(text: str) -> str:
    """Replace what is another number in each run."""
    for pattern, stand_in in VARIES:
        text = re.sub(pattern, stand_in, text, flags=re.MULTILINE)
    return text


def shown(name: str, columns: int, monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    """Return what a command prints on a terminal of that width."""
    for key, value in {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1", **environment}.items():
        monkeypatch.setenv(key, value)
    _anew(name)
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    called([str(each) for each in COMMANDS[name]])
    return steady(screen.text())


@pytest.fixture(autouse=True)
def _prepared(folder: Path) -> None:
    (folder / "hall.py").write_text(BENCH, encoding="utf-8")
    (folder / "conference.jsonl").write_text(TRACE, encoding="utf-8")


def _anew(name: str) -> None:
    """Remove the folders of a call before; `shrink` needs a trace."""
    for folder in ("runs", "mutants"):
        shutil.rmtree(folder, ignore_errors=True)
    if name == "shrink":
        otf(*COMMANDS["run"])


def piped(name: str) -> str:
    """Return what a command prints into a pipe."""
    _anew(name)
    return steady(otf(*COMMANDS[name]).out)


def compare(name: str, width: str, text: str) -> None:
    """Compare a text with its golden file."""
    assert text
    file = GOLDEN / f"{name}-{width}.txt"
    if os.environ.get("OTF_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_terminal(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is that of the golden file, fits the terminal but for commands, and has no escape sequence."""
    in_a_pipe = piped(name)
    text = shown(name, columns, monkeypatch)
    compare(name, str(columns), text)
    assert "\x1b" not in text
    too_long = [line for line in text.splitlines() if len(line) > columns]
    assert all(len(line.split()) == 1 or line.split(":")[1].split()[0] in {"otf", "pytest"} for line in too_long)
    if name != "chart":
        # a value may be broken after its type
        assert set(re.sub(r"(?<=\w\()\s+", "", text).split()) - set(in_a_pipe.split()) == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_in_a_pipe(name: str) -> None:
    """A pipe gets one line for each thing, so that programs such as grep find it; charts fit a page."""
    compare(name, "pipe", piped(name))


def test_a_pipe_has_the_width_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """With COLUMNS=80 a pipe gets what a terminal of that width shows, without colours; nonsense changes nothing."""
    monkeypatch.setenv("COLUMNS", "80")
    compare("run", "80", piped("run"))
    for nonsense in ("wide", "0", "-1"):
        monkeypatch.setenv("COLUMNS", nonsense)
        assert output.columns() is None


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict, what was expected, what was seen and the failing row have colours; what the system sent has none."""
    text = shown("run", 80, monkeypatch, NO_COLOR="")
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert "\x1b[1;31mFAIL: 1 kind of failure" in text
    assert re.search(r"\x1b\[1;31m[^\n]*<== here", text)
    assert re.search(r"\x1b\[32m    allows: ", text)
    assert re.search(r"\x1b\[31m  and then: ", text)
    assert "\x1b" not in plain
    assert plain == shown("run", 80, monkeypatch)
    assert "\x1b" not in shown("run", 80, monkeypatch, NO_COLOR="", TERM="dumb")


def test_a_command_is_one_line_whatever_the_width() -> None:
    """Who copies it copies no line ends with it."""
    for line in ("  look at it:      otf show " + "x " * 40, "report: otf report " + "x" * 80, "traces: " + "x" * 80):
        assert wrapped(line, 60) == [line]


def test_a_word_that_is_too_long_is_not_broken() -> None:
    """It has a line of its own, and is longer than the terminal is wide."""
    assert wrapped("  possible state: " + "x" * 80, 60) == ["  possible state:", " " * 18 + "x" * 80]
    assert wrapped("x" * 80, 60) == ["x" * 80]


def test_a_mark_never_stands_alone_at_the_left() -> None:
    """At the end of a row that is too long, it stands at the right, where it is no row."""
    row = "   0.4000  line   <-    Over(reason='it was there for too long')"
    assert wrapped(f"{row}   [65 6e 64]  <== here", 60)[-1] == f"{'':24}long')   [65 6e 64]   <== here"
    assert wrapped(f"{row}  <== here", len(row)) == [row, f"{'<== here':>{len(row)}}"]
