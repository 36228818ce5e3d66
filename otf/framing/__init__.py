"""Framing: where one frame ends in a byte stream and the next frame begins, for example at the end of a line.

Each framing is independent of the wire: `lines()` serves a TCP connection and a serial port alike.
"""

from otf.framing.counted import fixed, length, measured
from otf.framing.frame import LARGEST, Frame, Framer, Framing
from otf.framing.lines import Tail, lines, prompt
from otf.framing.registers import Register, registers
from otf.framing.stuffed import cobs, silence, slip

__all__ = [
    "LARGEST",
    "Frame",
    "Framer",
    "Framing",
    "Register",
    "Tail",
    "cobs",
    "fixed",
    "length",
    "lines",
    "measured",
    "prompt",
    "registers",
    "silence",
    "slip",
]
