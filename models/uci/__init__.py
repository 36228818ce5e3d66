"""Chess engines, by the Universal Chess Interface (UCI) over their pipes; Stockfish by default.

`otf run uci --set engine=./my-engine` names one. Source: Meyer-Kahlen, "Description of the universal chess interface
(UCI)", April 2006. An engine listens while it thinks: information about its search comes at any time, and the best move
when it has one.
"""

from otf.models.uci.bench import bench
from otf.models.uci.spec import chess

__all__ = ["bench", "chess"]
