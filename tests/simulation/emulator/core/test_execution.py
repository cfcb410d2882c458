"""The native core: a clean launch has the interpreter's result, and no other launch is called clean."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np
import pytest

from grader.model import Argument, FindingKind, Launch
from grader.model.messages import clause
from grader.simulation.emulator.core import NativeKernel
from grader.simulation.emulator.core.execution import LONG_BLOCK, SUSPECT_BLOCK, WORK_UNIT
from grader.simulation.emulator.core.library import codes, library
from grader.simulation.emulator.launch import LOOKED_AT, STEPS, Execution, Kernel
from grader.simulation.emulator.memory.layout import lay_out
from grader.simulation.emulator.profile import TouchedBytes
from grader.simulation.ptx import parse
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from grader.model import Run
    from grader.simulation.emulator.core import Attempt
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.ptx import Module

SOURCE = Path(__file__).with_name("kernels.cu").read_text()
WRONG_SOURCE = Path(__file__).with_name("wrong.cu").read_text()
BUILDS = {"default": (), "O0": nvcc.HAZARDS}

_FLAT, _TILE = Launch((3, 1, 1), (64, 1, 1)), Launch((2, 1, 1), (8, 8, 1))
CLEAN = {
    "adds": (_FLAT, np.float32, 192),
    "tiles": (_TILE, np.float32, 192),
    "parts": (Launch((3, 1, 1), (50, 1, 1)), np.int32, 192),
    "calls": (_FLAT, np.float32, 192),
    "shuffles": (_FLAT, np.float32, 192),
    "words": (_FLAT, np.int64, 192),
    "floats": (_FLAT, np.float64, 192),
    "own_arrays": (_FLAT, np.float32, 192),
    "histogram": (_FLAT, np.int32, 192),
    "extremes": (_FLAT, np.int64, 192),
    "vectors": (_FLAT, np.float32, 768),
    "warp_steps": (_FLAT, np.float32, 192),
    "tickets": (_FLAT, np.int32, 193),
    "swaps": (_FLAT, np.int32, 4 + 2 * 192),
    "float_sums": (_FLAT, np.float64, 194),
    "strong": (_FLAT, np.float32, 192),
    "copies_gaps": (_FLAT, np.float64, 192),
}
"""Launches, and the type and length of B."""

WHOLE = ("parts", "words", "histogram", "extremes", "tickets", "swaps")
"""Kernels that take whole numbers."""

UPDATES = ("histogram", "extremes", "tickets", "swaps", "float_sums")
"""Kernels of atomic operations, which read what B holds at first."""

N = 64


@lru_cache(maxsize=8)
def built(source: str, build: str) -> Module:
    """A file in one of the two builds."""
    return nvcc.compile_one(source, BUILDS[build])


def arguments(kernel: str, seed: int) -> tuple[Argument, ...]:
    """A random A, an empty B, and n."""
    _, kind, length = CLEAN[kernel]
    rng = np.random.default_rng(seed)
    whole = kernel in WHOLE
    a = rng.integers(-(2**31), 2**31, 1024).astype(np.int32) if whole else rng.standard_normal(1024)
    return (
        Argument("A", "in", a if whole else a.astype(np.float32)),
        Argument("B", "inout" if kernel in UPDATES else "out", np.zeros(length, kind)),
        Argument("n", "value", np.int32(192 if kernel == "adds" else N)),
    )


def attempt(source: str, build: str, kernel: str, launch: Launch, values: tuple[Argument, ...]) -> Attempt:
    """The launch on the core alone, begun again where reads have to be kept."""
    module, detect = built(source, build), build == "O0"
    native = NativeKernel(module, kernel)
    while True:
        layout = lay_out(module, module.function(kernel), launch, values, track=detect)
        got = native.attempt(launch, layout, detect=detect, steps=STEPS)
        if not got.track:
            return got


def test_the_library_is_there_and_of_these_sources() -> None:
    """Without the library launches only take longer, which no other test would detect."""
    assert library() is not None, "run `make setup`, or python -m grader.toolchain.core_library"
    assert {"mov_b32", "load", "refuse"} <= codes().keys()


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", CLEAN)
def test_a_clean_launch_has_the_result_of_the_interpreter(kernel: str, build: str) -> None:
    """Bits of outputs, counters, and the instructions that were executed; the core runs it to its end."""
    launch, values = CLEAN[kernel][0], arguments(kernel, 5)
    assert attempt(SOURCE, build, kernel, launch, values).clean
    native, interpreted = (
        Kernel(built(SOURCE, build), kernel, interpreted=by).run(launch, values, detect=build == "O0")
        for by in (False, True)
    )
    assert not interpreted.findings
    for (name, ours), (_, theirs) in zip(native.outputs, interpreted.outputs, strict=True):
        assert ours.tobytes() == theirs.tobytes(), name
    assert native.counters == interpreted.counters
    assert native.executed == interpreted.executed
    assert native.changed_inputs == interpreted.changed_inputs == ()


@pytest.mark.parametrize("kernel", CLEAN)
def test_the_bytes_of_memory_that_a_launch_uses_are_those_of_the_interpreter(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The core finds the bytes that are read, written and updated without the help of the interpreter."""
    (launch, *_), values, module = CLEAN[kernel], arguments(kernel, 5), built(SOURCE, "default")
    size = len(lay_out(module, module.function(kernel), launch, values, track=False).memory.bytes)
    of_engines = []
    for interpreted in (True, False):
        touched = TouchedBytes(size)
        observed = Kernel(module, kernel, interpreted=interpreted, observers=partial(tuple, (touched,)))
        observed.run(launch, values, detect=False, races=True)
        of_engines.append(touched)
        monkeypatch.setattr(Execution, "run", refused)
    theirs, ours = of_engines
    assert theirs.marks.any()
    assert np.array_equal(ours.marks, theirs.marks)


def refused(*_: object) -> Never:
    """In place of the interpreter."""
    pytest.fail("the interpreter ran")


def test_a_clean_launch_leaves_out_outputs_that_are_not_asked_for() -> None:
    """All else is there."""
    launch, values = CLEAN["adds"][0], arguments("adds", 5)
    kernel = Kernel(built(SOURCE, "O0"), "adds")
    whole, without = (kernel.run(launch, values, detect=True, outputs=outputs) for outputs in (True, False))
    assert whole.outputs
    assert without.outputs == ()
    assert replace(without, seconds=0) == replace(whole, outputs=(), seconds=0)


def test_an_array_that_is_read_and_written_by_its_own_threads_is_clean_at_the_second_attempt() -> None:
    """Reads are only kept where the kernel writes the array, too; the kernel remembers which."""
    values = tuple(
        replace(value, direction="inout") if value.name == "A" else value for value in arguments("adds", 2)
    )
    module = built(SOURCE, "default")
    native = NativeKernel(module, "in_place")
    layouts = [lay_out(module, module.function("in_place"), _FLAT, values, track=False) for _ in range(3)]
    got = [native.attempt(_FLAT, layout, detect=False, steps=STEPS) for layout in layouts]
    assert [one.clean for one in got] == [False, True, True]
    assert got[0].track == "A"


WRONG = {
    "race": "race",
    "race_in_a_warp": "race",
    "race_of_blocks": "race",
    "race_after_reads": "race",
    "race_of_equal_values": "race",
    "beyond_an_array": "bounds",
    "beyond_shared": "bounds",
    "not_aligned": "alignment",
    "unset_shared": "unset-memory",
    "unset_own": "unset-memory",
    "returned": "exited-before-barrier",
    "two_barriers": "parted-at-barrier",
    "part_of_a_warp": "lanes-missing",
    "sometimes_set": "not-lowered",
    "race_of_update": "race",
    "race_of_update_and_read": "race",
    "waits_for_a_warp": "spinning",
    "waits_for_a_lane": "spinning",
}
"""Kernels by the reason for which they are not clean."""


@pytest.mark.parametrize("kernel", WRONG)
def test_what_may_be_wrong_is_not_clean_and_has_a_reason(kernel: str) -> None:
    """Races in the default build: in the other one who reads before the other warp writes reads nothing."""
    build = "default" if kernel.startswith(("race", "waits")) else "O0"
    got = attempt(WRONG_SOURCE, build, kernel, Launch((2, 1, 1), (64, 1, 1)), arguments("adds", 1))
    assert not got.clean
    assert got.reason == WRONG[kernel]


@pytest.mark.parametrize(
    ("body", "opcode"),
    [
        ("atomicAdd_block(B, A[0]);", "atom"),
        ('asm volatile("bar.arrive 1, 64;");', "bar"),
        ('asm("fns.b32 %0, %1, 0, 1;" : "=r"(n) : "r"(n)); B[threadIdx.x] = n;', "fns"),
    ],
)
def test_an_instruction_that_the_core_does_not_execute_is_named(body: str, opcode: str) -> None:
    """The kernel is refused as a whole, before any launch."""
    source = f'extern "C" __global__ void k(const float* A, float* B, int n) {{ {body} }}'
    got = attempt(source, "O0", "k", Launch((1, 1, 1), (32, 1, 1)), arguments("adds", 1))
    assert not got.clean
    assert opcode in got.reason


PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u32 k_2)
{
    .reg .pred %p<2>;
    .reg .b32 %r<REGISTERS>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [k_1];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 ret;
}
"""
"""Its last instruction is a `ret` that not every thread executes."""


def test_a_thread_that_comes_to_the_end_of_the_text_ends() -> None:
    """Whatever the last instruction is: behind it nothing is executed."""
    values, launch = arguments("adds", 1), Launch((1, 1, 1), (1, 1, 1))
    module = parse(PTX.replace("REGISTERS", "3"))
    layout = lay_out(module, module.function("k"), launch, values, track=False)
    assert NativeKernel(module, "k").attempt(launch, layout, detect=False, steps=STEPS).clean


def test_a_kernel_with_very_many_registers_is_left_to_the_interpreter() -> None:
    """Registers are declared in a student's file: their memory has a limit."""
    values, launch = arguments("adds", 1), Launch((1, 1, 1), (1, 1, 1))
    module = parse(PTX.replace("REGISTERS", "100000"))
    layout = lay_out(module, module.function("k"), launch, values, track=False)
    got = NativeKernel(module, "k").attempt(launch, layout, detect=False, steps=STEPS)
    assert (got.clean, got.reason) == (False, "a kernel with very many registers")


@pytest.mark.parametrize(("body", "most"), [("sum += A[k & 63] * B[k & 31];", 12), ("sum = sum * 3 + k;", 7)])
def test_a_round_of_a_loop_of_the_unoptimised_build_takes_few_operations(body: str, most: int) -> None:
    """Copies, conversions of indices and sums of addresses are no operations of their own."""
    source = f"""extern "C" __global__ void k(const float* A, float* B, int n) {{
        float sum = 0; for (int k = 0; k < n; ++k) {{ {body} }} B[threadIdx.x + 64] = sum; }}"""
    few, many = (
        attempt(
            source,
            "O0",
            "k",
            Launch((1, 1, 1), (32, 1, 1)),
            (
                Argument("A", "in", np.ones(64, np.float32)),
                Argument("B", "inout", np.ones(96, np.float32)),
                Argument("n", "value", np.int32(rounds)),
            ),
        )
        for rounds in (256, 256 + WORK_UNIT * 100)
    )
    assert few.clean
    assert many.clean
    assert (many.work - few.work) / 100 <= most


def test_a_launch_that_is_given_up_is_not_clean() -> None:
    """For its budget of work, or because no caller waits any more."""
    module = built(WRONG_SOURCE, "default")
    values = (
        Argument("A", "in", np.zeros(4, np.int32)),
        Argument("B", "out", np.zeros(4, np.int32)),
        Argument("n", "value", np.int32(2**30)),
    )
    launch = Launch((1, 1, 1), (1, 1, 1))
    native = NativeKernel(module, "goes_on")

    def again(steps: int, *, time_is_up: bool) -> Attempt:
        layout = lay_out(module, module.function("goes_on"), launch, values, track=False)
        return native.attempt(launch, layout, detect=False, steps=steps, time_is_up=lambda: time_is_up)

    assert again(10, time_is_up=False).reason == "out-of-work"
    assert again(10**9 // WORK_UNIT, time_is_up=True).reason == "time"


def test_the_interpreter_only_shows_where_a_launch_is_that_is_too_much_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The core has done the work: the blocks that ended are its own, and findings there would have been."""
    source = """
    extern "C" __global__ void sums(int* B, int n) {
        int x = threadIdx.x;
        for (int i = 0; i < n; ++i) x = x * 1664525 + i;
        B[blockIdx.x * blockDim.x + threadIdx.x] = x;
    }
    """
    module, launch = nvcc.compile_one(source), Launch((64, 1, 1), (32, 1, 1))
    values = Argument("B", "out", np.zeros(64 * 32, np.int32)), Argument("n", "value", np.int32(100_000))
    kernel = Kernel(module, "sums")
    budgets: list[int] = []
    interpreted = Execution.run

    def noted(execution: Execution, steps: int) -> Run:
        budgets.append(steps)
        return interpreted(execution, steps)

    monkeypatch.setattr(Execution, "run", noted)
    whole = kernel.run(launch, values, detect=False)
    assert (whole.completed, whole.ended_blocks, budgets) == (True, 64, [])
    steps = whole.work * 5 // 8
    part = kernel.run(launch, values, detect=False, steps=steps)
    assert (part.completed, part.ended_blocks, budgets) == (False, 40, [min(steps, LOOKED_AT)])
    assert part.work == steps
    assert part.ended_work == pytest.approx(steps, rel=0.1)
    assert f"after {steps:,} steps" in clause(part.too_much_work)


def test_a_loop_without_an_end_is_seen_in_its_block_and_sooner_in_the_next_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The interpreter looks at the block that takes long alone: of many, each would take few steps."""
    source = """
    extern "C" __global__ void rounds(float* B, int n) {
        __shared__ float tile[256];
        float sum = 0.0f;
        for (int i = 0; i < n; i += blockIdx.x == 5 ? 0 : 1) {
            tile[threadIdx.x] = i;
            __syncthreads();
            sum = tile[255 - threadIdx.x];
            __syncthreads();
        }
        B[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    }
    """
    looks: list[tuple[int | None, int]] = []
    interpreted, attempted, work = Execution.run, NativeKernel.attempt, []

    def looked(execution: Execution, steps: int) -> Run:
        looks.append((execution.options.block, steps))
        return interpreted(execution, steps)

    def counted(kernel: NativeKernel, launch: Launch, layout: Layout, **options: Any) -> Attempt:  # noqa: ANN401
        work.append(kernel.patience)
        return attempted(kernel, launch, layout, **options)

    monkeypatch.setattr(Execution, "run", looked)
    monkeypatch.setattr(NativeKernel, "attempt", counted)
    kernel = Kernel(nvcc.compile_one(source), "rounds")
    values = Argument("B", "out", np.zeros(64 * 256, np.float32)), Argument("n", "value", np.int32(4))
    for _ in range(2):
        run = kernel.run(Launch((64, 1, 1), (256, 1, 1)), values, detect=True)
        assert [(finding.kind, finding.line) for finding in run.findings] == [(FindingKind.TIMEOUT, 7)]
    assert looks == [(5, LOOKED_AT), (None, STEPS)] * 2
    assert work == [LONG_BLOCK, SUSPECT_BLOCK]


@pytest.mark.parametrize("build", BUILDS)
def test_what_a_header_leaves_unset_in_local_memory_is_clean(build: str) -> None:
    """A tile of threads is an object whose bit fields the toolkit's header sets one by one."""
    source = """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void sums(const float* A, float* B, int n) {
        cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
        float x = A[(blockIdx.x * blockDim.x + threadIdx.x) % n];
        for (int step = tile.size() / 2; step > 0; step /= 2) x += tile.shfl_down(x, step);
        B[blockIdx.x * blockDim.x + threadIdx.x] = x;
    }
    """
    module, launch, values = nvcc.compile_one(source, BUILDS[build]), CLEAN["adds"][0], arguments("adds", 5)
    native = NativeKernel(module, "sums", "kernel.cu")
    layout = lay_out(module, module.function("sums"), launch, values, track=build == "O0")
    assert native.attempt(launch, layout, detect=build == "O0", steps=STEPS).clean
    runs = [
        Kernel(module, "sums", "kernel.cu", interpreted=by).run(launch, values, detect=build == "O0")
        for by in (False, True)
    ]
    assert runs[0].outputs[0][1].tobytes() == runs[1].outputs[0][1].tobytes()
    assert [run.findings for run in runs] == [(), ()]


def test_a_variable_that_is_set_before_it_is_used_is_clean_though_some_ways_do_not_set_it() -> None:
    """Each thread is asked whether it has set what it uses; a copy of what it has not set is no use."""
    launch, values = CLEAN["adds"][0], arguments("adds", 5)
    assert attempt(SOURCE, "O0", "set_on_some_ways", launch, values).clean
    native, interpreted = (
        Kernel(built(SOURCE, "O0"), "set_on_some_ways", interpreted=by).run(launch, values, detect=True)
        for by in (False, True)
    )
    assert native.outputs[0][1].tobytes() == interpreted.outputs[0][1].tobytes()
    assert native.findings == interpreted.findings == ()
