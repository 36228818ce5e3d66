"""Every test of the plugin runs pytest in a folder of its own."""

from importlib import import_module

import pytest

from tests.plugin.session import Session

# the modules that a run inside a test imports go with it, but `otf` keeps what it fetched from them: the next run would
# have two of every class
for name in (
    "otf.adapters",
    "otf.campaign",
    "otf.models.coffee",
    "otf.pytest_plugin.running",
    "otf.pytest_plugin.talking",
):
    import_module(name)


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a folder for tests, in which pytest can be run."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return Session(pytester)
