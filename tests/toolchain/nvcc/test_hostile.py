"""Sources that attack the compiler: each is stopped with a reason, and shows nothing it should not."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError, StorageError
from grader.model import Submission
from grader.simulation.ptx import parse
from grader.toolchain.nvcc import build, find_toolchain
from grader.toolchain.sandbox import COMPILING, Job, LocalSandbox, Outcome, Result, Status
from tests.toolchain.nvcc.conftest import FILE, INTERFACE, KERNEL, QUICK, only_message

if TYPE_CHECKING:
    from pathlib import Path

    from tests.toolchain.nvcc.conftest import BuildSource

MACRO_BOMB = "#define A0 x x x x x x x x x x\n" + "".join(
    f"#define A{i} {' '.join([f'A{i - 1}'] * 10)}\n" for i in range(1, 9)
)
TEMPLATE_BOMB = """
template <int N, int M> struct Bomb {
    static const long value = Bomb<N - 1, 2 * M>::value + Bomb<N - 1, 2 * M + 1>::value;
};
template <int M> struct Bomb<0, M> { static const long value = 1; };
__device__ long fuse = Bomb<24, 1>::value;
"""

STOPPED = {
    "endless file": (
        f'#include "/dev/zero"\n{KERNEL}',
        "the compiler was stopped: it needs more than 1024 MiB",
    ),
    "macro bomb": (f"{MACRO_BOMB}A8\n{KERNEL}", "the compiler was stopped after "),
    "template bomb": (f"{TEMPLATE_BOMB}{KERNEL}", "the compiler was stopped after "),
}


@pytest.mark.parametrize("bomb", STOPPED)
def test_a_bomb_is_stopped_by_its_limits(bomb: str, build_source: BuildSource) -> None:
    """The finding states that the compiler was stopped, and by which limit."""
    source, message = STOPPED[bomb]
    # An endless file meets the limit of memory, and on a busy machine not within a second.
    limits = replace(QUICK, cpu_seconds=20) if bomb == "endless file" else QUICK
    assert only_message(build_source(source, limits=limits)).startswith(message)


def test_deep_nesting_is_survived(build_source: BuildSource) -> None:
    """Ten thousand parentheses are either compiled or refused, never a failure of ours."""
    built = build_source(f"{KERNEL}int x = {'(' * 10_000}1{')' * 10_000};\n")
    assert built.error == ""
    assert built.ok or built.findings


@pytest.mark.parametrize(
    "source",
    [
        'const char *s =\n#include "/etc/passwd"\n;\n',
        '#include "/etc/passwd"\n#error stop\n',
        '#include "../../../../../../../../etc/passwd"\n',
        '#define root "\n#include "/etc/passwd"\n',
    ],
    ids=["in a string", "before an error", "by going up", "as a broken macro"],
)
def test_the_content_of_other_files_is_never_shown(source: str, build_source: BuildSource) -> None:
    """Neither findings nor the log repeat what stands in a file that is not the student's."""
    built = build_source(source)
    assert not built.ok
    assert built.findings
    shown = [built.log, *(finding.message for finding in built.findings)]
    assert not any(":x:" in text or "/bin" in text or "root" in text for text in shown)


ENTRY_IN_A_COMMENT = (
    '__global__ void aaa(int *) {{ asm volatile("/*\\n.visible .entry {name}(.param .u64 a, .param .u64 b, '
    '.param .u32 n)\\n*/"); }}\n'
)


@pytest.mark.parametrize("name", ["scale", "_Z5scalePKfPfi"])
def test_a_kernel_that_stands_in_a_comment_is_none(name: str, build_source: BuildSource) -> None:
    """A comment in inline assembly is not read; the kernel itself is found."""
    comment = ENTRY_IN_A_COMMENT.format(name=name)
    built = build_source(comment + KERNEL)
    assert (built.ok, built.entry) == (True, "_Z5scalePKfPfi")
    assert parse(built.ptx).function(built.entry).parameters
    assert only_message(build_source(comment)).startswith("no kernel named `scale`; this file has: `aaa`")


INJECTED = """__global__ void aaa(int *) {{
    asm volatile("ret;}}\\n{definition}\\n.func bbb() {{");
}}
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_inline_assembly_defines_no_constant(order: str, build_source: BuildSource) -> None:
    """A probe that is defined once more is refused as the assembler refuses any such name."""
    injected = INJECTED.format(definition=".const .align 8 .u64 __grader_TILE_WIDTH = 1;")
    built = build_source(injected + KERNEL if order == "before" else KERNEL + injected)
    assert not built.ok
    assert any("__grader_TILE_WIDTH" in finding.message for finding in built.findings)


def test_unreadable_inline_assembly_is_refused_by_the_assembler(build_source: BuildSource) -> None:
    """A text that our parser cannot read matters only where the assembler accepts it."""
    built = build_source(KERNEL.replace("{", '{ asm volatile("mov.u32 %0, (1;" :: "r"(N)); '))
    assert only_message(built).startswith("the assembler refuses the inline PTX")


DRIVER_OF_A_KILLED_PROGRAM = (
    b"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
)
"""The output of g++ where the machine's memory ran out and the preprocessor was killed for it."""


class Failing(LocalSandbox):
    """A sandbox whose jobs end with a given outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def run(self, job: Job) -> Result:
        """End at once, with none of the wanted files."""
        assert job.wanted
        return Result(self.outcome)


def build_ending(outcome: Outcome) -> str:
    """The only message of a build whose compiler ends with ``outcome``."""
    submission = Submission("ada", FILE, KERNEL.encode(), "digest")
    return only_message(
        build(submission, INTERFACE, sandbox=Failing(outcome), toolchain=find_toolchain(), cache=None)
    )


def test_a_full_disk_that_only_the_source_speaks_of_is_none(build_source: BuildSource) -> None:
    """A student cannot make it look like our fault."""
    built = build_source(f'#warning "No space left on device"\n{KERNEL}')
    assert (built.ok, built.error) == (True, "")


def test_a_killed_program_that_only_the_source_speaks_of_is_none(build_source: BuildSource) -> None:
    """Nor so, although a file's name is repeated with its line ends."""
    words = DRIVER_OF_A_KILLED_PROGRAM.decode().replace("\n", r"\n")
    built = build_source(f'#line 1 "{words}"\n#error on purpose\n{KERNEL}')
    assert (built.ok, built.error) == (False, "")


def test_a_crash_of_the_compiler_is_reported() -> None:
    """A compiler that crashes on a file gives a finding with the signal."""
    message = build_ending(Outcome(Status.SIGNAL, -11, b"", b"", 0.1))
    assert message == "the compiler crashed on this file (signal 11); it may be nested too deeply"


def test_a_failure_without_a_message_is_reported() -> None:
    """A compiler that only fails gives a finding with its exit status."""
    message = build_ending(Outcome(Status.EXIT, 4, b"", b"???", 0.1))
    assert message == "the compiler gave up on this file (exit status 4) without naming a line"


def test_too_much_output_is_reported() -> None:
    """A compiler that writes too much was stopped."""
    message = build_ending(Outcome(Status.OUTPUT, -9, b"", b"", 0.1))
    assert message == "the compiler was stopped: this file makes it write more than 64 MiB"


NO_PROCESS = (
    b"g++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable\n"
    b"compilation terminated.\n"
)


@pytest.mark.parametrize(
    ("outcome", "error", "message"),
    [
        (Outcome(Status.SIGNAL, -9, b"", b"", 0.1), OurError, "killed from outside"),
        (Outcome(Status.EXIT, 1, b"", DRIVER_OF_A_KILLED_PROGRAM, 0.1), OurError, "killed from outside"),
        (Outcome(Status.EXIT, 1, b"", b"cannot write: No space left on device", 0.1), StorageError, "full"),
        (Outcome(Status.EXIT, 1, b"", b"cannot write: Disk quota exceeded", 0.1), StorageError, "full"),
        (Outcome(Status.EXIT, 1, b"", NO_PROCESS, 0.1), OurError, "this machine runs as many as it may"),
        (
            Outcome(Status.TIME, -9, b"", b"", 60.0, starved=True),
            OurError,
            "too busy to let it work; try again while less runs here$",
        ),
        (
            Outcome(
                Status.EXIT,
                1,
                b"",
                b"<command-line>: fatal error: cuda_runtime.h: No such file or directory",
                0.1,
            ),
            OurError,
            "do not work together: cuda_runtime.h",
        ),
    ],
    ids=[
        "killed",
        "what g++ starts is killed",
        "disk full",
        "quota",
        "no process",
        "no time",
        "no toolkit headers",
    ],
)
def test_our_own_failures_are_errors_of_ours(outcome: Outcome, error: type[OurError], message: str) -> None:
    """A failure that the student cannot help is raised, and is never a finding."""
    with pytest.raises(error, match=message):
        build_ending(outcome)


FULL = b"student_source.cu(65): error: error while writing generated C++ file: No space left on device\n"
UNWRITTEN = b"<built-in>: fatal error: when writing output to grader_unit.cpp1.ii: Invalid argument\n"


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Status.SIGNAL, -11, b"", b"", 0.1),
        Outcome(Status.EXIT, 4, b"", b"???", 0.1),
        Outcome(Status.EXIT, 1, b"", UNWRITTEN + b"compilation terminated.\n", 0.1),
        Outcome(Status.EXIT, 4, b"", FULL, 0.1),
    ],
    ids=["crash", "gives up", "cannot write", "cannot write and names a line"],
)
def test_what_a_full_disk_makes_of_a_file_is_ours_where_the_disk_is_nearly_full(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unable to write, cicc crashes, g++ speaks of an invalid argument, cudafe++ names the last line."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=3 * 2**20))
    with pytest.raises(StorageError, match="disk has only 3 MiB left, too little to rely on"):
        build_ending(outcome)


def test_an_error_in_a_line_is_the_students_however_full_the_disk(
    build_source: BuildSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that names a line of the submission is not caused by the disk."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    built = build_source(f"#error on purpose\n{KERNEL}")
    assert (built.ok, built.error) == (False, "")
    assert built.findings[0].line == 1


def test_an_unusable_temporary_folder_is_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A temporary folder that is gone is a StorageError."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    submission = Submission("ada", FILE, KERNEL.encode(), "digest")
    with pytest.raises(StorageError, match="cannot be used"):
        build(submission, INTERFACE, sandbox=LocalSandbox(), toolchain=find_toolchain(), cache=None)


def test_a_bomb_of_macros_is_the_file_s_fault_on_a_busy_machine_too(build_source: BuildSource) -> None:
    """The preprocessor gets a tenth of a processor: it has longer, until it has had its share."""
    spin = ("sh", "-c", "while :; do :; done")
    before, limits = os.sched_getaffinity(0), replace(COMPILING, own_seconds=1.0, memory_bytes=0)
    with ExitStack() as stack:
        stack.callback(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {min(before)})
        for _ in range(9):
            stack.callback(stack.enter_context(subprocess.Popen(spin, start_new_session=True)).kill)
        built = build_source(f"{MACRO_BOMB}A8\n{KERNEL}", limits=limits)
    assert only_message(built).startswith("the compiler was stopped after ")
