"""The stages of an assignment that asks for a whole program.

Each case is run in a folder of its own, under limits, on a GPU where the program needs one.

    Build ─running, case by case▶ ProgramRun ─compared▶ CaseEvidence

What the program says of itself is kept as it is; nothing here believes it. What the staff's own programs and
functions move on the cases is there to compare submissions with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.assignment import recorded_counters, reference_folder, staff_kernel, wanted_files
from grader.checks.program_cases import ended_by_itself
from grader.checks.traffic import TrafficCheck
from grader.device.observation import Observation
from grader.errors import OurError
from grader.kinds import kind_of, require_built, staff_submission
from grader.kinds.program.arrays import compared, input_files, verify
from grader.kinds.program.running import Given, ending, nothing, run, run_cases
from grader.messages import clause
from grader.model import Build, CaseEvidence, Evidence, Finding, ProgramRun
from grader.oracle import draw_inputs, load_oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.device.seen import SeenLaunch
    from grader.kinds.program.on_emulator import EmulatedDevice
    from grader.kinds.program.running import Task
    from grader.model import Assignment, Case, Counters, Named, Submission
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
        self,
        case: Case,
        run: ProgramRun,
        findings_of_device: tuple[Finding, ...],
        device: EmulatedDevice | None,
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
            findings=(*ending(case, run), *findings_of_device, *findings),
            seconds=run.seconds,
            completed=ended_by_itself(run),
            program=run,
        )


def with_baselines(plan: Plan, tools: Tools, task_of: Callable[[Build], Task]) -> Plan:
    """The plan with what each baseline of a `traffic` item moves on the item's cases.

    ``task_of`` says what runs of a build are given. Raises OurError where a baseline cannot be run.
    """
    recorded = recorded_counters(plan.assignment)
    if recorded is not None:
        return replace(plan, baselines=recorded)
    counters: dict[str, dict[str, Counters]] = {}
    of_traffic = tuple(TrafficCheck.in_rubric(plan.assignment.rubric))
    for name in dict.fromkeys(check.baseline for check in of_traffic if check.baseline):
        checks = [check for check in of_traffic if check.baseline == name]
        chosen = tuple(case for case in plan.cases if any(check.item.looks_at(case) for check in checks))
        for case in _run(replace(plan, cases=chosen, feedback=False), name, tools, task_of):
            moved = counters.setdefault(case.case.id, {})
            for check in checks:
                moved[check.baseline_key] = _of_kernel(case, check.kernel or "")
    return replace(plan, baselines=tuple((case, tuple(moved.items())) for case, moved in counters.items()))


def _run(plan: Plan, name: str, tools: Tools, task_of: Callable[[Build], Task]) -> tuple[CaseEvidence, ...]:
    """The cases of a baseline; raises OurError where it does not build, or one did not come to its end."""
    submission = staff_submission(staff_kernel(plan.assignment, name), "file")
    built = kind_of(plan.assignment).build(tools, submission, plan.assignment)
    require_built(built, submission, "file")
    observation = Observation(count_only=True)
    cases = run_cases(plan, submission, built, tools, task_of(built), observation=observation).cases
    for case in cases:
        reason = case.error or clause(case.too_much_work) or next((f.message for f in case.findings), "")
        if case.error or not case.completed or not case.kernels:
            reason = reason or "it launches no kernel"
            raise OurError(f"the baseline {submission.file} does not run in case {case.case.id}: {reason}")
    return cases


def _of_kernel(case: CaseEvidence, kernel: str) -> Counters:
    """What a kernel of the baseline moved; all of them where it has none of that name."""
    return next((moved.counters for moved in case.kernels if moved.kernel == kernel), case.counters)
