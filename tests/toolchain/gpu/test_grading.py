"""Grading with a GPU that is only pretended: what comes back decides, and our faults stay ours."""

from __future__ import annotations

import fcntl
import json
import sys
import threading
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from timing import DEFAULT_ANSWER

from grader.grading.assignment import reference_folder
from grader.kinds import estimating, pipeline
from grader.model import Estimate, FindingKind, Grade, Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import devices
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file
from tests.toolchain.gpu.pretend import GPU, Arrays, Case, PretendGpu, product

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.toolchain.sandbox import Job, Result

ASSIGNMENT = bundled("tiled-matmul")
FOLDER = reference_folder(ASSIGNMENT)
SOLUTION = FOLDER / "solution.cu"
SPEED = "speedup"


POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),), "compute-sanitizer")


@pytest.fixture(scope="module")
def cache() -> Path:
    """Builds of this module's tests."""
    return shared_builds()


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


@pytest.fixture(scope="module")
def plan(cache: Path) -> Plan:
    """The visible cases on the pretended GPU, with tools."""
    tools = Tools(find_toolchain(), PretendGpu(), cache)
    return pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=GpuBackend(POOL))


def request_of(job: Job) -> Any:  # noqa: ANN401 - JSON
    """The request that the harness is given."""
    return json.loads(dict(job.files)["request.json"])


def _graded(plan: Plan, cache: Path, device: PretendGpu, file: Path = SOLUTION) -> Grade:
    tools = Tools(find_toolchain(), device, cache)
    grade = pipeline.grade(plan, Submission("s", file.name, file.read_bytes(), "d"), tools)
    sys.stderr.write(f"our errors: {grade.error or 'none'}\n")  # pytest shows it where a test fails
    return grade


def _verdicts(grade: Grade) -> dict[str, Verdict]:
    return {item.result.item.id: item.result.verdict for item in grade.items if item.result.item.id != SPEED}


def _findings(grade: Grade, item: str) -> list[Any]:
    return [f for each in grade.items if each.result.item.id == item for f in each.result.findings]


@pytest.mark.parametrize(("behave", "problem"), [(product, ""), (lambda _c, _a: {"state": "done"}, "wrong")])
def test_speed_elsewhere_is_estimated_while_the_gpu_is_waited_for(
    plan: Plan,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    behave: Callable[[Case, Arrays], Case],
    problem: str,
) -> None:
    """Once, and nothing comes of it where the GPU shows that the kernel is wrong."""
    begun: list[Estimate] = []
    waited_for = threading.Event()

    def estimate(*_arguments: object, **_more: object) -> Estimate:
        begun.append(Estimate("h200"))
        waited_for.set()
        return begun[-1]

    class Waiting(PretendGpu):
        def run(self, job: Job) -> Result:
            assert not job.gpu or waited_for.wait(30)
            return super().run(job)

    monkeypatch.setattr(estimating, "estimate_build", estimate)
    grade = _graded(replace(plan, estimates=True), cache, Waiting(behave))
    assert len(begun) == 1
    assert grade.estimate is not None
    assert grade.estimate.problem == problem


def test_a_right_kernel_passes_with_every_witness(plan: Plan, cache: Path) -> None:
    """On the GPU by name; four tools and one run were asked for."""
    device = PretendGpu()
    grade = _graded(plan, cache, device)
    assert set(_verdicts(grade).values()) == {Verdict.PASS}
    assert (grade.backend, grade.device) == ("gpu", GPU.name)
    tools = [job.argv[job.argv.index("--tool") + 1] for job in device.jobs if "--tool" in job.argv]
    assert sorted(tools) == ["initcheck", "memcheck", "racecheck", "synccheck"]
    assert len(device.jobs) == 5


def test_outputs_are_judged_by_what_the_gpu_gave(plan: Plan, cache: Path) -> None:
    """A kernel that is right on the emulator and wrong on the GPU is wrong."""

    def off_by_one(case: Case, arrays: Arrays) -> Case:
        done = product(case, arrays)
        arrays["C"][-1, -1] += 1
        return done

    verdicts = _verdicts(_graded(plan, cache, PretendGpu(off_by_one)))
    assert (verdicts["aligned"], verdicts["edges"]) == (Verdict.FAIL, Verdict.FAIL)


def test_traffic_is_counted_by_the_emulator(plan: Plan, cache: Path) -> None:
    """The same numbers as without a GPU."""
    grade = _graded(plan, cache, PretendGpu())
    counters = {case.case.id: case.counters.global_load_bytes for case in grade.cases}
    assert counters["mp3"] == 64704


@pytest.mark.parametrize(
    ("answer", "kind", "expected"),
    [
        (
            {"state": "fault", "error": "cudaErrorIllegalAddress", "message": "an illegal memory access"},
            FindingKind.FAULT,
            "the GPU stopped the kernel: an illegal memory access (cudaErrorIllegalAddress)",
        ),
        ({"state": "timeout", "seconds": 5.0}, FindingKind.TIMEOUT, "did not end within 5 s on the GPU"),
        (
            {"state": "refused", "error": "cudaErrorInvalidValue", "message": "invalid argument"},
            FindingKind.FAULT,
            "the GPU refused the launch: invalid argument",
        ),
    ],
)
def test_what_stops_a_kernel_is_a_finding(
    plan: Plan, cache: Path, answer: Case, kind: FindingKind, expected: str
) -> None:
    """In the cases where it happened; it costs what a stop costs."""

    def stops(case: Case, arrays: Arrays) -> Case:
        return answer if case["name"] == "0" else product(case, arrays)

    grade = _graded(plan, cache, PretendGpu(stops))
    assert _verdicts(grade)["aligned"] is Verdict.FAIL
    messages = [item.result.message for item in grade.items if item.result.item.id == "aligned"]
    found = [f for item in grade.items for f in item.result.findings if f.kind is kind]
    assert expected in " ".join((*messages, *(f.message for f in found)))


def test_a_stop_on_the_gpu_costs_no_item_whose_question_the_emulator_answered(
    plan: Plan, cache: Path
) -> None:
    """It followed the kernel to its end, as it does in a self-check: races are judged, and so is memory."""

    def hangs(case: Case, arrays: Arrays) -> Case:
        return {"state": "timeout", "seconds": 5.0} if case["name"] == edge else product(case, arrays)

    edge = str(next(index for index, case in enumerate(plan.cases) if "aligned" not in case.tags))
    verdicts = _verdicts(_graded(plan, cache, PretendGpu(hangs)))
    assert [name for name, verdict in verdicts.items() if verdict is not Verdict.PASS] == ["edges"]


def test_a_hang_is_believed_only_when_the_kernel_ran_alone(plan: Plan, cache: Path) -> None:
    """It may have been kept waiting by what others ran: the second run, with the GPU locked, decides."""
    locked = []

    def waits_once(case: Case, arrays: Arrays) -> Case:
        with devices.lock_file(GPU).open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                locked.append(case["name"])
                return product(case, arrays)
        return {"state": "timeout", "seconds": 5.0}

    device = PretendGpu(waits_once)
    assert _verdicts(_graded(plan, cache, device))["aligned"] is Verdict.PASS
    assert len(locked) >= len(plan.cases)
    runs = [request for job in device.jobs if (request := request_of(job))["mode"] == "run"]
    assert [request["stop_at_hang"] for request in runs] == [True, False]


def test_tools_run_beside_the_harness_and_again_without_a_case_that_hangs(plan: Plan, cache: Path) -> None:
    """Their output of the first run is not used, because a kernel that hangs takes all their time."""

    def hangs(case: Case, arrays: Arrays) -> Case:
        return {"state": "timeout", "seconds": 5.0} if case["name"] == "2" else product(case, arrays)

    device = PretendGpu(hangs)
    grade = _graded(plan, cache, device)
    jobs = [request_of(job)["cases"] for job in device.jobs if "memcheck" in job.argv]
    names = [{case["name"].rpartition("-")[2] for case in cases} for cases in jobs]
    assert ("2" in names[0], "2" in names[-1]) == (True, False)
    assert dict(grade.witnesses)["memcheck"] == "ok"


def test_what_the_emulator_never_saw_end_is_not_launched(plan: Plan, cache: Path) -> None:
    """A kernel that hangs on a GPU keeps everybody else waiting."""
    device = PretendGpu()
    grade = _graded(plan, cache, device, mistake_file(FOLDER / "mistakes/infinite_loop.cu"))
    assert (device.jobs, _verdicts(grade)["aligned"]) == ([], Verdict.FAIL)
    assert FindingKind.TIMEOUT in {f.kind for f in _findings(grade, "aligned")}
    (speed,) = [item for item in grade.items if item.result.item.id == SPEED]
    assert speed.result.verdict is Verdict.FAIL


def test_a_write_outside_an_array_is_found_without_any_tool(plan: Plan, cache: Path) -> None:
    """The red zone shows which array and which element."""

    def writes(case: Case, arrays: Arrays) -> Case:
        outside = [{"array": "C", "element": arrays["C"].size, "count": 3}]
        return product(case, arrays) | {"outside": outside}

    grade = _graded(plan, cache, PretendGpu(writes))
    (finding, *_) = _findings(grade, "memory")
    assert (finding.kind, finding.address, finding.witnesses) == (
        FindingKind.OUT_OF_BOUNDS,
        "C[4096]",
        ("gpu",),
    )
    assert _verdicts(grade)["memory"] is Verdict.FAIL


def test_a_changed_input_fails_the_case(plan: Plan, cache: Path) -> None:
    """A kernel that changes an input fails the case even if its output is right."""
    device = PretendGpu(lambda case, arrays: product(case, arrays) | {"changed": ["A"]})
    assert _verdicts(_graded(plan, cache, device))["aligned"] is Verdict.FAIL


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        ({"result.json": b"not json"}, "cannot be read"),
        ({"result.json": b'{"format": 1, "error": "no device"}'}, "no device"),
        ({"out/0-C.npy": b"\x93NUMPY"}, "out/0-C.npy"),
    ],
)
def test_an_answer_that_cannot_be_believed_is_our_error(
    plan: Plan, cache: Path, forged: dict[str, bytes], reason: str
) -> None:
    """The grade is an error, and no student gets a zero for it."""
    device = PretendGpu(forge=lambda kind, files: files | forged if kind == "run" else files)
    grade = _graded(plan, cache, device)
    assert (grade.verdict, _verdicts(grade)["aligned"]) == (Verdict.ERROR, Verdict.ERROR)
    assert reason in grade.error


def test_a_sick_gpu_is_taken_out_of_use(plan: Plan, cache: Path) -> None:
    """It is our error, and nothing more is tried on it."""
    first = _graded(plan, cache, PretendGpu(health="sick: the probe did not end"))
    assert (first.verdict, devices.is_sick(GPU)) == (
        Verdict.ERROR,
        "the GPU did not recover: sick: the probe did not end",
    )
    device = PretendGpu()
    second = _graded(plan, cache, device)
    assert (second.verdict, device.jobs) == (Verdict.ERROR, [])
    assert "no GPU is fit for use" in second.error


def test_where_a_gpu_is_sick_the_next_one_does_it(
    plan: Plan, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is tried again elsewhere, and the sick one is left alone from then on."""
    other = replace(GPU, uuid="GPU-22222222-0000-4000-8000-000000000000", name="Another GPU")

    class OneIsSick(PretendGpu):
        """Only one of its GPUs recovers."""

        def run(self, job: Job) -> Result:
            """As on any other."""
            self.health = "ok" if job.gpu == other.uuid else "sick: no answer"
            return super().run(job)

    two = replace(plan, backend=GpuBackend(replace(POOL, gpus=(GPU, other))))
    monkeypatch.setattr(
        "grader.toolchain.gpu.pool.time.monotonic_ns", lambda: 0
    )  # begins with the first of them
    for _ in range(2):
        grade = _graded(two, cache, OneIsSick())
        assert (grade.device, grade.error) == ("Another GPU", "")
    assert devices.is_sick(GPU)
    assert not devices.is_sick(other)


def test_a_tool_that_cannot_be_believed_leaves_the_word_to_the_emulator(plan: Plan, cache: Path) -> None:
    """The tool is tried once more, and the grade records why it gave no verdict."""
    device = PretendGpu(
        forge=lambda kind, files: {
            k: v for k, v in files.items() if not k.endswith(".log") or kind != "racecheck"
        }
    )
    grade = _graded(plan, cache, device)
    assert _verdicts(grade)["barriers"] is Verdict.PASS
    assert sum("racecheck" in job.argv for job in device.jobs) == 2
    assert "no log" in dict(grade.witnesses)["racecheck"]


def test_a_race_that_the_tools_do_not_see_still_counts(plan: Plan, cache: Path) -> None:
    """The emulator saw it."""
    grade = _graded(plan, cache, PretendGpu(), mistake_file(FOLDER / "mistakes/no_second_barrier.cu"))
    assert _verdicts(grade)["barriers"] is Verdict.FAIL
    assert _findings(grade, "barriers")[0].witnesses == ("emulator",)


def test_without_a_timing_answer_the_speedup_is_our_error(plan: Plan, cache: Path) -> None:
    """The rest of the grade stands beside it."""
    grade = _graded(plan, cache, PretendGpu())
    (speed,) = [item for item in grade.items if item.result.item.id == SPEED]
    assert (speed.result.verdict, speed.points) == (Verdict.ERROR, Fraction(0))


def test_a_kernel_that_breaks_off_while_it_is_timed_loses_the_speedup(plan: Plan, cache: Path) -> None:
    """The harness's answer about the rounds is read with the rules that the rounds were made by."""
    names = ("round", "kernel", "set", "ms", "digest", "unwritten", "inputs", "tainted")
    answer = {
        **DEFAULT_ANSWER,
        "rounds": 0,
        "columns": {name: [] for name in names},
        "clocks": [],
        "outputs": [],
        "stopped": "fault",
        "fault": "student: cudaErrorIllegalAddress: an illegal memory access was encountered",
    }
    grade = _graded(plan, cache, PretendGpu(timing=answer))
    (speed,) = [item for item in grade.items if item.result.item.id == SPEED]
    assert speed.result.verdict is Verdict.FAIL
    assert "the GPU stopped the kernel while it was timed" in speed.result.message


def test_nothing_of_one_submission_is_given_to_another(plan: Plan, cache: Path) -> None:
    """A job holds its own kernel and the staff's, and no source text."""
    device = PretendGpu()
    _graded(plan, cache, device)
    for job in device.jobs:
        names = {name for name, _ in job.files}
        assert not [name for name in names if name.endswith((".cu", ".yaml", ".ptx"))]
        assert job.gpu == GPU.uuid
