"""cuBLAS on a device's memory: the results of its calls, and of calls that no program should make."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.running.device import blas, library_operands
from grader.running.device.device import Device
from grader.running.device.errors import CudaError, HostCode
from grader.running.device.library_requests import CombineVectors, MultiplyMatrices, VectorOperation
from grader.running.device.memory import BASE, DeviceMemory
from grader.running.device.protocol import ProtocolError
from grader.running.device.requests import Sharing
from tests.running.device.hosts import NoLaunches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tests.running.device.hosts import Ran

CALLER = 0x1234
HUGE = 2**32 - 1


@pytest.fixture
def device() -> Iterator[Device]:
    """A device without kernels."""
    device = Device(DeviceMemory(1 << 20), NoLaunches())
    yield device
    device.memory.close()


def _put(device: Device, numbers: NDArray[Any]) -> int:
    """The address of an array that holds these numbers, column by column."""
    content = numbers.T.tobytes()
    allocation = device.memory.allocate(len(content), Sharing.DEVICE, 0)
    device.memory.bytes[allocation.start : allocation.end] = np.frombuffer(content, np.uint8)
    device.memory.written[allocation.start : allocation.end] = 1
    return allocation.address


def _read(device: Device, address: int, like: NDArray[Any]) -> NDArray[Any]:
    start = address - BASE
    content = device.memory.bytes[start : start + like.nbytes].copy()
    return content.view(like.dtype).reshape(like.shape[::-1]).T


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.integers(1, 9)] * 3),
    st.tuples(*[st.booleans()] * 2),
    st.tuples(*[st.integers(0, 3)] * 3),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([(1.0, 0.0), (2.0, -0.5), (0.0, 3.0), (0.0, 0.0)]),
)
def test_a_product_follows_columns_and_leading_dimensions(
    sizes: tuple[int, ...],
    transposed: tuple[bool, ...],
    more: tuple[int, ...],
    dtype: type[np.floating[Any]],
    factors: tuple[float, float],
) -> None:
    """Of parts of larger matrices, too; what lies between the columns of C stays.

    What C held counts only if it is read: it may be no number.
    """
    device = Device(DeviceMemory(1 << 20), NoLaunches())
    m, n, k = sizes
    alpha, beta = factors
    random = np.random.default_rng(7)
    a, b, c = (
        random.integers(-8, 9, (rows + extra, columns)).astype(dtype)
        for (rows, columns), extra in zip(
            ((k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n), (m, n)),
            more,
            strict=True,
        )
    )
    if not beta:
        c[:m] = np.nan
    of_a, of_b = (
        matrix[: len(matrix) - extra].T if flip else matrix[: len(matrix) - extra]
        for matrix, extra, flip in zip((a, b), more[:2], transposed, strict=True)
    )
    expected = c.copy()
    expected[:m] = alpha * (of_a @ of_b) + (beta * c[:m] if beta else 0)
    addresses = [_put(device, matrix) for matrix in (a, b, c)]
    pairs = [(address, len(matrix)) for address, matrix in zip(addresses, (a, b, c), strict=True)]
    flips = int(transposed[0]), int(transposed[1])
    numbers = (c.itemsize, *flips, m, n, k, alpha, beta, *pairs[0], *pairs[1], *pairs[2], 0)
    message = MultiplyMatrices(*numbers)
    assert blas.multiply(device, message, CALLER) == (CudaError.SUCCESS, b"")
    np.testing.assert_array_equal(_read(device, addresses[2], c), expected)
    assert (device.launched, device.mistakes) == (0, [])
    device.memory.close()


def test_large_products_are_made_block_by_block(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost where the blocks end."""
    monkeypatch.setattr(blas, "_BLOCK", 3)
    a, b = np.arange(35.0).reshape(7, 5), np.arange(20.0).reshape(5, 4) - 9
    c = np.zeros((7, 4))
    at = [_put(device, matrix) for matrix in (a, b, c)]
    message = MultiplyMatrices(8, 0, 0, 7, 4, 5, 1.0, 0.0, at[0], 7, at[1], 5, at[2], 7, 0)
    assert blas.multiply(device, message, CALLER)[0] is CudaError.SUCCESS
    np.testing.assert_array_equal(_read(device, at[2], c), a @ b)
    long = _put(device, np.arange(20.0).reshape(1, 20))
    sums = CombineVectors(VectorOperation.ABSOLUTE_SUM, 8, 20, 1.0, long, 1, long, 1, 0)
    assert blas.combine(device, sums, CALLER) == (CudaError.SUCCESS, np.float64(190).tobytes())


def test_a_matrix_that_is_not_all_there_is_reported_and_not_computed(device: Device) -> None:
    """One column too many, and memory of the host."""
    a = _put(device, np.ones((4, 4), np.float32))

    def multiply(first: int, columns: int) -> MultiplyMatrices:
        return MultiplyMatrices(4, 0, 0, 4, 1, columns, 1.0, 0.0, first, 4, a, columns, a, 4, 0)

    for first, columns in ((a, 5), (0x1000, 4), (a, HUGE)):
        assert blas.multiply(device, multiply(first, columns), CALLER)[0] is CudaError.ILLEGAL_ADDRESS
    codes = [mistake.code for mistake in device.mistakes]
    assert codes == [HostCode.LIBRARY_BEYOND_ARRAY, HostCode.LIBRARY_WITHOUT_ARRAY]
    assert dict(device.mistakes[0].details) == {"library": "cuBLAS", "operand": "A", "bytes": 80, "has": 64}
    assert (_read(device, a, np.ones((4, 4), np.float32)) == 1).all()


def test_a_pointer_into_the_middle_of_a_number_is_reported_as_such(device: Device) -> None:
    """All bytes of the vector are there, so its size is not reported."""
    x = _put(device, np.ones((2, 2), np.float32))
    message = CombineVectors(VectorOperation.SCALE, 4, 3, 2.0, x + 2, 1, x, 1, 0)
    assert blas.combine(device, message, CALLER)[0] is CudaError.ILLEGAL_ADDRESS
    (mistake,) = device.mistakes
    assert (mistake.code, dict(mistake.details)) == (
        HostCode.LIBRARY_MISALIGNED,
        {"library": "cuBLAS", "operand": "x", "bytes": 4},
    )


@pytest.mark.parametrize(
    "changes",
    [{"width": 2}, {"m": 0}, {"n": 0}, {"a_leading": 1}, {"b_leading": 0}, {"c_leading": 0}],
    ids=str,
)
def test_numbers_that_the_stand_in_never_sends_are_no_call(device: Device, changes: dict[str, int]) -> None:
    """A program that speaks for itself is cut off."""
    a = _put(device, np.ones((2, 2), np.float32))
    names = [item.name for item in fields(MultiplyMatrices)]
    numbers = dict(zip(names, (4, 0, 0, 2, 2, 2, 1.0, 0.0, a, 2, a, 2, a, 2, 0), strict=True))
    with pytest.raises(ProtocolError):
        blas.multiply(device, MultiplyMatrices(**(numbers | changes)), CALLER)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes", [{"operation": 5}, {"width": 3}, {"count": 0}, {"x_step": 0}, {"y_step": 0}], ids=str
)
def test_vectors_without_a_size_are_no_call(device: Device, changes: dict[str, int]) -> None:
    """As with matrices."""
    x = _put(device, np.ones((2, 2), np.float32))
    names = [item.name for item in fields(CombineVectors)]
    numbers = dict(zip(names, (2, 4, 2, 1.0, x, 1, x, 1, 0), strict=True))
    with pytest.raises(ProtocolError):
        blas.combine(device, CombineVectors(**(numbers | changes)), CALLER)  # type: ignore[arg-type]


def test_what_a_stream_has_not_is_refused(device: Device) -> None:
    """A handle is a number that anybody may make up."""
    x = _put(device, np.ones((2, 2), np.float32))
    message = CombineVectors(VectorOperation.SCALE, 4, 4, 2.0, x, 1, x, 1, 0x77)
    assert blas.combine(device, message, CALLER)[0] is CudaError.INVALID_RESOURCE_HANDLE


def test_all_calls_together_are_bounded(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """More work than that is our limit, and no mistake of the program."""
    monkeypatch.setattr(library_operands, "MOST_WORK", 100)
    x = _put(device, np.ones((2, 2), np.float32))
    message = CombineVectors(VectorOperation.SCALE, 4, 4, 2.0, x, 1, x, 1, 0)
    codes = [blas.combine(device, message, CALLER)[0] for _ in range(3)]
    assert codes == [CudaError.SUCCESS, CudaError.SUCCESS, CudaError.LAUNCH_TIMEOUT]
    assert [str(mistake.code) for mistake in device.mistakes] == ["unsupported"]


def test_a_function_that_is_handed_in_has_no_library(device: Device) -> None:
    """It is to compute by itself, whatever it declares."""
    device.has_libraries = False
    x = _put(device, np.ones((2, 2), np.float32))
    blas.combine(device, CombineVectors(VectorOperation.SCALE, 4, 4, 2.0, x, 1, x, 1, 0), CALLER)
    assert [str(mistake.code) for mistake in device.mistakes] == ["unsupported"]
    assert (_read(device, x, np.ones((2, 2), np.float32)) == 1).all()


CALLS = r"""
    cublasHandle_t h, forged = (cublasHandle_t)0x1000;
    cudaStream_t stream;
    float a[] = {0, 1, 2, 3, 4, 5}, b[] = {1, -1, 2}, c[6] = {}, one = 1, two = 2, zero = 0, sum, *A, *B, *C;
    const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
    std::printf("%d %d %d\n", cublasCreate(&h), cublasDestroy(forged), cublasSetStream(nullptr, nullptr));
    cudaMalloc(&A, sizeof a), cudaMalloc(&B, sizeof b), cudaMalloc(&C, sizeof c);
    cublasSetMatrix(2, 3, sizeof *a, a, 2, A, 2), cublasSetVector(3, sizeof *b, b, 1, B, 1);
    cublasSetVector(6, sizeof *c, c, 1, C, 1);
    cudaStreamCreate(&stream), cublasSetStream(h, stream), cublasSetMathMode(h, CUBLAS_DEFAULT_MATH);
    cublasSgemm(h, N, N, 2, 1, 3, &two, A, 2, B, 3, &zero, C, 2);
    cudaStreamSynchronize(stream), cublasGetVector(3, sizeof *c, C, 1, c, 1);
    std::printf("%g %g\n", c[0], c[1]);
    cublasSetStream(h, nullptr);
    cublasSgemv(h, N, 2, 3, &one, A, 2, B, 1, &zero, C, 2), cublasGetVector(2, 4, C, 2, c, 1);
    std::printf("%g %g\n", c[0], c[1]);
    cublasSgemv(h, T, 2, 3, &one, A, 2, B, 1, &zero, C, 1), cublasGetMatrix(1, 3, 4, C, 1, c, 2);
    std::printf("%g %g %g\n", c[0], c[2], c[4]);
    cublasSaxpy(h, 3, &two, B, 1, A, 2), cublasSscal(h, 3, &two, A, 1), cublasSdot(h, 3, A, 1, B, 1, &sum);
    std::printf("%g ", sum), cublasSnrm2(h, 2, A + 4, 1, &sum), std::printf("%g ", sum);
    cublasSasum(h, 3, B, 1, &sum), std::printf("%g\n", sum);
    cublasStatus_t status = cublasSgemm(h, N, N, 2, 1, 3, &one, A, 1, B, 3, &zero, C, 2);
    std::printf("%s\n", cublasGetStatusString(status));
    cublasDestroy(h), cudaStreamDestroy(stream), cudaFree(A), cudaFree(B), cudaFree(C);
"""


def test_calls_do_what_their_documentation_states(run_host: Callable[..., Ran]) -> None:
    """Two rows of three numbers, by columns; handles that no call has made are not initialised."""
    ran = run_host(f"#include <cublas_v2.h>\nint main() {{ {CALLS} }}")
    assert ran.stdout.splitlines() == [
        "0 1 1",
        "12 16",
        "6 8",
        "-1 -1 -1",
        "2 9.43398 4",
        "CUBLAS_STATUS_INVALID_VALUE",
    ]
    assert (ran.mistakes, ran.cut) == ([], "")
