"""The header of a trace: how its run was made."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from uuid import uuid4

from otf.adapter import Bench
from otf.campaign.settings import Settings
from otf.spec.fingerprint import fingerprint
from otf.trace.record import Header


def header(bench: Bench, settings: Settings, path: int, *, strategy: str = "") -> Header:
    """Return the header for one path of a campaign."""
    return Header(
        run=uuid4().hex[:12],
        bench=settings.reference or bench.name,
        parameters=dict(bench.parameters),
        fingerprint=fingerprint(bench.spec),
        seed=settings.seed,
        strategy=strategy or str(settings.strategy),
        mode=settings.mode,
        burst=settings.burst,
        inputs=bench.inputs,
        quiescence=bench.timing.quiescence,
        latency=bench.latency,
        busy=bench.busy,
        versions={"otf": _version(), "python": platform.python_version()},
        path=path,
    )


@cache
def _version() -> str:
    return version("otf")
