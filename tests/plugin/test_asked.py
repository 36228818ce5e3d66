"""A test that asked for a run passes only if it drove something; else a sentence says what to do."""

from __future__ import annotations

import pytest

from tests.plugin.session import Session

LOOP = """
pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

"""


def test_a_function_that_returns_a_bench_drives_nothing(session: Session) -> None:
    """It has the name of a test, and looks like a bench that has one."""
    done = session.of("def test_b():\n    return coffee.bench()\n")
    assert done.counts == {"failed": 1}
    assert "test_b returned a bench, which nothing drives" in done.out
    assert "`test_b = make_bench()`" in done.out


@pytest.mark.parametrize("fixture", ["otf_run", "otf_open", "otf_run_async", "otf_open_async"])
def test_a_fixture_that_is_never_called_drives_nothing(session: Session, fixture: str) -> None:
    """Also where the test has a mark for it, or another fixture takes it: that may drive until the test has ended."""
    done = session.of(f"def test_it({fixture}):\n    pass\n")
    assert done.counts == {"failed": 1}
    assert f"this test took {fixture} and drove nothing: call {fixture}(bench)" in done.out
    done = session.of(f"@pytest.mark.usefixtures('{fixture}')\ndef test_it():\n    pass\n")
    assert (done.status, done.counts) == (1, {"passed": 1, "error": 1})
    assert f"this test took {fixture} and drove nothing" in done.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("otf_run_async(coffee.bench)", "otf_run_async(…) was not awaited to its end, so it decided nothing"),
        ("otf_open_async(coffee.bench)", "write `async with otf_open_async(bench) as talk:`"),
        ("with anyio.move_on_after(0): await otf_run_async(coffee.bench)", "write `await otf_run_async(bench)`"),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_what_is_not_awaited_drives_nothing(session: Session, body: str, said: str) -> None:
    """A run that was cancelled has decided nothing either, whatever else the test drove."""
    awaited = f"    await otf_run_async(coffee.bench, traces=1)\n    {body}\n"
    for lines in (f"    {body}\n", awaited):
        text = f"{LOOP}import anyio\nasync def test_it(otf_run_async, otf_open_async):\n{lines}"
        done = session.of(text, "-W", "ignore::RuntimeWarning")
        assert done.counts == {"failed": 1}
        assert said in done.out


NO_ALARM = """
@pytest.fixture
def driven(otf_run):
    yield
    otf_run(coffee.bench, traces=1)

@pytest.fixture
def machine(otf_run, otf_open):
    return otf_open

def test_by_a_fixture(driven):
    pass

def test_by_one_of_two(machine):
    machine(coffee.bench).silence()

def test_refused(otf_run):
    with pytest.raises(Exception, match="stps"):
        otf_run(coffee.bench, stps=3)

def test_skipped(otf_run):
    pytest.skip("no board")

@pytest.fixture
def absent(otf_run):
    pytest.skip("no board")

def test_skipped_by_a_fixture(absent):
    pass

@pytest.mark.xfail
def test_failed(machine):
    assert not machine

def test_other():
    pass
"""


def test_a_test_that_drove_or_did_not_pass_raises_no_alarm(session: Session) -> None:
    """A fixture may drive after the test; a test that was skipped or failed has said so."""
    assert session.of(NO_ALARM).counts == {"passed": 4, "skipped": 2, "xfailed": 1}


WRONG = """
async def test_wrong(otf_run_async):
    with pytest.raises(AssertionError, match="unasked"):
        await otf_run_async(coffee.bench, fault="free")

async def test_refused(otf_open_async):
    with pytest.raises(Exception, match="falt"):
        async with otf_open_async(coffee.bench, falt="free"):
            pass
"""


def test_a_run_that_was_awaited_to_an_error_has_ended(session: Session) -> None:
    """The test expects the error, so it passes."""
    assert session.of(LOOP + WRONG).counts == {"passed": 2}
