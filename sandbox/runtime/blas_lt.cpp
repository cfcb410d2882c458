// cuBLASLt, as far as `cublasLt.h` beside the headers declares it: descriptions of products, kept here, and the products.
#include "blas_products.hpp"
#include "cublasLt.h"

#include <cstring>

struct cublasLtContext {};
struct cublasLtPreference {};

struct cublasLtMatmulDescriptor {
    cudaDataType scale;
    std::int32_t mode = CUBLASLT_POINTER_MODE_HOST;
    std::int32_t of_a = CUBLAS_OP_N, of_b = CUBLAS_OP_N, of_c = CUBLAS_OP_N;
    std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void *bias = nullptr;
    std::int64_t bias_stride = 0;
    std::int32_t type_of_bias = -1; // that of the result
};

struct cublasLtLayout {
    std::uint32_t type;
    std::uint64_t rows, columns;
    std::int64_t leading;
    std::int32_t order = CUBLASLT_ORDER_COL, count = 1;
    std::int64_t stride = 0;
};

namespace standin {
namespace {

template <typename State> LiveHandles<State> &live() {
    static auto *table = new LiveHandles<State>;
    return *table;
}

template <typename State> cublasStatus_t make(State **handle, State state = {}) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    if (forked()) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = live<State>().make();
    **handle = state;
    return CUBLAS_STATUS_SUCCESS;
}

template <typename State> cublasStatus_t destroy(State *handle) {
    return live<State>().destroy(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

template <typename Number> cublasStatus_t take(Number &place, const void *value, std::size_t size) {
    if (!value || size != sizeof place) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&place, value, sizeof place);
    return CUBLAS_STATUS_SUCCESS;
}

// A matrix in row order is the transpose of one in column order.
bool in_rows(cublasLtMatrixLayout_t layout) { return layout->order == CUBLASLT_ORDER_ROW; }

Matrix matrix_of(const void *start, cublasLtMatrixLayout_t layout) {
    auto height = in_rows(layout) ? layout->columns : layout->rows;
    return {start, static_cast<int>(height), static_cast<int>(layout->leading), static_cast<cudaDataType>(layout->type),
            layout->stride};
}

cublasOperation_t operation(std::int32_t which, bool is_turned) {
    if (!is_turned) return static_cast<cublasOperation_t>(which);
    return which == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

std::uint64_t height_of(cublasLtMatrixLayout_t layout, std::int32_t which) {
    return which == CUBLAS_OP_N ? layout->rows : layout->columns;
}
std::uint64_t width_of(cublasLtMatrixLayout_t layout, std::int32_t which) {
    return which == CUBLAS_OP_N ? layout->columns : layout->rows;
}

struct Layouts {
    cublasLtMatrixLayout_t a, b, c, d;
    bool are_live() const {
        for (auto *layout : {a, b, c, d})
            if (!live<cublasLtLayout>().has(layout)) return false;
        return true;
    }
};

// True if the sizes of all matrices fit together.
bool fit(const cublasLtMatmulDescriptor &of, const Layouts &in) {
    auto m = height_of(in.a, of.of_a), k = width_of(in.a, of.of_a), n = width_of(in.b, of.of_b);
    bool do_multiply = height_of(in.b, of.of_b) == k && in.d->rows == m && in.d->columns == n && in.c->rows == m &&
                       in.c->columns == n && in.a->type == in.b->type && in.c->type == in.d->type;
    for (auto *layout : {in.a, in.b, in.c, in.d}) {
        auto height = in_rows(layout) ? layout->columns : layout->rows;
        do_multiply = do_multiply && layout->count == in.d->count && layout->rows < 1u << 31 &&
                      layout->columns < 1u << 31 && layout->leading < std::int64_t{1} << 31 &&
                      layout->leading >= static_cast<std::int64_t>(std::max<std::uint64_t>(1, height));
    }
    return do_multiply && in.d->count >= 1;
}

// What is not computed here: the program ends, and the session says why.
void require_supported(const cublasLtMatmulDescriptor &of, const Layouts &in, const void *caller) {
    bool turns = false;
    for (auto *layout : {in.a, in.b, in.c, in.d}) {
        if (layout->order > CUBLASLT_ORDER_ROW) unsupported("cublasLtMatmul with matrices in tiles", caller);
        turns = turns || in_rows(layout);
    }
    if (in_rows(in.c) != in_rows(in.d)) unsupported("cublasLtMatmul with C and D in different orders", caller);
    bool conjugates = of.of_a == CUBLAS_OP_C || of.of_b == CUBLAS_OP_C;
    if (turns && conjugates) unsupported("cublasLtMatmul with a conjugate in row order", caller);
    if (of.of_c != CUBLAS_OP_N) unsupported("cublasLtMatmul with a transposed C", caller);
    constexpr std::uint32_t known = CUBLASLT_EPILOGUE_GELU_BIAS | CUBLASLT_EPILOGUE_RELU_BIAS | CUBLASLT_EPILOGUE_DEFAULT;
    if (of.epilogue & ~known) unsupported("cublasLtMatmul with an epilogue for gradients", caller);
    if (of.bias && of.bias_stride) unsupported("cublasLtMatmul with a bias for each product", caller);
}

Product product_of(const cublasLtMatmulDescriptor &of, const Layouts &in, const void *a, const void *b, const void *c,
                   const void *d) {
    Product p{operation(of.of_a, in_rows(in.a)), operation(of.of_b, in_rows(in.b)),
              static_cast<int>(in.d->rows), static_cast<int>(in.d->columns), static_cast<int>(width_of(in.a, of.of_a)),
              matrix_of(a, in.a), matrix_of(b, in.b), matrix_of(c, in.c), matrix_of(d, in.d), in.d->count};
    p.activation = of.epilogue & CUBLASLT_EPILOGUE_GELU   ? Activation::gelu
                   : of.epilogue & CUBLASLT_EPILOGUE_RELU ? Activation::relu
                                                          : Activation::none;
    if (of.epilogue & CUBLASLT_EPILOGUE_BIAS) p.bias = of.bias;
    p.type_of_bias = static_cast<cudaDataType>(of.type_of_bias < 0 ? in.d->type : of.type_of_bias);
    return p;
}

// Dᵀ = op(B)ᵀ · op(A)ᵀ: how a result in row order is computed in column order.
Product turned(const Product &p) {
    Product other = p;
    std::swap(other.m, other.n);
    std::swap(other.a, other.b);
    other.of_a = operation(p.of_b, true), other.of_b = operation(p.of_a, true);
    return other;
}

} // namespace
} // namespace standin

using namespace standin;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) { return make(handle); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }
std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char *cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description, cublasComputeType_t, cudaDataType scale) {
    return make(description, {scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) { return destroy(description); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t which,
                                              const void *value, std::size_t size) {
    if (!live<cublasLtMatmulDescriptor>().has(description)) return CUBLAS_STATUS_INVALID_VALUE;
    switch (which) {
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return take(description->scale, value, size);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return take(description->mode, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSA: return take(description->of_a, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB: return take(description->of_b, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSC: return take(description->of_c, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return take(description->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(description->bias, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return take(description->bias_stride, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return take(description->type_of_bias, value, size);
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: // sums are as exact in all of them
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return CUBLAS_STATUS_SUCCESS;
    default: unsupported("an attribute of cublasLtMatmulDescSetAttribute", CALLER);
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
    return make(layout, {static_cast<std::uint32_t>(type), rows, columns, leading});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
                                                const void *value, std::size_t size) {
    if (!live<cublasLtLayout>().has(layout)) return CUBLAS_STATUS_INVALID_VALUE;
    switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return take(layout->type, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return take(layout->order, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return take(layout->rows, value, size);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return take(layout->columns, value, size);
    case CUBLASLT_MATRIX_LAYOUT_LD: return take(layout->leading, value, size);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return take(layout->count, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return take(layout->stride, value, size);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) { return make(preference); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return destroy(preference); }
// A single algorithm needs no workspace, and is found whatever is preferred.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t, const void *value,
                                                    std::size_t) {
    bool is_sound = live<cublasLtPreference>().has(preference) && value;
    return is_sound ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int *found) {
    if (!live<cublasLtContext>().has(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    Layouts in{a, b, c, d};
    bool is_sound = live<cublasLtMatmulDescriptor>().has(description) && in.are_live() && wanted > 0 && results && found &&
                    live<cublasLtPreference>().has(preference);
    if (!is_sound) return CUBLAS_STATUS_INVALID_VALUE;
    if (!fit(*description, in)) return CUBLAS_STATUS_INVALID_VALUE;
    *found = 1;
    results[0] = {};
    results[0].wavesCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t layout_a, const void *b,
                              cublasLtMatrixLayout_t layout_b, const void *beta, const void *c,
                              cublasLtMatrixLayout_t layout_c, void *d, cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t *, void *, std::size_t, cudaStream_t stream) {
    if (!live<cublasLtContext>().has(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    Layouts in{layout_a, layout_b, layout_c, layout_d};
    bool is_sound = live<cublasLtMatmulDescriptor>().has(description) && in.are_live() && alpha && beta;
    if (!is_sound || !fit(*description, in)) return CUBLAS_STATUS_INVALID_VALUE;
    require_supported(*description, in, CALLER);
    cublasContext scalars;
    scalars.stream = stream;
    scalars.mode = description->mode == CUBLASLT_POINTER_MODE_HOST ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE;
    auto by = factor(&scalars, alpha, description->scale, CALLER), and_by = factor(&scalars, beta, description->scale, CALLER);
    if (!by || !and_by) return CUBLAS_STATUS_EXECUTION_FAILED;
    Product product = product_of(*description, in, a, b, c ? c : d, d);
    if (!product.m || !product.n) return CUBLAS_STATUS_SUCCESS;
    if (in_rows(layout_d) && product.bias) unsupported("cublasLtMatmul with a bias in row order", CALLER);
    return multiply(in_rows(layout_d) ? turned(product) : product, *by, *and_by, stream, CALLER);
}

} // extern "C"
