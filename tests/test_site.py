"""The pages build as a site: no link leads nowhere, no page is left out, no docstring names what is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_site_builds(tmp_path: Path) -> None:
    """Every warning is an error (`strict` in mkdocs.yml)."""
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(ROOT / "mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "reference" / "otf.html").read_text(encoding="utf-8")
    assert 'id="otf.Spec"' in text
