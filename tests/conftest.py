"""What holds for all tests."""

from hypothesis import settings

# An example may take as long as it takes: a limit in wall-clock time would fail laws because a machine is busy.
settings.register_profile("otf", settings(), deadline=None)
settings.load_profile("otf")

# Runs of pytest inside a test, for the plugin; only the uppermost file may say it.
pytest_plugins = ("pytester",)
