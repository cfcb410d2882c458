"""Whole programs on processors such as Apple's: the stand-in is made for them, and runs on an emulated one.

A single instruction cannot be let through there: an allocation that a touch comes near is given whole, so
what comes after it in the same array is not looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.toolchain.nvcc import Tools
from grader.toolchain.nvcc.runtime import call_lines, calls_of_runtime
from grader.toolchain.sandbox import LocalSandbox
from tests.running.device.hosts import HEAD, compile_host, serve, tools
from tests.running.device.test_host_calls import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from grader.toolchain.sandbox import Job, Result

pytestmark = pytest.mark.aarch64

PREFIX = "aarch64-linux-gnu"
EMULATOR = ("qemu-aarch64", "-L", f"/usr/{PREFIX}")
NEEDS_STEPS = frozenset(
    {
        "a stream that nobody has waited for, behind one that was",
        "an event that stands for one of two streams",
    }
)
"""Cases whose mistake comes behind a right access to the same array."""


@pytest.fixture(scope="module")
def cross_tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """A compiler for aarch64, which keeps the stand-in that it made."""
    own = tools()
    compiler = replace(own.toolchain, host_compiler=f"{PREFIX}-g++", host_version="for aarch64")
    return Tools(compiler, LocalSandbox(), tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("name", CASES)
def test_a_call_does_what_a_device_does(cross_tools: Tools, tmp_path: Path, name: str) -> None:
    """As on x86-64: codes, data, and the mistakes that are noted."""
    case = CASES[name]
    body = case.body if "int main" in case.body else f"int main() {{ {case.body} }}"
    ran = serve(compile_host(body, tmp_path, cross_tools), before=EMULATOR, seconds=60)
    mistakes = [] if name in NEEDS_STEPS else list(case.mistakes)
    assert (ran.stdout, ran.mistakes, ran.returncode, ran.cut) == (case.printed, mistakes, 0, "")


@pytest.mark.parametrize(
    "machine",
    [("-p", str(1 << 14)), ("-p", str(1 << 16)), ("-R", hex(1 << 39))],
    ids=["pages of 16 KiB", "pages of 64 KiB", "addresses of 39 bits"],
)
def test_memory_is_shared_on_other_kernels(
    cross_tools: Tools, tmp_path: Path, machine: tuple[str, ...]
) -> None:
    """Linux on Apple's machines has pages of 16 KiB, on servers of 64 KiB; on small ones few addresses."""
    body = """float *first, *second, *pinned; int device;
    if (cudaMallocManaged(&first, 5000) || cudaMallocManaged(&second, 4)) return 1;
    if (cudaMallocHost((void **)&pinned, 40)) return 2;
    first[0] = 7; first[1249] = 8; pinned[9] = 9;
    cudaMemcpy(second, first + 1249, 4, cudaMemcpyDefault);
    cudaFree(first);
    std::printf("%g %g %ld", *second, pinned[9], sysconf(_SC_PAGESIZE)); cudaGetDevice(&device);
    """
    program = compile_host(f"#include <unistd.h>\nint main() {{ {body} return 0; }}", tmp_path, cross_tools)
    ran = serve(program, before=(*EMULATOR, *machine), seconds=60)
    pages = machine[1] if machine[0] == "-p" else "4096"
    assert (ran.stdout, ran.returncode, ran.cut) == (f"8 9 {pages}", 0, "")


class CrossSandbox(LocalSandbox):
    """Runs a tool of the compiler's under the name that it has where it is for another processor."""

    def run(self, job: Job) -> Result:
        """The job, by such a tool."""
        return super().run(replace(job, argv=(f"{PREFIX}-{job.argv[0]}", *job.argv[1:])))


def test_calls_of_the_runtime_are_found_with_their_lines(cross_tools: Tools, tmp_path: Path) -> None:
    """By the instructions that return behind them."""
    body = "int main() {\nvoid *d;\ncudaMalloc(&d, 4);\nint n = 3;\nreturn cudaFree(d) + n - 3;\n}"
    program = compile_host(body, tmp_path, cross_tools).read_bytes()
    first = HEAD.count("\n") + 1
    calls = calls_of_runtime(CrossSandbox(), program)
    places = call_lines(CrossSandbox(), program, ("host.cpp",), calls)
    assert sorted(line - first for _, line in places.values()) == [2, 4]
