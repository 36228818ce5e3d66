"""`python -m otf` runs the command `otf` with this interpreter."""

from __future__ import annotations

from otf.cli import main

if __name__ == "__main__":
    main()
