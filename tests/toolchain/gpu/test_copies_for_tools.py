"""Tools get copies of a kernel, a name for each launch, only where they have something to report."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

from grader.grading.assignment import reference_folder
from grader.kinds import pipeline
from grader.model import Argument, Launch, Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import RaceJudge, devices, sanitizer, tool_runs
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.gpu.request import ANSWER, DeviceCase, JobLaunches
from grader.toolchain.gpu.tool_batches import ran_silently
from grader.toolchain.nvcc import Tools, find_toolchain
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.toolchain.gpu.captured import access, document, log
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Finding, Grade

Run: TypeAlias = Callable[[Sequence[JobLaunches]], bool]

ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = (reference_folder(ASSIGNMENT) / "solution.cu").read_bytes()
POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),), "compute-sanitizer")


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


def graded(device: PretendGpu, source: bytes, on: GpuPool = POOL) -> Grade:
    """The grade of a file on a device that is pretended."""
    tools = Tools(find_toolchain(), device, shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=GpuBackend(on))
    return pipeline.grade(plan, Submission("s", "matmul.cu", source, "d"), tools)


def runs(device: PretendGpu) -> list[tuple[str, bool]]:
    """The tools that ran, and whether each launch had a kernel with a name of its own."""
    found = []
    for job in device.jobs:
        if "--tool" in job.argv:
            cases = json.loads(dict(job.files)["request.json"])["cases"]
            named = {case["entry"] for case in cases}
            assert named == {None} or len(named) == len(cases)
            found.append((job.argv[job.argv.index("--tool") + 1], named != {None}))
    return sorted(found)


def test_a_kernel_without_findings_is_not_copied() -> None:
    """All tools clear it as it is."""
    device = PretendGpu()
    grade = graded(device, SOLUTION)
    assert runs(device) == [(tool, False) for tool in ("initcheck", "memcheck", "racecheck", "synccheck")]
    assert set(dict(grade.witnesses).values()) == {"ok"}


def test_a_kernel_is_copied_at_once_for_the_tool_that_will_accuse_it() -> None:
    """No time is lost: its barriers are missing, which racecheck sees, and no other."""
    device = PretendGpu()
    graded(device, SOLUTION.replace(b"__syncthreads();", b""))
    tools = ("initcheck", "memcheck", "racecheck", "synccheck")
    assert runs(device) == [(tool, tool == "racecheck") for tool in tools]


REACHES_OUT = SOLUTION.replace(b"row < M && col < N", b"row < M + 1 && col < N")


def queues_of(monkeypatch: pytest.MonkeyPatch, source: bytes, on: GpuPool = POOL) -> dict[str, Path | None]:
    """In which queue a file waits for each tool that is expected to be silent."""
    queues: dict[str, Path | None] = {}

    def queue(self: Any, tool: str) -> Path | None:  # noqa: ANN401 - its runs
        queues[tool] = own_queue(self, tool)
        return queues[tool]

    with monkeypatch.context() as patched:
        own_queue = tool_runs.ToolRuns._queue
        patched.setattr(tool_runs.ToolRuns, "_queue", queue)
        graded(PretendGpu(), source, on)
    return queues


def test_a_kernel_that_reaches_out_of_its_arrays_stays_among_such_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It could reach a neighbour's; where a tool's silence decides something it has a run of its own."""
    clean, astray = queues_of(monkeypatch, SOLUTION), queues_of(monkeypatch, REACHES_OUT)
    assert sorted(clean) == ["initcheck", "memcheck", "racecheck", "synccheck"]
    assert sorted(astray) == ["racecheck", "synccheck"]
    assert None not in (*clean.values(), *astray.values())
    assert not {*clean.values()} & {*astray.values()}
    alone_judged = replace(POOL, races=RaceJudge.SANITIZER)
    assert queues_of(monkeypatch, REACHES_OUT, alone_judged) == {"racecheck": None, "synccheck": None}


def test_what_the_emulator_saw_out_of_bounds_is_copied_at_once_for_those_who_will_see_it() -> None:
    """Memory beside an array was never written, so initcheck reports it as well."""
    device = PretendGpu()
    graded(device, REACHES_OUT)
    assert runs(device) == [
        ("initcheck", True),
        ("memcheck", True),
        ("racecheck", False),
        ("synccheck", False),
    ]


def cases_under(device: PretendGpu, tool: str) -> dict[str, list[int]]:
    """The numbers of the cases that a tool's run launched, by the build."""
    (job,) = (json.loads(dict(job.files)["request.json"]) for job in device.jobs if tool in job.argv)
    numbers: dict[str, list[int]] = {"student": [], "graded": []}
    for case in job["cases"]:
        number, build = case["name"].rpartition("-")[2], case["kernel"].rpartition("-")[2]
        numbers[build].append(int(number) % sanitizer.OF_GRADED_BUILD)
    return numbers


def test_a_tool_that_bears_out_the_emulator_gets_few_of_the_cases_that_it_accuses() -> None:
    """The first of them is among these, in both builds."""
    device = PretendGpu()
    grade = graded(device, REACHES_OUT)
    (memory,) = [item.result for item in grade.items if item.result.item.id == "memory"]
    numbers = {case.case.id: number for number, case in enumerate(grade.cases)}
    accused = [numbers[finding.case] for finding in memory.findings if finding.case]
    launched = cases_under(device, "memcheck")
    assert launched["student"] == launched["graded"]
    assert 1 < len(launched["graded"]) <= tool_runs.MOST_BORNE_OUT < len(grade.cases)
    assert accused[0] in launched["graded"]


def test_tools_of_races_look_at_few_cases_and_those_whose_silence_counts_at_all() -> None:
    """Beside the emulator the word of the former costs nothing."""
    device = PretendGpu()
    graded(device, SOLUTION)
    launched = {tool: len(cases_under(device, tool)["graded"]) for tool in sanitizer.TOOLS}
    assert launched["racecheck"] == launched["synccheck"] <= tool_runs.MOST_BORNE_OUT
    assert launched["memcheck"] == launched["initcheck"] > tool_runs.MOST_BORNE_OUT


@pytest.mark.parametrize("source", [SOLUTION, SOLUTION.replace(b"__syncthreads();", b"")])
def test_where_only_its_word_counts_a_tool_gets_all_cases(source: bytes) -> None:
    """The emulator may have seen races or none; its verdict on them does not count."""
    device = PretendGpu()
    graded(device, source, replace(POOL, races=RaceJudge.SANITIZER))
    assert cases_under(device, "racecheck") == cases_under(device, "memcheck")


def test_gpus_of_one_model_share_runs_of_all_tools_but_racecheck(monkeypatch: pytest.MonkeyPatch) -> None:
    """That one takes longest, and each GPU has its own."""
    other = replace(GPU, uuid="GPU-11111111-0000-4000-8000-000000000000")
    here, there = (queues_of(monkeypatch, SOLUTION, replace(POOL, gpus=(gpu,))) for gpu in (GPU, other))
    assert {tool for tool in here if here[tool] == there[tool]} == {"initcheck", "memcheck", "synccheck"}


def test_what_a_tool_alone_finds_is_reported_by_a_run_with_copies() -> None:
    """Only that tool runs again, and its finding has a line and a case."""

    def forge(tool: str, left: dict[str, bytes]) -> dict[str, bytes]:
        if tool == "memcheck":
            return left | {"memcheck.xml": document(access()).encode(), "memcheck.log": log(1).encode()}
        return left

    device = PretendGpu(forge=forge)
    grade = graded(device, SOLUTION)
    assert [named for tool, named in runs(device) if tool == "memcheck"] == [False, True]
    assert len(runs(device)) == 5
    (memory,) = [item.result for item in grade.items if item.result.item.id == "memory"]
    assert memory.verdict is Verdict.FAIL
    assert {finding.line for finding in memory.findings} == {3}


def side_by_side(device: PretendGpu, monkeypatch: pytest.MonkeyPatch, sources: list[bytes]) -> list[Grade]:
    """The grades of files that share runs: none ends before all have come that are to wait for that tool."""
    served: Counter[Path] = Counter()

    def held(folder: Path, launches: JobLaunches, run: Run, most: int) -> bool:
        def when_all_came(members: Sequence[JobLaunches]) -> bool:
            while served[folder] + len(list(folder.glob("*.waiting"))) < len(sources):
                time.sleep(0.01)
            served[folder] += len(members)
            return run(members)

        return ran_silently(folder, launches, when_all_came, most)

    monkeypatch.setattr(tempfile, "tempdir", str(tempfile.mkdtemp()))
    monkeypatch.setattr(tool_runs, "ran_silently", held)
    # A limit is the process's, which several threads would not give back as it was.
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    with ThreadPoolExecutor(len(sources)) as threads:
        return list(threads.map(lambda source: graded(device, source), sources))


def submissions_in_runs(device: PretendGpu, tool: str) -> list[int]:
    """Count the submissions that shared each run of a tool without copies."""
    jobs = [json.loads(dict(job.files)["request.json"]) for job in device.jobs if tool in job.argv]
    names = ([case["name"] for case in job["cases"]] for job in jobs if job["mode"] == "concurrent")
    return sorted(len({name.partition("-")[0] for name in own}) for own in names)


def judged_by_tools(grade: Grade) -> list[tuple[Verdict, tuple[Finding, ...]]]:
    """Return the verdicts and findings of the items about barriers and memory."""
    results = [item.result for item in grade.items if item.result.item.id in ("barriers", "memory")]
    return [(result.verdict, result.findings) for result in results]


def test_submissions_that_wait_for_a_tool_share_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are cleared by it, each for its own cases."""
    device = PretendGpu()
    grades = side_by_side(device, monkeypatch, [SOLUTION + b"// %d" % number for number in range(3)])
    for tool in sanitizer.TOOLS:
        assert sum(submissions_in_runs(device, tool)) == 3
        assert max(submissions_in_runs(device, tool)) > 1
    assert [set(dict(grade.witnesses).values()) for grade in grades] == [{"ok"}] * 3
    assert [judged_by_tools(grade) for grade in grades] == [[(Verdict.PASS, ())] * 2] * 3


def test_where_a_tool_reports_on_a_shared_run_each_submission_is_checked_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No submission loses anything for what a neighbour's kernel did in the run."""

    def forge(tool: str, left: dict[str, bytes]) -> dict[str, bytes]:
        if tool == "memcheck" and b'"1-' in left[ANSWER]:
            return left | {"memcheck.xml": document(access()).encode(), "memcheck.log": log(1).encode()}
        return left

    device = PretendGpu(forge=forge)
    grades = side_by_side(device, monkeypatch, [SOLUTION + b"// %d" % number for number in range(3)])
    shared = max(submissions_in_runs(device, "memcheck"))
    assert shared > 1
    assert [named for tool, named in runs(device) if tool == "memcheck"].count(True) == shared
    assert [judged_by_tools(grade) for grade in grades] == [[(Verdict.PASS, ())] * 2] * 3


@pytest.mark.parametrize(
    ("races", "chosen"), [(RaceJudge.BOTH, [0, 1, 3]), (RaceJudge.SANITIZER, [0, 1, 2, 3])]
)
def test_beside_the_emulator_tools_look_at_the_smallest_cases(races: RaceJudge, chosen: list[int]) -> None:
    """Cases that the emulator could not follow are included, and all cases where only tools judge races."""
    shape = np.zeros(2**9, np.float32)
    threads = ((8, True), (2**9, True), (2**10, True), (2**11, False))
    cases = tuple(
        DeviceCase(index, Launch((count, 1, 1), (1, 1, 1)), (Argument("A", "in", shape),), followed=followed)
        for index, (count, followed) in enumerate(threads)
    )
    assert [case.index for case in tool_runs.for_tools(cases, races)] == chosen
