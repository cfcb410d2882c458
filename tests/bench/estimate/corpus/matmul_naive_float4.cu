// A naive product in which a thread makes four neighbours of a row with vector loads of B.

extern "C" __global__ void matmul_naive_float4(const float* A, const float* B, float* C, int M, int K,
                                               int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (row >= M || col >= N) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < K; ++k) {
        float a = A[row * K + k];
        float4 b = *(const float4*)(B + k * N + col);
        sum.x += a * b.x;
        sum.y += a * b.y;
        sum.z += a * b.z;
        sum.w += a * b.w;
    }
    *(float4*)(C + row * N + col) = sum;
}
