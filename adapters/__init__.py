"""One transport per file; none of them knows another, and the engine knows none of them by name.

Each function returns what a bench has as a port: a function without arguments that opens a line.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
    from otf.adapter.faults import Faults
    from otf.adapters.can import can
    from otf.adapters.faults import inject
    from otf.adapters.inprocess import inprocess
    from otf.adapters.isotp import isotp
    from otf.adapters.process import process
    from otf.adapters.restbus import CyclicMessage, restbus
    from otf.adapters.serialport import serialport
    from otf.adapters.tcp import tcp
    from otf.adapters.thread import from_thread
    from otf.adapters.udp import udp
    from otf.adapters.unix import unix
    from otf.adapters.visa import visa

__all__ = [
    "CyclicMessage",
    "Faults",
    "can",
    "from_thread",
    "inject",
    "inprocess",
    "isotp",
    "process",
    "restbus",
    "serialport",
    "tcp",
    "udp",
    "unix",
    "visa",
]


class _Adapters(ModuleType):
    """A package in which a module does not take the place of the function of the same name when it is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _Adapters
    __getattr__ = fetching(__name__)
