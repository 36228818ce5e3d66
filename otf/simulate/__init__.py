"""Simulation: systems made from specs, behind lines with latencies, in virtual time; all chance is passed in."""

from typing import TYPE_CHECKING

from otf.simulate.channel import Net, UnreliableWorld
from otf.simulate.system import Emission, Happening, Mutation, SimulatedSystem, System, faulty
from otf.simulate.testing import conduct
from otf.simulate.walk import Walk
from otf.simulate.world import TimeBounds, World

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "Emission",
    "Happening",
    "Mutation",
    "Net",
    "SimulatedSystem",
    "System",
    "TimeBounds",
    "UnreliableWorld",
    "Walk",
    "World",
    "conduct",
    "faulty",
]
