"""The race detector agrees with brute force: every sort of synchronisation, under many schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.model import Launch
from tests.simulation.emulator import nvcc
from tests.simulation.emulator.against_interleavings import by_detector, by_interleaving, compare, source_of
from tests.simulation.emulator.random_kernels import RandomKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.simulation.ptx import Module

TWO_BLOCKS = Launch((2, 1, 1), (1, 1, 1))
THREE_BLOCKS = Launch((3, 1, 1), (1, 1, 1))
TWO_THREADS = Launch((1, 1, 1), (2, 1, 1))
TWO_WARPS = Launch((1, 1, 1), (33, 1, 1))
BLOCKS_OF_WARPS = Launch((2, 1, 1), (33, 1, 1))

LOCK = "while (atomicCAS(&flags[0], 0, 1) != 0) {}"
UNLOCK = "atomicExch(&flags[0], 0);"

KERNELS: dict[str, tuple[Launch, bool, str]] = {
    "the_last_block_resets_the_counter": (
        THREE_BLOCKS,
        False,
        """data[b] = 2; __threadfence();
        if (atomicInc((unsigned*)flags, gridDim.x) == gridDim.x - 1) { __threadfence(); flags[0] = 0; }""",
    ),
    "the_last_block_resets_it_without_any_fence": (
        THREE_BLOCKS,
        False,
        "if (atomicAdd(&flags[0], 1) == gridDim.x - 1) flags[0] = 0;",
    ),
    "the_first_block_resets_it": (
        THREE_BLOCKS,
        True,
        "if (atomicAdd(&flags[0], 1) == 0) flags[0] = 0;",
    ),
    "another_thread_resets_it_after_a_barrier": (
        TWO_THREADS,
        False,
        "atomicAdd(&flags[0], 1);\n__syncthreads();\nif (t == 1) flags[0] = 0;",
    ),
    "another_thread_resets_it_without_a_barrier": (
        TWO_THREADS,
        True,
        "atomicAdd(&flags[0], 1);\nif (t == 1) flags[0] = 0;",
    ),
    "a_shared_counter_is_reset_by_the_last_thread": (
        TWO_WARPS,
        False,
        "if (t == 0) near[0] = 0;\n__syncthreads();\nif (atomicAdd(&near[0], 1) == 32) near[0] = 7;",
    ),
    "block_scope_then_device_scope": (
        BLOCKS_OF_WARPS,
        False,
        """if (b == 0 && t == 0) { data[0] = 5; __threadfence_block(); atomicExch(&flags[0], 1); }
        if (b == 0 && t == 32) { while (atomicAdd(&flags[0], 0) != 1) {}
            __threadfence(); atomicExch(&flags[0], 2); }
        if (b == 1 && t == 0) { while (atomicAdd(&flags[0], 0) != 2) {}
            __threadfence(); x = data[0]; }""",
    ),
    "block_scope_to_another_block": (
        TWO_BLOCKS,
        True,
        """if (b == 0) { data[0] = 5; __threadfence_block(); atomicExch(&flags[0], 1); }
        if (b == 1) { while (atomicAdd(&flags[0], 0) != 1) {}
            __threadfence(); x = data[0]; }""",
    ),
    "narrow_atomics_of_two_blocks": (TWO_BLOCKS, True, "atomicAdd_block(&data[0], 1);"),
    "narrow_atomics_of_one_block": (TWO_WARPS, False, "atomicAdd_block(&data[0], 1);"),
    "a_narrow_and_a_wide_atomic": (
        TWO_BLOCKS,
        True,
        "if (b == 0) atomicAdd_block(&data[0], 1);\nelse atomicAdd(&data[0], 1);",
    ),
    "the_first_holder_of_a_lock_lacks_a_fence": (
        TWO_BLOCKS,
        True,
        f"""if (b == 0) {{ {LOCK}
            data[0] += 1; __threadfence(); {UNLOCK} }}
        else {{ {LOCK}
            __threadfence(); data[0] += 2; __threadfence(); {UNLOCK} }}""",
    ),
    "the_second_holder_of_a_lock_lacks_a_fence": (
        TWO_BLOCKS,
        True,
        f"""if (b == 1) {{ {LOCK}
            data[0] += 1; __threadfence(); {UNLOCK} }}
        else {{ {LOCK}
            __threadfence(); data[0] += 2; __threadfence(); {UNLOCK} }}""",
    ),
    "both_holders_of_a_lock_have_fences": (
        TWO_BLOCKS,
        False,
        f"{LOCK}\n__threadfence(); data[0] += b + 1; __threadfence(); {UNLOCK}",
    ),
    "a_write_before_the_lock": (
        TWO_BLOCKS,
        True,
        f"if (b == 0) data[0] = 9;\n{LOCK}\n__threadfence(); data[0] += b + 1; __threadfence(); {UNLOCK}",
    ),
    "a_write_after_the_lock": (
        TWO_BLOCKS,
        True,
        f"{LOCK}\n__threadfence(); data[0] += b + 1; __threadfence(); {UNLOCK}\nif (b == 1) data[0] = 9;",
    ),
    "a_volatile_word_under_a_lock_that_releases_nothing": (
        TWO_BLOCKS,
        True,
        f"{LOCK}\n__threadfence(); v[0] = b + 1; {UNLOCK}",
    ),
    "a_volatile_word_that_all_set_after_a_fence": (TWO_WARPS, True, "__threadfence(); v[0] = t + 1;"),
    "a_volatile_flag_that_is_waited_for": (
        TWO_BLOCKS,
        False,
        """if (b == 0) { data[0] = 5; __threadfence(); v[1] = 1; }
        else { while (v[1] == 0) {}
            __threadfence(); x = data[0]; }""",
    ),
    "a_volatile_flag_without_a_fence": (
        TWO_BLOCKS,
        True,
        """if (b == 0) { data[0] = 5; v[1] = 1; }
        else { while (v[1] == 0) {}
            __threadfence(); x = data[0]; }""",
    ),
    "syncwarp_in_both_branches": (
        TWO_THREADS,
        False,
        "if (t & 1) { near[t] = 1; __syncwarp(); } else { near[t] = 2; __syncwarp(); }\nx = near[t ^ 1];",
    ),
    "syncwarp_of_half_the_lanes": (
        TWO_THREADS,
        True,
        "if (t & 1) { near[t] = 1; __syncwarp(2); } else { near[t] = 2; __syncwarp(1); }\nx = near[t ^ 1];",
    ),
    "every_thread_takes_a_ticket": (
        TWO_WARPS,
        False,
        """out[64 + t] = t; __threadfence();
        if (atomicAdd(&flags[0], 1) == 32) { __threadfence();
            for (int k = 0; k < 33; ++k) x += out[64 + k]; }""",
    ),
    "every_thread_takes_a_ticket_without_a_fence": (
        TWO_WARPS,
        True,
        """out[64 + t] = t;
        if (atomicAdd(&flags[0], 1) == 32) { __threadfence();
            for (int k = 0; k < 33; ++k) x += out[64 + k]; }""",
    ),
}

HEAD = (
    "__shared__ int near[4]; int t = threadIdx.x, b = blockIdx.x, x = 0;",
    "volatile int* v = data;",
)


def written(name: str) -> RandomKernel:
    """A kernel of the table as a file has it."""
    launch, _, body = KERNELS[name]
    first = f'extern "C" __global__ void {name}(int* data, int* flags, int* out) {{'
    lines = [line.strip() for line in body.split("\n")]
    waits = [line.replace("while (v[", "while (polled[") for line in lines]
    head = (*HEAD, "volatile int* polled = data;")
    return RandomKernel(name, (first, *head, *waits, "out[b * blockDim.x + t] = x;", "}"), launch)


@pytest.fixture(scope="module")
def module() -> tuple[Module, Mapping[str, int]]:
    """All kernels of the table in one module, and before which line each begins."""
    source, before = source_of([written(name) for name in KERNELS])
    return nvcc.compile_one(source, ("-lineinfo",), name="kernels.cu"), before


@pytest.mark.parametrize("name", KERNELS)
def test_brute_force_and_the_detector_agree_about_a_kernel(
    module: tuple[Module, Mapping[str, int]], name: str
) -> None:
    """The detector finds races exactly where PTX's causality order has one in some schedule."""
    kernels, before = module
    _, racy, _ = KERNELS[name]
    kernel = written(name)
    got = by_detector(kernels, kernel, before[name])
    assert got is not None
    expected = by_interleaving(kernels, kernel, before[name], 40, got)
    assert bool(expected) == racy
    assert bool(got) == racy


def test_brute_force_and_the_detector_agree_about_random_kernels() -> None:
    """No race of any schedule is missed, and nothing else is called one."""
    result = compare(25, seed=20, schedules=30)
    assert result.racy > 5
    assert result.kernels - result.racy > 5
    assert not result.misses + result.false_alarms


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 7))
def test_brute_force_and_the_detector_agree_about_many_random_kernels(seed: int) -> None:
    """The same for some hundreds."""
    result = compare(50, seed)
    assert not result.misses + result.false_alarms
