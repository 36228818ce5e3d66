"""A sample of the hostile day: status 0 only if paths were driven, judged and said."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from benchmarks.hostile import Case, cases, library, prepare, run

SAMPLE = [*Random(28).sample([case for case in cases() if "clock" not in case.way], 6)]
FOUND = [
    Case("run", "model", "stdout broken"),
    Case("run", "step", "elsewhere"),
    Case("run", "step", "folder gone"),
    Case("run", "model", "journal empty"),
    Case("run", "model", "all closed"),
    Case("run", "decode", "SIGALRM"),
    Case("run", "step", "Py_Exit"),
    Case("run", "step", "stdout null"),
    Case("run", "step", "no print"),
    Case("run", "exit", "os._exit(0)"),
    Case("run", "hook", "raise KeyboardInterrupt"),
    Case("run", "step", "wrong length"),
    Case("run", "model", "no open"),
    Case("suite", "model", "SIGTERM of the group"),
    Case("pytest", "step", "os._exit(0)", wrong=True),
    Case("rerun", "step", "disk full", wrong=True),
    *(Case(command, "step", "a thread that ends") for command in ("run", "rerun", "suite", "pytest")),
]


@pytest.fixture(scope="module")
def prepared() -> Generator[tuple[Path, Path | None]]:
    """The folder in which the campaigns are, and the library."""
    with TemporaryDirectory() as place:
        prepare(Path(place))
        yield Path(place), library(Path(place))


@pytest.mark.real
@pytest.mark.parametrize("case", [*FOUND, *SAMPLE], ids=str)
def test_a_status_0_is_earned(prepared: tuple[Path, Path | None], case: Case) -> None:
    """No way of this sample ends a command with an unearned 0, without a word, late, or as what otf is to blame for."""
    assert run(case, *prepared) in {"right", "not run", "not reached"}
