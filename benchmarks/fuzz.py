"""Fuzz every parser of bytes of strangers: `python -m benchmarks.fuzz TARGET ... --seconds N`.

The fuzzer is atheris (libFuzzer for Python, guided by coverage; `pip install atheris`). Each target runs in a process
of its own, with 5 s and 1 GiB for each input. Printed are executions, and the coverage that was reached (edges of
bytecode). A finding is kept in the folder, and `--keep` adds what reached new code to the corpus in `tests/fuzz`, which
`tests/fuzz/test_corpus.py` runs in seconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from benchmarks.measure import command, positive, save
from tests.fuzz import targets

LONGEST: Final = 4_096  # bytes of an input
KEPT: Final = 40  # inputs of a target that a run adds to the corpus, the shortest
MOST: Final = 160  # inputs of a target in the corpus
GUIDED: Final = (sys.executable, "-m", "tests.fuzz.guided")


def fuzz(name: str, folder: Path, seconds: int) -> dict[str, object]:
    """Fuzz a target in a process of its own; return what was reached, and the inputs that ended it wrongly."""
    inputs, found = folder / name / "inputs", folder / name / "found"
    for each in (inputs, found):
        each.mkdir(parents=True)
    for at, data in enumerate([*targets.seeds()[name], *targets.corpus(name)]):
        (inputs / f"seed-{at}").write_bytes(data)
    options = (f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=5", "-rss_limit_mb=1024")
    call = [*GUIDED, name, *options, "-print_final_stats=1", f"-artifact_prefix={found}/"]
    done = subprocess.run([*call, str(inputs)], capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 -- this
    (folder / name / "log").write_text(done.stdout + done.stderr, encoding="utf-8")
    reached = re.findall(r"cov: (\d+)", done.stderr)
    executed = re.search(r"number_of_executed_units: (\d+)", done.stderr) or re.search(r"(?s).*#(\d+)", done.stderr)
    return {
        "target": name,
        "executions": int(executed[1]) if executed else 0,
        "coverage": [int(reached[0]), int(reached[-1])] if reached else [0, 0],
        "findings": sorted(str(each) for each in found.iterdir()),
        "status": done.returncode,
    }


def keep(name: str, folder: Path) -> None:
    """Add what ended wrongly, and the shortest inputs that reached other code, to the corpus."""
    reached = [each for each in (folder / name / "inputs").iterdir() if not each.name.startswith("seed-")]
    found = sorted((each.read_bytes() for each in reached), key=len)[:KEPT]
    wrong = [each.read_bytes() for each in (folder / name / "found").iterdir()]
    targets.store(name, [*dict.fromkeys([*wrong, *targets.corpus(name), *found])][:MOST])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what each target reached, and what was found."""
    parser = command("fuzz", __doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(targets.TARGETS)}; all, if none is named")
    parser.add_argument("--seconds", type=positive, default=600, help="for each target")
    parser.add_argument("--jobs", type=positive, default=1, help="targets at the same time")
    parser.add_argument("--keep", action="store_true", help="add what reached new code to the corpus in tests/fuzz")
    asked = parser.parse_args(arguments)
    folder = Path(mkdtemp(prefix="otf-fuzz-"))
    print(f"in {folder}, load {os.getloadavg()[0]:.1f}", flush=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(partial(fuzz, folder=folder, seconds=asked.seconds), asked.targets or targets.TARGETS))
    for each in results:
        reached = "coverage {} -> {} edges".format(*each["coverage"])  # type: ignore[misc] # two numbers
        print(f"{each['target']:10} {each['executions']:>9,} executions, {reached}, {each['findings']}")
        if asked.keep:
            keep(str(each["target"]), folder)
    save({"results": results}, asked.json)


if __name__ == "__main__":
    main()
