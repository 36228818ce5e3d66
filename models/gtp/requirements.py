"""The normative sentences of "Specification of the Go Text Protocol, version 2, draft 2" that the model decides.

We had only parts of the draft, so all sentences are shortened, and an id has the name of a command instead of a
section. The draft has no key words; its plain statements count as MUST.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class GtpRule(Enum):
    """A sentence each, with its level."""

    GTP2_DISCARDED = "MUST", "Empty lines, lines of white space and comments are discarded."
    GTP2_ID = (
        "MUST",
        "A response has the id of its command.",
        "each response is checked for it; no transition is about the id alone",
    )
    GTP2_UNKNOWN = "MUST", "An unknown command fails with the error message unknown command."
    GTP2_SYNTAX = "MUST", "A command with wrong arguments fails with the error message syntax error."
    GTP2_PROTOCOL_VERSION = "MUST", "protocol_version returns 2."
    GTP2_NAME = "MUST", "name returns the name of the engine."
    GTP2_VERSION = "MUST", "version returns the version, an empty string if the engine has none."
    GTP2_KNOWN_COMMAND = "MUST", "known_command returns true if the command is known by the engine, false otherwise."
    GTP2_REQUIRED = (
        "MUST",
        "All implementations are required to support these commands: play, genmove, komi and others.",
    )
    GTP2_LIST_COMMANDS = "MUST", "list_commands returns a list of commands, one per row."
    GTP2_BOARDSIZE = "MUST", "boardsize changes the size of the board; its configuration becomes arbitrary."
    GTP2_UNACCEPTABLE = "MAY", "If the engine cannot handle the new size, it fails with the message unacceptable size."
    GTP2_LARGEST = "MUST", "A vertex has one letter: a board has at most 25 lines, and a larger size is unacceptable."
    GTP2_CLEAR_BOARD = "MUST", "clear_board clears the board, and resets the move history to empty."
    GTP2_KOMI = "MUST", "The engine must accept the komi, even if it is ridiculous."
    GTP2_PLAY = "MUST", "A stone of the requested color is played at the requested vertex."
    GTP2_ILLEGAL = "MUST", "An illegal move fails with the error message illegal move."
    GTP2_GENMOVE = "MUST", "genmove plays a stone where the engine chooses, or passes or resigns. It never fails."
    GTP2_UNDO = "MUST", "The board configuration is reset to the state before the last move."
    GTP2_CANNOT_UNDO = "MAY", "If the engine is unable to take back the last move, it fails with cannot undo."
    GTP2_SHOWBOARD = "MAY", "The engine may draw the board as it likes.", "the format is free"


GTP_REQUIREMENTS: Final = Requirements.from_enum(GtpRule)
"""The table of the bench."""
