"""A model in place of its system, behind a pipe or a socket, to try a bench without the system.

`python -m otf.cli.model_server BENCH` reads the inputs of a bench with a line codec from standard input and answers on
standard output, or with `--tcp HOST:PORT` on a connection. `--fault N` chooses the n-th mutant. Try a bench with `otf
run BENCH --sut 'exec:python -m otf.cli.model_server BENCH'`.
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from otf.adapter import Bench
from otf.cli.benches import load, parsed
from otf.codec import Codec
from otf.core.walk import Act
from otf.errors import CodecError, OtfError, UsageError
from otf.explore import explore
from otf.simulate.system import Mutation, acting

LOOKED = 10_000  # states to search for mutants


def faults(bench: Bench) -> Iterator[Mutation]:
    """Yield single mutations of a model: a missing output, or a wrong next state."""
    graph = explore(bench.spec, LOOKED)
    for arc in graph.arcs():
        if arc.input >= 0 <= arc.target:
            state, inp = graph.values[arc.source], graph.inputs[arc.input]
            if graph.outputs[arc.outputs]:
                yield Mutation("missing", state, inp)
            other = graph.values[(arc.target + 1) % len(graph.values)]
            yield Mutation("transfer", state, inp, other)


def serve(act: Act, codec: Codec, source: Iterable[bytes], send: Callable[[bytes], object], port: str) -> None:
    """Answer line by line until the input ends; ignore lines that are not inputs of the model."""
    for line in source:
        try:
            inp: Any = codec.decode(port, line.rstrip(b"\r\n"))
        except CodecError:
            continue
        for output in act(inp):
            data = codec.encode(output)
            if isinstance(data, bytes):
                send(data + b"\n")


def main(arguments: list[str] | None = None) -> int:
    """Serve until the input or the connection ends."""
    options = _parser().parse_args(arguments)
    try:
        bench = load(options.bench, parsed(options.set))
        act, codec = _made(bench, options.fault, options.seed)
    except OtfError as error:
        print(f"otf: {error}", file=sys.stderr)
        return error.exit_status
    port = next(iter(bench.ports), "")
    if options.tcp:
        _connected(act, codec, options.tcp, port)
    else:
        serve(act, codec, sys.stdin.buffer, _send, port)
    return 0


def _send(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m otf.cli.model_server", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("bench")
    parser.add_argument("--set", action="append", metavar="KEY=VALUE")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="accept one connection at this address")
    parser.add_argument("--fault", type=int, metavar="N", help="the n-th mutant, from 1")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def _made(bench: Bench, number: int | None, seed: int) -> tuple[Act, Codec]:
    if bench.codec is None:
        raise UsageError(f"{bench.name}: it has no codec, so its model cannot serve a pipe; see otf.simulate.system")
    fault = None
    if number is not None:
        every = list(faults(bench))
        if not 1 <= number <= len(every):
            raise UsageError(f"--fault {number}: {bench.name} has 1 to {len(every)}")
        fault = every[number - 1]
    return acting(bench.spec, fault, seed=seed)(), bench.codec


def _connected(act: Act, codec: Codec, address: str, port: str) -> None:
    host, _, number = address.rpartition(":")
    with socket.create_server((host, int(number))) as server:
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as lines:
            serve(act, codec, lines, connection.sendall, port)


if __name__ == "__main__":
    sys.exit(main())
