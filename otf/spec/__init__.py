"""Specs: a model as a function, and the vocabulary for what may happen."""

from typing import TYPE_CHECKING

from otf.spec.offering import Elapse
from otf.spec.outputs import Accept, AnyOrder, On, OneOf, Where, on
from otf.spec.spec import Spec, restrict, total
from otf.spec.transition import TimerAction, TimerStart, TimerStop, Transition, goto, start, stop

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "Accept",
    "AnyOrder",
    "Elapse",
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
