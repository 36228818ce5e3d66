"""The adapters of otf, one for each kind of transport; each function of `otf.adapters` returns a port for a bench.

A port is a function without arguments that opens a connection to the system.
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
    """A package in which importing a module does not replace the function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _Adapters
    __getattr__ = fetching(__name__)
