"""Steppers: modules that perform the actions of a model on the system under test (SUT), in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import Args, attribute
from otf.errors import ContactError, UsageError
from otf.fronts import Call
from otf.fronts.freezing import Frozen, frozen, thawed
from otf.values import show

TYPES = (Call, Frozen)
TEST = ("test_action", "testaction", "TestAction")
RESET = ("reset", "Reset")


class Harness(Protocol):
    """Performs actions on the system: a stepper in this process, or one in a process of its own."""

    @property
    def waits(self) -> bool:
        """Return whether observations may come later, so that the caller has to wait for them."""
        ...

    def test(self, call: Call, expected: Any) -> str | None:  # noqa: ANN401 -- any result
        """Perform an action; return why it failed, None if it did not."""
        ...

    def seen(self) -> list[Call]:
        """Return the actions observed since the last call."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait for an observation."""
        ...


class Stepper:
    """A stepper module with its observation queue."""

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
        """Reset the system, if there is a Reset."""
        try:
            if self._reset is not None:
                self._reset()
        except Exception as error:
            raise ContactError(f"{self._file}: Reset() raised {type(error).__name__}: {error}") from error
        self._modules.observations.queue.clear()

    def test(self, call: Call, expected: Any) -> str | None:  # noqa: ANN401 -- any result
        """Perform an action; return why it failed, None if it did not. Exceptions of the stepper are passed on."""
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
