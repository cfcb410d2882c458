"""The stages of an assignment that asks for a whole program.

Each case is run in a folder of its own, under limits, on a GPU where the program needs one.

    Build ─running, case by case▶ ProgramRun ─compared▶ CaseEvidence

What the program says of itself is kept as it is; nothing here believes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.grading.assignment import reference_folder, wanted_files
from grader.grading.checks.program_cases import ended_by_itself
from grader.grading.oracle import draw_inputs, load_oracle
from grader.kinds.comparing.arrays import compared, input_files, verify
from grader.kinds.host_runs.baselines import with_baselines
from grader.kinds.host_runs.running import Given, ending, nothing, run
from grader.kinds.program.file_origin import FileOrigins, LoggingTask
from grader.model import CaseEvidence
from grader.toolchain.nvcc import build_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.grading.oracle import Oracle
    from grader.kinds.host_runs.on_emulator import EmulatedDevice
    from grader.kinds.host_runs.running import Task
    from grader.kinds.plan import Plan
    from grader.model import Assignment, Build, Case, Evidence, Finding, Named, ProgramRun, Submission
    from grader.running.device.watched_launches import WatchedLaunch
    from grader.toolchain.nvcc import Tools

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
    task = LoggingTask(task_of(assignment, built, oracle))
    evidence = run(plan, submission, built, tools, task)
    if not task.logs:
        return evidence, ()
    emulated = built if plan.backend.pool is None else build_program(tools, submission, assignment.program)
    origins = FileOrigins(plan, submission, emulated, tools, task.task, oracle)
    cases = tuple(origins.with_origins(case, task.logs.get(case.case.id)) for case in evidence.cases)
    return replace(evidence, cases=cases), ()


def task_of(assignment: Assignment, built: Build, oracle: Oracle | None) -> Task:
    """Task for runs of a build."""
    return _ProgramTask(assignment, oracle, built.calls_device)


@frozen
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
        self,
        case: Case,
        run: ProgramRun,
        findings_of_device: tuple[Finding, ...],
        device: EmulatedDevice | None,
    ) -> CaseEvidence:
        """Evidence: a run's output and files, beside what was ``seen`` of it and of its launches.

        How the program ends once a launch was left out is not its doing.
        """
        launches: Mapping[str, WatchedLaunch] | None = None if self.calls_device else {}
        ran: tuple[str, ...] = ()
        ended = ending(case, run) if device is None or not device.left_out_a_launch else ()
        if device is not None:
            launches, ran = device.watched, device.ran
        comparisons, findings = compared(self.assignment, case, run, self.oracle, launches, ran)
        return CaseEvidence(
            case,
            comparisons=comparisons,
            findings=(*ended, *findings_of_device, *findings),
            seconds=run.seconds,
            completed=ended_by_itself(run),
            program=run,
        )
