// Functions of cuBLAS on vectors (level 1), in single and double precision, and with the types that the call names.
#include "blas.hpp"

#include <algorithm>
#include <cmath>

namespace standin {
namespace {

// As the session numbers them (grader/running/device/library_requests.py).
enum class Vectors : std::uint32_t {
    scale = 0, add, dot, norm, absolute_sum, copy, exchange, largest, smallest, rotate
};

struct Vector {
    const void *start;
    int step; // from one element to the next; below 0: backwards
};

// What x and y are multiplied by: x = a · x + b · y, y = c · x + d · y.
struct Factors {
    double a = 1, b = 0, c = 0, d = 1;
};

cublasStatus_t combine(Vectors which, cublasHandle_t handle, int n, const Factors &by, cudaDataType type, Vector x, Vector y,
                       double *number, const void *caller) {
    Payload payload;
    payload.add(which).add(static_cast<std::uint32_t>(type)).add(n).add(by.a).add(by.b).add(by.c).add(by.d);
    payload.add(x.start).add(x.step).add(y.start).add(y.step).add(handle->stream);
    Answer answer = compute(Operation::combine, payload, handle->stream, caller);
    if (answer.code == cudaSuccess && number) *number = answer.next<double>();
    return status_of(answer.code);
}

// Two vectors, of which one changes at least.
cublasStatus_t change(Vectors which, cublasHandle_t handle, int n, const Factors &by, cudaDataType type, Vector x, Vector y,
                      const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (!x.step || !y.step) unsupported("a function of cuBLAS with a step of 0", caller);
    return combine(which, handle, n, by, type, x, y, nullptr, caller);
}

cublasStatus_t scale(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, cudaDataType type, Vector x,
                     const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0 || x.step <= 0) return CUBLAS_STATUS_SUCCESS;
    auto by = factor(handle, alpha, type_alpha, caller);
    if (!by) return CUBLAS_STATUS_EXECUTION_FAILED;
    return combine(Vectors::scale, handle, n, {by->real}, type, x, x, nullptr, caller);
}

cublasStatus_t add(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, cudaDataType type, Vector x,
                   Vector y, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    auto by = n > 0 ? factor(handle, alpha, type_alpha, caller) : Complex{};
    if (!by) return CUBLAS_STATUS_EXECUTION_FAILED;
    return change(Vectors::add, handle, n, {by->real}, type, x, y, caller);
}

// A number that comes of one or two vectors: 0 of none.
std::optional<double> number_of(Vectors which, cublasHandle_t handle, int n, cudaDataType type, Vector x, Vector y,
                                cublasStatus_t &status, const void *caller) {
    double number = 0;
    bool is_nothing = n <= 0 || (which != Vectors::dot && x.step <= 0);
    if (!is_nothing && (!x.step || !y.step)) unsupported("a function of cuBLAS with a step of 0", caller);
    status = is_nothing ? CUBLAS_STATUS_SUCCESS : combine(which, handle, n, {}, type, x, y, &number, caller);
    if (status != CUBLAS_STATUS_SUCCESS) return {};
    return number;
}

cublasStatus_t measure(Vectors which, cublasHandle_t handle, int n, cudaDataType type, Vector x, Vector y, void *result,
                       cudaDataType type_result, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status;
    auto number = number_of(which, handle, n, type, x, y, status, caller);
    return number ? deliver(handle, *number, result, type_result, caller) : status;
}

cublasStatus_t find(Vectors which, cublasHandle_t handle, int n, cudaDataType type, Vector x, int *result,
                    const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status;
    auto number = number_of(which, handle, n, type, x, x, status, caller);
    return number ? deliver_index(handle, *number, result, caller) : status;
}

cublasStatus_t rotate(cublasHandle_t handle, int n, cudaDataType type, Vector x, Vector y, const void *c, const void *s,
                      const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    auto cosine = factor(handle, c, type, caller), sine = factor(handle, s, type, caller);
    if (!cosine || !sine) return CUBLAS_STATUS_INVALID_VALUE;
    return change(Vectors::rotate, handle, n, {cosine->real, sine->real, -sine->real, cosine->real}, type, x, y, caller);
}

// The modified rotation: a flag says which of four factors are given (BLAS, "drotm").
template <typename Real>
cublasStatus_t rotate_modified(cublasHandle_t handle, int n, Vector x, Vector y, const Real *parameters,
                               const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    double given[5];
    for (int each = 0; each < 5; ++each) {
        auto value = parameters ? factor(handle, parameters + each, type_of<Real>, caller) : std::nullopt;
        if (!value) return CUBLAS_STATUS_INVALID_VALUE;
        given[each] = value->real;
    }
    auto [flag, a, c, b, d] = given;
    Factors by{a, b, c, d};
    if (flag == -2) return CUBLAS_STATUS_SUCCESS;
    if (flag == 0) by.a = by.d = 1;
    if (flag == 1) by.b = 1, by.c = -1;
    return change(Vectors::rotate, handle, n, by, type_of<Real>, x, y, caller);
}

// The rotation that makes the second of two numbers zero (BLAS, "drotg").
template <typename Real>
cublasStatus_t make_rotation(cublasHandle_t handle, Real *a, Real *b, Real *c, Real *s, const void *caller) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!a || !b || !c || !s) return CUBLAS_STATUS_INVALID_VALUE;
    auto first = factor(handle, a, type_of<Real>, caller), second = factor(handle, b, type_of<Real>, caller);
    if (!first || !second) return CUBLAS_STATUS_EXECUTION_FAILED;
    double x = first->real, y = second->real;
    bool is_first = std::fabs(x) > std::fabs(y);
    double length = std::copysign(std::hypot(x, y), is_first ? x : y);
    double cosine = length ? x / length : 1, sine = length ? y / length : 0;
    double rebuilt = is_first ? sine : cosine ? 1 / cosine : 1;
    if (!length) rebuilt = 0;
    Real *places[] = {a, b, c, s};
    double values[] = {length, rebuilt, cosine, sine};
    for (int each = 0; each < 4; ++each) {
        cublasStatus_t status = deliver(handle, values[each], places[each], type_of<Real>, caller);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace
} // namespace standin

using namespace standin;

extern "C" {

#define VECTORS(S, s, real)                                                                                          \
    cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const real *alpha, const real *x, int incx,     \
                                      real *y, int incy) {                                                          \
        return add(handle, n, alpha, type_of<real>, type_of<real>, {x, incx}, {y, incy}, CALLER);                   \
    }                                                                                                                \
    cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const real *alpha, real *x, int incx) {         \
        return scale(handle, n, alpha, type_of<real>, type_of<real>, {x, incx}, CALLER);                            \
    }                                                                                                                \
    cublasStatus_t cublas##S##copy_v2(cublasHandle_t handle, int n, const real *x, int incx, real *y, int incy) {   \
        return change(Vectors::copy, handle, n, {}, type_of<real>, {x, incx}, {y, incy}, CALLER);                   \
    }                                                                                                                \
    cublasStatus_t cublas##S##swap_v2(cublasHandle_t handle, int n, real *x, int incx, real *y, int incy) {         \
        return change(Vectors::exchange, handle, n, {}, type_of<real>, {x, incx}, {y, incy}, CALLER);               \
    }                                                                                                                \
    cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const real *x, int incx, const real *y, int incy, \
                                     real *result) {                                                                \
        return measure(Vectors::dot, handle, n, type_of<real>, {x, incx}, {y, incy}, result, type_of<real>, CALLER); \
    }                                                                                                                \
    cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result) {        \
        return measure(Vectors::norm, handle, n, type_of<real>, {x, incx}, {x, incx}, result, type_of<real>, CALLER); \
    }                                                                                                                \
    cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result) {        \
        return measure(Vectors::absolute_sum, handle, n, type_of<real>, {x, incx}, {x, incx}, result, type_of<real>, \
                       CALLER);                                                                                     \
    }                                                                                                                \
    cublasStatus_t cublasI##s##amax_v2(cublasHandle_t handle, int n, const real *x, int incx, int *result) {        \
        return find(Vectors::largest, handle, n, type_of<real>, {x, incx}, result, CALLER);                         \
    }                                                                                                                \
    cublasStatus_t cublasI##s##amin_v2(cublasHandle_t handle, int n, const real *x, int incx, int *result) {        \
        return find(Vectors::smallest, handle, n, type_of<real>, {x, incx}, result, CALLER);                        \
    }                                                                                                                \
    cublasStatus_t cublas##S##rot_v2(cublasHandle_t handle, int n, real *x, int incx, real *y, int incy,            \
                                     const real *c, const real *s) {                                                \
        return rotate(handle, n, type_of<real>, {x, incx}, {y, incy}, c, s, CALLER);                                \
    }                                                                                                                \
    cublasStatus_t cublas##S##rotm_v2(cublasHandle_t handle, int n, real *x, int incx, real *y, int incy,           \
                                      const real *parameters) {                                                     \
        return rotate_modified(handle, n, {x, incx}, {y, incy}, parameters, CALLER);                                \
    }                                                                                                                \
    cublasStatus_t cublas##S##rotg_v2(cublasHandle_t handle, real *a, real *b, real *c, real *s) {                  \
        return make_rotation(handle, a, b, c, s, CALLER);                                                           \
    }
VECTORS(S, s, float)
VECTORS(D, d, double)

cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, const void *x,
                            cudaDataType type_x, int incx, void *y, cudaDataType type_y, int incy, cudaDataType) {
    if (type_x != type_y) return CUBLAS_STATUS_NOT_SUPPORTED;
    return add(handle, n, alpha, type_alpha, type_x, {x, incx}, {y, incy}, CALLER);
}
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, void *x,
                            cudaDataType type_x, int incx, cudaDataType) {
    return scale(handle, n, alpha, type_alpha, type_x, {x, incx}, CALLER);
}
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType type_x, int incx, const void *y,
                           cudaDataType type_y, int incy, void *result, cudaDataType type_result, cudaDataType) {
    if (type_x != type_y) return CUBLAS_STATUS_NOT_SUPPORTED;
    return measure(Vectors::dot, handle, n, type_x, {x, incx}, {y, incy}, result, type_result, CALLER);
}
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType type_x, int incx, void *result,
                            cudaDataType type_result, cudaDataType) {
    return measure(Vectors::norm, handle, n, type_x, {x, incx}, {x, incx}, result, type_result, CALLER);
}

} // extern "C"
