"""A browser that does not work on a machine costs no test its time: the test is skipped, and counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import debian
from tests.report import browser


@pytest.mark.real
@pytest.mark.parametrize(("program", "why"), [("exit 1", "ended"), ("exec sleep 60", "silent")])
def test_a_browser_that_does_not_start(program: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that ends, or that never answers, skips the test with the reason, and is stopped."""
    script = tmp_path / "browser"
    script.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(browser, "CHROMIUM", str(script))
    monkeypatch.setattr(browser, "WAIT", 60.0 if why == "ended" else 0.1)
    with pytest.raises(pytest.skip.Exception, match=f"Chromium does not start: .* {why}|pipe"):
        browser.browser(tmp_path / "profile").__enter__()


def found_only(*programs: str) -> Callable[[str], str | None]:
    """A machine that has only these programs."""
    return lambda name: f"/usr/bin/{name}" if name in programs else None


def test_a_browser_is_installed_with_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a browser its package is missing; with any that is known, it is not."""
    monkeypatch.setattr(debian, "found", found_only())
    assert "chromium" in debian.missing()
    monkeypatch.setattr(debian, "found", found_only("google-chrome"))
    assert "chromium" not in debian.missing()
