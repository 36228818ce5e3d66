"""What a test asked of the fixtures of otf: one that drove nothing, or did not wait for it, shows nothing and fails."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from inspect import signature
from typing import Final

import pytest

WRITE: Final = {
    "otf_run_async": "`await otf_run_async(bench)`",
    "otf_open_async": "`async with otf_open_async(bench) as talk:`",
}


class Asked:
    """The fixtures of otf that one test has, and whether it drove anything with them."""

    def __init__(self) -> None:
        self.fixtures: dict[str, None] = {}
        self.driven = False
        self.late = False  # a fixture may drive after the test
        self.waiting: list[str] = []

    @contextmanager
    def awaited(self, fixture: str) -> Generator[None]:
        """Note that a call is awaited which was waiting; one that is cancelled has decided nothing, and waits on."""
        self.driven = True
        try:
            yield
        except Exception:
            self.waiting.remove(fixture)
            raise
        self.waiting.remove(fixture)

    def check(self) -> None:
        """Fail the test if it drove nothing, or did not await what it called."""
        for fixture in self.waiting:
            message = f"{fixture}(…) was not awaited to its end, so it decided nothing: write {WRITE[fixture]}"
            pytest.fail(message, pytrace=False)
        if not self.driven:
            fixture = next(iter(self.fixtures))
            message = f"this test took {fixture} and drove nothing: call {fixture}(bench), or do not take the fixture"
            pytest.fail(message, pytrace=False)


_KEY: Final = pytest.StashKey[Asked]()


def asked_of(item: pytest.Item) -> Asked:
    """Return what a test asked; it is noted there."""
    return item.stash.setdefault(_KEY, Asked())


def check_call(item: pytest.Item) -> None:
    """Check a test that passed; where one of its fixtures took those of otf, that may still drive: `check_end`."""
    asked = item.stash.get(_KEY, None)
    if asked is None or not isinstance(item, pytest.Function):
        return
    asked.late = not asked.fixtures.keys() <= signature(item.obj).parameters.keys()
    if not asked.late:
        asked.check()


def check_end(item: pytest.Item) -> None:
    """Check a test that passed, after its fixtures have ended."""
    asked = item.stash.get(_KEY, None)
    if asked is not None and asked.late:
        asked.check()
