"""How many sessions, messages and states of the model a minute: `python -m benchmarks.sessions --json FILE`.

These are the units in which fuzzers of stateful protocols state their speed. A session is a path: a fresh server, its
connections, and at most as many inputs as asked for. Messages are inputs and outputs; states are those of the model
whose inputs a campaign asked for. The peer is AFLNet: the screen in its README shows 2.25 sessions a second with RTSP,
which are 135 a minute. It judges no messages: it sees crashes.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

import anyio

from benchmarks.measure import command, positive, save
from otf.adapter import Bench
from otf.campaign import Campaign, Settings
from otf.campaign.settings import UNLIMITED
from otf.cli.benches import load
from otf.spec import Spec
from otf.trace.record import Mode

LENGTHS: Final = (10, 100)
MODES: Final[tuple[Mode, ...]] = ("strict", "eager")
AFLNET: Final = 135
"""Sessions a minute."""


def counted(bench: Bench) -> tuple[Bench, set[Hashable]]:
    """Return the bench, and the set in which the states will be whose inputs are asked for."""
    spec, states = bench.spec, set[Hashable]()

    def inputs(state: Hashable) -> Iterable[object]:
        states.add(state)
        return spec.inputs(state)

    return replace(bench, spec=Spec(spec.step, spec.initial, inputs, spec.emits, name=spec.name)), states


def rates(name: str, mode: Mode, steps: int, seconds: float) -> dict[str, Any]:
    """Return the rates of one campaign."""
    bench, states = counted(load(name, {}))
    began = monotonic()
    with tempfile.TemporaryDirectory(prefix="otf-sessions-") as folder:
        out = Path(folder) / "out"
        settings = Settings(out=out, traces=UNLIMITED, steps=steps, time=seconds, seed=1, mode=mode, aftermath=0.0)
        summary = anyio.run(Campaign(bench, settings).run)
        minutes = (monotonic() - began) / 60
        messages = sum(_messages(each) for each in out.glob("path-*.jsonl"))
    numbers = {"sessions": summary.paths, "inputs": summary.steps, "messages": messages}
    each_minute = {f"{what} a minute": round(number / minutes) for what, number in numbers.items()}
    return {
        "bench": name,
        "mode": mode,
        "length": steps,
        "verdict": summary.verdict,
        **each_minute,
        "states": len(states),
    }


def _messages(trace: Path) -> int:
    events = [json.loads(line) for line in trace.read_text().splitlines()[1:]]
    return sum(each.get("event") in {"sent", "seen"} for each in events)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each mode and length; write them if asked to."""
    parser = command("sessions", __doc__)
    parser.add_argument("--bench", default="jobs", help="the bench of a server (beanstalkd)")
    parser.add_argument("--seconds", type=positive, default=20, help="the time for each row")
    asked = parser.parse_args(arguments)
    before = round(os.getloadavg()[0], 1)
    rows = [rates(asked.bench, mode, steps, asked.seconds) for mode in MODES for steps in LENGTHS]
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    print(f"AFLNet's screen: sessions a minute {AFLNET}; load before: {before}")
    save({"load": before, "seconds": asked.seconds, "AFLNet's sessions a minute": AFLNET, "rows": rows}, asked.json)


if __name__ == "__main__":
    main()
