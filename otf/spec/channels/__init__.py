"""Nets between a system and its tester: they lose messages, double them, let them overtake each other."""

from otf.spec.channels.duplicating import duplicating
from otf.spec.channels.lossy import lossy
from otf.spec.channels.net import InNet, NetMessage
from otf.spec.channels.reordering import reordering
from otf.spec.channels.unreliable import Unreliable

__all__ = ["InNet", "NetMessage", "Unreliable", "duplicating", "lossy", "reordering"]
