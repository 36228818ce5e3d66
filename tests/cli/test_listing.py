"""`otf list`: benches and strategies."""

from tests.cli.command import otf


def test_what_there_is() -> None:
    """Benches with their parameters, and strategies, are listed, each with what it is."""
    done = otf("list")
    assert done.status == 0
    assert "  conference      The conference protocol: one entity" in done.out
    assert "entities=3 nicknames=2 conferences=2 messages=2 fault=none" in done.out
    assert "quiescence=0.02 L=0.002 R=0.002" in done.out
    assert "  random          any input with the same probability" in done.out


def test_the_list_as_a_document() -> None:
    """With --json the same is one document."""
    data = otf("list", "--json").data
    assert data.keys() == {"benches", "parameters", "strategies"}
    assert data["benches"].keys() == data["parameters"].keys() >= {"conference", "coffee"}
    assert data["parameters"]["conference"]["entity"] == ""
    assert "alternating" in data["strategies"]
