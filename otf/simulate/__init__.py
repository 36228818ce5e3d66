"""Simulation: systems made from specs, behind lines with latencies, in virtual time; pure, driven by given chance."""

from otf.simulate.channel import Net, Unreliable
from otf.simulate.faults import Fault, faulty
from otf.simulate.system import Device, Emission, Happening, System
from otf.simulate.testing import conduct
from otf.simulate.walk import Walk
from otf.simulate.world import Bounds, World

__all__ = [
    "Bounds",
    "Device",
    "Emission",
    "Fault",
    "Happening",
    "Net",
    "System",
    "Unreliable",
    "Walk",
    "World",
    "conduct",
    "faulty",
]
