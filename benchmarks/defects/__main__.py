"""Published defects, found blind: `python -m benchmarks.defects --only NAME --seconds 600 --json FILE`.

For each defect of the table the released bad version is installed in an environment of its own, and tested with the
model of its protocol, which knows nothing of the defect. What fails there is shrunk, and driven again on the fixed
version: a difference of the two is a defect that was fixed in between. A row says after how many inputs and seconds it
was found, how long the shrunk run is, which sentence of the standard it violates, and who published it.

The packages come from PyPI and npm (`npm` and `node` must be on this machine). Bad versions listen on 127.0.0.1 only.
The peer is the advisory itself: a test suite that was written with it in mind needs one test for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.defects import http, mqtt, smtp, ssh
from benchmarks.defects.blind import Hunt
from benchmarks.defects.published import Defect
from benchmarks.measure import command, positive, save

DEFECTS: Final[tuple[Defect, ...]] = (*smtp.DEFECTS, *ssh.DEFECTS, *http.DEFECTS, *mqtt.DEFECTS)
ENVIRONMENTS: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otf-defects"


def _show(row: dict[str, Any]) -> None:
    seen = "found" if row["found"] else f"not found {row['trouble']}".rstrip()
    print(f"{row['package']} {row['bad']} ({row['advisory']}): {seen}, {row['inputs']} inputs, {row['seconds']} s")
    for each in row["differences"]:
        mark = "*" if each["is it"] else " "
        print(f"  {mark} {each['shrunk']} steps: {each['failure']}")
        print("\n".join(f"      {sentence}" for sentence in each["sentence"]))
    for each in row["common"]:
        print(f"    in both versions: {each}")


def totals(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how many defects were found, and the medians of their inputs, seconds and shrunk runs."""
    firsts = [next(each for each in row["differences"] if each["is it"]) for row in rows if row["found"]]
    medians = {key: median(each[key] for each in firsts) for key in ("inputs", "seconds", "shrunk") if firsts}
    return {"defects": len(rows), "found": len(firsts), "medians": medians, "load": round(os.getloadavg()[0], 1)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each defect; write them if asked to."""
    parser = command("defects", __doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="only defects with this word in their name")
    parser.add_argument("--seconds", type=positive, default=600, help="the time for each defect")
    parser.add_argument("--learning", type=positive, default=30, help="seconds for the fixed version, before that")
    parser.add_argument("--steps", type=positive, default=30, help="the inputs of a path")
    parser.add_argument("--seed", type=positive, default=1)
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="the folder of installed versions")
    asked = parser.parse_args(arguments)
    rows = list[dict[str, Any]]()
    for defect in DEFECTS:
        if asked.only in defect.name:
            hunt = Hunt(defect, asked.environments, asked.seconds, asked.steps, asked.seed, asked.learning)
            rows.append(hunt.run())
            _show(rows[-1])
    print(totals(rows))
    save({"totals": totals(rows), "rows": rows}, asked.json)


if __name__ == "__main__":
    main()
