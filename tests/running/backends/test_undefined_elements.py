"""Whatever another order of the threads makes of a kernel that races lies in what is proved undefined.

No GPU is needed for that: the emulator runs the warps one after another, the last first.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.base.records import frozen
from grader.grading.assignment import staff_folder
from grader.kinds import pipeline
from grader.model import Argument, Build, Case, Finding, FindingCode, Launch, Submission, Visibility
from grader.running.backends import PreparedCase
from grader.running.backends.deciding import undefined
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.running.backends.emulator import EmulatorBackend, emulated
from grader.simulation.emulator.launch import Kernel
from grader.simulation.ptx import parse
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from pathlib import Path

    from grader.running.backends import Runs

RACING = (
    ("tiled-matmul", "no_first_barrier"),
    ("tiled-matmul", "no_second_barrier"),
    ("tiled-matmul", "no_barriers"),
    ("tiled-matmul", "second_barrier_after_loop"),
    ("reduction", "no_barrier"),
    ("reduction", "tree_with_one_barrier"),
    ("inclusive-scan", "no_barrier_after_load"),
    ("inclusive-scan", "no_barrier_in_steps"),
    ("inclusive-scan", "no_store_guard"),
    ("histogram", "emptied_by_one_thread_without_barrier"),
    ("histogram", "no_barriers"),
    ("transpose", "no_barrier"),
    ("convolution-2d", "no_barrier"),
    ("vector-add", "copies_for_another"),
)


@frozen
class Keeping(EmulatorBackend):
    """The emulator, which keeps the cases that it is given."""

    cases: list[PreparedCase] = field(default_factory=list)

    def run(self, built: Any, cases: tuple[PreparedCase, ...], *others: Any) -> Runs:  # noqa: ANN401 - passed on
        """Keep them, and run them."""
        self.cases.extend(cases)
        return EmulatorBackend.run(self, built, cases, *others)


def prepared(name: str, file: Path) -> list[PreparedCase]:
    """The first two visible cases of an assignment, for one file."""
    backend, tools = Keeping(), Tools(find_toolchain(), LocalSandbox(), shared_builds())
    whole = pipeline.make_plan(bundled(name), 7, tools, visible_only=True, backend=backend)
    plan = replace(whole, cases=whole.cases[:2], feedback=False)
    grade = pipeline.grade(plan, Submission("s", file.name, file.read_bytes(), "d"), tools)
    assert not grade.error
    return backend.cases


IN_SOME_THREADS = """
extern "C" __global__ void some(const float* in, float* out) {
    int t = threadIdx.x;
    float x;
    if (t % 2) x = in[t];
    out[t] = x;
}
"""


def test_elements_that_hold_what_some_threads_had_not_set_are_undefined_and_no_grave_matter() -> None:
    """They may lie where anything is right, so speed is still measured."""
    default, hazards = nvcc.ptx(IN_SOME_THREADS, ("-lineinfo",)), nvcc.ptx(IN_SOME_THREADS)
    build = Build(ok=True, ptx=default, hazard_ptx=hazards, source_name="kernel.cu", entry="some")
    kernel = EmulatedKernel(build, "kernel.cu", "kernel.cu")
    launch = Launch((1, 1, 1), (32, 1, 1))
    arguments = (
        Argument("in", "in", np.ones(32, np.float32)),
        Argument("out", "inout", np.zeros(32, np.float32)),
    )
    run = kernel.launch(launch, arguments)
    assert [finding.code for finding in run.findings] == [FindingCode.UNSET_IN_SOME_THREADS]
    proved = undefined(
        PreparedCase(Case("c", (), (), Visibility.VISIBLE, "random", 1), kernel, launch, arguments), run
    )
    assert proved is not None
    assert proved.elements is not None
    assert np.flatnonzero(dict(proved.elements)["out"]).tolist() == list(range(0, 32, 2))
    assert not proved.grave


@pytest.mark.parametrize(("name", "mistake"), RACING)
def test_what_differs_in_another_order_is_proved_undefined(name: str, mistake: str) -> None:
    """A value that is called defined is the same whoever comes first."""
    proved_by_case = []
    for case in prepared(name, mistake_file(staff_folder(bundled(name)) / "mistakes" / f"{mistake}.cu")):
        run = emulated(case)
        assert not isinstance(case.launch, Finding)
        if not run.completed:
            continue
        proved = undefined(case, run)
        proved_by_case.append(proved)
        build = case.kernel.build
        other = Kernel(parse(build.ptx), build.entry, build.source_name)
        elsewhere = dict(other.warp_by_warp(case.launch, case.arguments, run.work, case.steps))
        for array, output in run.outputs:
            same = np.isclose(output, elsewhere.get(array, output), rtol=1e-4, equal_nan=True)
            masks = dict(proved.elements) if proved and proved.elements is not None else {}
            mask = masks.get(array, np.full(output.shape, proved is not None))
            assert (same | mask).all(), (case.case.id, array)
    assert any(case is not None for case in proved_by_case)
