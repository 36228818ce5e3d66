"""A chess engine that speaks the Universal Chess Interface (UCI) over pipes; Stockfish by default.

`otf run uci --set engine=./my-engine` tests your own engine. Source: Meyer-Kahlen, "Description of the universal chess
interface (UCI)", April 2006. A chess engine reads commands while it thinks. The engine may send information about its
search at any time, and sends the best move when it has found one.
"""

from otf.models.uci.bench import bench
from otf.models.uci.spec import chess

__all__ = ["bench", "chess"]
