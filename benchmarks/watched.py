"""Actions of this process on files, processes and addresses, from Python's own audit events.

Every action that is not allowed is recorded. The events come from the interpreter, so that nothing which the code
under attack imports or patches can hide from them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FILES: Final = frozenset(
    {
        "os.mkdir",
        "os.rename",
        "os.remove",
        "os.rmdir",
        "os.link",
        "os.symlink",
        "os.truncate",
        "os.chmod",
        "os.chown",
        "os.utime",
        "os.setxattr",
        "shutil.copyfile",
        "shutil.move",
        "shutil.rmtree",
    }
)
STARTS: Final = frozenset(
    {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system", "pty.spawn"}
)
CONTACTS: Final = frozenset(
    {
        "socket.connect",
        "socket.sendto",
        "socket.sendmsg",
        "socket.bind",
        "socket.getaddrinfo",
        "socket.gethostbyname",
    }
)
BOTH: Final = frozenset({"os.rename", "os.link", "os.symlink", "shutil.copyfile", "shutil.move"})


class Watch:
    """Records actions outside `allowed`, the folders in which anything may be written. Make one for each process."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        self.found: list[str] = []
        self.on: bool = False
        self._allowed = (*(f"{folder.resolve()}{os.sep}" for folder in allowed), "/dev/null")
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in STARTS or event in CONTACTS:
            self._note(event, arguments)
        elif event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & WRITES and not isinstance(path, int):
                self._file(event, path)
        elif event in FILES:
            for path in arguments[: 1 + (event in BOTH)]:
                self._file(event, path)

    def _file(self, event: str, path: Any) -> None:
        if not isinstance(path, int):  # a descriptor was opened, and checked, before
            name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 -- a Path would read the disk, and cause another event
            if not f"{name}{os.sep}".startswith(self._allowed) and name not in self._allowed:
                self._note(event, name)

    def _note(self, event: str, what: object) -> None:
        self.on = False  # showing a value may cause another event
        self.found.append(f"{event}: {what!r:.200}")
        self.on = True
