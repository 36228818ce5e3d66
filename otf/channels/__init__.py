"""Nets between a system and its tester that lose, duplicate or reorder messages."""

from otf.channels.combinators import duplicating, lossy, reordering
from otf.channels.net import InNet, NetMessage
from otf.channels.unreliable import Unreliable

__all__ = ["InNet", "NetMessage", "Unreliable", "duplicating", "lossy", "reordering"]
