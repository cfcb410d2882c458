"""cuBLAS on a device's memory: the results of its calls, and of calls that no program should make."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.base.precision import BFLOAT16, encoded, numbers
from grader.running.device import blas_matrices, blas_vectors, library_operands
from grader.running.device.device import Device
from grader.running.device.errors import CudaError, HostCode
from grader.running.device.library_requests import (
    CombineVectors,
    MultiplyMatrices,
    NumberType,
    SolveTriangle,
    VectorOperation,
)
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


TYPES = {
    np.dtype(np.float32): NumberType.SINGLE,
    np.dtype(np.float64): NumberType.DOUBLE,
    np.dtype(np.float16): NumberType.HALF,
    np.dtype(np.int8): NumberType.BYTE,
    np.dtype(np.int32): NumberType.WHOLE,
    np.dtype(np.complex64): NumberType.COMPLEX_SINGLE,
    np.dtype(np.complex128): NumberType.COMPLEX_DOUBLE,
    BFLOAT16: NumberType.BFLOAT,
}


def _product(**changes: Any) -> MultiplyMatrices:  # noqa: ANN401 - any field
    """C = A · B of 2 × 2 numbers in single precision at no address, but for what changes."""
    plain: dict[str, Any] = {item.name: 0 for item in fields(MultiplyMatrices)}
    plain |= dict.fromkeys(("m", "n", "k", "a_leading", "b_leading", "c_leading"), 2)
    given = plain | {"alpha": 1.0, "count": 1} | changes
    result = {f"d{part}": given[f"c{part}"] for part in ("", "_leading", "_stride")}
    return MultiplyMatrices(**(given | result | changes))


def _vectors(operation: int, x: int, **changes: Any) -> CombineVectors:  # noqa: ANN401 - any field
    """An operation on four numbers in single precision, as x and as y, but for what changes."""
    plain: dict[str, Any] = {item.name: 0 for item in fields(CombineVectors)}
    plain |= {"operation": operation, "count": 4, "a": 2.0, "x": x, "x_step": 1, "y": x, "y_step": 1}
    return CombineVectors(**(plain | changes))


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
    of_type = {"type_of_factors": TYPES[c.dtype], "type_of_result": TYPES[c.dtype]}
    places = dict(zip("abc", addresses, strict=True)) | {
        f"{name}_leading": len(matrix) for name, matrix in zip("abc", (a, b, c), strict=True)
    }
    flips = {"of_a": int(transposed[0]), "of_b": int(transposed[1])}
    message = _product(m=m, n=n, k=k, alpha=alpha, beta=beta, **of_type, **places, **flips)
    assert blas_matrices.multiply(device, message, CALLER) == (CudaError.SUCCESS, b"")
    np.testing.assert_array_equal(_read(device, addresses[2], c), expected)
    assert (device.launched, device.mistakes) == (0, [])
    device.memory.close()


def test_large_products_are_made_block_by_block(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost where the blocks end."""
    monkeypatch.setattr(blas_matrices, "_BLOCK", 3)
    monkeypatch.setattr(blas_vectors, "_BLOCK", 3)
    a, b = np.arange(35.0).reshape(7, 5), np.arange(20.0).reshape(5, 4) - 9
    c = np.zeros((7, 4))
    at = [_put(device, matrix) for matrix in (a, b, c)]
    double = NumberType.DOUBLE
    sizes: dict[str, int] = {"m": 7, "n": 4, "k": 5, "a_leading": 7, "b_leading": 5, "c_leading": 7}
    places = dict(zip("abc", at, strict=True))
    message = _product(type_of_factors=double, type_of_result=double, **sizes, **places)
    assert blas_matrices.multiply(device, message, CALLER)[0] is CudaError.SUCCESS
    np.testing.assert_array_equal(_read(device, at[2], c), a @ b)
    long = _put(device, np.arange(20.0).reshape(1, 20))
    sums = _vectors(VectorOperation.ABSOLUTE_SUM, long, type=double, count=20)
    assert blas_vectors.combine(device, sums, CALLER) == (CudaError.SUCCESS, np.float64(190).tobytes())


def test_a_matrix_that_is_not_all_there_is_reported_and_not_computed(device: Device) -> None:
    """One column too many, and memory of the host."""
    a = _put(device, np.ones((4, 4), np.float32))

    def multiply(first: int, columns: int) -> MultiplyMatrices:
        sizes = {"m": 4, "n": 1, "k": columns, "a_leading": 4, "b_leading": columns, "c_leading": 4}
        return _product(a=first, b=a, c=a, **sizes)

    for first, columns in ((a, 5), (0x1000, 4), (a, HUGE)):
        assert (
            blas_matrices.multiply(device, multiply(first, columns), CALLER)[0] is CudaError.ILLEGAL_ADDRESS
        )
    codes = [mistake.code for mistake in device.mistakes]
    assert codes == [HostCode.LIBRARY_BEYOND_ARRAY, HostCode.LIBRARY_WITHOUT_ARRAY]
    assert dict(device.mistakes[0].details) == {"library": "cuBLAS", "operand": "A", "bytes": 80, "has": 64}
    assert (_read(device, a, np.ones((4, 4), np.float32)) == 1).all()


def test_a_pointer_into_the_middle_of_a_number_is_reported_as_such(device: Device) -> None:
    """All bytes of the vector are there, so its size is not reported."""
    x = _put(device, np.ones((2, 2), np.float32))
    message = _vectors(VectorOperation.SCALE, x + 2, count=3)
    assert blas_vectors.combine(device, message, CALLER)[0] is CudaError.ILLEGAL_ADDRESS
    (mistake,) = device.mistakes
    assert (mistake.code, dict(mistake.details)) == (
        HostCode.LIBRARY_MISALIGNED,
        {"library": "cuBLAS", "operand": "x", "bytes": 4},
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"type_of_factors": 7},
        {"type_of_result": NumberType.COMPLEX_SINGLE},
        {"of_a": 3},
        {"activation": 3},
        {"m": 0},
        {"n": 0},
        {"count": 0},
        {"a_leading": 1},
        {"b_leading": 0},
        {"c_leading": 0},
    ],
    ids=str,
)
def test_numbers_that_the_stand_in_never_sends_are_no_call(device: Device, changes: dict[str, int]) -> None:
    """A program that speaks for itself is cut off."""
    a = _put(device, np.ones((2, 2), np.float32))
    with pytest.raises(ProtocolError):
        blas_matrices.multiply(device, _product(**({"a": a, "b": a, "c": a} | changes)), CALLER)


@pytest.mark.parametrize(
    "changes",
    [{"operation": 10}, {"type": 6}, {"type": 4}, {"count": 0}, {"x_step": 0}, {"y_step": 0}],
    ids=str,
)
def test_vectors_without_a_size_are_no_call(device: Device, changes: dict[str, int]) -> None:
    """As with matrices."""
    x = _put(device, np.ones((2, 2), np.float32))
    with pytest.raises(ProtocolError):
        blas_vectors.combine(device, _vectors(**({"operation": 2, "x": x} | changes)), CALLER)


HALVES = np.array([[1, 2], [3, 4.5]])


@pytest.mark.parametrize(
    ("factors", "result"),
    [
        ("float16", "float16"),
        ("float16", "float32"),
        ("bfloat16", "bfloat16"),
        ("bfloat16", "float32"),
        ("int8", "int32"),
        ("int8", "float32"),
        ("complex64", "complex64"),
        ("complex128", "complex128"),
    ],
)
def test_products_have_the_types_that_a_call_names(device: Device, factors: str, result: str) -> None:
    """Sums are made in double precision and rounded once."""
    a = encoded(np.rint(HALVES) if "int" in factors else HALVES, factors)
    c = encoded(np.zeros((2, 2)), result)
    at, out = _put(device, a), _put(device, c)
    types = {"type_of_factors": TYPES[a.dtype], "type_of_result": TYPES[c.dtype]}
    message = _product(a=at, b=at, c=out, of_b=1, **types)
    assert blas_matrices.multiply(device, message, CALLER)[0] is CudaError.SUCCESS
    got, exact = numbers(_read(device, out, c)), numbers(a).astype(complex) @ numbers(a).astype(complex).T
    np.testing.assert_array_equal(got, numbers(encoded(exact.real, result)))


def test_a_conjugated_factor_and_complex_factors(device: Device) -> None:
    """C = (1 + i) · Aᴴ · B + i · C."""
    a = np.array([[1 + 2j, 3], [4j, 5 - 1j]], np.complex64)
    b, c = a + 1, a - 2j
    at = {name: _put(device, matrix) for name, matrix in zip("abc", (a, b, c), strict=True)}
    types = dict.fromkeys(("type_of_factors", "type_of_result"), NumberType.COMPLEX_SINGLE)
    message = _product(of_a=2, alpha_imaginary=1.0, beta=0.0, beta_imaginary=1.0, **types, **at)
    blas_matrices.multiply(device, message, CALLER)
    np.testing.assert_array_equal(_read(device, at["c"], c), (1 + 1j) * (a.conj().T @ b) + 1j * c)


@pytest.mark.parametrize("activation", [0, 1, 2])
def test_a_result_of_its_own_with_a_bias_and_an_activation(device: Device, activation: int) -> None:
    """D = activation(A · B + 2 · C + bias); C stays as it was, and a bias has a number for each row."""
    a, c = np.array([[1, -2], [3, 4]], np.float32), np.array([[-9, 1], [0, 2]], np.float32)
    bias = np.array([[0.5], [-3]], np.float32)
    at = {"a": _put(device, a), "b": _put(device, a), "c": _put(device, c), "bias": _put(device, bias)}
    out = _put(device, np.zeros((2, 2), np.float32))
    message = _product(**at, d=out, beta=2.0, activation=activation)
    assert blas_matrices.multiply(device, message, CALLER)[0] is CudaError.SUCCESS
    x = (a @ a + 2 * c + bias).astype(float)
    gelu = 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    expected = (x, np.maximum(x, 0), gelu)[activation]
    np.testing.assert_array_equal(_read(device, out, a), expected.astype(np.float32))
    np.testing.assert_array_equal(_read(device, at["c"], c), c)


def test_many_products_lie_a_stride_apart_or_where_pointers_say(device: Device) -> None:
    """A stride of 0 is one matrix for all."""
    a, b = np.arange(12.0, dtype=np.float32).reshape(3, 2, 2), np.array([[1, 2], [3, 4]], np.float32)
    many, one = _put(device, a.transpose(2, 1, 0).reshape(2, 6, order="F")), _put(device, b)
    out = _put(device, np.zeros((2, 6), np.float32))
    stored = [_read(device, many + 16 * number, b) for number in range(3)]
    strides = {"a_stride": 4, "b_stride": 0, "c_stride": 4}
    assert blas_matrices.multiply(device, _product(a=many, b=one, c=out, count=3, **strides), CALLER)[0] == 0
    for number, matrix in enumerate(stored):
        np.testing.assert_array_equal(_read(device, out + 16 * number, b), matrix @ b)
    pointers = {
        "a": _put(device, np.array([[many + 32, many, many + 16]], np.uint64)),
        "b": _put(device, np.array([[one] * 3], np.uint64)),
        "c": _put(device, np.array([[out, out + 16, out + 32]], np.uint64)),
    }
    assert blas_matrices.multiply(device, _product(count=3, by_pointers=1, **pointers), CALLER)[0] == 0
    for number, matrix in enumerate((stored[2], stored[0], stored[1])):
        np.testing.assert_array_equal(_read(device, out + 16 * number, b), matrix @ b)
    assert device.mistakes == []


def test_pointers_of_many_products_that_are_no_arrays_are_reported(device: Device) -> None:
    """One of them, and the array that they stand in."""
    a = _put(device, np.ones((2, 2), np.float32))
    pointers = _put(device, np.array([[a, 0x10]], np.uint64))
    good = _put(device, np.array([[a, a]], np.uint64))
    for caller, a_places in enumerate((pointers, 0x10)):
        message = _product(count=2, by_pointers=1, a=a_places, b=good, c=good)
        blas_matrices.multiply(device, message, caller)
    assert [dict(mistake.details)["operand"] for mistake in device.mistakes] == ["A", "Aarray"]


def test_more_products_than_a_call_may_have_are_a_limit_of_ours(device: Device) -> None:
    """A number that a program sends is no reason to work for hours."""
    a = _put(device, np.ones((2, 2), np.float32))
    code, _ = blas_matrices.multiply(device, _product(a=a, b=a, c=a, count=HUGE), CALLER)
    assert (code, [str(mistake.code) for mistake in device.mistakes]) == (
        CudaError.LAUNCH_TIMEOUT,
        ["unsupported"],
    )


@pytest.mark.parametrize("right", [0, 1])
@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("unit", [0, 1])
def test_triangular_systems_are_solved(
    device: Device, right: int, upper: int, transposed: int, unit: int
) -> None:
    """The other triangle, and a diagonal that is all 1, are not looked at."""
    a = np.random.default_rng(3).uniform(1, 2, (3, 3))
    b = np.arange(6.0).reshape((2, 3) if right else (3, 2))
    triangle = np.triu(a) if upper else np.tril(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    by = triangle.T if transposed else triangle
    at, of_b = _put(device, a), _put(device, b)
    flags = (right, upper, transposed, unit)
    message = SolveTriangle(NumberType.DOUBLE, *flags, *b.shape, 2.0, at, 3, of_b, len(b), 0)
    assert blas_matrices.solve(device, message, CALLER) == (CudaError.SUCCESS, b"")
    x = _read(device, of_b, b)
    np.testing.assert_allclose(x @ by if right else by @ x, 2 * b, rtol=1e-12, atol=1e-12)


def test_vectors_are_copied_exchanged_and_rotated_backwards_too(device: Device) -> None:
    """A step below 0 begins at the last place in memory."""
    numbers_ = np.arange(1.0, 5.0, dtype=np.float32).reshape(1, 4)
    x, y = _put(device, numbers_), _put(device, 10 * numbers_)

    def now() -> list[list[float]]:
        return [_read(device, at, numbers_)[0].tolist() for at in (x, y)]

    def do(operation: VectorOperation, **changes: Any) -> bytes:  # noqa: ANN401 - any field
        code, answer = blas_vectors.combine(device, _vectors(operation, x, y=y, **changes), CALLER)
        assert code is CudaError.SUCCESS
        return answer

    do(VectorOperation.EXCHANGE)
    assert now() == [[10, 20, 30, 40], [1, 2, 3, 4]]
    do(VectorOperation.COPY, count=2, x_step=-2, y_step=1)
    assert now()[1] == [30, 10, 3, 4]
    do(VectorOperation.ROTATE, count=1, a=0.0, b=1.0, c=-1.0, d=0.0)
    assert now() == [[30, 20, 30, 40], [-10, 10, 3, 4]]
    assert np.frombuffer(do(VectorOperation.LARGEST)) == [4]
    assert np.frombuffer(do(VectorOperation.SMALLEST)) == [2]
    assert np.frombuffer(do(VectorOperation.LARGEST, count=1)) == [1]


def test_what_a_stream_has_not_is_refused(device: Device) -> None:
    """A handle is a number that anybody may make up."""
    x = _put(device, np.ones((2, 2), np.float32))
    message = _vectors(VectorOperation.SCALE, x, stream=0x77)
    assert blas_vectors.combine(device, message, CALLER)[0] is CudaError.INVALID_RESOURCE_HANDLE


def test_all_calls_together_are_bounded(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """More work than that is our limit, and no mistake of the program."""
    monkeypatch.setattr(library_operands, "MOST_WORK", 100)
    x = _put(device, np.ones((2, 2), np.float32))
    message = _vectors(VectorOperation.SCALE, x)
    codes = [blas_vectors.combine(device, message, CALLER)[0] for _ in range(3)]
    assert codes == [CudaError.SUCCESS, CudaError.SUCCESS, CudaError.LAUNCH_TIMEOUT]
    assert [str(mistake.code) for mistake in device.mistakes] == ["unsupported"]


def test_a_function_that_is_handed_in_has_no_library(device: Device) -> None:
    """It is to compute by itself, whatever it declares."""
    device.has_libraries = False
    x = _put(device, np.ones((2, 2), np.float32))
    blas_vectors.combine(device, _vectors(VectorOperation.SCALE, x), CALLER)
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


MORE_CALLS = r"""
    cublasHandle_t h; cublasCreate(&h);
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[8], one = 1, zero = 0, number, cosine, sine;
    float *A, *B, *C, *S;
    __half halves[6], h_one = __float2half(1), *H;
    for (int i = 0; i < 6; ++i) halves[i] = __float2half(i + 1);
    const auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;
    int index;
    cudaMalloc(&A, 16), cudaMalloc(&B, 16), cudaMalloc(&C, 32), cudaMalloc(&S, 8), cudaMalloc(&H, 12);
    cudaStream_t s; cudaStreamCreate(&s);
    cublasSetMatrixAsync(2, 2, 4, a, 2, A, 2, s), cublasSetVectorAsync(4, 4, b, 1, B, 1, s);
    cudaStreamSynchronize(s), cudaMemcpy(H, halves, 12, cudaMemcpyHostToDevice), cudaMemset(C, 0, 32);
    auto show = [&](int count) {
        cublasGetVector(count, 4, C, 1, c, 1);
        for (int i = 0; i < count; ++i) std::printf("%g ", c[i]);
        std::puts("");
    };
    cublasSgemmStridedBatched(h, N, N, 2, 1, 2, &one, A, 2, 0, B, 2, 2, &zero, C, 2, 2, 2), show(4);
    float *many[] = {A, A}, *vectors[] = {B + 2, B}, *results[] = {C, C + 2}, **p, **q, **r;
    cudaMalloc(&p, 16), cudaMalloc(&q, 16), cudaMalloc(&r, 16);
    cudaMemcpy(p, many, 16, cudaMemcpyHostToDevice), cudaMemcpy(q, vectors, 16, cudaMemcpyHostToDevice);
    cudaMemcpy(r, results, 16, cudaMemcpyHostToDevice);
    cublasSgemmBatched(h, N, N, 2, 1, 2, &one, p, 2, q, 2, &zero, r, 2, 2), show(4);
    cublasGemmEx(h, N, T, 2, 2, 2, &one, H, CUDA_R_16F, 2, H, CUDA_R_16F, 2, &zero, C, CUDA_R_32F, 2,
                 CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT), show(4);
    cublasGemmEx(h, N, N, 2, 2, 2, &h_one, H, CUDA_R_16F, 2, H, CUDA_R_16F, 2, &h_one, H, CUDA_R_16F, 2,
                 CUDA_R_16F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
    cudaMemcpy(halves, H, 12, cudaMemcpyDeviceToHost), std::printf("%g\n", __half2float(halves[3]));
    cublasSger(h, 2, 2, &one, A, 1, B, 1, C, 2), show(4);
    cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_NON_UNIT, 2, 2, &one, A, 2, C, 2);
    show(4);
    cublasSswap(h, 2, A, 1, B, 1), cublasScopy(h, 4, A, 1, C, 1), show(4);
    cublasIsamax(h, 4, A, 1, &index), std::printf("%d ", index), cublasIsamin(h, 4, A, 1, &index);
    std::printf("%d\n", index);
    a[0] = 3, a[1] = 4, cublasSrotg(h, a, a + 1, &cosine, &sine);
    std::printf("%g %g %g %g\n", a[0], a[1], cosine, sine);
    cosine = 0, sine = 1, cublasSrot(h, 2, C, 1, C + 2, 1, &cosine, &sine), show(4);
    float modified[] = {-1, 1, 0, 2, 1};
    cublasSrotm(h, 1, C, 1, C + 1, 1, modified), show(4);
    cublasDotEx(h, 2, A, CUDA_R_32F, 1, A, CUDA_R_32F, 1, &number, CUDA_R_32F, CUDA_R_32F);
    std::printf("%g\n", number);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    cudaMemcpy(S, &one, 4, cudaMemcpyHostToDevice);
    cublasSaxpy(h, 2, S, A, 1, A, 1), cublasSnrm2(h, 1, A, 1, S + 1);
    cudaMemcpy(&number, S + 1, 4, cudaMemcpyDeviceToHost), std::printf("%g\n", number);
    cublasStatus_t status = cublasGemmEx(h, N, N, 2, 2, 2, S, A, CUDA_R_32F, 2, H, CUDA_R_16F, 2, S, C,
                                         CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    std::printf("%d\n", status == CUBLAS_STATUS_NOT_SUPPORTED);
    cublasDestroy(h), cudaStreamDestroy(s), cudaFree(A), cudaFree(B), cudaFree(C), cudaFree(S), cudaFree(H);
    cudaFree(p), cudaFree(q), cudaFree(r);
"""


def test_further_calls_do_what_their_documentation_states(run_host: Callable[..., Ran]) -> None:
    """Many products, further types, updates, triangles, rotations, and scalars on the device."""
    ran = run_host(f"#include <cublas_v2.h>\nint main() {{ {MORE_CALLS} }}")
    assert ran.stdout.splitlines() == [
        "23 34 31 46 ",
        "31 46 23 34 ",
        "10 14 14 20 ",
        "26",
        "15 24 20 32 ",
        "15 -1.5 20 -2 ",
        "5 6 3 4 ",
        "2 3",
        "5 1.66667 0.6 0.8",
        "3 4 -5 -6 ",
        "11 4 -5 -6 ",
        "61",
        "10",
        "1",
    ]
    assert (ran.mistakes, ran.cut) == ([], "")


def test_calls_do_what_their_documentation_states(run_host: Callable[..., Ran]) -> None:
    """Two rows of three numbers, by columns; handles that no call has made are not initialised."""
    ran = run_host(f"#include <cublas_v2.h>\nint main() {{ {CALLS} }}")
    assert ran.stdout.splitlines() == [
        "0 1 1",
        "12 16",
        "6 8",
        "-1 -1 -1",
        "2 9.43398 4",
        "an unsupported value or parameter was passed to the function",
    ]
    assert (ran.mistakes, ran.cut) == ([], "")
