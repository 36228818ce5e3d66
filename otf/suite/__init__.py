"""Suites made before anything runs: lists of inputs that cover a model, or prove a system right within bounds."""

from otf.suite.machine import Machine, machine
from otf.suite.methods import METHODS, Method
from otf.suite.minimal import completed, minimised
from otf.suite.suite import Suite, suite

__all__ = ["METHODS", "Machine", "Method", "Suite", "completed", "machine", "minimised", "suite"]
