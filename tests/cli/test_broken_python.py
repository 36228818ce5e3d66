"""Errors that come from what code of a bench did to Python."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator

import pytest

from otf.cli import user_code
from otf.cli.signals import interruptible
from otf.cli.user_code import broken_by, note_python


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python as it is before the test."""
    monkeypatch.setattr(user_code, "_BEFORE", {})
    note_python()
    yield
    assert broken_by(ValueError()) == ""


def test_a_function_a_module_and_a_limit() -> None:
    """Each is named."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", None)
        patch.delitem(sys.modules, "json")
        assert broken_by(TypeError()) == "os.open, the module json"
    sys.setrecursionlimit((before := sys.getrecursionlimit()) - 1)
    try:
        assert broken_by(RecursionError()) == f"the recursion limit ({before - 1})"
    finally:
        sys.setrecursionlimit(before)


def test_a_descriptor() -> None:
    """It was closed by somebody else, also where that is the cause of the error."""
    error = RuntimeError()
    error.__cause__ = OSError(errno.EBADF, "Bad file descriptor")
    assert broken_by(error) == "a descriptor that the event loop or otf had open"


@pytest.mark.parametrize(("breaks", "broke"), [(True, "the event loop"), (False, "")])
def test_the_event_loop(breaks: bool, broke: str) -> None:
    """It was stopped by code that ran in it; an error of code that it ran says nothing of the loop."""
    import asyncio

    async def work() -> None:
        if not breaks:
            raise LookupError
        asyncio.get_running_loop().stop()
        await asyncio.sleep(1)

    with pytest.raises((RuntimeError, LookupError)) as raised:
        interruptible(work)
    assert broken_by(raised.value) == broke
