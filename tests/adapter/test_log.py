"""The tester's own log: quiet unless somebody listens."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import structlog

from otf.adapter.log import bound, logging_to, note
from otf.campaign import run
from otf.cli.app import call
from otf.errors import UsageError
from otf.models.coffee import bench


@pytest.fixture(autouse=True)
def unconfigured() -> Generator[None]:
    """Leave structlog as it was found: nobody listens."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    """By itself structlog would print everything."""
    note("opened", port="line")
    assert capsys.readouterr() == ("", "")


def test_a_file_has_all_with_what_is_bound(tmp_path: Path) -> None:
    """JSON lines, an inner field in place of an outer one; after that it is quiet again."""
    with logging_to(str(tmp_path / "log")), bound(run="r", path=1):
        note("opened", port="line")
        with bound(path=2):
            note("sent", "debug")
    note("later")
    found = [json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()]
    assert [{name: what for name, what in line.items() if name != "timestamp"} for line in found] == [
        {"event": "opened", "level": "info", "run": "r", "path": 1, "port": "line"},
        {"event": "sent", "level": "debug", "run": "r", "path": 2},
    ]


def test_a_level_leaves_out_what_matters_less(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error has the text; standard output stays that of the command."""
    with logging_to("warning"):
        note("opened")
        note("start failed", "warning", why="no contact")
    out, err = capsys.readouterr()
    assert not out
    assert "start failed" in err
    assert "no contact" in err
    assert "opened" not in err


def test_a_file_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is an error of usage, before anything is driven."""
    with pytest.raises(UsageError, match="give a file, or one of debug, info"), logging_to(str(tmp_path)):
        pass
    assert call(["--log", str(tmp_path), "list"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_program_that_has_configured_structlog_gets_the_events_of_a_run(tmp_path: Path) -> None:
    """Its own processors see what otf does, and each event of the trace at the level debug."""
    seen = list[dict[str, Any]]()

    def keep(_logger: object, level: str, event: Any) -> Any:  # noqa: ANN401 -- structlog's types
        seen.append({"level": level, **event})
        raise structlog.DropEvent

    structlog.configure(processors=[keep])
    run(bench(), out=tmp_path / "out", traces=1, steps=3, seed=1)
    assert [each["event"] for each in seen if each["level"] == "info"][:2] == ["path begins", "opened"]
    assert seen[-1]["event"] == "path ended"
    assert seen[-1]["verdict"] == "pass"
    sent = [each for each in seen if each["event"] == "sent"]
    assert len(sent) == 3
    assert {each["path"] for each in sent} == {1}
    assert all(each["level"] == "debug" for each in sent)
