"""What a fuzzer met in its long run ends rightly: each parser returns, or raises an error of otf, in bounded time."""

from __future__ import annotations

import resource
import time
from contextlib import redirect_stdout
from io import StringIO

import pytest

from tests.fuzz.targets import TARGETS, call, corpus, seeds

SECONDS, MEMORY = 2.0, 256 << 10  # CPU time of an input, and KiB of all


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus(name: str) -> None:
    """The inputs that reached different code, and those that ended wrongly once; errors of otf are right ends."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in [b"", *seeds()[name], *corpus(name)]:
        began = time.process_time()
        with redirect_stdout(StringIO()):
            call(name, data)
        assert time.process_time() - began < SECONDS, data
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY


def test_the_targets_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of another kind is a finding."""
    monkeypatch.setitem(TARGETS, "toml", lambda data: data[99])
    with pytest.raises(IndexError):
        call("toml", b"x")
