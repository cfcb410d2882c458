// cuBLAS, as far as programs of courses use it (cuBLAS documentation, "Using the cuBLAS API"). The grader's emulator
// computes it. Whatever is not declared here is not there, and the grader says so.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>

#ifndef GRADER_STAND_IN  // which has no arithmetic on these types
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
typedef struct { unsigned short bits; } __half;
typedef struct { float x, y; } cuComplex;
typedef struct { double x, y; } cuDoubleComplex;
#endif

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
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100
} cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;

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
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2
#define cublasStrsm cublasStrsm_v2
#define cublasDtrsm cublasDtrsm_v2
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
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasSswap cublasSswap_v2
#define cublasDswap cublasDswap_v2
#define cublasSrot cublasSrot_v2
#define cublasDrot cublasDrot_v2
#define cublasSrotg cublasSrotg_v2
#define cublasDrotg cublasDrotg_v2
#define cublasSrotm cublasSrotm_v2
#define cublasDrotm cublasDrotm_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamin cublasIdamin_v2
#define cublasCgemm cublasCgemm_v2
#define cublasZgemm cublasZgemm_v2

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *device, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *device, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *device, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *device, int lda, void *b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *device, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void *device, int incx, void *y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *device, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *device, int lda, void *b, int ldb,
                                    cudaStream_t stream);

#define GRADER_CUBLAS_VECTORS(S, s, real)                                                                            \
    cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const real *alpha, const real *x, int incx,     \
                                      real *y, int incy);                                                           \
    cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const real *alpha, real *x, int incx);          \
    cublasStatus_t cublas##S##copy_v2(cublasHandle_t handle, int n, const real *x, int incx, real *y, int incy);    \
    cublasStatus_t cublas##S##swap_v2(cublasHandle_t handle, int n, real *x, int incx, real *y, int incy);          \
    cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const real *x, int incx, const real *y, int incy, \
                                     real *result);                                                                 \
    cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result);         \
    cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const real *x, int incx, real *result);         \
    cublasStatus_t cublasI##s##amax_v2(cublasHandle_t handle, int n, const real *x, int incx, int *result);         \
    cublasStatus_t cublasI##s##amin_v2(cublasHandle_t handle, int n, const real *x, int incx, int *result);         \
    cublasStatus_t cublas##S##rot_v2(cublasHandle_t handle, int n, real *x, int incx, real *y, int incy,            \
                                     const real *c, const real *s);                                                 \
    cublasStatus_t cublas##S##rotm_v2(cublasHandle_t handle, int n, real *x, int incx, real *y, int incy,           \
                                      const real *parameters);                                                      \
    cublasStatus_t cublas##S##rotg_v2(cublasHandle_t handle, real *a, real *b, real *c, real *s);                   \
    cublasStatus_t cublas##S##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,                 \
                                      const real *alpha, const real *a, int lda, const real *x, int incx,           \
                                      const real *beta, real *y, int incy);                                         \
    cublasStatus_t cublas##S##ger_v2(cublasHandle_t handle, int m, int n, const real *alpha, const real *x, int incx, \
                                     const real *y, int incy, real *a, int lda);                                    \
    cublasStatus_t cublas##S##trsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,          \
                                      cublasOperation_t trans, cublasDiagType_t diag, int m, int n,                 \
                                      const real *alpha, const real *a, int lda, real *b, int ldb);
GRADER_CUBLAS_VECTORS(S, s, float)
GRADER_CUBLAS_VECTORS(D, d, double)
#undef GRADER_CUBLAS_VECTORS

#define GRADER_CUBLAS_PRODUCTS(name, S, number)                                                                      \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,    \
                        int k, const number *alpha, const number *a, int lda, const number *b, int ldb,             \
                        const number *beta, number *c, int ldc);                                                    \
    cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                                          int m, int n, int k, const number *alpha, const number *const a[], int lda, \
                                          const number *const b[], int ldb, const number *beta, number *const c[],  \
                                          int ldc, int count);                                                      \
    cublasStatus_t cublas##S##gemmStridedBatched(                                                                   \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,             \
        const number *alpha, const number *a, int lda, long long stridea, const number *b, int ldb,                 \
        long long strideb, const number *beta, number *c, int ldc, long long stridec, int count);
GRADER_CUBLAS_PRODUCTS(cublasSgemm_v2, S, float)
GRADER_CUBLAS_PRODUCTS(cublasDgemm_v2, D, double)
GRADER_CUBLAS_PRODUCTS(cublasCgemm_v2, C, cuComplex)
GRADER_CUBLAS_PRODUCTS(cublasZgemm_v2, Z, cuDoubleComplex)
GRADER_CUBLAS_PRODUCTS(cublasHgemm, H, __half)
#undef GRADER_CUBLAS_PRODUCTS

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void *alpha, const void *const a[], cudaDataType type_a,
                                   int lda, const void *const b[], cudaDataType type_b, int ldb, const void *beta,
                                   void *const c[], cudaDataType type_c, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, long long stridea, const void *b, cudaDataType type_b, int ldb,
                                          long long strideb, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stridec, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                             cudaDataType type_b, int ldb, const float *beta, void *c, cudaDataType type_c, int ldc);
cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, const void *x,
                            cudaDataType type_x, int incx, void *y, cudaDataType type_y, int incy,
                            cudaDataType compute);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, void *x,
                            cudaDataType type_x, int incx, cudaDataType compute);
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType type_x, int incx, const void *y,
                           cudaDataType type_y, int incy, void *result, cudaDataType type_result,
                           cudaDataType compute);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType type_x, int incx, void *result,
                            cudaDataType type_result, cudaDataType compute);

#ifdef __cplusplus
}

// How programs name the arithmetic that are older than `cublasComputeType_t`.
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, const void *b, cudaDataType type_b, int ldb, const void *beta,
                                          void *c, cudaDataType type_c, int ldc, cudaDataType compute,
                                          cublasGemmAlgo_t algorithm) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                        compute == CUDA_R_16F                            ? CUBLAS_COMPUTE_16F
                        : compute == CUDA_R_32I                          ? CUBLAS_COMPUTE_32I
                        : compute == CUDA_R_64F || compute == CUDA_C_64F ? CUBLAS_COMPUTE_64F
                                                                         : CUBLAS_COMPUTE_32F,
                        algorithm);
}
#endif
