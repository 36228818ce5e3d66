"""Suites made before anything runs: inputs that cover a model, or prove a system right within bounds."""

from otf.suite.adaptive import ADAPTIVE, AdaptiveSuite, adaptive
from otf.suite.machine import Machine, machine
from otf.suite.methods import METHODS, Method
from otf.suite.minimal import completed, minimised
from otf.suite.suite import Suite, suite

__all__ = [
    "ADAPTIVE",
    "METHODS",
    "AdaptiveSuite",
    "Machine",
    "Method",
    "Suite",
    "adaptive",
    "completed",
    "machine",
    "minimised",
    "suite",
]
