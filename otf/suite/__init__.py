"""Suites made before anything runs: inputs that cover a model, or prove a system right within bounds."""

from typing import TYPE_CHECKING

from otf.suite.adaptive import ADAPTIVE, AdaptiveSuite, adaptive
from otf.suite.machine import NumberedMachine, machine
from otf.suite.methods import METHODS, Method
from otf.suite.minimal import completed, minimised
from otf.suite.suite import Suite, suite

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

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
