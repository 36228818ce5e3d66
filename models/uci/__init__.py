"""Chess engines, by the Universal Chess Interface (UCI) over their pipes; Stockfish if no other is named.

`otf run uci --set engine=./my-engine` names one. Source: Meyer-Kahlen, "Description of the universal chess interface
(UCI)", April 2006. An engine thinks while it can be spoken to: what it says of its search comes any time, and the best
move when it has one.
"""

from otf.models.uci.bench import bench
from otf.models.uci.spec import chess

__all__ = ["bench", "chess"]
