"""On a GPU the emulator decides about outputs that it proves undefined, and the GPU about all others.

The GPU is pretended, and leaves what the tests specify.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.grading.assignment import execution_digests, expand_cases, reference_folder
from grader.kinds import pipeline
from grader.model import FindingKind, Grade, OutputJudge, Run, Severity, Submission, Verdict
from grader.running.backends import BothOutputs, CaseRun
from grader.running.backends.deciding import by_order
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import RaceJudge, devices
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake
from tests.toolchain.gpu.pretend import GPU, Arrays, Case, PretendGpu, product

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import ItemGrade

    Behaviour = Callable[[Case, Arrays], Case]

ASSIGNMENT = bundled("tiled-matmul")
FOLDER = reference_folder(ASSIGNMENT)
SOLUTION = (FOLDER / "solution.cu").read_text(encoding="utf-8")
RACING = mistake(FOLDER / "mistakes/no_first_barrier.cu").decode()

SPEED = "speedup"
POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),), "compute-sanitizer")


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Two of the visible cases on the pretended GPU, with tools."""
    tools = Tools(find_toolchain(), PretendGpu(), shared_builds())
    whole = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=GpuBackend(POOL))
    cases = tuple(case for case in whole.cases if case.id in ("square-32", "deep"))
    return replace(whole, cases=cases, feedback=False)


def graded(plan: Plan, device: PretendGpu, source: str) -> Grade:
    """A grade on the pretended GPU."""
    tools = Tools(find_toolchain(), device, shared_builds())
    return pipeline.grade(plan, Submission("s", "k.cu", source.encode(), "d"), tools)


def verdicts(grade: Grade) -> dict[str, Verdict]:
    """The verdicts of all items."""
    return {item.result.item.id: item.result.verdict for item in grade.items}


def item_of(grade: Grade, name: str) -> ItemGrade:
    """One item."""
    return next(item for item in grade.items if item.result.item.id == name)


def wrong_at(*elements: int) -> Behaviour:
    """A GPU that leaves something else in some elements, counted in one row after the other."""

    def behave(case: Case, arrays: Arrays) -> Case:
        done = product(case, arrays)
        arrays["C"].reshape(-1)[list(elements)] += 1
        return done

    return behave


def planted(before: str, store: str = "C[row * N + col] = sum;") -> str:
    """The model solution with a race: ``before`` all else, and with another ``store`` of its result."""
    declared = SOLUTION.replace("    const int row", f"    {before}\n    const int row", 1)
    return declared.replace("C[row * N + col] = sum;", store)


UNRELATED = planted("__shared__ volatile int z; z = threadIdx.x;")
"""It races, and nothing that it computes depends on it."""

ONE_ELEMENT = planted("if (blockIdx.y == 1 && blockIdx.x + threadIdx.x + threadIdx.y == 0) C[0] = 7.0f;")
"""Two blocks store into the first element of the output, and into no other."""

ANYWHERE = planted(
    "__shared__ int z; z = threadIdx.x;", "if (z == 12345) C[0] = 1.0f; else C[row * N + col] = sum;"
)
"""A value that races decides where threads go."""

UNSET = planted("__shared__ float z[16];", "C[row * N + col] = sum + z[threadIdx.x] * 0.0f;")
"""A value that was never set reaches every element; on a GPU it may be zero."""

BEHIND = planted(
    "__shared__ float z[16]; z[threadIdx.x] = 1.0f;", "C[row * N + col] = sum + z[threadIdx.x + 1024] * 0.0f;"
)
"""A value from behind all shared arrays reaches every element; on a GPU it may be zero."""

NOT_ALL_COME = SOLUTION.replace(
    "        __syncthreads();  // the tiles", "        if (threadIdx.x < 8) __syncthreads();  // the"
)


@pytest.mark.parametrize("elements", [(), (5,), (0, 7, 100), (-1,)])
def test_a_race_costs_its_own_item_once_whatever_the_gpu_makes_of_it(
    plan: Plan, elements: tuple[int, ...]
) -> None:
    """As in a self-check; the same points each time."""
    grade = graded(plan, PretendGpu(wrong_at(*elements)), RACING)
    lost = {name for name, verdict in verdicts(grade).items() if verdict is not Verdict.PASS}
    assert lost == {"barriers", SPEED}
    assert (grade.score, grade.error) == (Fraction(75), "")


def test_what_the_gpu_made_of_an_undefined_output_is_a_remark(plan: Plan) -> None:
    """It names the case, how many elements were wrong, and the line that decides them."""
    grade = graded(plan, PretendGpu(wrong_at(5, 6, 7)), RACING)
    message = item_of(grade, "aligned").result.message
    line = item_of(grade, "barriers").result.findings[0].line
    assert "On the GPU of this run 3 of 1,024 elements are wrong in `C` in case `square-32`" in message
    assert f"the race on line {line}" in message


def test_nothing_is_remarked_where_the_gpu_agrees(plan: Plan) -> None:
    """All cases are right there, too."""
    assert "GPU" not in item_of(graded(plan, PretendGpu(), RACING), "aligned").result.message


def test_the_assignment_may_ask_for_the_gpu_s_word(plan: Plan) -> None:
    """Then its outcome decides, whatever the emulator proves."""
    asked = replace(plan, assignment=replace(ASSIGNMENT, undefined_outputs=OutputJudge.GPU))
    assert verdicts(graded(asked, PretendGpu(wrong_at(5)), RACING))["aligned"] is Verdict.FAIL
    assert verdicts(graded(asked, PretendGpu(), RACING))["aligned"] is Verdict.PASS


def test_evidence_is_gathered_again_where_another_one_decides() -> None:
    """It is gathered again on a GPU; without one the setting has no effect."""
    asked = replace(ASSIGNMENT, undefined_outputs=OutputJudge.GPU)
    cases = expand_cases(ASSIGNMENT, 1)
    differ = [
        set(execution_digests(asked, cases, timed=timed))
        ^ set(execution_digests(ASSIGNMENT, cases, timed=timed))
        for timed in (True, False)
    ]
    assert [len(pieces) for pieces in differ] == [2, 0]


def test_the_gpu_decides_where_a_race_does_not_reach_the_output(plan: Plan) -> None:
    """A race that is planted beside the computation opens no door for an output that is wrong."""
    grade = graded(plan, PretendGpu(wrong_at(-1)), UNRELATED)
    assert verdicts(grade)["aligned"] is Verdict.FAIL
    assert verdicts(graded(plan, PretendGpu(), UNRELATED))["aligned"] is Verdict.PASS


@pytest.mark.parametrize(("element", "verdict"), [(-1, Verdict.FAIL), (3, Verdict.FAIL), (0, Verdict.PASS)])
def test_the_gpu_decides_about_the_elements_that_a_race_does_not_reach(
    plan: Plan, element: int, verdict: Verdict
) -> None:
    """The emulator decides about the one element that races, and about no other."""
    grade = graded(plan, PretendGpu(wrong_at(element)), ONE_ELEMENT)
    assert verdicts(grade)["aligned"] is verdict


@pytest.mark.parametrize(
    "outcome",
    [
        {"state": "fault", "error": "cudaErrorIllegalAddress", "message": "an illegal memory access"},
        {"state": "timeout", "seconds": 5.0},
        {"state": "done", "outside": [{"array": "C", "element": -4, "count": 1}], "changed": ["A"]},
    ],
)
def test_nothing_that_a_gpu_does_counts_where_a_race_decides_what_threads_do(
    plan: Plan, outcome: Case
) -> None:
    """It may stop, hang or store anywhere, each time in another way: that is a remark, and costs nothing."""

    def behave(case: Case, arrays: Arrays) -> Case:
        return product(case, arrays) | outcome

    grade = graded(plan, PretendGpu(behave), ANYWHERE)
    lost = {name for name, verdict in verdicts(grade).items() if verdict is not Verdict.PASS}
    assert lost == {"barriers", SPEED}
    assert grade.evidence is not None
    seen = (finding for case in grade.evidence.cases for finding in case.findings)
    remarks = [finding for finding in seen if finding.kind is not FindingKind.RACE]
    assert remarks
    assert all(finding.severity is Severity.INFO for finding in remarks)
    assert all("on the GPU of this run" in finding.message for finding in remarks)


def test_a_stop_of_the_gpu_counts_where_what_threads_do_is_defined(plan: Plan) -> None:
    """A race among numbers is no reason for an illegal access."""
    fault = {"state": "fault", "error": "cudaErrorIllegalAddress", "message": "an illegal memory access"}
    grade = graded(plan, PretendGpu(lambda _case, _arrays: fault), RACING)
    assert verdicts(grade)["aligned"] is Verdict.FAIL


def test_an_unset_value_is_judged_by_the_emulator_where_it_reaches_an_output(plan: Plan) -> None:
    """On the GPU it was zero by chance, and all was right."""
    grade = graded(plan, PretendGpu(), UNSET)
    assert verdicts(grade)["aligned"] is Verdict.FAIL
    assert "0 of" in item_of(grade, "aligned").result.message


def test_a_value_from_behind_an_array_is_judged_by_the_emulator_where_it_reaches_an_output(
    plan: Plan,
) -> None:
    """On the GPU something harmless was there by chance, and all was right."""
    grade = graded(plan, PretendGpu(), BEHIND)
    line = BEHIND[: BEHIND.index("z[threadIdx.x + 1024]")].count("\n") + 1
    assert verdicts(grade)["aligned"] is Verdict.FAIL
    assert f"the access outside its array on line {line}" in item_of(grade, "aligned").result.message


def test_threads_that_miss_a_barrier_leave_everything_to_the_emulator(plan: Plan) -> None:
    """A GPU may hang there, or go on."""
    behaviours = (product, wrong_at(1), lambda _case, _arrays: {"state": "timeout", "seconds": 5.0})
    outcomes = [verdicts(graded(plan, PretendGpu(behave), NOT_ALL_COME)) for behave in behaviours]
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_the_speed_of_an_undefined_result_earns_nothing_and_is_not_measured(plan: Plan) -> None:
    """Each timed launch may leave it right or wrong."""
    device = PretendGpu()
    grade = graded(plan, device, RACING)
    runs = [json.loads(dict(job.files)["request.json"]) for job in device.jobs]
    assert all(request["timing"] is None for request in runs)
    result = item_of(grade, SPEED).result
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction(0))
    assert "the result is undefined: the race on line" in result.message


def test_where_only_the_tools_judge_races_the_gpu_decides(plan: Plan) -> None:
    """Nothing is proved by an emulator whose word does not count."""
    asked = replace(plan, backend=GpuBackend(replace(POOL, races=RaceJudge.SANITIZER)))
    assert verdicts(graded(asked, PretendGpu(wrong_at(5)), RACING))["aligned"] is Verdict.FAIL


def launched(emulated: list[float], warp_by_warp: list[float], on_device: list[float]) -> CaseRun:
    """A run of a case whose only output is of three elements."""

    def output(values: list[float]) -> Any:  # noqa: ANN401 - an output by name
        return (("C", np.array(values, np.float32)),)

    run = Run(outputs=output(on_device), warp_by_warp=output(warp_by_warp))
    return CaseRun(run, both=BothOutputs(output(emulated), output(on_device)))


EXPECTED = {"C": (np.array([1.0, 2.0, 3.0]), np.full(3, 0.01))}


@pytest.mark.parametrize(
    ("emulated", "warp_by_warp", "is_emulators"),
    [
        ([1, 2, 3], [1, 2, 9], True),
        ([1, 2, 9], [1, 2, 3], True),
        ([1, 2, 9], [1, 2, 8], True),
        ([1, 2, 9], [1, 2, 9], False),
        ([1, 2, 3], [1, 2, 3.001], False),
        ([1, 2, 3], [1, 2, 3], False),
    ],
)
def test_an_output_that_the_order_of_warps_makes_wrong_is_the_emulator_s(
    emulated: list[float],
    warp_by_warp: list[float],
    is_emulators: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A GPU runs them in another order each time; what is wrong or right in every order is the GPU's."""
    on_device = [4.0, 4.0, 4.0]
    case_run = by_order(launched(emulated, warp_by_warp, on_device), EXPECTED)
    outputs = dict(case_run.run.outputs)["C"].tolist()
    assert outputs == (np.array(emulated, np.float32).tolist() if is_emulators else on_device)
    assert case_run.both is not None
    assert (case_run.both.proved is not None) is is_emulators
