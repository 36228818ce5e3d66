"""Nets between a system and its tester: they lose messages, double them, let them overtake each other."""

from otf.channels.duplicating import duplicating
from otf.channels.lossy import lossy
from otf.channels.net import InNet, NetMessage
from otf.channels.reordering import reordering
from otf.channels.unreliable import Unreliable

__all__ = ["InNet", "NetMessage", "Unreliable", "duplicating", "lossy", "reordering"]
