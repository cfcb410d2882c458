"""The stages of an assignment that asks for a function of the host.

A program of ours calls the function once for each case, with arrays that the case's seed draws.

    Case ─arguments▶ arrays in device memory, or guarded memory of the host ─run▶ arrays as they were left
                                                             ─compared like a kernel's▶ CaseEvidence

Device memory is filled and read here where there is no GPU: what the program writes anywhere counts nothing
then. Else the arrays come back as files.

Further calls say who has computed a right result (`computed_on_host`) and explain a wrong one (`reordering`,
`smaller_calls`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.explaining import StillPossible, agree_on_mistakes
from grader.explaining.first_cause_of_host import leaves_no_result
from grader.grading.arguments import make_arguments
from grader.grading.assignment import reference_folder
from grader.grading.checks.program_cases import ended_by_itself, last_lines_of_stderr
from grader.grading.oracle import array_types, draw_inputs, in_case, load_oracle
from grader.kinds.comparing.arrays import compared as compared_with_oracle
from grader.kinds.comparing.arrays import verify
from grader.kinds.comparing.outputs import Launched, compared
from grader.kinds.function.calling import CallLoggingTask, FurtherCalls, arrays_left
from grader.kinds.function.computed_on_host import with_host_origin
from grader.kinds.function.recording import (
    device_word,
    file_of,
    host_word,
    left_file,
    loaded_word,
    start_on_host,
    value_word,
)
from grader.kinds.function.reordering import with_order
from grader.kinds.function.smaller_calls import SmallerCalls
from grader.kinds.function.timing import is_right, timed, with_zeros
from grader.kinds.function.timing import staff as timing_of_staff
from grader.kinds.host_runs.baselines import with_baselines
from grader.kinds.host_runs.running import Given, ending, nothing, run
from grader.kinds.timing import is_estimated, untimed
from grader.model import (
    Argument,
    Build,
    CaseEvidence,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    Run,
    Severity,
    Visibility,
)
from grader.model.messages import current, worded
from grader.running.backends import CaseRun
from grader.toolchain.nvcc import build_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle
    from grader.kinds.function.calling import LoggedCall
    from grader.kinds.host_runs.on_emulator import EmulatedDevice
    from grader.kinds.host_runs.running import Task
    from grader.kinds.plan import Plan
    from grader.model import Assignment, Case, Named, ProgramRun, Submission, Timing
    from grader.toolchain.nvcc import Tools

    Sizes = tuple[int, ...]

__all__ = ["gather", "nothing", "plan"]

DEVICE_FAILED = 70
"""The exit status of the calling program where the device is broken after it (``grader_function.hpp``)."""

_UNCOUNTED = "what the launches of a function move is counted by the device that they ran on"


def plan(drawn: Plan, tools: Tools) -> Plan:
    """Run and time the staff's functions; raises UsageError or OurError where there are no inputs."""
    assignment = drawn.assignment
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.function))
    cases = drawn.cases
    for case in {case.inputs: case for case in cases}.values():
        _arguments(assignment, Build(ok=True), case, oracle)
    verify(assignment, oracle, cases)
    timed = replace(drawn, timing=timing_of_staff(assignment, oracle, tools, drawn.backend))
    return with_baselines(timed, tools, partial(task_of, timed))


def gather(plan: Plan, submission: Submission, built: Build, tools: Tools) -> tuple[Evidence, Named[float]]:
    """All that can be known of a function; a failure of ours is in the records, case by case."""
    if not is_estimated(plan, built):
        return _gathered(plan, submission, built, tools)
    from grader.kinds.estimating import with_estimate  # noqa: PLC0415 - most submissions of a class do without

    gathered = partial(_gathered, plan, submission, built, tools)
    on_gpu = plan.backend.pool is not None
    emulated = build_program(tools, submission, plan.assignment.function) if on_gpu else built
    return with_estimate(
        plan, submission, emulated, tools, gathered, lambda evidence: is_right(evidence.cases)
    )


def _gathered(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    meanwhile: Callable[[], object] | None = None,  # noqa: ARG001 - each call takes its turn
) -> tuple[Evidence, Named[float]]:
    """All that can be known of it but how fast it would be elsewhere."""
    assignment = plan.assignment
    graded, oracle = task_of(plan, built), _oracle(assignment)
    task = CallLoggingTask(assignment.function, lambda _: (graded, oracle))
    evidence = run(plan, submission, built, tools, task)
    further = FurtherCalls(plan, submission, built, tools, _Calls, oracle)
    evidence = _with_host_origin(further, evidence, task.calls)
    evidence = replace(evidence, timing=_timing(plan, submission, tools, evidence))
    if not plan.feedback:
        return evidence, ()
    with_names = agree_on_mistakes(assignment, built, evidence.cases)
    if plan.backend.pool is None and evidence.build.ok:
        evidence = replace(evidence, build=with_order(further, evidence.cases))
    cases = tuple(map(_explained_by_host, with_names))
    if plan.backend.pool is None:  # else a call takes its turn on a GPU
        cases = SmallerCalls(further).with_smallest(cases)
    return replace(evidence, cases=cases), ()


def _with_host_origin(further: FurtherCalls, evidence: Evidence, calls: Mapping[str, LoggedCall]) -> Evidence:
    """The evidence, with the cases marked that the host has computed, or may have."""
    plan, emulated = further.plan, further.built
    if plan.backend.pool is not None:
        emulated = build_program(further.tools, further.submission, plan.assignment.function)
    if not (emulated.ok and emulated.ptx):
        return evidence
    emulating = replace(further, built=emulated)
    return replace(evidence, cases=with_host_origin(emulating, evidence.cases, calls))


def task_of(plan: Plan, built: Build) -> Task:
    """Task for runs of a build."""
    possible = StillPossible(plan.assignment) if plan.feedback else None
    return _Calls(plan, built, _oracle(plan.assignment), possible=possible)


def _oracle(assignment: Assignment) -> Oracle:
    return load_oracle(reference_folder(assignment), array_types(assignment.function))


def _timing(plan: Plan, submission: Submission, tools: Tools, evidence: Evidence) -> Timing | None:
    """Speed of the function beside the staff's; one that is wrong in some case is not timed."""
    gpus = plan.backend.pool
    if plan.timing is None or gpus is None:
        return None
    emulated = build_program(tools, submission, plan.assignment.function)
    if not (emulated.ok and is_right(evidence.cases)):
        return untimed(plan)
    return timed(plan, submission, emulated, tools, _oracle(plan.assignment), gpus)


def _arguments(assignment: Assignment, built: Build, case: Case, oracle: Oracle) -> tuple[Argument, ...]:
    """Arguments of the function in a case, with the names that the student's file has for them."""
    interface = assignment.function
    arrays = draw_inputs(oracle, case)
    with in_case(case.id):
        drawn = make_arguments(interface, dict(case.shape), arrays, {})
    names = dict(built.student_names)
    with_names = (replace(argument, student_name=names.get(argument.name, "")) for argument in drawn)
    return tuple(map(with_zeros, with_names)) if interface.outputs == "zeros" else tuple(with_names)


@frozen
class _Calls:
    """A call for each case: what the function is given, and what it left."""

    plan: Plan
    built: Build
    oracle: Oracle
    order: tuple[int, ...] = ()
    """Index, for each parameter, of its argument among those of the hand-out, if in another order."""
    possible: StillPossible | None = None
    """The mistakes that are looked for in wrong outputs; without it none are."""

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """A word for each parameter, and the files that arrays come from."""
        interface = self.plan.assignment.function
        words, files, left_files = [], [], []
        for index, argument in enumerate(_arguments(self.plan.assignment, self.built, case, self.oracle)):
            if argument.direction == "value":
                words.append(value_word(argument))
                continue
            if interface.pointers == "device" and device is not None:
                undefined = argument.direction == "out" and interface.outputs == "poison"
                words.append(device_word(device.hold(argument, undefined=undefined)))
                continue
            content = np.ascontiguousarray(argument.value).tobytes()
            on_host = interface.pointers == "host"
            if on_host and device is not None:
                device.hold_on_host(argument, start_on_host(index, len(content)))
            words.append((host_word if on_host else loaded_word)(index, len(content)))
            files.append((file_of(index), content))
            left_files.append(left_file(file_of(index)))
        in_order = [words[position] for position in self.order] or words
        return Given(tuple(in_order), tuple(files), tuple(left_files))

    def judged(
        self,
        case: Case,
        run: ProgramRun,
        findings_of_device: tuple[Finding, ...],
        device: EmulatedDevice | None,
    ) -> CaseEvidence:
        """Evidence: the function's results, compared with what the oracle computes."""
        assignment = self.plan.assignment
        arguments = _arguments(assignment, self.built, case, self.oracle)
        contents = arrays_left(assignment.function, arguments, run, device)
        launches, ran = (device.watched, device.ran) if device is not None else (None, ())
        of_launches, missing = compared_with_oracle(assignment, case, run, self.oracle, launches, ran)
        if contents is None:
            findings = (
                *_why_cut_short(case, run, findings_of_device, device),
                *findings_of_device,
                *missing,
            )
            return CaseEvidence(
                case, of_launches, findings, seconds=run.seconds, completed=False, program=run
            )
        arrays = [argument for argument in arguments if argument.name in contents]
        changed = [a.name for a in arrays if a.direction == "in" and _differs(a, contents[a.name])]
        outputs = tuple((a.name, contents[a.name]) for a in arrays if a.direction != "in")
        finished = Run(outputs, tuple(changed), findings_of_device, seconds=run.seconds)
        case_run = CaseRun(finished, uncounted=_UNCOUNTED)
        launch = device.only_launch if device else None
        launched = Launched(case, arguments, (), case_run, launch, copied_back=device is not None)
        evidence = compared(launched, self.oracle, self.possible)
        return replace(
            evidence,
            comparisons=(*evidence.comparisons, *of_launches),
            findings=(*evidence.findings, *missing),
            program=run,
        )


def _differs(argument: Argument, contents: NDArray[Any]) -> bool:
    return np.ascontiguousarray(argument.value).tobytes() != contents.tobytes()


def _why_cut_short(
    case: Case, run: ProgramRun, findings_of_device: tuple[Finding, ...], device: EmulatedDevice | None
) -> tuple[Finding, ...]:
    """Findings why the function did not return, or returned with the device broken.

    The last mistake of the host is why it crashed, and the first is why it gave up. How it ends once a launch
    was left out, or at a call that is not supported here, is not its doing.
    """
    mistakes = [f for f in findings_of_device if f.kind is FindingKind.HOST and f.severity is Severity.ERROR]
    gave_up = ended_by_itself(run)
    if mistakes and run.ending in ("exit", "signal") and run.returncode != DEVICE_FAILED:
        cause = mistakes[0] if gave_up else mistakes[-1]
        return (replace(cause, kind=FindingKind.FAULT, hazard=run.ending),)
    if device is not None and (device.left_out_a_launch or device.unsupported):
        return ()
    if not gave_up:
        return ending(case, run, reason_alone=True)  # that the run was cut short is what the check says
    if run.returncode == DEVICE_FAILED:
        if device is not None and findings_of_device:  # they say what broke it
            return ()
        words = (last_lines_of_stderr(run) or ("an error",))[-1]
        finding = Finding(FindingKind.FAULT, code=FindingCode.DEVICE_BROKEN, details=(("error", words),))
    else:
        code, details = FindingCode.FUNCTION_ENDED_PROGRAM, (("status", run.returncode),)
        finding = Finding(FindingKind.FAULT, hazard=run.ending, code=code, details=details)
    return (replace(worded(finding), case=case.id),)


def _says_more_than_elements(finding: Finding) -> bool:
    """True if the finding says more of a wrong result than its elements do, as all errors of the host do."""
    return finding.code is FindingCode.HOST_LAUNCH_REFUSED or leaves_no_result(finding)


def _explained_by_host(case: CaseEvidence) -> CaseEvidence:
    """A case with wrong outputs, each explained by a mistake of the host where there is one.

    The elements of a result that never came back look like those of a kernel that stores nothing. Messages
    about a hidden case must not reveal sizes.
    """
    mistakes = (
        f
        for f in case.findings
        if f.kind is FindingKind.HOST and (f.severity is Severity.ERROR or _says_more_than_elements(f))
    )
    cause = next(mistakes, None)
    if case.launches == 0 and cause is None:
        return replace(case, comparisons=())
    if cause is None:
        return case
    text = current().worded(cause).message if case.case.visibility is Visibility.VISIBLE else ""
    comparisons = (
        replace(c, mistake="", explanation=text, hint="", fitting=()) if c.wrong else c
        for c in case.comparisons
    )
    return replace(case, comparisons=tuple(comparisons))
