"""Programs without a GPU whose launches never end: mistakes, and waits for the host or another stream."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.model import Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.kinds.reversing_program import RIGHT, Graded, grading, results_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; the stand-in is compiled once for this file's tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture
def graded(tools: Tools, tmp_path: Path) -> Graded:
    """Grade a program on the emulator."""
    return grading(tools, tmp_path)


WAITS = """
__global__ void wait(volatile int *flag) { while (*flag == 0) {} }
int main"""


def test_a_last_launch_that_never_ends_is_a_mistake_of_the_program(graded: Graded) -> None:
    """All results are there before it, and nobody asks how it ended: a device is busy with it for ever."""
    endless = "cudaMemset(device, 0, 4); wait<<<1, 1>>>(device); cudaFree(device);"
    grade = graded(RIGHT.replace("int main", WAITS).replace("cudaFree(device);", endless))
    result = results_of(grade)["host"]
    assert (result.verdict, result.item.points) == (Verdict.FAIL, Fraction(10))
    assert [finding.line for finding in result.findings] == [9]
    assert results_of(grade)["says"].verdict is Verdict.PASS


RELEASES = {
    "mapped memory": """int *flag; cudaHostAlloc(&flag, 4, cudaHostAllocMapped); *flag = 0;
        wait<<<1, 1>>>(flag); *(volatile int *)flag = 1; cudaDeviceSynchronize(); cudaFreeHost(flag);""",
    "another stream": """cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaMemset(device, 0, 4); wait<<<1, 1, 0, s>>>(device);
        int one = 1; cudaMemcpy(device, &one, 4, cudaMemcpyHostToDevice);
        cudaStreamSynchronize(s); cudaStreamDestroy(s);""",
}


ENDLESS = {
    "by itself": "while (true) __nanosleep(9);",
    "by its numbers": "for (int i = 1; i != 0; i = i * 2 % 3) sink[0] = 1;",
}


@pytest.mark.parametrize("loop", ENDLESS.values(), ids=ENDLESS)
def test_no_stream_releases_a_launch_whose_loops_read_no_memory(graded: Graded, loop: str) -> None:
    """An endless launch in a stream of its own is a mistake of the program like any other."""
    kernel = f"__global__ void endless(volatile int *sink) {{ {loop} }}\nint main"
    launch = "cudaStream_t s; cudaStreamCreate(&s); endless<<<1, 1, 0, s>>>(device); cudaFree(device);"
    source = RIGHT.replace("int main", kernel).replace("cudaFree(device);", launch)
    result = results_of(graded(source))["host"]
    assert (result.verdict, result.is_question) == (Verdict.FAIL, False)


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_a_launch_that_waits_for_its_host_is_a_question_to_staff(graded: Graded, release: str) -> None:
    """Launches are followed one after the other here: what ends the wait comes later."""
    source = RIGHT.replace("int main", WAITS).replace("cudaFree(device);", f"{release} cudaFree(device);")
    results = results_of(graded(source))
    assert (results["host"].verdict, results["host"].is_question) == (Verdict.ERROR, True)
    assert "waits for what the host or another stream does" in results["host"].message
    assert results["says"].verdict is Verdict.PASS
    assert not [one for one in results.values() if one.verdict is Verdict.FAIL]
