// cuBLAS, as far as `cublas_v2.h` beside the headers declares it: what a call asks for goes to the session, which
// computes it where device memory lies. A handle is this program's own affair, and so are its stream and its modes.
#include "blas.hpp"
#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace standin {
namespace {

LiveHandles<cublasContext> &live_handles() {
    static auto *table = new LiveHandles<cublasContext>;
    return *table;
}

// A number of sixteen bits (IEEE 754, binary16, and its brother with eight bits of exponent).
double from_half(std::uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                 : std::ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

double from_bfloat(std::uint16_t bits) {
    std::uint32_t wide = std::uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

std::uint16_t to_bfloat(double value) {
    auto narrow = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    if (std::isnan(value)) return 0x7FFF;
    return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

std::uint16_t to_half(double value) {
    std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    double size = std::fabs(value);
    if (std::isnan(value)) return 0x7FFF;
    if (size >= 65520) return sign | 0x7C00;
    int exponent = size < std::ldexp(1, -14) ? -14 : std::ilogb(size);
    auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    // What is rounded up to the next power of two carries into the exponent by itself.
    return static_cast<std::uint16_t>(sign | (units < 1024 ? units : units - 1024 + (static_cast<unsigned>(exponent + 15) << 10)));
}

std::size_t size_of(cudaDataType type) {
    switch (type) {
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_C_64F: return 16;
    default: return 0;
    }
}

template <typename Number> Number read(const unsigned char *bytes, std::size_t at = 0) {
    Number number;
    std::memcpy(&number, bytes + at, sizeof number);
    return number;
}

cublasStatus_t copy_columns(int rows, int columns, int size, const void *from, int from_leading, void *to,
                            int to_leading, cudaMemcpyKind kind, const void *caller, std::optional<cudaStream_t> stream = {}) {
    if (rows < 0 || columns < 0 || size <= 0 || from_leading < std::max(1, rows) || to_leading < std::max(1, rows)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    auto bytes = [size](int count) { return static_cast<std::size_t>(count) * static_cast<std::size_t>(size); };
    auto height = static_cast<std::size_t>(columns);
    bool is_whole = from_leading == rows && to_leading == rows;
    std::size_t width = is_whole ? bytes(rows) * height : bytes(rows);
    cudaError_t code = is_whole ? copy_rows(to, width, from, width, width, 1, kind, caller, stream)
                                : copy_rows(to, bytes(to_leading), from, bytes(from_leading), width, height, kind, caller,
                                          stream);
    return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// Elements that lie apart are rows of one element.
cublasStatus_t copy_elements(int n, int size, const void *from, int from_step, void *to, int to_step, cudaMemcpyKind kind,
                             const void *caller, std::optional<cudaStream_t> stream = {}) {
    if (from_step < 1 || to_step < 1) return CUBLAS_STATUS_INVALID_VALUE;
    bool is_dense = from_step == 1 && to_step == 1;
    int leading = std::max(1, n);
    if (is_dense) return copy_columns(n, 1, size, from, leading, to, leading, kind, caller, stream);
    return copy_columns(1, n, size, from, from_step, to, to_step, kind, caller, stream);
}

} // namespace

bool is_live(cublasContext *handle) { return live_handles().has(handle); }

cublasStatus_t status_of(cudaError_t code) {
    switch (code) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorInvalidValue: return CUBLAS_STATUS_INVALID_VALUE;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

std::optional<Complex> factor(cublasHandle_t handle, const void *at, cudaDataType type, const void *caller) {
    unsigned char bytes[16] = {};
    std::size_t size = size_of(type);
    if (!at || !size) return {};
    if (handle->mode == CUBLAS_POINTER_MODE_HOST) {
        std::memcpy(bytes, at, size);
    } else if (copy_rows(bytes, size, at, size, size, 1, cudaMemcpyDeviceToHost, caller, handle->stream) != cudaSuccess) {
        return {};
    }
    switch (type) {
    case CUDA_R_64F: return Complex{read<double>(bytes)};
    case CUDA_R_32I: return Complex{static_cast<double>(read<std::int32_t>(bytes))};
    case CUDA_R_16F: return Complex{from_half(read<std::uint16_t>(bytes))};
    case CUDA_R_16BF: return Complex{from_bfloat(read<std::uint16_t>(bytes))};
    case CUDA_C_32F: return Complex{read<float>(bytes), read<float>(bytes, 4)};
    case CUDA_C_64F: return Complex{read<double>(bytes), read<double>(bytes, 8)};
    default: return Complex{read<float>(bytes)};
    }
}

namespace {

cublasStatus_t deliver_bytes(cublasHandle_t handle, const void *bytes, std::size_t size, void *at, const void *caller) {
    if (handle->mode == CUBLAS_POINTER_MODE_HOST) {
        std::memcpy(at, bytes, size);
        return CUBLAS_STATUS_SUCCESS;
    }
    return status_of(copy_rows(at, size, bytes, size, size, 1, cudaMemcpyHostToDevice, caller, handle->stream));
}

template <typename Number>
cublasStatus_t deliver_as(cublasHandle_t handle, Number number, void *at, const void *caller) {
    return deliver_bytes(handle, &number, sizeof number, at, caller);
}

} // namespace

cublasStatus_t deliver(cublasHandle_t handle, double value, void *at, cudaDataType type, const void *caller) {
    switch (type) {
    case CUDA_R_64F: return deliver_as(handle, value, at, caller);
    case CUDA_R_32F: return deliver_as(handle, static_cast<float>(value), at, caller);
    case CUDA_R_16F: return deliver_as(handle, to_half(value), at, caller);
    case CUDA_R_16BF: return deliver_as(handle, to_bfloat(value), at, caller);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t deliver_index(cublasHandle_t handle, double value, int *at, const void *caller) {
    return deliver_as(handle, static_cast<int>(value), at, caller);
}

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
    if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->mode;
    return CUBLAS_STATUS_SUCCESS;
}
// The order of sums is the same in both modes.
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->atomics = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode) {
    if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->atomics;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, std::size_t) {
    return is_live(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
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
const char *cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "a feature absent from the device architecture is required";
    case CUBLAS_STATUS_MAPPING_ERROR: return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "the GPU program failed to execute";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "the functionality requested is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR: return "the functionality requested requires some license";
    }
    return "unknown error";
}

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
cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *device, int incy,
                                    cudaStream_t stream) {
    return copy_elements(n, size, x, incx, device, incy, cudaMemcpyHostToDevice, CALLER, stream);
}
cublasStatus_t cublasGetVectorAsync(int n, int size, const void *device, int incx, void *y, int incy,
                                    cudaStream_t stream) {
    return copy_elements(n, size, device, incx, y, incy, cudaMemcpyDeviceToHost, CALLER, stream);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *device, int ldb,
                                    cudaStream_t stream) {
    return copy_columns(rows, columns, size, a, lda, device, ldb, cudaMemcpyHostToDevice, CALLER, stream);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *device, int lda, void *b, int ldb,
                                    cudaStream_t stream) {
    return copy_columns(rows, columns, size, device, lda, b, ldb, cudaMemcpyDeviceToHost, CALLER, stream);
}

} // extern "C"
