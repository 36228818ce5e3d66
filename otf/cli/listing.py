"""`otf list`: benches, strategies and serial ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from otf.cli.options import AsJson
from otf.cli.output import document, guarded, say
from otf.errors import PASS


@guarded
def listing(
    only_ports: Annotated[bool, typer.Option("--ports", help="Only the serial ports of this machine.")] = False,
    as_json: AsJson = False,
) -> int:
    """List the shipped benches with their parameters, and the strategies."""
    from otf.cli.benches import parameters, shipped
    from otf.strategy import STRATEGIES

    if only_ports:
        return _ports(as_json=as_json)
    benches = shipped()
    own = {name: {**parameters(name), **_times(name)} for name in benches}
    strategies = {name: kind.says for name, kind in STRATEGIES.items()}
    if as_json:
        document({"benches": benches, "parameters": own, "strategies": strategies})
        return PASS
    say("benches (otf run NAME), with the parameters that --set changes")
    for name, says in benches.items():
        say(f"  {name:15} {says}")
        say(f"  {'':15} {' '.join(f'{key}={value}' for key, value in own[name].items())}")
    _table("strategies (otf run --strategy NAME)", strategies)
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


def _times(name: str) -> dict[str, float]:
    from otf.cli.benches import TIMES, load

    bench = load(name)
    return {key: getattr(bench, field) for key, field in TIMES.items()}


def _table(title: str, rows: Mapping[str, str]) -> None:
    say(title)
    for name, says in rows.items():
        say(f"  {name:15} {says}")
