// A kernel whose loops the compiler is asked to unroll to a billion instructions.
//
// After it: it was stopped by its limits, or did not do as it was asked.
__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 1000; ++i)
#pragma unroll
        for (int j = 0; j < 1000; ++j)
#pragma unroll
            for (int k = 0; k < 1000; ++k) sum += A[(i * j + k) % M] * B[(i + j * k) % N];
    C[threadIdx.x] = sum;
}
