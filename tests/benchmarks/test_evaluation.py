"""The page of the evaluation has the stored figures, and no others."""

import json

from benchmarks.evaluation import PAGE, STORED, page


def test_page() -> None:
    """The page is the one that the stored figures make: nobody edits it by hand."""
    assert PAGE.read_text() == page(json.loads(STORED.read_text()))


def test_each_table_can_be_measured_again() -> None:
    """Each table has a command of this repository, the load, and as many cells in each row as columns."""
    for table in json.loads(STORED.read_text())["tables"]:
        assert table["command"].startswith(("python -m benchmarks.", "pytest "))
        assert table["load"]
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}
