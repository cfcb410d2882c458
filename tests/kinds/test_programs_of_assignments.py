"""Assignments of programs that call CUDA, without a GPU: the points of their files, and the messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.reports import record_json, text
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file, mistake_names
from tests.program_assignments import failed_items, mistakes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from grader.model import Assignment, Grade

    Graded = Callable[[str, Path], Grade]

FIRST: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "matmul-program": {
        "never_freed.cu": ("tidy", "line 49: dA (6,800 bytes) is never freed, 2 times; and at 2 more places"),
        "freed_twice.cu": ("host", "line 62: frees dA a second time, 2 times"),
        "no_kernel_at_all.cu": ("kernel", "no launch of `matMul` came to its end"),
    },
    "matmul-function": {
        "writes_beyond_c.cu": (
            "aligned",
            (
                "none of 2 cases is right. In case `square-32` (M=32, K=32, N=32) the run did not come to "
                "its end: line 36: host code uses C[1024], and C has 1,024 elements, the first of them C[0]"
            ),
        ),
        "never_copied_back.cu": (
            "aligned",
            "none of 2 cases is right. In case `square-32` (M=32, K=32, N=32) `C[0][0]` should be",
        ),
        "frees_argument.cu": ("host", "line 50: cudaFree of something that cudaMalloc never gave"),
        "computes_on_host.cu": (
            "aligned",
            (
                "none of 2 cases is right. In case `square-32` (M=32, K=32, N=32) no kernel ran, and a "
                "kernel is to compute the result"
            ),
        ),
    },
    "matmul-wb": {
        "solution_extents_exchanged.cu": ("solution", "none of 5 cases is right"),
        "same_input_twice.cu": ("kernel", "none of 5 cases is right"),
        "host_memory_freed_on_device.cu": (
            "host",
            "line 67: cudaFree of something that cudaMalloc never gave",
        ),
    },
    "streams": {
        "b_in_the_other_stream.cu": (
            "host",
            (
                "line 51: kernel add reads dB while a copy writes it in another stream on line 50, "
                "and nothing makes one wait"
            ),
        ),
        "nobody_waits.cu": (
            "host",
            "line 56: the host uses C while the device may still be at work on it for line 53",
        ),
        "waits_for_one_stream.cu": (
            "host",
            "line 57: the host uses C while the device may still be at work on it for line 53",
        ),
        "not_pinned.cu": (
            "overlap",
            (
                "none of 2 cases is right. In case `default` (arguments `1000`) "
                "streams that are given both kernels and asynchronous copies of pinned memory: 0"
            ),
        ),
        "one_stream.cu": ("overlap", "none of 2 cases is right"),
        "wrong_direction.cu": (
            "host",
            "line 53: the copy is said to be cudaMemcpyHostToDevice, but it goes from the device to the host",
        ),
        "offset_in_bytes.cu": ("host", "line 53: copies device memory at 0x1"),
    },
}
"""By assignment and file, the item that is about a mistake, and how its message begins."""

ASSIGNMENTS = {name: bundled(name) for name in FIRST}
MISTAKES = {name: mistakes(assignment) for name, assignment in ASSIGNMENTS.items()}
REPORTED = [(name, file) for name, files in FIRST.items() for file in files]
OTHERS = [(name, file) for name, files in MISTAKES.items() for file in sorted(set(files) - set(FIRST[name]))]


@pytest.fixture(scope="module")
def graded() -> Graded:
    """Grade a file of an assignment, with hidden cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plans = {
        name: pipeline.make_plan(assignment, 3, tools, visible_only=False)
        for name, assignment in ASSIGNMENTS.items()
    }

    def grade(name: str, file: Path) -> Grade:
        submission = Submission(file.stem, file.name, file.read_bytes(), "")
        return pipeline.grade(plans[name], submission, tools)

    return grade


def _mistakes_folder(name: str) -> Path:
    return staff_folder(ASSIGNMENTS[name]) / "mistakes"


def _should_lose(assignment: Assignment, file: str) -> list[str]:
    loses = MISTAKES[assignment.id][file]["loses"]
    return [item.id for item in assignment.rubric if item.id in loses]


@pytest.mark.parametrize("name", FIRST)
def test_every_mistake_is_described(name: str) -> None:
    """The folder and its table name the same files, of which there are enough."""
    assert sorted(MISTAKES[name]) == mistake_names(_mistakes_folder(name))
    assert len(MISTAKES[name]) >= 25


@pytest.mark.parametrize("name", FIRST)
def test_the_solution_earns_everything_without_a_gpu(graded: Graded, name: str) -> None:
    """In hidden cases, too."""
    grade = graded(name, staff_folder(ASSIGNMENTS[name]) / "solution.cu")
    assert [grade.score, grade.max_score, grade.skipped_points, grade.error] == [100, 100, 0, ""]


@pytest.mark.parametrize("name", FIRST)
def test_a_program_that_launches_nothing_earns_nothing_of_what_kernels_show(
    graded: Graded, name: str
) -> None:
    """The skeleton compiles, and no item is an error of ours."""
    grade = graded(name, ASSIGNMENTS[name].path / "skeleton.cu")
    assert (int(grade.score), grade.verdict) == (5, Verdict.FAIL)
    message = next(item.result.message for item in grade.items if item.result.item.id == "races")
    assert message.startswith("not judged until")


IDLE = {
    "matmul-function": """__global__ void idle() {}
void solve(const float* A, const float* B, float* C, int M, int K, int N) { idle<<<1, 32>>>(); }
""",
    "matmul-program": """__global__ void matMul(const float*, const float*, float*, int, int, int) {}
int main() { matMul<<<1, 32>>>(nullptr, nullptr, nullptr, 1, 1, 1); return cudaDeviceSynchronize(); }
""",
    "streams": """__global__ void add(const float* A, const float* B, float* C, int n) {}
int main() { add<<<1, 32>>>(nullptr, nullptr, nullptr, 1); return cudaDeviceSynchronize(); }
""",
}


@pytest.mark.parametrize("name", IDLE)
def test_a_kernel_that_does_nothing_earns_what_compiles(graded: Graded, tmp_path: Path, name: str) -> None:
    """It makes no mistakes, and that is no merit: races, memory, host and streams count where it works."""
    file = tmp_path / "idle.cu"
    file.write_text(IDLE[name])
    assert int(graded(name, file).score) == 5


@pytest.mark.parametrize(("name", "file"), REPORTED)
def test_a_mistake_loses_its_items_with_a_reason(graded: Graded, name: str, file: str) -> None:
    """Exactly those of the table, with the line and the name of the array."""
    grade = graded(name, mistake_file(_mistakes_folder(name) / file))
    assert failed_items(grade) == _should_lose(ASSIGNMENTS[name], file)
    item, message = FIRST[name][file]
    assert next(i.result.message for i in grade.items if i.result.item.id == item).startswith(message)
    stored = record_json.load(record_json.dump(grade))
    assert record_json.dump(stored) == record_json.dump(grade)


@pytest.mark.parametrize(
    ("name", "file", "code", "line"),
    [
        ("matmul-program", "device_pointer_on_host.cu", "host-device-pointer", 60),
        ("matmul-program", "block_too_large.cu", "host-launch-refused", 56),
        ("matmul-function", "back_says_host_to_device.cu", "host-wrong-direction", 46),
    ],
)
def test_a_mistake_of_the_host_is_reported_first(
    graded: Graded, name: str, file: str, code: str, line: int
) -> None:
    """With its line, before all that it makes of the program's end and results."""
    grade = graded(name, mistake_file(_mistakes_folder(name) / file))
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == (code, line)
    first = _first_advice(grade)
    assert f"(line {line})" in first
    assert "try:" not in first


def _first_advice(grade: Grade) -> str:
    """The text below `Start here`."""
    return text.render(grade, width=200).plain.partition("Start here\n")[2].split("\n\n")[0]


@pytest.mark.parametrize(
    ("file", "code", "line", "words"),
    [
        ("first_barrier_missing.cu", "barrier-before-reading", 29, "tried, and the race is gone"),
        ("store_unguarded.cu", "store-out-of-bounds", 33, "Guard the store"),
        ("returns_before_the_barrier.cu", "uninitialised-read", 31, "before it is read"),
        ("b_never_copied.cu", "memory-never-filled", 28, "copy to `dB` all that the kernel reads"),
        (
            "never_copied_back.cu",
            "host-never-copied-back",
            56,
            "from the device after matMul, the last kernel",
        ),
    ],
    ids=["barrier", "guard", "return", "copy", "copy-back"],
)
def test_a_mistake_of_a_programs_kernel_is_reported_first(
    graded: Graded, file: str, code: str, line: int, words: str
) -> None:
    """As of a bare kernel; that the last case has a launch which fails, as it should, is none of it."""
    grade = graded("matmul-program", mistake_file(_mistakes_folder("matmul-program") / file))
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == (code, line)
    assert words in _first_advice(grade)


@pytest.mark.parametrize("file", ["grid_rounded_down.cu", "grid_dimensions_swapped.cu"])
def test_a_grid_of_a_program_that_is_too_small_is_reported_first(graded: Graded, file: str) -> None:
    """Device memory that was never written holds no number that the kernel computed."""
    grade = graded("matmul-program", mistake_file(_mistakes_folder("matmul-program") / file))
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.item) == ("more-elements-than-threads", "kernel")
    assert "round the number of blocks up" in _first_advice(grade).lower()


def _changed(name: str, file: Path, old: str, new: str) -> Path:
    """The model solution of an assignment with something in place of something else."""
    source = (_mistakes_folder(name).parent / "solution.cu").read_text("utf-8")
    assert old in source
    file.write_text(source.replace(old, new), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "words"),
    [
        (
            "matmul-program",
            "sizeof(float) * M * K,",
            "sizeof(float) * M * K << 20,",
            49,
            "fails with “out of memory”, for it asks for 7,130,316,800 bytes",
        ),
        (
            "matmul-program",
            "    float *dA",
            "    CHECK(cudaSetDevice(1)); float *dA",
            48,
            "`cudaSetDevice` fails with “invalid device ordinal”; after it the program ends with status 1",
        ),
        (
            "matmul-function",
            "sizeof(float) * M * K,",
            "sizeof(float) * M * K << 20,",
            36,
            "`cudaMalloc` fails with “out of memory”, for it asks for 4,294,967,296 bytes",
        ),
    ],
    ids=["memory", "device", "memory-of-a-function"],
)
def test_a_call_that_failed_before_the_program_gave_up_is_reported_first(
    graded: Graded, tmp_path: Path, name: str, old: str, new: str, line: int, words: str
) -> None:
    """Its reason is given, though the program itself prints nothing at all."""
    file = _changed(name, tmp_path / "fails.cu", old, new)
    silent = file.read_text("utf-8").replace("std::fprintf(stderr", "std::snprintf(nullptr, 0")
    file.write_text(silent, encoding="utf-8")
    grade = graded(name, file)
    assert grade.cause is not None
    assert (grade.cause.code, grade.cause.line) == ("call-failed", line)
    assert words in _first_advice(grade).replace("\n    ", " ")


def test_an_exception_that_nothing_catches_is_reported_first(graded: Graded, tmp_path: Path) -> None:
    """With its type and its text, and without a word of pointers."""
    throws = 'if (N < 1000) throw std::runtime_error("no input");\n    dim3 block'
    file = _changed("matmul-program", tmp_path / "throws.cu", "dim3 block", throws)
    file.write_text("#include <stdexcept>\n" + file.read_text("utf-8"), encoding="utf-8")
    grade = graded("matmul-program", file)
    assert grade.cause is not None
    assert grade.cause.code == "program-throws"
    assert "nothing caught its exception `std::runtime_error`: no input" in grade.cause.message
    assert "pointers" not in _first_advice(grade)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "file"), OTHERS)
def test_the_other_mistakes_lose_what_the_table_lists(graded: Graded, name: str, file: str) -> None:
    """No more and no less; and the grade is read again as it was stored."""
    grade = graded(name, mistake_file(_mistakes_folder(name) / file))
    assert failed_items(grade) == _should_lose(ASSIGNMENTS[name], file)
    stored = record_json.load(record_json.dump(grade))
    assert record_json.dump(stored) == record_json.dump(grade)
