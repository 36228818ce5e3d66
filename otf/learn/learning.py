"""Learns a machine: an AALpy algorithm asks, paths answer, and suites and walks look for remaining errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate, islice
from random import Random
from typing import Any, Final, TypeAlias

from otf.errors import UsageError, choose
from otf.learn.answers import CLOSED, ENOUGH, MOST, AnswerTree, Parted
from otf.learn.equivalence import SuiteProgress, SuiteWords
from otf.suite.machine import NumberedMachine, Word, minimise

ALGORITHMS: Final = {
    "kv": "a classification tree (Kearns and Vazirani 1994): the fewest inputs",
    "lsharp": "apartness in a tree of all answers (Vaandrager and others 2022)",
    "lstar": "a table (Angluin 1987)",
}
BATCH: Final = 8  # tests to ask at once, if that many paths may run at once


DriveWords: TypeAlias = Callable[[Sequence[Word]], Sequence[Sequence[str]]]
"""Drives paths and returns the answers of each, as texts."""


class OverError(Exception):
    """The time or the inputs are used up: the result is what is known so far."""


class ChoiceError(Exception):
    """The system chooses: the same inputs have several answers, none of them clear."""

    def __init__(self, parted: Parted) -> None:
        self.parted = parted
        super().__init__(str(parted))


class _ChangedError(Exception):
    """The algorithm received an answer that turned out to be wrong, so it starts again with what is known now."""


@dataclass
class LearntMachine:
    """A machine that explains all answers so far: `next` and `out` by state and input; state 0 is the first."""

    next: list[list[int]]
    out: list[list[str]]
    progress: SuiteProgress = field(default_factory=SuiteProgress)

    @property
    def size(self) -> int:
        """Return the number of its states."""
        return len(self.next)

    def numbered(self, inputs: Sequence[Any] = ()) -> NumberedMachine:
        """Return it in numbers, from which suites are made."""
        texts = {text: number for number, text in enumerate(dict.fromkeys(text for row in self.out for text in row))}
        out = [[texts[text] for text in row] for row in self.out]
        width = range(len(self.out[0]))
        return NumberedMachine("learnt", range(self.size), list(inputs) or list(width), self.next, out)

    def run(self, word: Word) -> list[str]:
        """Return its answers to a word."""
        state, found = 0, list[str]()
        for inp in word:
            found.append(self.out[state][inp])
            state = self.next[state][inp]
        return found


class Learner:
    """Learns the machine of a system with `width` inputs. `drive` drives paths; `over` says when to stop.

    `best` is the last hypothesis, `asked` the number of inputs sent for it, `sent` that of all inputs. It calls `told`
    with each new hypothesis. Walks avoid the `slow` inputs.

    >>> def lamp(words): return [["on" if at % 2 == 0 else "off" for at in range(len(word))] for word in words]
    >>> learning = Learner(1, lamp)
    >>> learning.run("kv", extra=1).next
    [[1], [0]]
    >>> learning.best.progress.complete
    1
    """

    def __init__(  # noqa: PLR0913 -- what learning needs, each once
        self,
        width: int,
        drive: DriveWords,
        *,
        seed: int = 0,
        together: int = 1,
        over: Callable[[], bool] = bool,
        told: Callable[[LearntMachine], None] = lambda _: None,
        slow: Collection[int] = (),
    ) -> None:
        self.answers: AnswerTree = AnswerTree()
        self.best: LearntMachine | None = None
        self.sent: int = 0
        self.asked: int = 0
        # the words driven for the next hypothesis; None while the last one is tested
        self.since: list[Word] | None = []
        # whether unclear answers differ only in parts that may vary
        self.varies: Callable[[Parted], bool] = lambda _: False
        # called where the same inputs have another answer for the first time
        self.contradicted: Callable[[], None] = lambda: None
        self._width = width
        self._drive = drive
        self._seed = seed
        self._together = together
        self._over = over
        self._told = told
        self._slow = slow

    def run(self, algorithm: str = "kv", extra: int = 1) -> LearntMachine:
        """Learn until the suites for `extra` more states pass; return the machine.

        Raises OverError, after which `best` is what is known so far; ChoiceError if the system chooses; UsageError
        without AALpy.
        """
        run = _algorithm(algorithm)
        while True:
            try:
                self.answers.changed = False
                run(list(range(self._width)), *_sides(self, extra))
            except _ChangedError:
                self.contradicted()
                continue
            if self.best is None:
                raise AssertionError
            return self.best

    def ask(self, word: Word) -> list[str]:
        """Return the answers to a word, after as many paths as that takes."""
        return self.ask_all([word])[0]

    def ask_all(self, words: Sequence[Word]) -> list[list[str]]:
        """Return the answers to several words, whose paths may run at once."""
        while left := [word for word in dict.fromkeys(words) if self.answers.known(word) is None]:
            if self._over():
                raise OverError
            parted = next(filter(None, map(self.answers.parted, left)), None)
            if parted is not None and (sum(parted.answers.values()) >= MOST or self.varies(parted)):
                raise ChoiceError(parted)
            for word, outputs in zip(left, self._drive(left), strict=True):
                self._heard(word, outputs)
        found = [self.answers.known(word) or [] for word in words]
        if self.answers.changed:
            raise _ChangedError
        return found

    def _heard(self, word: Word, outputs: Sequence[str]) -> None:
        self.sent += sum(each != CLOSED for each in outputs)
        if self.since is not None:
            self.since.append(word)
        self.answers.add(word, outputs)

    def counterexample(self, hypothesis: LearntMachine, extra: int) -> Word | None:
        """Return inputs that the system answers differently from a hypothesis; None if the suites pass."""
        if self.best is None or (hypothesis.next, hypothesis.out) != (self.best.next, self.best.out):
            self.asked = self.sent
        self.best = hypothesis
        self._told(hypothesis)
        known = self.answers.contradiction(hypothesis.next, hypothesis.out)
        if known is not None:
            return self._shorten(known, hypothesis)
        # the same tests whenever it comes to this machine, so that after a restart their answers are known
        drawn = Random(f"{self._seed} {hypothesis.next} {hypothesis.out}")
        tests = SuiteWords(minimise(hypothesis.numbered()), drawn, extra, self._slow)
        hypothesis.progress = tests.progress
        left = iter(tests)
        while batch := list(islice(left, self._together)):
            self.ask_all(batch)
            wrong = next(filter(None, (self._wrong(word, hypothesis) for word in batch)), None)
            if wrong is not None:
                return self._confirm(self._shorten(wrong, hypothesis), hypothesis)
        return None

    def _wrong(self, word: Word, hypothesis: LearntMachine) -> Word | None:
        """Return a word up to the first answer that differs from the hypothesis; None if none does."""
        pairs = zip(self.ask(word), hypothesis.run(word), strict=True)
        return next((word[: at + 1] for at, (seen, said) in enumerate(pairs) if seen != said), None)

    def _shorten(self, word: Word, hypothesis: LearntMachine) -> Word:
        """Leave out of a counterexample what should change nothing, in ever smaller groups: its end tells states apart.

        The algorithm keeps that end, and sends it after each transition.
        """
        size = len(word)
        while size:
            states = [*accumulate(word, lambda state, inp: hypothesis.next[state][inp], initial=0)]
            kept = [at for at in range(len(word) - 1) if states[at] == states[at + 1]][::-1]
            for first in range(0, len(kept), size):
                group = kept[first : first + size]
                word = self._wrong(tuple(inp for at, inp in enumerate(word) if at not in group), hypothesis) or word
            size //= 2
        return word

    def _confirm(self, word: Word, hypothesis: LearntMachine) -> Word | None:
        """Return a counterexample confirmed by more paths, so that losses on the line do not count.

        Where the line loses messages, two alike are not enough: a lost input that is silent anyway leaves no trace.
        """
        while self.answers.count(word) < (2 if self.answers.needed == 1 else ENOUGH):
            (outputs,) = self._drive([word])
            self._heard(word, outputs)
            if self.answers.changed:
                raise _ChangedError
        return word if self.ask(word) != hypothesis.run(word) else None


def _sides(learning: Learner, extra: int) -> tuple[Any, Any]:
    """Return AALpy's two sides: the system to ask, and the equivalence oracle."""
    base: Any = import_module("aalpy.base")

    class System(base.SUL):  # type: ignore[misc]  # AALpy has no types
        def query(self, word: Any) -> list[str]:  # noqa: ANN401 -- as above
            return learning.ask(tuple(word))

        def adaptive_query(self, word: list[int], ads: Any) -> tuple[list[int], list[str]]:  # noqa: ANN401 -- as above
            last: str | None = None
            while (inp := ads.next_input(last)) is not None:
                word.append(inp)
                last = learning.ask(tuple(word))[-1]
            return word, learning.ask(tuple(word))

        def pre(self) -> None:
            """Nothing: each word begins with a reset."""

        def post(self) -> None:
            """Nothing, as above."""

        def step(self, letter: Any) -> Any:  # noqa: ANN401 -- as above
            raise NotImplementedError

    class Equivalence(base.Oracle):  # type: ignore[misc]  # AALpy has no types
        def find_cex(self, hypothesis: Any) -> Word | None:  # noqa: ANN401 -- as above
            learning.since = None
            found = learning.counterexample(as_learnt(hypothesis), extra)
            learning.since = []
            return found

    system = System()
    return system, Equivalence([], system)


def as_learnt(automaton: Any) -> LearntMachine:  # noqa: ANN401 -- AALpy has no declared types
    """Return the machine of AALpy's Mealy machine."""
    order = [automaton.initial_state]
    numbers = {automaton.initial_state.state_id: 0}
    for state in order:
        for inp in sorted(state.transitions):
            then = state.transitions[inp]
            if numbers.setdefault(then.state_id, len(order)) == len(order):
                order.append(then)
    inputs = sorted(order[0].transitions)
    return LearntMachine(
        [[numbers[state.transitions[inp].state_id] for inp in inputs] for state in order],
        [[state.output_fun[inp] for inp in inputs] for state in order],
    )


def _algorithm(name: str) -> Callable[..., Any]:
    """Return an algorithm of AALpy. Raises UsageError."""
    if name not in ALGORITHMS:
        raise UsageError(f"there is no algorithm {name!r}; {choose(name, ALGORITHMS, 'there are')}")
    if find_spec("aalpy") is None:
        raise UsageError("learning needs AALpy: pip install 'otf[learn]'")
    made: Any = import_module("aalpy.learning_algs")
    run = {"kv": made.run_KV, "lsharp": made.run_Lsharp, "lstar": made.run_Lstar}[name]
    # the tree of answers is the cache, and notices contradictions
    return partial(run, automaton_type="mealy", cache_and_non_det_check=False, print_level=0)
