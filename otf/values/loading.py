"""Loading the user's files."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from typing import NoReturn


class AsWritten(SourceFileLoader):
    """Compiles a file each time. Python takes the bytecode of a file that has the same size and second for current."""

    def path_stats(self, path: str) -> NoReturn:
        """Tell Python that no bytecode belongs to the file."""
        raise OSError(path)
