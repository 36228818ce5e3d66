"""The bench: a fresh queue for every path, with two connections."""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.core import Barrier
from otf.models.jobs.inputs import ALSO
from otf.models.jobs.messages import CLIENTS, Command, JobsCodec, Reply, replies
from otf.models.jobs.spec import jobs
from otf.models.jobs.state import alike
from otf.models.serving import GRACE, HOST, chosen, expected, free_port, known_issue, program

KNOWN: Final = {
    "number": known_issue(
        "beanstalkd 1.12 takes what is not a number for the time-out 0", "reserve-with-timeout", "'x'"
    ),
    "missing": known_issue("beanstalkd 1.12 does not know a command without its arguments", "UNKNOWN_COMMAND"),
    "return": known_issue("beanstalkd 1.12 does not answer a line with a carriage return in it", r"x\rx"),
}
"""The known issues that each of `ALSO` shows."""
LOST: Final = KnownIssue(
    lambda failure: (
        failure.kind == "missing"
        and failure.signature.input == "no input"
        and any("word='RESERVED'" in text for state in failure.allowed for texts, _ in state.branches for text in texts)
    ),
    "beanstalkd 1.12 sometimes releases a job whose time-to-run is over only when its holder says something",
)
"""It depends on microseconds, so every campaign may show it."""
PINGS: Final = {client: Command(client, "list-tube-used") for client in CLIENTS}


@trace_may_set(also=ALSO)
def bench(*, server: str = "", also: str = "") -> Bench:
    """Return the bench of a job queue.

    `server` is the command that starts the job queue; otf fills in {host} and {port}. `also` adds a malformed command
    that the bench leaves out by default: `number`, `missing` or `return`.

    >>> bench().name
    'jobs'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="jobs",
        known_issues=(LOST, *expected(KNOWN, also)),
        spec=jobs(also),
        codec=JobsCodec(),
        connect=_connect(server),
        outputs=CLIENTS,
        inputs="uioco",
        # a client that waits for a job gets no answer to a ping; the tester then waits this long
        quiescence=0.020,
        latency=0.010,
        busy=0.005,
        # each job has a new id, so hardly any state recurs
        silence_key=alike,
        barrier=Barrier(PINGS, lambda _port, output: isinstance(output, Reply) and output.word == "USING default"),
    )


def _connect(server: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        port = free_port(socket.SOCK_STREAM)
        own = f"{shlex.quote(program('beanstalkd', 'beanstalkd'))} -l {{host}} -p {{port}}"
        argv = words((server or own).replace("{host}", HOST).replace("{port}", str(port)))
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
            yield {each: await stack.enter_async_context(open_tcp((HOST, port), replies())) for each in CLIENTS}

    return connect
