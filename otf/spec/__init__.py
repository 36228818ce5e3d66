"""Specs: the model as a function, and the words in which it says what may happen."""

from typing import TYPE_CHECKING

from otf.spec.combine import restrict, total
from otf.spec.outputs import Accept, AnyOrder, On, OneOf, Where, on
from otf.spec.spec import Spec
from otf.spec.timing import TimerAction, TimerStart, TimerStop, start, stop
from otf.spec.transition import Transition, goto

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "Accept",
    "AnyOrder",
    "On",
    "OneOf",
    "Spec",
    "TimerAction",
    "TimerStart",
    "TimerStop",
    "Transition",
    "Where",
    "goto",
    "on",
    "restrict",
    "start",
    "stop",
    "total",
]
