"""cuBLASLt in programs: products that are described, with a bias and an activation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.running.device.hosts import Ran

LT_CALLS = r"""
    cublasLtHandle_t h; cublasLtCreate(&h);
    float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, -1, 2, 0, 1, 1}, bias[] = {1, -50}, d[4], one = 1, zero = 0;
    float *A, *B, *D, *V;
    cudaMalloc(&A, sizeof a), cudaMalloc(&B, sizeof b), cudaMalloc(&D, sizeof d), cudaMalloc(&V, 16);
    cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice);
    cudaMemcpy(V, bias, sizeof bias, cudaMemcpyHostToDevice);
    cublasLtMatmulDesc_t of; cublasLtMatmulDescCreate(&of, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayout_t in_a, in_b, in_d;
    cublasLtMatrixLayoutCreate(&in_a, CUDA_R_32F, 2, 3, 2);
    cublasLtMatrixLayoutCreate(&in_b, CUDA_R_32F, 3, 2, 3);
    cublasLtMatrixLayoutCreate(&in_d, CUDA_R_32F, 2, 2, 2);
    cublasLtMatmulPreference_t wanted; cublasLtMatmulPreferenceCreate(&wanted);
    size_t room = 1 << 20; int count = 0; cublasLtMatmulHeuristicResult_t way;
    const auto bytes = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
    cublasLtMatmulPreferenceSetAttribute(wanted, bytes, &room, sizeof room);
    auto find = [&] {
        int status = cublasLtMatmulAlgoGetHeuristic(h, of, in_a, in_b, in_d, in_d, wanted, 1, &way, &count);
        std::printf("%d %d\n", status, count);
    };
    find();
    auto show = [&] {
        int status = cublasLtMatmul(h, of, &one, A, in_a, B, in_b, &zero, D, in_d, D, in_d, &way.algo,
                                    nullptr, 0, nullptr);
        cudaMemcpy(d, D, sizeof d, cudaMemcpyDeviceToHost);
        std::printf("%d: %g %g %g %g\n", status, d[0], d[1], d[2], d[3]);
    };
    show();
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    cublasLtMatmulDescSetAttribute(of, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(of, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &V, sizeof V), show();
    epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    cublasLtMatmulDescSetAttribute(of, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtOrder_t rows = CUBLASLT_ORDER_ROW; int64_t leading = 3;
    for (auto layout : {in_a, in_b, in_d})
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows);
    cublasLtMatrixLayoutSetAttribute(in_a, CUBLASLT_MATRIX_LAYOUT_LD, &leading, sizeof leading), leading = 2;
    cublasLtMatrixLayoutSetAttribute(in_b, CUBLASLT_MATRIX_LAYOUT_LD, &leading, sizeof leading);
    find(), show();
    cublasOperation_t turned = CUBLAS_OP_T;
    cublasLtMatmulDescSetAttribute(of, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned);
    find();
    cublasLtMatrixLayoutDestroy(in_a), cublasLtMatrixLayoutDestroy(in_b), cublasLtMatrixLayoutDestroy(in_d);
    find();
    cublasLtMatmulPreferenceDestroy(wanted), cublasLtMatmulDescDestroy(of), cublasLtDestroy(h);
    cudaFree(A), cudaFree(B), cudaFree(D), cudaFree(V);
"""


def test_described_products_do_what_their_documentation_states(run_host: Callable[..., Ran]) -> None:
    """In column and in row order, with a bias and an activation; sizes that do not fit find no algorithm."""
    ran = run_host(f"#include <cublasLt.h>\nint main() {{ {LT_CALLS} }}")
    assert ran.stdout.splitlines() == [
        "0 1",
        "0: 8 10 8 10",
        "0: 9 0 9 0",
        "0 1",
        "0: 8 2 20 2",
        "7 1",
        "7 1",
    ]
    assert ran.cut == ""


def test_what_is_not_computed_ends_the_program_as_our_limit(
    run_host: Callable[..., Ran],
) -> None:
    """An epilogue for gradients is no mistake of the program."""
    body = LT_CALLS.replace("CUBLASLT_EPILOGUE_RELU_BIAS", "CUBLASLT_EPILOGUE_BGRADA")
    ran = run_host(f"#include <cublasLt.h>\nint main() {{ {body} }}")
    assert ran.stdout.splitlines()[-1] == "0: 8 10 8 10"
    assert "unsupported" in ran.mistakes
