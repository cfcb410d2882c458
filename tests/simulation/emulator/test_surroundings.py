"""A kernel cannot distinguish the emulator from a device by where memory lies or what a clock shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

SOURCE = r"""
__device__ int variable;
extern "C" __global__ void where(unsigned long long* out, const int* in) {
    __shared__ int tile[4];
    int own[4];
    for (int i = 0; i < 4; ++i) own[i] = in[i];
    int* volatile mine = own;
    int* volatile ours = tile;
    out[0] = (size_t)in;
    out[1] = (size_t)&variable;
    out[2] = (size_t)ours;
    out[3] = (size_t)mine;
    out[4] = clock64();
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    out[5] = t;
    out[6] = __isGlobal(in) + 2 * __isShared(ours) + 4 * __isLocal(mine) + 8 * __isGlobal(&variable);
    out[7] = *mine + (__isShared(in) || __isLocal(ours) || __isGlobal(mine));
}
"""


@pytest.fixture(scope="module", params=[default_build, hazard_build], ids=["default", "O0"])
def kernels(request: pytest.FixtureRequest) -> Compiled:
    """Both builds: the same number must come out of them."""
    built: Compiled = request.param(SOURCE)
    return built


def launched(kernels: Compiled, first: int) -> np.ndarray[Any, Any]:
    """The kernel's view of its surroundings, by the first number of its input."""
    given = np.array([first, 0, 0, 0], np.int32)
    result = kernels.run("where", (1, 1, 1), (1, 1, 1), zeros(8, dtype="uint64"), given, directions="oi")
    assert not result.findings
    return dict(result.outputs)["A"]


def test_nothing_lies_where_it_lay_in_another_launch(kernels: Compiled) -> None:
    """Arrays, variables, both windows and both clocks are elsewhere."""
    one, other = launched(kernels, 1), launched(kernels, 2)
    assert (one[:6] != other[:6]).all()


def test_a_launch_with_the_same_arguments_sees_the_same_addresses(kernels: Compiled) -> None:
    """So that a grade can be given again."""
    assert (launched(kernels, 5)[:4] == launched(kernels, 5)[:4]).all()


def test_addresses_and_clocks_look_like_those_of_a_device(kernels: Compiled) -> None:
    """Arrays lie below 2^47 by pages, and a device has been on for a while."""
    seen = [int(value) for value in launched(kernels, 3)]
    assert all(0x7D << 40 <= address < 1 << 47 for address in seen[:4])
    assert seen[4] > 10**9
    assert seen[5] > 1_600_000_000 * 10**9


def test_pointers_know_their_space_wherever_it_lies(kernels: Compiled) -> None:
    """`isspacep` and generic loads follow the windows."""
    seen = launched(kernels, 9)
    assert seen[6] == 1 + 2 + 4 + 8
    assert seen[7] == 9
