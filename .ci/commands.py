#!/usr/bin/env python3
"""Prints the two commands of a README, `run` first and then `test`, one a line.

A command is the only line of a fenced `sh` block that follows its marker at once:

    <!-- command: run -->
    ```sh
    echo hello
    ```

Whatever does not have this shape ends the script with a message and status 2, so that nothing is skipped in silence.
"""

import re
import sys
from pathlib import Path

NAMES = ("run", "test")
MARKER = re.compile(r"^<!-- command: (.*?) -->$", re.MULTILINE)
COMMAND = re.compile(r"<!-- command: .*? -->\n```sh\n(?P<line>[^\n]*\S[^\n]*)\n```(?:\n|\Z)")


def commands(text: str) -> list[str]:
    """Give the commands of a README in the order of NAMES, or exit and say what is wrong with it."""
    markers = list(MARKER.finditer(text))
    found = [marker[1] for marker in markers]
    if sorted(found) != sorted(NAMES):
        sys.exit(complaint(f"it marks the commands {found}, and shall mark each of {list(NAMES)} once"))
    lines = {marker[1]: line_after(text, marker) for marker in markers}
    return [lines[name] for name in NAMES]


def line_after(text: str, marker: re.Match[str]) -> str:
    """Give the one line in the block that follows a marker."""
    block = COMMAND.match(text, marker.start())
    if block is None:
        sys.exit(complaint(f"the marker of {marker[1]!r} is not followed at once by a ```sh block of one line"))
    return block["line"]


def complaint(text: str) -> int:
    """Say on standard error why the README cannot be used; give the status to exit with."""
    sys.stderr.write(f"README: {text}\n")
    return 2


def main() -> None:
    """Read the README named on the command line."""
    sys.stdout.write("".join(f"{line}\n" for line in commands(Path(sys.argv[1]).read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
