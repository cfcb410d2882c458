// Functions of cuBLAS on matrices (levels 2 and 3): products of one pair or of many, updates by vectors, triangles.
#include "blas_products.hpp"

namespace standin {

bool is_operation(cublasOperation_t which) { return which >= CUBLAS_OP_N && which <= CUBLAS_OP_C; }

cublasStatus_t multiply(const Product &p, Complex alpha, Complex beta, cudaStream_t stream, const void *caller) {
    Payload payload;
    payload.add(static_cast<std::uint32_t>(p.a.type)).add(static_cast<std::uint32_t>(p.d.type));
    payload.add(static_cast<std::uint32_t>(p.of_a)).add(static_cast<std::uint32_t>(p.of_b)).add(p.m).add(p.n).add(p.k);
    payload.add(alpha.real).add(alpha.imaginary).add(beta.real).add(beta.imaginary);
    for (const Matrix &matrix : {p.a, p.b, p.c, p.d}) {
        payload.add(matrix.start).add(matrix.leading).add(std::int64_t{matrix.stride});
    }
    payload.add(p.count).add(std::uint32_t{p.by_pointers});
    payload.add(p.bias).add(static_cast<std::uint32_t>(p.type_of_bias)).add(p.activation).add(stream);
    return status_of(compute(Operation::multiply, payload, stream, caller).code);
}

namespace {

bool is_sound(const Product &p) {
    return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.count >= 0 && is_operation(p.of_a) && is_operation(p.of_b) &&
           p.a.is_sound() && p.b.is_sound() && p.c.is_sound();
}

cublasStatus_t gemm(cublasHandle_t handle, const Product &p, const void *alpha, const void *beta, cudaDataType scalars,
                    const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!is_sound(p) || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (p.a.type != p.b.type) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!p.m || !p.n || !p.count) return CUBLAS_STATUS_SUCCESS;
    auto by = factor(handle, alpha, scalars, caller), and_by = factor(handle, beta, scalars, caller);
    if (!by || !and_by) return CUBLAS_STATUS_EXECUTION_FAILED;
    return multiply(p, *by, *and_by, handle->stream, caller);
}

Product product(cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const void *a, cudaDataType type_a,
                int lda, const void *b, cudaDataType type_b, int ldb, const void *c, cudaDataType type_c, int ldc) {
    Matrix first{a, of_a == CUBLAS_OP_N ? m : k, lda, type_a}, second{b, of_b == CUBLAS_OP_N ? k : n, ldb, type_b};
    Matrix result{c, m, ldc, type_c};
    return {of_a, of_b, m, n, k, first, second, result, result};
}

template <typename Number>
Product product(cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const void *a, int lda, const void *b,
                int ldb, const void *c, int ldc) {
    constexpr auto type = type_of<Number>;
    return product(of_a, of_b, m, n, k, a, type, lda, b, type, ldb, c, type, ldc);
}

Product batched(Product p, int count) {
    p.count = count, p.by_pointers = true;
    return p;
}
Product batched(Product p, int count, long long stride_a, long long stride_b, long long stride_c) {
    p.count = count;
    p.a.stride = stride_a, p.b.stride = stride_b, p.c.stride = p.d.stride = stride_c;
    return p;
}

// The type of the factors, which follows from that of the arithmetic and of the result.
cudaDataType scalars_of(cublasComputeType_t compute, cudaDataType result) {
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return result == CUDA_C_64F ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
    default: return result == CUDA_C_32F ? CUDA_C_32F : CUDA_R_32F;
    }
}

// A row times a matrix: vectors are matrices of one row, whose steps are from column to column.
template <typename Real>
cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, const Real *alpha, const Real *a,
                    int lda, const Real *x, int incx, const Real *beta, Real *y, int incy, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool is_sound = m >= 0 && n >= 0 && is_operation(operation) && incx && incy && lda >= std::max(1, m);
    if (!is_sound || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (incx < 0 || incy < 0) unsupported("cublas<t>gemv with a step below 0", caller);
    bool is_plain = operation == CUBLAS_OP_N;
    Matrix result{y, 1, incy, type_of<Real>};
    Product p{CUBLAS_OP_N, is_plain ? CUBLAS_OP_T : CUBLAS_OP_N, 1, is_plain ? m : n, is_plain ? n : m,
              {x, 1, incx, type_of<Real>}, {a, m, lda, type_of<Real>}, result, result};
    return gemm(handle, p, alpha, beta, type_of<Real>, caller);
}

// A matrix and the product of a column and a row.
template <typename Real>
cublasStatus_t ger(cublasHandle_t handle, int m, int n, const Real *alpha, const Real *x, int incx, const Real *y, int incy,
                   Real *a, int lda, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || !incx || !incy || lda < std::max(1, m) || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (incx < 0 || incy < 0) unsupported("cublas<t>ger with a step below 0", caller);
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    auto by = factor(handle, alpha, type_of<Real>, caller);
    if (!by) return CUBLAS_STATUS_EXECUTION_FAILED;
    Matrix result{a, m, lda, type_of<Real>};
    Product p{CUBLAS_OP_T, CUBLAS_OP_N, m, n, 1, {x, 1, incx, type_of<Real>}, {y, 1, incy, type_of<Real>}, result, result};
    return multiply(p, *by, {1}, handle->stream, caller);
}

template <typename Real>
cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                    cublasDiagType_t diag, int m, int n, const Real *alpha, const Real *a, int lda, Real *b, int ldb,
                    const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    bool is_sound = m >= 0 && n >= 0 && lda >= std::max(1, order) && ldb >= std::max(1, m) && is_operation(trans);
    if (!is_sound || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    auto by = factor(handle, alpha, type_of<Real>, caller);
    if (!by) return CUBLAS_STATUS_EXECUTION_FAILED;
    Payload payload;
    payload.add(static_cast<std::uint32_t>(type_of<Real>)).add(std::uint32_t{side == CUBLAS_SIDE_RIGHT});
    payload.add(std::uint32_t{uplo == CUBLAS_FILL_MODE_UPPER}).add(std::uint32_t{trans != CUBLAS_OP_N});
    payload.add(std::uint32_t{diag == CUBLAS_DIAG_UNIT}).add(m).add(n).add(by->real);
    payload.add(a).add(lda).add(b).add(ldb).add(handle->stream);
    return status_of(compute(Operation::solve, payload, handle->stream, caller).code);
}

} // namespace
} // namespace standin

using namespace standin;

extern "C" {

#define PRODUCTS(name, S, number)                                                                                    \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,    \
                        int k, const number *alpha, const number *a, int lda, const number *b, int ldb,             \
                        const number *beta, number *c, int ldc) {                                                   \
        return gemm(handle, product<number>(transa, transb, m, n, k, a, lda, b, ldb, c, ldc), alpha, beta,          \
                    type_of<number>, CALLER);                                                                       \
    }                                                                                                                \
    cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                                          int m, int n, int k, const number *alpha, const number *const a[], int lda, \
                                          const number *const b[], int ldb, const number *beta, number *const c[],  \
                                          int ldc, int count) {                                                     \
        return gemm(handle, batched(product<number>(transa, transb, m, n, k, a, lda, b, ldb, c, ldc), count), alpha, \
                    beta, type_of<number>, CALLER);                                                                 \
    }                                                                                                                \
    cublasStatus_t cublas##S##gemmStridedBatched(                                                                   \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,             \
        const number *alpha, const number *a, int lda, long long stridea, const number *b, int ldb,                 \
        long long strideb, const number *beta, number *c, int ldc, long long stridec, int count) {                  \
        Product one = product<number>(transa, transb, m, n, k, a, lda, b, ldb, c, ldc);                             \
        return gemm(handle, batched(one, count, stridea, strideb, stridec), alpha, beta, type_of<number>, CALLER);  \
    }
PRODUCTS(cublasSgemm_v2, S, float)
PRODUCTS(cublasDgemm_v2, D, double)
PRODUCTS(cublasCgemm_v2, C, cuComplex)
PRODUCTS(cublasZgemm_v2, Z, cuDoubleComplex)
PRODUCTS(cublasHgemm, H, __half)

#define OF_VECTORS(S, real)                                                                                          \
    cublasStatus_t cublas##S##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,                 \
                                      const real *alpha, const real *a, int lda, const real *x, int incx,           \
                                      const real *beta, real *y, int incy) {                                        \
        return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy, CALLER);                            \
    }                                                                                                                \
    cublasStatus_t cublas##S##ger_v2(cublasHandle_t handle, int m, int n, const real *alpha, const real *x, int incx, \
                                     const real *y, int incy, real *a, int lda) {                                   \
        return ger(handle, m, n, alpha, x, incx, y, incy, a, lda, CALLER);                                          \
    }                                                                                                                \
    cublasStatus_t cublas##S##trsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,          \
                                      cublasOperation_t trans, cublasDiagType_t diag, int m, int n,                 \
                                      const real *alpha, const real *a, int lda, real *b, int ldb) {                \
        return trsm(handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, CALLER);                          \
    }
OF_VECTORS(S, float)
OF_VECTORS(D, double)

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    return gemm(handle, product(transa, transb, m, n, k, a, type_a, lda, b, type_b, ldb, c, type_c, ldc), alpha, beta,
                scalars_of(compute, type_c), CALLER);
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void *alpha, const void *const a[], cudaDataType type_a,
                                   int lda, const void *const b[], cudaDataType type_b, int ldb, const void *beta,
                                   void *const c[], cudaDataType type_c, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
    Product one = product(transa, transb, m, n, k, a, type_a, lda, b, type_b, ldb, c, type_c, ldc);
    return gemm(handle, batched(one, count), alpha, beta, scalars_of(compute, type_c), CALLER);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, long long stridea, const void *b, cudaDataType type_b, int ldb,
                                          long long strideb, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stridec, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
    Product one = product(transa, transb, m, n, k, a, type_a, lda, b, type_b, ldb, c, type_c, ldc);
    return gemm(handle, batched(one, count, stridea, strideb, stridec), alpha, beta, scalars_of(compute, type_c), CALLER);
}
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                             cudaDataType type_b, int ldb, const float *beta, void *c, cudaDataType type_c, int ldc) {
    return gemm(handle, product(transa, transb, m, n, k, a, type_a, lda, b, type_b, ldb, c, type_c, ldc), alpha, beta,
                CUDA_R_32F, CALLER);
}

} // extern "C"
