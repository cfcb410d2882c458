"""All trials of a validation, side by side.

First all mutants are built. Those that are the same program as the model solution are set aside; of those
that are the same program as each other one is graded, for all. Mistakes and other seeds are graded each.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.model import Verdict
from grader.validation.records import Outcome
from grader.validation.trials import TrialRunner
from grader.validation.worker_pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.validation.records import Made, Trial

    Progress = Callable[[int, int], None]


def run_trials(
    runner: TrialRunner,
    trials: Sequence[Trial],
    mutants: Sequence[Trial],
    jobs: int,
    told: Progress | None = None,
) -> tuple[dict[Trial, Outcome], float]:
    """The outcome of each trial, and the seconds that building the mutants took; ``jobs`` at a time.

    ``told`` hears how many of how many steps are done, every second at least.

    Raises:
        OurError: a process came down.

    """
    steps = 2 * len(mutants) + len(trials)
    made: dict[Trial, Made] = {}
    found: dict[Trial, Outcome] = {}

    def tell() -> None:
        if told is not None:
            told(len(made) + len(found), steps)

    with WorkerPool(runner, min(jobs, steps)) as pool:
        for trial, program in pool.each(TrialRunner.make, mutants, tell):
            made[trial] = program
            tell()
        first = _first_of_each(made, mutants)
        found.update({trial: _unchanged(trial) for trial in mutants if made[trial].unchanged})
        left = [trial for trial in (*trials, *first.values()) if trial not in found]
        for trial, outcome in pool.each(TrialRunner.attempt, left, tell):
            found[trial] = outcome
            tell()
    for trial in mutants:
        if trial not in found:
            one = found[first[made[trial].program]]
            found[trial] = replace(one, name=trial.name, same_as=one.name)
    if told is not None:
        told(steps, steps)
    return found, sum(program.seconds for program in made.values())


def _first_of_each(made: Mapping[Trial, Made], mutants: Sequence[Trial]) -> dict[str, Trial]:
    """The first mutant of each program; one without a build stands for itself."""
    first: dict[str, Trial] = {}
    for trial in mutants:
        first.setdefault(made[trial].program or trial.name, trial)
    return first


def _unchanged(trial: Trial) -> Outcome:
    return Outcome(trial.name, trial.seed, Verdict.SKIP, Fraction(0), Fraction(0), unchanged=True)
