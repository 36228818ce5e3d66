"""Suites made before anything runs: inputs that cover a model, or prove a system correct within bounds.

`suite` makes fixed lists of inputs for deterministic models, by one of `METHODS`; `adaptive` makes tests whose next
input depends on the outputs, for models that leave the system a choice, by one of `ADAPTIVE`.
"""

from typing import TYPE_CHECKING

from otf.suite.adaptive import ADAPTIVE, AdaptiveSuite, adaptive
from otf.suite.machine import NumberedMachine, completed, machine, minimised
from otf.suite.methods import METHODS, Method, Suite, suite

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
