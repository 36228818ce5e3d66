"""Fuzz one target with atheris: `python -m tests.fuzz.guided TARGET OPTIONS-OF-LIBFUZZER FOLDER`; libFuzzer ends it.

`python -m benchmarks.fuzz` calls it. Nothing of otf may be imported before it is instrumented.
"""

import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["otf", "tomllib", "cantools", "textparser", "http.server"]):
        targets = import_module("tests.fuzz.targets")
        import_module("cantools.database")  # which otf imports where it is needed
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 -- what is said of a folder
    atheris.Setup(sys.argv[1:], partial(targets.call, sys.argv[1]))
    atheris.Fuzz()
