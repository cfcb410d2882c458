"""The stages of an assignment that asks for a whole program.

Each case is run in a folder of its own, under limits, on a GPU where the program needs one.

    Build ─running, case by case▶ ProgramRun ─compared▶ CaseEvidence

What the program says of itself is kept as it is; nothing here believes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.assignment import reference_folder, wanted_files
from grader.checks.program_cases import ended_by_itself
from grader.kinds.program.baselines import with_baselines
from grader.kinds.program.input_files import input_files
from grader.kinds.program.outputs import compared, verify
from grader.kinds.program.running import Given, ending, nothing, run
from grader.model import Build, CaseEvidence, Evidence, Finding, ProgramRun
from grader.oracle import draw_inputs, load_oracle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.device.observation import SeenLaunch
    from grader.kinds.program.on_emulator import EmulatedDevice
    from grader.kinds.program.running import Task
    from grader.model import Assignment, Case, Named, Submission
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

__all__ = ["gather", "nothing", "plan"]


def plan(drawn: Plan, tools: Tools) -> Plan:
    """Run the baselines on the drawn cases; raises UsageError if the reference cannot tell what is asked."""
    assignment = drawn.assignment
    oracle = load_oracle(reference_folder(assignment)) if assignment.reference else None
    verify(assignment, oracle, drawn.cases)
    return with_baselines(drawn, tools, lambda built: task_of(assignment, built, oracle))


def gather(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
) -> tuple[Evidence, Named[float]]:
    """All that can be known of a program; a failure of ours is in the records, case by case."""
    assignment = plan.assignment
    oracle = load_oracle(reference_folder(assignment)) if assignment.reference else None
    return run(plan, submission, built, tools, task_of(assignment, built, oracle)), ()


def task_of(assignment: Assignment, built: Build, oracle: Oracle | None) -> Task:
    """What runs of a build are for."""
    return _ProgramTask(assignment, oracle, built.calls_device)


@dataclass(frozen=True, slots=True)
class _ProgramTask:
    """A program gets the arguments and the input of its case, and writes what items ask for."""

    assignment: Assignment
    oracle: Oracle | None
    calls_device: bool

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """The arguments and the input of the case, and the files with the arrays that are drawn for it."""
        del device
        files = input_files(case, draw_inputs(self.oracle, case)) if case.files and self.oracle else ()
        return Given(case.arguments, files, wanted_files(self.assignment), case.stdin.encode())

    def judged(
        self, case: Case, run: ProgramRun, seen: tuple[Finding, ...], device: EmulatedDevice | None
    ) -> CaseEvidence:
        """What a run printed and wrote, beside what was ``seen`` of it and of its launches."""
        launches: Mapping[str, SeenLaunch] | None = None if self.calls_device else {}
        ran: tuple[str, ...] = ()
        if device is not None:
            launches, ran = device.seen, device.ran
        comparisons, findings = compared(self.assignment, case, run, self.oracle, launches, ran)
        return CaseEvidence(
            case,
            comparisons=comparisons,
            findings=(*ending(case, run), *seen, *findings),
            seconds=run.seconds,
            completed=ended_by_itself(run),
            program=run,
        )
