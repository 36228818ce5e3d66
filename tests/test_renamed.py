"""Old names work for one version, and each use names the new one."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from otf.adapter import Bench, KnownIssue
from otf.campaign import Listener
from otf.campaign.listener import callback
from otf.renamed import RENAMED
from otf.spec import Spec

OLD = [(package, old, new) for package, names in RENAMED.items() for old, new in names.items()]
MUTANTS = {"late": "it answers late"}
ISSUE = KnownIssue(lambda _failure: True, "it is known")


def made(**fields: Any) -> Bench:  # noqa: ANN401 -- the fields of a bench, by old names too
    """Return a bench of a system that never answers."""
    return Bench(Spec[int, str](lambda _state, _inp: (), 0, []), system=lambda: lambda _inp: (), **fields)


@pytest.mark.parametrize(("package", "old", "new"), OLD)
def test_an_old_name_is_the_new_thing(package: str, old: str, new: str) -> None:
    """The old name gives the same object as the new one, with a warning that names both and shows the line at fault."""
    home, _, name = new.rpartition(".")
    with pytest.warns(DeprecationWarning, match="has a new name") as seen:
        found = getattr(import_module(package), old)
    assert found is getattr(import_module(home), name)
    assert str(seen[0].message) == f"{package}.{old} has a new name: {new}; the old one goes with the next version"
    assert seen[0].filename == __file__


@pytest.mark.parametrize("package", RENAMED)
def test_a_name_that_never_was_is_an_error(package: str) -> None:
    """A package has no other names than before, and old names are not among those that it lists."""
    module = import_module(package)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nothing'"):
        _ = module.Nothing
    assert not RENAMED[package].keys() & set(module.__all__)


def test_the_old_module_of_the_nets_is_imported() -> None:
    """`from otf.spec.channels import lossy` works, with a warning."""
    with pytest.warns(DeprecationWarning, match=r"otf.spec.channels.lossy has a new name: otf.channels.lossy"):
        exec("from otf.spec.channels import lossy", {})  # noqa: S102 -- type checkers do not know it any more


def test_old_keywords_of_a_bench() -> None:
    """`faults` and `departures` set the fields of today, and read them."""
    with pytest.warns(DeprecationWarning, match=r"Bench\(faults=…\) has a new name: Bench\(mutants=…\)"):
        bench = made(faults=MUTANTS)
    with pytest.warns(DeprecationWarning, match=r"Bench\(departures=…\) has a new name: Bench\(known_issues=…\)"):
        known = made(departures=(ISSUE,))
    assert (bench.mutants, known.known_issues) == (MUTANTS, (ISSUE,))
    with pytest.warns(DeprecationWarning, match=r"Bench.faults has a new name: Bench.mutants"):
        assert getattr(bench, "faults") == MUTANTS  # noqa: B009 -- type checkers do not know it any more
    with pytest.warns(DeprecationWarning, match=r"Bench.departures has a new name: Bench.known_issues"):
        assert getattr(known, "departures") == (ISSUE,)  # noqa: B009 -- the same


def test_an_old_keyword_replaces_too() -> None:
    """`dataclasses.replace` takes the old keywords; a bench that is made with new names alone warns of nothing."""
    changes: dict[str, Any] = {"faults": MUTANTS}
    with pytest.warns(DeprecationWarning, match="mutants"):
        assert replace(made(mutants={"early": "too early"}), **changes).mutants == MUTANTS
    with warnings.catch_warnings(record=True) as seen:
        assert replace(made(mutants=MUTANTS), name="other").mutants == MUTANTS
    assert seen == []


def test_an_old_method_of_a_listener_is_called() -> None:
    """A listener that defines `offered` is notified by it, with a warning that names `enabled`."""

    class Old(Listener):
        def __init__(self) -> None:
            self.seen: list[tuple[int, object]] = []

        def offered(self, number: int, view: object) -> None:
            self.seen.append((number, view))

    old = Old()
    with pytest.warns(DeprecationWarning, match=r"Old\.offered has a new name: Old\.enabled"):
        notify = callback(old, "enabled", 3)
    assert notify is not None
    notify("the view")
    assert old.seen == [(3, "the view")]
    assert callback(Listener(), "enabled", 3) is None
