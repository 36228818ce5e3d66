"""`otf list`: benches, strategies and serial ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from otf.cli.catalogue import BENCHES, TIMES, ListedBench, installed, listed, sources
from otf.cli.options import AsJson, flag, guarded
from otf.cli.output import document, say, warn
from otf.errors import PASS, OtfError
from otf.strategy.names import SAYS

EXAMPLES = """\b
Examples:
  otf list          the shipped benches and their parameters
  otf list --ports  the serial ports of this machine
"""


@guarded
def listing(
    only_ports: Annotated[bool, flag("--ports", "Only the serial ports of this machine.")] = False,
    as_json: AsJson = False,
) -> int:
    """List the shipped benches with their parameters, and the strategies."""
    if only_ports:
        return _ports(as_json=as_json)
    shipped = {name: listed(file) for name, file in sources().items()}
    benches = {**shipped, **_installed()}
    if as_json:
        own = {name: each.parameters for name, each in benches.items()}
        says = {name: each.says for name, each in benches.items()}
        document({"benches": says, "parameters": own, "strategies": SAYS})
        return PASS
    say("benches (otf run NAME), with the parameters that --set changes")
    for name, each in benches.items():
        say(f"  {name:15} {each.says}")
        say(f"  {'':15} {' '.join(f'{key}={value}' for key, value in each.parameters.items())}")
        if each.faults:
            say(f"  {'':15} fault is one of none, {', '.join(each.faults)}")
    _table("strategies (otf run --strategy NAME)", SAYS)
    return PASS


def _ports(*, as_json: bool) -> int:
    from otf.adapter.serial.device import ports

    found = ports()
    if as_json:
        document({"ports": found})
        return PASS
    _table(
        "serial ports (otf run BENCH --sut PORT=NAME)",
        found or {"none": "plug one in; on Linux `dmesg` shows its name"},
    )
    return PASS


def _installed() -> dict[str, ListedBench]:
    """Return the benches of other packages. Of one that cannot be loaded the list says so, and goes on."""
    found = dict[str, ListedBench]()
    for name in installed(BENCHES):
        from otf.cli.benches import about, load, parameters

        try:
            bench = load(name)
            times = {key: getattr(bench, field) for key, field in TIMES.items()}
            found[name] = ListedBench(about(name), {**parameters(name), **times})
        except OtfError as error:
            warn(str(error))
    return found


def _table(title: str, rows: Mapping[str, str]) -> None:
    say(title)
    for name, says in rows.items():
        say(f"  {name:15} {says}")
