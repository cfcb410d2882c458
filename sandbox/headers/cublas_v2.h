// What programs use of cuBLAS to compare their kernels with (cuBLAS documentation, "Using the cuBLAS API"): single and
// double precision, and scalars in memory of the host. The grader's emulator computes it. Whatever is not declared here
// is not there, and the grader says so.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>

#define CUBLASAPI
#define CUBLASWINAPI
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VERSION 130000

typedef struct cublasContext *cublasHandle_t;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *device, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *device, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *device, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *device, int lda, void *b, int ldb);

#define GRADER_CUBLAS_FUNCTIONS(S, real)                                                                             \
    cublasStatus_t cublas##S##gemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,    \
                                      int m, int n, int k, const real *alpha, const real *a, int lda,               \
                                      const real *b, int ldb, const real *beta, real *c, int ldc);                  \
    cublasStatus_t cublas##S##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,                 \
                                      const real *alpha, const real *a, int lda, const real *x, int incx,           \
                                      const real *beta, real *y, int incy);                                         \
    cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const real *alpha, const real *x, int incx,     \
                                      real *y, int incy);                                                           \
    cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const real *alpha, real *x, int incx);          \
    cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const real *x, int incx, const real *y, int incy, \
                                     real *result);                                                                 \
    cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result);         \
    cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result);
GRADER_CUBLAS_FUNCTIONS(S, float)
GRADER_CUBLAS_FUNCTIONS(D, double)
#undef GRADER_CUBLAS_FUNCTIONS

#ifdef __cplusplus
}
#endif
