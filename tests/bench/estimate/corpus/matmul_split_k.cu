// A naive product over parts of K, one for each layer of the grid, added by atomics.

extern "C" __global__ void matmul_split_k(const float* A, const float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    int part = (K + gridDim.z - 1) / gridDim.z;
    int end = min(K, (int)(blockIdx.z + 1) * part);
    float sum = 0;
    for (int k = blockIdx.z * part; k < end; ++k) sum += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], sum);
}
