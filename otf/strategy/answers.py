"""What inputs led to, as the answers show it: all that anyone can see of the state of the system.

A model that allows any answer has one state: each input is enabled in it, and counts of its states say nothing about
where the system is. There the answers so far tell: what was sent and answered on a path, without the steps that led
nowhere, is a state of the system as far as anyone can see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Final, TypeAlias

from otf.spec import Elapse
from otf.trace.alike import template
from otf.trace.events import Event, Seen, Sent
from otf.values import show

Steps: TypeAlias = tuple[str, ...]
"""Steps that led somewhere: inputs with their answers, as digests."""

REPEATED: Final = 10  # times that an input got the same answer twice in a row, before that is taken to lead nowhere
SHORT: Final = (4, 3, 2)  # last steps by which a place is known that was not reached before
TRIALS: Final = 3  # of an input after such steps, before they count
COUNTED: Final = 6  # last steps after which trials are counted
UNLIKELY: Final = 0.003  # the weight of an input that leads nowhere from here: a system may change its mind
KEPT: Final = 200_000  # places that are remembered


class Answered:
    """What inputs led to on many paths, by the steps before them.

    A path is a text: for each input its digest, that of its answer, and whether that led anywhere.

    >>> answered = Answered()
    >>> answered.add("in out 1 in no 0")
    >>> answered.trials(("in/out",), "in"), answered.trials((), "in")
    ((1, 0), (1, 1))
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.again: Counter[str] = Counter()
        self.moves: set[str] = set()
        self._table: dict[tuple[object, ...], list[int]] = {}
        self._tried: Counter[tuple[Steps, str]] = Counter()

    def add(self, path: str) -> None:
        """Add a path."""
        self.paths.append(path)
        words, last = path.split(), ""
        steps: Steps = ()
        for inp, answer, leads in zip(words[::3], words[1::3], words[2::3], strict=True):
            self.repeated(last, inp, answer)
            self.note(steps, inp, leads == "1")
            last = f"{inp}/{answer}"
            steps = (*steps, last) if leads == "1" else steps

    def repeated(self, last: str, inp: str, answer: str) -> None:
        """Note whether an answer came again, if the last input was the same."""
        before, _, came = last.partition("/")
        if before == inp:
            self.again[came] += 1
            if came != answer:
                self.moves.add(came)

    def note(self, steps: Steps, inp: str, leads: bool) -> None:  # noqa: FBT001 -- what is noted
        """Note that an input was tried after these steps."""
        if len(self._table) > KEPT:
            self._table.clear()
            self._tried.clear()
        self._tried[steps[-COUNTED:], inp] += 1
        for place in _places(steps):
            row = self._table.setdefault((*place, inp), [0, 0])
            row[0] += 1
            row[1] += leads

    def trials(self, steps: Steps, inp: str) -> tuple[int, int]:
        """Return how often an input was tried after exactly these steps, and how often it led somewhere."""
        return self.at(next(_places(steps)), inp)

    def at(self, place: tuple[object, ...], inp: str) -> tuple[int, int]:
        """Return the same for a place."""
        trials, led = self._table.get((*place, inp), (0, 0))
        return trials, led

    def tried(self, steps: Steps, inp: str) -> int:
        """Return how often an input was tried after the last of these steps."""
        return self._tried[steps[-COUNTED:], inp]


def _places(steps: Steps) -> Iterator[tuple[object, ...]]:
    """Yield where the system is after these steps: exactly, then as far as the last few tell."""
    yield ("exactly", steps)
    yield from ((steps[-last:],) for last in SHORT if last <= len(steps))


class LearntAnswers:
    """The answers of a lane: those of its own paths, and of other paths as far as it may know them.

    An answer *leads nowhere* if the same input got it again whenever it was sent twice in a row.

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

    def begin(self) -> None:
        """Note that a path begins."""
        self._steps, self._last, self._sent = (), "", ""
        self._path.clear()

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
        self._own.note(self._steps, inp, leads)
        self._path += [inp, answer, str(int(leads))]
        self._last = f"{inp}/{answer}"
        if leads:
            self._steps = (*self._steps, self._last)

    def told(self) -> str:
        """Return the path so far as text, as `Answered` takes it."""
        self.settle()
        path, self._path = " ".join(self._path), []
        return path

    def weight(self, value: object) -> float:
        """Return how much an input is to be preferred: likely to lead somewhere, and tried little after such steps."""
        inp = digest(show(value))
        tried = sum(each.tried(self._steps, inp) for each in self._all())
        return max(self._likely(inp), UNLIKELY) / (1 + tried)

    def _all(self) -> Iterable[Answered]:
        yield self._own
        yield from self._others

    def _leads(self, answer: str) -> bool:
        if any(answer in each.moves for each in self._all()):
            return True
        return sum(each.again[answer] for each in self._all()) < REPEATED

    def _likely(self, inp: str) -> float:
        """Return the probability that an input leads somewhere, from the most exact place that knows.

        What was never tried in a place is likely to: an input that nearly everywhere is refused leads to the rarest
        states.
        """
        for place in _places(self._steps):
            known = [each.at(place, inp) for each in self._all()]
            trials, led = sum(row[0] for row in known), sum(row[1] for row in known)
            if place[0] == "exactly" and trials:
                return led / trials
            if trials >= TRIALS:
                return (led + 1) / (trials + 1.5)
        return 2 / 3


@lru_cache(10_000)
def digest(text: str) -> str:
    """Return a short name of a text: the same in each process."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
