"""Work that is not interrupted: what it returns and raises comes out as it is."""

import signal

import pytest

from otf.cli.signals import Done, Signals, interruptible
from otf.errors import ModelError


def test_a_value_comes_out() -> None:
    """Work that ends returns its value, and the command has the status that it wants."""

    async def work() -> str:
        return "done"

    done = interruptible(work)
    assert done == Done("done", 0)
    assert done.status(3) == 3
    assert Done(None, 15).status(3) == 143


def test_an_error_comes_out_alone() -> None:
    """Errors of tasks come in groups, and those in groups again; a message that says what to do must not hide there."""

    async def work() -> None:
        one = BaseExceptionGroup("tasks", [ModelError("the model raised")])
        raise BaseExceptionGroup("tasks", [one, KeyError("another")])

    with pytest.raises(ModelError, match="the model raised"):
        interruptible(work)


def test_a_signal_between_two_works_stops_the_second() -> None:
    """A signal after the first result was reported, while the next event loop starts, is not lost."""
    signals, stopped = Signals(), list[str]()
    with signals.stopping(lambda: stopped.append("first")):
        pass
    signals.handle(signal.SIGINT)
    with signals.stopping(lambda: stopped.append("second")):
        signals.reached()
    assert stopped == ["second"]
