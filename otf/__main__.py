"""`python -m otf` is the command `otf`, of the interpreter that runs it."""

from __future__ import annotations

from otf.cli import main

if __name__ == "__main__":
    main()
