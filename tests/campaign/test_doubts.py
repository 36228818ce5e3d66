"""The reason why a failure does not count yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf.campaign import PathResult
from otf.campaign.doubts import AFTER, doubtful_result
from otf.trace.verdict import Failure, Signature, Verdict


@pytest.mark.parametrize(("number", "more"), [(AFTER, ""), (AFTER + 9, "; … 9 more")])
def test_what_came_afterwards_is_told_in_a_few_words(number: int, more: str) -> None:
    """The text of a restart is told; of a heartbeat, which never ends, only the first messages are."""
    lines = [f"afterwards on p: {beat}" for beat in range(number)]
    signature = Signature("wrong", "int", "ask", "yes", "no")
    failure = Failure(signature, 3, 1, "ask", "no", "p", note="\n".join(lines))
    failing = PathResult(1, Verdict("fail", failure=failure), 1, Path("path-0001.jsonl"))
    assert doubtful_result(failing, "once").verdict.why == "; ".join(["once", "seen: no", *lines[:AFTER]]) + more
