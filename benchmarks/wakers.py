"""Answers of real servers whose threads wake by themselves, for nothing or to answer: `python -m benchmarks.wakers`.

Each server answers each input once, with its number; the model allows the answer or none, so that nothing but the
observer waits for it, and strict mode sends the next input at once. A *wrong rest* is a silence that was believed
though an answer was still to come. It *counts* where a campaign would let the path count: a path that fails, or took
back a thread that it trusted, is driven again without trust. `learnt` are the threads that do nothing and were trusted
after each kind of input at the end, `revoked` the paths with wrong rests that took the trust in that thread back. With
`--control` a thread is trusted after one trial, which must show wrong rests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, process_time
from typing import Any, Final

import anyio

from benchmarks.measure import command, positive, save
from otf.adapter import Bench
from otf.adapter.observed_rest import wakers as learning
from otf.adapter.observed_rest.wakers import Waker, Wakers
from otf.adapters import process
from otf.codec import lines
from otf.core import Session
from otf.core.pacing import Strict
from otf.runner.driving import drive
from otf.runner.observing import WRONGLY
from otf.spec import Spec, Transition, goto
from otf.strategy import Pool, Uniform
from otf.trace.events import Event, Quiet, Seen, Sent

SOURCE: Final = Path(__file__).with_suffix(".c")
HOW: Final = ("never", "always", "kind", "rare", "pool")
KINDS: Final = ("a", "b", "c")
MODULO: Final = 50
LONGEST: Final = 1_000  # inputs of a path
SLEEPS: Final = 230  # clock_nanosleep, on x86-64
HEAD: Final = "server   answers  wrong  counting  revoked  learnt    steps/s  CPU us  load"


@dataclass
class Row:
    """What the servers of one kind showed."""

    answers: int = 0
    wrong: int = 0
    counting: int = 0
    revoked: int = 0
    learnt: int = 0
    harmless: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    failed: Counter[str] = field(default_factory=Counter[str])


@dataclass
class Answers:
    """Counts the answers of a path, and those that were missing at a silence."""

    sent: int = 0
    came: int = 0
    wrong: int = 0
    _missing: int = 0

    def __call__(self, event: Event, _line: bytes | None = None, /, **_more: Any) -> None:
        """Take an event."""
        self.sent += isinstance(event, Sent)
        self.came += isinstance(event, Seen)
        if isinstance(event, Quiet):
            missing = self.sent - self.came
            self.wrong, self._missing = self.wrong + max(missing - self._missing, 0), missing


def answering(number: int, word: str) -> Iterable[Transition[int]]:
    """The model: an answer with its number, or none."""
    then = (number + 1) % MODULO
    return [goto(then, f"{word}{number}"), goto(then)]


def bench(program: str, how: str, seed: int, periods: Sequence[int]) -> Bench:
    """Return the bench of a server."""
    server = process([program, how, str(seed), *map(str, periods)], ready="ready")
    spec: Spec[int, str] = Spec(answering, 0, [*KINDS])
    return Bench.on_ports(spec, lines({str: "{}"}, port="server"), {"server": server}, quiescence=0.02)


async def served(program: str, how: str, seed: int, least: int, row: Row) -> None:
    """Drive paths on copies of a server until so many answers have come."""
    random, wakers, came = Random(seed), Wakers(), 0
    periods = [random.randint(1_000, 15_000) for _ in range(random.randint(1, 3))]
    while came < least:
        tested, known, answers = bench(program, how, random.randrange(1 << 30), periods), list[str](), Answers()
        steps = min(LONGEST, least - came)
        session = Session(tested.oracle(), Uniform(Pool("uioco", random)), Strict(tested.timing), steps=steps)
        verdict = await drive(tested, session, answers, known.append, wakers=wakers)
        came += answers.came
        row.wrong += answers.wrong
        taken_back = bool(known) and known[-1].startswith(WRONGLY)
        row.revoked += bool(answers.wrong) and taken_back
        row.counting += answers.wrong if verdict.outcome == "pass" and not taken_back else 0
        if verdict.outcome != "pass" or answers.wrong:
            row.failed[f"{verdict.outcome}, {known[-1].partition(' that')[0]}"] += 1
    row.answers += came
    idle = len(periods) - (how in {"always", "kind", "rare"})
    names = [Waker(program, "harmless", number, SLEEPS) for number in range(idle)]
    row.harmless += idle
    row.learnt += sum(all(wakers.harmless(each, kind) for kind in KINDS) for each in names)


async def measured(program: str, how: Sequence[str], answers: int, servers: int, seed: int) -> dict[str, Row]:
    """Measure the kinds of servers; print a row of each."""
    rows = dict[str, Row]()
    for kind in how:
        row = rows[kind] = Row()
        began, cpu = monotonic(), process_time()
        for number in range(servers):
            await served(program, kind, seed + number, answers // servers, row)
        row.seconds, row.cpu = monotonic() - began, process_time() - cpu
        print(
            f"{kind:8} {row.answers:7}  {row.wrong:5}  {row.counting:8}  {row.revoked:7}  {row.learnt:3} of "
            f"{row.harmless:3} {row.answers / row.seconds:7.0f}  {row.cpu / row.answers * 1e6:6.0f}  "
            f"{os.getloadavg()[0]:.1f} {dict(row.failed) or ''}",
            flush=True,
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows; end with 1 if a wrong rest counts."""
    parser = command("wakers", __doc__)
    parser.add_argument("how", nargs="*", metavar="HOW", help=f"which servers: {', '.join(HOW)}")
    parser.add_argument("--answers", type=positive, default=4_000, help="of each kind of server")
    parser.add_argument("--servers", type=positive, default=4, help="with other periods, of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--control", action="store_true", help="trust a thread after one trial")
    given: Any = parser.parse_args(arguments)
    if given.control:
        learning.__dict__.update(TRIALS=1, EACH=0)
    print(HEAD)
    with TemporaryDirectory() as folder:
        program = f"{folder}/server"
        compiler = shutil.which("cc") or "cc"
        subprocess.run([compiler, "-O1", "-o", program, SOURCE, "-lpthread"], check=True)  # noqa: S603 -- our own source
        rows = anyio.run(measured, program, given.how or HOW, given.answers, given.servers, given.seed)
    save({kind: vars(row) for kind, row in rows.items()}, given.json)
    sys.exit(any(row.counting for row in rows.values()))


if __name__ == "__main__":
    main()
