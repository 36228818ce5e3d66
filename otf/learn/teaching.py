"""Lets a bench answer a learner: drives and remembers paths, and masks what varies in their outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeAlias

import anyio
from anyio.from_thread import run as run_in_loop
from anyio.to_thread import run_sync

from otf.adapter import Bench
from otf.learn.answers import CLOSED, MOST, AnswerTree, Parted
from otf.learn.learning import ChoiceError, Learner, LearntMachine, OverError
from otf.learn.learnt import LearntSystem
from otf.learn.listening import ConnectionEnds, PathDriver
from otf.learn.symbols import PortOutputs, Symbols, forms
from otf.learn.timers import LearntTimer, TimerMeasurement
from otf.spec import Elapse
from otf.suite.machine import Word

SETTLE: Final = (0.1, 1.0)  # pauses before each path, to try in turn once answers differ
COMPARED: Final = 8  # paths, driven after each of these pauses
HASTY: Final = 50  # paths: answers that differ so soon do so often, and the last connection may be the reason
UNSTABLE: Final = 200  # after masking this often: nothing that the system says recurs

_Path: TypeAlias = tuple[Word, list[PortOutputs | None]]


class CountError(Exception):
    """A number in an answer counts without end, and is masked from now on: the algorithm starts again."""


class Pupil:
    """Learns the system of a bench; `learning` has what is known so far, even after an interruption.

    `inputs` are the alphabet; `folder` holds the traces of all paths, and existing ones are read first.
    """

    def __init__(  # noqa: PLR0913 -- what learning needs, each once
        self,
        bench: Bench,
        inputs: Sequence[Any],
        folder: Path,
        *,
        reference: str = "",
        seed: int = 0,
        jobs: int = 1,
        seconds: float | None = None,
        mask: str = "",
        told: Callable[[LearntMachine], None] = lambda _: None,
    ) -> None:
        self.driver: PathDriver = PathDriver(bench, inputs, folder, reference)
        self.symbols: Symbols = Symbols(mask, inputs, several=len(self.driver.bare.oracle().model.routes.outputs) > 1)
        self.name = bench.name
        self.complete: bool = False
        self.choice: ChoiceError | None = None
        self.resumed: int = 0
        self.began: float = monotonic()
        self.timers: list[LearntTimer] = []
        self.timer_notes: list[str] = []
        self._bench = bench
        self._jobs = jobs
        self._paths: list[_Path] = []
        until = float("inf") if seconds is None else self.began + seconds
        self._over: Callable[[], bool] = lambda: monotonic() >= until
        self.learning: Learner = Learner(
            len(inputs),
            self._drive,
            seed=seed,
            together=max(1, jobs),
            over=self._over,
            told=told,
            slow=[at for at, inp in enumerate(inputs) if isinstance(inp, Elapse)],
        )
        self.learning.varies = self._varies
        self.learning.contradicted = self._slower
        self._may_settle: bool = bench.system is None
        # the first inputs that had several answers
        self.differed: Parted | None = None

    async def run(self, algorithm: str = "kv", extra: int = 1) -> None:
        """Learn in a separate thread, and drive the paths on this event loop."""
        for word, outputs in self.driver.stored():
            self._paths.append((word, [*outputs]))
            self.resumed += 1
        self._count(self._paths)
        self._retell()
        await run_sync(self._learn, algorithm, extra, abandon_on_cancel=True)

    async def measure(self, folder: Path) -> None:
        """Measure the timers, if waiting is one of the inputs, by paths whose traces go to a folder."""
        best = self.learning.best
        if best is not None and any(isinstance(inp, Elapse) for inp in self.driver.inputs):
            measurement = TimerMeasurement(self._bench, self.driver.inputs, best, self.symbols, folder)
            await measurement.run()
            self.timers, self.timer_notes = measurement.timers, measurement.notes

    @property
    def learnt(self) -> LearntSystem | None:
        """Return what was learnt so far; None before the first hypothesis."""
        best = self.learning.best
        if best is None:
            return None
        greetings = self.driver.greetings
        greeting = max(greetings, key=lambda each: greetings[each]) if greetings else ()
        if len(greetings) > 1:
            self.symbols.mask([*greetings])
        return LearntSystem(self.name, self.driver.inputs, best, self.symbols, greeting, self.timers)

    def _learn(self, algorithm: str, extra: int) -> None:
        for _ in range(UNSTABLE):
            try:
                self.learning.run(algorithm, extra)
            except OverError:
                return
            except CountError:
                self._retell()
                continue
            except ChoiceError as choice:
                if sum(choice.parted.answers.values()) >= MOST:
                    longer = next((each for each in SETTLE if each > self.driver.settle), None)
                    if longer is not None and self._may_settle:
                        self._settle(longer)
                        continue
                    self.choice = choice
                    return
                self._retell()
                continue
            self.complete = True
            return

    def _varies(self, parted: Parted) -> bool:
        """Mask what varies in the answers to the last of some inputs; return whether that leaves fewer answers."""
        return self.symbols.mask([self.symbols.outputs[each] for each in parted.answers], parted.word[-1])

    def _slower(self) -> None:
        """Start again with a pause if answers differ early: the shortest that answers as the longest does, or none."""
        parted = next(self.learning.answers.lost(), None)
        self.differed = self.differed or parted
        if not self._may_settle or len(self._paths) > HASTY or parted is None:
            return
        if len({forms(self.symbols.outputs[each]) for each in parted.answers}) > 1:
            words = [parted.word] * (COMPARED // 2) + [word for word, _ in self._paths[-COMPARED // 2 :]]
            # a system that remembers earlier paths answers alike after any pause, and after none
            longer, right = (
                [0.0, *(each for each in SETTLE if each > self.driver.settle)],
                self._after(SETTLE[-1], words),
            )
            # a system that chooses answers differently after any pause, and may answer alike by chance
            steady = self._after(SETTLE[-1], words) == right
            found = next((each for each in longer if self._after(each, words) == right), 0.0) if steady else 0.0
            self._may_settle = found > 0
            self._settle(found)

    def _after(self, seconds: float, words: Sequence[Word]) -> list[list[str]]:
        """Return the answers to words with a pause before each. Raises OverError once the time is over."""
        self.driver.settle, found = seconds, list[list[str]]()
        for word in words:
            if self._over():
                raise OverError
            found += self._drive([word])
        return found

    def _settle(self, seconds: float) -> None:
        """Start again with a pause before each path: the system may not have noticed that the last connection ended."""
        self.driver.settle = seconds
        self.driver.forget()
        self._paths.clear()
        if seconds:
            self.differed = None
        self._retell()

    def _drive(self, words: Sequence[Word]) -> list[list[str]]:
        """Drive paths, several at once; called from the algorithm's thread."""
        found = run_in_loop(self._uninterrupted, words)
        if found is None:
            raise OverError
        paths = [*zip(words, found, strict=True)]
        self._paths += paths
        if self._count(paths):
            raise CountError
        return [self._texts(*each) for each in paths]

    async def _uninterrupted(self, words: Sequence[Word]) -> list[list[PortOutputs | None]] | None:
        """Drive paths; return None if cancelled, since the thread has to get a result."""
        found: list[list[PortOutputs | None]] = [[] for _ in words]
        slots = anyio.CapacityLimiter(max(1, self._jobs))

        async def one(at: int) -> None:
            async with slots:
                found[at] = await self.driver.drive(words[at])

        try:
            async with anyio.create_task_group() as group:
                for at in range(len(words)):
                    group.start_soon(one, at)
        except anyio.get_cancelled_exc_class():
            return None
        return found

    def _count(self, paths: Sequence[_Path]) -> bool:
        """Mask numbers that count without end; return whether there are new ones."""
        answers = [(inp, each) for path in paths for inp, each in zip(*path, strict=True) if each is not None]
        return sum(self.symbols.mask_counts(each, inp) for inp, each in answers) > 0

    def _texts(self, word: Word, outputs: Sequence[PortOutputs | None]) -> list[str]:
        pairs = zip(word, outputs, strict=True)
        return [CLOSED if each is None else self.symbols.text(each, inp) for inp, each in pairs]

    def _retell(self) -> None:
        """Rebuild the tree of answers, whose texts have changed."""
        answers = AnswerTree(ConnectionEnds(self._bench, self.driver.inputs, self.symbols, self.driver.unopened))
        for word, outputs in self._paths:
            answers.add(word, self._texts(word, outputs))
        answers.changed = False
        self.learning.answers = answers
        # what is masked by now differs no longer
        if self.differed is not None and len({*self._retold(self.differed)}) == 1:
            self.differed = None

    def _retold(self, parted: Parted) -> Iterator[str]:
        """Yield the texts that the answers to the last of some inputs have now."""
        return (self.symbols.text(self.symbols.outputs[each], parted.word[-1]) for each in parted.answers)
