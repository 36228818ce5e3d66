"""The same faults with Hypothesis: its rule-based state machine finds a failing run of its own, and shrinks it."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.loops import fits
from benchmarks.shrink_subjects import STEPS, Subject, acting

EXAMPLES: Final = 1000  # more than any of the faults needs


def hypothesis_shrinks(subject: Subject, seed: int, best: int) -> tuple[int, int, int, int, int]:
    """Return the length of the first failing run, that of the result, the optimum, the transitions and the resets.

    Inputs after the first failing run count. The optimum is that of any failure: Hypothesis does not ask
    whether it is the same one.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, settings
    from hypothesis import seed as seeded
    from hypothesis.stateful import run_state_machine_as_test

    machine = _machine(subject)
    checks = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
    try:
        run_state_machine_as_test(seeded(seed)(machine), settings=checks)
    except AssertionError:
        runs: list[int] = machine.runs
        first: int = machine.first
        return runs[first], runs[-1], best, sum(runs[first + 1 :]), len(runs) - first - 1
    raise RuntimeError(f"{subject.fault}, seed {seed}: Hypothesis did not find it")


def _machine(subject: Subject) -> Any:
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    spec = subject.spec
    inputs = st.sampled_from([*spec.inputs(spec.initial)])

    class Machine(RuleBasedStateMachine):
        runs: list[int] = []  # noqa: RUF012 -- shared by all runs: it counts them
        first = -1

        def __init__(self) -> None:
            super().__init__()
            self.act = acting(subject.react, subject.initial)
            self.states = frozenset([spec.initial])
            Machine.runs.append(0)

        # one rule for all, so that inputs come as uniformly as in the failing runs of the other algorithms; what is not
        # specified is skipped, as they do (drawn from what is specified, Hypothesis's results were far longer)
        @rule(inp=inputs)
        def take(self, inp: object) -> None:
            ways: list[Any] = [way for state in self.states for way in spec.step(state, inp)]
            if ways:
                Machine.runs[-1] += 1
                outputs = [*self.act(inp)]
                self.states = frozenset(way.state for way in ways if fits(way, outputs))
                if not self.states and Machine.first < 0:
                    Machine.first = len(Machine.runs) - 1
                assert self.states

    return Machine
