"""`otf list`: benches, strategies and serial ports; `otf completion`: the script for a shell."""

from __future__ import annotations

from collections.abc import Mapping

from otf.cli.catalogue import BENCHES, TIMES, ListedBench, completion_script, installed, listed, sources
from otf.cli.commands import SHELLS, CompletionCommand, ListCommand
from otf.cli.output import document, say, warn
from otf.errors import PASS, OtfError, UsageError, choose
from otf.strategy.names import SAYS


def listing(asked: ListCommand) -> int:
    """Do what the command asks; return the exit status."""
    if asked.only_ports:
        return _ports(as_json=asked.as_json)
    shipped = {name: listed(file) for name, file in sources().items()}
    benches = {**shipped, **_installed()}
    if asked.as_json:
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


def completion(asked: CompletionCommand) -> int:
    """Do what the command asks; return the exit status."""
    if asked.shell not in SHELLS:
        raise UsageError(
            f"{asked.shell}: there is no script for this shell; {choose(asked.shell, SHELLS, 'there are scripts for')}"
        )
    say(completion_script(asked.shell))
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
    """Return the benches of other packages; one that cannot be loaded is listed with its error."""
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
