"""Steppers perform the actions of a model on the system under test (SUT), in this process or in their own.

One in its own process is killed when it takes too long; both sides of the pipe are here.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import Args, attribute
from otf.errors import ContactError, OtfError, UsageError
from otf.notations import Call
from otf.notations.table import Frozen, frozen, thawed
from otf.trace.tagged import Registry, encode
from otf.values import show

TYPES = (Call, Frozen)
TEST = ("test_action", "testaction", "TestAction")
RESET = ("reset", "Reset")


class LostStepperError(Exception):
    """A stepper did not return in time, or ended."""


class Stepper:
    """PyModel's stepper module, which drives the system, with its queue of observations."""

    def __init__(self, modules: Modules, reference: str) -> None:
        module = modules.load(reference)
        self._modules = modules
        self._file = module.__file__
        self._test: Callable[[str, Args, Any], Any] = attribute(module, *TEST)
        self._reset: Callable[[], object] | None = attribute(module, *RESET)
        self._wait: Callable[[float], object] | None = attribute(module, "wait")
        if self._test is None:
            raise UsageError(f"{self._file}: a stepper has TestAction(aname, args, modelResult); this one has none")
        if self.waits and self._wait is None:
            raise UsageError(f"{self._file}: a stepper that sets `asynch` has wait(timeout); this one has none")

    @property
    def waits(self) -> bool:
        """Return whether observations may come later."""
        return bool(self._modules.observations.asynch)

    def reset(self) -> None:
        """Reset the system, and forget earlier observations. Raises ContactError if the reset fails."""
        if self._reset is None:
            raise UsageError(
                f"{self._file}: it has no Reset(), and cannot begin a second path: give it one, "
                "or a timeout: with one each path starts it anew in a process of its own"
            )
        self.restart()

    def restart(self) -> None:
        """Reset the system, if the stepper has a Reset."""
        try:
            if self._reset is not None:
                self._reset()
        except Exception as error:
            raise ContactError(f"{self._file}: Reset() raised {type(error).__name__}: {error}") from error
        self._modules.observations.queue.clear()

    def test(self, call: Call, expected: Any) -> str | None:  # noqa: ANN401 -- any result
        """Perform an action; return why it failed, or None. Exceptions of the stepper propagate."""
        answer = self._test(call.name, thawed(call.arguments), thawed(expected))
        if answer is None or isinstance(answer, str):
            return answer
        raise UsageError(
            f"{self._file}: TestAction returned {show(answer)}; return None, or a text that says what failed"
        )

    def seen(self) -> list[Call]:
        """Empty the observation queue, and return its actions."""
        queue = self._modules.observations.queue
        return [self._observed(queue.popleft()) for _ in range(len(queue))]

    def wait(self, seconds: float) -> None:
        """Let the stepper wait for an observation."""
        if self._wait is not None:
            self._wait(seconds)

    def _observed(self, item: Any) -> Call:  # noqa: ANN401 -- anything: the stepper may be wrong
        try:
            name, args = item
            return Call(name, frozen(tuple(args)))
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{self._file}: it put {show(item)} into the observation queue; put ('action', (arguments,))"
            ) from error


LONGEST: Final = 1 << 26  # bytes of one answer
PROGRAM: Final = "import sys; from otf.compat.pymodel.apart import serve; serve(sys.argv[1:])"
START: Final = 10.0  # seconds for starting Python and importing the stepper


class StepperProcess:
    """A PyModel stepper in its own process, for one path; each action may take `timeout` seconds.

    `StepperProcess` raises ContactError if the stepper cannot be started. `StepperProcess` raises LostStepperError if
    the stepper does not answer in time, or has ended.
    """

    def __init__(self, reference: str, folders: Sequence[Path], timeout: float) -> None:
        self.waits: bool = False
        self._timeout = timeout
        self._seen = list[Call]()
        self._buffer = b""
        self._registry = Registry(TYPES)
        argv = [sys.executable, "-c", PROGRAM, reference, *map(str, folders)]
        self._process = subprocess.Popen(  # noqa: S603 -- to start what the user names is the purpose
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        weakref.finalize(self, _stop, self._process)
        try:
            self._answer_in(self._line(START, "its start"))
        except LostStepperError as error:
            raise ContactError(f"{reference}: the stepper in a process of its own {error}") from error

    def reset(self) -> None:
        """Reset the system, if the stepper can, and forget earlier observations."""
        try:
            self._request({"reset": True}, max(self._timeout, START), "Reset()")
        except LostStepperError as error:
            raise ContactError(f"the stepper in a process of its own {error}") from error
        self._seen.clear()

    def test(self, call: Call, expected: Any) -> str | None:  # noqa: ANN401 -- any result
        """Perform an action; return why it failed, None if it did not."""
        request = {"call": encode(call), "expected": encode(expected)}
        failed: str | None = self._request(request, self._timeout, str(call))["failed"]
        return failed

    def seen(self) -> list[Call]:
        """Return the observations since the last call."""
        if self.waits:
            self._request({"wait": 0}, self._timeout, "a look at its observations")
        seen, self._seen = self._seen, []
        return seen

    def wait(self, seconds: float) -> None:
        """Let the stepper wait for an observation."""
        self._request({"wait": seconds}, seconds + self._timeout, "wait()")

    def _request(self, request: dict[str, Any], seconds: float, what: str) -> dict[str, Any]:
        data = json.dumps(request).encode() + b"\n"
        pipe: Any = self._process.stdin
        with suppress(BrokenPipeError):  # reading the answer reveals that it has ended
            pipe.write(data)
        return self._answer_in(self._line(seconds, what))

    def _answer_in(self, line: bytes) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(line)
        if "trouble" in answer:
            raise UsageError(answer["trouble"])
        if "raised" in answer:
            raise LostStepperError(answer["raised"])
        self.waits = answer["waits"]
        decoded = (self._registry.decode(each) for each in answer.get("seen", ()))
        self._seen += [each for each in decoded if isinstance(each, Call)]
        return answer

    def _line(self, seconds: float, what: str) -> bytes:
        until = time.monotonic() + seconds
        pipe: Any = self._process.stdout
        while b"\n" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                _stop(self._process)
                raise LostStepperError(f"did not return from {what} within {seconds:g} s")
            more = b"" if len(self._buffer) > LONGEST else os.read(pipe.fileno(), 65536)
            if not more:
                _stop(self._process)
                raise LostStepperError(f"ended in {what} (exit status {self._process.returncode})")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its process group, so everything that it started, unless that left the group."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def serve(arguments: list[str]) -> None:
    """Run in the stepper's process: answer each line of standard input with a line of output, until input ends."""
    # other output of this process must not look like an answer
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    reference, *folders = arguments
    try:
        stepper = Stepper(Modules(map(Path, folders), seed=None), reference)
    except OtfError as error:
        _write(answers, {"trouble": str(error)})
        return
    _write(answers, {"waits": stepper.waits})
    registry = Registry(TYPES)
    for line in sys.stdin.buffer:
        _write(answers, _answer(stepper, registry, json.loads(line)))


def _write(answers: IO[str], data: dict[str, Any]) -> None:
    answers.write(json.dumps(data) + "\n")
    answers.flush()


def _answer(stepper: Stepper, registry: Registry, request: dict[str, Any]) -> dict[str, Any]:
    failed = None
    try:
        if "call" in request:
            call: Any = registry.decode(request["call"])
            failed = stepper.test(call, registry.decode(request["expected"]))
        elif "reset" in request:
            stepper.restart()
        elif request["wait"]:
            stepper.wait(request["wait"])
        return {"failed": failed, "waits": stepper.waits, "seen": [encode(each) for each in stepper.seen()]}
    except OtfError as error:
        return {"trouble": str(error)}
    except BaseException as error:  # noqa: BLE001 -- the tester gets whatever the stepper raises
        return {"raised": f"raised {type(error).__name__}: {error}"}
