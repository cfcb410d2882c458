"""A batch that is stopped or killed while submissions hang: nothing waits for them, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import grade_class
from grader.cli import interruption
from grader.grading.assignment import expand_cases
from grader.kinds import pipeline
from grader.model import Submission
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.bundled import bundled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.toolchain.sandbox import Job, Result

ROOT = Path(__file__).resolve().parents[2]
HANGS = 600
"""Seconds for which each submission hangs."""
ENOUGH = 60
"""Seconds after which a batch that was stopped would not have ended by itself."""


class HangingSandbox(LocalSandbox):
    """Compiles nothing: leaves the number of the process that grades in a folder, and hangs."""

    def __init__(self, begun: Path) -> None:
        self.begun = begun

    def run(self, job: Job) -> Result:
        """See `Sandbox`."""
        (self.begun / str(os.getpid())).touch()
        time.sleep(HANGS)
        return super().run(job)


def grade_hanging(begun: Path) -> None:
    """Grade a class that hangs, as a command does it: what asks it to stop ends it with 130."""
    interruption.listen()
    assignment = bundled("tiled-matmul")
    plan = pipeline.Plan(assignment, 1, expand_cases(assignment, 1)[:1], ())
    submissions = [Submission(f"s{number}", "a.cu", b"// %d" % number, f"{number}") for number in range(6)]
    tools = Tools(find_toolchain(), HangingSandbox(begun))
    try:
        list(grade_class(plan, submissions, tools, jobs=2))
    except KeyboardInterrupt:
        sys.exit(130)


@pytest.fixture
def batch(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A batch in a process group of its own, of which two submissions hang."""
    script = (
        "import sys, pathlib\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from tests.classroom.test_stopped_batches import grade_hanging\n"
        "grade_hanging(pathlib.Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(ROOT)]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
        try:
            until(lambda: len(list(tmp_path.iterdir())) == 2 or process.poll() is not None)
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; the assertion behind it fails where that comes too late."""
    deadline = time.monotonic() + ENOUGH
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)


def is_running(pid: str) -> bool:
    """Return whether a process is there and not at its end, waiting for its parent alone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("whom", ["the process", "its group"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_batch_that_is_stopped_waits_for_nothing_that_hangs(
    whom: str, number: signal.Signals, batch: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """Also where the signal ends what grades: that is not taken for want of memory, and graded again."""
    (os.kill if whom == "the process" else os.killpg)(batch.pid, number)
    assert batch.wait(timeout=ENOUGH) == 130
    begun = [path.name for path in tmp_path.iterdir()]
    until(lambda: not any(map(is_running, begun)))
    assert [pid for pid in begun if is_running(pid)] == []


def test_nothing_goes_on_grading_for_a_batch_that_was_killed(
    batch: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """The processes that grade end with the one that waits for their grades."""
    batch.kill()
    batch.wait()
    begun = [path.name for path in tmp_path.iterdir()]
    assert len(begun) == 2
    until(lambda: not any(map(is_running, begun)))
    assert [pid for pid in begun if is_running(pid)] == []
