"""Helpers of the tests of the command line: calling it in this process, and a small bench in a file."""

import io
import json
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from otf.cli import called


@dataclass(frozen=True)
class Result:
    """The result of a command."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:  # noqa: ANN401 -- JSON
        """The document on standard output: one, and nothing else."""
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """Both outputs."""
        return self.out + self.err


def otf(*arguments: object, stdin: bytes = b"") -> Result:
    """Call the command line as the script does; there is never a traceback."""
    out, err = _text(), _text()
    with redirect_stdout(out), redirect_stderr(err), _read_from(_text(stdin)):
        status = called([str(argument) for argument in arguments])
    result = Result(status, _written(out), _written(err))
    assert "Traceback" not in result.said
    return result


def failed(*arguments: object, stdin: bytes = b"") -> str:
    """Call a command that cannot be carried out: status 2, nothing on standard output, one message; return that."""
    result = otf(*arguments, stdin=stdin)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("otf: ")
    return result.err


def judged(trace: object, *options: object, stdin: bytes = b"") -> Result:
    """The result of replaying a trace of the machine."""
    return otf("replay", trace, "--bench", "machine.py:make", *options, stdin=stdin)


def refused(trace: Path) -> str:
    """The message about a trace that cannot be read, the same from each command that reads one."""
    messages = {
        failed(command, trace, "--bench", "machine.py:make") for command in ("replay", "show", "rerun", "shrink")
    }
    document = otf("show", trace, "--bench", "machine.py:make", "--json").data
    assert document["verdict"] == "error"
    assert messages == {f"otf: {document['error']}\n"}
    return messages.pop()


def recorded(trace: Path) -> list[dict[str, Any]]:
    """The lines of a trace."""
    return [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def rewrite(trace: Path, lines: list[dict[str, Any]]) -> Path:
    """Write a trace anew, with its events numbered; return its path."""
    number = count(1)
    numbered = [{**line, "n": next(number)} if "n" in line else line for line in lines]
    trace.write_text("".join(f"{json.dumps(line)}\n" for line in numbered), encoding="utf-8")
    return trace


MACHINE = '''"""A coffee machine in this process."""

from dataclasses import dataclass

from otf import Bench, Spec, goto, lines, trace_may_set
from otf.adapters import inprocess


@dataclass(frozen=True)
class Coin:
    cents: int


@dataclass(frozen=True)
class Button: ...


@dataclass(frozen=True)
class Coffee: ...


def step(paid, inp):
    match inp:
        case Coin(cents) if paid + cents <= 10:
            yield goto(paid + cents)
        case Button() if paid >= 10:
            yield goto(paid - 10, Coffee())


def machine(broken):
    paid = 0

    def take(data):
        nonlocal paid
        if data != b"button":
            paid += int(data.split()[1])
            return None
        if paid < 10:
            return None
        paid -= 10
        return None if broken else b"coffee"

    return take


spec = Spec(step, initial=0, inputs=[Coin(5), Coin(10), Button()])
codec = lines({Coin: "coin {cents}", Button: "button", Coffee: "coffee"})


@trace_may_set(broken=(False, True), cups=range(1, 10))
def make(broken: bool = False, cups: int = 1, price: float = 1.5, maker: str = "acme"):
    ports = {"slot": inprocess(lambda: machine(broken))}
    return Bench(spec, ports=ports, codec=codec, quiescence=0.0, latency=0.0, busy=0.0)


bench = make()
'''


def machine(folder: Path, edits: Mapping[str, str] | None = None, *, name: str = "machine.py", more: str = "") -> Path:
    """Write the bench of the machine to a file; `edits` are made in it, and `more` is put at its end."""
    text = MACHINE + more
    for old, new in (edits or {}).items():
        assert old in text
        text = text.replace(old, new)
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def _text(data: bytes = b"") -> TextIO:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")


def _written(stream: TextIO) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@contextmanager
def _read_from(stream: TextIO) -> Generator[None]:
    real, sys.stdin = sys.stdin, stream
    try:
        yield
    finally:
        sys.stdin = real
