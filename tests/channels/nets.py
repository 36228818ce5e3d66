"""Nets on the ports of `tests/core/scripts.py`: a, c go in on A and b, d on B; x, z come out on P and y, w on Q."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otf.channels import duplicating, lossy, reordering
from otf.spec import Accept, Spec, Transition, goto, total
from tests.core.scripts import PORTS, machine, spec_of

Way = Transition[Any] | Accept


def port(value: str) -> str:
    """Return the port of an input or output."""
    return PORTS[value]


def losing(*arrows: str, inputs: str = "", outputs: str = "") -> Spec[Any, str]:
    """Return a machine behind a net that loses messages; ports are given by their letters."""
    return lossy(machine(*arrows), inputs=list(inputs), outputs=list(outputs), port=port)


def doubling(*arrows: str, inputs: str = "", outputs: str = "", copies: int = 1, late: int = 1) -> Spec[Any, str]:
    """Return a machine behind a net that duplicates messages; the machine ignores unspecified inputs."""
    base = total(machine(*arrows))
    return duplicating(base, inputs=list(inputs), outputs=list(outputs), port=port, copies=copies, late=late)


def mixing(
    *arrows: str, inputs: str = "", outputs: str = "", late: int = 1, delay: float | None = None
) -> Spec[Any, str]:
    """Return a machine behind a net that reorders messages; the machine ignores unspecified inputs."""
    base = total(machine(*arrows))
    return reordering(base, inputs=list(inputs), outputs=list(outputs), port=port, late=late, delay=delay)


def giving(*outputs: object) -> Spec[Any, str]:
    """Return the spec that gives these outputs on a first a, and ignores later inputs."""
    return spec_of(goto("done", *outputs))


def listed(ways: Iterable[Way]) -> list[Transition[Any]]:
    """Return the transitions among what may happen."""
    return [way for way in ways if isinstance(way, Transition)]
