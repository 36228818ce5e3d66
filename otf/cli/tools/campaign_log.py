"""The log of a campaign, as reports read it: how each path counted, and how the campaign ended."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from otf.campaign.journal_lines import (
    COMPLETED,
    COUNTED,
    COUNTED_LINES,
    EMPTY,
    FAILED_START,
    JOURNAL,
    KINDS,
    SPENT,
    STARTED,
    About,
    CountedLine,
)
from otf.runner.time_spent import TimeSpent
from otf.trace.reading import BAD_JSON, bounded
from otf.trace.result import GuessedResult


class LogLine(msgspec.Struct, frozen=True):
    """What is read of any line of the log."""

    event: str
    counts: str = ""
    trouble: str | None = ""
    time: dict[str, float] = {}
    parts: dict[str, float] = {}
    about: About | None = None
    kinds: dict[str, str] = {}
    full: bool = False
    guessed: list[GuessedResult] = []


@dataclass(slots=True)
class CampaignLog:
    """What the log of a campaign adds to its traces.

    `counts`: it says how each path counts, as logs of earlier versions did not. `completed`: nothing interrupted the
    campaign; `trouble` is the error that ended contact with the system, `spent` is where its time went, `plan` what was
    to be run, `parts` the seconds of the campaign by what they were spent on. `failed_starts` of the system were tried
    again. `kinds` are those of failures, by their fingerprints, where their signatures do not tell them apart, and
    `full` says that there were more different failures than are told apart. `guessed` were seen only behind others.
    """

    counts: bool = False
    completed: bool = False
    trouble: str = ""
    spent: TimeSpent = field(default_factory=TimeSpent)
    plan: About | None = None
    failed_starts: int = 0
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    full: bool = False
    guessed: list[GuessedResult] = field(default_factory=list[GuessedResult])
    parts: dict[str, float] = field(default_factory=dict[str, float])
    paths: dict[int, CountedLine] = field(default_factory=dict[int, CountedLine])

    @classmethod
    def of(cls, folder: Path) -> CampaignLog:
        """Read the log in a folder, as far as it can be read; without one, the traces have to do."""
        found = cls()
        log = folder / JOURNAL
        if not log.is_file():  # opening a pipe would block for ever
            return found
        with suppress(OSError), log.open("rb") as file:
            for line in bounded(file):
                # a line that a kill has torn says nothing
                with suppress(*BAD_JSON):
                    found.line(line)
        return found

    def line(self, line: bytes) -> None:
        """Take a line of the log."""
        known = msgspec.json.decode(line, type=LogLine)
        if known.event == STARTED and known.counts == COUNTED:
            self.counts = True
            if known.about is not None:  # a campaign, not a run of one of its traces
                self.completed, self.trouble = False, ""
                self.plan = known.about
        elif known.event == COMPLETED:
            self.completed, self.trouble = True, known.trouble or ""
            self.spent = msgspec.convert(known.time, TimeSpent)
        elif known.event == SPENT:
            earlier = sum(self.parts.values())
            self.parts = known.parts | ({"earlier": earlier} if earlier else {})
        elif known.event == FAILED_START:
            self.failed_starts += 1
        elif known.event == KINDS:
            self.kinds, self.full, self.guessed = known.kinds, known.full, known.guessed
        elif known.event == COUNTED:
            record = COUNTED_LINES.decode(line)
            # what paths learned is most of a line, and would keep it in memory
            self.paths[record.path] = msgspec.structs.replace(record, new=EMPTY, visits=EMPTY, learned=EMPTY)
