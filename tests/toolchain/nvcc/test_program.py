"""Whole programs: what nvcc, assembler and linker make of them, and the messages where they refuse."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

import pytest

from grader.base.errors import StorageError
from grader.model import Build, Finding, FindingKind, ProgramInterface, Submission
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.nvcc.program import LIMITS
from grader.toolchain.sandbox import Equipment, Job, LocalSandbox, Outcome, Result, Status
from tests.builds import shared_builds
from tests.toolchain.nvcc.conftest import FILE, only_message, places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from grader.toolchain.sandbox import Stage

INTERFACE = ProgramInterface()
HELLO = "#include <cstdio>\nint main(int n, char **v) { int unused; std::puts(v[n - 1]); return 3; }\n"
MEBIBYTE = 2**20


class Compile(Protocol):
    """Build a source as a student's whole program."""

    def __call__(self, source: str, file: str = FILE, headers: tuple[tuple[str, bytes], ...] = ()) -> Build:
        """The build; the same for the same arguments."""


@dataclass
class Answering:
    """A sandbox that keeps its jobs, and answers them as specified, or runs them."""

    answer: Callable[[Job], Result] = LocalSandbox().run
    jobs: list[Job] = field(default_factory=list)

    name: ClassVar[str] = "answering"
    shuts_in: ClassVar[bool] = False
    equipment: ClassVar[Equipment] = Equipment()

    @contextmanager
    def stage(self, _stage: Stage) -> Iterator[Self]:
        """The sandbox itself."""
        yield self

    def run(self, job: Job) -> Result:
        """Keep the job, and answer it."""
        self.jobs.append(job)
        return self.answer(job)

    @property
    def of_program(self) -> list[Job]:
        """The jobs that build the program; others look at CUDA's header meanwhile."""
        return [job for job in self.jobs if job.limits == LIMITS]


@pytest.fixture(scope="session")
def compile_program() -> Compile:
    """Build with the real nvcc, in the local sandbox."""
    made: dict[object, Build] = {}
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())

    def once(source: str, file: str = FILE, headers: tuple[tuple[str, bytes], ...] = ()) -> Build:
        key = (source, file, headers)
        if key not in made:
            submission = Submission("ada", file, source.encode(), "digest", headers=headers)
            made[key] = build_program(tools, submission, INTERFACE)
        return made[key]

    return once


def _submission(source: str = HELLO) -> Submission:
    return Submission("ada", FILE, source.encode(), "digest")


def _ended(status: Status, returncode: int, stderr: bytes = b"") -> Callable[[Job], Result]:
    return lambda _: Result(Outcome(status, returncode, b"", stderr, 1.5))


def test_a_program_is_built_and_runs(tmp_path: Path) -> None:
    """It is linked with the CUDA runtime, takes arguments, and a file called like an option is no option.

    The cache is this test's own, because an earlier run of tests may have compiled the program.
    """
    tools = Tools(find_toolchain(), LocalSandbox(), tmp_path)
    built = build_program(tools, Submission("ada", "-o.cu", HELLO.encode(), "digest"), INTERFACE)
    assert built.ok, built.findings
    assert built.toolkit == find_toolchain().version
    assert [name for name, _ in built.seconds] == ["preprocess", "compile", "link"]
    result = LocalSandbox().run(Job(("./program", "a b", "-x y"), (("program", built.program),)))
    assert (result.outcome.returncode, result.outcome.stdout) == (3, b"-x y\n")


def test_device_code_may_call_constexpr_functions_and_lambdas_of_the_host(compile_program: Compile) -> None:
    """Programs of courses are built with two options of nvcc that no source can ask for."""
    built = compile_program("""
#include <algorithm>
#include <limits>
template <class F> __global__ void each(F f) { f(threadIdx.x); }
__global__ void largest(float *p) { *p = std::max(*p, std::numeric_limits<float>::lowest()); }
int main() { float *d = nullptr; largest<<<1, 1>>>(d); each<<<1, 8>>>([=] __device__(int i) { d[i] = i; }); }
""")
    assert built.ok, built.findings
    assert "_Z7largestPf" in built.hazard_ptx


@pytest.mark.parametrize(
    "call",
    [
        "cudaMemPrefetchAsync((void *)0, 4, 0)",
        "cudaMemPrefetchAsync((void *)0, 4, cudaCpuDeviceId, nullptr)",
        "cudaMemPrefetchAsync((void *)0, 4, {cudaMemLocationTypeDevice, 0}, 0, nullptr)",
        "cudaMemAdvise((void *)0, 4, cudaMemAdviseSetReadMostly, 0)",
        "cudaThreadSynchronize()",
        "cudaThreadExit()",
    ],
)
def test_calls_as_they_were_before_cuda_13_compile(compile_program: Compile, call: str) -> None:
    """Books, tutorials and courses have them; the file may define one itself, as CUDA 13 asks for it."""
    built = compile_program(
        f"#define cudaThreadExit() cudaDeviceReset()\nint main() {{ return {call} != cudaSuccess; }}\n"
    )
    assert (built.ok, built.warnings, built.calls_device) == (True, (), True)


def test_a_programs_own_functions_win_over_those_before_cuda_13(compile_program: Compile) -> None:
    """A student who learnt that CUDA 13 lacks them may have written them."""
    built = compile_program("""
#define cudaThreadSynchronize cudaDeviceSynchronize
extern "C" void cudaThreadExit(void) {}
static int cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0) { return 0; }
int main() {
    cudaThreadExit();
    int *none = nullptr, status = cudaMemPrefetchAsync(none, 4, 0);
    return cudaThreadSynchronize() != cudaSuccess || status;
}
""")
    assert (built.ok, built.findings, built.warnings) == (True, (), ())


def test_calls_as_they_were_before_cuda_13_belong_to_the_programs_lines(compile_program: Compile) -> None:
    """A failure in them is reported with the line of the call."""
    built = compile_program(
        "int main() {\n    cudaMemPrefetchAsync((void *)0, 4, 0);\n    return cudaThreadSynchronize();\n}\n"
    )
    assert {2, 3} <= {line for _, line in built.call_lines}


def test_a_kernel_that_launches_kernels_is_our_limit(compile_program: Compile) -> None:
    """It compiles with `-rdc=true`; what does not compile at all is reported first."""
    nested = (
        "__global__ void child() {}\n__global__ void parent() { child<<<1, 1>>>(); }\nint main() { BODY }\n"
    )
    built = compile_program(nested.replace("BODY", "parent<<<1, 1>>>();"))
    assert (built.ok, built.findings) == (False, ())
    assert built.error == (
        "not supported here: a kernel that launches a kernel (dynamic parallelism): homework.cu, line 2"
    )
    assert compile_program(nested.replace("BODY", "return nothing;")).findings != ()


def test_warnings_are_kept_with_their_lines_and_each_once(compile_program: Compile) -> None:
    """The host's compiler and the device's both warn."""
    (warning,) = compile_program(HELLO, "-o.cu").warnings
    assert (warning.file, warning.line) == ("-o.cu", 2)
    assert "unused" in warning.message


@pytest.mark.parametrize(
    ("body", "calls"),
    [("return 0;", False), ("k<<<1, 1>>>(0); return 0;", True), ("return cudaDeviceReset();", True)],
    ids=["a kernel that is never launched", "a launch", "the runtime"],
)
def test_a_program_that_calls_cuda_is_distinguished_from_one_that_does_not(
    body: str, *, calls: bool, compile_program: Compile
) -> None:
    """A kernel alone calls nothing, though nvcc adds code to register and launch it."""
    built = compile_program(f"__global__ void k(int *p) {{ *p = 1; }}\nint main() {{ {body} }}\n")
    assert built.ok, built.findings
    assert built.calls_device is calls


def test_errors_of_the_compiler_have_the_students_lines(compile_program: Compile) -> None:
    """Two mistakes, in a kernel and in host code: a finding each."""
    built = compile_program("__global__ void k(int *p) { *p = x; }\n\nint main() { return y; }\n")
    assert places(built) == [(FILE, 1), (FILE, 3)]
    assert [finding.message for finding in built.findings] == [
        'identifier "x" is undefined',
        'identifier "y" is undefined',
    ]


def test_undefined_names_are_reported_with_their_lines(compile_program: Compile) -> None:
    """The linker's words, for a student; libraries that are not there are called so."""
    source = (
        'int area(int);\nextern "C" int cusparseCreate(void *);\n'
        "int main() {\n    int sum = area(3);\n    return sum + cusparseCreate(0);\n}\n"
    )
    built = compile_program(source)
    assert places(built) == [(FILE, 4), (FILE, 5)]
    first, second = (finding.message for finding in built.findings)
    assert first.startswith("`area(int)` is used here, but nothing defines it")
    assert "a function of cuSPARSE" in second


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (
            "#include <cudnn.h>\nint main() {}\n",
            "cuDNN, whose header `cudnn.h` is not installed: homework.cu, line 1",
        ),
        (
            'extern "C" int cusparseCreate(void *);\nint main() { return cusparseCreate(0); }\n',
            "cuSPARSE, which programs are not linked with: `cusparseCreate`, line 2",
        ),
        (
            "#include <cublas_v2.h>\nint main() {\n  return cublasSgeam(0, CUBLAS_SIDE_LEFT);\n}\n",
            "`cublasSgeam` of cuBLAS: homework.cu, line 3",
        ),
        (
            "#include <cuda.h>\nint main() { return cuInit(0) || cuCtxSynchronize(); }\n",
            "libcuda, which programs are not linked with: `cuInit`, line 2",
        ),
    ],
)
def test_a_library_that_is_not_here_is_our_limit(compile_program: Compile, wanted: str, reason: str) -> None:
    """Such a program may be right where it was written."""
    built = compile_program(wanted)
    assert (built.ok, built.findings) == (False, ())
    assert built.error.startswith(f"not supported here: {reason}")


def test_a_forgotten_header_of_a_library_is_the_students_mistake(compile_program: Compile) -> None:
    """The header is available, so a program that includes it has its names."""
    built = compile_program("int main() {\n  cublasHandle_t handle;\n  return cublasCreate(&handle);\n}\n")
    assert (built.ok, built.error) == (False, "")
    assert [finding.line for finding in built.findings][:1] == [2]
    assert "cublasHandle_t" in built.findings[0].message


def test_a_function_of_a_students_own_that_is_missing_is_no_library(compile_program: Compile) -> None:
    """The driver's functions have a prefix that others have, too."""
    built = compile_program('extern "C" int cuMultiply(int);\nint main() { return cuMultiply(0); }\n')
    assert (built.ok, built.error) == (False, "")
    assert "cuMultiply" in built.findings[0].message


def test_a_file_without_main_is_reported(compile_program: Compile) -> None:
    """This is the most common mistake of students who hand in a kernel where a program is asked for."""
    built = compile_program("__global__ void k(int *p) { *p = 1; }\n")
    assert only_message(built) == "this file has no `main` function, and a program begins there"


def test_headers_of_the_student_and_of_the_course_are_there() -> None:
    """By quotes or by angle brackets, in folders too; the course's own wins over a copy."""
    source = (
        '#include "mine/parts.h"\n#include <helpers.h>\n'
        'static_assert(COURSE == 1, "");\nint main() { return PARTS; }\n'
    )
    headers = (("mine/parts.h", b"#define PARTS 0\n"), ("helpers.h", b"#define COURSE 2\n"))
    interface = replace(INTERFACE, include=(("helpers.h", "#define COURSE 1\n"),))
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    built = build_program(tools, replace(_submission(source), headers=headers), interface)
    assert built.ok, built.findings


FOREIGN = {
    "plainly": ('int main() { return y; }\n#include "/etc/passwd"\n', 2),
    "for the device alone": ('int main() {}\n#ifdef __CUDA_ARCH__\n#include "/etc/passwd"\n#endif\n', 3),
    "for the device, before an error": (
        '#ifdef __CUDA_ARCH__\n#include "/etc/passwd"\n#error stop\n#endif\nint main() {}\n',
        2,
    ),
    "as bytes": ('asm(".section .rodata\\n.incbin \\"/etc/passwd\\"\\n.text");\nint main() {}\n', 1),
}


@pytest.mark.parametrize("how", FOREIGN)
def test_a_file_that_is_not_part_of_the_submission_is_refused(how: str, compile_program: Compile) -> None:
    """The finding has the file's name and the line, but no content, whichever of nvcc's programs read it."""
    source, line = FOREIGN[how]
    built = compile_program(source)
    assert not built.ok
    assert all("(`passwd`)" in finding.message for finding in built.findings)
    assert {finding.line for finding in built.findings} == {line}
    assert "root" not in str((built.findings, built.log))


def test_what_the_assembler_quotes_is_not_shown(compile_program: Compile) -> None:
    """An `.include` in an `asm` makes it repeat the file's lines as errors."""
    built = compile_program('asm(".include \\"/etc/passwd\\"");\nint main() { return 0; }\n')
    assert only_message(built) == "the assembler refuses what an `asm` statement of this file contains"
    assert "root" not in built.log


def test_an_instruction_that_the_assembler_does_not_know_has_its_line(compile_program: Compile) -> None:
    """As far as the student wrote it."""
    built = compile_program('int main() {\n    asm("frobnicate %rax");\n    return 0;\n}\n')
    assert places(built) == [(FILE, 2)]


def test_a_line_directive_is_no_foreign_file(compile_program: Compile) -> None:
    """A generated program may name the file it was generated from."""
    message = only_message(compile_program('#line 7 "parser.y"\nint main() { return z; }\n'))
    assert message.startswith('identifier "z" is undefined')


def test_arrays_that_no_address_reaches_over_are_reported(compile_program: Compile) -> None:
    """The linker reports it a thousand times, and never in these words."""
    built = compile_program(
        "char a[3000000000], b[3000000000];\nint c;\nint main() { return a[9] + b[9] + c; }\n"
    )
    assert only_message(built).startswith("the global and static arrays of this program are too large")


def test_an_endless_file_is_stopped_and_not_remembered(tmp_path: Path) -> None:
    """It costs the limit each time: another machine might have more of what it took."""
    sandbox = Answering()
    tools = Tools(find_toolchain(), sandbox, tmp_path)
    for times in (1, 2):
        built = build_program(tools, _submission('#include "/dev/zero"\nint main() {}\n'), INTERFACE)
        assert only_message(built).startswith("the compiler was stopped")
        assert len(sandbox.of_program) == times


def test_the_second_build_runs_nothing(tmp_path: Path) -> None:
    """The program's bytes come from the cache as they were; for another GPU it is built anew."""
    sandbox = Answering()
    tools = Tools(find_toolchain(), sandbox, tmp_path)
    first = build_program(tools, _submission(), INTERFACE)
    assert first.ok
    built = len(sandbox.of_program)
    again = build_program(tools, _submission(), INTERFACE)
    assert len(sandbox.of_program) == built
    assert replace(again, seconds=first.seconds) == first
    sandbox.answer = _ended(Status.EXIT, 1)
    build_program(tools, _submission(), INTERFACE, "sm_90")
    assert len(sandbox.of_program) == built + 1


def test_the_gpus_architecture_is_what_nvcc_compiles_for() -> None:
    """With a GPU its own instructions and PTX, without one PTX alone."""
    sandbox = Answering(_ended(Status.EXIT, 1))
    tools = Tools(find_toolchain(), sandbox)
    for architecture, option in (("sm_90", "-arch=sm_90"), ("", "-arch=compute_80")):
        build_program(tools, _submission(), INTERFACE, architecture)
        assert option in sandbox.of_program[-1].argv
        assert FILE not in " ".join(sandbox.of_program[-1].argv)


def test_a_submission_with_a_problem_is_not_compiled() -> None:
    """The build repeats the reason why nothing gradable was handed in."""
    problem = Finding(FindingKind.COMPILE, "no .cu file")
    sandbox = Answering()
    built = build_program(
        Tools(find_toolchain(), sandbox), replace(_submission(), problem=problem), INTERFACE
    )
    assert (built.ok, built.findings, sandbox.jobs) == (False, (problem,), [])


STUDENTS = {
    "time": (_ended(Status.TIME, -9), "the compiler was stopped after 2 s"),
    "a signal that nvcc passes on": (_ended(Status.EXIT, 128 + 11), "the compiler crashed on this file"),
    "a file too large": (_ended(Status.EXIT, 128 + 25), "the compiler was stopped: this file makes it write"),
    "a crash of g++'s": (
        _ended(
            Status.EXIT,
            4,
            b"g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n",
        ),
        "the compiler crashed on this file",
    ),
    "no word at all": (_ended(Status.EXIT, 1), "the compiler gave up on this file"),
    "no object file": (_ended(Status.EXIT, 0), "what the compiler makes of this file is larger than 64 MiB"),
}


@pytest.mark.parametrize("what", STUDENTS)
def test_limits_and_crashes_are_findings(what: str) -> None:
    """They are findings in each form in which nvcc reports how one of its programs ended."""
    answer, message = STUDENTS[what]
    built = build_program(Tools(find_toolchain(), Answering(answer)), _submission(), INTERFACE)
    assert only_message(built).startswith(message)
    assert built.error == ""


FORGED = b"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
LAST_WORDS = {
    "a file's name": FORGED + b":1:2: error: #error x\n",
    "a message": b"student_source.cu:1:9: note: '#pragma message: " + FORGED + b"'\n",
    "nvcc's words": FORGED + b"nvcc error : :1:2: error: #error x\n",
    "the words after a crash": b"g++: internal compiler error: Killed signal terminated program cc1plus\n"
    b"See <:1:2: error: #error > for instructions.\n",
}


@pytest.mark.parametrize("what", LAST_WORDS)
def test_a_killed_program_that_only_the_source_speaks_of_is_none(what: str) -> None:
    """A log that quotes the student's text does not end with it, so that no student escapes a grade by it."""
    answer = _ended(Status.EXIT, 1, LAST_WORDS[what])
    built = build_program(Tools(find_toolchain(), Answering(answer)), _submission(), INTERFACE)
    assert (built.ok, built.error) == (False, "")


def test_a_crash_of_the_compiler_is_reported_although_it_asks_for_a_bug_report() -> None:
    """GCC asks for a report of a bug after its last word."""
    crash = (
        b"g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n"
        b"Please submit a full bug report, with preprocessed source (by using -freport-bug).\n"
        b"See <file:///usr/share/doc/gcc-12/README.Bugs> for instructions.\n"
    )
    answer = _ended(Status.EXIT, 4, crash)
    built = build_program(Tools(find_toolchain(), Answering(answer)), _submission(), INTERFACE)
    assert only_message(built).startswith("the compiler crashed on this file")


def _no_disk(_: Job) -> Result:
    raise StorageError("the temporary folder cannot be used")


OURS = {
    "an option that nvcc does not know": (
        _ended(Status.EXIT, 1, b"nvcc fatal   : Unknown option '-x'\n"),
        "nvcc cannot compile: Unknown option '-x'",
    ),
    "what g++ starts is killed": (
        _ended(Status.EXIT, 1, FORGED),
        "the compiler was killed from outside (signal 9)",
    ),
    "killed": (_ended(Status.EXIT, 128 + 9), "the compiler was killed from outside (signal 9)"),
    "a full disk": (_ended(Status.EXIT, 1, b"x.s: No space left on device\n"), "the compiler cannot write"),
    "no folder": (_no_disk, "the temporary folder cannot be used"),
    "no object file but something": (
        lambda job: Result(_ended(Status.EXIT, 0)(job).outcome, ((job.wanted[0], b"\x7fELF!"),)),
        "the object file that the compiler made cannot be read",
    ),
}


@pytest.mark.parametrize("what", OURS)
def test_our_own_failures_are_errors_and_no_findings(what: str) -> None:
    """No student is graded by them."""
    answer, error = OURS[what]
    built = build_program(Tools(find_toolchain(), Answering(answer)), _submission(), INTERFACE)
    assert not built.ok
    assert built.findings == ()
    assert built.error.startswith(error)
