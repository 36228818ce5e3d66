"""One transport per file; none of them knows another, and the engine knows none of them by name.

Each function returns what a bench has as a port: a function without arguments that opens a line.
"""

# Not late: the first import of a module would put the module itself in the place of the function of the same name.
from otf.adapter.faults import Faults
from otf.adapters.can import can
from otf.adapters.faults import inject
from otf.adapters.inprocess import inprocess
from otf.adapters.isotp import isotp
from otf.adapters.process import process
from otf.adapters.serialport import serialport
from otf.adapters.tcp import tcp
from otf.adapters.thread import from_thread
from otf.adapters.udp import udp
from otf.adapters.unix import unix
from otf.adapters.visa import visa

__all__ = [
    "Faults",
    "can",
    "from_thread",
    "inject",
    "inprocess",
    "isotp",
    "process",
    "serialport",
    "tcp",
    "udp",
    "unix",
    "visa",
]
