"""Black-box checking: what a learnt machine violates is tried on the system."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from otf.learn.checking import CheckedProperty, checked
from otf.learn.teaching import Pupil
from otf.logic import always, implies, never, now, sometimes
from otf.models.coffee import Button, Coffee, Coin, bench
from otf.temporal import Formula

pytest.importorskip("aalpy")


def judged(folder: Path, **properties: Formula) -> list[CheckedProperty]:
    """Return what is true of properties of the coffee machine, which is learnt first."""

    async def work() -> list[CheckedProperty]:
        pupil = Pupil(bench(), [Coin(5), Coin(10), Button()], folder)
        await pupil.run()
        assert pupil.learnt is not None
        return await checked(pupil.driver, pupil.learnt, properties)

    return anyio.run(work)


def test_the_system_confirms_what_its_machine_violates(tmp_path: Path) -> None:
    """A property that the machine violates is violated by the system too; one that it keeps is not tried."""
    broken, kept, goal = judged(
        tmp_path, dry=never(Coffee), asked=always(implies(now(Coffee), now(Button))), serves=sometimes(Coffee)
    )
    assert broken.confirms
    assert str(broken).splitlines()[0] == "property dry: refuted: after these steps it cannot hold any more"
    assert str(broken).endswith("the system does so, too")
    assert (kept.confirms, str(kept).partition(":")[2][:7]) == (None, " proven")
    assert goal.confirms is None


def test_what_the_system_does_not_do_was_learnt_wrongly(tmp_path: Path) -> None:
    """A machine that serves for nothing is wrong: the system does not confirm that it does."""

    async def work() -> list[CheckedProperty]:
        pupil = Pupil(bench(), [Coin(5), Coin(10), Button()], tmp_path)
        await pupil.run()
        best, learnt = pupil.learning.best, pupil.learnt
        assert best is not None
        assert learnt is not None
        served = next(out for row in best.out for out in row if "Coffee" in out)
        best.out[0][2] = served
        return await checked(pupil.driver, learnt, {"dry": never(Coffee)})

    (found,) = anyio.run(work)
    assert found.confirms is False
    assert str(found).endswith("the system does not: what was learnt is wrong there")
