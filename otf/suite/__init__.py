"""Suites made before anything runs: inputs that cover a model, or prove a system right within bounds."""

from otf.suite.adaptive import ADAPTIVE, AdaptiveSuite, adaptive
from otf.suite.machine import NumberedMachine, completed, machine, minimised
from otf.suite.methods import METHODS, Method
from otf.suite.suite import Suite, suite

__all__ = [
    "ADAPTIVE",
    "METHODS",
    "AdaptiveSuite",
    "Method",
    "NumberedMachine",
    "Suite",
    "adaptive",
    "completed",
    "machine",
    "minimised",
    "suite",
]
