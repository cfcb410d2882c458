// cuBLAS, as far as `cublas_v2.h` beside the headers declares it: what a call asks for goes to the session, which
// computes it where device memory lies. A handle is this program's own affair, and so are its stream and its modes.
#include "cublas_v2.h"
#include "library.hpp"
#include "memory.hpp"

#include <algorithm>

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace standin {
namespace {

// As the session numbers them (grader/running/device/library_requests.py).
enum class Vectors : std::uint32_t { scale = 0, add = 1, dot = 2, norm = 3, absolute_sum = 4 };

LiveHandles<cublasContext> &live_handles() {
    static auto *table = new LiveHandles<cublasContext>;
    return *table;
}

bool is_live(cublasContext *handle) { return live_handles().has(handle); }

cublasStatus_t status_of(cudaError_t code) {
    switch (code) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorInvalidValue: return CUBLAS_STATUS_INVALID_VALUE;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

struct Matrix {
    const void *start;
    int rows, leading; // as it lies in memory

    bool is_sound() const { return leading >= std::max(1, rows); }
};

bool is_operation(cublasOperation_t which) { return which >= CUBLAS_OP_N && which <= CUBLAS_OP_C; }

template <typename Real>
cublasStatus_t multiply(cublasHandle_t handle, bool transposed_a, bool transposed_b, int m, int n, int k,
                        const Real *alpha, Matrix a, Matrix b, const Real *beta, Matrix c, const void *caller) {
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    Payload payload;
    payload.add(std::uint32_t{sizeof(Real)}).add(std::uint32_t{transposed_a}).add(std::uint32_t{transposed_b});
    payload.add(m).add(n).add(k).add(static_cast<double>(*alpha)).add(static_cast<double>(*beta));
    payload.add(a.start).add(a.leading).add(b.start).add(b.leading).add(c.start).add(c.leading);
    return status_of(compute(Operation::multiply, payload.add(handle->stream), handle->stream, caller).code);
}

template <typename Real>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m, int n,
                    int k, const Real *alpha, const Real *a, int lda, const Real *b, int ldb, const Real *beta, Real *c,
                    int ldc, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || k < 0 || !is_operation(operation_a) || !is_operation(operation_b) || !alpha || !beta) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    bool transposed_a = operation_a != CUBLAS_OP_N, transposed_b = operation_b != CUBLAS_OP_N;
    Matrix first{a, transposed_a ? k : m, lda}, second{b, transposed_b ? n : k, ldb}, result{c, m, ldc};
    if (!first.is_sound() || !second.is_sound() || !result.is_sound()) return CUBLAS_STATUS_INVALID_VALUE;
    return multiply(handle, transposed_a, transposed_b, m, n, k, alpha, first, second, beta, result, caller);
}

// A row times a matrix: vectors are matrices of one row, whose steps are from column to column.
template <typename Real>
cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, const Real *alpha, const Real *a,
                    int lda, const Real *x, int incx, const Real *beta, Real *y, int incy, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    Matrix matrix{a, m, lda};
    if (m < 0 || n < 0 || !is_operation(operation) || !incx || !incy || !alpha || !beta || !matrix.is_sound()) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (incx < 0 || incy < 0) unsupported("cublas<t>gemv with a step below 0", caller);
    bool is_plain = operation == CUBLAS_OP_N;
    return multiply(handle, false, is_plain, 1, is_plain ? m : n, is_plain ? n : m, alpha, Matrix{x, 1, incx}, matrix, beta,
                    Matrix{y, 1, incy}, caller);
}

template <typename Real>
cublasStatus_t combine(Vectors which, cublasHandle_t handle, int n, Real factor, const Real *x, int incx, const Real *y,
                       int incy, Real *result, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool gives_number = which == Vectors::dot || which == Vectors::norm || which == Vectors::absolute_sum;
    if (gives_number && !result) return CUBLAS_STATUS_INVALID_VALUE;
    if (n > 0 && (incx < 1 || incy < 1)) unsupported("a function of cuBLAS with a step below 1", caller);
    if (n <= 0) {
        if (gives_number) *result = 0;
        return CUBLAS_STATUS_SUCCESS;
    }
    Payload payload;
    payload.add(which).add(std::uint32_t{sizeof(Real)}).add(n).add(static_cast<double>(factor));
    payload.add(x).add(incx).add(y).add(incy).add(handle->stream);
    Answer answer = compute(Operation::combine, payload, handle->stream, caller);
    if (answer.code == cudaSuccess && gives_number) *result = static_cast<Real>(answer.next<double>());
    return status_of(answer.code);
}

cublasStatus_t copy_columns(int rows, int columns, int size, const void *from, int from_leading, void *to,
                            int to_leading, cudaMemcpyKind kind, const void *caller) {
    if (rows < 0 || columns < 0 || size <= 0 || from_leading < std::max(1, rows) || to_leading < std::max(1, rows)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    auto bytes = [size](int count) { return static_cast<std::size_t>(count) * static_cast<std::size_t>(size); };
    auto height = static_cast<std::size_t>(columns);
    bool is_whole = from_leading == rows && to_leading == rows;
    std::size_t width = is_whole ? bytes(rows) * height : bytes(rows);
    cudaError_t code = is_whole ? copy_rows(to, width, from, width, width, 1, kind, caller)
                                : copy_rows(to, bytes(to_leading), from, bytes(from_leading), width, height, kind, caller);
    return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// Elements that lie apart are rows of one element.
cublasStatus_t copy_elements(int n, int size, const void *from, int from_step, void *to, int to_step, cudaMemcpyKind kind,
                             const void *caller) {
    if (from_step < 1 || to_step < 1) return CUBLAS_STATUS_INVALID_VALUE;
    if (from_step == 1 && to_step == 1) return copy_columns(n, 1, size, from, std::max(1, n), to, std::max(1, n), kind, caller);
    return copy_columns(1, n, size, from, from_step, to, to_step, kind, caller);
}

} // namespace
} // namespace standin

using namespace standin;

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    if (forked()) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = live_handles().make();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    return live_handles().destroy(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!stream) return CUBLAS_STATUS_INVALID_VALUE;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode != CUBLAS_POINTER_MODE_HOST) unsupported("cublasSetPointerMode with scalars on the device", CALLER);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = CUBLAS_POINTER_MODE_HOST;
    return CUBLAS_STATUS_SUCCESS;
}
// Results are as exact in all modes.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->math = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->math;
    return CUBLAS_STATUS_SUCCESS;
}
const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "CUBLAS_STATUS_UNKNOWN";
}
const char *cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *device, int incy) {
    return copy_elements(n, size, x, incx, device, incy, cudaMemcpyHostToDevice, CALLER);
}
cublasStatus_t cublasGetVector(int n, int size, const void *device, int incx, void *y, int incy) {
    return copy_elements(n, size, device, incx, y, incy, cudaMemcpyDeviceToHost, CALLER);
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *device, int ldb) {
    return copy_columns(rows, columns, size, a, lda, device, ldb, cudaMemcpyHostToDevice, CALLER);
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *device, int lda, void *b, int ldb) {
    return copy_columns(rows, columns, size, device, lda, b, ldb, cudaMemcpyDeviceToHost, CALLER);
}

#define FUNCTIONS(S, real)                                                                                           \
    cublasStatus_t cublas##S##gemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,    \
                                      int m, int n, int k, const real *alpha, const real *a, int lda,               \
                                      const real *b, int ldb, const real *beta, real *c, int ldc) {                 \
        return gemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, CALLER);                  \
    }                                                                                                                \
    cublasStatus_t cublas##S##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,                 \
                                      const real *alpha, const real *a, int lda, const real *x, int incx,           \
                                      const real *beta, real *y, int incy) {                                        \
        return gemv(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy, CALLER);                            \
    }                                                                                                                \
    cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const real *alpha, const real *x, int incx,     \
                                      real *y, int incy) {                                                          \
        if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;                                                             \
        return combine<real>(Vectors::add, handle, n, *alpha, x, incx, y, incy, nullptr, CALLER);                   \
    }                                                                                                                \
    cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const real *alpha, real *x, int incx) {         \
        if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;                                                             \
        return combine<real>(Vectors::scale, handle, n, *alpha, x, incx, x, incx, nullptr, CALLER);                 \
    }                                                                                                                \
    cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const real *x, int incx, const real *y, int incy, \
                                     real *result) {                                                                \
        return combine<real>(Vectors::dot, handle, n, 1, x, incx, y, incy, result, CALLER);                         \
    }                                                                                                                \
    cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result) {        \
        return combine<real>(Vectors::norm, handle, n, 1, x, incx, x, incx, result, CALLER);                        \
    }                                                                                                                \
    cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result) {        \
        return combine<real>(Vectors::absolute_sum, handle, n, 1, x, incx, x, incx, result, CALLER);                \
    }
FUNCTIONS(S, float)
FUNCTIONS(D, double)

} // extern "C"
