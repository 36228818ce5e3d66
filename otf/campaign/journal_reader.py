"""Reads the journal of a campaign: what was run, how each path counted, and what the paths learned.

Only whole lines count: a path that began and has no result is driven again, with the same seed and the same knowledge.
The journal is data like a trace: reading it imports nothing and runs nothing that it names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from otf.campaign.journal_lines import (
    EMPTY,
    JOURNAL,
    LEARNED,
    LINES,
    NEW,
    UNREAD,
    VISITS,
    About,
    CompletedLine,
    CountedLine,
    JournalLine,
    KindsLine,
    Knowledge,
    ShrunkLine,
    SpentLine,
    StartedLine,
    decoded,
)
from otf.errors import TraceError, UsageError
from otf.runner.writer import writing
from otf.trace.reading import bounded
from otf.trace.record import LineChain
from otf.trace.requirements import RequirementRecord
from otf.values import show


class Past:
    """What a folder has of a campaign; empty for a new one. Raises TraceError for a folder that cannot be read.

    `counted` holds the paths that count, `undecided` those to drive again. `completed`: nothing interrupted it, and no
    path counted after that. `end` is how it ended, or None since it resumed. `begun`: its journal has a run. `linked`
    holds the paths whose lines the next lines vouch for; `altered` says what was changed. What paths learned is most of
    a journal, and is kept if it `learns`. `judges_again`: so will those who restore it.

    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     _ = run(bench(), traces=2, steps=5, seed=7, out=Path(folder, "out"))
    ...     past = Past(Path(folder, "out"))
    >>> sorted(past.counted), past.about.header["seed"]
    ([1, 2], 7)
    """

    def __init__(self, folder: Path, *, learns: bool = True) -> None:
        self.folder = folder
        self.begun: bool = False
        self.about: About | None = None
        self.counted: dict[int, CountedLine] = {}
        self.shrunk: dict[str, ShrunkLine] = {}
        self.completed: bool = False
        self.end: CompletedLine | None = None
        self.altered: list[str] = []
        self.linked = set[int]()
        self.requirements = RequirementRecord()
        self.failed_starts: int = 0
        self.parts: dict[str, float] = {}
        self.kinds: KindsLine = KindsLine()
        self.judges_again: bool = False
        self._of: dict[int, str] = {}
        self._learns = learns
        self._lines = 0
        self._read()
        self.undecided: dict[int, CountedLine] = {number: line for number, line in self.counted.items() if line.again}
        self.counted = {number: line for number, line in self.counted.items() if not line.again}

    def _read(self) -> None:
        journal = self.folder / JOURNAL
        if not (journal.is_file() or journal.is_dir()):  # opening a pipe would block for ever
            return
        try:
            with journal.open("rb") as file:
                self._read_lines(bounded(file))
        except OSError as error:
            message = f"{journal}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
            raise TraceError(message) from error

    def _read_lines(self, lines: Iterable[bytes]) -> None:
        chain, before = LineChain(), 0
        for number, line in enumerate(lines, 1):
            self._lines, follows = number, chain.take(line)
            if follows:
                self.linked.add(before)
            elif follows is False:
                self.altered.append(f"{JOURNAL}: what is before line {number} is not what was written there")
            # most lines tell of the start and end of a path, and need no decoding
            found = None if any(mark in line for mark in UNREAD) else decoded(line, LINES)
            before = found.path if isinstance(found, CountedLine) else 0
            self.linked.discard(before)
            if found is not None:
                self._take(found, whole=line.endswith(b"\n"))

    def _take(self, line: JournalLine, *, whole: bool) -> None:
        match line:
            case CountedLine():
                self._count(line)
            case ShrunkLine(signature):
                self.shrunk[signature] = line
            case StartedLine(about):
                self.begun = True
                # without it, a run of a trace began
                self.about, self.end = (self.about, self.end) if about is None else (about, None)
            case CompletedLine():
                self.completed, self.end = whole, line
            case SpentLine(parts):
                self.parts = parts | ({"earlier": self.seconds} if self.parts else {})
            case KindsLine():
                self.kinds = line
            case _:
                self.failed_starts += 1

    def _count(self, line: CountedLine) -> None:
        if line.new != EMPTY and (new := decoded(line.new, NEW)):
            self._of.update(new)
        # even if the path is driven again, what it showed was seen; most paths show nothing new
        if line.reached or line.decided or line.violated:
            self.requirements.add(new_requirements(line, self.folder))
        if not self._learns:
            line = msgspec.structs.replace(line, new=EMPTY, visits=EMPTY, learned=EMPTY)
        # an undecided path is driven again, and counts once, by its last line
        self.counted[line.path] = line
        # one that only resumed, and was killed, has nothing new to say
        self.completed = False

    @property
    def is_new(self) -> bool:
        """Return whether the folder has nothing of a campaign."""
        return not self._lines and next(self.folder.glob("path-*.jsonl"), None) is None

    @property
    def seconds(self) -> float:
        """Return how many seconds were spent."""
        return sum(self.parts.values())

    @property
    def names(self) -> dict[str, int]:
        """Return the numbers of the visits' names in this folder."""
        return {name: number for number, name in self._of.items()}

    def lacks(self, paths: int) -> bool:
        """Return whether one of the first paths does not count."""
        return any(number not in self.counted for number in range(1, paths + 1))

    def check(self, about: About) -> None:
        """Raise UsageError if the paths of this campaign would differ from those of the folder."""
        if self.about is None:
            return
        was, now = self.about.parts(), about.parts()
        for name in {**was, **now}:
            if was.get(name) != now.get(name):
                message = f"{self.folder}: its paths were run with {name} {_text_of(was.get(name))}, not with "
                # the fingerprint is the only part that no option sets
                advice = "the model or the bench was changed since; --into with --spend goes on with it; " * (
                    name == "fingerprint"
                )
                advice += "continue them with the same, or choose another folder"
                raise UsageError(f"{message}{_text_of(now.get(name))}; {advice}")

    def knowledge(self, numbers: Iterable[int]) -> Knowledge:
        """Return what these paths learned together, as far as they count."""
        known, visits = Knowledge(), defaultdict[int, int](int)
        for number in sorted(numbers):
            if (counted := self.counted.get(number)) is not None:
                if counted.learned != EMPTY:
                    known.add(decoded(counted.learned, LEARNED) or Knowledge())
                numbers = iter(decoded(counted.visits, VISITS) or ())
                for name, times in zip(numbers, numbers, strict=False):
                    visits[name] += times
        known.visits.update((self._of[number], times) for number, times in visits.items() if number in self._of)
        return known

    def tidy(self) -> None:
        """Remove the remains of paths to be driven again: the trace of a strict run would decide the next one."""
        for file in self.folder.glob("path-*.*.jsonl"):
            number = file.name.removeprefix("path-").partition(".")[0]
            if number.isdecimal() and int(number) not in self.counted:
                with writing(file):
                    file.unlink(missing_ok=True)


def new_requirements(counted: CountedLine, folder: Path) -> RequirementRecord:
    """Return what a path was the first to show of the requirements."""
    trace = str(folder / Path(counted.trace).name)
    violated = dict.fromkeys(counted.violated, trace)
    return RequirementRecord(reached={*counted.reached}, decided={*counted.decided}, violated=violated)


def _text_of(value: object) -> str:
    return "nothing" if value is None else show(value)
