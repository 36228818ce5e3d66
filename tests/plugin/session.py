"""Runs of pytest inside a test: files with tests, and what is printed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

# where otf was installed before it had the plugin, the name in its metadata is missing
PLUGIN = () if "otf" in entry_points(group="pytest11").names else ("-p", "otf.pytest_plugin")
# in this process otf was imported long before, so that pytest could not rewrite its asserts: it has none to speak of
QUIET = ("-q", "--color=no", "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
HEAD = "import pytest\nfrom otf.models import coffee\nfrom otf.models.coffee import Button, Coffee, Coin\n\n"


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    status: int
    out: str

    @property
    def counts(self) -> dict[str, int]:
        """How many tests passed, failed and so on, from the last line."""
        return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", self.out.splitlines()[-1])}

    @property
    def message(self) -> str:
        """What is printed without what marks the lines of an error."""
        return re.sub(r"^E( {7}|$)", "", self.out, flags=re.MULTILINE)


class Session:
    """A folder with tests, in which pytest runs as often as wanted."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.folder: Path = pytester.path

    def tests(self, text: str) -> None:
        """Write the file with the tests, which have the coffee machine at hand."""
        (self.folder / "test_machine.py").write_text(HEAD + text, encoding="utf-8")

    def of(self, text: str, *arguments: str) -> Outcome:
        """Write tests and run them."""
        self.tests(text)
        return self.run(*arguments)

    def run(self, *arguments: str) -> Outcome:
        """Run them in this process."""
        done = self._pytester.runpytest_inprocess(*PLUGIN, *QUIET, *arguments)
        return Outcome(int(done.ret), done.stdout.str() + done.stderr.str())

    def workers(self, *arguments: str) -> Outcome:
        """Run them on two workers; the variables that tell a worker of an outer run who it is are not theirs."""
        inner = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ.keys() - inner.keys():
                patch.delenv(name)
            done = self._pytester.runpytest_subprocess(*PLUGIN, *QUIET, "-n", "2", *arguments)
        return Outcome(int(done.ret), done.stdout.str() + done.stderr.str())

    @property
    def saved(self) -> list[Path]:
        """The traces of failures that pytest keeps."""
        return sorted((self.folder / ".pytest_cache").rglob("*.jsonl"))
