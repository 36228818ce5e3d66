"""Framing: where in a byte stream one frame ends and the next begins; one small pure part per convention."""

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
