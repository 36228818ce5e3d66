"""The page on the papers says what the script computes."""

from __future__ import annotations

import pytest

from benchmarks.papers import BEGIN, PAGE, commanded, tables
from benchmarks.papers_functions import functions
from benchmarks.papers_line import line_of
from benchmarks.papers_models import modelled


def test_the_examples_of_the_papers_are_as_the_page_says() -> None:
    """Those that take little time: definitions, verdicts, traces."""
    page = PAGE.read_text(encoding="utf-8")
    for lines in (functions, modelled, commanded):
        for line in lines():
            assert line_of(line) in page


@pytest.mark.slow
def test_all_tables_are_as_the_page_says() -> None:
    """Also those that take a minute: paths of suites, and shrinking."""
    assert PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].strip() == tables().strip()
