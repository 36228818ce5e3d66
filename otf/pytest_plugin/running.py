"""Drives a bench for a test: saved failures first, then a campaign; a failure becomes the test's message."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import anyio
import pytest

from otf.adapter import Bench
from otf.campaign import Campaign, NonconformanceError, PathResult, Settings, Summary, require_decided
from otf.campaign.saved import Saved
from otf.campaign.settings import header
from otf.errors import OtfError, UsageError
from otf.pytest_plugin.planned_run import PlannedRun, asked_of, given, reserved


class SavedOfTest:
    """The failures of earlier runs of one test, in pytest's cache, for a bench and its parameters."""

    def __init__(self, item: pytest.Item, bench: Bench, settings: Settings) -> None:
        self._bench, self._out = bench, settings.out
        cache: Any = getattr(item.config, "cache", None)  # None if pytest runs without one
        name = hashlib.sha256(item.nodeid.encode()).hexdigest()[:16]
        head = header(bench, replace(settings, mode="strict"), 0, strategy="script")
        self._saved = None if cache is None else Saved(cache.mkdir("otf") / name, head)

    def keep(self, summary: Summary) -> None:
        """Keep the shortest trace of each kind of failure."""
        for group in summary.failures.values():
            if self._saved is not None:
                self._saved.keep(group.signature, (group.shrunk or group.first).trace)

    async def again(self) -> PathResult | None:
        """Try the saved failures; return the first that still occurs, and forget the others."""
        if self._saved is None:
            return None
        self._out.mkdir(parents=True, exist_ok=True)
        async with aclosing(self._saved.retried(self._bench, self._bench.oracle(), self._out)) as retried:
            async for each in retried:
                if each.result is not None:
                    return each.result
        return None


class Running:
    """Drives benches for one test."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._asked = asked_of(item)

    def __repr__(self) -> str:
        """Show the name of the test: pytest prints the fixtures of a failing test."""
        return self._item.name

    def run(self, bench: Bench | Callable[..., Bench], *, alone: str | bool = True, **more: Any) -> Summary:  # noqa: ANN401 -- settings, and parameters of the bench
        """Drive a bench and return the summary; `alone`: see `reserved`.

        Raises NonconformanceError, UsageError, and if nothing could be decided ContactError or InconclusiveError.
        """
        __tracebackhide__ = True
        self._asked.driven = True
        _refuse_loop()
        asked = given(self._item, bench, more)
        with reserved(self._item, asked.bench, alone):
            try:
                return anyio.run(self._driven, asked)
            except (NonconformanceError, OtfError) as error:
                # the frames of the event loop explain nothing, unlike the test and the message
                raise error.with_traceback(None) from None

    def run_async(
        self,
        bench: Bench | Callable[..., Bench],
        *,
        alone: str | bool = True,
        **more: Any,  # noqa: ANN401 -- the same
    ) -> Awaitable[Summary]:
        """Drive a bench on the test's event loop, which awaits it."""
        self._asked.waiting.append("otf_run_async")
        return self._awaited(bench, alone, more)

    async def _awaited(
        self,
        bench: Bench | Callable[..., Bench],
        alone: str | bool,  # noqa: FBT001 -- as in the test
        more: Mapping[str, object],
    ) -> Summary:
        __tracebackhide__ = True
        with self._asked.awaited("otf_run_async"):
            asked = given(self._item, bench, more)
            with reserved(self._item, asked.bench, alone):
                try:
                    return await self._driven(asked)
                except (NonconformanceError, OtfError) as error:
                    raise error.with_traceback(None) from None

    async def _driven(self, asked: PlannedRun) -> Summary:
        __tracebackhide__ = True
        kept = SavedOfTest(self._item, asked.bench, asked.settings)
        again = None if asked.seeded else await kept.again()
        if again is not None:
            self._failed(_of_one(again), "this failure was saved by an earlier run; it is tried first until it passes")
        summary = await Campaign(asked.bench, asked.settings).run()
        self._item.user_properties += [("otf.seed", asked.settings.seed), ("otf.steps", summary.steps)]
        known = [each for each in summary.result.known_issues if each.paths]
        self._item.user_properties += [("otf.known_issue", f"{each.says} ({each.paths})") for each in known]
        if summary.failures:
            kept.keep(summary)
            self._failed(summary, f"the same inputs: pytest {self._item.nodeid} --otf-seed {asked.settings.seed}")
        return require_decided(summary)

    def _failed(self, summary: Summary, note: str) -> NoReturn:
        __tracebackhide__ = True
        error = NonconformanceError(summary)
        error.add_note(note)
        raise error


def _of_one(result: PathResult) -> Summary:
    summary = Summary()
    summary.add(result)
    return summary


def _refuse_loop() -> None:
    try:
        anyio.get_current_task()
    except Exception:  # noqa: BLE001 -- the error for a missing loop differs between versions of anyio
        return
    raise UsageError("this test runs on an event loop: use the fixture otf_run_async and await it")


class Crash(NamedTuple):
    """Where a test failed, and its line in pytest's summary."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        """Return the line that `--tb=line` shows."""
        return f"{self.path}:{self.lineno}: {self.message}"


class BenchFailure:
    """The failure of a bench that is a test by itself, as pytest prints it."""

    def __init__(self, text: str, crash: Crash) -> None:
        self.text = text
        self.reprcrash: Crash = crash

    def __str__(self) -> str:
        """Return the text, and the place of the bench."""
        name = "NonconformanceError" if self.text.startswith("FAIL") else "OtfError"
        return f"{self.text}\n\n{self.reprcrash.path}:{self.reprcrash.lineno}: {name}"

    def toterminal(self, writer: Any) -> None:  # noqa: ANN401 -- pytest's own
        """Print the failure; lines that mark an error get pytest's colour for that."""
        for line in str(self).splitlines():
            writer.line(line, red=line.startswith("FAIL"))


class BenchItem(pytest.Item):
    """A bench as a test by itself, driven with the options of pytest's command line."""

    def __init__(self, *, bench: Bench, **more: Any) -> None:  # noqa: ANN401 -- pytest's own arguments
        super().__init__(**more)  # pyright: ignore[reportUnknownMemberType] -- pytest's own
        self._bench = bench
        self.add_marker("otf")

    def runtest(self) -> None:
        """Drive the bench."""
        Running(self).run(self._bench)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 -- pytest's types
        """Return a failure in the words of the model, with the line of the bench."""
        error = excinfo.value
        if not isinstance(error, NonconformanceError | OtfError):
            return super().repr_failure(excinfo, style)
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        message = error.point if isinstance(error, NonconformanceError) else text.partition("\n")[0]
        path, line, _ = self.location
        return BenchFailure(text, Crash(path, (line or 0) + 1, message))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, the line and the name of the test."""
        return self.path, assigned(self.path, self.name), self.name


def assigned(path: Path, name: str) -> int | None:
    """Return the last line, counted from 0, where a file assigns a name; None if it does not."""
    targets = [
        target
        for statement in ast.walk(_tree(path))
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    ]
    lines = [target.lineno - 1 for target in targets if isinstance(target, ast.Name) and target.id == name]
    return max(lines, default=None)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())
