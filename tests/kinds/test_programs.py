"""Whole programs from their runs to a grade: endings, limits, what goes in and what comes back."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar, Self

import pytest

from grader.base.errors import OurError
from grader.cli import main
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.kinds.host_runs import running
from grader.kinds.host_runs.limits import limits_of
from grader.kinds.plan import Plan
from grader.kinds.program import stages as programs
from grader.model import (
    Assignment,
    Build,
    Case,
    CaseEvidence,
    Evidence,
    FindingKind,
    ProgramInterface,
    ProgramRun,
    RubricItem,
    Submission,
    Verdict,
    Visibility,
)
from grader.running.backends.emulator import EMULATOR
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import devices
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.sandbox import Equipment, Job, Limits, LocalSandbox, Outcome, Result, Stage, Status
from tests.builds import shared_builds
from tests.toolchain.gpu.pretend import GPU

if TYPE_CHECKING:
    from collections.abc import Iterator

ACTOR = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "status")) return atoi(words[2]);
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "null")) return *(volatile int *)nullptr;
    if (!strcmp(what, "hang")) for (volatile bool on = true; on;) {}
    if (!strcmp(what, "flood")) for (;;) puts("ha ha ha ha ha ha ha ha ha ha ha ha ha ha");
    if (!strcmp(what, "memory")) { fputs("out of memory\n", stderr); return 7; }
    if (!strcmp(what, "take")) for (volatile char *taken;; *taken = 1)
        if (!(taken = (char *)malloc(1 << 20))) abort();
    if (!strcmp(what, "read")) { char line[99]; while (fgets(line, sizeof line, stdin)) printf("<%s", line); }
    if (!strcmp(what, "words")) for (int i = 2; i < count; ++i) printf("[%s]", words[i]);
    if (!strcmp(what, "write")) { FILE *file = fopen(words[2], "w"); fputs("kept\n", file); fclose(file); }
    if (!strcmp(what, "look")) return access(words[2], F_OK) == 0;
    return 0;
}
"""
DEVICE = """
#include <cstdio>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main() {
    int host[4] = {1, 2, 3, 4}, *device = nullptr;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 4>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int n : host) std::printf("%d\\n", n);
    return cudaGetLastError();
}
"""
YAML = """
id: echo
title: Echo
submission: {kind: program, seconds: 5}
cases:
  - {id: numbers, arguments: ["3", "-x"], stdin: "1 2 3\\n"}
rubric:
  - {id: compiles, points: 10, check: compile}
  - {id: ends, points: 5, check: exit, status: 0, needs: [compiles]}
  - {id: says, points: 5, check: text, exact: "2\\n4\\n6\\n8\\n", needs: [compiles]}
  - {id: leaves, points: 5, check: text, of: out.txt, matches: "^kept$", needs: [compiles]}
"""
ECHO = r"""
#include <cstdio>
int main() {
    std::puts("2\n4\n6\n8");
    FILE *file = std::fopen("out.txt", "w");
    std::fputs("kept\n", file);
    std::fclose(file);
}
"""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; builds are kept for this file's tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture(scope="module")
def actor(tools: Tools) -> Build:
    """A program that does what its first argument asks for."""
    built = build_program(tools, _submission(ACTOR), ProgramInterface())
    assert built.ok, built.findings
    return built


@pytest.fixture
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's folder for locks, for this test only."""
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


@dataclass
class Pretended:
    """A sandbox that answers every job with the next of these endings, and keeps jobs and stages."""

    endings: list[tuple[Status, int]]
    jobs: list[Job] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    problem: str = ""

    name: ClassVar[str] = "pretended"
    shuts_in: ClassVar[bool] = True
    equipment: ClassVar[Equipment] = Equipment()

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Self]:
        """The sandbox itself."""
        self.stages.append(stage)
        yield self

    def run(self, job: Job) -> Result:
        """The next ending; raises OurError where there is none left."""
        self.jobs.append(job)
        if not self.endings:
            raise OurError("the engine is gone")
        status, returncode = self.endings.pop(0)
        return Result(Outcome(status, returncode, b"", b"", 0.5))


def _submission(source: str) -> Submission:
    return Submission("ada", "homework.cu", source.encode(), "digest")


def _case(*arguments: str, stdin: str = "", name: str = "case") -> Case:
    return Case(name, (), (), Visibility.VISIBLE, "", 1, arguments=arguments, stdin=stdin)


def _plan(*cases: Case, seconds: float = 5.0, wanted: tuple[str, ...] = (), gpus: int = 0) -> Plan:
    items = tuple(
        RubricItem(f"item-{name}", "", Fraction(1), "text", options=(("of", name),)) for name in wanted
    )
    interface = ProgramInterface(seconds=seconds, memory_bytes=2**28)
    assignment = Assignment("echo", "Echo", "", interface, (), items, None, Path(), "digest")
    backend = GpuBackend(GpuPool((GPU,) * gpus, "python3", ())) if gpus else EMULATOR
    return Plan(assignment, 1, cases, (), backend)


def _gathered(plan: Plan, built: Build, tools: Tools) -> Evidence:
    evidence, _ = programs.gather(plan, Submission("ada", "ada.cu", b"", ""), built, tools)
    return evidence


def _one(evidence: tuple[CaseEvidence, ...]) -> ProgramRun:
    (case,) = evidence
    assert case.error == ""
    assert case.program is not None
    return case.program


ENDINGS = {
    "by itself": (("status", "0"), "exit", 0),
    "with a status": (("status", "200"), "exit", 200),
    "aborted": (("abort",), "signal", -6),
    "a null pointer": (("null",), "signal", -11),
    "never": (("hang",), "time", -9),
    "with a flood": (("flood",), "output-limit", -9),
    "with words that sound like a limit": (("memory",), "exit", 7),
    "without memory": (("take",), "signal", -6),
}


def _cases(plan: Plan, submission: Submission, built: Build, tools: Tools) -> tuple[CaseEvidence, ...]:
    """The evidence of the cases of a plan."""
    return programs.gather(plan, submission, built, tools)[0].cases


@pytest.mark.parametrize("how", ENDINGS)
def test_how_a_program_ended_is_kept_as_it_was(how: str, actor: Build, tools: Tools) -> None:
    """An exit status, a signal, or the limit that stopped it; and a finding unless it ended by itself."""
    arguments, ending, returncode = ENDINGS[how]
    (case,) = _cases(_plan(_case(*arguments), seconds=1.0), _submission(ACTOR), actor, tools)
    assert case.program is not None
    assert (case.program.ending, case.program.returncode) == (ending, returncode)
    assert case.completed is (ending == "exit")
    kinds = {"exit": [], "time": [FindingKind.TIMEOUT]}.get(ending, [FindingKind.FAULT])
    assert [finding.kind for finding in case.findings] == kinds


def test_arguments_and_standard_input_arrive_as_they_are(actor: Build, tools: Tools) -> None:
    """Blanks, dashes, quotes, an empty one; and bytes beyond ASCII."""
    words = ("words", "a b", "-x", "--", "", "'\"$HOME*", "×")
    assert _one(_cases(_plan(_case(*words)), _submission(ACTOR), actor, tools)).stdout == (
        "[a b][-x][--][]['\"$HOME*][×]".encode()
    )
    read = _one(_cases(_plan(_case("read", stdin="1 2\n× 3")), _submission(ACTOR), actor, tools))
    assert read.stdout == "<1 2\n<× 3".encode()


def test_files_that_the_rubric_names_come_back_and_no_others(actor: Build, tools: Tools) -> None:
    """Any other file that a program leaves is not looked at."""
    plan = _plan(_case("write", "out.txt"), _case("write", "else.txt"), wanted=("out.txt",))
    written, other = _cases(plan, _submission(ACTOR), actor, tools)
    assert written.program is not None
    assert other.program is not None
    assert written.program.files == (("out.txt", b"kept\n"),)
    assert other.program.files == ()


def test_each_case_begins_in_a_folder_of_its_own(actor: Build, tools: Tools) -> None:
    """One case cannot leave a file for the next."""
    plan = _plan(_case("write", "note"), _case("look", "note"))
    _, looked = _cases(plan, _submission(ACTOR), actor, tools)
    assert looked.program is not None
    assert looked.program.returncode == 0


def test_after_two_hangs_the_other_cases_get_less_time() -> None:
    """A program that never ends costs its time twice, and a share of it for each other case."""
    sandbox = Pretended([(Status.EXIT, 0), (Status.TIME, -9), (Status.TIME, -9), (Status.EXIT, 0)])
    cases = [_case(name=str(number)) for number in range(4)]
    tools = Tools(find_toolchain(), sandbox)
    _cases(_plan(*cases, seconds=8.0), _submission(ACTOR), Build(ok=True, program=b"x"), tools)
    assert [job.limits.wall_seconds for job in sandbox.jobs] == [8.0, 8.0, 8.0, 2.0]
    assert [stage.gpu for stage in sandbox.stages] == [""]


def test_a_failure_of_the_sandbox_is_an_error_of_its_case() -> None:
    """The cases before it keep what they showed."""
    tools = Tools(find_toolchain(), Pretended([(Status.EXIT, 3)]))
    first, second = _cases(_plan(_case(), _case()), _submission(ACTOR), Build(ok=True, program=b"x"), tools)
    assert first.program is not None
    assert (first.program.returncode, first.error) == (3, "")
    assert (second.program, second.error, second.completed) == (None, "the engine is gone", False)


def test_a_run_on_a_disk_that_is_nearly_full_shows_nothing(
    actor: Build, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that cannot write its file ends with a status that looks like a mistake."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2**20))
    (case,) = _cases(_plan(_case("status", "1")), _submission(ACTOR), actor, tools)
    assert case.error.startswith("the temporary folder's disk has only 1 MiB left")
    assert (case.program, case.findings, case.completed) == (None, (), False)


def test_an_output_that_fills_its_limit_was_cut() -> None:
    """It counts as cut even if the program was done before its output was measured."""
    limits = Limits(output_bytes=4)
    for printed, ending in ((b"123", "exit"), (b"1234", "output-limit")):
        result = Result(Outcome(Status.EXIT, 0, printed, b"", 0.1))
        assert running.program_run(result, limits).ending == ending


def test_memory_is_limited_for_all_processes_and_beside_a_gpu_for_each() -> None:
    """A CUDA driver reserves far more of the address space than there is memory."""
    interface = ProgramInterface(seconds=2.0, memory_bytes=2**28)
    host, device = (limits_of(interface, on_gpu=on_gpu) for on_gpu in (False, True))
    assert (host.wall_seconds, host.total_bytes) == (2.0, 2**28)
    assert host.memory_bytes > 2**28
    assert (device.memory_bytes, device.total_bytes > 2**28) == (0, True)


# --- with a GPU, and without ---------------------------------------------------------------------------


def test_a_program_that_calls_cuda_runs_on_the_emulator_where_there_is_no_gpu(tools: Tools) -> None:
    """The grade names the emulator; its kernel computes what the host copies back and prints."""
    built = build_program(tools, _submission(DEVICE), ProgramInterface())
    evidence = _gathered(_plan(_case()), built, tools)
    (case,) = evidence.cases
    assert evidence.backend == "emulator"
    assert case.program is not None
    assert (case.program.stdout, case.program.returncode) == (b"2\n4\n6\n8\n", 0)


@pytest.mark.usefixtures("_locks")
def test_a_program_that_calls_cuda_gets_the_gpu_and_no_other_does() -> None:
    """It gets it by its UUID, in the stage and in the job; the grade names the GPU."""
    sandbox = Pretended([(Status.EXIT, 0), (Status.EXIT, 0)])
    tools, built = Tools(find_toolchain(), sandbox), Build(ok=True, program=b"x", calls_device=True)
    evidence = _gathered(_plan(_case(), gpus=1), built, tools)
    assert (evidence.backend, evidence.device) == ("gpu", GPU.name)
    evidence = _gathered(_plan(_case(), gpus=1), replace(built, calls_device=False), tools)
    assert (evidence.backend, evidence.device) == ("host", "no GPU")
    assert [stage.gpu for stage in sandbox.stages] == [job.gpu for job in sandbox.jobs] == [GPU.uuid, ""]


@pytest.mark.usefixtures("_locks")
def test_a_hang_on_a_gpu_counts_only_if_it_hangs_again_alone() -> None:
    """It may have been kept waiting by what others ran."""
    sandbox = Pretended([(Status.TIME, -9), (Status.EXIT, 0)])
    tools, built = Tools(find_toolchain(), sandbox), Build(ok=True, program=b"x", calls_device=True)
    assert _one(_gathered(_plan(_case(), gpus=1), built, tools).cases).ending == "exit"


@pytest.mark.usefixtures("_locks")
@pytest.mark.parametrize("faults", [(), ("its kernels give wrong results",)], ids=["well", "sick"])
def test_a_gpu_is_looked_at_after_a_program_that_hung(
    faults: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU that did not recover is our error, and is taken out of use."""
    monkeypatch.setattr("grader.toolchain.gpu.trial.faults", lambda *_: faults)
    tools = Tools(find_toolchain(), Pretended([(Status.TIME, -9), (Status.TIME, -9)]))
    built = Build(ok=True, program=b"x", calls_device=True)
    (case,) = _gathered(_plan(_case(), gpus=1), built, tools).cases
    assert bool(case.error) is bool(devices.is_sick(GPU)) is bool(faults)
    assert (case.program is None) is bool(faults)
    if faults:
        (again,) = _gathered(_plan(_case(), gpus=1), built, tools).cases
        assert again.error.startswith("no GPU is fit for use")


@pytest.mark.gpu
def test_a_cuda_program_runs_on_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For real: built for the GPU's own architecture, run there, and its output judged."""
    code = _check(tmp_path, DEVICE, "--json", str(tmp_path / "grade.json"))
    capsys.readouterr()
    grade = json.loads((tmp_path / "grade.json").read_text())
    assert code == 1
    assert grade["backend"]["name"] == "gpu"
    assert [item["verdict"] for item in grade["items"]] == ["pass", "pass", "pass", "fail"]


# --- the whole way -------------------------------------------------------------------------------------


def _assignment(folder: Path) -> Path:
    made = folder / "assignments" / "echo"
    made.mkdir(parents=True, exist_ok=True)
    (made / "assignment.yaml").write_text(YAML)
    return made


def _check(folder: Path, source: str, *options: str) -> int:
    file = folder / "homework.cu"
    file.write_text(source)
    return main(["check", str(_assignment(folder)), str(file), "--no-cache", *options])


def test_a_right_program_gets_full_marks_from_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a GPU it runs on the host, and the grade records that."""
    stored = tmp_path / "grade.json"
    assert _check(tmp_path, ECHO, "--backend", "emulator", "--json", str(stored)) == 0
    assert "25 of 25 points" in capsys.readouterr().out
    grade = json.loads(stored.read_text())
    assert grade["backend"] == {"name": "host", "device": "no GPU", "toolkit": find_toolchain().version}
    assert grade["verdict"] == "pass"


def test_a_program_of_the_device_is_judged_without_a_gpu(tmp_path: Path, tools: Tools) -> None:
    """Its printed output counts; the file that it does not write is missed."""
    assignment = load_assignment(_assignment(tmp_path))
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
    grade = pipeline.grade(plan, _submission(DEVICE), tools)
    assert [item.result.verdict for item in grade.items] == [*[Verdict.PASS] * 3, Verdict.FAIL]
    assert [grade.score, grade.max_score, grade.skipped_points] == [Fraction(20), Fraction(25), Fraction(0)]


def test_a_program_that_does_not_link_loses_everything_with_its_line(tmp_path: Path, tools: Tools) -> None:
    """The finding is that of the item that asks whether it compiles."""
    assignment = load_assignment(_assignment(tmp_path))
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
    grade = pipeline.grade(plan, _submission("int area(int);\nint main() { return area(3); }\n"), tools)
    assert (grade.verdict, grade.score, grade.backend) == (Verdict.FAIL, Fraction(0), "host")
    assert [finding.line for finding in grade.items[0].result.findings] == [2]


def test_a_class_of_programs_is_graded_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each in a process of its own; taken up again, nothing is graded twice."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ada.cu").write_text(ECHO)
    (tmp_path / "class" / "bob.cu").write_text("int main() { return 1; }\n")
    out = tmp_path / "out"
    command = ["grade", str(_assignment(tmp_path)), str(tmp_path / "class"), "-o", str(out), "--no-cache"]
    options = ["--backend", "emulator", "--sandbox", "local", "--i-trust-these-files", "--jobs", "1"]
    assert main([*command, *options]) == 0
    assert json.loads((out / "journal.jsonl").read_text().splitlines()[0])["session"]["backend"] == "host"
    scores = [
        json.loads((out / "grades" / name / "grade.json").read_text())["score"] for name in ("ada", "bob")
    ]
    assert scores == [25, 10]
    assert main(["report", str(out)]) == 0
    assert "echo" in (out / "index.html").read_text().lower()
    assert main([*command, *options]) == 0
    entries = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    assert sorted(entry["submission"] for entry in entries if "submission" in entry) == ["ada", "bob"]
    capsys.readouterr()
