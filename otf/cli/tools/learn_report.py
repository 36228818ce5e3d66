"""What `otf learn` prints: its progress, what is known of the result, and why it ended early."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Final

from otf.cli.output import document, say
from otf.cli.tools.check import as_law
from otf.explore.differences import plain
from otf.learn.answers import Parted
from otf.learn.checking import CheckedProperty
from otf.learn.learnt import LearntSystem
from otf.learn.teaching import Pupil
from otf.suite import ASSUMED, wider
from otf.trace.result import counted
from otf.values import show

ROW: Final = 5  # repetitions of one input worth telling
FORGETS: Final = "A system that remembers earlier paths has to be reset (--start, --reset, or the Life of its bench)"
HIDING: Final = ", except for what `*` stands for,"
SHOWN: Final = 4  # answers to show if a system has a choice, and inputs whose answers vary
LONGEST: Final = 120  # characters of each


def line(pupil: Pupil) -> str:
    """Return the progress of learning, in a line."""
    best, sent = pupil.learning.best, pupil.driver.inputs_sent
    if best is None:
        return f"learning: {counted(sent, 'input')}{_differed(pupil)}"
    suite = best.progress
    if pupil.learning.since is not None:
        left = _deepest(pupil)
    elif suite.total:
        left = f"suite for k = {suite.extra}: {suite.done:,} of {suite.total:,}"
    else:
        left = "sending what seems to change nothing"
    return f"learning: {counted(best.size, 'state')}, {counted(sent, 'input')}; {left}{_differed(pupil)}"


def _differed(pupil: Pupil) -> str:
    """Return, while it is early enough to start again, that the same inputs had several answers, and the remedy."""
    if pupil.differed is None:
        return ""
    return f"; {_ways(pupil, pupil.differed)}: a system that remembers earlier paths needs --start, --reset or a Life"


def _deepest(pupil: Pupil) -> str:
    """Return how deep the search for more states goes: it shows when a system has no finite machine."""
    word = max(pupil.learning.since or (), key=len, default=())
    if not word:
        return "measuring timers" if pupil.complete else "looking for more states"
    runs = [(len([*group]), inp) for inp, group in groupby(word)]
    many, inp = max(runs, default=(0, 0))
    shown = ", ".join(plain(pupil.driver.inputs[inp]) for inp in word)
    row = f"{plain(pupil.driver.inputs[inp])} {many} times in a row" if many >= ROW else f"as {_cut(shown)}"
    return f"looking for more states, by paths up to {counted(len(word), 'input')}, {row}"


def known(pupil: Pupil, extra: int) -> list[str]:
    """Return what is known of the result, in sentences."""
    best, learnt = pupil.learning.best, pupil.learnt
    if best is None or learnt is None:
        return []
    hidden = [plain(each) for each in learnt.masked]
    complete = extra if pupil.complete else best.progress.complete
    size = counted(best.size, "state")
    lines = [f"{size}, {counted(len(pupil.driver.inputs), 'input')} of the alphabet."]
    if complete is None:
        lines.append("No suite has passed: there may be more states.")
    else:
        lines += guarantees(best.size, complete, HIDING * bool(hidden))
    if hidden:
        more = f" and {counted(len(hidden) - SHOWN, 'other input')}" if len(hidden) > SHOWN else ""
        lines.append(f"`*` stands for any value; it is in the answers to {', '.join(hidden[:SHOWN])}{more}.")
        lines.append("States that differ only in what `*` stands for are not told apart.")
    lines += [f"{each} after it was started." for each in pupil.timers] + pupil.timer_notes
    lines += [f"{_choice(pupil)}."] if pupil.choice is not None else _unclear(pupil)
    if pupil.driver.settle:
        lines.append(f"Without a pause of {pupil.driver.settle:g} s before each path its answers differed.")
    if not any(pupil.symbols.outputs.values()):
        lines.append("No input was answered: is the system there, and are these its messages?")
    if pupil.symbols.counting:
        kinds = ", ".join(dict.fromkeys(kind for _, kind in pupil.symbols.counting))
        lines.append(f"A number counts in {kinds}: any value there (--mask '^$' keeps it).")
    return lines


def _unclear(pupil: Pupil) -> list[str]:
    """Return, in sentences, where answers differed."""
    lost = list(pupil.learning.answers.lost())
    if not lost:
        return []
    unclear = next((each for each in lost if pupil.learning.answers.known(each.word) is None), None)
    said = "the others decided" if unclear is None else "no answer is clear yet"
    differed = f"At {counted(len(lost), 'place')} an answer differed now and then; {said}:"
    return [differed, f"{_ways(pupil, unclear or lost[0])}. {FORGETS}."]


def guarantees(states: int, extra: int, except_: str = "") -> list[str]:
    """Return, in sentences, for which systems a machine is right if its suites for `extra` more states passed."""
    within = f"Right{except_} for every system with at most {counted(states + extra, 'state')}, if {ASSUMED}"
    return [f"{within};", f"{wider(extra)}."] if extra else [f"{within}."]


def tell(
    pupil: Pupil,
    learnt: LearntSystem,
    files: list[Path],
    judged: Sequence[CheckedProperty],
    extra: int,
    *,
    as_json: bool,
) -> None:
    """Print what was learnt and asked, whether properties hold, where the files are, and how to go on."""
    seconds = monotonic() - pupil.began
    sent, best = pupil.driver.inputs_sent, learnt.machine
    if as_json:
        document(
            {
                "states": best.size,
                "inputs": len(learnt.inputs),
                "masked": [show(each) for each in learnt.masked],
                "sent": sent,
                "to_the_last_hypothesis": pupil.learning.asked,
                "paths": pupil.learning.answers.paths,
                "seconds": round(seconds, 3),
                "complete": pupil.complete,
                "extra": extra if pupil.complete else -1 if (most := best.progress.complete) is None else most,
                "chooses": _choice(pupil),
                "files": list(map(str, files)),
                "properties": [{**as_law(each.finding), "confirmed": each.confirms} for each in judged],
            }
        )
        return
    for sentence in known(pupil, extra):
        say(sentence)
    rate = f"{sent / seconds:,.0f} inputs/s" if seconds else ""
    say(f"{counted(sent, 'input')} in {counted(pupil.learning.answers.paths, 'path')}, {seconds:.1f} s: {rate}")
    say(f"silence: {pupil.driver.silence or 'the system has answered when it returns'}")
    say(f"last hypothesis after {counted(pupil.learning.asked, 'input')}")
    if pupil.resumed:
        say(f"{counted(pupil.resumed, 'path')} of an earlier time in this folder")
    if not pupil.complete and pupil.choice is None:
        if pupil.learning.since:
            say(f"{_deepest(pupil)}:")
            say("what counts or queues without end has no finite machine; leave that input out (--only),")
            say("or mask the answers that count (--mask)")
        say(f"it has not come to its end; go on with --out {files[0].parent}")
    for each in judged:
        say(str(each))
    for file in files:
        say(f"  {file}")


def _cut(text: str, first: int = 0) -> str:
    """Return a text from `first` on; of a longer one the beginning, and its length."""
    shown = f"{'…' * bool(first)}{text[first : first + LONGEST]}"
    return shown if len(text) <= first + LONGEST else f"{shown}… ({len(text):,} characters)"


def _choice(pupil: Pupil) -> str:
    if pupil.choice is None:
        return ""
    ways = _ways(pupil, pupil.choice.parted)
    leave = "no choice is learnt: leave that input out (--only), or mask what varies (--mask)"
    return f"The system chooses, or a timer or another client does: {ways}. {FORGETS}; {leave}"


def _ways(pupil: Pupil, parted: Parted) -> str:
    """Return inputs with the answers that followed."""
    word, answers = parted
    shown = ", ".join(plain(pupil.driver.inputs[inp]) for inp in word)
    most = sorted(answers, key=lambda out: -answers[out])[:SHOWN]
    alike = next((at for at, each in enumerate(zip(*most, strict=False)) if len({*each}) > 1), 0)
    first = alike - LONGEST // 4 if alike > LONGEST // 2 else 0
    ways = "; ".join(f"{_cut(out, first)} ({counted(answers[out], 'time')})" for out in most)
    ways += f"; and {len(answers) - SHOWN} others" if len(answers) > SHOWN else ""
    return f"after {shown} came {ways}"
