"""cuRAND on a device's memory: the distribution of numbers, and calls that no program should make."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.running.device import library_operands, random_numbers
from grader.running.device.device import Device
from grader.running.device.errors import CudaError, HostCode
from grader.running.device.library_requests import Distribution, DrawNumbers, DrawOnHost
from grader.running.device.memory import BASE, DeviceMemory
from grader.running.device.protocol import ProtocolError
from grader.running.device.requests import Sharing
from tests.running.device.hosts import NoLaunches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tests.running.device.hosts import Ran

CALLER, XORWOW, PHILOX, MANY = 0x1234, 101, 161, 40_000


@pytest.fixture
def device() -> Iterator[Device]:
    """A device without kernels."""
    device = Device(DeviceMemory(1 << 24), NoLaunches())
    yield device
    device.memory.close()


def _array(device: Device, size: int) -> int:
    return device.memory.allocate(size, Sharing.DEVICE, 0).address


def _asked(address: int, **changes: float) -> DrawNumbers:
    """A call for four numbers between 0 and 1, changed in what is named."""
    numbers: dict[str, float] = {
        "distribution": Distribution.UNIFORM,
        "width": 4,
        "generator": XORWOW,
        "seed": 42,
    }
    numbers |= {"position": 0, "count": 4, "first": 0.0, "second": 0.0, "address": address, "stream": 0}
    return DrawNumbers(**(numbers | changes))  # type: ignore[arg-type]


def _drawn(device: Device, dtype: type[np.generic], count: int = MANY, **changes: float) -> NDArray[Any]:
    """The numbers that such a call leaves."""
    width = np.dtype(dtype).itemsize
    address = _array(device, count * width)
    message = _asked(address, width=width, count=count, **changes)
    assert random_numbers.draw(device, message, CALLER) == (CudaError.SUCCESS, b"")
    start = address - BASE
    assert device.memory.written[start : start + count * width].all()
    return device.memory.bytes[start : start + count * width].copy().view(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniform_numbers_lie_above_zero_up_to_one(device: Device, dtype: type[np.generic]) -> None:
    """All parts of that are as likely."""
    numbers = _drawn(device, dtype)
    assert 0 < numbers.min() < 1e-3
    assert 1 - 1e-3 < numbers.max() <= 1
    counts = np.histogram(numbers, 10, (0, 1))[0]
    assert np.abs(counts - MANY / 10).max() < 5 * math.sqrt(MANY / 10)
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 5 / math.sqrt(MANY)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal_numbers_have_their_mean_and_deviation(device: Device, dtype: type[np.generic]) -> None:
    """So have the logarithms of log-normal ones; and tails are there."""
    numbers = _drawn(device, dtype, distribution=Distribution.NORMAL, first=3.0, second=2.0)
    logarithms = np.log(_drawn(device, dtype, distribution=Distribution.LOG_NORMAL, first=3.0, second=2.0))
    for values in (numbers, logarithms):
        assert abs(values.mean() - 3) < 5 * 2 / math.sqrt(MANY)
        assert abs(values.std() - 2) < 5 * 2 / math.sqrt(2 * MANY)
        assert 6 < np.abs(values - 3).max() < 12


@pytest.mark.parametrize("mean", [0.01, 1.5, 300.0, 4000.0, 100_000.0])
def test_counts_have_the_mean_and_variance_of_poissons_law(device: Device, mean: float) -> None:
    """The law holds where numbers are counted exactly, and where they are not."""
    numbers = _drawn(device, np.uint32, distribution=Distribution.POISSON, first=mean).astype(float)
    assert abs(numbers.mean() - mean) < 5 * math.sqrt(mean / MANY)
    assert abs(numbers.var() / mean - 1) < 5 * math.sqrt((2 + 1 / mean) / MANY)


def test_each_bit_of_an_integer_is_as_likely(device: Device) -> None:
    """From the first to the last."""
    numbers = _drawn(device, np.uint32, distribution=Distribution.BITS)
    for bit in range(32):
        ones = np.count_nonzero(numbers & np.uint32(1 << bit))
        assert abs(ones - MANY / 2) < 5 * math.sqrt(MANY) / 2


def test_numbers_are_decided_by_seed_kind_and_position(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that goes on where another ended gives the numbers of a single call; blocks leave no seam."""
    whole = _drawn(device, np.float64, 50)
    monkeypatch.setattr(random_numbers, "_BLOCK", 8)
    np.testing.assert_array_equal(_drawn(device, np.float64, 50), whole)
    np.testing.assert_array_equal(_drawn(device, np.float64, 43, position=7), whole[7:])
    for changes in ({"seed": 43}, {"generator": PHILOX}, {"position": 50}):
        assert not np.isin(_drawn(device, np.float64, 50, **changes), whole).any()


def test_a_generator_of_the_host_draws_the_same_numbers(device: Device) -> None:
    """The program stores them by itself."""
    on_device = _drawn(device, np.float32, 9)
    code, content = random_numbers.draw_on_host(
        device, DrawOnHost(1, 4, XORWOW, 42, 0, 9, 0, 0, 0, 0), CALLER
    )
    assert (code, content) == (CudaError.SUCCESS, on_device.tobytes())


def test_an_array_that_is_not_all_there_is_reported_and_not_filled(device: Device) -> None:
    """The count is one of bytes; the array is memory of the host; or it begins in the middle of a number."""
    array = _array(device, 16)
    before = device.memory.bytes[array - BASE : array - BASE + 16].copy()
    for changes in ({"count": 16}, {"address": 0x1000}, {"address": array + 2, "count": 2}, {"count": 2**63}):
        message = _asked(**({"address": array} | changes))
        assert random_numbers.draw(device, message, CALLER)[0] is CudaError.ILLEGAL_ADDRESS
    codes = [mistake.code for mistake in device.mistakes]
    assert codes == [
        HostCode.LIBRARY_BEYOND_ARRAY,
        HostCode.LIBRARY_WITHOUT_ARRAY,
        HostCode.LIBRARY_MISALIGNED,
    ]
    details = {"library": "cuRAND", "operand": "outputPtr", "bytes": 64, "has": 16}
    assert dict(device.mistakes[0].details) == details
    np.testing.assert_array_equal(device.memory.bytes[array - BASE : array - BASE + 16], before)
    assert device.launched == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"distribution": 5},
        {"width": 2},
        {"count": 0},
        {"distribution": 0, "width": 8},
        {"distribution": 4, "first": math.nan},
        {"distribution": 4, "first": 1e9},
    ],
    ids=str,
)
def test_numbers_that_the_stand_in_never_asks_for_are_no_call(
    device: Device, changes: dict[str, float]
) -> None:
    """A program that speaks for itself is cut off."""
    with pytest.raises(ProtocolError):
        random_numbers.draw(device, _asked(_array(device, 64), **changes), CALLER)
    with pytest.raises(ProtocolError):
        random_numbers.draw_on_host(device, DrawOnHost(1, 4, XORWOW, 42, 0, 1 << 17, 0, 0, 0, 0), CALLER)


def test_all_numbers_together_are_bounded(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """More work than that is our limit, and no mistake of the program."""
    monkeypatch.setattr(library_operands, "MOST_WORK", 700)
    message = _asked(_array(device, 64))
    codes = [random_numbers.draw(device, message, CALLER)[0] for _ in range(3)]
    assert codes == [CudaError.SUCCESS, CudaError.SUCCESS, CudaError.LAUNCH_TIMEOUT]
    assert [str(mistake.code) for mistake in device.mistakes] == ["unsupported"]


CALLS = r"""
    curandGenerator_t g, h, forged = (curandGenerator_t)0x1000;
    float *d, x[4], y[4], z[4];
    double *big, w[2];
    unsigned *u, counts[3] = {};
    cudaStream_t stream;
    int version = 0;
    cudaMalloc(&d, sizeof x), cudaMalloc(&big, sizeof w), cudaMalloc(&u, sizeof counts);
    std::printf("%d %d\n", curandDestroyGenerator(forged), curandGenerateUniform(forged, d, 4));
    std::printf("%d\n", curandCreateGenerator(&g, (curandRngType_t)7));
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
    curandCreateGeneratorHost(&h, CURAND_RNG_PSEUDO_XORWOW);
    curandSetPseudoRandomGeneratorSeed(g, 7), curandSetPseudoRandomGeneratorSeed(h, 7ULL);
    cudaStreamCreate(&stream), curandSetStream(g, stream), curandGenerateUniform(g, d, 4);
    cudaStreamSynchronize(stream), cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost);
    curandSetStream(g, nullptr), curandGenerateUniform(h, y, 2), curandGenerateUniform(h, y + 2, 2);
    std::printf("%d\n", !std::memcmp(x, y, sizeof x));
    curandGenerateUniform(g, d, 4), cudaMemcpy(z, d, sizeof z, cudaMemcpyDeviceToHost);
    curandSetGeneratorOffset(h, 4), curandGenerateUniform(h, y, 4);
    std::printf("%d %d\n", !std::memcmp(y, z, sizeof z), !std::memcmp(x, z, sizeof z));
    std::printf("%d\n", curandGenerateNormal(g, d, 3, 0, 1));
    std::printf("%d ", curandGenerateNormalDouble(g, big, 2, 5, 0));
    cudaMemcpy(w, big, 16, cudaMemcpyDefault), std::printf("%g %g\n", w[0], w[1]);
    std::printf("%d ", curandGeneratePoisson(g, u, 3, -1.0)), curandGeneratePoisson(h, counts, 3, 1e-9);
    std::printf("%u %u %u\n", counts[0], counts[1], counts[2]);
    std::printf("%d ", curandGenerate(g, u, 3)), curandGetVersion(&version);
    std::printf("%d\n", version >= 10000 && !curandGenerateSeeds(g));
    curandDestroyGenerator(g), curandDestroyGenerator(h);
    cudaFree(d), cudaFree(big), cudaFree(u), cudaStreamDestroy(stream);
"""


def test_calls_do_what_their_documentation_states(run_host: Callable[..., Ran]) -> None:
    """Normal numbers come in pairs; a generator goes on where it was, wherever it stores them."""
    ran = run_host(f"#include <curand.h>\nint main() {{ {CALLS} }}")
    assert ran.stdout.splitlines() == ["101 101", "103", "1", "1 0", "105", "0 5 5", "104 0 0 0", "0 1"]
    assert (ran.mistakes, ran.cut) == ([], "")


def test_a_generator_of_the_host_that_is_given_device_memory_faults(run_host: Callable[..., Ran]) -> None:
    """As host code does there."""
    source = """#include <curand.h>
int main() {
    curandGenerator_t g;
    float *d;
    cudaMalloc(&d, 400);
    curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateUniform(g, d, 100);
}"""
    ran = run_host(source)
    assert ran.returncode == -11
    assert ran.mistakes == ["device-pointer-on-host"]


def test_a_quasirandom_generator_is_our_limit(run_host: Callable[..., Ran]) -> None:
    """Its numbers have an order that others lack."""
    ran = run_host(
        "#include <curand.h>\nint main() { curandGenerator_t g;"
        " curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32); }"
    )
    assert ran.mistakes == ["unsupported"]
