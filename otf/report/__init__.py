"""The results of a campaign, for people and for machines: pages, charts, JUnit XML, annotations."""

from otf.report.ci import github, junit, markdown
from otf.report.gather import Gathered
from otf.report.markup import MARK
from otf.report.page import page
from otf.report.reported import PathSummary, ReportedFailure
from otf.report.sequence import Chart, chart, lifelines, mermaid
from otf.report.sequence_svg import standalone

__all__ = [
    "MARK",
    "Chart",
    "Gathered",
    "PathSummary",
    "ReportedFailure",
    "chart",
    "github",
    "junit",
    "lifelines",
    "markdown",
    "mermaid",
    "page",
    "standalone",
]
