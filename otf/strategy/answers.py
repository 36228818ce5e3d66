"""Learns from the answers what inputs led to: the only visible sign of the system's state.

A model that allows any answer has one state, which enables each input, so counting its states does not show where the
system is. The answers do: the inputs and answers of a path, without the steps that led nowhere, stand for the system's
state.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from math import sqrt
from typing import Final, TypeAlias

from otf.spec import Elapse
from otf.trace.alike import template
from otf.trace.events import Event, Seen, Sent
from otf.values import show

Steps: TypeAlias = tuple[str, ...]
"""Steps that led somewhere: inputs with their answers, as digests."""

REPEATED: Final = 10  # repeats of an input and its answer in a row, before the input counts as leading nowhere
LAST: Final = (6, 4, 2, 1, 0)  # last steps that identify a place not reached before
COUNTED: Final = 6  # last steps after which trials count too, so that rare inputs get a chance
REFUSED: Final = 0.2  # the chance that an input leads somewhere although refused once after the same last steps
UNLIKELY: Final = 0.0001  # the same for one refused in the very same place: a system may change its mind
REPEATS: Final = 3.0  # the weight of an input that followed the same step before
LOOPED: Final = 0.1  # the same for one not yet tried after a loop: counters and limits show there
KEPT: Final = 500_000  # trials to remember


class Answered:
    """Where inputs led on many paths, by the steps before them.

    A path is a text: for each input its digest, the digest of its answer, and whether it led anywhere.

    >>> answered = Answered()
    >>> answered.add("in out 1 in no 0")
    >>> answered.exactly(("in/out",), "in"), answered.trials((), "in")
    ((1, 'no'), (2, 1))
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.again: Counter[str] = Counter()
        self.moves: set[str] = set()
        self._exactly: dict[tuple[Steps, str], tuple[int, str]] = {}
        self._trials: dict[tuple[Steps, str], tuple[int, int]] = {}

    def add(self, path: str) -> None:
        """Add a path."""
        self.paths.append(path)
        words, last = path.split(), ""
        steps: Steps = ()
        for inp, answer, leads in zip(words[::3], words[1::3], words[2::3], strict=True):
            self.repeated(last, inp, answer)
            self.note(steps, inp, answer, leads == "1")
            last = f"{inp}/{answer}"
            steps = (*steps, last) if leads == "1" else steps

    def repeated(self, last: str, inp: str, answer: str) -> None:
        """Note whether an answer recurred, if the last input was the same."""
        before, _, came = last.partition("/")
        if before == inp:
            self.again[came] += 1
            if came != answer:
                self.moves.add(came)

    def note(self, steps: Steps, inp: str, answer: str, leads: bool) -> None:  # noqa: FBT001 -- what is noted
        """Note what an input got after these steps."""
        for table in (self._exactly, self._trials):
            if len(table) > KEPT:
                table.clear()
        times, known = self.exactly(steps, inp)
        self._exactly[steps, inp] = times + 1, answer if leads or not known else known
        for last in _lasts(steps):
            trials, led = self.trials(last, inp)
            self._trials[last, inp] = trials + 1, led + leads

    def exactly(self, steps: Steps, inp: str) -> tuple[int, str]:
        """Return how often an input was sent after exactly these steps, and an answer: a leading one, if any."""
        return self._exactly.get((steps, inp), (0, ""))

    def trials(self, last: Steps, inp: str) -> tuple[int, int]:
        """Return how often an input was sent after these last steps, and how often it led somewhere."""
        return self._trials.get((last, inp), (0, 0))


def _lasts(steps: Steps) -> Iterator[Steps]:
    """Yield the last few of these steps as a place, from the most exact to the vaguest."""
    yield from (steps[len(steps) - last :] for last in LAST if last <= len(steps))


class LearntAnswers:
    """The answers that a lane knows: those on its own paths, and those on other paths that have been shared with it.

    An answer *leads nowhere* if the input got it again each time it was sent twice in a row.

    >>> answers = LearntAnswers()
    >>> for inp, output in [("press", "refused")] * 20 + [("coin", "thanks")]:
    ...     answers.observe(Sent(inp, "", 0.0))
    ...     answers.observe(Seen(output, "", 0.0))
    >>> told = answers.told().split()
    >>> told[-4], told[-1]  # of the last refusal, and of the coin: whether it led anywhere
    ('0', '1')
    """

    def __init__(self, others: Iterable[Answered] = ()) -> None:
        self._own, self._others = Answered(), others
        self._path: list[str] = []
        self._steps: Steps = ()
        self._last = self._sent = ""
        self._seen: list[str] = []
        # the inputs that led somewhere, by the step before them
        self._followed = defaultdict[str, set[str]](set)
        # the remaining inputs of the loop being repeated; None: no step of the path has recurred
        self._loop: list[str] | None = None
        self._looping = self._behind = False

    def begin(self) -> None:
        """Note that a path begins, and the answer that ended the last one."""
        self.settle()
        self._steps, self._last, self._sent = (), "", ""
        self._path.clear()
        self._followed.clear()
        self._looping = not self._looping  # only each second path: useless loops would crowd out everything else
        self._loop, self._behind = (None if self._looping else []), False

    def observe(self, event: Event) -> None:
        """Take an event of the path."""
        if isinstance(event, Sent):
            self.settle()
            self._sent, self._seen = ("" if isinstance(event.input, Elapse) else digest(show(event.input))), []
        elif isinstance(event, Seen):
            self._seen.append(template(show(event.output)))

    def settle(self) -> None:
        """Note the outputs since the last input as its answer."""
        if not self._sent:
            return
        inp, answer, self._sent = self._sent, digest(" ".join(self._seen)), ""
        leads = self._leads(answer)
        self._own.repeated(self._last, inp, answer)
        self._own.note(self._steps, inp, answer, leads)
        self._path += [inp, answer, str(int(leads))]
        self._last = f"{inp}/{answer}"
        if leads:
            self._follow(inp)
            self._steps = (*self._steps, self._last)
        elif self._loop:
            self._loop = []

    def _follow(self, inp: str) -> None:
        """Go on in the loop. When a step of the path occurs for the second time, that closes a loop."""
        self._followed[self._step()].add(inp)
        left, steps = self._loop, self._steps
        self._behind = left == [inp]
        if left:
            self._loop = left[1:] if left[0] == inp else []
        elif left is None and self._last in steps:
            since = len(steps) - steps[::-1].index(self._last)
            self._loop = [*(step.partition("/")[0] for step in steps[since:]), inp]

    def told(self) -> str:
        """Return the path so far as text, as `Answered` takes it."""
        self.settle()
        path, self._path = " ".join(self._path), []
        return path

    def weight(self, value: object) -> float:
        """Return the weight of an input: high if it probably leads somewhere and was tried little in this place.

        Counters show after loops. Each second path repeats the first loop once and then tries everything; the others
        prefer inputs that followed the last step before.
        """
        inp = digest(show(value))
        if self._loop:
            return 1.0 if inp == self._loop[0] else UNLIKELY
        known = [row for each in self._all() if (row := each.exactly(self._steps, inp))[0]]
        if self._behind and not known:
            return LOOPED
        likely = (
            self._likely(inp) if not known else 1.0 if any(self._leads(answer) for _, answer in known) else UNLIKELY
        )
        tried = (1 + sum(times for times, _ in known)) * sqrt(1 + self._trials(self._steps[-COUNTED:], inp)[0])
        follows = not self._looping and inp in self._followed[self._step()]
        return (REPEATS if follows else 1.0) * likely / tried

    def _step(self) -> str:
        return self._steps[-1] if self._steps else ""

    def _all(self) -> Iterable[Answered]:
        yield self._own
        yield from self._others

    def _leads(self, answer: str) -> bool:
        if any(answer in each.moves for each in self._all()):
            return True
        return sum(each.again[answer] for each in self._all()) < REPEATED

    def _likely(self, inp: str) -> float:
        """Return the probability that an input leads somewhere, from the most exact known place.

        An input that was always refused there may still lead somewhere, since the place is not exact.
        """
        for last in _lasts(self._steps):
            trials, led = self._trials(last, inp)
            if trials:
                return REFUSED / (trials + 1) if not led else 1.0 if led == trials else (led + 0.5) / (trials + 1)
        return 2 / 3

    def _trials(self, last: Steps, inp: str) -> tuple[int, int]:
        rows = [each.trials(last, inp) for each in self._all()]
        return sum(trials for trials, _ in rows), sum(led for _, led in rows)


@lru_cache(10_000)
def digest(text: str) -> str:
    """Return a short name of a text, the same in each process."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
