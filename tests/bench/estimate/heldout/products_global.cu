// Products whose threads read both matrices from global memory.

#define PRODUCT(name) \
    extern "C" __global__ void name(const float* A, const float* B, float* C, int M, int K, int N)
#define PLACE                                          \
    int row = blockIdx.y * blockDim.y + threadIdx.y;   \
    int column = blockIdx.x * blockDim.x + threadIdx.x

PRODUCT(product_plain) {
    PLACE;
    if (row < M && column < N) {
        float value = 0.0f;
        for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + column];
        C[row * N + column] = value;
    }
}

// Threads in one line: a division says which element is theirs.
PRODUCT(product_line) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int row = id / N, column = id % N;
    if (row >= M) return;
    float value = 0.0f;
    for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + column];
    C[id] = value;
}

PRODUCT(product_unroll2) {
    PLACE;
    if (row >= M || column >= N) return;
    float value = 0.0f;
#pragma unroll 2
    for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + column];
    C[row * N + column] = value;
}

PRODUCT(product_unroll8) {
    PLACE;
    if (row >= M || column >= N) return;
    float value = 0.0f;
#pragma unroll 8
    for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + column];
    C[row * N + column] = value;
}

PRODUCT(product_guard_inside) {
    PLACE;
    float value = 0.0f;
    for (int i = 0; i < K; i++) {
        if (row < M && column < N) value += A[row * K + i] * B[i * N + column];
    }
    if (row < M && column < N) C[row * N + column] = value;
}

PRODUCT(product_backwards) {
    PLACE;
    if (row >= M || column >= N) return;
    float value = 0.0f;
    for (int i = K - 1; i >= 0; i--) value += A[row * K + i] * B[i * N + column];
    C[row * N + column] = value;
}

PRODUCT(product_pointers) {
    PLACE;
    if (row >= M || column >= N) return;
    const float *a = A + row * K, *end = a + K, *b = B + column;
    float value = 0.0f;
    while (a < end) {
        value += *a++ * *b;
        b += N;
    }
    C[row * N + column] = value;
}

PRODUCT(product_long_indices) {
    size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
    size_t column = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row >= (size_t)M || column >= (size_t)N) return;
    float value = 0.0f;
    for (size_t i = 0; i < (size_t)K; i++) value += A[row * K + i] * B[i * N + column];
    C[row * N + column] = value;
}

// Three columns to a thread, a block's width apart.
PRODUCT(product_columns3) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x * 3 + threadIdx.x, width = blockDim.x;
    if (row >= M) return;
    float value[3] = {};
    for (int i = 0; i < K; i++) {
        float a = A[row * K + i];
        for (int j = 0; j < 3; j++) {
            if (column + j * width < N) value[j] += a * B[i * N + column + j * width];
        }
    }
    for (int j = 0; j < 3; j++) {
        if (column + j * width < N) C[row * N + column + j * width] = value[j];
    }
}

// Two neighbouring columns to a thread, one after the other.
PRODUCT(product_neighbours2) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (row >= M) return;
    for (int j = column; j < column + 2 && j < N; j++) {
        float value = 0.0f;
        for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + j];
        C[row * N + j] = value;
    }
}

PRODUCT(product_rows2) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float first = 0.0f, second = 0.0f;
    for (int i = 0; i < K; i++) {
        float b = B[i * N + column];
        first += A[row * K + i] * b;
        if (row + 1 < M) second += A[(row + 1) * K + i] * b;
    }
    C[row * N + column] = first;
    if (row + 1 < M) C[(row + 1) * N + column] = second;
}

// Four elements of A at a time.
PRODUCT(product_a_float4) {
    PLACE;
    if (row >= M || column >= N) return;
    float value = 0.0f;
    for (int i = 0; i < K; i += 4) {
        float4 a = *(const float4*)(A + row * K + i);
        const float* b = B + i * N + column;
        value += a.x * b[0] + a.y * b[N] + a.z * b[2 * N] + a.w * b[3 * N];
    }
    C[row * N + column] = value;
}

// Eight elements of each are loaded before the first is used.
PRODUCT(product_registers8) {
    PLACE;
    if (row >= M || column >= N) return;
    float value = 0.0f;
    for (int i = 0; i < K; i += 8) {
        float a[8], b[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            a[j] = A[row * K + i + j];
            b[j] = B[(i + j) * N + column];
        }
#pragma unroll
        for (int j = 0; j < 8; j++) value += a[j] * b[j];
    }
    C[row * N + column] = value;
}

// A warp makes an element, its lanes going along K.
PRODUCT(product_warp) {
    int row = blockIdx.y, column = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (column >= N) return;
    float value = 0.0f;
    for (int i = lane; i < K; i += 32) value += A[row * K + i] * B[i * N + column];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    if (lane == 0) C[row * N + column] = value;
}

// A thread makes a whole column.
PRODUCT(product_one_column) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= N) return;
    for (int row = 0; row < M; row++) {
        float value = 0.0f;
        for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + column];
        C[row * N + column] = value;
    }
}

// A thread makes a whole row.
PRODUCT(product_one_row) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    for (int column = 0; column < N; column++) {
        float value = 0.0f;
        for (int i = 0; i < K; i++) value += A[row * K + i] * B[i * N + column];
        C[row * N + column] = value;
    }
}

// A thread adds to its column of C, row by row of B.
PRODUCT(product_outer) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 16;
    if (column >= N) return;
    for (int row = first; row < first + 16 && row < M; row++) C[row * N + column] = 0.0f;
    for (int i = 0; i < K; i++) {
        float b = B[i * N + column];
        for (int row = first; row < first + 16 && row < M; row++) C[row * N + column] += A[row * K + i] * b;
    }
}

// A row of A in shared memory, B from global.
PRODUCT(product_row_shared) {
    extern __shared__ float a[];
    int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = threadIdx.x; i < K; i += blockDim.x) a[i] = A[row * K + i];
    __syncthreads();
    if (column >= N) return;
    float value = 0.0f;
    for (int i = 0; i < K; i++) value += a[i] * B[i * N + column];
    C[row * N + column] = value;
}
