"""Steps per second where many inputs are enabled and states never come again, against a client that only sends.

`python -m benchmarks.fresh`: a key-value store and a job queue in C (compiled here with `cc`) with 10, 250 and 10,000
enabled inputs, with states that come again and with replies that never do, on short and long paths; the store once more
with steps that were all taken before (`again`); and memcached, redis and mosquitto, if they are installed. After each
campaign a blocking client sends the same bytes to the same server. Tester, client and server share one core: on two,
both rates are mostly the time in which a core wakes up, which hides what a step costs, and a client whose server the
scheduler puts beside it is four times as fast as another.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.fresh_client import Peer, measured, show
from benchmarks.fresh_messages import Held, LineCodec, Request
from benchmarks.fresh_servers import SERVERS
from benchmarks.measure import command, pinned, positive, save
from otf.adapter import Bench
from otf.adapters import tcp
from otf.framing import lines
from otf.spec import Spec, Transition

JOBS: Final = 3
AGAIN: Final = 8  # times the number of inputs, in steps: then most inputs were sent on both paths


def store(state: Held, inp: Request) -> list[Transition[Held]]:
    """Return the answer of the store: two keys are ever set, the others are 0."""
    name, key, *value = inp.text.split()
    at = int(key)
    if name == "get":
        return state.said(f"is {state.numbers[at] if at < len(state.numbers) else 0}")
    return state.said("ok", (*state.numbers[:at], int(value[0]), *state.numbers[at + 1 :]))


def queue(state: Held, inp: Request) -> list[Transition[Held]]:
    """Return the answer of the queue: a job is free (0), ready (1) or taken (2)."""
    name, *job = inp.text.split()
    jobs = state.numbers
    if name == "done":
        at = int(job[0])
        known = at < JOBS and jobs[at] == 2  # noqa: PLR2004 -- taken
        return state.said("ok", (*jobs[:at], 0, *jobs[at + 1 :])) if known else state.said("unknown")
    wanted = 0 if name == "put" else 1
    if wanted not in jobs:
        return state.said("full" if name == "put" else "empty")
    at = jobs.index(wanted)
    return state.said(f"job {at}", (*jobs[:at], wanted + 1, *jobs[at + 1 :]))


def store_inputs(number: int) -> list[Request]:
    """Return so many requests to the store."""
    sets = [Request(f"set {key} {value}") for key in (0, 1) for value in (0, 1)]
    return sets + [Request(f"get {key}") for key in range(number - len(sets))]


def looks(number: int) -> list[Request]:
    """Return so many requests to the store that change nothing: after each was made once, every step recurs."""
    return [Request(f"get {key}") for key in range(number)]


def queue_inputs(number: int) -> Callable[[Held], Sequence[Request]]:
    """Return the requests to the queue, as a function of the state."""
    given = (Request("put"), Request("take"), *(Request(f"done {job}") for job in range(number - 2)))
    return lambda _state: given


INPUTS: Final = {"store": store_inputs, "looks": looks}


def bench(kind: str, number: int, port: int, *, recurs: bool) -> Bench:
    """Return the bench of the store or the queue with so many enabled inputs."""
    step, given = (queue, queue_inputs(number)) if kind == "queue" else (store, INPUTS[kind](number))
    initial = Held((0,) * JOBS if kind == "queue" else (0, 0), -1 if recurs else 0)
    return Bench.on_ports(
        Spec(step, initial, given, name=kind),
        LineCodec(),
        {"line": tcp(f"127.0.0.1:{port}", framing=lines())},
        quiescence=0.02,
        # whether the server goes on to talk depends on the command alone
        silence_key=lambda _state, inp: inp.text.split()[0],
    )


@contextmanager
def serving(program: Path, *, recurs: bool) -> Generator[int, None, None]:
    """Start the server; the value is its port."""
    arguments = [str(program)] if recurs else [str(program), "serial"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as child:  # noqa: S603 -- compiled here
        assert child.stdout is not None
        try:
            yield int(child.stdout.readline())
        finally:
            child.kill()


ROWS: Final[dict[str, tuple[int, bool]]] = {
    "inputs_10": (10, True),
    "inputs_250": (250, True),
    "inputs_10000": (10_000, True),
    "states_never_recur_10": (10, False),
    "states_never_recur": (250, False),
    "states_never_recur_10000": (10_000, False),
}


def figures(program: Path, kind: str, steps: int, longest: int) -> dict[str, Any]:
    """Return the rows of the store or the queue."""
    rows = {name: (number, recurs, steps) for name, (number, recurs) in ROWS.items()}
    rows[f"steps_{longest}"] = (250, True, longest)
    rows[f"states_never_recur_steps_{longest}"] = (250, False, longest)
    found: dict[str, Any] = {}
    for name, (number, recurs, length) in rows.items():
        with serving(program, recurs=recurs) as port:
            tested = bench(kind, number, port, recurs=recurs)
            found[name] = measured(tested, length, Peer({"line": port}, end=b"\n"))
        show(f"{kind} {name}", found[name])
    found[f"steps_{steps}"] = found["inputs_250"]
    return found


def recurring(program: Path, steps: int) -> dict[str, Any]:
    """Return the rows of a store in one state, after so many steps that each input was sent before.

    With 10,000 inputs a path of 10,000 steps hardly takes one twice: most steps of its row above are new. In the four
    states there, 40,000 steps are new, and the memory does not hold the answers for all of them.
    """
    found: dict[str, Any] = {}
    for number in (250, 10_000):
        with serving(program, recurs=True) as port:
            row = measured(
                bench("looks", number, port, recurs=True), steps, Peer({"line": port}, end=b"\n"), AGAIN * number
            )
        show(f"store inputs_{number}_again", row)
        found[f"inputs_{number}_again"] = row
    return found


NAMES: Final = ("store", "queue", *SERVERS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it where `--json` says."""
    parser = command("fresh", __doc__)
    parser.add_argument("--steps", type=positive, default=10_000, help="steps of a short path")
    parser.add_argument("--longest", type=positive, default=1_000_000, help="steps of a long path")
    parser.add_argument("--only", default=",".join(NAMES), metavar="NAME,…", help=f"of {', '.join(NAMES)}")
    chosen = parser.parse_args(arguments)
    only = chosen.only.split(",")
    pinned()
    compiler = shutil.which("cc")
    found: dict[str, Any] = {}
    if compiler is None:
        print("skipped: the servers are written in C, and there is no `cc` here")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "fresh"
        if compiler is not None:
            source = Path(__file__).with_name("fresh.c")
            subprocess.run([compiler, "-O2", "-o", program, source], check=True)  # noqa: S603 -- the compiler
            for kind in ("store", "queue"):
                if kind in only:
                    found[kind] = figures(program, kind, chosen.steps, chosen.longest)
            if "store" in only:
                found["store"] |= recurring(program, chosen.steps)
    for name, figures_of in SERVERS.items():
        if name in only:
            found[name] = figures_of(chosen.steps)
    save(json.loads(json.dumps(found)), chosen.json)


if __name__ == "__main__":
    main()
