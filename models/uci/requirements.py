"""The normative sentences of the "Description of the universal chess interface (UCI)", April 2006, about engines.

It has those that the model decides, most of them shortened. The description has no sections, so an id has the name of a
command. Its "must" and "should" give the levels; plain statements count as MUST.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class UciRule(Enum):
    """A sentence each, with its level."""

    UCI_WHITE_SPACE = "MUST", "Arbitrary white space between tokens is allowed."
    UCI_FORCED = "MUST", "The engine should never start calculating or pondering without receiving a go command first."
    UCI_UNKNOWN = "SHOULD", "If the engine receives an unknown command or token it should just ignore it."
    UCI_NOT_EXPECTED = (
        "SHOULD",
        "If the engine receives a command which is not supposed to come, such as stop, it should also just ignore it.",
    )
    UCI_UCI = (
        "MUST",
        "After uci the engine must identify itself with id and send its options. After that it should send uciok.",
    )
    UCI_DEBUG = "SHOULD", "debug can be sent any time, also when the engine is thinking."
    UCI_REGISTER = "MUST", "register later: the user does not want to register the engine now."
    UCI_ISREADY = (
        "MUST",
        "isready must always be answered with readyok and can be sent also when the engine is calculating.",
        "the bench asks it after each step, as its barrier; it is not an input of the model",
    )
    UCI_GO = "MUST", "go: start calculating on the current position set up with the position command."
    UCI_SEARCHMOVES = "MUST", "searchmoves: restrict search to these moves only."
    UCI_DEPTH = "MUST", "depth <x>: search x plies only."
    UCI_PONDER = "MUST", "ponder: do not exit the search in ponder mode, even if it's mate."
    UCI_INFINITE = "MUST", "infinite: search until the stop command. Do not exit the search without being told so."
    UCI_STOP = "MUST", "stop calculating as soon as possible, don't forget the bestmove when finishing the search."
    UCI_PONDERHIT = "SHOULD", "The engine should continue searching but switch from pondering to normal search."
    UCI_BESTMOVE = (
        "MUST",
        "bestmove must always be sent if the engine stops searching: for every go a bestmove is needed.",
    )
    UCI_NULLMOVE = "SHOULD", "A nullmove from the engine should be sent as 0000."
    UCI_INFO = "MAY", "The engine wants to send information to the GUI; it can send only selected infos."
    UCI_INFO_CHANGED = (
        "SHOULD",
        "This should be done whenever one of the info has changed.",
        "when it changes is the engine's own affair",
    )


UCI_REQUIREMENTS: Final = Requirements.from_enum(UciRule)
"""The table of the bench."""
