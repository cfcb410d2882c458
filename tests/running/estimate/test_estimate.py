"""The estimate of a kernel's time: ratio and interval, limits, changes that help, and why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import CHANGES, DEVICES, LIMITS, PROBLEMS, Build, KernelEstimate, Launch
from grader.running.estimate import (
    ERROR_BOUND,
    NotEstimatedError,
    changes_that_help,
    device_of,
    estimate_kernel,
    ratio_of,
)
from grader.running.estimate.devices import H100
from grader.toolchain.nvcc import machine_code
from tests.running.estimate.launches import SOURCE, build, floats, named, tools
from tests.simulation.emulator.nvcc import line_of
from tests.simulation.emulator.nvcc import ptx as compile_text

if TYPE_CHECKING:
    from grader.running.estimate.estimate import EstimatedKernel
    from tests.running.estimate.launches import Value

TENSOR_CORES = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
"""
BLOCKS = 8 * H100.multiprocessors


def estimated(entry: str, blocks: int, threads: int, *arguments: Value) -> EstimatedKernel:
    """One of the small kernels on an H100."""
    return _estimated(build(entry), blocks, threads, *arguments)


def _estimated(
    built: Build, blocks: int, threads: int, *arguments: Value, shared: int = 0
) -> EstimatedKernel:
    code = machine_code(tools(), built.ptx, H100.architecture)
    launch = Launch((blocks, 1, 1), (threads, 1, 1), shared)
    return estimate_kernel(code, built, launch, named(*arguments), H100)


@pytest.mark.parametrize(
    ("entry", "values", "problem"),
    [("endless", np.zeros(4, np.float32), "too-much-work"), ("stray", floats(32), "wrong")],
)
def test_what_does_not_end_or_leaves_its_arrays_has_no_estimate(
    entry: str, values: Value, problem: str
) -> None:
    """The code of the problem gives the reason."""
    with pytest.raises(NotEstimatedError) as raised:
        estimated(entry, 1, 32, values)
    assert raised.value.problem == problem
    assert problem in PROBLEMS


def test_an_instruction_that_the_model_does_not_know_is_named() -> None:
    """Such as one of tensor cores."""
    text = compile_text(TENSOR_CORES, ("-lineinfo",))
    halves = np.zeros(256, np.float16)
    with pytest.raises(NotEstimatedError) as raised:
        _estimated(Build(ok=True, ptx=text, entry="product"), 1, 32, halves, halves, floats(256))
    assert raised.value.problem == "machine-code"
    ((name, opcode),) = raised.value.details
    assert name == "opcode"
    assert str(opcode).startswith(("HMMA", "LDSM", "MOVM"))


def test_the_interval_is_what_the_model_s_error_leaves() -> None:
    """By the same factor up and down."""
    ratio = ratio_of(KernelEstimate(3.0), KernelEstimate(2.0))
    assert ratio.median == 1.5
    assert ratio.median / ratio.low == ratio.high / ratio.median == pytest.approx(1 + ERROR_BOUND)


def test_limits_add_up_and_come_with_the_largest_first() -> None:
    """So do their lines, which are those of the file."""
    estimate = estimated("copy", 4096, 256, floats(1 << 20), floats(1 << 20)).estimate
    shares = [limit.share for limit in estimate.limits]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert {limit.limit for limit in estimate.limits} <= set(LIMITS)
    by_name = {limit.limit: limit for limit in estimate.limits}
    assert by_name["launch"].share == pytest.approx(H100.launch_us / 1000 / estimate.milliseconds)
    assert by_name["launch"].lines == ()
    for limit in estimate.limits:
        parts = [share for _, share in limit.lines]
        assert parts == sorted(parts, reverse=True)
        assert sum(parts) <= limit.share + 1e-9
    assert by_name["memory-latency"].lines[0][0] == line_of(SOURCE, "to[i] = from[i];")
    assert estimate.occupancy == 1.0


def test_blocks_that_just_do_not_fit_are_a_tail() -> None:
    """Twice as many as the device holds leave none; some more have it nearly to themselves."""
    several = H100.multiprocessors * 2  # of 1024 threads each
    shares = {}
    for more in (0, 16):
        limits = estimated(
            "rolled", 2 * several + more, 1024, floats(1024 * (2 * several + more)), 2000
        ).estimate
        shares[more] = {limit.limit: limit.share for limit in limits.limits}
        assert sum(shares[more].values()) == pytest.approx(1, abs=0.02)
    assert shares[0]["tail"] == 0
    assert 0.1 < shares[16]["tail"] < 0.4


def test_a_chain_is_limited_by_its_own_results() -> None:
    """One warp alone."""
    estimate = estimated("chain", 1, 32, floats(32), 1000).estimate
    assert estimate.limits[0].limit == "latency"
    assert estimate.limits[0].share > 0.8


def test_a_change_is_named_where_the_model_predicts_that_it_helps() -> None:
    """With the line, and the speed beside the baseline's that the kernel would have."""
    kernel = estimated("conflicts", BLOCKS, 256, floats(BLOCKS * 256), 500)
    baseline = KernelEstimate(2 * kernel.estimate.milliseconds)
    changes = changes_that_help(baseline, kernel)
    assert {change.change for change in changes} <= set(CHANGES)
    assert changes[0].change == "no-bank-conflicts"
    assert changes[0].line == line_of(SOURCE, "sum += tile")
    assert changes[0].ratio > 20
    assert [change.ratio for change in changes] == sorted((c.ratio for c in changes), reverse=True)
    assert all(change.ratio > 2 * (1 + ERROR_BOUND) for change in changes)


def test_loads_that_are_far_apart_would_gain_by_being_neighbours() -> None:
    """On the line of the load."""
    kernel = estimated("scattered", BLOCKS, 256, floats(BLOCKS * 256 * 32), floats(BLOCKS * 256), 32)
    (change, *_) = changes_that_help(kernel.estimate, kernel)
    assert (change.change, change.line) == ("coalesced", line_of(SOURCE, "from[i * stride]"))


def test_chains_of_few_warps_would_gain_by_more_of_them() -> None:
    """More warps help where shared memory keeps them away, and not where there are no further blocks."""
    few = _estimated(build("chain"), BLOCKS, 32, floats(32), 1000, shared=100_000)
    (change, *_) = changes_that_help(few.estimate, few)
    assert change.change == "more-warps"
    assert 1.9 < change.ratio < 2.1
    alone = _estimated(build("chain"), 1, 32, floats(32), 1000, shared=100_000)
    assert changes_that_help(alone.estimate, alone) == ()


def test_what_would_gain_less_than_the_model_may_be_off_is_not_named() -> None:
    """A copy of neighbours cannot be helped, and one warp's chain neither."""
    copy = estimated("copy", BLOCKS, 256, floats(BLOCKS * 256), floats(BLOCKS * 256))
    chain = estimated("chain", 1, 32, floats(32), 200)
    assert changes_that_help(copy.estimate, copy) == ()
    assert changes_that_help(chain.estimate, chain) == ()


def test_blocks_that_add_to_sums_of_their_own_do_not_wait_for_each_other() -> None:
    """Only the few that were run were seen; those that run beside them add elsewhere as well."""
    x = floats(BLOCKS * 128)
    own = estimated("sums", BLOCKS, 128, x, np.zeros(BLOCKS * 32, np.float32), 32)
    same = estimated("sums", BLOCKS, 128, x, np.zeros(BLOCKS * 32, np.float32), 0)
    assert own.estimate.milliseconds * 20 < same.estimate.milliseconds


def test_every_key_is_of_a_device() -> None:
    """Whose name people know."""
    assert all(device_of(key).name.startswith("NVIDIA") for key in DEVICES)
