"""Trials side by side: what comes back, what is shared, and how it ends when a user stops it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from grader.authoring.validation.records import Made, Trial, TrialOutcome
from grader.authoring.validation.trials import WorkerPool, run_trials
from grader.base.errors import OurError
from tests.authoring.validation import small_assignment
from tests.authoring.validation.sample_outcomes import outcome

if TYPE_CHECKING:
    from grader.authoring.validation.trials import TrialRunner

ROOT = Path(__file__).parents[3]
TRIALS = tuple(
    Trial(name, "a.cu", name.encode(), 1) for name in ("a", "b", "same as a", "solution", "broken")
)

NO_BENCH = cast("TrialRunner", None)
"""For work that looks at no runner."""


class MadeUpBench:
    """A runner on which every trial is as its name states; ``attempted`` are the trials that were graded."""

    def __init__(self) -> None:
        self.attempted: list[str] = []

    def make(self, trial: Trial) -> Made:
        """The program of "same as a" is that of a."""
        programs = {"same as a": "a", "broken": ""}
        return Made(programs.get(trial.name, trial.name), trial.name == "solution", 1.5)

    def attempt(self, trial: Trial) -> TrialOutcome:
        """It loses an item that is called like it."""
        self.attempted.append(trial.name)
        return outcome(trial.name, f"loses {trial.name}")


def dies(runner: TrialRunner, trial: Trial) -> str:  # noqa: ARG001 - what a pool is given to do
    """Bring the process down."""
    sys.exit(1)


def spins(runner: TrialRunner, trial: Trial) -> str:  # noqa: ARG001 - as above
    """Never end."""
    while True:
        pass


def _renamed(runner: TrialRunner, trial: Trial) -> str:  # noqa: ARG001 - as above
    return trial.name.upper()


def test_each_program_is_graded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same program shares the outcome, the model solution's is not run, what has no build is."""
    runner = MadeUpBench()
    monkeypatch.setattr("grader.authoring.validation.trials.TrialRunner", MadeUpBench)
    heard: list[tuple[int, int]] = []
    plain = Trial("mistake", "m.cu", b"", 1)
    found, building = run_trials(
        cast("TrialRunner", runner),
        [plain],
        TRIALS,
        1,
        lambda done, of: heard.append((done, of)),
    )
    assert runner.attempted == ["mistake", "a", "b", "broken"]
    assert building == 5 * 1.5
    outcomes = {trial.name: (each.name, each.failed, each.same_as) for trial, each in found.items()}
    assert outcomes["same as a"] == ("same as a", ("loses a",), "a")
    assert outcomes["b"] == ("b", ("loses b",), "")
    assert [trial.name for trial in TRIALS if found[trial].unchanged] == ["solution"]
    assert heard[-1] == (11, 11)
    assert heard == sorted(heard)


def test_processes_do_the_same_as_one() -> None:
    """Every trial comes back with its answer, whichever process tried it."""
    with WorkerPool(NO_BENCH, 2) as pool:
        answers = dict(pool.each(_renamed, TRIALS))
        assert dict(pool.each(_renamed, TRIALS)) == answers
    assert answers == {trial: trial.name.upper() for trial in TRIALS}


def test_a_process_that_comes_down_is_our_error() -> None:
    """The message suggests what to try, and the pool does not wait for ever."""
    with WorkerPool(NO_BENCH, 2) as pool, pytest.raises(OurError, match="came down; try again with -j 1"):
        list(pool.each(dies, TRIALS))


def test_whoever_stops_waiting_leaves_no_process_behind() -> None:
    """Not even in the middle of a trial that never ends."""

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), WorkerPool(NO_BENCH, 2) as pool:
        list(pool.each(spins, TRIALS, stop))
    assert [process.is_alive() for process in pool._processes] == [False, False]


def test_asked_to_stop_it_ends_in_the_middle_of_its_work(tmp_path: Path) -> None:
    """SIGTERM is answered like Ctrl-C: exit code 130 and one line; no compiler is left."""
    home, output = small_assignment.write(tmp_path), tmp_path / "output"
    command = [sys.executable, "-m", "grader", "validate", str(home), "--backend", "emulator"]
    # Sockets lie in the temporary folder, whose path may not be long (108 bytes: man 7 unix), as pytest's is.
    with output.open("w") as target, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        jobs = Path(name)
        running = subprocess.Popen(
            [*command, "-j", "2"],
            cwd=ROOT,
            stderr=target,
            env=os.environ | {"TMPDIR": str(jobs)},
        )
        while "steps done" not in output.read_text() and running.poll() is None:
            time.sleep(0.05)
        running.terminate()
        assert running.wait(timeout=60) == 130, output.read_text()
        assert _working_in(jobs) == []
    assert output.read_text().splitlines()[-1].startswith("grader: stopped; run the same command again")
    assert "Traceback" not in output.read_text()


def _working_in(folder: Path) -> list[str]:
    """The processes that work in a folder or below it."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.readlink().is_relative_to(folder):
                found.append(link.parent.name)
    return found
