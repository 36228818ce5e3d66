"""Races that a newcomer finds: small servers with one seeded race each, tested by default parameters for a minute.

`python -m benchmarks.races [--seconds 60] [--seeds 2] [--steps 20000]` prints for each server how many campaigns found
its race, to how many inputs it was shrunk, and what the fewest are; then whether the right server raised an alarm.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).with_name("racing")
WINDOWS: Final = (0.0001, 0.001, 0.01)


class Race(NamedTuple):
    """A server with a race: its bench, the parameters with it and without, and the fewest inputs that show it."""

    name: str
    bench: str
    racy: tuple[str, ...]
    right: tuple[str, ...]
    fewest: int


def races() -> Iterator[Race]:
    """Yield five own servers, with windows and clients drawn at random, and five on servers and stores of others."""
    random = Random(27)
    # a purse has three coins: to fill it, and to pay four times
    fewest = {"lost_update": 3, "double_spend": 5, "stale_read": 4, "check_then_act": 2, "id_reuse": 2}
    for kind, least in fewest.items():
        window, clients = random.choice(WINDOWS), random.randint(2, 4)
        own = (f"kind={kind}", f"clients={clients}")
        name = f"{kind}, {1000 * window:g} ms, {clients} clients"
        yield Race(name, str(FOLDER / "own.py"), (*own, f"window={window}"), own, least)
    others = {"asyncio": "check_then_act", "executor": "id_reuse", "sqlite": "lost_update", "forking": "double_spend"}
    for library, kind in others.items():
        window, own = random.choice(WINDOWS), (f"kind={kind}", f"library={library}")
        name = f"{kind} on {library}, {1000 * window:g} ms, 2 clients"
        yield Race(name, str(FOLDER / "own.py"), (*own, f"window={window}"), own, fewest[kind])
    yield Race("box office on http.server", "tickets", ("fault=race",), (), 3)


def campaign(race: Race, parameters: tuple[str, ...], *options: str, limit: float) -> dict[str, Any]:
    """Run `otf run` and return its document."""
    sets = [word for each in parameters for word in ("--set", each)]
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "otf", "run", race.bench, *sets, *options, "--no-saved", "--json"]
        done = subprocess.run(  # noqa: S603 -- the command is ours
            [*argv, "--out", f"{folder}/out"], capture_output=True, text=True, timeout=limit, check=False
        )
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"verdict": "error", "error": done.stderr[-500:]}
    return document


def found(race: Race, seconds: int, seed: int) -> str:
    """Return what a campaign of so many seconds found: the inputs of the shortest run of each kind of failure."""
    options = ("--time", str(seconds), "--seed", str(seed))
    document = campaign(race, race.racy, *options, limit=10 * seconds + 100)
    if document["verdict"] != "fail":
        return str(document["verdict"] if document["verdict"] != "error" else document)
    return "/".join(str(each["steps"]) for each in document["failures"])


def alarms(race: Race, steps: int, seed: int) -> str:
    """Return the verdict about the right server, and the steps that were made."""
    options = ("--traces", str(steps // 50), "--steps", "50", "--seed", str(seed))
    document = campaign(race, race.right, *options, limit=3000)
    more = "" if document["verdict"] == "pass" else f" {document.get('inconclusive') or document.get('failures')}"
    return f"{document['verdict']}, {document.get('steps', 0):,} steps{more}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.races", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each campaign; 0: none")
    parser.add_argument("--seeds", type=int, default=2, help="campaigns for each server")
    parser.add_argument("--steps", type=int, default=20_000, help="of each right server; 0: none")
    parser.add_argument("--only", default="", help="servers with this word in their name")
    options = parser.parse_args(arguments)
    chosen = [each for each in races() if options.only in each.name]
    with ThreadPoolExecutor(2) as pool:
        for race in chosen if options.seconds else ():
            told = list(pool.map(partial(found, race, options.seconds), range(options.seeds)))
            hits = sum(each[:1].isdigit() for each in told)
            inputs = f"inputs {', '.join(told)} (fewest {race.fewest})"
            print(f"{race.name}: found in {hits} of {len(told)}, {inputs}", flush=True)
        for race in chosen if options.steps else ():
            print(f"{race.name}, right: {alarms(race, options.steps, 7)}", flush=True)


if __name__ == "__main__":
    main()
