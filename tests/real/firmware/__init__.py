"""The firmware of a board, and the bench that flashes it, resets it and switches its power; see board.c."""
