"""The pictures in the docs: `python -m tests.report.pictures` takes them anew, of a conference with the fault O7."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Final

import anyio
from rich.console import Console

from otf.campaign import Campaign, PathResult, Settings, Summary
from otf.cli.figures import Figures
from otf.cli.progress import Moving, board
from otf.models.conference import bench as conference
from otf.report.failures import address
from tests.report.browser import browser
from tests.report.played import played

PICTURES: Final = Path(__file__).parents[2] / "docs" / "pictures"
RUN: Final = ("conference", "--set", "fault=O7", "--seed", "5", "--traces", "40", "--steps", "60", "--no-saved")
SIZES: Final = {"report": (1240, 1500, False), "report-dark": (1240, 1500, True), "report-narrow": (390, 1500, False)}
PARTS: Final = {"states": 700, "coverage": 265, "times": 780}


def otf(folder: Path, *arguments: object) -> str:
    """Call the command line, whatever its verdict, and return what it prints."""
    command = [str(Path(sys.executable).with_name("otf")), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


class Halfway(Moving):
    """Takes a picture of the board in the middle of a campaign."""

    def path(self, result: PathResult, summary: Summary) -> None:
        """Take it after the third path."""
        super().path(result, summary)
        if summary.paths == 3:
            console = Console(record=True, width=90, file=io.StringIO())
            console.print(*self.bars.get_renderables(), sep="\n")
            drawn = console.export_svg(title="otf run conference")
            # a page asks another host for nothing, a font neither
            (PICTURES / "progress.svg").write_text(re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL))


def terminal(folder: Path) -> None:
    """Take a picture of what a terminal shows while a campaign runs."""
    settings = Settings(out=folder / "board", seed=5)
    figures = Figures(settings)
    bars = board(figures, monotonic())
    bars.disable = True  # nobody looks at this terminal
    campaign = Campaign(conference(), settings)
    task = bars.add_task("paths", total=settings.traces, more="")
    campaign.listener = Halfway(settings, campaign.summary, None, figures, bars, task)
    anyio.run(campaign.run)


def failing(folder: Path, shrunk: Path) -> str:
    """Return the drawing of the first page: the events of a trace, and the output that it lacks."""
    found = re.search(r"did not come: +(.*)", otf(folder, "show", shrunk))
    assert found, "no output is missing"
    return played(json.loads(otf(folder, "show", shrunk, "--json"))["events"], found[1])


def main() -> None:
    """Run a campaign, and take a picture of its report in each size and theme, of a chart, and of the terminal."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        terminal(folder)
        otf(folder, "run", *RUN, "--out", "runs")
        otf(folder, "report", "runs")
        shrunk = next((folder / "runs").glob("*.shrunk.jsonl"))
        (PICTURES / "chart.svg").write_text(otf(folder, "show", shrunk, "--format", "svg"), encoding="utf-8")
        (PICTURES / "failure.svg").write_text(failing(folder, shrunk), encoding="utf-8")
        with browser(folder / "profile") as seen:
            for name, (width, height, dark) in SIZES.items():
                seen.size(width, dark=dark)
                seen.open(folder / "runs" / "report.html")
                seen.picture(PICTURES / f"{name}.png", width, height)
            seen.size(1240)
            seen.open(folder / "runs" / "report.html", f"#{address(shrunk)}", "document.querySelector('#chart svg')")
            seen.picture(PICTURES / "report-viewer.png", 1240, 900)
            seen.open(folder / "runs" / "report.html")
            for name, height in PARTS.items():
                top = seen.ask(f"document.getElementById('{name}').getBoundingClientRect().top + scrollY")
                seen.picture(PICTURES / f"report-{name}.png", 1240, height, top)


if __name__ == "__main__":
    main()
