"""Nets between a system and its tester that lose, duplicate or reorder messages."""

from otf.channels.net import InNet, NetMessage
from otf.channels.unreliable import Unreliable, duplicating, lossy, reordering

__all__ = ["InNet", "NetMessage", "Unreliable", "duplicating", "lossy", "reordering"]
