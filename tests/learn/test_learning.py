"""Learning simulated systems: all states are found, and what is lost on the line makes no wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from otf.errors import UsageError
from otf.learn.answers import AnswerTree
from otf.learn.equivalence import SuiteWords
from otf.learn.learning import ALGORITHMS, ChoiceError, Learner, LearntMachine, OverError
from otf.suite.machine import Word, minimise

pytest.importorskip("aalpy")


def lock(length: int, width: int, click: str = "click") -> LearntMachine:
    """Return a lock: the right input leads on with a click, any other back to the start, and the last opens."""
    right = [state % width for state in range(length)]
    next_ = [[(state + 1) % length if inp == right[state] else 0 for inp in range(width)] for state in range(length)]
    last = [click] * (length - 1) + ["open"]
    out = [[last[state] if inp == right[state] else "-" for inp in range(width)] for state in range(length)]
    return LearntMachine(next_, out)


def drawn(states: int, width: int, seed: int) -> LearntMachine:
    """Return a drawn machine."""
    random = Random(seed)
    next_ = [[random.randrange(states) for _ in range(width)] for _ in range(states)]
    for state in range(1, states):
        next_[random.randrange(state)][random.randrange(width)] = state
    return LearntMachine(next_, [[random.choice("abc") for _ in range(width)] for _ in range(states)])


def driving(machine: LearntMachine, loss: float = 0.0, seed: int = 1) -> Callable[[Sequence[Word]], list[list[str]]]:
    """Return what drives a machine behind a line that loses a share of the messages, in either direction."""
    random = Random(seed)

    def path(word: Word) -> list[str]:
        state, found = 0, list[str]()
        for inp in word:
            if random.random() < loss:
                found.append("-")
                continue
            found.append("-" if random.random() < loss else machine.out[state][inp])
            state = machine.next[state][inp]
        return found

    return lambda words: list(map(path, words))


def differs(one: LearntMachine, other: LearntMachine) -> Word | None:
    """Return a shortest word that two machines answer differently."""
    pairs: dict[tuple[int, int], Word] = {(0, 0): ()}
    for (here, there), word in (left := list(pairs.items())):
        for inp in range(len(one.next[0])):
            if one.out[here][inp] != other.out[there][inp]:
                return (*word, inp)
            then = one.next[here][inp], other.next[there][inp]
            if then not in pairs:
                pairs[then] = (*word, inp)
                left.append((then, (*word, inp)))
    return None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_every_state_of_a_drawn_machine_is_found(algorithm: str, seed: int) -> None:
    """Each algorithm learns it, and the suites for one state more pass at the end."""
    machine = drawn(12, 3, seed)
    learning = Learner(3, driving(machine), seed=seed)
    found = learning.run(algorithm, extra=1)
    assert differs(found, machine) is None
    assert found.progress.complete == 1
    assert learning.asked < learning.sent


@pytest.mark.parametrize(("length", "extra", "states"), [(6, 1, 1), (3, 2, 3)])
def test_a_silent_lock_opens_once_the_suites_are_long_enough(length: int, extra: int, states: int) -> None:
    """Right inputs in a row, and no click: six are not found for k = 1, which promises less; three are for k = 2."""
    learning = Learner(9, driving(lock(length, 9, "-")))
    assert learning.run("kv", extra=extra).size == states


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_a_lost_message_makes_no_state(seed: int) -> None:
    """One message in a hundred is lost, in either direction: the answers that come more often decide.

    With seed 4 two paths answer a counterexample alike, and wrongly.
    """
    machine = lock(6, 4)
    learning = Learner(4, driving(machine, loss=0.01, seed=seed), seed=seed)
    found = learning.run("kv", extra=1)
    assert differs(found, machine) is None
    assert found.size == 6
    assert learning.answers.needed in {2, 3}
    assert list(learning.answers.lost())


def test_a_system_that_chooses_is_told_as_one() -> None:
    """The same input, answered in one way and in the other: the inputs, and how often each answer came."""
    random = Random(1)
    learning = Learner(2, lambda words: [[random.choice("ab") for _ in word] for word in words])
    with pytest.raises(ChoiceError) as told:
        learning.run("kv")
    assert set(told.value.parted.answers) == {"a", "b"}
    assert sum(told.value.parted.answers.values()) >= 16


def test_the_time_ends_it_with_what_is_known() -> None:
    """After a number of questions it is over; the last hypothesis is there."""
    left = iter(range(12))
    learning = Learner(3, driving(lock(9, 3)), over=lambda: next(left, None) is None)
    with pytest.raises(OverError):
        learning.run("kv")
    assert learning.best is not None
    assert 1 <= learning.best.size < 9


def test_a_learner_is_told_when_an_answer_no_longer_holds() -> None:
    """Of one `on` and then three `off`, `off` is the answer."""
    answers = AnswerTree()
    answers.add((0,), ["on"])
    assert answers.known((0,)) == ["on"]
    for _ in range(3):
        answers.add((0,), ["off"])
    answers.changed = False
    assert answers.known((0,)) == ["off"]
    assert answers.changed


def test_each_wrong_answer_makes_the_learner_wait_for_more_paths() -> None:
    """Two alike are enough until they were wrong, then three, then four: fewer words are learnt wrong each time."""
    answers = AnswerTree()
    answers.add((9,), ["on"])
    answers.add((9,), ["off"])
    for word, needed in [((0,), 2), ((1,), 3), ((2,), 4), ((3,), 4)]:
        assert answers.needed == needed
        for _ in range(needed):
            assert answers.known(word) is None
            answers.add(word, ["lost"])
        assert answers.known(word) == ["lost"]
        for _ in range(3 * needed):
            answers.add(word, ["right"])
        assert answers.known(word) == ["right"]


def test_an_unknown_algorithm_is_named() -> None:
    """The error has those there are."""
    with pytest.raises(UsageError, match="there are kv, lsharp, lstar"):
        Learner(1, driving(lock(2, 1))).run("quick")


@pytest.mark.parametrize("seed", range(10))
def test_a_name_before_its_password(seed: int) -> None:
    """Of an FTP server with one way out, which is to quit, the suite for no more states finds the way in."""
    user, password, leave, others = 0, 1, 2, range(3, 13)

    def path(word: Word) -> list[str]:
        state, seen = "out", list[str]()
        for inp in word:
            if state == "gone":
                seen.append("nothing")
            elif inp == leave:
                seen.append("goodbye")
                state = "gone"
            elif inp == user:
                seen.append("which password")
                state = "named"
            elif inp == password:
                seen.append({"out": "name first", "named": "welcome", "in": "name first"}[state])
                state = "in" if state == "named" else state
            else:
                seen.append("ok" if state == "in" else "log in first")
        return seen

    learning = Learner(len(others) + 3, lambda words: [path(word) for word in words], seed=seed)
    assert learning.run("kv", extra=0).size == 4


def test_a_counterexample_loses_what_changes_nothing() -> None:
    """Of twelve inputs that lead to a wrong answer, the three that it takes are left."""
    truth = lock(3, 4, "-")  # opens after the inputs 0, 1, 2
    shut = LearntMachine([[0] * 4], [["-"] * 4])
    learning = Learner(4, driving(truth))
    assert learning.answers.contradiction(shut.next, shut.out) is None
    learning.ask((3, 3, 1, 3, 2, 3, 3, 3, 1, 0, 1, 2))
    assert learning.counterexample(shut, 0) == (0, 1, 2)


def test_walks_enter_rare_states_and_go_on() -> None:
    """Of ten inputs, one leads to the rare state and one of ten on from there: drawn inputs take both once in 100."""
    rare, home, closed = 1, 0, 2
    next_ = [[rare] + [closed] * 9, [closed, home] + [closed] * 8, [closed] * 10]
    out = [["in", *["-"] * 9], ["-", "back", *["-"] * 8], ["closed"] * 10]
    tests = SuiteWords(minimise(LearntMachine(next_, out).numbered()), Random(1), extra=0)
    walks = [*tests][1::2]
    assert sum(word[:2] == (0, 1) for word in walks) > len(walks) / 5


def ring(states: int) -> LearntMachine:
    """Input 0 leads on in a ring; nine others stay, each with an answer of its own; input 1 tells the state."""
    next_ = [[(state + 1) % states] + [state] * 9 for state in range(states)]
    return LearntMachine(next_, [["on", f"{state}", *map(str, range(100, 108))] for state in range(states)])


def test_walks_take_several_inputs_in_a_row_that_lead_on() -> None:
    """Each of three is one of ten with answers of their own: drawn by answers alone, no walk of 84 had them."""
    walks = [*SuiteWords(minimise(ring(4).numbered()), Random(1), extra=0)][1::2]
    assert sum("000" in "".join(map(str, word[3:])) for word in walks) > len(walks) / 3


def test_a_walk_goes_on_from_where_it_identified_a_state() -> None:
    """So the way to a deep state is worth several tests: the ways are less than half of the walks."""
    tests = SuiteWords(minimise(ring(40).numbered()), Random(1), extra=0)
    walks = [*tests][1::2]
    ways = sum(next(at for at, inp in enumerate(word) if inp) for word in walks)
    assert ways < sum(map(len, walks)) / 2


def test_walks_go_on_without_slow_inputs() -> None:
    """Each waits for a second: a walk begins with one at most, and the suites have them everywhere."""
    tests = [*SuiteWords(minimise(ring(4).numbered()), Random(1), extra=0, slow=[2])]
    walks, suite = tests[1::2], tests[::2]
    assert max(word.count(2) for word in walks) == 1
    assert {word[:2] for word in suite} >= {(0, 2), (2, 1)}


def test_a_system_that_only_waits_is_learnt() -> None:
    """If every input is slow, walks draw among them; they found none to draw, and learning ended with an IndexError."""
    machine = LearntMachine([[1], [0]], [["tick"], ["tock"]])
    assert Learner(1, driving(machine), slow=[0]).run().next == machine.next


def test_the_same_machine_has_the_same_tests_after_a_restart() -> None:
    """A learner that begins again with all answers asks nothing."""
    truth = ring(9)
    first, again = Learner(10, driving(truth), seed=1), Learner(10, driving(truth), seed=1)
    found = first.run("kv", extra=1)
    again.answers = first.answers
    assert again.run("kv", extra=1).next == found.next
    assert (first.sent > 0, again.sent) == (True, 0)
