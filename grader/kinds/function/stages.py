"""The stages of an assignment that asks for a function of the host.

A program of ours calls the function once for each case, with arrays that the case's seed draws.

    Case ─arguments▶ arrays in device memory, or guarded memory of the host ─run▶ arrays as they were left
                                                             ─compared like a kernel's▶ CaseEvidence

Device memory is filled and read here where there is no GPU: what the program writes anywhere counts nothing
then. Else the arrays come back as files.

The smallest shape at which a wrong function still fails is looked for by calling it again, as for a kernel
(`grader.kinds.kernel.further_runs`), but each attempt is a run in the sandbox: attempts are few, and those
that begin at one shape share a stage. It is a courtesy: it changes no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.arguments import make_arguments
from grader.assignment import reference_folder
from grader.backends import CaseRun
from grader.checks.program_cases import ended_by_itself, last_lines_of_stderr
from grader.device.observation import Observation
from grader.diagnosis import StillPossible, agree_on_mistakes
from grader.diagnosis.first_cause_of_host import leaves_no_result
from grader.errors import log_swallowed
from grader.kinds.function.of_host import told_of_host
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
from grader.kinds.function.timing import is_right, timed, with_zeros
from grader.kinds.function.timing import staff as timing_of_staff
from grader.kinds.kernel.planning import is_estimated
from grader.kinds.kernel.stages import Launched, compared
from grader.kinds.kernel.timing import untimed
from grader.kinds.program.arrays import compared as compared_with_oracle
from grader.kinds.program.arrays import verify
from grader.kinds.program.running import Given, ending, nothing, run, run_cases
from grader.kinds.program.stages import with_baselines
from grader.messages import current, worded
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
from grader.nvcc import build_program
from grader.oracle import array_types, draw_inputs, in_case, load_oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.kinds.program.on_emulator import EmulatedDevice
    from grader.kinds.program.running import Task
    from grader.model import Assignment, Case, ExampleArray, Named, ProgramRun, Submission, Timing
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

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
    evidence = run(plan, submission, built, tools, task_of(plan, built))
    evidence = _told_of_host(plan, submission, built, tools, evidence)
    evidence = replace(evidence, timing=_timing(plan, submission, tools, evidence))
    if not plan.feedback:
        return evidence, ()
    with_names = agree_on_mistakes(assignment, built, evidence.cases)
    if plan.backend.pool is None and evidence.build.ok:
        task = partial(_Calls, plan, built, _oracle(assignment))
        remarked = with_order(plan, submission, built, tools, evidence.cases, task)
        evidence = replace(evidence, build=remarked)
    cases = tuple(map(_explained_by_host, with_names))
    if plan.backend.pool is None:  # else a call takes its turn on a GPU
        cases = SmallerCalls(plan, submission, built, tools, task_of).with_smallest(cases)
    return replace(evidence, cases=cases), ()


def _told_of_host(
    plan: Plan, submission: Submission, built: Build, tools: Tools, evidence: Evidence
) -> Evidence:
    """The evidence, with the cases marked that the host has computed."""
    on_gpu = plan.backend.pool is not None
    emulated = build_program(tools, submission, plan.assignment.function) if on_gpu else built
    if not (emulated.ok and emulated.ptx):
        return evidence
    task, oracle = task_of(plan, emulated), _oracle(plan.assignment)
    cases = told_of_host(plan, submission, emulated, tools, evidence.cases, task, oracle)
    return replace(evidence, cases=cases)


def task_of(plan: Plan, built: Build) -> Task:
    """What runs of a build are for."""
    possible = StillPossible(plan.assignment) if plan.feedback else None
    return _Calls(plan, built, _oracle(plan.assignment), possible=possible)


def _oracle(assignment: Assignment) -> Oracle:
    return load_oracle(reference_folder(assignment), array_types(assignment.function))


def _timing(plan: Plan, submission: Submission, tools: Tools, evidence: Evidence) -> Timing | None:
    """How fast the function is beside the staff's; one that is wrong somewhere is not timed."""
    gpus = plan.backend.pool
    if plan.timing is None or gpus is None:
        return None
    emulated = build_program(tools, submission, plan.assignment.function)
    if not (emulated.ok and is_right(evidence.cases)):
        return untimed(plan)
    return timed(plan, submission, emulated, tools, _oracle(plan.assignment), gpus)


def _arguments(assignment: Assignment, built: Build, case: Case, oracle: Oracle) -> tuple[Argument, ...]:
    """What the function is given in a case, with the names that the student's file has for it."""
    interface = assignment.function
    arrays = draw_inputs(oracle, case)
    with in_case(case.id):
        drawn = make_arguments(interface, dict(case.shape), arrays, {})
    names = dict(built.student_names)
    with_names = (replace(argument, student_name=names.get(argument.name, "")) for argument in drawn)
    return tuple(map(with_zeros, with_names)) if interface.outputs == "zeros" else tuple(with_names)


@dataclass(frozen=True, slots=True)
class _Calls:
    """A call for each case: what the function is given, and what it left."""

    plan: Plan
    built: Build
    oracle: Oracle
    order: tuple[int, ...] = ()
    """For each parameter the place of what it is given among those of the hand-out, if in another order."""
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
        """What the function left, against what the oracle computes."""
        assignment = self.plan.assignment
        arguments = _arguments(assignment, self.built, case, self.oracle)
        contents = self._left(arguments, run, device)
        launches, ran = (device.seen, device.ran) if device is not None else (None, ())
        of_launches, missing = compared_with_oracle(assignment, case, run, self.oracle, launches, ran)
        if contents is None:
            findings = (
                *_why_cut_short(case, run, findings_of_device, emulated=device is not None),
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

    def _left(
        self, arguments: tuple[Argument, ...], run: ProgramRun, device: EmulatedDevice | None
    ) -> dict[str, NDArray[Any]] | None:
        """The arrays as the function left them; None where it did not return."""
        if not ended_by_itself(run) or run.returncode != 0:
            return None
        in_device = device is not None and self.plan.assignment.function.pointers == "device"
        files, contents = dict(run.files), {}
        for index, argument in enumerate(arguments):
            if argument.direction == "value":
                continue
            if in_device and device is not None:
                contents[argument.name] = device.held(argument)
                continue
            like = np.asarray(argument.value)
            content = files.get(left_file(file_of(index)), b"")
            if len(content) != like.nbytes:
                return None
            contents[argument.name] = np.frombuffer(content, like.dtype).reshape(like.shape)
        return contents


def _differs(argument: Argument, contents: NDArray[Any]) -> bool:
    return np.ascontiguousarray(argument.value).tobytes() != contents.tobytes()


def _why_cut_short(
    case: Case, run: ProgramRun, findings_of_device: tuple[Finding, ...], *, emulated: bool
) -> tuple[Finding, ...]:
    """Why the function did not return, or returned with the device broken.

    What the host did wrong last is why it crashed, and what it did wrong first why it gave up.
    """
    mistakes = [f for f in findings_of_device if f.kind is FindingKind.HOST and f.severity is Severity.ERROR]
    gave_up = ended_by_itself(run)
    if mistakes and run.ending in ("exit", "signal") and run.returncode != DEVICE_FAILED:
        cause = mistakes[0] if gave_up else mistakes[-1]
        return (replace(cause, kind=FindingKind.FAULT, hazard=run.ending),)
    if not gave_up:
        return ending(case, run, reason_alone=True)  # that the run was cut short is what the check says
    if run.returncode == DEVICE_FAILED:
        if emulated and findings_of_device:  # they say what broke it
            return ()
        words = (last_lines_of_stderr(run) or ("an error",))[-1]
        finding = Finding(FindingKind.FAULT, code=FindingCode.DEVICE_BROKEN, details=(("error", words),))
    else:
        code, details = FindingCode.FUNCTION_ENDED_PROGRAM, (("status", run.returncode),)
        finding = Finding(FindingKind.FAULT, hazard=run.ending, code=code, details=details)
    return (replace(worded(finding), case=case.id),)


def _says_more_than_elements(finding: Finding) -> bool:
    """Whether it says more of a wrong result than its elements do, as do all errors of the host."""
    return finding.code is FindingCode.HOST_LAUNCH_REFUSED or leaves_no_result(finding)


def _explained_by_host(case: CaseEvidence) -> CaseEvidence:
    """A case with wrong outputs, each explained by what the host did wrong where it did.

    The elements of a result that never came back look like those of a kernel that stores nothing. What is
    said of a hidden case must not tell sizes.
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


CALLS = 48
"""Calls of the function that all attempts for one submission may take together."""

SECONDS, EMULATOR_SECONDS = 1.0, 0.2
"""What each of them may take: smaller shapes take less than the case."""


@dataclass(eq=False, slots=True)
class SmallerCalls:
    """Calls of one submission's function at smaller shapes than those of its cases."""

    plan: Plan
    submission: Submission
    built: Build
    tools: Tools
    task: Callable[[Plan, Build], Task]
    left: int = CALLS
    smallest: dict[tuple[str, str], Named[int]] = field(default_factory=dict)
    """The smallest shapes so far, by kind of inputs and mistake."""
    examples: dict[tuple[str, Named[int]], tuple[ExampleArray, ...]] = field(default_factory=dict)
    """The numbers of the calls that failed, by kind of inputs and shape."""

    def with_smallest(self, cases: tuple[CaseEvidence, ...]) -> tuple[CaseEvidence, ...]:
        """The cases, those that are visible and wrong with the smallest shape that fails."""
        try:
            return tuple(self._with_smallest(case) if _is_shown(case) else case for case in cases)
        except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
            log_swallowed("calling a function at a smaller shape")
            return cases

    def _with_smallest(self, case: CaseEvidence) -> CaseEvidence:
        smallest = self._smallest(case)
        return replace(
            case, smallest=smallest, example=self.examples.get((case.case.inputs, smallest), case.example)
        )

    def _smallest(self, evidence: CaseEvidence) -> Named[int]:
        """The smallest shape found to fail; empty where none is smaller than the case's own."""
        case, mistake = evidence.case, next(c.mistake for c in evidence.comparisons if c.wrong)
        sizes = tuple(size for _, size in case.shape)
        before = self.smallest.get((case.inputs, mistake))
        if before is not None and all(size <= at for (_, size), at in zip(before, sizes, strict=True)):
            return before if before != case.shape else ()
        smaller = self._shrunk(case, sizes)
        shape = tuple((name, size) for (name, _), size in zip(case.shape, smaller, strict=True))
        self.smallest[case.inputs, mistake] = shape
        return shape if smaller != sizes else ()

    def _shrunk(self, case: Case, sizes: Sizes) -> Sizes:
        """Sizes none of which can be made smaller by a step, as far as the calls last."""
        tried = {sizes}
        while True:
            attempts = [smaller for smaller in dict.fromkeys(_smaller(sizes)) if smaller not in tried]
            attempts = attempts[: self.left]
            if not attempts:
                return sizes
            tried.update(attempts)
            failing = self._failing(case, attempts)
            if not failing:
                return sizes
            sizes = failing[0]

    def _failing(self, case: Case, attempts: list[Sizes]) -> list[Sizes]:
        """The shapes of those attempted at which an output is wrong; one that cannot be called is none."""
        self.left -= len(attempts)
        cases = tuple(
            replace(case, id=f"smaller-{number}", shape=_shape(case, sizes))
            for number, sizes in enumerate(attempts)
        )
        interface = self.plan.assignment.function
        program = replace(interface.program, seconds=SECONDS, emulator_seconds=EMULATOR_SECONDS)
        assignment = replace(self.plan.assignment, interface=replace(interface, program=program))
        plan = replace(self.plan, assignment=assignment, cases=cases, feedback=False)
        task = self.task(plan, self.built)
        observation = Observation(count_only=True)
        ran = run_cases(plan, self.submission, self.built, self.tools, task, observation=observation)
        failing = [pair for pair in zip(attempts, ran.cases, strict=True) if _is_wrong(pair[1])]
        self.examples |= {(case.inputs, one.case.shape): one.example for _, one in failing}
        return [sizes for sizes, _ in failing]


def _shape(case: Case, sizes: Sizes) -> Named[int]:
    return tuple((name, size) for (name, _), size in zip(case.shape, sizes, strict=True))


def _is_shown(case: CaseEvidence) -> bool:
    """Whether a smaller shape is worth looking for: nothing that the host did explains the result."""
    of_host = any(c.wrong and c.explanation and not c.mistake for c in case.comparisons)
    return case.case.visibility is Visibility.VISIBLE and _is_wrong(case) and not of_host


def _is_wrong(case: CaseEvidence) -> bool:
    """Whether a call came to its end and left something wrong that a kernel computed."""
    computed = case.completed and not case.error and not case.too_much_work and case.launches != 0
    return computed and any(comparison.wrong for comparison in case.comparisons)


def _smaller(sizes: Sizes) -> Iterator[Sizes]:
    """Shapes with one size smaller, the smallest sizes first."""
    for axis, size in enumerate(sizes):
        for less in sorted({1, size // 4, size // 2, size - size // 4, size - 1}):
            if 0 < less < size:
                yield (*sizes[:axis], less, *sizes[axis + 1 :])
