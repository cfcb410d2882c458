// Products of matrices, one or many, as the session is asked for them: for cuBLAS and for cuBLASLt.
#pragma once

#include "blas.hpp"

#include <algorithm>

namespace standin {

struct Matrix {
    const void *start; // of many: of the first, or of an array of pointers
    int rows, leading; // as it lies in memory
    cudaDataType type;
    long long stride = 0; // of many, in elements

    bool is_sound() const { return leading >= std::max(1, rows); }
};

// As the session numbers them (grader/running/device/library_requests.py).
enum class Activation : std::uint32_t { none = 0, relu = 1, gelu = 2 };

// D = activation(alpha · op(A) · op(B) + beta · C + bias), where D is C unless it is another matrix.
struct Product {
    cublasOperation_t of_a, of_b;
    int m, n, k;
    Matrix a, b, c, d;
    int count = 1;
    bool by_pointers = false;
    const void *bias = nullptr; // one number for each row
    cudaDataType type_of_bias = CUDA_R_32F;
    Activation activation = Activation::none;
};

cublasStatus_t multiply(const Product &product, Complex alpha, Complex beta, cudaStream_t stream, const void *caller);

// True if an operation on a matrix is one of the three that there are.
bool is_operation(cublasOperation_t which);

} // namespace standin
