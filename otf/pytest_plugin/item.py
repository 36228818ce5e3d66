"""A bench as a test by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otf.adapter import Bench
from otf.campaign import NonconformanceError
from otf.errors import OtfError
from otf.pytest_plugin.running import Running


class BenchItem(pytest.Item):
    """The test that drives a bench as the command line of pytest says."""

    def __init__(self, *, bench: Bench, **more: Any) -> None:  # noqa: ANN401 -- pytest's own arguments
        super().__init__(**more)  # pyright: ignore[reportUnknownMemberType] -- pytest's own
        self._bench = bench

    def runtest(self) -> None:
        """Drive it."""
        Running(self).run(self._bench)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 -- pytest's types
        """Tell a failure in the words of the model: there is no line of a test to show."""
        error = excinfo.value
        if isinstance(error, NonconformanceError | OtfError):
            return "\n".join([str(error), *getattr(error, "__notes__", ())])
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where it stands and how it is called."""
        return self.path, None, self.name
