"""U-Boot in QEMU, started from a snapshot or by resets: paths a minute, and verdicts: `python -m benchmarks.snapshots`.

Both ways drive as many paths with the same seed. Needs Debian's packages
u-boot-qemu, qemu-system-arm and qemu-utils.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

from benchmarks.measure import command, positive, save
from otf.adapter import Bench, Expect, Life, Snapshot
from otf.adapters import unix
from otf.campaign import InconclusiveError, NonconformanceError, run
from otf.models.serving import program
from otf.models.uboot.bench import FIRMWARE, READY, by_command
from otf.models.uboot.messages import COUNTDOWN, PORT, PROMPT, Type, UbootCodec, prompts
from otf.models.uboot.spec import BASE, State, uboot

WAYS: Final = ("snapshots", "resets")
BOARD: Final = "-M virt -m 64M -nographic -nodefaults -nic none -monitor none"
PROMPTED: Final = Expect(PORT, PROMPT + b"$", READY)
INBAND: Final = (Expect(PORT, COUNTDOWN + b"$", READY), (PORT, b""), PROMPTED)
CLEARED: Final = ((PORT, f"mw.l {BASE:x} 0 100".encode()), PROMPTED)


def bench(folder: Path, *, both: int = 50, reset: bool = False) -> Bench:
    """Return the bench of U-Boot whose sockets and snapshot are in a folder; with `reset` each path boots it."""
    disk, control, console = folder / "state.qcow2", folder / "qmp", folder / "console"
    if not disk.exists():
        argv = [program("qemu-img", "qemu-utils"), "create", "-q", "-f", "qcow2", str(disk), "1G"]
        subprocess.run(argv, check=True)  # noqa: S603 -- the command is ours
    life = Life(
        server=[
            *(program("qemu-system-arm", "qemu-system-arm"), *BOARD.split(), "-bios", FIRMWARE),
            # it waits until the bench listens, so that nothing is lost
            *("-serial", f"unix:{console},server=on,wait=on"),
            *("-qmp", f"unix:{control},server=on,wait=off", "-drive", f"if=none,format=qcow2,cache=unsafe,file={disk}"),
        ],
        inband=(*INBAND, *CLEARED),
        snapshot=None if reset else Snapshot(str(control), both=both),
        timeout=READY,
    )
    ports = {PORT: unix(str(console), framing=prompts(), within=READY)}
    spec = replace(uboot(), inputs=_without_reset)
    made = Bench.on_ports(spec, UbootCodec(), ports, name="board", outputs=(PORT,), life=life)
    # at its prompt it computes all the time: there is no rest to be seen, and each path would look for one first
    return replace(made, silence="timed", quiescence=0.010, latency=0.002, busy=0.010, silence_key=by_command)


def _without_reset(state: State) -> Iterable[Type]:
    # an input that boots the board would take the same time in both ways, and most of it
    return (each for each in uboot().inputs(state) if each.line != "reset")


def measured(made: Bench, *, paths: int, steps: int, seed: int) -> dict[str, Any]:
    """Return the paths a minute of a campaign, and its verdict."""
    with TemporaryDirectory() as out:
        begun, why = monotonic(), ""
        try:
            summary = run(made, traces=paths, steps=steps, seed=seed, out=Path(out))
        except (InconclusiveError, NonconformanceError) as error:
            summary, why = error.summary, str(error)
        took, driven = monotonic() - begun, summary.paths
    undecided: dict[str, Any] = {"undecided": len(summary.inconclusive), "why": why} if why else {}
    speed = {"paths": driven, "seconds": round(took, 1), "a minute": round(60 * driven / took, 1)}
    return {"verdict": str(summary.verdict), **speed, **undecided, "load": round(os.getloadavg()[0], 1)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each way."""
    parser = command("snapshots", __doc__)
    parser.add_argument("--paths", type=positive, default=500)
    parser.add_argument("--steps", type=positive, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--both", type=positive, default=50)
    chosen = parser.parse_args(arguments)
    rows = dict[str, Any]()
    for way in chosen.ways:
        with TemporaryDirectory() as folder:
            made = bench(Path(folder), both=chosen.both, reset=way == "resets")
            rows[way] = measured(made, paths=chosen.paths, steps=chosen.steps, seed=chosen.seed)
        print(way, rows[way], flush=True)
    save({"rows": rows}, chosen.json)


if __name__ == "__main__":
    main()
