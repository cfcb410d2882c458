// What the parts of cuBLAS have in common: handles, types of numbers, and factors that lie on the host or on the device.
#pragma once

#define GRADER_STAND_IN
#include "cublas_v2.h"
#include "library.hpp"

#include <optional>

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace standin {

struct Complex {
    double real = 0, imaginary = 0;
};

bool is_live(cublasContext *handle);
cublasStatus_t status_of(cudaError_t code);

template <typename Number> constexpr cudaDataType type_of = CUDA_R_32F;
template <> inline constexpr cudaDataType type_of<double> = CUDA_R_64F;
template <> inline constexpr cudaDataType type_of<__half> = CUDA_R_16F;
template <> inline constexpr cudaDataType type_of<cuComplex> = CUDA_C_32F;
template <> inline constexpr cudaDataType type_of<cuDoubleComplex> = CUDA_C_64F;

// A factor that a program passes, of host or device memory as the handle's mode says; none where it cannot be read.
std::optional<Complex> factor(cublasHandle_t handle, const void *at, cudaDataType type, const void *caller);
// Leaves a result where the handle's mode says.
cublasStatus_t deliver(cublasHandle_t handle, double value, void *at, cudaDataType type, const void *caller);
cublasStatus_t deliver_index(cublasHandle_t handle, double value, int *at, const void *caller);

} // namespace standin
